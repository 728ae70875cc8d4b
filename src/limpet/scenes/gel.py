"""A cup lifts a particle body: a block of gel, bare or in a skin of film."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from pydantic import Field

from limpet.contact.primitives import half_space
from limpet.errors import LimpetError
from limpet.geometry.shape import RigidShape
from limpet.model.world import World
from limpet.particles.mass_spring import film_stiffness, spring_stiffness
from limpet.particles.meshes import gel_block
from limpet.particles.point_masses import PointMasses
from limpet.rigid.rigid_body import RigidBody
from limpet.scenes.ground import cup_over
from limpet.scenes.lift import LiftParameters
from limpet.scenes.registry import scene
from limpet.shapes.boxes import box
from limpet.units import Length, Mass, NotNegative, Positive, Pressure, Speed, Time

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
    divisions: int = Field(8, ge=2, le=40, description="cells along the gel's edges")
    layers: int = Field(4, ge=1, le=40, description="cells along its height")
    gel_young: Positive[Pressure] = Field(4e4, description="Young's modulus of the gel")
    gel_damping: NotNegative[Time] = Field(
        2e-3, description="stiffness damping of the gel: its dampers over its springs"
    )
    skin_young: Positive[Pressure] = Field(
        2e8, description="Young's modulus of the bag's skin: polyethylene"
    )
    skin_thickness: Positive[Length] = Field(5e-5, description="thickness of the bag's skin")


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
    summary="a cup lifts a bag of gel by its skin of film",
    expect="the bag leaves the table and hangs, its skin hardly stretches",
)
def cup_lifts_bag(p: GelParameters) -> World:
    """As the jelly, in a skin of film: stiff springs on the edges of its surface."""
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
    name = "bag" if skin else "jelly"
    gel = particles.add(PointMasses(name, mesh, p.gel_mass, mass_damping=2.0))
    k = spring_stiffness(mesh, p.gel_young)
    particles.add_springs(gel, k, p.gel_damping * k)
    if skin:
        film = film_stiffness(mesh, p.skin_young, p.skin_thickness)
        particles.add_springs(gel, film, p.gel_damping * film, mesh.skin_edges())
    plate = box(0.2, 0.2, TABLE)
    points = (plate.points - [0.0, 0.0, p.height]) @ rotation.T + origin
    table = RigidBody("table", RigidShape("table", points, plate.triangles), 1.0, fixed=True)
    up = rotation @ np.array([0.0, 0.0, 1.0])
    particles.add_rigid(table, half_space(0.5 * TABLE, (float(up[0]), float(up[1]), float(up[2]))))
    world.add_probe(name, gel)
    return world
