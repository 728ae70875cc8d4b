"""Bodies under test and random rows over their surfaces."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from limpet.fem.material import Fem, Material
from limpet.fem.soft_body import SoftBody
from limpet.geometry.shape import RigidShape
from limpet.linalg.reduced_compliance import join
from limpet.linalg.rows import Rows
from limpet.particles.explicit_fem import ExplicitFem
from limpet.particles.mass_spring import MassSpring
from limpet.particles.meshes import cloth, cylinder
from limpet.particles.pbd import PositionBased
from limpet.particles.shape_matching import ShapeMatching
from limpet.rigid.rigid_body import RigidBody
from limpet.shapes.boxes import box, soft_box
from limpet.shapes.cups import cup

RUBBER = Material(young=4e6, poisson=0.45)
GRAVITY = np.array([0.0, 0.0, -9.81])


def crooked() -> RigidShape:
    """A box sheared and moved: three different moments of inertia, none along an axis."""
    shape = box(0.05, 0.03, 0.02, (2, 2, 1))
    shear = np.array([[1.0, 0.3, -0.2], [0.0, 1.1, 0.4], [0.2, 0.0, 0.9]])
    return RigidShape("crooked", shape.points @ shear.T + [0.2, -0.1, 0.3], shape.triangles)


JELLY = Material(young=200.0, poisson=0.3, mass_damping=0.5, stiffness_damping=1e-3)
COLUMN = cylinder(0.03, 0.05, (2, 3))
TOP = {"driven": COLUMN.regions["top"]}

# Every kind of body, free and held: the contract's tests run over all of them.
BODIES = {
    "soft box of hex20": lambda: SoftBody("a", soft_box(0.02, 0.02, 0.03, (2, 2, 2)), RUBBER, 0.02),
    "soft box of tet4": lambda: SoftBody(
        "b", soft_box(0.02, 0.02, 0.03, (3, 3, 3), "tet4"), RUBBER, 0.02
    ),
    "cup": lambda: SoftBody("c", cup(nodes=300), RUBBER, 0.02),
    "held cup": lambda: held(cup(nodes=300)),
    "held cup of tet4": lambda: held(cup(nodes=300, element="tet4")),
    "held cup of iicr11": lambda: held(cup(nodes=300, element="iicr11")),
    "held incompressible cup": lambda: held(cup(nodes=300, element="iicr11"), poisson=0.5),
    "held box of iicr21": lambda: held(soft_box(0.02, 0.02, 0.03, (2, 2, 2), "iicr21")),
    "box of iicr21": lambda: SoftBody(
        "f", soft_box(0.02, 0.02, 0.03, (2, 2, 2), "iicr21"), replace(RUBBER, poisson=0.5), 0.02
    ),
    "held box of hex8, as M may have it": lambda: held(
        soft_box(0.02, 0.02, 0.03, (3, 3, 3), "hex8"),
        Fem(rotation="gram-schmidt", mass="consistent"),
    ),
    "held explicit box": lambda: held(
        soft_box(0.02, 0.02, 0.03, (2, 2, 2), "iicr21"), Fem(deviatoric="explicit"), young=4e3
    ),
    "held rubber box": lambda: held(soft_box(0.02, 0.02, 0.03, (2, 2, 2)), law="neo-hookean"),
    "held stiffening box": lambda: held(
        soft_box(0.02, 0.02, 0.03, (2, 2, 2)), law="mooney-rivlin", c01=1e5, c20=1e4, c30=1e3
    ),
    "springs": lambda: MassSpring("g", cloth(0.2, 0.1, (6, 3)), 0.05, 2.0, 1e-3, 0.3),
    "held springs": lambda: MassSpring("h", COLUMN, 0.1, 2.0, 1e-4, **TOP),
    "explicit tets": lambda: ExplicitFem("i", COLUMN, 0.1, JELLY),
    "held explicit tets": lambda: ExplicitFem("j", COLUMN, 0.1, JELLY, **TOP),
    "positions": lambda: PositionBased("k", COLUMN, 0.1, 0.7, mass_damping=0.2),
    "held positions": lambda: PositionBased("l", COLUMN, 0.1, **TOP),
    "matched shape": lambda: ShapeMatching("m", COLUMN, 0.1, 0.4, mass_damping=0.2),
    "held matched shape": lambda: ShapeMatching("n", COLUMN, 0.1, **TOP),
    "rigid": lambda: RigidBody("d", crooked(), 0.2),
    "fixed rigid": lambda: RigidBody("e", crooked(), 0.2, fixed=True),
}


def held(shape, fem=None, **changes):
    material = replace(RUBBER, **changes)
    return SoftBody("held", shape, material, 0.02, driven=shape.region("top"), fem=fem)


@pytest.fixture(params=list(BODIES))
def body(request):
    return BODIES[request.param]()


def random_rows(rng, n_vertices, sparse, dense=0):
    """Rows of 1 to 6 vertices with random vectors, and `dense` rows over every vertex."""
    counts = [*rng.integers(1, 7, size=sparse), *([n_vertices] * dense)]
    vertex = [rng.permutation(n_vertices)[:c] for c in counts]
    order = rng.permutation(len(counts))  # dense rows anywhere
    vertex = [vertex[i] for i in order]
    start = np.cumsum([0, *(len(v) for v in vertex)]).astype(np.int32)
    flat = np.concatenate([*vertex, np.zeros(0)]).astype(np.int32)
    return Rows(start, flat, rng.normal(size=(len(flat), 3)))


def times(rows, v):
    return rows.times(v)


def transpose_times(rows, multiplier, n):
    return rows.transpose_times(multiplier, n)


def stir(body, rng, h):
    """Set the body going: velocities by random impulses, a few steps of its own."""
    for step in range(3):
        body.compute_free_velocity(h, GRAVITY, step * h)
        body.apply_impulse(1e-4 * rng.normal(size=(body.n_points, 3)))
        body.advance(h)


def compliance(body, rows):
    """H A^-1 H^T (r, r) of rows over the body's points, all parts together."""
    return join(body.compliance(rows), len(rows), 1.0).dense()
