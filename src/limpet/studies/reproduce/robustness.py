"""The peak force must not depend on solver, sealing distance or reference frame."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from limpet.engine.simulation import Simulation
from limpet.model.settings import Settings
from limpet.record.plots import new_figure
from limpet.record.table import Cell, Progress, Result, Table
from limpet.scenes.registry import Scene, load
from limpet.solver.gauss_seidel import GaussSeidelSettings

Array = np.ndarray


@dataclass(frozen=True)
class Variation:
    """One run of the ground scene, and how far its peak may lie from the reference's."""

    group: str
    label: str
    allowed: float  # relative
    settings: Settings = field(default_factory=Settings)
    parameters: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class PullCurve:
    """Result of one run."""

    time: Array
    force: Array  # [N]
    converged: bool

    @property
    def peak(self) -> float:
        return float(self.force.max())


def cases(element: str | None = None) -> list[Variation]:
    """The reference first."""
    return [
        Variation("reference", "Newton, sealing 0.05 mm, h = 10 ms", 0.0),
        Variation("solver", "sweeps to 1e-6", 0.01, Settings(solver=GaussSeidelSettings())),
        Variation("solver", "no warm start", 0.01, Settings(warm_start=False)),
        *(
            Variation("sealing distance", f"{mm} mm", 0.01, Settings(sealing_distance=mm * 1e-3))
            for mm in (0.01, 0.1, 0.3)
        ),
        Variation("union", "in every step", 0.01, Settings(search_every_step=True)),
        *(
            Variation("time step", f"{ms} ms", 0.03, parameters={"h": f"{ms} ms"})
            for ms in (30, 3, 1)
        ),
        Variation("frame", "turned by 37 deg", 0.005, parameters={"tilt": "37 deg"}),
        Variation("frame", "turned by 155 deg", 0.005, parameters={"tilt": "155 deg"}),
        Variation("frame", "moved by 10 m", 0.005, parameters={"shift": "10 m"}),
        Variation("mesh", "refined once", 0.05, parameters=_refined(element)),
    ]


def _refined(element: str | None) -> dict[str, object]:
    """Twice the sectors and segments of the default mesh."""
    return {"sectors": 32, "segments": 22} if element == "tet4" else {"sectors": 20, "segments": 10}


def pull(scene: Scene, settings: Settings) -> PullCurve:
    """Run a scene and return the reaction force against gravity."""
    simulation = Simulation(scene.world, h=scene.h, settings=settings)
    up = -scene.world.gravity / np.linalg.norm(scene.world.gravity)
    reports = list(simulation.run(scene.duration))
    force = np.array([sum(w[:3] @ up for w in r.reactions.values()) for r in reports])
    return PullCurve(np.array([r.time for r in reports]), force, all(r.converged for r in reports))


def run(progress: Progress) -> Result:
    """Run the reference and all variations."""
    todo = cases()
    curves: list[PullCurve] = []
    for i, case in enumerate(todo):
        progress(i, len(todo), f"robustness: {case.group}, {case.label}")
        curves.append(pull(load("ground", case.parameters), case.settings))
    reference = curves[0].peak
    rows: list[tuple[Cell, ...]] = []
    for case, curve in zip(todo, curves):
        off = curve.peak / reference - 1.0
        rows.append(
            (
                case.group,
                case.label,
                curve.peak,
                100.0 * off,
                100.0 * case.allowed,
                abs(off) <= case.allowed,
                curve.converged,
            )
        )
    table = Table(
        "robustness: peak pull force of the ground scene",
        ("what varies", "case", "peak [N]", "deviation [%]", "allowed [%]", "holds", "converged"),
        tuple(rows),
    )
    ok = all(bool(row[5]) and bool(row[6]) for row in rows)
    return Result((table,), ok, {"robustness.png": lambda path: _plot(todo, curves, path)})


def _plot(todo: list[Variation], curves: list[PullCurve], path: Path) -> None:
    figure = new_figure(9.0, 5.0)
    axes = figure.subplots()
    for case, curve in zip(todo, curves):
        axes.plot(curve.time, curve.force, lw=1, label=f"{case.group}: {case.label}")
    axes.set_xlabel("time [s]")
    axes.set_ylabel("pull force [N]")
    axes.legend(fontsize=7)
    axes.grid(alpha=0.3)
    figure.savefig(path, dpi=130)
