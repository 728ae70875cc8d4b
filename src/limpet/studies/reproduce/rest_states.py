"""C's cloth and jellies run to rest, and what they came to: figures for studies to compare."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import thread_time

import numpy as np

from limpet.errors import DivergedError
from limpet.particles.meshes import edge_lengths, grid_edges
from limpet.particles.model import ParticleModel
from limpet.particles.settings import ParticleSolverSettings
from limpet.particles.system import ParticleSystem
from limpet.scenes.draped import draped
from limpet.scenes.jellies import serve

Array = np.ndarray

GRAVITY = 9.81  # [m/s^2]
LATE = 0.25  # share of a run, its end, that counts as rest
RADIUS = 0.25  # [m] of the sphere


@dataclass(frozen=True)
class Served:
    """What a run came to; NaN where it diverged."""

    stretch: float  # of inextensible edges, most on the way
    stretch_at_rest: float
    penetration: float  # [m] of nodes, most on the way
    penetration_at_rest: float  # [m]
    speed_at_rest: float  # [m/s] root mean square over the mass, most of late
    gained: float  # [J] that kinetic and potential energy rose above what they had been, most
    sunk: float  # [m] since the beginning: the cloth's centre, the bar
    sweeps: float  # a step
    ms: float  # a step, the median, of the thread
    done: bool  # it did not diverge


FAILED = Served(*(float("nan"),) * 9, done=False)


def energy(world: ParticleSystem) -> tuple[float, float]:
    """[J] kinetic and potential, of all that moves, without what is elastic."""
    kinetic = sum(b.kinetic_energy() for b in world.soft)
    potential = sum(float(b.node_mass @ b.x[:, 2]) for b in world.soft)
    for body in world.rigid:
        if body.movable:
            spin = float(body.w @ body.world_inertia() @ body.w)
            kinetic += 0.5 * (body.mass * float(body.v @ body.v) + spin)
            potential += body.mass * float(body.centre[2])
    return kinetic, GRAVITY * potential


def cloth(settings: ParticleSolverSettings, divisions: int, seconds: float) -> Served:
    """A cloth dropped on the sphere."""
    world = draped(divisions, radius=RADIUS, settings=settings)
    (sheet,) = world.soft
    edges = grid_edges(sheet.mesh, (divisions, divisions))

    def deepest() -> float:
        return max(0.0, RADIUS - float(np.linalg.norm(sheet.x, axis=1).min()))

    return _run(world, seconds, [edges], deepest, lambda: float(sheet.centre[2]))


def jelly(
    settings: ParticleSolverSettings,
    divisions: tuple[int, int],
    seconds: float,
    bar_mass: float = 2.7,
) -> Served:
    """Four jellies under a bar, on a dish."""
    model = ParticleModel(settings=settings)
    serve(model, divisions, bar_mass=bar_mass)
    world = ParticleSystem(model)
    dish, bar = (next(b for b in world.rigid if b.name == name) for name in ("dish", "bar"))

    def deepest() -> float:
        """Below the dish's top or above the bar's bottom: they stay level."""
        x = np.concatenate([b.x[:, 2] for b in world.soft])
        top, bottom = dish.positions()[:, 2].max(), bar.positions()[:, 2].min()
        return max(0.0, float(top - x.min()), float(x.max() - bottom))

    edges = [b.mesh.skin_edges() for b in world.soft]
    return _run(world, seconds, edges, deepest, lambda: float(bar.centre[2]))


def _run(
    world: ParticleSystem, seconds: float, edges: list[Array], deepest: Callable[[], float],
    height: Callable[[], float],
) -> Served:  # fmt: skip
    world.clock = thread_time
    start, rest = height(), [edge_lengths(b.mesh.points, e) for b, e in zip(world.soft, edges)]
    mass = sum(b.mass for b in world.bodies if b.movable)
    seen, sweeps, ms, least = [], [], [], np.inf
    try:
        for report in world.run(seconds):
            kinetic, potential = energy(world)
            least = min(least, kinetic + potential)
            stretch = max(
                float(np.abs(edge_lengths(b.x, e) / r - 1.0).max())
                for b, e, r in zip(world.soft, edges, rest)
            )
            speed = np.sqrt(2.0 * kinetic / mass)
            seen.append((stretch, deepest(), speed, kinetic + potential - least))
            sweeps.append(report.sweeps)
            ms.append(1e3 * sum(report.phases.values()))
    except DivergedError:
        return FAILED
    on_the_way, late = np.array(seen), max(1, round(LATE * len(seen)))
    most, rest_most = on_the_way.max(axis=0), on_the_way[-late:].max(axis=0)
    return Served(
        float(most[0]), float(rest_most[0]), float(most[1]), float(rest_most[1]),
        float(rest_most[2]), float(most[3]), start - height(), float(np.mean(sweeps)),
        float(np.median(ms)), True,
    )  # fmt: skip
