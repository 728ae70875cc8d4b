"""A cloth on a sphere (C figure 3): dropped flat from just above, it comes to rest in folds."""

from __future__ import annotations

import numpy as np

from limpet.bodies.mass_spring import MassSpring
from limpet.bodies.rigid import RigidBody
from limpet.collision.primitives import ball
from limpet.constrained import Constrained, SweepPlan
from limpet.geometry.nets import cloth, grid_edges
from limpet.geometry.shapes import RigidShape, box

PLAN = SweepPlan(sweeps=1, most_sweeps=6, substeps=2, warm_start=0.95)


def draped(
    divisions: int = 50,  # C: 51 x 51 nodes, 5000 inextensibility and 7400 bending constraints
    side: float = 1.0,  # [m]
    mass: float = 0.2,  # [kg] a light cotton
    radius: float = 0.25,  # [m] of the sphere
    thickness: float = 2e-3,  # [m] kept from the sphere
    bending: float = 1e-6,  # [N m/rad] of each fold
    drag: float = 2.0,  # [1/s] of the air
    friction: float = 0.5,
    h: float = 0.02,
    plan: SweepPlan = PLAN,
    itself: bool = False,
) -> Constrained:
    """Threads along both ways are inextensible, folds are springs taken implicitly.

    C bounds the moment of a stiff fold instead. Such folds jump from one bound to the other, and
    leave the threads at rest 2 to 3 % too long where springs leave 0.6 %.
    """
    world = Constrained(h=h, friction=friction, plan=plan)
    net = cloth(side, side, (divisions, divisions)).moved((0.0, 0.0, radius + 0.01))
    node = mass / len(net.points)
    sheet = MassSpring("cloth", net, mass, stiffness=0.01 * node / 1e-4, mass_damping=drag)
    world.add(sheet, thickness, itself=itself)
    world.inextensible(sheet, grid_edges(net, (divisions, divisions)))
    world.bending(sheet, stiffness=bending, damping=0.1 * bending)
    around = box(2 * radius, 2 * radius, 2 * radius)
    shape = RigidShape("sphere", around.points + np.array([0.0, 0.0, radius]), around.triangles)
    world.add_rigid(RigidBody("sphere", shape, 5.0, fixed=True), ball(radius))
    return world
