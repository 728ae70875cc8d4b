"""A cup lifts a particle body: a block of gel, bare or in the skin of a bag."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from pydantic import Field

from limpet.contact.primitives import half_space
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


class GelParameters(LiftParameters):
    h: Time = 2e-3
    duration: Time = 1.4
    push: Positive[Length] = Field(
        4e-3, description="how far the stem goes down after the lip touches"
    )
    push_time: Positive[Time] = Field(0.4, description="for the way down")
    hold: Positive[Time] = Field(0.1, description="before it is pulled")
    speed: Positive[Speed] = Field(2e-2, description="of the pull")
    sealing_distance: Length = Field(1e-4, gt=0.0, description="gaps below this are closed to air")
    gel_mass: Positive[Mass] = Field(0.1, description="of the gel")
    edge: Positive[Length] = Field(0.06, description="of the gel's top")
    height: Positive[Length] = Field(0.03, description="of the gel")
    divisions: int = Field(4, ge=2, description="cells along the gel's edges")
    layers: int = Field(2, ge=1, description="cells along its height")
    firmness: int = Field(16, ge=1, description="sweeps that bring the gel to its shape in a step")


@scene(
    "cup-lifts-jelly",
    "a cup is pressed on a block of jelly, sucks its top in and lifts it",
    GelParameters,
    expect="the jelly gives way, fills the cup, leaves the table and hangs by its weight",
)
def cup_lifts_jelly(p: GelParameters) -> World:
    """The cup is solved with its air and contacts, the jelly by sweeps; they share every step."""
    return _gel_under_cup(p, skin=False)


@scene(
    "cup-lifts-bag",
    "a cup lifts a bag of gel by its inextensible skin",
    GelParameters,
    expect="the bag leaves the table and hangs by its weight, its skin as long as at first",
)
def cup_lifts_bag(p: GelParameters) -> World:
    """As with the jelly, but every edge of the skin keeps its length."""
    return _gel_under_cup(p, skin=True)


def _gel_under_cup(p: GelParameters, skin: bool) -> World:
    world, turn, place = cup_over(p)
    mesh = gel_block((p.edge, p.edge, p.height), (p.divisions, p.divisions, p.layers))
    mesh = replace(mesh, points=mesh.points @ turn.T + place)
    particles = world.particles
    # masses alike: a corner of the grid has a twentieth of the others' by volume
    name = "bag" if skin else "jelly"
    gel = PositionBased(
        name, mesh, p.gel_mass, sweeps=p.firmness, mass_damping=2.0, uniform_mass=True
    )
    particles.add(gel)
    if skin:
        particles.add_inextensible_edges(gel, mesh.skin_edges())
    plate = box(0.2, 0.2, TABLE)
    points = (plate.points - [0.0, 0.0, p.height]) @ turn.T + place
    table = RigidBody("table", RigidShape("table", points, plate.triangles), 1.0, fixed=True)
    up = turn @ np.array([0.0, 0.0, 1.0])
    particles.add_rigid(table, half_space(0.5 * TABLE, (float(up[0]), float(up[1]), float(up[2]))))
    world.add_probe(name, gel)
    return world
