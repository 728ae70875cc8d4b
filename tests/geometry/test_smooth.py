"""Smooth surfaces over triangles, against cylinders and spheres, and where ridges must stay."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from manifold3d import Manifold
from scipy.spatial import ConvexHull

from limpet.geometry.facet_normals import facet_normals
from limpet.geometry.rotation import rotation_matrix
from limpet.geometry.smooth import (
    normal_curvature,
    patch,
    patches,
)
from limpet.geometry.surface import surface_topology, triangle_normals
from limpet.geometry.union import arrays
from limpet.shapes.boxes import box
from limpet.shapes.curved import _along_y, rod, trough
from limpet.shapes.round_parts import revolved

RADIUS = 0.07


def mid_edges(x, triangles, corner):
    """(m, 3, 3) [m]: the points of the patches over the middles of the edges opposite to corner k.

    corner (m, 3, 3): normals at the corners of each triangle.
    """
    out = np.empty((len(triangles), 3, 3))
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        p, q = x[triangles[:, i]], x[triangles[:, j]]
        ni, nj = corner[:, i], corner[:, j]
        mean = ni + nj
        mean /= np.linalg.norm(mean, axis=1, keepdims=True)
        h = sum(
            0.25 * np.einsum("ti,ti->t", n, s) / (1.0 + np.einsum("ti,ti->t", n, mean))
            for n, s in ((ni, p - q), (nj, q - p))
        )
        out[:, k] = 0.5 * (p + q) + h[:, None] * mean
    return out


def tube(facets):
    return rod(RADIUS, 0.06, facets=facets)


def hull(x):
    t = ConvexHull(x).simplices
    a, b, c = (x[t[:, k]] for k in range(3))
    inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), a) < 0.0
    t[inward] = t[inward][:, [0, 2, 1]]
    return t


def ready(points, triangles, **how):
    surface = surface_topology(triangles, len(points))
    return surface, patches(surface, points, **how)


def on_patch(t, weights, x, surface, on):
    n, h = patch(t, *weights, x, surface.triangles, on)
    return np.array(n), weights @ x[surface.triangles[t]] + h * np.array(n)


@pytest.mark.parametrize(("facets", "within"), [(16, 8e-6), (24, 1.5e-6), (48, 0.1e-6)])
def test_a_tube_of_few_facets_is_round(facets, within):
    shape = tube(facets)
    surface, on = ready(shape.points, shape.triangles)
    sagitta = RADIUS * (1.0 - np.cos(np.pi / facets))
    assert on.bulge == pytest.approx(sagitta, rel=1e-9)
    rng = np.random.default_rng(0)
    for t in np.flatnonzero(on.curved):
        for weights in rng.dirichlet([1.0, 1.0, 1.0], 20):
            n, p = on_patch(t, weights, shape.points, surface, on)
            if 0.03 - abs(p[1]) < 20.0 * sagitta:  # beside the ends, which stay polygons
                continue
            out = np.array([p[0], 0.0, p[2] + RADIUS])
            assert abs(np.linalg.norm(out) - RADIUS) < within
            np.testing.assert_allclose(n, out / np.linalg.norm(out), atol=1e-12)
    assert on.curved.sum() == 2 * facets  # the ends stay flat


def test_facets_of_a_sphere_of_any_shape_are_round():
    # Max's weights are exact for vertices on a sphere, however uneven the triangles are.
    k = np.arange(400) + 0.5
    z, turn = 1.0 - k / 200.0, np.pi * (1.0 + 5.0**0.5) * k
    x = (np.sqrt(1.0 - z * z) * [np.cos(turn), np.sin(turn)]).T
    x = np.column_stack([x, z]) + np.random.default_rng(3).normal(0.0, 0.03, (400, 3))
    x *= 0.04 / np.linalg.norm(x, axis=1, keepdims=True)
    surface = surface_topology(hull(x), len(x))
    normals = facet_normals(surface, x, np.pi).corner
    whole = (np.abs(0.04 * normals - x[surface.triangles]) < 1e-12).all(axis=2)
    assert whole.mean() > 0.6  # but where neighbours are too uneven to share a normal
    even = whole.all(axis=1)
    middles = np.linalg.norm(mid_edges(x, surface.triangles, normals)[even], axis=2)
    chords = x[surface.triangles[even]]
    sagitta = 0.04 - np.linalg.norm(0.5 * (chords + np.roll(chords, 1, axis=1)), axis=2).min()
    assert abs(middles - 0.04).max() < 1e-9
    assert sagitta > 1e-4


def test_curvature_of_a_tube():
    shape = tube(24)
    surface, on = ready(shape.points, shape.triangles)
    t = int(np.flatnonzero(on.curved)[0])
    across = shape.points[surface.triangles[t]]
    across = (across[0] - across[1:]) * [1.0, 0.0, 1.0]
    across = across[np.linalg.norm(across, axis=1).argmax()]
    given = (shape.points, surface.triangles, on)
    assert normal_curvature(t, tuple(across), *given) == pytest.approx(1.0 / RADIUS, rel=1e-9)
    assert normal_curvature(t, (0.0, 1.0, 0.0), *given) == pytest.approx(0.0, abs=1e-9)
    hollow = trough(RADIUS, 0.06, 0.06, 0.01, sagitta=1e-4)
    surface, on = ready(hollow.points, hollow.triangles)
    middle = hollow.points[surface.triangles].mean(axis=1)
    t = int(np.flatnonzero(on.curved)[np.abs(middle[on.curved, 0]).argmin()])
    given = (hollow.points, surface.triangles, on)
    assert normal_curvature(t, (1.0, 0.0, 0.0), *given) == pytest.approx(-1.0 / RADIUS, rel=1e-2)


@given(st.floats(0.0, 1.0), st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_neighbours_meet_without_a_step(share, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(60, 3))
    x *= rng.uniform(0.9, 1.1, (60, 1)) / np.linalg.norm(x, axis=1, keepdims=True)
    triangles = hull(x)
    used, triangles = np.unique(triangles, return_inverse=True)
    x, triangles = x[used], triangles.reshape(-1, 3)
    surface = surface_topology(triangles, len(x))
    on = patches(surface, x, 0.8)
    normals = facet_normals(surface, x, 0.8).corner
    own = triangle_normals(x, surface.triangles)
    own /= np.linalg.norm(own, axis=1, keepdims=True)
    tip = np.zeros(len(x), bool)
    tip[surface.triangles[(np.abs(normals - own[:, None]) < 1e-9).all(axis=2)]] = True
    for e, sides in enumerate(surface.edge_triangles):
        ends, seen = surface.edges[e], []
        for t in sides:
            corners = surface.triangles[t]
            k = int(np.flatnonzero(~np.isin(corners, ends))[0])
            weights = np.where(corners == ends[0], share, 1.0 - share)
            weights[k] = 0.0
            seen.append((on.smooth[t, k], *on_patch(t, weights, x, surface, on)))
        assert seen[0][0] == seen[1][0]
        if not tip[ends].any():  # at tips normals are those of the faces
            np.testing.assert_allclose(seen[0][2], seen[1][2], atol=1e-9)
            if seen[0][0]:
                np.testing.assert_allclose(seen[0][1], seen[1][1], atol=1e-9)
    assert on.smooth.any()


def test_a_box_keeps_its_ridges():
    shape = box(0.06, 0.06, 0.03)
    _, on = ready(shape.points, shape.triangles)
    assert on.bulge == 0.0
    assert not on.round.any()


def test_a_flat_face_beside_a_fillet_stays_flat():
    # A block 30 mm wide whose upper edges are rounded with 5 facets of 1.6 mm each.
    a = np.linspace(0.0, 0.5 * np.pi, 6)
    corner = 5.0 * np.column_stack([np.sin(a), np.cos(a)])
    right, left = corner[::-1] + np.array([10.0, 5.0]), corner * [-1.0, 1.0] + [-10.0, 5.0]
    top = np.concatenate([right, left])
    section = 1e-3 * np.concatenate([[[-15.0, 0.0], [15.0, 0.0]], top])
    points, triangles = _along_y([section], 0.03)
    surface, on = ready(points, triangles)
    middle = points[surface.triangles].mean(axis=1)
    flat = (np.abs(middle[:, 0]) < 10e-3) & (middle[:, 2] > 9.99e-3)
    assert flat.sum() == 2
    assert not on.curved[flat].any()
    assert on.curved.sum() == 20  # the two fillets


def test_a_flat_cut_through_a_ball_stays_flat():
    # Its triangles are as large as the facets of the ball, but they make one face.
    ball = Manifold.sphere(0.02, 16).trim_by_plane((0.0, 0.0, -1.0), -0.015)
    points, triangles = arrays(ball)
    surface, on = ready(points, triangles)
    top = (points[surface.triangles][:, :, 2] > 0.015 - 1e-9).all(axis=1)
    assert top.sum() > 4
    assert not on.curved[top].any()
    assert on.curved[~top].mean() > 0.9


def test_a_tube_cut_along_its_axis_stays_round():
    angle = 2.0 * np.pi * np.arange(24) / 24
    shape = revolved([(0.02, 0.0), (0.02, 0.01), (0.02, 0.02), (0.02, 0.04)], facets=len(angle))
    _, on = ready(shape.points, shape.triangles)
    assert on.curved.sum() == 3 * 2 * len(angle)
    assert on.bulge == pytest.approx(0.02 * (1.0 - np.cos(np.pi / len(angle))), rel=1e-6)


def test_patches_turn_with_a_rigid_body():
    shape = tube(16)
    surface, on = ready(shape.points, shape.triangles)
    rotation = rotation_matrix(np.array([0.6, 0.0, -0.8]), 1.1)
    moved = shape.points @ rotation.T + [3.0, -2.0, 5.0]
    weights = np.array([0.2, 0.5, 0.3])
    for t in np.flatnonzero(on.curved):
        n, h = patch(t, *weights, shape.points, surface.triangles, on)
        m, g = patch(t, *weights, moved, surface.triangles, on)
        np.testing.assert_allclose(m, rotation @ n, atol=1e-9)
        assert g == pytest.approx(h, abs=1e-12)


def test_without_a_crease_angle_facets_are_real():
    shape = tube(24)
    _, on = ready(shape.points, shape.triangles, crease=0.0)
    assert on.bulge == 0.0
    assert not (on.smooth.any() or on.curved.any())
