"""Frâncu et al. 2019 (M), figures 4 to 6: the bunny hangs by an ear and swings."""

from __future__ import annotations

from pydantic import Field

from limpet.model.world import World
from limpet.scenes.registry import scene
from limpet.scenes.solid import SolidParameters, order_of, solid_volume
from limpet.shapes.solids import bunny
from limpet.units import Length, Positive, Time


class BunnySwingParameters(SolidParameters):
    duration: Time = 8.0  # 500 frames
    damping: Time = Field(0.0, ge=0.0, description="stiffness damping b of Rayleigh's a M + b K")
    height: Positive[Length] = Field(0.12, description="height of the bunny")
    nodes: int = Field(280, ge=30, description="approximate number of corner nodes")


@scene(
    "bunny-swing",
    BunnySwingParameters,
    summary="a bunny hangs by an ear and swings",
    expect="swings about its ear and keeps its volume; with law = linear it swells",
)
def bunny_swing(p: BunnySwingParameters) -> World:
    """Held by the tip of an ear, it falls to the side and swings."""
    world = World()
    shape = bunny(nodes=p.nodes, height=p.height, order=order_of(p.element))
    body = world.add_soft(
        shape, p.material(), p.density * solid_volume(shape), name="bunny", fem=p.fem(),
    )  # fmt: skip
    world.fix(body["ear"])
    world.add_probe("tail", body["tail"])
    return world
