"""Frâncu et al. 2019 (M), figure 8: a soft robot's spine hangs by its two ends."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
from pydantic import Field

from limpet.meshing.tetrahedra import fill, solid
from limpet.model.world import World
from limpet.scenes.registry import scene
from limpet.scenes.solid import SolidParameters, order_of, solid_volume
from limpet.shapes.beams import spine as spine_shape
from limpet.units import Length, Positive, Time


class SpineParameters(SolidParameters):
    duration: Time = 1.6
    poisson: float = Field(0.49999, gt=-1.0, le=0.5, description="Poisson's ratio")
    length: Positive[Length] = Field(0.19, description="length from end to end")
    width: Positive[Length] = Field(0.05, description="width of the vertebrae")
    height: Positive[Length] = Field(0.03, description="height of the vertebrae")
    held: Literal["both", "one"] = Field("both", description="the ends that are held")
    vertebrae: int = Field(7, ge=2, description="blocks along the backbone")
    mesh: Literal["netgen", "bricks"] = Field(
        "netgen",
        description="netgen: irregular tetrahedra as in M; bricks: regular ones, which lock less",
    )


@scene(
    "spine",
    SpineParameters,
    summary="a silicone spine hangs by its two ends",
    expect="sags between its ends; linear tetrahedra lock and hardly move",
)
def spine(p: SpineParameters) -> World:
    """The ends are held, the vertebrae between them sink; held at one end only, it bends down."""
    world = World()
    order = order_of(p.element)
    size = p.length, p.width, p.height, p.vertebrae
    if p.mesh == "bricks":
        shape = spine_shape(*size, order)
    else:
        linear = spine_shape(*size, order=1)
        skin = linear.visual
        tets = fill(skin.positions(linear.points), skin.triangles, name="spine")
        shape = solid(*tets, "spine", order)
    x = shape.points[:, 0]
    away = np.abs(x - 0.5 * (x.min() + x.max())) / p.length
    ends, middle = away > 0.5 - 1e-9, np.flatnonzero(away < 0.02)
    near = x < x.mean()
    tip = np.flatnonzero(ends & ~near)
    if p.held == "one":
        ends &= near
    regions = {"ends": np.flatnonzero(ends), "middle": middle, "tip": tip}
    shape = replace(shape, regions=regions)
    mass = p.density * solid_volume(shape)
    body = world.add_soft(shape, p.material(), mass, name="spine", fem=p.fem())
    world.fix(body["ends"])
    world.add_probe("middle", body["middle"])
    if p.held == "one":
        world.add_probe("tip", body["tip"])
    return world
