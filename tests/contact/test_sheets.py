"""Sheets: against brute force, from both sides, in time, and against primitives."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.contact.contacts import EDGE_EDGE
from limpet.contact.continuous import time_edges_meet, time_of_impact
from limpet.contact.primitives import ball, block, half_space, round_bar, vertices_near
from limpet.contact.sheet_pairs import Side, sheet_contacts
from limpet.contact.sheets import cover, edges_on_edges, sheet_of, vertices_on_faces
from limpet.geometry.distance import closest_on_segments, closest_on_triangle
from limpet.geometry.rotation import rotation_matrix
from limpet.particles.meshes import cloth


def crumpled(seed, size=0.02):
    rng = np.random.default_rng(seed)
    mesh = cloth(0.2, 0.2, (6, 6))
    x = mesh.points + size * rng.normal(size=mesh.points.shape)
    return mesh, x, 0.1 * rng.normal(size=x.shape)


def nearer(n, v, w, h):
    """How much nearer two points may come along n, both moving or one of them stopped."""
    return h * min(n @ (v - w), n @ v, -n @ w, 0.0)


@pytest.mark.parametrize("seed", range(3))
def test_vertices_on_faces_against_brute_force(seed):
    mesh, x, v = crumpled(seed)
    sheet = sheet_of(mesh.triangles, x)
    thickness, margin, h = 0.004, 0.002, 0.01
    cover(sheet.tree, x, x + h * v, sheet.triangles)
    index, value = vertices_on_faces(
        x, v, sheet, x, v, sheet, True, thickness, margin, h, False
    )  # fmt: skip
    found = {}
    for (i, t, *_), line in zip(index, value):
        found.setdefault(int(i), []).append((float(line[3]), int(t)))
    for i in range(len(x)):
        near = []
        for corners in mesh.triangles:
            if i in corners:
                continue
            p = [tuple(x[c]) for c in corners]
            w = np.array(closest_on_triangle(tuple(x[i]), *p)[:3])
            r = x[i] - w @ x[corners]
            gap = np.linalg.norm(r) - thickness
            come = nearer(r / np.linalg.norm(r), v[i], w @ v[corners], h)
            if gap <= thickness + margin and gap + come <= margin:
                near.append(gap)
        ours = [gap for gap, _ in found.get(i, [])]
        assert bool(near) == bool(ours)
        if near:
            assert min(ours) == pytest.approx(min(near), abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_edges_on_edges_against_brute_force(seed):
    mesh, x, v = crumpled(seed)
    sheet = sheet_of(mesh.triangles, x)
    thickness, margin, h = 0.003, 0.002, 0.005
    cover(sheet.tree, x, x + h * v, sheet.triangles)
    index, _ = edges_on_edges(x, v, sheet, x, v, sheet, True, thickness, margin, h)
    ours = {tuple(map(int, line)) for line in index}
    want = set()
    for e, (i, j) in enumerate(sheet.edges):
        for k, l in sheet.edges[e + 1 :]:
            if {i, j} & {k, l}:
                continue
            s, t = closest_on_segments(*(tuple(x[n]) for n in (i, j, k, l)))
            if min(s, t, 1 - s, 1 - t) < 1e-3:
                continue
            r = x[i] + s * (x[j] - x[i]) - x[k] - t * (x[l] - x[k])
            n = r / np.linalg.norm(r)
            come = nearer(n, v[i] + s * (v[j] - v[i]), v[k] + t * (v[l] - v[k]), h)
            if np.linalg.norm(r) - thickness + come <= margin:
                want.add((int(i), int(j), int(k), int(l)))
    assert ours == want
    assert len(want) > 5


def layers(gap, speed):
    """Two cloths, the upper one coming down."""
    low, high = cloth(0.2, 0.2, (4, 4)), cloth(0.15, 0.15, (3, 3))
    x, y = low.points, high.points + np.array([0.011, 0.007, gap])
    v = np.tile([0.0, 0.0, speed], (len(y), 1))
    one = Side(sheet_of(low.triangles, x), 0, x, np.zeros_like(x))
    two = Side(sheet_of(high.triangles, y), 1, y, v)
    return one, two


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_sheet_is_met_on_either_side(side):
    one, two = layers(side * 0.004, 0.0)
    for each in (one, two):
        each.cover(0.02)
    contacts = sheet_contacts(one, two, 0.003, 0.002, 0.02)
    assert len(contacts) > 16
    np.testing.assert_allclose(contacts.gap, 0.001, atol=1e-12)
    np.testing.assert_allclose(
        contacts.normal, np.tile([0, 0, -side], (len(contacts), 1)), atol=1e-9
    )
    assert (contacts.kind == EDGE_EDGE).any()
    assert len(set(contacts.key.tolist())) == len(contacts)


@pytest.mark.parametrize(("continuous", "seen"), [(True, True), (False, False)])
def test_what_would_pass_within_the_step_is_seen_in_time(continuous, seen):
    one, two = layers(0.1, -10.0)  # twice the gap in one step
    for each in (one, two):
        each.cover(0.02)
    contacts = sheet_contacts(one, two, 0.003, 0.002, 0.02, continuous=continuous, edges=False)
    assert (len(contacts) >= 16) == seen
    if seen:
        np.testing.assert_allclose(contacts.gap, 0.097, atol=1e-12)


def test_edges_that_meet():
    still, down = (0.0, 0.0, 0.0), (0.0, 0.0, -4.0)
    one, two = ((0.0, -1.0, 1.0), (0.0, 1.0, 1.0)), ((-1.0, 0.0, 0.0), (3.0, 0.0, 0.0))
    when, *w = time_edges_meet(*one, *two, down, down, still, still, 1.0)
    assert when == pytest.approx(0.25)
    assert w == pytest.approx([0.5, 0.25])
    aside = tuple((x + 3.5, y, z) for x, y, z in one)
    assert time_edges_meet(*aside, *two, down, down, still, still, 1.0)[0] == -1.0


@pytest.mark.parametrize("seed", range(20))
def test_no_short_passage_is_missed(seed):
    """Against 20000 samples of the way; vertices that spin through a face and out again."""
    rng = np.random.default_rng(seed)
    x, u = rng.normal(size=(4, 3)), 4.0 * rng.normal(size=(4, 3))
    when, *_ = time_of_impact(*(tuple(p) for p in x), *(tuple(v) for v in u), 1.0)
    t = np.linspace(0.0, 1.0, 20001)[:, None, None]
    p, a, b, c = np.moveaxis(x + t * u, 1, 0)
    n = np.cross(b - a, c - a)
    side = np.einsum("ti,ti->t", p - a, n)
    inside = np.ones(len(t), bool)
    for e, f in ((a, b), (b, c), (c, a)):
        inside &= np.einsum("ti,ti->t", np.cross(f - e, p - e), n) > 0.0
    hits = np.flatnonzero((side[1:] > 0) != (side[:-1] > 0))
    hits = hits[inside[hits]]
    assert (when >= 0.0) == (len(hits) > 0)
    if len(hits):
        assert when == pytest.approx(hits[0] / 20000.0, abs=1e-4)


def test_time_of_impact():
    still = (0.0, 0.0, 0.0)
    a, b, c = (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)
    when, *w = time_of_impact((0.2, 0.3, 1.0), a, b, c, (0.0, 0.0, -4.0), still, still, still, 1.0)
    assert when == pytest.approx(0.25)
    assert w == pytest.approx([0.5, 0.2, 0.3])
    beside = time_of_impact((0.9, 0.9, 1.0), a, b, c, (0.0, 0.0, -4.0), still, still, still, 1.0)
    assert beside[0] == -1.0
    short = time_of_impact((0.2, 0.3, 1.0), a, b, c, (0.0, 0.0, -0.5), still, still, still, 1.0)
    assert short[0] == -1.0


SHAPES = {
    "ball": (ball(0.3), lambda p: np.linalg.norm(p) - 0.3),
    "half space": (half_space(0.1, (0, 0, 1)), lambda p: p[2] - 0.1),
    "block": (
        block(0.4, 0.6, 0.2),
        lambda p: (
            np.linalg.norm(np.maximum(np.abs(p) - [0.2, 0.3, 0.1], 0))
            + min(max(np.abs(p) - [0.2, 0.3, 0.1]), 0.0)
        ),
    ),
    "bar": (
        round_bar(0.2, 0.5, (0, 1, 0)),
        lambda p: (
            np.linalg.norm(np.maximum([np.hypot(p[0], p[2]) - 0.2, abs(p[1]) - 0.25], 0))
            + min(max(np.hypot(p[0], p[2]) - 0.2, abs(p[1]) - 0.25), 0.0)
        ),
    ),
}


@pytest.mark.parametrize("name", list(SHAPES))
def test_primitives_are_distances_with_their_gradients(name):
    shape, distance = SHAPES[name]
    rng = np.random.default_rng(0)
    x, centre = 0.5 * rng.normal(size=(200, 3)), np.array([0.1, -0.2, 0.05])
    turn = rotation_matrix(np.array([0.3, 0.5, -0.2]), 1.1)
    still = np.zeros_like(x)
    index, gap, normal, point = vertices_near(
        x, still, shape, centre, turn, np.zeros(6), 0.01, 10.0, 0.02
    )
    assert len(index) == len(x)
    own = (x - centre) @ turn
    want = np.array([distance(p) for p in own])
    np.testing.assert_allclose(gap, want - 0.01, atol=1e-12)
    np.testing.assert_array_equal(point, x)
    for i in range(50):
        slope = [(distance(own[i] + e) - distance(own[i] - e)) / 2e-6 for e in 1e-6 * np.eye(3)]
        np.testing.assert_allclose(turn.T @ normal[i], slope, atol=1e-5)


def test_primitives_take_what_arrives_within_the_step():
    x = np.array([[0.0, 0.0, 0.1], [0.0, 0.0, 0.1], [0.0, 0.0, 0.001]])
    v = np.array([[0.0, 0.0, -10.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
    index, *_ = vertices_near(
        x, v, half_space(), np.zeros(3), np.eye(3), np.zeros(6), 0.0, 0.002, 0.02
    )
    assert index.tolist() == [0, 2]
