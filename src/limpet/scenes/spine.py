"""M figure 8: a soft robot's spine hangs by its two ends."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from pydantic import Field

from limpet.geometry.bricks import spine as spine_shape
from limpet.geometry.cells import mesh_of
from limpet.geometry.shapes import SoftShape
from limpet.geometry.surface import volume
from limpet.scenes.cantilever import SolidParameters
from limpet.scenes.registry import scene
from limpet.units import Length, Positive, Time
from limpet.world import World


class SpineParameters(SolidParameters):
    duration: Time = 1.6
    poisson: float = Field(0.49999, gt=-1.0, le=0.5, description="Poisson's ratio")
    length: Positive[Length] = Field(0.19, description="from end to end")
    width: Positive[Length] = Field(0.05, description="of the vertebrae")
    height: Positive[Length] = Field(0.03, description="of the vertebrae")
    vertebrae: int = Field(7, ge=2, description="blocks along the backbone")


def order_of(element: str | None) -> int:
    """1 for linear tetrahedra, 2 for quadratic ones, the default."""
    return 1 if mesh_of(element, "tet10", "scene") == "tet4" else 2


def solid_volume(shape: SoftShape) -> float:
    """[m^3] within the skin of a straight-sided mesh."""
    skin = shape.visual
    return volume(skin.positions(shape.points), skin.triangles)


@scene(
    "spine",
    "a silicone spine hangs by its two ends",
    SpineParameters,
    expect="sags between its ends; linear tetrahedra lock and hardly move",
)
def spine(p: SpineParameters) -> World:
    """The ends are held, the vertebrae between them sink."""
    world = World()
    shape = spine_shape(p.length, p.width, p.height, p.vertebrae, order_of(p.element))
    ends = np.concatenate([shape.region("left"), shape.region("right")])
    x = shape.points[:, 0]
    middle = np.flatnonzero(np.abs(x - x.mean()) < 0.02 * p.length)
    shape = replace(shape, regions={**shape.regions, "ends": ends, "middle": middle})
    body = world.add_soft(
        shape, p.material(), p.density * solid_volume(shape), name="spine",
        fem=p.fem(),
    )  # fmt: skip
    world.hold(body["ends"])
    world.watch("middle", body["middle"])
    return world
