"""Two weights on a rope over a wheel, which friction turns (Vezzaro et al. 2015, C, figure 4)."""

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
from limpet.particles.settings import ParticleSolverSettings, Plan
from limpet.particles.system import ParticleSystem
from limpet.rigid.rigid_body import RigidBody
from limpet.scenes.registry import SceneParameters, scene
from limpet.shapes.boxes import box
from limpet.shapes.objects import wheel as wheel_shape
from limpet.units import Length, Mass, Positive, Time

# Substeps of 1 ms: at 2 ms the tension limit acts where the rope bends over the wheel and takes 3 %
# of its speed.
SOLVER_SETTINGS = ParticleSolverSettings(sweeps=20, substeps=20, max_substeps=20)
PLANS: dict[Plan, ParticleSolverSettings] = {
    "stable": SOLVER_SETTINGS, "paper": ParticleSolverSettings.paper(),
}  # fmt: skip
THICKNESS = 3e-3  # [m] distance kept from the wheel, more than the sagitta of a rope segment
SEGMENTS = 24  # C: 50 nodes, 48 faces, 121 inextensibility and 47 bending constraints


class RopeParameters(SceneParameters):
    h: Time = 0.02
    duration: Time = 1.0
    heavy: Positive[Mass] = Field(1.1, description="mass of the weight on the right")
    light: Positive[Mass] = Field(0.9, description="mass of the weight on the left")
    rope_mass: Positive[Mass] = Field(0.1, description="mass of the rope")
    length: Positive[Length] = Field(1.6, description="length of the rope")
    wheel_mass: Positive[Mass] = Field(0.5, description="mass of the wheel")
    radius: Positive[Length] = Field(0.2, description="radius of the wheel")
    friction: float = Field(0.5, ge=0.0, description="friction between rope and wheel")
    plan: Plan = Field(
        "stable", description="stable, or paper: one solve of 2 + 2 sweeps per step, as C"
    )


@scene(
    "rope",
    RopeParameters,
    summary="two weights hang on a rope over a wheel, which turns by friction",
    expect="the heavier weight sinks, the lighter rises, and the wheel turns with the rope",
)
def rope(p: RopeParameters) -> World:
    """Both weights are released at the same height."""
    world = World(friction=p.friction)
    world.particles.settings = PLANS[p.plan]
    bodies = add_rope(
        world.particles, p.heavy, p.light, p.rope_mass, p.length, p.wheel_mass, p.radius
    )
    world.add_probe("heavy", bodies.heavy)
    world.add_probe("light", bodies.light)
    return world


@dataclass(frozen=True)
class RopeBodies:
    """The bodies of the scene."""

    rope: MassSpring
    wheel: RigidBody
    heavy: RigidBody
    light: RigidBody


def rope_system(
    heavy: float = 1.1, light: float = 0.9, rope_mass: float = 0.1, length: float = 1.6,
    wheel_mass: float = 0.5, radius: float = 0.2, friction: float = 0.5, h: float = 0.02,
    settings: ParticleSolverSettings = SOLVER_SETTINGS, segments: int = SEGMENTS,
) -> tuple[ParticleSystem, RopeBodies]:  # fmt: skip
    """A particle system with the rope, the wheel and the weights only."""
    model = ParticleModel(FrictionTable(friction), settings)
    hung = add_rope(model, heavy, light, rope_mass, length, wheel_mass, radius, segments)
    return ParticleSystem(model, h), hung


def add_rope(
    model: ParticleModel, heavy: float, light: float, rope_mass: float, length: float,
    wheel_mass: float, radius: float, segments: int = SEGMENTS,
    width: float = 0.02,  # [m] of the rope
    thickness: float = THICKNESS,
) -> RopeBodies:  # fmt: skip
    """Add a strip over the wheel with weights at its ends; the wheel is anchored at two points."""
    cord = add_cord(model, rope_mass, length, radius, segments, width, thickness)
    turning = RigidBody("wheel", wheel_shape(radius, 2.0 * width), wheel_mass)
    model.add_rigid(turning, round_bar(radius, 2.0 * width))
    model.anchor(turning, np.array([[0.0, -width, 0.0], [0.0, width, 0.0]]))
    return RopeBodies(cord, turning, *hang_weights(model, cord, heavy, light))


def add_cord(
    model: ParticleModel, mass: float, length: float, radius: float, segments: int = SEGMENTS,
    width: float = 0.02, thickness: float = THICKNESS,
) -> MassSpring:  # fmt: skip
    """Add a strip that lies over a wheel of this radius about the origin."""
    mesh = strip(length, width, segments)
    cord = MassSpring("rope", mesh, mass, stiffness=1e-3)
    cord.x = over_the_wheel(mesh, radius + thickness)
    model.add(cord, thickness)
    model.add_inextensible_edges(cord, np.concatenate([mesh.edges, _other_diagonals(mesh)]))
    model.add_bending(cord, stiffness=1e-5, damping=1e-6)
    return cord


def hang_weights(
    model: ParticleModel, cord: MassSpring, heavy: float, light: float
) -> tuple[RigidBody, RigidBody]:
    """Add weights [kg] at the two ends of a cord."""
    regions = cord.mesh.regions
    return (
        _weight(model, cord, "heavy", heavy, regions["east"]),
        _weight(model, cord, "light", light, regions["west"]),
    )


def over_the_wheel(mesh: ParticleMesh, radius: float) -> Array:
    """(n, 3) [m] The strip laid over a circle about the origin, its ends straight down.

    The edges keep their length: on the circle they are chords.
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
    position = np.repeat(path, 2, axis=0)  # vertices are numbered across first
    return np.stack([position[:, 0], mesh.points[:, 1], position[:, 1]], axis=1)


def _other_diagonals(mesh: ParticleMesh) -> Array:
    """(s, 2) The diagonal of each cell of the strip that is not an edge of its triangles."""
    first = 2 * np.arange(len(mesh.points) // 2 - 1, dtype=np.int32)
    both = np.concatenate([np.stack([first, first + 3], 1), np.stack([first + 1, first + 2], 1)])
    known = {tuple(edge) for edge in mesh.edges.tolist()}
    return np.array([edge for edge in both.tolist() if tuple(edge) not in known], np.int32)


def _weight(
    model: ParticleModel, cord: MassSpring, name: str, mass: float, end: Array
) -> RigidBody:
    """An iron cube that hangs by the centre of its top; it does not collide."""
    side = (mass / 7870.0) ** (1.0 / 3.0)
    top = cord.x[end].mean(axis=0)
    cube = box(side, side, side)
    shape = RigidShape(name, cube.points + top, cube.triangles)
    body = model.add_rigid(RigidBody(name, shape, mass), collides=False)
    model.anchor(cord, end, to=body)
    return body
