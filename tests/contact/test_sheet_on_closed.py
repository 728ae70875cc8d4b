"""A sheet against closed meshes: the gap is the signed distance of the whole surface."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.contact.contacts import EDGE_EDGE, FACE_VERTEX, VERTEX_FACE
from limpet.contact.detect import collider
from limpet.contact.sheet_pairs import ClosedSide, Side, closed_contacts
from limpet.contact.sheets import sheet_of
from limpet.geometry.bvh import closest_points
from limpet.geometry.surface import surface_topology, winding
from limpet.particles.meshes import cloth
from limpet.shapes.boxes import box
from limpet.shapes.objects import compartment_box, globe

MARGIN = 0.008  # [m]
H = 0.01  # [s]


def sides(x, triangles, shape, v=None):
    """The sheet at x and the closed shape, ready for a step."""
    one = Side(sheet_of(triangles, x), 0, x, np.zeros_like(x) if v is None else v)
    one.cover(H)
    topology = surface_topology(shape.triangles, len(shape.points))
    made = collider(topology, shape.points, True).shape
    two = ClosedSide(made, 1, shape.points, np.zeros_like(shape.points))
    two.fit()
    return one, two


def loose(points):
    """Points as the corners of a sheet of triangles that nothing joins."""
    return points, np.arange(len(points), dtype=np.int32).reshape(-1, 3)


def box_distance(p, half):
    out = np.abs(p) - half
    return np.linalg.norm(np.maximum(out, 0.0), axis=1) + np.minimum(out.max(axis=1), 0.0)


def test_all_round_a_plate_the_gap_is_its_distance():
    """Beside a plate every point is behind the plane of one of its faces."""
    half, rng = np.array([0.5, 0.35, 0.01]), np.random.default_rng(0)
    p = rng.uniform(-half - 0.012, half + 0.012, size=(3000, 3))
    plate = box(*(2.0 * half))
    centre = 0.5 * (plate.points.min(axis=0) + plate.points.max(axis=0))
    one, two = sides(*loose(p + centre), plate)
    contacts = closed_contacts(one, two, 0.0, MARGIN, H)
    on = contacts.kind == VERTEX_FACE
    want = box_distance(p, half)
    assert on.sum() == (want <= MARGIN).sum() > 500
    gap = np.full(len(p), np.nan)
    gap[contacts.vertices_a[on, 0]] = contacts.gap[on]
    near = want <= MARGIN
    np.testing.assert_allclose(gap[near], want[near], atol=1e-9)


@pytest.mark.parametrize("shape", [globe(0.1, 12), compartment_box(0.2, 0.2, 0.06, (2, 2), 0.004)])
def test_the_side_is_that_of_the_winding_number(shape):
    rng = np.random.default_rng(1)
    low, high = shape.points.min(axis=0) - 0.01, shape.points.max(axis=0) + 0.01
    p = rng.uniform(low, high, size=(1500, 3))
    one, two = sides(*loose(p), shape)
    contacts = closed_contacts(one, two, 0.0, MARGIN, H)
    on = contacts.kind == VERTEX_FACE
    _, _, distance = closest_points(two.shape.tree, shape.points, shape.triangles, p, 1.0)
    assert on.sum() > 100
    for i, gap in zip(contacts.vertices_a[on, 0], contacts.gap[on]):
        inside = winding(shape.points, shape.triangles, p[i]) > 0.5
        assert gap == pytest.approx(-distance[i] if inside else distance[i], abs=1e-9)


def test_a_sheet_over_a_box_lies_on_its_corners_and_edges_even_when_a_little_inside():
    shape, mesh = box(0.1, 0.1, 0.1), cloth(0.3, 0.3, (6, 6))
    for depth in (0.001, -0.0005):
        x = mesh.points + np.array([0.003, 0.004, shape.points[:, 2].max() + depth])
        contacts = closed_contacts(*sides(x, mesh.triangles, shape), 0.0, 0.002, H)
        up = contacts.normal[:, 2] > 0.99
        on = contacts.kind == VERTEX_FACE
        np.testing.assert_allclose(contacts.gap[up & on], depth, atol=1e-12)
        np.testing.assert_allclose(contacts.gap[up & ~on], max(depth, 0.0), atol=1e-12)
        assert (contacts.kind[up] == FACE_VERTEX).sum() == 4
        assert (contacts.kind[up] == EDGE_EDGE).sum() >= 8
        assert np.all(contacts.gap[~up] > 0.0)
        assert np.all(contacts.surface_a == 0) and np.all(contacts.surface_b == 1)
        assert len(set(contacts.key.tolist())) == len(contacts)


def test_a_sheet_on_one_side_of_a_thin_wall_does_not_see_the_corners_of_the_other():
    shape, mesh = box(0.1, 0.1, 0.002), cloth(0.3, 0.3, (6, 6))
    top = shape.points[:, 2].max()
    x = mesh.points + np.array([0.003, 0.004, top + 0.001])
    contacts = closed_contacts(*sides(x, mesh.triangles, shape), 0.0, 0.005, H)
    corner = contacts.kind == FACE_VERTEX
    assert corner.sum() >= 4
    assert np.all(shape.points[contacts.vertices_b[corner, 0], 2] == top)
    assert contacts.gap.min() > 0.0


def test_what_arrives_within_the_step_is_found():
    shape, mesh = globe(0.1, 24), cloth(0.05, 0.05, (2, 2))
    x = mesh.points + np.array([0.0, 0.0, 0.14])
    v = np.tile([0.0, 0.0, -5.0], (len(x), 1))
    assert len(closed_contacts(*sides(x, mesh.triangles, shape), 0.0, 1e-3, H)) == 0
    assert len(closed_contacts(*sides(x, mesh.triangles, shape, v), 0.0, 1e-3, H)) >= len(x)
