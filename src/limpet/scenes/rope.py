"""Two weights on a rope over a wheel (C figure 4): the heavier one wins, and friction spins it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from pydantic import Field

from limpet.contact.friction import FrictionTable
from limpet.contact.primitives import round_bar
from limpet.errors import LimpetError
from limpet.geometry.shape import Array, RigidShape
from limpet.model.world import World
from limpet.particles.mass_spring import MassSpring
from limpet.particles.meshes import ParticleMesh
from limpet.particles.meshes import rope as strip
from limpet.particles.model import ParticleModel
from limpet.particles.settings import ParticleSolverSettings
from limpet.particles.system import ParticleSystem
from limpet.rigid.rigid_body import RigidBody
from limpet.scenes.registry import SceneParameters, scene
from limpet.shapes.boxes import box
from limpet.shapes.objects import wheel as wheel_shape
from limpet.units import Length, Mass, Positive, Time

# Solves of 1 ms: at 2 ms the tension limit of taut chains acts where the rope bends over the wheel,
# and takes 3 % of its speed.
PLAN = ParticleSolverSettings(sweeps=20, substeps=20, max_substeps=20)
THICKNESS = 3e-3  # [m] kept from the wheel: more than a chord of the rope dips
SEGMENTS = 24  # C: 50 nodes, 48 faces, 121 inextensibility and 47 bending constraints


class RopeParameters(SceneParameters):
    h: Time = 0.02
    duration: Time = 1.0
    heavy: Positive[Mass] = Field(1.1, description="of the weight on the right")
    light: Positive[Mass] = Field(0.9, description="of the weight on the left")
    rope_mass: Positive[Mass] = Field(0.1, description="of the rope")
    length: Positive[Length] = Field(1.6, description="of the rope")
    wheel_mass: Positive[Mass] = Field(0.5, description="of the wheel")
    radius: Positive[Length] = Field(0.2, description="of the wheel")
    friction: float = Field(0.5, ge=0.0, description="between rope and wheel")


@scene(
    "rope",
    "two weights hang on a rope over a wheel, which its friction spins",
    RopeParameters,
    expect="the heavier weight sinks, the lighter rises, and the wheel turns with the rope",
)
def rope(p: RopeParameters) -> World:
    """Both weights are let go at the same height."""
    world = World(friction=p.friction)
    world.particles.settings = PLAN
    hung = hang(world.particles, p.heavy, p.light, p.rope_mass, p.length, p.wheel_mass, p.radius)
    world.add_probe("heavy", hung.heavy)
    world.add_probe("light", hung.light)
    return world


@dataclass(frozen=True)
class Hung:
    """What hangs where."""

    rope: MassSpring
    wheel: RigidBody
    heavy: RigidBody
    light: RigidBody


def roped(
    heavy: float = 1.1, light: float = 0.9, rope_mass: float = 0.1, length: float = 1.6,
    wheel_mass: float = 0.5, radius: float = 0.2, friction: float = 0.5, h: float = 0.02,
    settings: ParticleSolverSettings = PLAN, segments: int = SEGMENTS,
) -> tuple[ParticleSystem, Hung]:  # fmt: skip
    """The rope and what hangs on it alone."""
    model = ParticleModel(FrictionTable(friction), settings)
    hung = hang(model, heavy, light, rope_mass, length, wheel_mass, radius, segments)
    return ParticleSystem(model, h), hung


def hang(
    model: ParticleModel, heavy: float, light: float, rope_mass: float, length: float,
    wheel_mass: float, radius: float, segments: int = SEGMENTS,
    width: float = 0.02,  # [m] of the rope
    thickness: float = THICKNESS,
) -> Hung:  # fmt: skip
    """A strip over the wheel, its ends held on the weights, the wheel held at two points."""
    mesh = strip(length, width, segments)
    cord = MassSpring("rope", mesh, rope_mass, stiffness=1e-3)
    cord.x = over_the_wheel(mesh, radius + thickness)
    model.add(cord, thickness)
    model.add_inextensible_edges(cord, np.concatenate([mesh.edges, _other_diagonals(mesh)]))
    model.add_bending(cord, stiffness=1e-5, damping=1e-6)
    turning = RigidBody("wheel", wheel_shape(radius, 2.0 * width), wheel_mass)
    model.add_rigid(turning, round_bar(radius, 2.0 * width))
    model.anchor(turning, np.array([[0.0, -width, 0.0], [0.0, width, 0.0]]))
    weights = [
        _weight(model, cord, name, mass, mesh.regions[end])
        for name, mass, end in (("heavy", heavy, "east"), ("light", light, "west"))
    ]
    return Hung(cord, turning, *weights)


def over_the_wheel(mesh: ParticleMesh, radius: float) -> Array:
    """(n, 3) [m] the strip laid over a circle about the origin, its ends straight down.

    No edge changes its length: on the circle they are its chords.
    """
    segments = len(mesh.points) // 2 - 1
    length = float(np.ptp(mesh.points[:, 0]))
    least, most = (np.pi + 1.0) * radius, segments * radius
    if not least <= length <= most:
        raise LimpetError(
            f"rope length = {length:g} m: expected from {least:.3g} to {most:.3g} m over a wheel "
            f"of {radius:g} m; change it or the wheel's radius"
        )
    edge = length / segments
    step = 2.0 * np.arcsin(0.5 * edge / radius)
    half = np.arange(segments / 2.0 % 1.0, segments / 2.0 + 0.5)  # from the top to one end
    on = half * step <= 0.5 * np.pi
    x, z = radius * np.sin(half * step), radius * np.cos(half * step)
    last = int(on.sum()) - 1
    down = z[last] - np.sqrt(edge**2 - (radius - x[last]) ** 2)
    x[~on], z[~on] = radius, down - edge * np.arange(len(half) - last - 1)
    right = np.stack([x, z], axis=1)
    left = (right * [-1.0, 1.0])[::-1]
    path = np.concatenate([left if half[0] > 0.0 else left[:-1], right])
    place = np.repeat(path, 2, axis=0)  # the mesh counts across first
    return np.stack([place[:, 0], mesh.points[:, 1], place[:, 1]], axis=1)


def _other_diagonals(mesh: ParticleMesh) -> Array:
    """(s, 2) of each cell of the strip that which is no edge of its triangles."""
    first = 2 * np.arange(len(mesh.points) // 2 - 1, dtype=np.int32)
    both = np.concatenate([np.stack([first, first + 3], 1), np.stack([first + 1, first + 2], 1)])
    known = {tuple(edge) for edge in mesh.edges.tolist()}
    return np.array([edge for edge in both.tolist() if tuple(edge) not in known], np.int32)


def _weight(
    model: ParticleModel, cord: MassSpring, name: str, mass: float, end: Array
) -> RigidBody:
    """A cube as if of iron, hung by the middle of its top; it passes the rope and the wheel by."""
    side = (mass / 7870.0) ** (1.0 / 3.0)
    top = cord.x[end].mean(axis=0)
    cube = box(side, side, side)
    shape = RigidShape(name, cube.points + top, cube.triangles)
    body = model.add_rigid(RigidBody(name, shape, mass), collides=False)
    model.anchor(cord, end, to=body)
    return body
