"""The stiffening rubber law against the textbook's tests of rubber, and in states far from rest."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq

from limpet.fem.elements import ELEMENTS, mooney_rivlin
from limpet.fem.elements.corotational import POLAR
from limpet.fem.elements.stress import von_mises
from limpet.fem.rubber_curves import nominal_stress

from .kit import Patch, turn, with_laws
from .meshes import SIZE, distorted_box, mesh

STIFFENING = with_laws(["mooney-rivlin"])


def cube(name="hex20p", constants=None, poisson=0.4):
    points, cells = mesh(ELEMENTS[name], (1, 1, 1), lambda x: SIZE * x)
    patch = Patch(ELEMENTS[name], points, cells, "mooney-rivlin", poisson=poisson)
    if constants is not None:
        patch.constants = constants
    return patch


def cauchy(patch, f):
    """Stress (3, 3) of a cube in a homogeneous state, from the forces on its faces."""
    force = patch.force(patch.rest @ f.T)
    faces = [force[x > SIZE * (1.0 - 1e-9)].sum(axis=0) for x in patch.rest.T]
    return -np.stack(faces, axis=1) / SIZE**2 @ f.T / np.linalg.det(f)


def slopes(i1, constants):
    """dW/dI1 and dW/dI2 of the energy of a rubber that keeps its volume."""
    c10, c01, c20, c30 = constants
    return c10 + 2.0 * c20 * (i1 - 3.0) + 3.0 * c30 * (i1 - 3.0) ** 2, c01


@STIFFENING
def test_principal_stresses_differ_as_rivlin_says(name, law):
    """t1 - t2 = 2 (l1^2 - l2^2) (W1 + l3^2 W2) at l1 l2 l3 = 1, whatever the pressure."""
    patch = cube(name)
    states = [(l, l**-0.5, l**-0.5) for l in (0.3, 0.7, 1.5, 3.0, 6.0)]
    states += [(l, l, l**-2) for l in (0.6, 1.4, 2.0)] + [(2.5, 1.0, 0.4)]
    for a, b, c in states:
        w1, w2 = slopes(a**2 + b**2 + c**2, patch.constants)
        t = np.diag(cauchy(patch, np.diag([a, b, c])))
        expected = [
            2.0 * (a**2 - b**2) * (w1 + c**2 * w2), 2.0 * (b**2 - c**2) * (w1 + a**2 * w2)
        ]  # fmt: skip
        np.testing.assert_allclose(-np.diff(t), expected, atol=1e-9 * np.abs(t).max())


@STIFFENING
def test_simple_shear_has_the_stresses_of_the_textbook(name, law):
    """s12 = 2 (W1 + W2) g, s11 - s33 = 2 W1 g^2, s22 - s33 = -2 W2 g^2 (Poynting's effect)."""
    patch = cube(name)
    for g in (0.1, 1.0, 3.0):
        w1, w2 = slopes(3.0 + g**2, patch.constants)
        s = cauchy(patch, np.array([[1.0, g, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]))
        got = [s[0, 1], s[0, 0] - s[2, 2], s[1, 1] - s[2, 2], s[0, 2], s[1, 2]]
        expected = [2.0 * (w1 + w2) * g, 2.0 * w1 * g**2, -2.0 * w2 * g**2, 0.0, 0.0]
        np.testing.assert_allclose(got, expected, atol=1e-9 * np.abs(s).max())


@pytest.mark.parametrize("test", ["uniaxial", "equibiaxial", "planar"])
@pytest.mark.parametrize("stretch", [0.5, 1.5, 3.0])
def test_a_nearly_incompressible_block_pulls_with_the_nominal_stress_of_the_test(test, stretch):
    """Free faces without stress; at nu = 0.499999 the block differs by the strain of its volume."""
    patch = cube(poisson=0.499999)
    across = {
        "uniaxial": lambda t: [stretch, t, t], "equibiaxial": lambda t: [stretch, stretch, t],
        "planar": lambda t: [stretch, 1.0, t],
    }[test]  # fmt: skip
    about = {"uniaxial": stretch**-0.5, "equibiaxial": stretch**-2, "planar": 1.0 / stretch}[test]
    t = brentq(
        lambda t: cauchy(patch, np.diag(across(t)))[2, 2], 0.98 * about, 1.02 * about, xtol=1e-14
    )
    f = np.diag(across(t))
    pull = (cauchy(patch, f) * np.linalg.det(f) / stretch)[0, 0]
    expected = nominal_stress(np.array([stretch]), patch.constants, test)[0]
    assert pull == pytest.approx(expected, rel=5e-4)
    w1, w2 = slopes(np.sum(np.square(across(about))), patch.constants)
    by_hand = {
        "uniaxial": 2.0 * (stretch - stretch**-2) * (w1 + w2 / stretch),
        "equibiaxial": 2.0 * (stretch - stretch**-5) * (w1 + w2 * stretch**2),
        "planar": 2.0 * (stretch - stretch**-3) * (w1 + w2),
    }[test]
    assert expected == pytest.approx(by_hand, rel=1e-12)


def test_with_c10_alone_it_is_close_to_the_neo_hookean_law():
    """That one has a term of its own, which changes the pull of a bar by 1 % at 20 % strain."""
    patch = cube(poisson=0.49)
    patch.constants = (0.5 * patch.mu, 0.0, 0.0, 0.0)
    other = cube(poisson=0.49)
    other.law = "neo-hookean"
    for stretch in (0.85, 1.2):
        f = np.diag([stretch, stretch**-0.5, stretch**-0.5])
        one, two = (np.diff(np.diag(cauchy(p, f)))[0] for p in (patch, other))
        assert one == pytest.approx(two, rel=0.01)


@pytest.mark.parametrize("shares", [(0.9, 0.1, 0.0, 0.0), (0.5, 0.5, 1.0, 0.0), (1, 0, -0.1, 0.01)])
def test_no_state_has_less_energy_than_rest(shares):
    """At the points alone, without a bulk modulus: flat, inside out and shrunk cells as well."""
    patch = cube("tet4")
    rng = np.random.default_rng(0)
    for f in rng.uniform(-1.5, 1.5, size=(400, 3, 3)):
        f = f * rng.choice([0.1, 0.5, 1.0, 2.0])
        assert mooney_rivlin.energy(patch.block, patch.rest @ f.T, shares, 0.0) >= 0.0
    for s in np.linspace(0.0, 1.0, 101):  # shrunk evenly
        assert mooney_rivlin.energy(patch.block, s * patch.rest, shares, 0.0) >= -1e-18


@STIFFENING
def test_forces_are_slopes_of_the_energy_where_the_law_is_continued(name, law):
    """Through J = 1/2 and 0, d = 0 and 60, constants of 0.001 to 1000 times the usual."""
    rng = np.random.default_rng(1)
    points, cells = distorted_box(ELEMENTS[name], (1, 1, 1), rng)
    for scale in (1e-3, 1.0, 1e3):
        patch = Patch(ELEMENTS[name], points, cells, law)
        patch.constants = tuple(np.array(patch.constants) * [1.0, scale, scale, scale])
        for stretches in ([1.2, 0.8, 0.52], [0.6, 0.5, 0.2], [1.0, 0.9, -0.4], [8.5, 0.3, 0.4]):
            x = points @ (turn(rng) @ np.diag(stretches) @ turn(rng)).T
            move = rng.normal(size=x.shape)
            step = 1e-6 * SIZE
            slope = (patch.energy(x + step * move) - patch.energy(x - step * move)) / (2.0 * step)
            force = patch.force(x)
            assert -np.sum(force * move) == pytest.approx(
                slope, abs=2e-6 * np.linalg.norm(force) * np.linalg.norm(move)
            )


def test_von_mises_stress_of_a_bar_is_the_force_by_its_present_area():
    patch = cube("hex20")
    for stretch in (0.6, 3.0):
        f = np.diag([stretch, stretch**-0.5, stretch**-0.5])
        got = von_mises(
            [patch.block], patch.rest @ f.T, patch.mu, patch.lam, POLAR, "mooney-rivlin",
            patch.constants,
        )  # fmt: skip
        pull = nominal_stress(np.array([stretch]), patch.constants)[0]
        np.testing.assert_allclose(got, stretch * abs(pull), rtol=1e-9)
