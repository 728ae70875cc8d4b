"""The rubber law: its moduli, a bar stretched to twice its length, and states far from rest."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq

from limpet.fem.elements import ELEMENTS
from limpet.fem.elements.corotational import lame
from limpet.fem.elements.neo_hookean import moduli

from .kit import RUBBER, YOUNG, Patch, bent_cell, turn, with_laws
from .meshes import SIZE, distorted_box, mesh

rubber, both = with_laws(["neo-hookean"]), with_laws(RUBBER)


def psi(stretches, mu, lam):
    """The energy density of Smith, De Goes and Kim for principal stretches, their eq 14."""
    m, l, alpha = moduli(mu, lam)
    size = np.sum(np.square(stretches))
    return 0.5 * m * (size - 3.0 - np.log(size + 1.0)) + 0.5 * l * (np.prod(stretches) - alpha) ** 2


def slope(function, at, step=1e-4):
    """Its derivative by differences of the fourth order."""
    near = function(at + step) - function(at - step)
    far = function(at + 2 * step) - function(at - 2 * step)
    return (8.0 * near - far) / (12.0 * step)


@both
@pytest.mark.parametrize("poisson", [0.0, 0.3, 0.49])
def test_small_strains_follow_young_and_poisson(name, law, poisson):
    """At rest the stiffness is that of linear elasticity."""
    patch = bent_cell(name, np.random.default_rng(0))
    rubber, linear = (
        Patch(patch.element, patch.rest, patch.cells, law, YOUNG, poisson) for law in (law, "none")
    )
    k = linear.stiffness(patch.rest)
    np.testing.assert_allclose(
        rubber.stiffness(patch.rest), k, rtol=0, atol=1e-11 * np.abs(k).max()
    )
    assert np.abs(rubber.force(patch.rest)).max() < 1e-12 * YOUNG * SIZE**2


@both
def test_energy_is_least_at_rest(name, law):
    """Also on a single cell, whose inner modes no neighbour holds."""
    rng = np.random.default_rng(1)
    for divisions in ((1, 1, 1), (1, 1, 2)):
        points, cells = distorted_box(ELEMENTS[name], divisions, rng)
        patch = Patch(ELEMENTS[name], points, cells, law)
        scale = YOUNG * SIZE**3
        assert abs(patch.energy(points)) < 1e-12 * scale
        _, modes = np.linalg.eigh(patch.stiffness(points))
        for mode in modes.T[6:30]:  # the softest ones
            moved = points + 0.05 * SIZE * mode.reshape(-1, 3)
            assert patch.energy(moved) > (-1e-12 if name == "hex20r" else 1e-9) * scale


@rubber
@pytest.mark.parametrize("poisson", [0.3, 0.49])
def test_a_bar_of_twice_its_length_pulls_as_its_energy_says(name, law, poisson):
    """Sides free: the lateral stretch t makes psi(t, t, 2) least, the pull is its slope."""
    mu, lam = lame(YOUNG, poisson)
    t = brentq(lambda t: slope(lambda a: psi([a, a, 2.0], mu, lam), t), 0.5, 1.2, xtol=1e-14)
    pull = slope(lambda s: psi([t, t, s], mu, lam), 2.0)
    assert 0.6 < t < 0.9
    points, cells = mesh(ELEMENTS[name], (2, 2, 2), lambda x: SIZE * x)
    patch = Patch(ELEMENTS[name], points, cells, law, YOUNG, poisson)
    rng = np.random.default_rng(2)
    r = turn(rng)
    force = patch.force(points * [t, t, 2.0] @ r.T) @ r
    top = points[:, 2] > SIZE * (1.0 - 1e-9)
    np.testing.assert_allclose(force[top].sum(axis=0) / SIZE**2, [0, 0, -pull], atol=1e-8 * pull)
    np.testing.assert_allclose(force[:, :2], 0.0, atol=1e-8 * pull * SIZE**2)


@rubber
def test_the_energy_of_a_homogeneous_state_is_its_density_times_the_volume(name, law):
    rng = np.random.default_rng(3)
    points, cells = distorted_box(ELEMENTS[name], (2, 1, 2), rng)
    patch = Patch(ELEMENTS[name], points, cells, law)
    for stretches in ([1.4, 0.9, 0.7], [0.5, 0.6, 2.0], [1.0, 0.8, -0.5], [1.0, 1.0, 0.0]):
        f = turn(rng) @ np.diag(stretches) @ turn(rng)
        density = psi(stretches, patch.mu, patch.lam) - psi([1.0] * 3, patch.mu, patch.lam)
        assert patch.energy(points @ f.T) == pytest.approx(density * 4 * SIZE**3, rel=1e-10)


def test_moduli_are_those_of_the_paper():
    """Smith et al. 3.4: mu = 4/3 mu_Lame, lambda = lambda_Lame + 5/6 mu_Lame, and alpha."""
    m, l, alpha = moduli(3.0, 7.0)
    assert m == pytest.approx(4.0)
    assert l == pytest.approx(9.5)
    assert alpha == pytest.approx(1.0 + m / l - m / (4.0 * l))
