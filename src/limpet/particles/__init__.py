"""Particle bodies: cloth, rope and jelly, and the rigid bodies among them (`limpet.particles`).

    world = limpet.World()
    mesh = limpet.particles.cloth(0.3, 0.3, (20, 20)).moved((0, 0, 0.2))
    napkin = limpet.particles.MassSpring("napkin", mesh, 0.02, stiffness=0.1)
    world.particles.add(napkin, thickness=1e-3)
    world.particles.add_inextensible_edges(napkin)

A mesh says which particles are connected, a body how they move by themselves; `world.particles` has
the constraints between them. Rigid bodies among them may have a primitive for contact.
"""

from __future__ import annotations

from limpet.contact.primitives import ball, block, half_space, round_bar
from limpet.particles.bending import BendingModel
from limpet.particles.distances import ForceSide
from limpet.particles.explicit_fem import ExplicitFem
from limpet.particles.mass_spring import MassSpring, film_stiffness, spring_stiffness
from limpet.particles.meshes import (
    cloth,
    cylinder,
    gel_block,
    grid_edges,
    rope,
    sheet_mesh,
    solid_mesh,
)
from limpet.particles.model import ParticleModel
from limpet.particles.pbd import PositionBased
from limpet.particles.point_masses import PointMasses
from limpet.particles.settings import ParticleSolverSettings
from limpet.particles.shape_matching import ShapeMatching
from limpet.particles.system import ParticleSystem
from limpet.rigid.rigid_body import RigidBody

__all__ = [
    "BendingModel", "ExplicitFem", "ForceSide", "MassSpring", "ParticleModel",
    "ParticleSolverSettings", "ParticleSystem", "PointMasses", "PositionBased", "RigidBody",
    "ShapeMatching", "ball", "block", "cloth", "cylinder", "film_stiffness", "gel_block",
    "grid_edges", "half_space", "rope", "round_bar", "sheet_mesh", "solid_mesh", "spring_stiffness",
]  # fmt: skip
