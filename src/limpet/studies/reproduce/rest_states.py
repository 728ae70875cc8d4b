"""Cloth and jellies of Vezzaro et al. 2015 (C) run to rest: results for the studies of C."""

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
from limpet.scenes.cloth import cloth_system
from limpet.scenes.jellies import add_jellies

Array = np.ndarray

GRAVITY = 9.81  # [m/s^2]
LATE = 0.25  # last part of a run that counts as rest
RADIUS = 0.25  # [m] of the sphere


@dataclass(frozen=True)
class RestState:
    """Results of a run; NaN if it diverged."""

    stretch: float  # largest, of inextensible edges
    stretch_at_rest: float
    penetration: float  # [m] largest, of nodes
    penetration_at_rest: float  # [m]
    speed_at_rest: float  # [m/s] mass-weighted root mean square, largest at rest
    gained: float  # [J] largest rise of kinetic plus potential energy above its minimum
    sunk: float  # [m] of the centre of the cloth, or of the bar
    sweeps: float  # per step
    ms: float  # median thread time per step
    done: bool  # False: diverged


FAILED = RestState(*(float("nan"),) * 9, done=False)


def energy(world: ParticleSystem) -> tuple[float, float]:
    """[J] Kinetic and potential energy of all movable bodies, without elastic energy."""
    kinetic = sum(b.kinetic_energy() for b in world.soft)
    potential = sum(float(b.node_mass @ b.x[:, 2]) for b in world.soft)
    for body in world.rigid:
        if body.movable:
            spin = float(body.w @ body.world_inertia() @ body.w)
            kinetic += 0.5 * (body.mass * float(body.v @ body.v) + spin)
            potential += body.mass * float(body.centre[2])
    return kinetic, GRAVITY * potential


def cloth(settings: ParticleSolverSettings, divisions: int, seconds: float) -> RestState:
    """A cloth dropped on the sphere."""
    world = cloth_system(divisions, radius=RADIUS, settings=settings)
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
) -> RestState:
    """Four jellies under a bar, on a dish."""
    model = ParticleModel(settings=settings)
    add_jellies(model, divisions, bar_mass=bar_mass)
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
) -> RestState:  # fmt: skip
    world.clock = thread_time
    start, rest = height(), [edge_lengths(b.mesh.points, e) for b, e in zip(world.soft, edges)]
    mass = sum(b.mass for b in world.bodies if b.movable)
    samples, sweeps, ms, least = [], [], [], np.inf
    try:
        for report in world.run(seconds):
            kinetic, potential = energy(world)
            least = min(least, kinetic + potential)
            stretch = max(
                float(np.abs(edge_lengths(b.x, e) / r - 1.0).max())
                for b, e, r in zip(world.soft, edges, rest)
            )
            speed = np.sqrt(2.0 * kinetic / mass)
            samples.append((stretch, deepest(), speed, kinetic + potential - least))
            sweeps.append(report.sweeps)
            ms.append(1e3 * sum(report.phases.values()))
    except DivergedError:
        return FAILED
    history, late = np.array(samples), max(1, round(LATE * len(samples)))
    most, rest_most = history.max(axis=0), history[-late:].max(axis=0)
    return RestState(
        float(most[0]), float(rest_most[0]), float(most[1]), float(rest_most[1]),
        float(rest_most[2]), float(most[3]), start - height(), float(np.mean(sweeps)),
        float(np.median(ms)), True,
    )  # fmt: skip
