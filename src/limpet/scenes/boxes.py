"""Elandt et al. 2019 (F), VIII-B: boxes touch each other, face on face."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from limpet.geometry.rotation import rotation_matrix
from limpet.model.world import World
from limpet.pressure_field.catalogue import box, floor
from limpet.scenes.registry import SceneParameters, scene
from limpet.units import Angle, Length, Mass, NotNegative, Positive, Pressure, Time

SIDES = 0.06, 0.05, 0.03  # [m] of a box
SMALLER = 0.9  # of each box than the one below


class BoxesParameters(SceneParameters):
    h: Time = 0.002
    duration: Time = 1.2
    boxes: int = Field(4, ge=1, le=12, description="number of boxes")
    mass: Positive[Mass] = Field(0.1, description="mass of the lowest box; same density for all")
    modulus: Positive[Pressure] = Field(1e6, description="modulus of the boxes")
    gap: Positive[Length] = Field(0.01, description="initial distance between the boxes")
    twist: Angle = Field(0.3, description="twist of each box to the one below")
    friction: float = Field(0.5, ge=0.0, description="friction between the boxes")
    dissipation: NotNegative[Time] = Field(0.05, description="dissipation of the boxes (F eq 3)")


@scene(
    "boxes",
    BoxesParameters,
    summary="boxes fall on each other and come to rest as a stack",
    expect="they land one after the other and stand still, each carrying what is above it",
)
def boxes(p: BoxesParameters) -> World:
    """Boxes hang over the floor, one over the other and each turned a little, and fall."""
    world = World(friction=p.friction)
    below = [world.add_rigid(floor(0.3), 1.0, fixed=True)]
    height = 0.0
    for k in range(p.boxes):
        scale = SMALLER**k
        height += p.gap + scale * SIDES[2]
        length, width, thickness = (scale * side for side in SIDES)
        body = world.add_rigid(
            box(length, width, thickness, p.modulus), scale**3 * p.mass, name=f"box {k}",
            position=(0.0, 0.0, height - 0.5 * scale * SIDES[2]),
            rotation=rotation_matrix(np.array([0.0, 0.0, 1.0]), k * p.twist),
        )  # fmt: skip
        for other in below:
            world.set_contact(body, other, "pressure fields", p.dissipation)
        below.append(body)
        world.add_probe(f"box{k}", body)
    return world
