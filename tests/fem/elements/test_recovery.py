"""Bodies flattened, turned inside out or scrambled: numbers stay finite, shapes return."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.fem.elements import ELEMENTS
from limpet.fem.material import Fem
from limpet.fem.soft_body import SoftBody
from limpet.geometry.shape import SoftShape, boundary

from .kit import RUBBER, YOUNG, bent_cell, family_of, material_of, turn, with_laws
from .meshes import SIZE, mesh

H = 0.01  # [s]
DIVISIONS = (2, 1, 1)
LAWS = ("polar", "gram-schmidt", *RUBBER)


def body_of(name, law):
    element = ELEMENTS[name]
    kind = element.cell.name
    points, cells = mesh(element, DIVISIONS, lambda x: SIZE * x * DIVISIONS)
    skin = boundary({kind: cells})
    shape = SoftShape("patch", points, {kind: cells}, skin, skin, {}, family_of(element))
    material = material_of(law, YOUNG, 0.4)
    rotation = "gram-schmidt" if law == "gram-schmidt" else "polar"
    return SoftBody("patch", shape, material, 0.002, fem=Fem(rotation=rotation))


def run(body, steps):
    for step in range(steps):
        body.compute_free_velocity(H, np.zeros(3), step * H)
        body.advance(H)
        assert np.all(np.isfinite(body.x))
        assert np.all(np.isfinite(body.p))


def misfit(body):
    """Largest distance from the rest shape after the best rigid motion, in cells."""
    rest, x = body.fem.rest - body.fem.rest.mean(axis=0), body.x - body.x.mean(axis=0)
    u, _, vt = np.linalg.svd(x.T @ rest)
    r = u @ np.diag([1.0, 1.0, np.linalg.det(u @ vt)]) @ vt
    return np.abs(x - rest @ r.T).max() / SIZE


@pytest.mark.parametrize("state", ["inside out", "flat"])
@with_laws(LAWS)
def test_a_body_turned_inside_out_or_flattened_returns_to_its_shape(name, law, state):
    body = body_of(name, law)
    rest = body.fem.rest
    body.x = rest * [1.0, 1.0, -0.5 if state == "inside out" else 0.0]
    body.x = body.x + 0.05 * SIZE * np.random.default_rng(0).uniform(-1, 1, size=rest.shape)
    assert misfit(body) > 0.3
    run(body, 80)
    if name != "hex20r":  # it has shapes that cost nothing, where cells stand in a single stack
        # Gram-Schmidt's forces have a moment: the body ends up in a spin, which stretches it
        assert misfit(body) < (0.05 if law == "gram-schmidt" else 1e-4)


@with_laws(LAWS)
def test_a_scrambled_body_stays_finite(name, law):
    body = body_of(name, law)
    rng = np.random.default_rng(1)
    size = np.ptp(body.fem.rest, axis=0)
    body.x = size * rng.uniform(0, 1, size=body.x.shape)
    run(body, 20)
    assert np.ptp(body.x, axis=0).max() < 5.0 * size.max()


@with_laws(LAWS)
def test_forces_and_matrix_of_degenerate_cells_are_finite_and_the_matrix_positive(name, law):
    rng = np.random.default_rng(2)
    patch = bent_cell(name, rng, law)
    for stretches in ([1.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [1.0, 0.5, -0.5]):
        f = turn(rng) @ np.diag(stretches) @ turn(rng)
        x = patch.rest @ f.T
        k = patch.stiffness(x, patch.pressures(x))
        assert np.all(np.isfinite(patch.force(x)))
        assert np.all(np.isfinite(k))
        values = np.linalg.eigvalsh(k)
        assert values[0] >= -1e-12 * values[-1]


@with_laws(LAWS)
def test_an_inverted_cell_is_pushed_back(name, law):
    """Towards its rest volume: the force does work when the inverted direction grows."""
    patch = bent_cell(name, np.random.default_rng(8), law, bend=0.0)
    x = patch.rest * [1.0, 1.0, -0.3]
    outward = patch.rest * [0.0, 0.0, 1.0]
    assert np.sum(patch.force(x, patch.pressures(x)) * outward) > 0.0
