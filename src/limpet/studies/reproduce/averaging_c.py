"""Averaged contacts (Vezzaro et al. 2015, C 4.3: mass splitting) against exact contacts.

The same cases are run with both: a cloth on a sphere, jellies under a bar, a soft body that meets a
plate in free flight, and weights on a rope over a wheel. Where the text of C leaves details open,
`particles.mass_splitting` documents the choice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from limpet.contact.primitives import block
from limpet.particles.meshes import cylinder
from limpet.particles.model import ParticleModel
from limpet.particles.pbd import PositionBased
from limpet.particles.settings import ParticleSolverSettings
from limpet.particles.system import ParticleSystem
from limpet.record.plots import new_figure
from limpet.record.table import Cell, Progress, Result, Table, Ticker
from limpet.rigid.rigid_body import RigidBody
from limpet.scenes import cloth as cloth_scene
from limpet.scenes import jellies, rope
from limpet.shapes.boxes import box
from limpet.studies.reproduce.rest_states import GRAVITY, cloth, energy, jelly

Array = np.ndarray

DIVISIONS, CLOTH_SECONDS = 20, 4.0
JELLY, JELLY_SECONDS = (4, 5), 2.0
ROPE_SECONDS = 0.6
HEAVY, LIGHT, ROPE_MASS, LENGTH, RADIUS = 1.2, 0.8, 0.1, 1.6, 0.2
MAX_PENETRATION = 1e-3  # [m] of exact contacts
MAX_MOMENTUM_CHANGE = 1e-12  # relative, of exact contacts
MAX_DEVIATION = 0.02  # of the acceleration, of exact contacts


@dataclass(frozen=True)
class Comparison:
    """A result of one case, with exact and with averaged contacts."""

    case: str
    figure: str
    exact: float
    averaged: float
    should: float | None = None  # exact value, where it is known


def _compare(case: str, figure: str, runs: list[float], should: float | None = None) -> Comparison:
    return Comparison(case, figure, runs[0], runs[1], should)


def compare_cloth(
    settings: ParticleSolverSettings, label: str, divisions: int, seconds: float
) -> list[Comparison]:
    """Penetration, stretch, rest and energy of a cloth on the sphere."""
    runs = [
        cloth(replace(settings, mass_splitting=split), divisions, seconds)
        for split in (False, True)
    ]
    case = f"cloth, {label}"
    return [
        _compare(case, "largest penetration [mm]", [1e3 * w.penetration for w in runs], 0.0),
        _compare(
            case, "penetration at rest [mm]", [1e3 * w.penetration_at_rest for w in runs], 0.0
        ),
        _compare(case, "stretch at rest [%]", [100.0 * w.stretch_at_rest for w in runs], 0.0),
        _compare(case, "speed at rest [mm/s]", [1e3 * w.speed_at_rest for w in runs], 0.0),
        _compare(case, "energy gained [mJ]", [1e3 * w.gained for w in runs], 0.0),
    ]


def compare_jelly(solves: int, divisions: tuple[int, int], seconds: float) -> list[Comparison]:
    """Penetration, rest and energy of jellies that carry a bar."""
    settings = replace(jellies.SOLVER_SETTINGS, substeps=solves, max_substeps=solves)
    runs = [
        jelly(replace(settings, mass_splitting=split), divisions, seconds)
        for split in (False, True)
    ]
    case = f"jelly, {solves} solves per step"
    return [
        _compare(case, "bar sunk [mm]", [1e3 * w.sunk for w in runs]),
        _compare(
            case, "penetration at rest [mm]", [1e3 * w.penetration_at_rest for w in runs], 0.0
        ),
        _compare(case, "speed at rest [mm/s]", [1e3 * w.speed_at_rest for w in runs], 0.0),
        _compare(case, "energy gained [mJ]", [1e3 * w.gained for w in runs]),
    ]


def compare_flight(seconds: float = 0.2) -> list[Comparison]:
    """Momentum and energy of a soft body that meets a free plate, without gravity."""
    lost, left = [], []
    for split in (False, True):
        settings = ParticleSolverSettings(mass_splitting=split, sweeps=10, warm_start=0.0)
        model = ParticleModel(settings=settings)
        mesh = cylinder(0.03, 0.04, (3, 3)).moved((0.02, 0.01, 1e-3))
        body = model.add(PositionBased("jelly", mesh, 0.1))
        body.v[:] = [0.3, 0.0, -1.0]
        plate = RigidBody("plate", box(0.2, 0.2, 0.02), 0.3)
        model.add_rigid(plate, block(0.2, 0.2, 0.02))
        world = ParticleSystem(model, 0.01, (0.0, 0.0, 0.0))
        before, had = body.momentum(), energy(world)[0]
        for _ in world.run(seconds):
            pass
        change = body.momentum() + plate.momentum() - before
        lost.append(float(np.linalg.norm(change) / np.linalg.norm(before)))
        left.append(energy(world)[0] / had)
    return [
        _compare("free flight", "momentum changed [%]", [100.0 * x for x in lost], 0.0),
        _compare("free flight", "kinetic energy left [%]", [100.0 * x for x in left]),
    ]


def atwood(
    heavy: float, light: float, rope_mass: float, length: float, wheel: float, seconds: float
) -> float:
    """[m/s^2] 2 y/t^2 from rest, of y'' = g (m1 - m2 + 2 y m/l) / (m1 + m2 + m + I/r^2).

    The rope weighs as well; `wheel` [kg]: I/r^2 of what turns with it, 0 where it slides freely.
    """
    inertia = heavy + light + rope_mass + wheel
    grows = np.sqrt(2.0 * rope_mass / length * GRAVITY / inertia)
    travel = (heavy - light) * GRAVITY / inertia * (np.cosh(grows * seconds) - 1.0) / grows**2
    return float(2.0 * travel / seconds**2)


def compare_rope(friction: float, seconds: float) -> list[Comparison]:
    """Acceleration of the weights and of the wheel's rim, beside Atwood's."""
    falls, spins, arm = [], [], RADIUS + rope.THICKNESS
    for split in (False, True):
        settings = replace(rope.SOLVER_SETTINGS, mass_splitting=split)
        world, hung = rope.rope_system(
            HEAVY, LIGHT, ROPE_MASS, LENGTH, radius=RADIUS, friction=friction, settings=settings
        )
        start = hung.heavy.centre[2] - hung.light.centre[2]
        for _ in world.run(seconds):
            pass
        dropped = 0.5 * (start - hung.heavy.centre[2] + hung.light.centre[2])
        falls.append(float(2.0 * dropped / seconds**2))
        spins.append(float(hung.wheel.w[1] * arm / seconds))
    turns = hung.wheel.inertia[1, 1] / arm**2 if friction > 0.0 else 0.0
    closed = atwood(HEAVY, LIGHT, ROPE_MASS, LENGTH, turns, seconds)
    case = f"rope, friction {friction:g}"
    rim = closed if friction > 0.0 else 0.0
    return [
        _compare(case, "acceleration [m/s^2]", falls, closed),
        _compare(case, "acceleration of the rim [m/s^2]", spins, rim),
    ]


CASES: tuple[Callable[[], list[Comparison]], ...] = (
    partial(
        compare_cloth,
        ParticleSolverSettings.paper(),
        "one solve a step",
        DIVISIONS,
        CLOTH_SECONDS,
    ),
    partial(compare_cloth, cloth_scene.SOLVER_SETTINGS, "as set up", DIVISIONS, CLOTH_SECONDS),
    partial(compare_jelly, 3, JELLY, JELLY_SECONDS),
    partial(compare_jelly, 10, JELLY, JELLY_SECONDS),
    compare_flight,
    partial(compare_rope, 0.5, ROPE_SECONDS),
    partial(compare_rope, 0.0, ROPE_SECONDS),
)


def run(progress: Progress) -> Result:
    """Run all cases; the claims about exact contacts decide `ok`."""
    tick, lines = Ticker(progress, len(CASES), "averaging-c"), []
    for case in CASES:
        lines += case()
        tick()
    return judge(lines)


def judge(lines: list[Comparison]) -> Result:
    """The table, and the claims about exact contacts."""
    table = Table(
        "C 4.3: contacts exact (default) and averaged (mass_splitting=True)",
        ("case", "figure", "exact", "averaged", "exact value"),
        tuple((x.case, x.figure, x.exact, x.averaged, x.should) for x in lines),
        (
            "averaged: masses split over the contacts, mean impulses, friction bounded by the "
            "weight over a contact (C eq 32)",
            "at rest: the most over the last quarter of the run; penetration: into the sphere "
            "itself, below the dish's top or above the bar's bottom",
            "C gives no such figures. Energy gained: kinetic and potential energy above what they "
            "had been; jellies give back what they had stored",
        ),
    )
    deep = [1e-3 * x.exact for x in lines if "penetration" in x.figure]
    changed = [1e-2 * x.exact for x in lines if "momentum" in x.figure]
    off = [
        abs(x.exact - x.should) / x.should
        for x in lines
        if x.figure == "acceleration [m/s^2]" and x.should
    ]
    claims = (
        ("exact: penetration [m]", max(deep), MAX_PENETRATION),
        ("exact: momentum changed in free flight", max(changed), MAX_MOMENTUM_CHANGE),
        ("exact: deviation of the acceleration from Atwood's", max(off), MAX_DEVIATION),
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple((*c, bool(c[1] <= c[2])) for c in claims)
    claimed = Table("claims", ("claim", "worst", "allowed", "holds"), rows)
    ok = all(worst <= allowed for _, worst, allowed in claims)
    return Result((table, claimed), ok, {"averaging-c.png": partial(_draw, lines)})


def _draw(lines: list[Comparison], path: Path) -> None:
    """Both results as bars, relative to the larger one."""
    figure = new_figure(9.0, 0.32 * len(lines) + 1.2)
    axis = figure.add_subplot()
    place = np.arange(len(lines))[::-1]
    for kind, colour, offset in (("exact", "#1f5fa8", 0.2), ("averaged", "#b8431f", -0.2)):
        values = [abs(getattr(x, kind)) / max(abs(x.exact), abs(x.averaged), 1e-30) for x in lines]
        axis.barh(place + offset, values, 0.38, color=colour, label=kind)
        for x, y, length in zip(lines, place + offset, values):
            axis.text(length + 0.01, y, f"{getattr(x, kind):.3g}", fontsize=7, va="center")
    axis.set_yticks(place, [f"{x.case}: {x.figure}" for x in lines], fontsize=7)
    axis.set(xlim=(0.0, 1.25), xlabel="relative to the larger value")
    axis.legend(fontsize=8, loc="upper right")
    figure.savefig(path, dpi=120)
