"""Random drops on a floor by pressure fields: no modulus, mass or time step creates energy (F V).

Boxes, cylinders, balls, capsules, mugs and a bumpy mesh; 10 kPa to 200 GPa, 1 g to 1 t, steps of 1
to 20 ms, any orientation, with friction. Energy is that of motion and gravity while nothing
touches: then the contact holds none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from limpet.engine.simulation import Simulation
from limpet.geometry.rotation import rotation_matrix
from limpet.geometry.shape import RigidShape
from limpet.meshing.tetrahedra import fill
from limpet.model.world import World
from limpet.pressure_field import catalogue
from limpet.pressure_field.catalogue import FieldShape
from limpet.pressure_field.extents import laplace_extent, refine_walls
from limpet.pressure_field.primitives import Solid, icosphere
from limpet.record.table import Progress, Result, Table, Ticker
from limpet.rigid.rigid_body import RigidBody
from limpet.shapes.objects import mug

Array = np.ndarray

DROPS = 300
MODULI, MASSES, STEPS = (1e4, 2e11), (1e-3, 1e3), (1e-3, 2e-2)  # [Pa], [kg], [s]
SIZES, HEIGHTS = (0.03, 0.3), (0.01, 0.3)  # [m]
FRICTION, GRAVITY = 0.4, 9.81
AFTER = 0.5  # [s] that it is watched after it has reached the floor
MOST = 200  # steps, at most
GAIN = 0.01  # of the energy of the fall: what may be gained


def bumpy(size: float) -> RigidShape:
    """A ball with bumps, of about `size` [m]."""
    x, triangles = icosphere(2)
    out = 1.0 + 0.3 * np.sin(3.0 * x[:, 0]) * np.cos(4.0 * x[:, 1])
    return RigidShape("bumpy", 0.5 * size * out[:, None] * x, triangles)


@cache
def mug_solid() -> Solid:
    """A mug filled with tetrahedra, the same for all drops: meshing takes seconds."""
    shape = mug()
    filled = fill(shape.points, shape.triangles, name=shape.name)
    return laplace_extent(*refine_walls(*filled, shape.name), name=shape.name)


KINDS: dict[str, Callable[[Array, float], FieldShape]] = {
    "box": lambda sides, modulus: catalogue.box(sides[0], sides[1], sides[2], modulus),
    "ball": lambda sides, modulus: catalogue.sphere(0.5 * sides[0], modulus),
    "cylinder": lambda sides, modulus: catalogue.cylinder(0.5 * sides[0], sides[1], modulus),
    "capsule": lambda sides, modulus: catalogue.capsule(0.5 * sides[0], sides[1], modulus),
    "mug": lambda sides, modulus: catalogue.of_solid("mug", mug_solid(), modulus),
    "mesh": lambda sides, modulus: catalogue.mesh(bumpy(sides[0]), modulus),
}


@dataclass(frozen=True)
class Drop:
    """What is dropped, and how."""

    kind: str
    sides: Array  # (3,) [m]
    modulus: float  # [Pa]
    mass: float  # [kg]
    h: float  # [s]
    height: float  # [m] of its lowest point
    rotation: Array  # (3, 3)

    @staticmethod
    def random(seed: int) -> Drop:
        rng = np.random.default_rng(seed)

        def between(range_: tuple[float, float]) -> float:
            return float(np.exp(rng.uniform(*np.log(range_))))

        kinds = list(KINDS)
        axis = rng.normal(size=3)
        return Drop(
            kinds[seed % len(kinds)], between(SIZES) * rng.uniform(0.5, 1.5, 3), between(MODULI),
            between(MASSES), between(STEPS), between(HEIGHTS),
            rotation_matrix(axis / np.linalg.norm(axis), rng.uniform(0.0, np.pi)),
        )  # fmt: skip

    def world(self) -> World:
        world = World(friction=FRICTION, gravity=(0.0, 0.0, -GRAVITY))
        shape = KINDS[self.kind](self.sides, self.modulus)
        lowest = float((shape.points @ self.rotation.T)[:, 2].min())
        place = (0.0, 0.0, self.height - lowest)
        world.add_rigid(shape, self.mass, name="body", position=place, rotation=self.rotation)
        world.add_rigid(catalogue.floor(), 1.0, name="floor", fixed=True)
        return world


@dataclass(frozen=True)
class Outcome:
    """How a drop went."""

    steps: int
    unconverged: int
    iterations: float  # of Newton's method, in the mean
    gain: float  # of energy while nothing touches, by that of the fall
    rise: float  # [m] of the centre of mass above its start, at the end

    @property
    def ok(self) -> bool:
        return self.unconverged == 0 and self.gain <= GAIN and self.rise <= 0.0


def energy(body: RigidBody) -> float:
    """[J] of motion and gravity."""
    moving = 0.5 * body.mass * body.v @ body.v + 0.5 * body.w @ body.world_inertia() @ body.w
    return float(moving + body.mass * GRAVITY * body.centre[2])


def run_drop(drop: Drop, after: float = AFTER) -> Outcome:
    """after [s]: how long it is watched once it has reached the floor."""
    simulation = Simulation(drop.world(), drop.h)
    body = simulation.body("body")
    assert isinstance(body, RigidBody)
    start, scale = float(body.centre[2]), drop.mass * GRAVITY * drop.height
    # backward Euler falls by h/2 v further than a parabola: the energy before the first step
    least, gain = energy(body), 0.0
    fall = float(np.sqrt(2.0 * drop.height / GRAVITY))
    steps = min(MOST, int(np.ceil((fall + after) / drop.h)))
    unconverged, iterations = 0, 0
    for _ in range(steps):
        report = simulation.step()
        unconverged += not report.converged
        iterations += report.sweeps
        if not report.patches:
            gain, least = max(gain, energy(body) - least), min(least, energy(body))
    rise = float(body.centre[2]) - start
    return Outcome(steps, unconverged, iterations / steps, gain / scale, rise)


def run(progress: Progress, drops: int = DROPS) -> Result:
    """All drops; a row for each kind."""
    tick, found = Ticker(progress, drops, "drops-f"), []
    for seed in range(drops):
        drop = Drop.random(seed)
        found.append((drop, run_drop(drop)))
        tick()
    rows = []
    for kind in dict.fromkeys(drop.kind for drop, _ in found):
        own = [outcome for drop, outcome in found if drop.kind == kind]
        rows.append(
            (
                kind, len(own), sum(o.steps for o in own), sum(o.unconverged for o in own),
                float(np.mean([o.iterations for o in own])), max(o.gain for o in own),
                max(o.rise for o in own),
            )
        )  # fmt: skip
    table = Table(
        "Random drops on a floor",
        ("kind", "drops", "steps", "not converged", "iterations", "gain", "rise [m]"),
        tuple(rows),
        ("gain: of energy while nothing touches, over that of the fall; rise: above the start",),
    )
    return Result((table,), all(outcome.ok for _, outcome in found))
