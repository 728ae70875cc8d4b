"""A cup lifts a particle body: a block of gel, bare or in an inextensible skin."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from pydantic import Field

from limpet.contact.primitives import half_space
from limpet.errors import LimpetError
from limpet.geometry.shape import RigidShape
from limpet.model.world import World
from limpet.particles.meshes import gel_block
from limpet.particles.pbd import PositionBased
from limpet.rigid.rigid_body import RigidBody
from limpet.scenes.ground import cup_over
from limpet.scenes.lift import LiftParameters
from limpet.scenes.registry import scene
from limpet.shapes.boxes import box
from limpet.units import Length, Mass, Positive, Speed, Time

TABLE = 0.02  # [m] its thickness
CUP = 0.05  # [m] more than a cup is high


class GelParameters(LiftParameters):
    h: Time = 2e-3
    duration: Time = 1.4
    push: Positive[Length] = Field(
        4e-3, description="downward travel of the stem after the lip touches"
    )
    push_time: Positive[Time] = Field(0.4, description="time of the downward motion")
    hold: Positive[Time] = Field(0.1, description="time before the pull")
    speed: Positive[Speed] = Field(2e-2, description="speed of the pull")
    sealing_distance: Length = Field(1e-4, gt=0.0, description="gaps below this are airtight")
    gel_mass: Positive[Mass] = Field(0.1, description="mass of the gel")
    edge: Positive[Length] = Field(0.06, description="edge of the gel's top")
    height: Positive[Length] = Field(0.03, description="height of the gel")
    divisions: int = Field(4, ge=2, le=40, description="cells along the gel's edges")
    layers: int = Field(2, ge=1, le=40, description="cells along its height")
    firmness: int = Field(16, ge=1, le=1000, description="sweeps per step towards the rest shape")


@scene(
    "cup-lifts-jelly",
    GelParameters,
    summary="a cup is pressed on a block of jelly and lifts it",
    expect="the jelly deforms into the cup, leaves the table and hangs",
)
def cup_lifts_jelly(p: GelParameters) -> World:
    """Staggered coupling of a FEM cup, its air and contacts with a jelly of particles."""
    return _gel_under_cup(p, skin=False)


@scene(
    "cup-lifts-bag",
    GelParameters,
    summary="a cup lifts a bag of gel by its inextensible skin",
    expect="the bag leaves the table and hangs, its skin edges keep their length",
)
def cup_lifts_bag(p: GelParameters) -> World:
    """As the jelly, but all edges of the skin are inextensible."""
    return _gel_under_cup(p, skin=True)


def _gel_under_cup(p: GelParameters, skin: bool) -> World:
    if p.push > p.height + CUP:
        raise LimpetError(
            f"push = {p.push:g} m: expected at most {p.height + CUP:g} m, gel and cup together"
        )
    world, rotation, origin = cup_over(p)
    mesh = gel_block((p.edge, p.edge, p.height), (p.divisions, p.divisions, p.layers))
    mesh = replace(mesh, points=mesh.points @ rotation.T + origin)
    particles = world.particles
    # uniform masses: by volume a corner of the grid has a twentieth of the others
    name = "bag" if skin else "jelly"
    gel = PositionBased(
        name, mesh, p.gel_mass, sweeps=p.firmness, mass_damping=2.0, uniform_mass=True
    )
    particles.add(gel)
    if skin:
        particles.add_inextensible_edges(gel, mesh.skin_edges())
    plate = box(0.2, 0.2, TABLE)
    points = (plate.points - [0.0, 0.0, p.height]) @ rotation.T + origin
    table = RigidBody("table", RigidShape("table", points, plate.triangles), 1.0, fixed=True)
    up = rotation @ np.array([0.0, 0.0, 1.0])
    particles.add_rigid(table, half_space(0.5 * TABLE, (float(up[0]), float(up[1]), float(up[2]))))
    world.add_probe(name, gel)
    return world
