"""Bodies come to rest where their elements are in balance: the step against Newton's method.

The step has a damped, stabilised saddle point in elimination order, a sparse factor and pressures
that live from step to step; the patch has none of these.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from limpet.bodies.material import Fem, Material
from limpet.bodies.motion import HOLD
from limpet.bodies.soft import SoftBody
from limpet.elements import ELEMENTS
from limpet.geometry.shapes import SoftShape, boundary

from .kit import YOUNG, Patch, family_of
from .meshes import mesh

SIZE = np.array([0.01, 0.01, 0.03])
GRAVITY = np.array([1500.0, 0.0, -800.0])  # strong: the bar bends visibly
MASS = 0.001

CASES = [(name, 0.45, "polar") for name in ELEMENTS if name != "hex20r"]
CASES += [(name, nu, "polar") for name in ("iicr11", "iicr21") for nu in (0.499, 0.5)]
CASES += [(name, 0.45, "none") for name in ("iicr11", "iicr21", "hex20p", "tet10")]
CASES += [(name, 0.45, "neo-hookean") for name in ("tet10", "hex8", "hex20p")]


@pytest.mark.parametrize("mass", ["lumped", "consistent"])
@pytest.mark.parametrize(("name", "poisson", "law"), CASES)
def test_a_hanging_bar_comes_to_rest_in_balance(name, poisson, law, mass):
    element = ELEMENTS[name]
    kind = element.cell.name
    points, cells = mesh(element, (1, 1, 3), lambda x: x * SIZE)
    skin = boundary({kind: cells})
    shape = SoftShape("bar", points, {kind: cells}, skin, skin, {}, family_of(element))
    top = np.flatnonzero(points[:, 2] > SIZE[2] - 1e-9)
    names = {"polar": "corotational", "none": "linear", "neo-hookean": "neo-hookean"}
    material = Material(YOUNG, poisson, law=names[law])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # tet4 locks
        body = SoftBody("bar", shape, material, MASS, driven=top, motion=HOLD, fem=Fem(mass=mass))
    for step in range(40):
        body.free_velocity(1.0, GRAVITY, float(step))
        body.advance(1.0)

    patch = Patch(element, points, cells, law, YOUNG, poisson)
    share = patch.block.lumped if mass == "lumped" else patch.block.mass.sum(axis=2)
    load = np.zeros_like(points)
    np.add.at(load, cells, share[..., None] * (MASS / patch.block.volume * GRAVITY))
    by_node = np.zeros(len(points))
    if element.shared_pressure:
        by_node[cells[:, :4]] = body.p[body.fem.pressure_cells[0]]
    answer = patch.answer(body.positions(), by_node[patch.corners])
    free = np.ones(len(points), bool)
    free[top] = False
    weight = MASS * np.linalg.norm(GRAVITY)
    assert np.abs((answer.force + load)[free]).max() < 1e-9 * weight
    assert np.all(np.abs(answer.excess) < 1e-10 * SIZE.prod())
    assert np.abs(body.positions() - points).max() > 0.04 * SIZE[2]
