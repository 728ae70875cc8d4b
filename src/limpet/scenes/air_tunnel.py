"""Bernardin et al. 2023 (P) 5.2, 'Air Tunnel': a tunnel connects two holes in a soft cube."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Literal

import numpy as np
from pydantic import Field

from limpet.dynamics.motion import path
from limpet.fem.material import Material
from limpet.model.world import World
from limpet.scenes.registry import SceneParameters, scene
from limpet.scenes.slotted import slotted_ground
from limpet.shapes.cups import STANDARD, CupProfile, cup
from limpet.shapes.jelly import tunnel_cube
from limpet.units import Length, Mass, Positive, Pressure, Speed, Time

CLEARANCE = 0.3e-3  # [m] between lip and cube at the start
BESIDE = 1.5e-3  # [m] between the rim and the open hole
SMALL = 0.48  # scale of the small cups, which fit side by side on the two holes


class AirTunnelParameters(SceneParameters):
    """P gives no sizes: the cup of `ground` spans both holes; two small ones cover one each."""

    duration: Time = 2.0
    setup: Literal["one", "both", "two"] = Field(
        "both", description="one hole covered, both under one cup, or one cup on each"
    )
    young: Positive[Pressure] = Field(4e6, description="Young's modulus of the cups")
    poisson: float = Field(0.45, gt=-1.0, le=0.5, description="Poisson's ratio of the cups")
    nodes: int = Field(434, gt=0, description="approximate number of nodes of a cup")
    cup_mass: Positive[Mass] = Field(0.020, description="mass of the standard cup; others scale")
    edge: Positive[Length] = Field(0.07, description="edge of the cube")
    hole: Positive[Length] = Field(0.006, description="width of holes and tunnel")
    spacing: Positive[Length] = Field(0.018, description="spacing of the two holes")
    cube_mass: Positive[Mass] = Field(0.1, description="mass of the cube")
    cube_young: Positive[Pressure] = Field(2e5, description="Young's modulus of the cube")
    cube_poisson: float = Field(0.3, gt=-1.0, lt=0.5, description="Poisson's ratio of the cube")
    friction: float = Field(0.5, ge=0.0, description="friction between all bodies")
    push: Positive[Length] = Field(3e-3, description="push of the standard cup; others scale")
    push_time: Positive[Time] = Field(0.4, description="time of the downward motion")
    hold: Positive[Time] = Field(0.1, description="time before the cups are raised")
    rise: Positive[Length] = Field(0.015, description="upward travel of the cups")
    speed: Positive[Speed] = Field(0.015, description="upward speed")

    def cups(self) -> list[tuple[str, float, float]]:
        """(name, scale, x [m]) of each cup."""
        if self.setup == "both":
            return [("cup", 1.0, 0.0)]
        if self.setup == "one":
            return [("cup", 1.0, 0.5 * (self.spacing - self.hole) - BESIDE - STANDARD.radius)]
        return [("left cup", SMALL, -0.5 * self.spacing), ("right cup", SMALL, 0.5 * self.spacing)]


def scaled(profile: CupProfile, scale: float) -> CupProfile:
    """The same cup in another size."""
    lengths = [f.name for f in fields(profile) if f.name not in ("name", "dome")]
    return replace(profile, **{key: scale * getattr(profile, key) for key in lengths})


@scene(
    "air-tunnel",
    AirTunnelParameters,
    summary="a tunnel connects two holes in a soft cube, which is lifted only if both are covered",
    expect="one: no cavity closes and the cube stays; both and two: one cavity, the cube is lifted",
)
def air_tunnel(p: AirTunnelParameters) -> World:
    """Cups are pushed on the holes of the cube, held, then raised; air may pass the tunnel."""
    world = World(friction=p.friction)
    for name, scale, x in p.cups():
        soft = world.add_soft(
            cup(scaled(STANDARD, scale), nodes=p.nodes), Material(p.young, p.poisson),
            p.cup_mass * scale**3, name=name, position=(x, 0.0, CLEARANCE),
        )  # fmt: skip
        bottom, start = -(CLEARANCE + scale * p.push), p.push_time + p.hold
        end = start + (p.rise - bottom) / p.speed
        stroke = [(0.0, 0.0), (p.push_time, bottom), (start, bottom), (end, p.rise)]
        world.prescribe_motion(soft["top"], path(stroke))
    cube = world.add_soft(
        tunnel_cube(p.edge, p.hole, p.spacing), Material(p.cube_young, p.cube_poisson),
        p.cube_mass, name="cube",
    )  # fmt: skip
    world.add_probe("cube", cube["bottom"])
    slotted_ground(world, np.array([0.0, 0.0, -p.edge]), p.edge)
    return world
