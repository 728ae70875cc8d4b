"""Bernardin et al. 2023 (P), section 5, 'Bunny': the cup lifts a rigid bunny by its back."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from limpet.geometry.shape import RigidShape
from limpet.model.world import World
from limpet.rigid.rigid_body import mass_properties
from limpet.scenes.ground import cup_over
from limpet.scenes.lift import LiftParameters, add_ground
from limpet.scenes.registry import scene
from limpet.shapes.grasp_sites import (
    best_site,
    coarsen_around,
    dome,
    polish,
    smooth,
    split_around,
    standing,
)
from limpet.shapes.solids import bunny_surface
from limpet.units import Length, Mass, Positive, Speed, Time

SPOT = 0.0185  # [m] radius of the disc that must be smooth: a little more than the cup's
ROUGH = 0.2e-3  # [m] of a place that the cup may seal on
POLISHED = 0.024  # [m] radius within which the back is smoothed to a dome
FADED = 0.03  # [m] radius from which the surface is as scanned


class BunnyParameters(LiftParameters):
    duration: Time = 4.2
    push: Positive[Length] = Field(
        3.5e-3, description="downward travel of the stem after the lip reaches the back"
    )
    speed: Positive[Speed] = Field(0.01, description="speed of the rise")
    rise: Positive[Length] = Field(0.03, description="upward travel of the stem")
    block_mass: Positive[Mass] = Field(0.147, description="mass of the bunny")
    height: Positive[Length] = Field(
        0.2, description="height of the bunny; the radius of its back is a quarter of it"
    )
    vertices: int = Field(
        300, ge=100, description="vertices of the collision surface, before refinement of the back"
    )
    finer: float = Field(6.0, ge=1.0, description="refinement factor of the triangles on the back")
    sealing_distance: Positive[Length] = Field(
        0.2e-3, description="gaps below this are airtight, such as those of the facets"
    )
    smoothing: Positive[Length] = Field(8e-3, description="size of the bumps that are smoothed")


@scene(
    "bunny",
    BunnyParameters,
    summary="a cup lifts a rigid bunny by its back",
    expect="the cup closes on the back, the bunny leaves the ground and hangs",
)
def bunny(p: BunnyParameters) -> World:
    """The bunny stands on the ground; the cup is pushed on its back, along the normal.

    The place is that of a planner of grasps: smooth, so that it seals, and of such places the
    nearest to the centre of mass.
    """
    shape, spot, normal = standing_bunny(p)
    world, rotation, origin = cup_over(p, approach=normal)
    position = origin - rotation @ spot
    body = world.add_rigid(
        shape, p.block_mass, name="bunny", position=position, rotation=rotation, crease=0.0
    )  # its facets of 10 mm are real, as in P
    world.add_probe("bunny", body)
    add_ground(world, origin + rotation @ [0.0, 0.0, -spot[2]], rotation)
    return world


def standing_bunny(p: BunnyParameters) -> tuple[RigidShape, np.ndarray, np.ndarray]:
    """The bunny, coarse and smooth, standing on z = 0; where on its back the cup goes; the normal.

    The collision model of P, too, is coarse and smooth where the cup seals.
    """
    scan, triangles = bunny_surface(p.height)
    dense = smooth(scan, triangles, p.smoothing)
    centre = mass_properties(dense, triangles, 1.0)[0]
    spot = best_site(dense, triangles, SPOT, centre, ROUGH, "bunny")
    points, faces = coarsen_around(dense, triangles, p.vertices, spot.point, FADED, p.finer)
    stand = standing(points, mass_properties(points, faces, 1.0)[0], "bunny")
    points = points @ stand.T
    top, _ = dome(points, stand @ spot.point, SPOT)
    points, faces = split_around(points, faces, top, POLISHED)
    points = polish(points, top, POLISHED, FADED)
    top, normal = dome(points, top, POLISHED)
    low = np.array([0.0, 0.0, points[:, 2].min()])
    return RigidShape("bunny", points - low, faces), top - low, normal
