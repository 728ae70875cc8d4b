"""C 4.3 against the exact way: contacts with split masses and mean impulses, or solved as they are.

The same cases are run both ways: a cloth on a sphere, jellies under a bar, a soft body that meets a
plate in free flight, and weights on a rope over a wheel. C's text leaves open what its code may
have had; `limpet.particles.mass_splitting` says how it is read here.
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
from limpet.scenes import draped, jellies, rope
from limpet.shapes.boxes import box
from limpet.studies.reproduce.rest_states import GRAVITY, cloth, energy, jelly

Array = np.ndarray

DIVISIONS, CLOTH_SECONDS = 20, 4.0
JELLY, JELLY_SECONDS = (4, 5), 2.0
ROPE_SECONDS = 0.6
HEAVY, LIGHT, ROPE_MASS, LENGTH, RADIUS = 1.2, 0.8, 0.1, 1.6, 0.2
TOUCHES = 1e-3  # [m] that exact contacts may penetrate
KEPT = 1e-12  # of the momentum that they may lose
FALLS = 0.02  # of the acceleration that they may be off


@dataclass(frozen=True)
class Comparison:
    """A figure of a case, both ways."""

    case: str
    figure: str
    exact: float
    averaged: float
    should: float | None = None  # what it is in truth, where that is known


def _both(case: str, figure: str, ways: list[float], should: float | None = None) -> Comparison:
    return Comparison(case, figure, ways[0], ways[1], should)


def of_cloth(
    settings: ParticleSolverSettings, label: str, divisions: int, seconds: float
) -> list[Comparison]:
    """Penetration, stretch, rest and energy of a cloth on the sphere."""
    ways = [
        cloth(replace(settings, mass_splitting=way), divisions, seconds) for way in (False, True)
    ]
    case = f"cloth, {label}"
    return [
        _both(case, "penetration, most [mm]", [1e3 * w.penetration for w in ways], 0.0),
        _both(case, "penetration at rest [mm]", [1e3 * w.penetration_at_rest for w in ways], 0.0),
        _both(case, "stretch at rest [%]", [100.0 * w.stretch_at_rest for w in ways], 0.0),
        _both(case, "speed at rest [mm/s]", [1e3 * w.speed_at_rest for w in ways], 0.0),
        _both(case, "energy gained [mJ]", [1e3 * w.gained for w in ways], 0.0),
    ]


def of_jelly(solves: int, divisions: tuple[int, int], seconds: float) -> list[Comparison]:
    """Penetration, rest and energy of jellies that carry a bar."""
    settings = replace(jellies.PLAN, substeps=solves, max_substeps=solves)
    ways = [
        jelly(replace(settings, mass_splitting=way), divisions, seconds) for way in (False, True)
    ]
    case = f"jelly, {solves} solves a step"
    return [
        _both(case, "bar sunk [mm]", [1e3 * w.sunk for w in ways]),
        _both(case, "penetration at rest [mm]", [1e3 * w.penetration_at_rest for w in ways], 0.0),
        _both(case, "speed at rest [mm/s]", [1e3 * w.speed_at_rest for w in ways], 0.0),
        _both(case, "energy gained [mJ]", [1e3 * w.gained for w in ways]),
    ]


def of_flight(seconds: float = 0.2) -> list[Comparison]:
    """Momentum and energy of a soft body that meets a free plate, without gravity."""
    lost, left = [], []
    for way in (False, True):
        settings = ParticleSolverSettings(mass_splitting=way, sweeps=10, warm_start=0.0)
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
        _both("free flight", "momentum changed [%]", [100.0 * x for x in lost], 0.0),
        _both("free flight", "kinetic energy left [%]", [100.0 * x for x in left]),
    ]


def atwood(
    heavy: float, light: float, rope_mass: float, length: float, wheel: float, seconds: float
) -> float:
    """[m/s^2] 2 y/t^2 from rest, of y'' = g (m1 - m2 + 2 y m/l) / (m1 + m2 + m + I/r^2).

    The rope weighs as well; `wheel` [kg]: I/r^2 of what turns with it, 0 where it slides freely.
    """
    inertia = heavy + light + rope_mass + wheel
    grows = np.sqrt(2.0 * rope_mass / length * GRAVITY / inertia)
    way = (heavy - light) * GRAVITY / inertia * (np.cosh(grows * seconds) - 1.0) / grows**2
    return float(2.0 * way / seconds**2)


def of_rope(friction: float, seconds: float) -> list[Comparison]:
    """Acceleration of the weights and of the wheel's rim, beside Atwood's."""
    falls, spins, arm = [], [], RADIUS + rope.THICKNESS
    for way in (False, True):
        settings = replace(rope.PLAN, mass_splitting=way)
        world, hung = rope.roped(
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
        _both(case, "acceleration [m/s^2]", falls, closed),
        _both(case, "acceleration of the rim [m/s^2]", spins, rim),
    ]


CASES: tuple[Callable[[], list[Comparison]], ...] = (
    partial(
        of_cloth,
        ParticleSolverSettings(rigid_sweeps=2, max_substeps=1),
        "one solve a step",
        DIVISIONS,
        CLOTH_SECONDS,
    ),
    partial(of_cloth, draped.PLAN, "as set up", DIVISIONS, CLOTH_SECONDS),
    partial(of_jelly, 3, JELLY, JELLY_SECONDS),
    partial(of_jelly, 10, JELLY, JELLY_SECONDS),
    of_flight,
    partial(of_rope, 0.5, ROPE_SECONDS),
    partial(of_rope, 0.0, ROPE_SECONDS),
)


def run(progress: Progress) -> Result:
    """All cases both ways; what the exact way claims decides `ok`."""
    tick, lines = Ticker(progress, len(CASES), "averaging-c"), []
    for case in CASES:
        lines += case()
        tick()
    return judge(lines)


def judge(lines: list[Comparison]) -> Result:
    """The table, and what is claimed of the exact way."""
    table = Table(
        "C 4.3: contacts exact (default) and averaged "
        "(ParticleSolverSettings(mass_splitting=True))",
        ("case", "figure", "exact", "averaged", "in truth"),
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
        ("exact: penetration [m]", max(deep), TOUCHES),
        ("exact: momentum changed in free flight", max(changed), KEPT),
        ("exact: acceleration of the weights off Atwood's", max(off), FALLS),
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple((*c, bool(c[1] <= c[2])) for c in claims)
    claimed = Table("what is claimed", ("claim", "worst", "allowed", "holds"), rows)
    ok = all(worst <= allowed for _, worst, allowed in claims)
    return Result((table, claimed), ok, {"averaging-c.png": partial(_draw, lines)})


def _draw(lines: list[Comparison], path: Path) -> None:
    """Both ways as bars, each figure by the larger of the two."""
    figure = new_figure(9.0, 0.32 * len(lines) + 1.2)
    axis = figure.add_subplot()
    place = np.arange(len(lines))[::-1]
    for way, colour, aside in (("exact", "#1f5fa8", 0.2), ("averaged", "#b8431f", -0.2)):
        values = [abs(getattr(x, way)) / max(abs(x.exact), abs(x.averaged), 1e-30) for x in lines]
        axis.barh(place + aside, values, 0.38, color=colour, label=way)
        for x, y, length in zip(lines, place + aside, values):
            axis.text(length + 0.01, y, f"{getattr(x, way):.3g}", fontsize=7, va="center")
    axis.set_yticks(place, [f"{x.case}: {x.figure}" for x in lines], fontsize=7)
    axis.set(xlim=(0.0, 1.25), xlabel="by the larger of the two")
    axis.legend(fontsize=8, loc="upper right")
    figure.savefig(path, dpi=120)
