"""Cloth, rope, jelly and what they lie on, for `World.swept`: `limpet.swept`.

    world = limpet.World()
    net = limpet.swept.cloth(0.3, 0.3, (20, 20)).moved((0, 0, 0.2))
    sheet = world.swept.add(limpet.swept.MassSpring("napkin", net, 0.02, stiffness=0.1), 1e-3)
    world.swept.inextensible(sheet)

A net says how particles hang together, a body how they move by themselves; `world.swept` has the
constraints between them. Rigid bodies among them may have a closed form for contact.
"""

from __future__ import annotations

from limpet.bodies.explicit_fem import ExplicitFem
from limpet.bodies.mass_spring import MassSpring
from limpet.bodies.pbd import PositionBased
from limpet.bodies.rigid import RigidBody
from limpet.bodies.shape_matching import ShapeMatching
from limpet.collision.primitives import ball, block, half_space, round_bar
from limpet.constrained import Constrained, SweepPlan
from limpet.constraints.bending import Fold
from limpet.constraints.inextensible import Resists
from limpet.geometry.nets import cloth, cylinder, gel_block, grid_edges, rope, sheet_net, solid_net

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
