"""Cloth, rope, jelly and what they lie on, for `World.swept`: `limpet.particles`.

    world = limpet.World()
    net = limpet.particles.cloth(0.3, 0.3, (20, 20)).moved((0, 0, 0.2))
    sheet = world.swept.add(limpet.particles.MassSpring("napkin", net, 0.02, stiffness=0.1), 1e-3)
    world.swept.inextensible(sheet)

A net says how particles hang together, a body how they move by themselves; `world.swept` has the
constraints between them. Rigid bodies among them may have a closed form for contact.
"""

from __future__ import annotations

from limpet.contact.primitives import ball, block, half_space, round_bar
from limpet.particles.bending import Fold
from limpet.particles.distances import Resists
from limpet.particles.explicit_fem import ExplicitFem
from limpet.particles.mass_spring import MassSpring
from limpet.particles.meshes import (
    cloth,
    cylinder,
    gel_block,
    grid_edges,
    rope,
    sheet_net,
    solid_net,
)
from limpet.particles.pbd import PositionBased
from limpet.particles.shape_matching import ShapeMatching
from limpet.particles.system import Constrained, SweepPlan
from limpet.rigid.rigid_body import RigidBody

__all__ = [
    "Constrained",
    "ExplicitFem",
    "Fold",
    "MassSpring",
    "PositionBased",
    "Resists",
    "RigidBody",
    "ShapeMatching",
    "SweepPlan",
    "ball",
    "block",
    "cloth",
    "cylinder",
    "gel_block",
    "grid_edges",
    "half_space",
    "rope",
    "round_bar",
    "sheet_net",
    "solid_net",
]
