"""Frâncu et al. 2019 (M), figures 7 and 9: a beam held at one end bends under its own weight."""

from __future__ import annotations

from pydantic import Field

from limpet.model.world import World
from limpet.scenes.registry import scene
from limpet.scenes.solid import SolidParameters
from limpet.shapes.beams import cantilever as beam_shape
from limpet.units import Length, Positive, Time


class CantileverParameters(SolidParameters):
    duration: Time = 3.2
    length: Positive[Length] = Field(0.10, description="length along x")
    width: Positive[Length] = Field(0.01, description="width along y")
    height: Positive[Length] = Field(0.01, description="height along z")
    divisions: tuple[int, int, int] = Field(
        (8, 2, 2), description="bricks along x, y, z; six tetrahedra in each"
    )
    mirrored: bool = Field(
        False, description="mirror the tetrahedra from brick to brick: locks less"
    )


@scene(
    "cantilever",
    CantileverParameters,
    summary="a beam clamped at one end bends under its own weight",
    expect="swings down and comes to rest, as far as the beam equation says; linear tets lock",
)
def cantilever(p: CantileverParameters) -> World:
    """M figure 7; figure 9 with length = 4 cm, young = 66 kPa, poisson = 0.25."""
    world = World()
    shape = beam_shape(p.length, p.width, p.height, p.divisions, p.element, p.mirrored)
    mass = p.density * p.length * p.width * p.height
    beam = world.add_soft(shape, p.material(), mass, name="beam", fem=p.fem())
    world.fix(beam["held"])
    world.add_probe("tip", beam["tip"])
    return world
