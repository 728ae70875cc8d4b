"""How the particle solver computes a step."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from limpet.errors import LimpetError

Plan = Literal["stable", "paper"]  # how the scenes of C are solved


@dataclass(frozen=True)
class ParticleSolverSettings:
    """Sweeps, substeps and stabilisation of a step.

    The defaults are made to be stable. Vezzaro et al. 2015 (C) take 20 ms, 2 sweeps among the rigid
    bodies and 2 with nodes, one by one in turn, and one solve per step: that is `paper`. The
    default differs in three ways. Rows among rigid bodies are solved until nothing moves, by
    conjugate gradients: C's 2 sweeps do not hold a tower. A step takes as many substeps as explicit
    bodies, taut chains and fast edges ask for, up to `max_substeps`. The sweeps start from a share
    of the last impulses. Sweeps with nodes and Baumgarte's rate are C's.
    """

    sweeps: int = 2  # at most
    max_sweeps: int = 0  # while an inextensible edge would be off too far, or sheets would cross
    # share of its length by which an edge may be off for that, and in a step that has converged
    max_stretch: float = 0.1
    rigid_sweeps: int = 4000  # at most, among the rigid bodies, before each of these
    tolerance: float = 0.0  # [m/s] sweeps end when no row changes a velocity by more
    accuracy: float = 0.1  # [mm] a step has converged if its last sweep moves no row by more
    substeps: int = 1  # solves within a step, at least, for the contacts found at its start
    max_substeps: int = 10  # where taut chains swing fast across, or explicit bodies are stiff
    baumgarte: float = 0.1  # beta h: share of a position error that a step corrects (Baumgarte)
    warm_start: float = 0.9  # share of the last impulses that the sweeps of nodes start from
    # edges pull along their directions at the end, and a step takes more substeps the further the
    # last one has left them off: see `taut`
    end_directions: bool = False
    continuous: bool = True  # sheets: also what would pass through within the step
    mass_splitting: bool = False  # contacts of nodes as C 4.3: masses split, impulses averaged
    margin: float = 1e-3  # [m] contacts that come this near within the step are solved for

    def __post_init__(self) -> None:
        if min(self.sweeps, self.rigid_sweeps, self.substeps) < 1:
            raise LimpetError(
                f"sweeps = {self.sweeps}, rigid_sweeps = {self.rigid_sweeps}, substeps = "
                f"{self.substeps}: expected 1 or more each"
            )
        if not self.max_stretch > 0.0:
            raise LimpetError(f"max_stretch = {self.max_stretch:g}: expected above 0")
        if not 0.0 < self.baumgarte <= 1.0:
            raise LimpetError(
                f"baumgarte = {self.baumgarte:g}: expected above 0, at most 1 (C: beta <= 1/h)"
            )

    @staticmethod
    def taut(**changes: Any) -> ParticleSolverSettings:
        """For sheets that carry loads much heavier than their nodes: hammocks, nets, trampolines.

        Slower by the number of substeps, which follow from the load.
        """
        return replace(
            ParticleSolverSettings(
                sweeps=10, max_sweeps=20, max_stretch=0.03, substeps=10, max_substeps=100,
                warm_start=1.0, end_directions=True,
            ),
            **changes,
        )  # fmt: skip

    @staticmethod
    def paper(**changes: Any) -> ParticleSolverSettings:
        """C's setting: 2 + 2 sweeps in turn, one solve per step (of 20 ms, the caller's h)."""
        return replace(
            ParticleSolverSettings(sweeps=2, rigid_sweeps=1, substeps=1, max_substeps=1), **changes
        )
