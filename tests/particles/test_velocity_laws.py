"""Each law's Jacobian is the derivative of its constraint function, and moves nobody as a whole."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from limpet.contact.contacts import EDGE_EDGE, FACE_VERTEX, VERTEX_FACE, Contacts
from limpet.contact.primitive_pairs import Kinematics
from limpet.errors import LimpetError
from limpet.geometry.rotation import rotation_matrix
from limpet.particles import held
from limpet.particles.anchors import anchor_pairs, anchors_at
from limpet.particles.bending import BendingModel, Bends, bending_angles, rest_sizes, wrap_angle
from limpet.particles.distances import Distances, ForceSide, bounds, length_rate
from limpet.particles.point_pairs import CollisionSurfaces, contact_pairs, pair_compliance
from limpet.particles.rows import bend_rows, bending_gradient, distance_rows
from limpet.particles.sweep_points import Velocities, relative_velocities
from limpet.rigid import limited

seeds = st.integers(0, 10**6)


def nodes_only(v, inverse_mass=None):
    mass = np.ones(len(v)) if inverse_mass is None else inverse_mass
    return Velocities(v, mass, np.zeros((0, 6)), np.zeros(0), np.zeros((0, 3, 3)))


def derivative(f, x, h=1e-6):
    out = np.zeros((*x.shape, *np.shape(f(x))))
    for i in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[i] = h
        out[i] = (f(x + step) - f(x - step)) / (2.0 * h)
    return out


@given(seeds)
@settings(max_examples=30, deadline=None)
def test_distance(seed):
    x = np.random.default_rng(seed).normal(size=(2, 3))
    one = np.ones(1)
    of = Distances(np.array([[0, 1]], np.int32), 0.7 * one, -one, one, np.inf * one, 0.0 * one,
                   np.array([0, 1], np.int32))  # fmt: skip
    rows = distance_rows(x, of, np.ones(2), 0.01, 0.1)
    want = derivative(lambda y: np.linalg.norm(y[1] - y[0]) - 0.7, x)
    np.testing.assert_allclose(rows.direction[0], want[1], atol=1e-7)
    np.testing.assert_allclose(-rows.direction[0], want[0], atol=1e-7)
    assert rows.bias[0] == pytest.approx(10.0 * (np.linalg.norm(x[1] - x[0]) - 0.7))


def fold_and_gradient(x, model, size=1.0):
    one = np.array([int(model)], np.int8), np.array([size])
    value, gradient = bending_angles(x, np.arange(4, dtype=np.int32)[None], *one)
    return value[0], gradient[0]


@given(seeds, st.sampled_from(list(BendingModel)))
@settings(max_examples=60, deadline=None)
def test_fold(seed, fold):
    rng = np.random.default_rng(seed)
    x = np.array([[0, 0, 0], [1, 0, 0], [0.4, 0.8, 0], [0.6, -0.9, 0.0]])
    x = x + 0.3 * rng.normal(size=(4, 3))
    size = float(rest_sizes(x, np.arange(4)[None])[0])
    value, g = fold_and_gradient(x, fold, size)

    def off(y):
        change = fold_and_gradient(y, fold, size)[0] - value
        return wrap_angle(change) if fold == BendingModel.ANGLE else change

    scale = max(1.0, np.abs(g).max())
    np.testing.assert_allclose(g, derivative(off, x), atol=1e-5 * scale**2)
    np.testing.assert_allclose(g.sum(axis=0), 0.0, atol=1e-12 * scale)  # no push
    np.testing.assert_allclose(np.cross(x, g).sum(axis=0), 0.0, atol=1e-12 * scale)  # no moment


def test_a_flat_fold_is_felt_by_the_angle_alone():
    x = np.array([[0, 0, 0], [1, 0, 0], [0.5, 0.8, 0], [0.5, -0.8, 0.0]])
    value, g = fold_and_gradient(x, BendingModel.ANGLE)
    assert value == 0.0
    assert abs(g[2, 2]) == pytest.approx(1.0 / 0.8)
    assert fold_and_gradient(x, BendingModel.DOT)[1][2, 2] == 0.0
    x[2, 2] = 0.8 * np.tan(0.5)  # the left side goes up
    assert fold_and_gradient(x, BendingModel.ANGLE)[0] == pytest.approx(-0.5)


@pytest.mark.parametrize("model", list(BendingModel))
def test_rows_of_folds_have_the_gradient_by_all_four_nodes(model):
    rng = np.random.default_rng(3)
    x, w = rng.normal(size=(4, 3)), rng.uniform(0.5, 2.0, 4)
    nodes, one = np.arange(4, dtype=np.int32)[None], np.ones(1)
    kind, rigid = np.array([int(model)], np.int8), np.full(1, np.inf)
    rows = bend_rows(x, Bends(nodes, kind, one, one, -rigid, rigid, rigid, one), w, 0.01, 0.1)
    g = fold_and_gradient(x, model)[1]
    np.testing.assert_allclose(bending_gradient(rows.tip, 0), g, rtol=1e-12)
    assert rows.r[0] == pytest.approx(1.0 / (w @ (g**2).sum(axis=1)))
    assert rows.reach[0] == pytest.approx((w * np.abs(g).sum(axis=1)).max())


def vertex_on_face(rng):
    """x (4, 3): vertex 0 over the face 1, 2, 3; weights of its foot."""
    face = rng.normal(size=(3, 3))
    w = rng.dirichlet([3.0, 3.0, 3.0])
    n = np.cross(face[1] - face[0], face[2] - face[0])
    n /= np.linalg.norm(n)
    gap = 0.1 * rng.random() + 0.01
    return np.vstack([w @ face + gap * n, face]), w, n, gap


def one_contact(x, nodes_a, weights_a, nodes_b, weights_b, gap, normal, kind):
    """Among the nodes of one surface, at x."""
    zero = np.zeros(1, np.int32)
    contact = Contacts(
        zero, zero, np.array([nodes_a], np.int32), np.array([weights_a]),
        np.array([nodes_b], np.int32), np.array([weights_b]), gap * np.ones(1), normal[None],
        np.array([kind], np.int8), np.zeros(1, np.int64),
    )  # fmt: skip
    surfaces = CollisionSurfaces(zero, zero - 1, np.zeros(1), np.full((1, 1), 0.5))
    still = np.zeros((1, 3)), np.zeros((1, 3, 3)), np.zeros((1, 6))
    at = Kinematics(np.array([0, len(x)]), x, np.zeros_like(x), *still)
    return contact_pairs(contact, surfaces, at)[0]


def jacobian(pairs, n):
    """(3, n, 3): how each node's velocity moves the pair, in its frame."""
    out = np.zeros((3, n, 3))
    for i in range(n):
        for d in range(3):
            v = np.zeros((n, 3))
            v[i, d] = 1.0
            out[:, i, d] = pairs.frame[0] @ relative_velocities(pairs, nodes_only(v))[0]
    return out


def normal_of(y, i, j, k):
    n = np.cross(y[j] - y[i], y[k] - y[i])
    return n / np.linalg.norm(n)


@given(seeds, st.booleans())
@settings(max_examples=30, deadline=None)
def test_contact_of_vertex_and_face(seed, face_first):
    x, w, n, gap = vertex_on_face(np.random.default_rng(seed))
    vertex, face, one = [0, 0, 0], [1, 2, 3], [1.0, 0.0, 0.0]
    if face_first:
        pairs = one_contact(x, face, w, vertex, one, gap, -n, FACE_VERTEX)
    else:
        pairs = one_contact(x, vertex, one, face, w, gap, n, VERTEX_FACE)
    sign = -1.0 if face_first else 1.0
    j = jacobian(pairs, 4)

    def distance(y):
        return normal_of(y, 1, 2, 3) @ (y[0] - y[1])

    def slid(y):  # where the vertex is over the face, beyond the point it started over
        away = y[0] - w @ y[1:] - gap * normal_of(y, 1, 2, 3)
        return sign * pairs.frame[0, 1:] @ away

    np.testing.assert_allclose(j[0], derivative(distance, x), atol=1e-6)
    np.testing.assert_allclose(j[1:], np.moveaxis(derivative(slid, x), 2, 0), atol=1e-6)
    assert_moves_nobody(j, x)


@given(seeds)
@settings(max_examples=30, deadline=None)
def test_contact_of_two_edges(seed):
    rng = np.random.default_rng(seed)
    e, f = np.array([1.0, 0.0, 0.0]), np.array([0.5 * rng.normal(), 1.0, 0.0])
    s, t = rng.uniform(0.2, 0.8, size=2)
    gap = 0.02 + 0.1 * rng.random()
    x = np.array([-s * e, (1 - s) * e, -t * f, (1 - t) * f])
    x[:2, 2] += gap
    turn = rotation_matrix(rng.normal(size=3), 2.0)
    x, n = x @ turn.T, turn[:, 2]
    wa, wb = [1 - s, s, 0.0], [1 - t, t, 0.0]
    pairs = one_contact(x, [0, 1, 0], wa, [2, 3, 2], wb, gap, n, EDGE_EDGE)
    j = jacobian(pairs, 4)

    def between(y):
        return normal_of(np.array([y[0] * 0, y[1] - y[0], y[3] - y[2]]), 0, 1, 2)

    def distance(y):
        return between(y) @ (y[0] - y[2]) * np.sign(between(x) @ n)

    def slid(y):
        away = (1 - s) * y[0] + s * y[1] - (1 - t) * y[2] - t * y[3]
        return pairs.frame[0, 1:] @ (away - gap * np.sign(between(x) @ n) * between(y))

    np.testing.assert_allclose(j[0], derivative(distance, x), atol=1e-6)
    np.testing.assert_allclose(j[1:], np.moveaxis(derivative(slid, x), 2, 0), atol=1e-6)
    assert_moves_nobody(j, x)


def assert_moves_nobody(j, x):
    np.testing.assert_allclose(j.sum(axis=1), 0.0, atol=1e-12)
    np.testing.assert_allclose(np.cross(x[None], j).sum(axis=1), 0.0, atol=1e-12)


@given(seeds)
@settings(max_examples=20, deadline=None)
def test_anchor_to_a_rigid_body(seed):
    """u is the rate of the node's place less the body's point, as both move."""
    rng = np.random.default_rng(seed)
    x, centre = rng.normal(size=(1, 3)), rng.normal(size=(1, 3))
    turn = rotation_matrix(rng.normal(size=3), 1.3)[None]
    anchors = anchors_at(x, np.zeros(1, np.int32), -1, 0, centre, turn)
    v, motion = rng.normal(size=(1, 3)), rng.normal(size=(1, 6))

    def apart(t):
        spin = motion[0, 3:]
        turned = rotation_matrix(spin, t * np.linalg.norm(spin)) @ turn[0] if t else turn[0]
        return anchor_pairs(anchors, x + t * v, centre + t * motion[:, :3], turned[None]).gap[0]

    np.testing.assert_allclose(apart(0.0), 0.0, atol=1e-13)
    on = Velocities(v, np.ones(1), motion, np.ones(1), np.eye(3)[None])
    u = relative_velocities(anchor_pairs(anchors, x, centre, turn), on)[0]
    np.testing.assert_allclose(u, (apart(1e-6) - apart(-1e-6)) / 2e-6, atol=1e-8)


@given(seeds)
@settings(max_examples=20, deadline=None)
def test_compliance_is_what_a_unit_impulse_does(seed):
    rng = np.random.default_rng(seed)
    x, w, n, gap = vertex_on_face(rng)
    pairs = one_contact(x, [0, 0, 0], [1.0, 0.0, 0.0], [1, 2, 3], w, gap, n, VERTEX_FACE)
    inverse_mass = rng.uniform(0.5, 2.0, size=4)
    j = jacobian(pairs, 4).reshape(3, -1)
    whole = pair_compliance(pairs, inverse_mass, np.zeros(0), np.zeros((0, 3, 3)))[0]
    np.testing.assert_allclose(whole, j @ np.diag(np.repeat(inverse_mass, 3)) @ j.T, atol=1e-12)


@given(seeds)
@settings(max_examples=20, deadline=None)
def test_length_rate_is_that_of_the_whole_step(seed):
    rng = np.random.default_rng(seed)
    d, h = rng.normal(size=3), 0.02
    u = rng.normal(size=3) * np.linalg.norm(d)
    size = np.linalg.norm(d)
    ours = length_rate(size, u @ d / size, u @ u, h)
    assert ours == pytest.approx((np.linalg.norm(d + h * u) - size) / h, abs=1e-10)


def test_bounds_are_the_three_ways():
    assert bounds(ForceSide.BOTH, 5.0) == (-5.0, 5.0)
    assert bounds(ForceSide.COMPRESSION, 5.0) == (0.0, 5.0)
    assert bounds(ForceSide.STRETCH, 5.0) == (-5.0, 0.0)
    with pytest.raises(LimpetError, match="largest force -1 N"):
        bounds(ForceSide.BOTH, -1.0)


@given(seeds)
@settings(max_examples=30, deadline=None)
def test_limited_and_held_laws_are_zero_at_their_solutions(seed):
    rng = np.random.default_rng(seed)
    w, free, lower, upper = rng.uniform(0.5, 2.0), rng.normal(), -rng.random(), rng.random()
    lam = limited.solve_row(1.0 / w, free, 0.0, lower, upper)
    assert lower <= lam <= upper
    phi, _, _ = limited.row_map(1.0 / w, free + w * lam, lam, lower, upper)
    assert phi == pytest.approx(0.0, abs=1e-14)
    a = rng.normal(size=(3, 3))
    block, u, start, out = a @ a.T + np.eye(3), rng.normal(size=3), rng.normal(size=3), np.empty(3)
    held.solve_held(block, u, start, out)
    np.testing.assert_allclose(u + block @ (out - start), 0.0, atol=1e-12)
