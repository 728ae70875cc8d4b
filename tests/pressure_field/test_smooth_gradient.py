"""F's smoothed gradient: continuous over a body, and what dissipation in a World takes."""

from __future__ import annotations

import numpy as np
import pytest

import limpet as lp
from limpet.errors import LimpetError
from limpet.pressure_field.field_contacts import FieldContacts, FieldPair
from limpet.pressure_field.smooth_gradient import interpolated
from limpet.pressure_field.surface import contact_surface
from limpet.pressure_field.wrench import rise_of_pressure, with_smooth_gradients

from .kit import pose

QUATERNION = np.array([1.0, 0.0, 0.0, 0.0])


def test_it_is_the_barycentric_mean_of_the_vertices() -> None:
    """Against NumPy, at random places in random tets of a turned body."""
    rng = np.random.default_rng(1)
    field = lp.fields.sphere(0.05, 1e6, edge=0.02).field
    rotation, origin = pose((0.3, -0.5, 0.2), (0.1, 0.2, 0.3))
    cells = rng.integers(len(field.tets), size=20).astype(np.int32)
    weight = rng.dirichlet(np.ones(4), size=20)
    corners = field.tets[cells]
    local = np.einsum("ik,ikj->ij", weight, field.points[corners])
    expected = np.einsum("ik,ikj->ij", weight, field.smooth_gradient[corners]) @ rotation.T
    found = interpolated(
        field.points, field.tets, field.smooth_gradient, rotation, origin, cells,
        local @ rotation.T + origin,
    )  # fmt: skip
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-3)


def test_it_is_continuous_where_the_gradient_jumps() -> None:
    """On the common faces of tets, seen from both."""
    field = lp.fields.box(0.1, 0.08, 0.06, modulus=1e6).field
    jumps = []
    for i, one in enumerate(field.tets):
        for j in range(i):
            common = np.intersect1d(one, field.tets[j])
            if len(common) < 3:
                continue
            jumps.append(np.linalg.norm(field.gradient[i] - field.gradient[j]))
            at = field.points[common].mean(axis=0)[None]
            own = field.points, field.tets, field.smooth_gradient, np.eye(3), np.zeros(3)
            sides = [interpolated(*own, np.array([k], np.int32), at) for k in (i, j)]
            np.testing.assert_allclose(*sides, atol=1e-9 * np.abs(field.gradient).max())
    assert max(jumps) > 1.0 * np.abs(field.gradient).max()


@pytest.mark.parametrize("smooth", [False, True])
def test_the_step_takes_the_smoothed_gradient_where_it_is_asked_for(smooth: bool) -> None:
    """The rises of pressure at the points of friction are those of the contact surface."""
    box, ball = lp.fields.box(0.1, 0.1, 0.1, modulus=1e6), lp.fields.sphere(0.02, 2e6, edge=8e-3)
    a, b = ((lp.fields.smoothed(s) if smooth else s).field for s in (ball, box))
    contacts = FieldContacts([FieldPair(0, 1, a, b, 0.01, ("ball", "box"))], np.zeros((2, 3)))
    place = np.array([0.03, 0.01, 0.06])
    contacts.begin(np.array([place, np.zeros(3)]), np.tile(QUATERNION, (2, 1)))
    there, here = (np.eye(3), place), (np.eye(3), np.zeros(3))
    surface = contact_surface(a, there, b, here)
    smoothed = with_smooth_gradients(surface, a, there, b, here)
    rises = []
    for s in (surface, smoothed):
        normal = s.area / np.linalg.norm(s.area, axis=1)[:, None]
        gradients = zip(normal, s.gradient_a, s.gradient_b)
        rises.append(np.array([rise_of_pressure(n, ga, gb) for n, ga, gb in gradients]))
    taken, other = rises[smooth], rises[not smooth]
    found = contacts.loads.points[:, 7]
    assert len(found) > 10
    nearest = np.abs(found[:, None] - taken).min(axis=1)
    assert nearest.max() < 1e-9 * taken.max()
    assert np.abs(taken - other).max() > 0.1 * taken.max()


def rebound(smooth: bool) -> float:
    """Energy kept by a soft ball of 0.2 kg after it hits a rigid floor at 1 m/s, dissipating."""
    world = lp.World(gravity=(0.0, 0.0, 0.0))
    shape = lp.fields.sphere(0.05, 1e5)
    ball = world.add_rigid(
        lp.fields.smoothed(shape) if smooth else shape, 0.2, position=(0, 0, 0.05)
    )
    floor = world.add_rigid(lp.fields.floor(), 1.0, fixed=True)
    world.set_contact(ball, floor, "pressure fields", 0.02)
    simulation = lp.Simulation(world, h=5e-4)
    body = simulation.body(ball.name)
    body.v = np.array([0.0, 0.0, -1.0])
    for report in simulation.run(0.1):
        assert report.converged
    return float(body.v @ body.v)


def test_a_ball_dissipates_less_where_the_smoothed_gradient_fades_with_depth() -> None:
    """At the centre of the ball it is zero, the gradient itself is the same everywhere."""
    plain, smooth = rebound(False), rebound(True)
    assert 0.0 < plain < 0.98 * smooth < 1.0


def test_what_is_no_field_shape_is_refused() -> None:
    with pytest.raises(LimpetError, match="expected a shape of"):
        lp.fields.smoothed(lp.shapes.box(0.1, 0.1, 0.1))
    floor = lp.fields.floor()
    assert lp.fields.smoothed(floor) is floor
