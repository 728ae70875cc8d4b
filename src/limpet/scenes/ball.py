"""Elandt et al. 2019 (F), VIII-B: a ball bounces on a surface."""

from __future__ import annotations

from pydantic import Field

from limpet.model.world import World
from limpet.pressure_field.catalogue import floor, sphere
from limpet.scenes.registry import SceneParameters, scene
from limpet.units import Length, Mass, NotNegative, Positive, Pressure, Time


class BallParameters(SceneParameters):
    h: Time = 5e-4
    duration: Time = 2.0
    radius: Positive[Length] = Field(0.03, description="radius of the ball")
    mass: Positive[Mass] = Field(0.1, description="mass of the ball")
    modulus: Positive[Pressure] = Field(1e5, description="modulus of the ball")
    drop: Positive[Length] = Field(0.1, description="height of the fall")
    dissipation: NotNegative[Time] = Field(0.0, description="dissipation of the ball (F eq 3)")
    friction: float = Field(0.5, ge=0.0, description="friction between ball and floor")


@scene(
    "ball",
    BallParameters,
    summary="a ball bounces on the floor",
    expect="it bounces, ever lower: the step takes energy from it, and dissipation takes more",
)
def ball(p: BallParameters) -> World:
    """A compliant ball falls on a rigid floor."""
    world = World(friction=p.friction)
    shape = sphere(p.radius, p.modulus)
    body = world.add_rigid(shape, p.mass, name="ball", position=(0.0, 0.0, p.radius + p.drop))
    ground = world.add_rigid(floor(0.3), 1.0, fixed=True)
    world.set_contact(body, ground, "pressure fields", p.dissipation)
    world.add_probe("ball", body)
    return world
