"""Contacts between simple bodies whose gaps, normals and places are known."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import limpet as lp
from limpet.contact.detect import EDGE_EDGE, FACE_VERTEX, VERTEX_FACE, collider, detect
from limpet.geometry.distance import closest_on_segments, closest_on_triangle
from limpet.geometry.surface import surface_topology

MM = 1e-3
ALARM = 1.0 * MM


def grid_box(size, centre=(0.0, 0.0, 0.0), cuts=(1, 1, 1)):
    """A closed box (vertices, triangles); cuts: number of cells along x, y, z."""
    index, points, triangles = {}, [], []

    def vertex(cell):
        if cell not in index:
            index[cell] = len(points)
            points.append([c / n - 0.5 for c, n in zip(cell, cuts, strict=True)])
        return index[cell]

    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        for end in (0, cuts[axis]):
            for i in range(cuts[u]):
                for j in range(cuts[v]):
                    corners = []
                    for di, dj in ((0, 0), (1, 0), (1, 1), (0, 1)):
                        cell = [0, 0, 0]
                        cell[axis], cell[u], cell[v] = end, i + di, j + dj
                        corners.append(vertex(tuple(cell)))
                    p, q, r, s = corners if end else corners[::-1]
                    triangles += [(p, q, r), (p, r, s)]
    return np.array(points) * size + centre, np.array(triangles)


def sphere(radius, centre, refine=2):
    """An icosphere (vertices, triangles) whose vertices lie on the sphere."""
    g = (1 + 5**0.5) / 2
    x = [np.array(v) for s in (-1, 1) for t in (-g, g) for v in ((s, t, 0), (0, s, t), (t, 0, s))]
    x = np.array(x, dtype=float)
    edge = min(np.linalg.norm(x[0] - p) for p in x[1:])
    near = np.linalg.norm(x[:, None] - x[None], axis=2) < 1.01 * edge
    tri = []
    for i in range(12):
        for j in range(i + 1, 12):
            for k in range(j + 1, 12):
                if near[i, j] and near[j, k] and near[i, k]:
                    out = np.dot(np.cross(x[j] - x[i], x[k] - x[i]), x[i]) > 0
                    tri.append((i, j, k) if out else (i, k, j))
    x = list(x)
    for _ in range(refine):
        middle, finer = {}, []
        for t in tri:
            mid = []
            for i, j in ((t[0], t[1]), (t[1], t[2]), (t[2], t[0])):
                key = (min(i, j), max(i, j))
                if key not in middle:
                    middle[key] = len(x)
                    x.append(x[i] + x[j])
                mid.append(middle[key])
            a, b, c = mid
            finer += [(t[0], a, c), (t[1], b, a), (t[2], c, b), (a, b, c)]
        tri = finer
        x = [p / np.linalg.norm(p) for p in x]
    x = np.array(x) / np.linalg.norm(x, axis=1, keepdims=True)
    return radius * x + np.array(centre), np.array(tri)


def contacts(first, second, alarm=ALARM, move=lambda x: x):
    """Contacts of two bodies, checked for all that must hold of any contact."""
    pair = [collider(surface_topology(t, len(x)), x) for x, t in (first, second)]
    x, y = move(first[0]), move(second[0])
    found = detect(pair, [x, y], [(0, 1)], alarm)
    p = np.einsum("ki,kij->kj", found.weights_a, x[found.vertices_a])
    q = np.einsum("ki,kij->kj", found.weights_b, y[found.vertices_b])
    reach = np.abs(np.concatenate([x, y])).max()
    np.testing.assert_allclose(
        found.gap, np.einsum("ki,ki->k", found.normal, p - q), atol=1e-14 * max(1.0, reach)
    )
    np.testing.assert_allclose(np.linalg.norm(found.normal, axis=1), 1.0, atol=1e-12)
    for weights in (found.weights_a, found.weights_b):
        np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-12)
        assert np.all(weights >= 0.0)
    assert np.all(np.abs(found.gap) <= alarm * (1 + 1e-9))
    assert np.all(found.surface_a == 0)
    assert np.all(found.surface_b == 1)
    used = [
        (frozenset(va[wa > 0].tolist()), frozenset(vb[wb > 0].tolist()))
        for va, wa, vb, wb in zip(
            found.vertices_a, found.weights_a, found.vertices_b, found.weights_b, strict=True
        )
    ]
    assert len(set(used)) == len(used), "the same features touch twice"
    return found


def turn(seed, shift=0.0):
    """A random rigid motion."""
    rng = np.random.default_rng(seed)
    q, r = np.linalg.qr(rng.standard_normal((3, 3)))
    q = q * np.sign(np.diag(r))
    if np.linalg.det(q) < 0:
        q[:, 0] = -q[:, 0]
    s = shift * rng.standard_normal(3)
    return q, lambda x: x @ q.T + s


def tilted(first, axis, angle):
    """Turn a body about an axis through the origin."""
    k = np.array(axis) / np.linalg.norm(axis)
    x = first[0]
    c, s = np.cos(angle), np.sin(angle)
    return x * c + np.cross(k, x) * s + np.outer(x @ k, k) * (1 - c), first[1]


def shifted(body, by):
    return body[0] + np.array(by), body[1]


PLATE = grid_box((60 * MM, 60 * MM, 30 * MM), (0, 0, -15 * MM))


@pytest.mark.parametrize("gap", [0.4 * MM, 1e-6, 1e-9, 0.0, -1e-9, -1e-6, -0.3 * MM])
@pytest.mark.parametrize("cuts", [(1, 1, 1), (4, 4, 2)])
def test_a_cube_on_a_plate_touches_with_its_lower_vertices(gap, cuts):
    cube = grid_box((20 * MM,) * 3, (1 * MM, 2 * MM, 10 * MM + gap), cuts)
    found = contacts(cube, PLATE)
    lower = np.flatnonzero(cube[0][:, 2] < 1 * MM)
    assert sorted(found.vertices_a[:, 0]) == sorted(lower)
    assert np.all(found.kind == VERTEX_FACE)
    np.testing.assert_allclose(found.gap, gap, atol=1e-15)
    np.testing.assert_allclose(found.normal, np.tile([0, 0, 1.0], (len(found), 1)), atol=1e-6)


def test_seen_from_the_plate_the_normal_turns():
    cube = grid_box((20 * MM,) * 3, (0, 0, 10.2 * MM))
    found = contacts(PLATE, cube)
    assert len(found) == 4
    assert np.all(found.kind == FACE_VERTEX)
    np.testing.assert_allclose(found.gap, 0.2 * MM, atol=1e-15)
    np.testing.assert_allclose(found.normal, np.tile([0, 0, -1.0], (4, 1)), atol=1e-9)


@pytest.mark.parametrize("gap", [0.3 * MM, 1e-5, 1e-7, 1e-9, 0.0, -1e-9, -1e-7, -1e-5, -0.3 * MM])
def test_equal_boxes_stacked_flush_touch_corner_on_corner(gap):
    """Neither the rim nor overlap tilts the normals, and no corner is lost or counted twice."""
    below = grid_box((20 * MM,) * 3, (0, 0, -10 * MM), (3, 3, 3))
    above = grid_box((20 * MM,) * 3, (0, 0, 10 * MM + gap), (3, 3, 3))
    for seed in range(3):
        q, move = turn(seed, shift=1.0)
        found = contacts(above, below, move=move)
        assert np.all(found.kind == VERTEX_FACE)
        assert sorted(found.vertices_a[:, 0]) == sorted(np.flatnonzero(above[0][:, 2] < MM))
        np.testing.assert_allclose(found.gap, gap, atol=1e-11)
        np.testing.assert_allclose(found.normal @ q, np.tile([0, 0, 1.0], (16, 1)), atol=1e-5)


@pytest.mark.parametrize("gap", [0.5 * MM, 1e-6, -1e-6, -0.2 * MM])
def test_spheres_vertex_to_vertex(gap):
    small, big = sphere(20 * MM, (0, 0, 0)), sphere(40 * MM, (0, 0, 0), 2)
    top = big[0][np.argmax(big[0][:, 2])]
    low = small[0][np.argmin(small[0][:, 2])]
    direction = top / np.linalg.norm(top)
    np.testing.assert_allclose(-low / np.linalg.norm(low) @ direction, 1.0)  # by symmetry
    small = shifted(small, direction * (60 * MM + gap))
    found = contacts(small, big, alarm=0.7 * MM)
    closest = np.argmin(found.gap)
    assert found.gap[closest] == pytest.approx(gap, rel=0.05)
    assert found.normal[closest] @ direction > 0.95


def test_sphere_over_a_plate_keeps_every_vertex_within_the_alarm_distance():
    ball = sphere(20 * MM, (1 * MM, 2 * MM, 20.1 * MM), 3)
    found = contacts(ball, PLATE)
    near = np.flatnonzero(ball[0][:, 2] <= ALARM)
    assert len(near) > 10
    assert sorted(found.vertices_a[:, 0]) == sorted(near)
    np.testing.assert_allclose(found.gap, ball[0][found.vertices_a[:, 0], 2], atol=1e-15)


def test_a_vertex_that_penetrates_has_its_depth_as_gap():
    corner = tilted(grid_box((10 * MM,) * 3), (1, -1, 0), np.arccos(1 / np.sqrt(3)))
    for depth in (1e-8, 0.1 * MM, 0.9 * MM):
        body = shifted(corner, (3 * MM, 1 * MM, -corner[0][:, 2].min() - depth))
        found = contacts(body, PLATE)
        assert len(found) == 1
        assert found.gap[0] == pytest.approx(-depth, abs=1e-15)
        np.testing.assert_allclose(found.normal[0], [0, 0, 1], atol=1e-12)


@pytest.mark.parametrize("gap", [0.5 * MM, 1e-6, -1e-6, -0.5 * MM])
def test_crossing_ridges_touch_edge_on_edge(gap):
    """Two long boxes, each standing on a ridge, one across the other."""
    below = tilted(grid_box((60 * MM, 20 * MM, 20 * MM)), (1, 0, 0), np.pi / 4)
    above = tilted(grid_box((20 * MM, 60 * MM, 20 * MM)), (0, 1, 0), np.pi / 4)
    above = shifted(above, (1 * MM, 2 * MM, 2 * np.sqrt(2) * 10 * MM + gap))
    for first, second, up in ((above, below, 1.0), (below, above, -1.0)):
        found = contacts(first, second)
        assert list(found.kind) == [EDGE_EDGE]
        assert found.gap[0] == pytest.approx(gap, abs=1e-14)
        np.testing.assert_allclose(found.normal[0], [0, 0, up], atol=1e-12)


def test_crossed_planks_rest_on_their_rims():
    """No vertex of one is over the other: without edges they would fall through."""
    below = grid_box((60 * MM, 10 * MM, 5 * MM))
    for gap in (0.3 * MM, 0.0, -1e-7, -0.3 * MM):
        above = grid_box((10 * MM, 60 * MM, 5 * MM), (0, 0, 5 * MM + gap))
        found = contacts(above, below)
        assert list(found.kind) == [EDGE_EDGE] * 4
        np.testing.assert_allclose(found.gap, gap, atol=1e-15)
        np.testing.assert_allclose(found.normal, np.tile([0, 0, 1.0], (4, 1)), atol=1e-12)


def test_a_flat_lip_on_a_flat_plate_has_no_edge_contacts():
    plate = grid_box((60 * MM, 60 * MM, 30 * MM), (0, 0, -15 * MM), (7, 5, 2))
    for gap in (0.2 * MM, 0.0, -0.2 * MM):
        lip = grid_box((31 * MM, 29 * MM, 0.5 * MM), (0.3 * MM, 0, 0.25 * MM + gap), (6, 6, 1))
        found = contacts(lip, plate)
        assert not np.any(found.kind == EDGE_EDGE)
        assert np.all(found.normal[:, 2] > 1 - 1e-9)
        np.testing.assert_allclose(found.gap, gap, atol=1e-14)


@pytest.mark.parametrize("gap", [0.1 * MM, 1e-7, -1e-7, -0.1 * MM, -0.3 * MM])
def test_nothing_connects_through_thin_walls(gap):
    """Two sheets of half a millimetre, the alarm distance reaching through both of them."""
    sheet = grid_box((40 * MM, 40 * MM, 0.5 * MM), (0, 0, -0.25 * MM), (4, 4, 1))
    lip = grid_box((20 * MM, 50 * MM, 0.5 * MM), (0.7 * MM, 0.9 * MM, 0.25 * MM + gap), (3, 3, 1))
    found = contacts(lip, sheet, alarm=2 * MM)
    assert len(found) > 8
    assert {VERTEX_FACE, FACE_VERTEX, EDGE_EDGE} == set(found.kind.tolist())
    np.testing.assert_allclose(found.gap, gap, atol=1e-12)
    np.testing.assert_allclose(found.normal, np.tile([0, 0, 1.0], (len(found), 1)), atol=1e-9)
    of_lip = found.vertices_a[found.weights_a > 0]
    of_sheet = found.vertices_b[found.weights_b > 0]
    assert np.all(lip[0][of_lip, 2] < gap + 1e-9), "only the lower side of the lip"
    assert np.all(sheet[0][of_sheet, 2] > -1e-9), "only the upper side of the sheet"


def test_past_the_middle_of_a_thin_wall_a_vertex_is_still_held_by_the_side_it_came_through():
    sheet = grid_box((40 * MM, 40 * MM, 0.5 * MM), (0, 0, -0.25 * MM))
    cube = grid_box((10 * MM,) * 3, (0, 0, 5 * MM - 0.4 * MM))
    found = contacts(cube, sheet)
    assert len(found) == 4
    np.testing.assert_allclose(found.gap, -0.4 * MM, atol=1e-15)
    np.testing.assert_allclose(found.normal, np.tile([0, 0, 1.0], (4, 1)), atol=1e-12)


def test_flat_ground_does_not_look_at_an_edge_beside_it():
    """A cube may slide over the vertices of a fine plate: none of them stands in its way."""
    ground = grid_box((60 * MM, 60 * MM, 30 * MM), (0, 0, -15 * MM), (60, 60, 1))
    cube = grid_box((10.5 * MM,) * 3, (0, 0, 5.25 * MM + 0.01 * MM))
    found = contacts(cube, ground)
    assert np.sum(found.kind == VERTEX_FACE) == 4
    assert np.sum(found.kind == FACE_VERTEX) == 11 * 11
    np.testing.assert_allclose(found.normal[:, 2], 1.0, atol=1e-12)


@pytest.mark.parametrize("gap", [0.2 * MM, 1e-7, -1e-7, -0.2 * MM])
def test_the_blade_of_a_knife_is_held_where_it_lies(gap):
    """A wedge of eleven degrees with one side on the plate: its tip counts, its back does not."""
    x, triangles = grid_box((10 * MM, 10 * MM, 2 * MM), (0, 0, 1 * MM))
    tip = x[:, 0] > 0
    x[tip & (x[:, 2] > 0), 2] = 1e-6
    x[:, 2] += gap
    found = contacts((x, triangles), PLATE)
    assert sorted(found.vertices_a[:, 0]) == sorted(np.flatnonzero(x[:, 2] < gap + 1e-9))
    np.testing.assert_allclose(found.gap, gap, atol=1e-14)


def test_bodies_apart_do_not_touch():
    cube = grid_box((20 * MM,) * 3, (0, 0, 10 * MM + 1.1 * ALARM))
    assert len(contacts(cube, PLATE)) == 0
    assert len(contacts(shifted(cube, (1.0, 0, 0)), PLATE)) == 0
    found = detect([], [], [], ALARM)
    assert found.normal.shape == found.vertices_a.shape == (0, 3)
    assert found.gap.shape == (0,)


def random_meeting(seed):
    """A ball or a tilted box near a ball, a box or a plate; gaps of either sign."""
    rng = np.random.default_rng(seed)
    bodies = []
    for _ in range(2):
        if rng.random() < 0.5:
            bodies.append(sphere(10 * MM, (0, 0, 0), int(rng.integers(1, 3))))
        else:
            bodies.append(grid_box((20 * MM, 14 * MM, 17 * MM), cuts=tuple(rng.integers(1, 4, 3))))
        bodies[-1] = tilted(bodies[-1], rng.standard_normal(3), 3.0 * rng.random())
    first, second = bodies
    reach = first[0][:, 2].max() - second[0][:, 2].min()
    second = shifted(second, (*(4 * MM * rng.standard_normal(2)), reach - 0.3 * MM * rng.random()))
    return first, second


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.0, 10.0]))
def test_a_rigid_motion_of_both_changes_nothing(seed, shift):
    first, second = random_meeting(seed)
    q, move = turn(seed + 1, shift)
    still, moved = contacts(first, second), contacts(first, second, move=move)
    np.testing.assert_array_equal(moved.kind, still.kind)
    np.testing.assert_array_equal(moved.vertices_a, still.vertices_a)
    np.testing.assert_array_equal(moved.vertices_b, still.vertices_b)
    np.testing.assert_allclose(moved.gap, still.gap, atol=1e-12)
    np.testing.assert_allclose(moved.normal, still.normal @ q.T, atol=1e-6)
    np.testing.assert_allclose(moved.weights_a, still.weights_a, atol=1e-7)
    np.testing.assert_allclose(moved.weights_b, still.weights_b, atol=1e-7)


def brute_distance(first, second):
    """Distance of two bodies apart: all vertices against all faces, all edges against all edges."""
    best = np.inf
    for (x, _), (y, faces) in ((first, second), (second, first)):
        for p in x:
            for t in faces:
                u, v, w, _ = closest_on_triangle(tuple(p), *map(tuple, y[t]))
                best = min(best, np.linalg.norm(p - np.array([u, v, w]) @ y[t]))
    edges = [x[surface_topology(t, len(x)).edges] for x, t in (first, second)]
    for p0, p1 in edges[0]:
        for q0, q1 in edges[1]:
            s, t = closest_on_segments(tuple(p0), tuple(p1), tuple(q0), tuple(q1))
            best = min(best, np.linalg.norm(p0 + s * (p1 - p0) - q0 - t * (q1 - q0)))
    return best


@pytest.mark.parametrize("seed", range(40))
def test_the_smallest_gap_is_the_distance_of_the_bodies(seed):
    """Nothing is missed: of convex bodies apart, one contact is their closest pair of points."""
    first = tilted(grid_box((20 * MM, 14 * MM, 17 * MM)), (1, 2, 3), seed)
    second = tilted(grid_box((9 * MM, 11 * MM, 10 * MM)), (3, -1, 1), 0.7 * seed)
    reach = first[0][:, 2].max() - second[0][:, 2].min()
    second = shifted(second, (0, 0, reach + 0.05 * MM))
    found = contacts(first, second, alarm=5 * MM)
    distance = brute_distance(first, second)
    assert distance < 5 * MM, "the test must not be empty"
    assert found.gap.min() == pytest.approx(distance, rel=1e-3)  # the blended normal


def test_swapping_the_bodies_gives_the_same_contacts():
    for seed in range(30):
        first, second = random_meeting(seed)
        one, two = contacts(first, second), contacts(second, first)
        # Two vertices that meet are always told from the first body: compare the rest and all gaps.
        np.testing.assert_allclose(np.sort(one.gap), np.sort(two.gap), atol=1e-12)
        assert np.sum(one.kind == EDGE_EDGE) == np.sum(two.kind == EDGE_EDGE)


def test_several_pairs_follow_each_other():
    cube = grid_box((20 * MM,) * 3, (0, 0, 10.2 * MM))
    ball = sphere(5 * MM, (0, 0, 25.3 * MM))
    bodies = [PLATE, cube, ball]
    ready = [collider(surface_topology(t, len(x)), x) for x, t in bodies]
    found = detect(ready, [x for x, _ in bodies], [(1, 0), (2, 1), (2, 0)], ALARM)
    first = detect(ready, [x for x, _ in bodies], [(1, 0)], ALARM)
    second = detect(ready, [x for x, _ in bodies], [(2, 1)], ALARM)
    assert len(found) == len(first) + len(second)
    np.testing.assert_array_equal(found.gap, np.concatenate([first.gap, second.gap]))
    np.testing.assert_array_equal(found.surface_a, [1] * len(first) + [2] * len(second))
    np.testing.assert_array_equal(found.surface_b, [0] * len(first) + [1] * len(second))


@pytest.mark.parametrize("off", [0.02 * MM, 0.2 * MM])
def test_beside_the_wall_of_a_groove_a_vertex_is_over_its_floor(off):
    """The wall is nearer than the floor, but the vertex does not look at it."""
    plate = lp.shapes.plate_with_groove(0.05 * MM, 10 * MM, 40 * MM, 5 * MM)
    base = [[5.0, 5.0, 0.5], [-5.0, 5.0, 0.5], [-5.0, -5.0, 0.5], [5.0, -5.0, 0.5]]
    pyramid = np.array([[0.0, 0.0, 0.0], *base]) * MM  # flat, on its tip
    faces = np.array([[0, 2, 1], [0, 3, 2], [0, 4, 3], [0, 1, 4], [1, 2, 3], [1, 3, 4]])
    tip = shifted((pyramid, faces), (5 * MM - off, 0, 1e-7))
    found = contacts(tip, (plate.points, plate.triangles), alarm=0.3 * MM)
    of_tip = (found.kind == VERTEX_FACE) & (found.vertices_a[:, 0] == 0)
    assert found.gap[of_tip] == pytest.approx([0.0501 * MM])
    np.testing.assert_allclose(found.normal[of_tip], [[0.0, 0.0, 1.0]], atol=1e-12)
