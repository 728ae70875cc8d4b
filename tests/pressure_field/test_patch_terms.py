"""Wrench and stiffness of a patch: against quadrature, the energy, and differences."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.geometry.rotation import rotation_matrix
from limpet.pressure_field import primitives
from limpet.pressure_field.fields import half_space, pressure_field, rigid_surface
from limpet.pressure_field.friction_terms import SLIP_SPEED, friction_terms
from limpet.pressure_field.patch_terms import (
    CORE,
    LOCKING,
    corner_shares,
    friction_points,
    patch_terms,
)
from limpet.pressure_field.surface import contact_surface
from limpet.pressure_field.wrench import wrench
from limpet.shapes.boxes import box as plain_box

from .energy import energy

MODULUS = 1e6
FLOOR = half_space((0.0, 0.0, 1.0), 0.0)
HERE = np.eye(3), np.zeros(3)
BALL = pressure_field(primitives.sphere(0.05, 0.01), MODULUS)
BOX = pressure_field(primitives.box(0.06, 0.05, 0.03), 3e5)


def traction(p):
    x = 1.0 - (1.0 - CORE) * p / MODULUS
    return p + LOCKING * MODULUS * (x**-4 - 1.0 - 4.0 * (1.0 - x))


def arrays(s):
    return (
        s.area, s.centroid, s.pressure, s.gradient_a, s.gradient_b, s.start, s.corners,
        s.corner_pressure,
    )  # fmt: skip


@pytest.mark.parametrize("share", [0.01, 0.5, 0.9, 0.99])
def test_corner_shares_have_the_resultant_of_the_traction(share):
    """By Gauss and Legendre on the triangle, folded from a square."""
    p = share * MODULUS * np.array([1.0, 0.7, 0.2])
    out = np.empty(3)
    corner_shares(2.0, p, MODULUS, out)
    x, w = np.polynomial.legendre.leggauss(200)
    x, w = 0.5 * (x + 1.0), 0.5 * w
    u, v = np.meshgrid(x, x, indexing="ij")
    b = np.stack([1.0 - u, u * (1.0 - v), u * v])
    weight = 2.0 * 2.0 * np.outer(w, w) * u
    expected = (b * traction(np.einsum("c,cij->ij", p, b)) * weight).sum(axis=(1, 2))
    np.testing.assert_allclose(out, expected, rtol=1e-9)


@pytest.mark.parametrize(
    ("a", "b", "height"),
    [(BALL, FLOOR, 0.046), (BOX, FLOOR, 0.02), (BALL, BOX, 0.058), (BOX, BALL, 0.058)],
)
def test_the_force_is_the_gradient_of_the_energy(a, b, height):
    pose = rotation_matrix(np.array([1.0, 2.0, 3.0]) / np.sqrt(14.0), 0.7)
    place, step = np.array([0.003, 0.002, height]), 1e-6
    surface = contact_surface(a, (pose, place), b, HERE)
    modulus = min(f.modulus for f in (a, b) if f is not FLOOR)
    force = patch_terms(*arrays(surface), place, modulus)[0]
    for k in range(3):
        e = np.zeros(3)
        e[k] = step
        moved = [energy(a, (pose, place + s * e), b, HERE) for s in (-1.0, 1.0)]
        # F's energy, without locking, which adds less than 0.1 % at these depths
        assert force[k] == pytest.approx((moved[0] - moved[1]) / (2 * step), abs=1e-3 * force[2])
        turned = [rotation_matrix(e / step, s * step) @ pose for s in (-1.0, 1.0)]
        work = [energy(a, (r, place), b, HERE) for r in turned]
        torque = (work[0] - work[1]) / (2 * step)
        assert force[3 + k] == pytest.approx(torque, abs=1e-3 * force[2] * 0.05)


@pytest.mark.parametrize(
    ("depth", "rim"), [(0.002, 1e-3), (0.02, 1e-3), (0.045, 0.05), (0.049, 0.05)]
)
def test_the_stiffness_is_the_derivative_on_approach_also_where_the_field_locks(depth, rim):
    """rim: what the secant stiffness adds near the equator, where the pressure does not rise."""
    place, step = np.array([0.0, 0.0, 0.05 - depth]), 1e-8
    found = []
    for s in (-step, 0.0, step):
        surface = contact_surface(BALL, (np.eye(3), place + np.array([0, 0, s])), FLOOR, HERE)
        found.append(patch_terms(*arrays(surface), place, MODULUS))
    slope = (found[0][0] - found[2][0]) / (2.0 * step)
    np.testing.assert_allclose(found[1][1][:, 2], slope, rtol=rim, atol=1e-4 * slope[2])
    assert np.linalg.eigvalsh(found[1][1]).min() > -1e-9 * slope[2]


def test_rims_of_a_box_have_a_stiffness_and_the_exact_force():
    """The pressure over the rims does not rise on approach; the force fades all the same."""
    pose = np.eye(3), np.array([0.0, 0.0, 0.012])
    surface = contact_surface(BOX, pose, FLOOR, HERE)
    found = patch_terms(*arrays(surface), pose[1], 3e5)
    exact = wrench(surface, pose[1])
    assert found[0][2] == pytest.approx(exact.force[2], rel=1e-3)
    sides = np.linalg.norm(surface.area, axis=1)[np.abs(surface.gradient_a[:, 2]) < 1.0].sum()
    assert sides > 0.0
    plateau = np.linalg.norm(surface.area, axis=1)[surface.gradient_a[:, 2] > 1.0].sum()
    assert found[1][2, 2] > plateau * 3e5 / 0.015  # that of the faces below alone


SLAB = plain_box(0.2, 0.2, 0.1)


@pytest.mark.parametrize("b", [BALL, rigid_surface(SLAB.points, SLAB.triangles)])
def test_friction_points_carry_the_wrench(b):
    pose = rotation_matrix(np.array([1.0, 2.0, 3.0]), 0.4), np.array([0.01, 0.02, 0.06])
    surface = contact_surface(BOX, pose, b, HERE)
    expected = patch_terms(*arrays(surface), np.zeros(3), 3e5)[0]
    points = friction_points(*arrays(surface), 3e5, 0.01)
    force = points[:, 3:6] * points[:, 6:7]
    moment = np.cross(points[:, :3], force).sum(axis=0)
    np.testing.assert_allclose(force.sum(axis=0), expected[:3], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(moment, expected[3:], rtol=1e-9, atol=1e-9)


def test_friction_and_its_rate_agree_and_take_energy():
    rng = np.random.default_rng(3)
    normal = rng.normal(size=(20, 3))
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    points = np.column_stack(
        [rng.normal(size=(20, 3)), normal, rng.uniform(0.1, 1.0, 20), np.ones(20)]
    )
    centre = rng.normal(size=3)
    for size in (0.1 * SLIP_SPEED, 10.0 * SLIP_SPEED, 1.0):
        twist = size * rng.normal(size=6)
        force, rate = friction_terms(points, centre, twist, 0.4, 1e-3)
        assert force @ twist < 0.0
        step = 1e-6 * size
        for k in range(6):
            e = np.zeros(6)
            e[k] = step
            low, high = (
                friction_terms(points, centre, twist + s * e, 0.4, 1e-3)[0] for s in (-1, 1)
            )
            np.testing.assert_allclose(
                (low - high) / (2 * step), rate[:, k], rtol=1e-5, atol=1e-6 * np.abs(rate).max()
            )
