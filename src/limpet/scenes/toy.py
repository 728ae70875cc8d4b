"""Bernardin et al. 2023 (P) 5, 'Toy': a head on a spring sticks by a cup, leaks and jumps."""

from __future__ import annotations

from manifold3d import Manifold
from pydantic import Field

from limpet.dynamics.motion import path
from limpet.fem.material import Fem, Material
from limpet.geometry.shape import RigidShape
from limpet.geometry.union import arrays
from limpet.model.world import World
from limpet.scenes.registry import SceneParameters, scene
from limpet.shapes.boxes import box
from limpet.shapes.cups import PROFILES, cup
from limpet.shapes.springs import coil_spring
from limpet.units import AmountRate, Length, Mass, NotNegative, Positive, Pressure, Time

BASE = 0.035, 0.006  # [m] radius and height
HEAD = 0.028, 0.03  # [m] radius and height
FINGER = (0.02, 0.02, 0.04)  # [m]
GAP = 1e-3  # [m] between finger and head at the start
AWAY = 0.4  # [m] the finger moves out of the way
COIL = 0.023  # [m] radius of the coil: the cup flattens inside


class ToyParameters(SceneParameters):
    duration: Time = 2.4
    young: Positive[Pressure] = Field(4e6, description="Young's modulus of the cup")
    poisson: float = Field(0.45, gt=-1.0, le=0.5, description="Poisson's ratio of the cup")
    element: str | None = Field(None, description="element of the cup; default by material")
    nodes: int = Field(434, gt=0, description="approximate number of nodes of the cup")
    friction: float = Field(0.5, ge=0.0, description="friction between all bodies")
    leak: NotNegative[AmountRate] = Field(6e-5, description="air that leaks into the cavity")
    spring_young: Positive[Pressure] = Field(200e9, description="Young's modulus of the spring")
    wire: Positive[Length] = Field(2.2e-3, description="diameter of the spring's wire")
    pitch: Positive[Length] = Field(14e-3, description="pitch of the spring")
    turns: float = Field(3.0, ge=1.5, le=100.0, description="active turns of the spring")
    per_turn: int = Field(8, ge=6, le=200, description="cells in each turn of the spring")
    spring_element: str = Field("hex20", description="element of the spring: hex20 or hex8")
    head_mass: Positive[Mass] = Field(0.05, description="mass of the head")
    base_mass: Positive[Mass] = Field(0.02, description="mass of the base")
    push: Positive[Length] = Field(
        3e-3, description="downward travel of the head after the lip touches"
    )


@scene(
    "toy",
    ToyParameters,
    summary="a head on a spring is pushed until its cup sticks; air leaks in and it jumps",
    expect="sticks when the finger leaves, lets go after a time set by the leak, jumps up",
)
def toy(p: ToyParameters) -> World:
    """A solid base, a spring on it, a rigid head on the spring, and a suction cup under the head.

    A finger pushes the head until the cup sticks to the base, and leaves. Some air leaks into the
    cavity. When the cup lets go, the spring throws the head up, and the base after it.
    """
    spring = coil_spring(
        COIL, p.wire, p.pitch, p.turns, ends=1.0 / p.per_turn, per_turn=p.per_turn,
        element=p.spring_element,
    )  # fmt: skip
    free = float(spring.points[:, 2].max())  # length of the spring
    world = World(friction=p.friction, leak=p.leak)
    world.add_rigid(box(0.3, 0.3, 0.02), 1.0, name="ground", position=(0, 0, -BASE[1]), fixed=True)
    base = world.add_rigid(_disc(*BASE), p.base_mass, name="base")
    head = world.add_rigid(
        _head(*HEAD), p.head_mass, name="head", position=(0.0, 0.0, free + HEAD[1])
    )
    coil = world.add_soft(
        spring, Material(p.spring_young, 0.3, stiffness_damping=0.0), 0.008, name="spring",
        fem=Fem(element=p.spring_element), collides=False,
    )  # fmt: skip
    soft = world.add_soft(
        cup("standard", element=p.element, nodes=p.nodes), Material(p.young, p.poisson), 0.020,
        name="cup", position=(0.0, 0.0, free - PROFILES["standard"].height),
    )  # fmt: skip
    world.attach(coil["bottom"], base)
    world.attach(coil["top"], head)
    world.attach(soft["top"], head)

    finger = world.add_rigid(
        box(*FINGER), 0.1, name="finger",
        position=(0.0, 0.0, free + HEAD[1] + GAP + FINGER[2]),
    )  # fmt: skip
    down = -(GAP + free - PROFILES["standard"].height + p.push)
    world.prescribe_motion(finger, path([(0.0, 0.0), (0.5, down), (0.6, down), (0.8, AWAY)]))
    world.add_probe("head", head)
    world.add_probe("base", base)
    return world


def _disc(radius: float, height: float) -> RigidShape:
    """A disc with its top at z = 0."""
    disc = Manifold.cylinder(height, radius, circular_segments=12).translate((0, 0, -height))
    return RigidShape("base", *arrays(disc))


def _head(radius: float, height: float) -> RigidShape:
    """An ellipsoid cut flat at its top, which is at z = 0, and at its bottom."""
    ball = Manifold.sphere(1.0, 12).scale((radius, radius, 0.7 * height))
    flat = ball.trim_by_plane((0.0, 0.0, 1.0), -0.5 * height).trim_by_plane(
        (0.0, 0.0, -1.0), -0.5 * height
    )
    points, triangles = arrays(flat)
    return RigidShape("head", points - [0.0, 0.0, 0.5 * height], triangles)
