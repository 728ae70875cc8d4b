"""Points on vertices that deform: rigid motions give the terms of rigid bodies."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.pressure_field.friction_terms import friction_terms
from limpet.pressure_field.patch_terms import patch_terms
from limpet.pressure_field.point_terms import friction, pressure_stiffness, surface_points
from limpet.pressure_field.surface import contact_surface

from .kit import HERE
from .test_displaced import MODULUS, OTHERS, slab

MU, DAMPING = 0.4, 1e-6


def points_of(name, large=0.0):
    """Points between a slab and another body, whose frame has its corner at the origin."""
    a, (other, at) = slab("hex8"), OTHERS[name]
    surface = contact_surface(a, HERE, other, at)
    modulus = min(MODULUS, getattr(other, "modulus", np.inf))
    frame = np.vstack([np.zeros(3), 0.05 * np.eye(3)])
    on_b = np.tile(np.arange(4), (len(surface), 1))
    on_a = a.tets[surface.cells[:, 0]].astype(int)
    points = surface_points(surface, modulus, large, a.points, on_a, frame, on_b)
    return points, surface, modulus, np.concatenate([a.points, frame]), len(a.points)


def moving(x, twist):
    return twist[:3] + np.cross(twist[3:], x)


@pytest.mark.parametrize("name", OTHERS)
def test_vertices_carry_their_points(name):
    points, _, _, x, n = points_of(name, large=0.01)
    assert len(points.place) > 20
    for own, sign in ((slice(0, 4), 1.0), (slice(4, 8), -1.0)):
        found = np.einsum("qk,qkc->qc", points.weight[:, own], x[points.vertex[:, own]])
        np.testing.assert_allclose(sign * found, points.place, atol=1e-12)
    assert (points.vertex[:, :4] < n).all() and (points.vertex[:, 4:] >= n).all()


@pytest.mark.parametrize("name", OTHERS)
def test_friction_of_rigid_motions(name):
    points, _, _, x, n = points_of(name, large=0.01)
    rng = np.random.default_rng(0)
    one, two = 0.01 * rng.normal(size=(2, 6))
    velocity = np.concatenate([moving(x[:n], one), moving(x[n:], two)])
    force, rate = friction(points, velocity, MU, DAMPING, True)
    rows = np.column_stack([points.place, points.normal, points.force, points.rise])
    wrench, rigid_rate = friction_terms(rows, np.zeros(3), one - two, MU, DAMPING)
    found = np.concatenate([force[:n].sum(axis=0), np.cross(x[:n], force[:n]).sum(axis=0)])
    np.testing.assert_allclose(found, wrench, atol=1e-12 * np.abs(wrench).max())
    np.testing.assert_allclose(force.sum(axis=0), 0.0, atol=1e-12 * np.abs(wrench).max())
    way = 0.01 * rng.normal(size=6)
    bent = np.concatenate([moving(x[:n], way), np.zeros((4, 3))]).ravel()
    assert bent @ rate @ bent == pytest.approx(way @ rigid_rate @ way, rel=1e-9)


def test_the_rate_of_friction_is_its_derivative():
    points, _, _, x, _ = points_of("ball", large=0.01)
    rng = np.random.default_rng(1)
    velocity, way = 0.01 * rng.normal(size=(2, *x.shape))
    _, rate = friction(points, velocity, MU, DAMPING, True)
    eps = 1e-5
    ends = [friction(points, velocity + s * eps * way, MU, DAMPING, False)[0] for s in (1, -1)]
    slope = (ends[0] - ends[1]).ravel() / (2.0 * eps)
    np.testing.assert_allclose(-rate @ way.ravel(), slope, atol=1e-5 * np.abs(slope).max())


@pytest.mark.parametrize("name", OTHERS)
def test_pressure_resists_a_shift_as_between_rigid_bodies(name):
    points, s, modulus, x, n = points_of(name)
    _, rigid, *_ = patch_terms(
        s.area, s.centroid, s.pressure, s.gradient_a, s.gradient_b, s.start, s.corners,
        s.corner_pressure, np.zeros(3), modulus,
    )  # fmt: skip
    stiffness = pressure_stiffness(points, len(x))
    way = np.random.default_rng(2).normal(size=6) * (1.0, 1.0, 1.0, 30.0, 30.0, 30.0)
    shift = np.concatenate([moving(x[:n], way), np.zeros((4, 3))]).ravel()
    # the locking of the field is taken at the points: to its own small share
    assert shift @ stiffness @ shift == pytest.approx(way @ rigid @ way, rel=3e-3)
