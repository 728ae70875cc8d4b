"""Bernardin et al. 2023 (P) 5, 'Cube Halves': two halves of a jelly cube hold by suction."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from limpet.dynamics.motion import path
from limpet.fem.material import Material
from limpet.model.world import World
from limpet.scenes.registry import SceneParameters, scene
from limpet.scenes.slotted import slotted_ground
from limpet.scenes.solid import solid_volume
from limpet.shapes.jelly import half_with_hole, jelly_half
from limpet.units import Density, Length, Positive, Pressure, Speed, Time

CLEARANCE = 0.3e-3  # [m] between the halves at the start


class CubeHalvesParameters(SceneParameters):
    """P gives neither sizes nor material: a firm jelly, as heavy as water."""

    duration: Time = 2.2
    edge: Positive[Length] = Field(0.06, description="edge of the whole cube")
    young: Positive[Pressure] = Field(1e5, description="Young's modulus of the jelly")
    poisson: float = Field(0.45, gt=-1.0, lt=0.5, description="Poisson's ratio of the jelly")
    density: Positive[Density] = Field(1000.0, description="density of the jelly")
    friction: float = Field(0.5, ge=0.0, description="friction between all bodies")
    seed: int = Field(1, ge=0, description="seed of the hole's random outline")
    radius: Positive[Length] = Field(0.016, description="radius of the hole, on average")
    depth: Positive[Length] = Field(0.012, description="depth of the hole")
    sectors: int = Field(12, ge=8, description="sectors of the mesh round the hole")
    divisions: tuple[int, int, int] = Field((4, 4, 2), description="cells of the upper half")
    finer: int = Field(2, ge=1, description="subdivisions of each surface cell for contact")
    push: Positive[Length] = Field(2e-3, description="push of the upper half into the lower one")
    push_time: Positive[Time] = Field(0.5, description="time of the downward motion")
    hold: Positive[Time] = Field(0.2, description="time before it is raised")
    rise: Positive[Length] = Field(0.03, description="upward travel")
    speed: Positive[Speed] = Field(0.03, description="upward speed")


@scene(
    "cube-halves",
    CubeHalvesParameters,
    summary="two halves of a jelly cube are pressed together and hold by suction",
    expect="air leaves the hole while they are pressed; the lower half is carried and hangs",
)
def cube_halves(p: CubeHalvesParameters) -> World:
    """The upper half is pressed on the lower one, which has a hole of random shape, and raised."""
    world = World(friction=p.friction)
    jelly = Material(p.young, p.poisson)
    hole = half_with_hole(p.edge, p.radius, p.depth, p.seed, sectors=p.sectors)
    lower = world.add_soft(hole, jelly, p.density * solid_volume(hole), name="lower")
    plain = jelly_half(p.edge, p.divisions, p.finer)
    upper = world.add_soft(
        plain, jelly, p.density * solid_volume(plain),
        name="upper", position=(0.0, 0.0, p.edge / 2.0 + CLEARANCE),
    )  # fmt: skip
    slotted_ground(world, np.array([0.0, 0.0, -p.edge / 2.0]), p.edge)
    bottom, start = -(CLEARANCE + p.push), p.push_time + p.hold
    stroke = [
        (0.0, 0.0), (p.push_time, bottom), (start, bottom),
        (start + (p.rise + p.push) / p.speed, bottom + p.push + p.rise),
    ]  # fmt: skip
    world.prescribe_motion(upper["top"], path(stroke))
    world.add_probe("lower", lower["bottom"])
    return world
