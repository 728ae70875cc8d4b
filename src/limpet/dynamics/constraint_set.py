"""The constraint-set contract: what acts between bodies, as rows with laws.

Contacts, pressure-field patches, cavities and joints are constraint sets. The step holds a list of
them and knows none; the solver stacks their rows and knows no law.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from limpet.linalg.rows import Rows

Array = np.ndarray

DATA = 6  # numbers of a law's block, at most


@dataclass(frozen=True)
class Control:
    """What a user sets while a simulation runs; None: as the world says. Part of the state."""

    applied: Array  # (N, 3) [N] forces on all points
    leak: float | None = None  # [mol/s] into cavities
    vacuum: float | None = None  # [Pa] that every vacuum line is asked for
    drives: Mapping[str, float] = field(default_factory=dict)  # [N] of actuators, by body

    def without_forces(self) -> Control:
        return replace(self, applied=np.zeros_like(self.applied))


@dataclass(frozen=True)
class StepContext:
    """Where everything is as a step begins; made before any free velocity is computed."""

    step: int  # steps made so far
    time: float  # [s]
    h: float  # [s]
    x: Array  # (N, 3) [m] all points
    v: Array  # (N, 3) [m/s] at the end of the last step
    control: Control

    @property
    def label(self) -> str:
        """For messages."""
        return f"step {self.step + 1} at {self.time:.4g} s"


@dataclass(frozen=True)
class RowBlock:
    """The active rows of one set; a law holds for each block of rows."""

    jacobian: Rows  # r rows over all points
    bias: Array  # (r,) added to H v: gap/h, -p/(h g + p d), joint drift/h
    compliance: Array  # (r,) of each row itself
    kind: Array  # (b,) int32 law of each block: the KIND of its file
    start: Array  # (b + 1,) int32 rows of each block
    data: Array  # (b, DATA) as the law's file says
    keys: Array  # (b,) int64, unique within the set: the same block in the next step
    frames: Array | None = None  # (b, 3, 3) axes of the rows; None: the rows are scalars
    coupling: Array | None = None  # (r, r) symmetric, compliance between the rows; None: none

    def __len__(self) -> int:
        return len(self.bias)

    @staticmethod
    def none() -> RowBlock:
        return RowBlock(
            Rows.none(), np.zeros(0), np.zeros(0), np.zeros(0, np.int32), np.zeros(1, np.int32),
            np.zeros((0, DATA)), np.zeros(0, np.int64),
        )  # fmt: skip


class ConstraintSet(ABC):
    """One kind of constraint between all bodies of a world."""

    name: str  # in reports, states and warm starts
    phase: str  # of the step, that its update and recheck are timed as
    collides: bool = False  # it has `impacts`

    @abstractmethod
    def update(self, now: StepContext) -> None:
        """Once a step, at x: a trial that `accept` commits."""

    @abstractmethod
    def rows(self) -> RowBlock:
        """The active rows."""

    def activate(self, v: Array) -> bool:
        """Whether inactive rows have joined, since velocities v (N, 3) violate them."""
        return False

    @property
    def adjusts(self) -> bool:
        """Whether `adjust` may change its rows."""
        return False

    def adjust(self, multipliers: Array) -> bool:
        """Whether bias, data and coupling of its rows have changed, as they depend on what was
        found: the multipliers of its rows.
        """
        return False

    def relinearise(self, x_after: Array) -> None:
        """Give the next rows as they are where the step now ends, x_after (N, 3) [m]."""
        return None

    def recheck(self, x_after: Array, v_after: Array) -> bool:
        """Whether rows have joined that nobody knew of at x, since x_after violates them."""
        return False

    @property
    def retries(self) -> int:
        """How often, at most, `recheck` asks for another solve of its own accord."""
        return 0

    def impacts(
        self, multipliers: Array, v_before: Array, v_after: Array
    ) -> tuple[Array, RowBlock]:
        """Rows on the velocities at the end of the step, of what has met within it, and which of
        the rows last given they are.

        v (N, 3): at both ends of the step, without the `multipliers` of the set.
        """
        return np.zeros(0, int), RowBlock.none()

    @abstractmethod
    def accept(self, multipliers: Array, rates: Array) -> None:
        """Commit the step: multipliers and H v of the rows last given."""

    def wrenches(self) -> Mapping[str, Array]:
        """(6,) [N, N m] that the set exerted on bodies from outside of the world, by body."""
        return {}

    @abstractmethod
    def get_state(self) -> dict[str, object]:
        """Records and arrays that the next step depends on; nothing later changes them."""

    @abstractmethod
    def set_state(self, state: Mapping[str, object]) -> None: ...


@dataclass(frozen=True)
class PointMap:
    """Which points belong to which surface and body, all points counted through."""

    first: Array  # (surfaces + 1,) int64 where each surface's points begin
    names: tuple[str, ...]  # of the surfaces
    body: Array  # (surfaces,) int32 the body that each surface belongs to
    of_body: tuple[Array, ...]  # (bodies) the points of each body, in its own order
    local: tuple[Array, ...] = field(repr=False)  # (bodies) (N,) int32 number within it, or -1

    @staticmethod
    def of(names: tuple[str, ...], sizes: Array, body: Array, n_bodies: int) -> PointMap:
        """names, sizes and body of each surface in the order in which points are counted."""
        first = np.cumsum([0, *sizes])
        points, local = [], []
        for i in range(n_bodies):
            own = [np.arange(first[s], first[s + 1]) for s in np.flatnonzero(body == i)]
            points.append(np.concatenate([np.zeros(0, int), *own]))
            local.append(np.full(first[-1], -1, np.int32))
            local[-1][points[-1]] = np.arange(len(points[-1]))
        return PointMap(first, names, np.asarray(body, np.int32), tuple(points), tuple(local))

    def __len__(self) -> int:
        return int(self.first[-1])

    def gather(self, parts: Sequence[Array]) -> Array:
        """(N, 3) from each body's own (n, 3)."""
        out = np.empty((len(self), 3))
        for points, part in zip(self.of_body, parts):
            out[points] = part
        return out
