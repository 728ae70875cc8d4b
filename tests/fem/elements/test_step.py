"""The step of a body against the equations of its elements, written densely.

The step has a scaled saddle point in elimination order, a sparse factor and pressures that live
from step to step; the patch has none of these.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from limpet.dynamics.motion import HOLD
from limpet.fem.elements import ELEMENTS
from limpet.fem.elements.choose import LockingWarning
from limpet.fem.material import Fem
from limpet.fem.soft_body import SoftBody
from limpet.geometry.shape import SoftShape, boundary

from .kit import LAWS, RUBBER, YOUNG, Patch, family_of, material_of, with_laws
from .meshes import mesh

SIZE = np.array([0.01, 0.01, 0.03])
GRAVITY = np.array([1500.0, 0.0, -800.0])  # strong: the bar bends visibly
MASS = 0.001


def bar(name, poisson, law, mass, held):
    """A body, the patch of its cells, and the mass matrix (n, n)."""
    element = ELEMENTS[name]
    kind = element.cell.name
    points, cells = mesh(element, (1, 1, 3), lambda x: x * SIZE)
    skin = boundary({kind: cells})
    shape = SoftShape("bar", points, {kind: cells}, skin, skin, {}, family_of(element))
    top = np.flatnonzero(points[:, 2] > SIZE[2] - 1e-9)
    drive = {"driven": top, "motion": HOLD} if held else {}
    material = material_of(law, YOUNG, poisson, mass_damping=0.7)
    fem = Fem(rotation=law if law in ("polar", "gram-schmidt") else "polar", mass=mass)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LockingWarning)  # of tet4
        body = SoftBody("bar", shape, material, MASS, fem=fem, **drive)
    patch = Patch(element, points, cells, law, YOUNG, poisson)
    b = patch.block
    by_cell = b.mass if mass == "consistent" else b.lumped[:, :, None] * np.eye(cells.shape[1])
    matrix = np.zeros((len(points), len(points)))
    np.add.at(matrix, (cells[:, :, None], cells[:, None, :]), MASS / b.volume * by_cell)
    return body, patch, matrix, top


def pressures_of(body, patch):
    """The body's shared pressures as the patch numbers them."""
    by_node = np.zeros(len(patch.rest))
    if len(body.p):
        by_node[patch.cells[:, :4]] = body.p[body.fem.pressure_cells[0]]
    return by_node[patch.corners]


@pytest.mark.parametrize("mass", ["lumped", "consistent"])
@with_laws(LAWS)
def test_a_step_solves_the_equations_of_motion(name, law, mass):
    """M (v+ - v) = h (f + M g - (h + b) K v+ - B^T dp - a M v+), C p+ = phi + (h + b) B v+."""
    h = 0.004
    body, patch, matrix, _ = bar(name, 0.45, law, mass, held=False)
    a, b = 0.7, body.fem.material.stiffness_damping
    rng = np.random.default_rng(1)
    x = patch.rest * [1.1, 0.9, 1.2] + 0.02 * SIZE[0] * rng.uniform(-1, 1, size=patch.rest.shape)
    v = rng.normal(size=x.shape)
    order = body.fem.order
    body.x, body.v = x[order], v[order]
    body.p = 1e4 * rng.normal(size=len(body.p))
    p = pressures_of(body, patch)
    answer = patch.answer(x, p)
    dense, n = answer.matrix.toarray(), x.size
    k, coupling, c = dense[:n, :n], dense[n:, :n], -dense[n:, n:]
    m = np.kron(matrix, np.eye(3))
    left = np.block(
        [[(1.0 + h * a) * m + h * (h + b) * k, h * coupling.T], [(h + b) * coupling, -c]]
    )
    momentum = m @ (v + h * GRAVITY).ravel() + h * answer.force.ravel()
    y = np.linalg.solve(left, np.concatenate([momentum, -answer.excess]))
    body.compute_free_velocity(h, GRAVITY, 0.0)
    body.advance(h)
    after = np.empty_like(v)
    after[order] = body.v
    scale = np.abs(y[:n]).max()
    np.testing.assert_allclose(after.ravel(), y[:n], rtol=0, atol=1e-9 * scale)
    np.testing.assert_allclose(body.node_positions(), x + h * after, atol=1e-14)
    expected = p + y[n:]
    np.testing.assert_allclose(
        pressures_of(body, patch), expected, rtol=0, atol=1e-9 * np.abs(expected).max(initial=0.0)
    )


CASES = [(name, 0.45, "polar") for name in ELEMENTS if name != "hex20r"]
CASES += [(name, nu, "polar") for name in ("iicr11", "iicr21") for nu in (0.499, 0.5)]
CASES += [(name, 0.45, "none") for name in ("iicr11", "iicr21", "hex20p", "tet10")]
CASES += [(name, 0.45, law) for name in ("tet10", "hex8", "hex20p") for law in RUBBER]


@pytest.mark.parametrize(("name", "poisson", "law"), CASES)
def test_a_hanging_bar_comes_to_rest_in_balance(name, poisson, law):
    body, patch, matrix, top = bar(name, poisson, law, "lumped", held=True)
    for step in range(40):
        body.compute_free_velocity(1.0, GRAVITY, float(step))
        body.advance(1.0)
    answer = patch.answer(body.node_positions(), pressures_of(body, patch))
    left = answer.force + matrix.sum(axis=1)[:, None] * GRAVITY
    left[top] = 0.0  # what the drive carries
    assert np.abs(left).max() < 1e-9 * MASS * np.linalg.norm(GRAVITY)
    assert np.all(np.abs(answer.excess) < 1e-10 * SIZE.prod())
    assert np.abs(body.node_positions() - patch.rest).max() > 0.04 * SIZE[2]
