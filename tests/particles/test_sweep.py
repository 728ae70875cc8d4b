"""The matrix-free sweep against the dense one, and what impulses conserve."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from limpet.contact.contacts import EDGE_EDGE, VERTEX_FACE, Contacts
from limpet.contact.law import KIND as CONTACT
from limpet.contact.primitive_pairs import Kinematics
from limpet.dynamics.constraint_set import DATA
from limpet.geometry.rotation import rotation_matrix
from limpet.particles.anchors import anchors_at
from limpet.particles.bending import Bends, bending_angles, rest_sizes
from limpet.particles.chains import chains
from limpet.particles.constraints import ParticleConstraints, RigidPoses
from limpet.particles.distances import Distances
from limpet.particles.held import KIND as HELD
from limpet.particles.meshes import cloth, grid_edges
from limpet.particles.point_pairs import NO_PAIRS, CollisionSurfaces, contact_pairs
from limpet.particles.rows import distance_rows
from limpet.particles.sweep import (
    Impulses,
    Velocities,
    begin,
    bounded,
    decay,
    reactions,
    rigid_reactions,
    sweep,
    warm_start,
)
from limpet.particles.sweep_lines import (
    STEADY,
    apply_distance_impulses,
    limit_tension,
    stretches,
    sweep_ends,
)
from limpet.rigid.limited import KIND as LIMITED
from limpet.solver.gauss_seidel import sweep as dense_sweep

H = 1e-9  # so short that lengths change with the rate along them alone: rows are linear
N, B = 14, 3


def world(seed, gap=1e-2 * H):
    """Nodes and rigid bodies with every kind of row between them."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(N, 3))
    soft = _contacts(rng, x, [(-1, 0), (-1, 1), (-1, -1), (-1, -1)], gap)
    centre = rng.normal(size=(B, 3))
    turn = np.stack([rotation_matrix(rng.normal(size=3), rng.random()) for _ in range(B)])
    a = rng.normal(size=(B, 3, 3))
    inertia = np.einsum("bij,bkj->bik", a, a) + np.eye(3)
    on = Velocities(
        rng.normal(size=(N, 3)), rng.uniform(0.5, 2.0, N), rng.normal(size=(B, 6)),
        rng.uniform(0.2, 1.0, B), np.linalg.inv(inertia),
    )  # fmt: skip
    pairs = np.array([rng.permutation(N)[:2] for _ in range(12)], np.int32)
    lower, upper = -rng.uniform(0.1, 3.0, 12), rng.uniform(0.1, 3.0, 12)
    hard = np.where(rng.random(12) < 0.7, np.inf, 1e9)
    length = np.linalg.norm(x[pairs[:, 1]] - x[pairs[:, 0]], axis=1)
    rest = length + H * rng.normal(size=12)
    one_by_one = np.arange(13, dtype=np.int32)
    distances = Distances(pairs, rest, lower / H, upper / H, hard, np.zeros(12), one_by_one)
    quads = np.array([rng.permutation(N)[:4] for _ in range(6)], np.int32)
    kind, size = np.array([0, 1, 0, 1, 0, 0], np.int8), rest_sizes(x, quads)
    value, _ = bending_angles(x, quads, kind, size)
    six = np.ones(6)
    bends = Bends(quads, kind, size, value + 0.1 * H, -six / H, six / H, np.inf * six, 0.0 * six)
    nodes, poses = np.array([2, 5], np.int32), RigidPoses(centre, turn)
    anchors = [
        anchors_at(x[nodes], nodes, -1, 1, centre, turn),
        anchors_at(rng.normal(size=(1, 3)), np.array([-1]), 0, 2, centre, turn),
    ]
    stack = ParticleConstraints.of([distances], [bends], anchors)
    rigid = _contacts(rng, x, [(0, 1), (2, 1)], gap)
    # surface 0 has the nodes, surface 1 + i the rigid body i with vertices of its own
    at = Kinematics(
        N * np.arange(B + 2), np.concatenate([x, rng.normal(size=(B * N, 3))]),
        np.zeros(((B + 1) * N, 3)), np.concatenate([np.zeros((1, 3)), centre]),
        np.zeros((B + 1, 3, 3)), np.zeros((B + 1, 6)),
    )  # fmt: skip
    number, friction = np.arange(-1, B, dtype=np.int32), np.full((B + 1, B + 1), 0.4)
    surfaces = CollisionSurfaces(np.zeros(B + 1, np.int32), number, np.zeros(B + 1), friction)
    pairs = [contact_pairs(contacts, surfaces, at)[0] for contacts in (rigid, soft)]
    return x, poses, on, stack, *pairs


def _contacts(rng, x, sides, size):
    """Vertices on faces and edges on edges by turns; of nodes alone they are moved to touch."""
    k = len(sides)
    normal = rng.normal(size=(k, 3))
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    rigid, gap = np.array(sides, np.int32), size * rng.normal(size=k)
    kind = np.where(np.arange(k) % 2 == 1, EDGE_EDGE, VERTEX_FACE).astype(np.int8)
    a, b = np.empty((k, 3), np.int32), np.empty((k, 3), np.int32)
    wa, wb = np.zeros((k, 3)), np.zeros((k, 3))
    for c in range(k):
        nodes = np.arange(6, 10) if kind[c] == VERTEX_FACE else np.arange(10, 14)
        if rigid[c].max() >= 0:
            nodes = rng.permutation(6)[:4]
        s, t = rng.uniform(0.2, 0.8, size=2)
        if kind[c] == VERTEX_FACE:
            a[c], wa[c], b[c], wb[c] = nodes[0], [1, 0, 0], nodes[1:], rng.dirichlet(np.ones(3))
        else:
            a[c], wa[c] = nodes[[0, 1, 0]], [1 - s, s, 0]
            b[c], wb[c] = nodes[[2, 3, 2]], [1 - t, t, 0]
        if rigid[c].max() < 0:
            one, two = (b[c, 0], b[c, 0]) if kind[c] == VERTEX_FACE else (a[c, 0], b[c, 0])
            far = b[c, 2] if kind[c] == VERTEX_FACE else b[c, 1]
            near = b[c, 1] if kind[c] == VERTEX_FACE else a[c, 1]
            across = np.cross(x[near] - x[one], x[far] - x[two])
            normal[c] = across / np.linalg.norm(across)
            x[np.unique(a[c])] += wb[c] @ x[b[c]] + gap[c] * normal[c] - wa[c] @ x[a[c]]
    wb[rigid[:, 1] >= 0] = 0.0  # a primitive
    return Contacts(rigid[:, 0] + 1, rigid[:, 1] + 1, a, wa, b, wb, gap, normal, kind, np.arange(k))


def copies(on):
    return Velocities(*(a.copy() for a in on))


def zeros(stack, rigid, soft):
    return stack.zeros(len(rigid.gap), len(soft.gap))


def jacobian(rows, p):
    """(r, 3 N + 6 B), by unit impulses; rows in the order of `Impulses`."""
    out = []
    for field in range(len(p)):
        for i in range(p[field].size):
            unit = Impulses(*(np.zeros_like(q) for q in p))
            unit[field].reshape(-1)[i] = 1.0
            impulse, wrench = reactions(rows, unit, N, B)
            out.append(np.concatenate([impulse.ravel(), wrench.ravel()]))
    return np.array(out)


@pytest.mark.parametrize("seed", range(5))
def test_same_as_the_dense_sweep(seed):
    x, poses, on, stack, rigid, soft = world(seed)
    rows = stack.rows(x, poses, on, rigid, soft, H, 0.1)
    p = zeros(stack, rigid, soft)
    j = jacobian(rows, p)
    mobility = np.zeros((3 * N + 6 * B,) * 2)
    mobility[: 3 * N, : 3 * N] = np.diag(np.repeat(on.inverse_mass, 3))
    for b in range(B):
        s = 3 * N + 6 * b
        mobility[s : s + 3, s : s + 3] = on.rigid_inverse_mass[b] * np.eye(3)
        mobility[s + 3 : s + 6, s + 3 : s + 6] = on.rigid_inverse_inertia[b]
    compliance = [np.zeros(q.size) for q in p]
    compliance[2], compliance[3] = rows.distances.compliance, rows.bends.compliance
    w = j @ mobility @ j.T + np.diag(np.concatenate(compliance))
    bias = np.concatenate(
        [rows.rigid_held.bias.ravel(), rows.rigid_contacts.bias.ravel(), rows.distances.bias,
         rows.bends.bias, rows.held.bias.ravel(), rows.contacts.bias.ravel()]
    )  # fmt: skip
    u = j @ np.concatenate([on.v.ravel(), on.rigid_v.ravel()]) + bias
    kind, size, data = [], [], []
    for field, law in zip(range(6), (HELD, CONTACT, LIMITED, LIMITED, HELD, CONTACT)):
        for i in range(len(p[field])):
            kind.append(law)
            size.append(1 if law == LIMITED else 3)
            row = np.zeros(DATA)
            if law == CONTACT:
                row[0] = 0.4
            if law == LIMITED:
                own = rows.distances if field == 2 else rows.bends
                row[:2] = own.lower[i], own.upper[i]
            data.append(row)
    start, lam = np.concatenate([[0], np.cumsum(size)]).astype(np.int32), np.zeros(len(u))
    dense_sweep(w, np.array(kind, np.int32), start, np.array(data), H, lam, u, 7)
    moved = copies(on)
    swept = sweep(rows, p, moved, H, 7)
    assert swept.sweeps == 7
    ours = np.concatenate([q.ravel() for q in p])
    np.testing.assert_allclose(ours, lam, rtol=0, atol=1e-7 * np.abs(lam).max())
    change = mobility @ j.T @ ours
    np.testing.assert_allclose(moved.v.ravel(), on.v.ravel() + change[: 3 * N], atol=1e-12)
    np.testing.assert_allclose(
        moved.rigid_v.ravel(), on.rigid_v.ravel() + change[3 * N :], atol=1e-12
    )


def momenta(x, poses, on):
    """Linear and angular momentum about the origin."""
    push = (on.v / on.inverse_mass[:, None]).sum(axis=0)
    turn = np.cross(x, on.v / on.inverse_mass[:, None]).sum(axis=0)
    for b in range(B):
        m = on.rigid_v[b, :3] / on.rigid_inverse_mass[b]
        push = push + m
        turn = turn + np.cross(poses.centre[b], m)
        turn = turn + np.linalg.solve(on.rigid_inverse_inertia[b], on.rigid_v[b, 3:])
    return np.concatenate([push, turn])


@pytest.mark.parametrize("seed", range(5))
def test_all_rows_together_keep_momentum_and_angular_momentum(seed):
    x, poses, on, stack, rigid, soft = world(seed, gap=0.05)
    assert np.abs(soft.tilt).max() > 1e-3  # the lines between faces are as long as to matter
    before = momenta(x, poses, on)
    rows = stack.rows(x, poses, on, rigid, soft, 0.01, 0.1)
    p, energy = zeros(stack, rigid, soft), 0.0
    sweep(rows, p, on, 0.01, 30)
    energy = sum(float(np.abs(q).sum()) for q in p)
    assert energy > 1.0  # something was done
    np.testing.assert_allclose(momenta(x, poses, on), before, rtol=0, atol=1e-10)


def test_a_warm_start_begins_where_the_sweeps_ended():
    x, poses, on, stack, rigid, soft = world(1)
    rows = stack.rows(x, poses, on, rigid, soft, H, 0.1)
    p, one = zeros(stack, rigid, soft), copies(on)
    sweep(rows, p, one, H, 9)
    two = copies(on)
    warm_start(rows, p, two)
    np.testing.assert_allclose(two.v, one.v, atol=1e-12)
    np.testing.assert_allclose(two.rigid_v, one.rigid_v, atol=1e-12)


def test_the_same_input_gives_the_same_bits():
    ends = []
    for _ in range(2):
        x, poses, on, stack, rigid, soft = world(2)
        rows = stack.rows(x, poses, on, rigid, soft, 0.01, 0.1)
        p = zeros(stack, rigid, soft)
        sweep(rows, p, on, 0.01, 5)
        ends.append((on.v, p.contacts))
    for a, b in zip(*ends):
        np.testing.assert_array_equal(a, b)


def test_sweeps_end_at_the_tolerance():
    x, poses, on, stack, _, _ = world(3)
    none = NO_PAIRS
    rows = stack.rows(x, poses, on, none, none, H, 0.1)
    swept = sweep(rows, zeros(stack, none, none), on, H, 5000, tolerance=1e-4)
    assert swept.sweeps < 5000
    assert swept.change[-1] <= 1e-4 < swept.change[-2]
    assert swept.rms[-1] < swept.rms[0]


def test_a_thread_is_solved_at_once():
    """A chain from a held node, all rows met to 0.1 % in one sweep; one by one they would not be.

    Chains are softened a little, for those between two held nodes; a second sweep takes that back.
    """
    n = 30
    rng = np.random.default_rng(5)
    x = np.cumsum(rng.normal(size=(n + 1, 3)) + np.array([0.0, 0.0, -2.0]), axis=0)
    nodes = np.stack([np.arange(n), np.arange(1, n + 1)], axis=1).astype(np.int32)
    length, many = np.linalg.norm(np.diff(x, axis=0), axis=1), np.ones(n)
    left = {}
    for name, chain in (("together", [0, n]), ("one by one", list(range(n + 1)))):
        rows = Distances(
            nodes, length, -np.inf * many, np.inf * many, np.inf * many, 0.0 * many,
            np.array(chain, np.int32),
        )  # fmt: skip
        mass = np.ones(n + 1)
        mass[0] = 0.0
        v = np.tile([0.0, 0.0, -1.0], (n + 1, 1))
        v[0] = 0.0
        on = Velocities(v, mass, np.zeros((0, 6)), np.zeros(0), np.zeros((0, 3, 3)))
        stack, none = ParticleConstraints.of([rows], [], []), NO_PAIRS
        made = stack.rows(
            x, RigidPoses(np.zeros((0, 3)), np.zeros((0, 3, 3))), on, none, none, H, 0.1
        )
        p = stack.zeros(0, 0)
        for sweeps in (1, 2):
            sweep(made, p, on, H, 1)
            u = np.einsum("ki,ki->k", made.distances.direction, np.diff(on.v, axis=0))
            left[name, sweeps] = np.abs(u).max()
    assert left["together", 1] < 1e-3
    assert left["together", 2] < 1e-6
    assert left["one by one", 1] > 0.05  # [m/s] of the 1 m/s that the far end falls with


def test_threads_are_simple_chains_of_all_edges():
    mesh = cloth(1.0, 0.6, (5, 3))
    for edges in (grid_edges(mesh, (5, 3)), mesh.edges):
        order, flip, start = chains(mesh.points, edges)
        assert sorted(order) == list(range(len(edges)))
        for a, b in pairwise(start):
            chain = np.where(flip[a:b, None], edges[order[a:b], ::-1], edges[order[a:b]])
            np.testing.assert_array_equal(chain[1:, 0], chain[:-1, 1])
            assert len(set(chain.ravel().tolist())) == b - a + 1
    _, _, start = chains(mesh.points, grid_edges(mesh, (5, 3)))
    assert len(start) - 1 == 6 + 4  # every row and column of the weave is one chain


def chain(n=6, seed=3):
    """A crooked chain of n edges: rows, positions and velocities."""
    rng = np.random.default_rng(seed)
    x = np.cumsum(rng.uniform(0.1, 0.3, size=(n + 1, 3)), axis=0)
    nodes = np.stack([np.arange(n), np.arange(1, n + 1)], axis=1).astype(np.int32)
    rest = np.linalg.norm(x[1:] - x[:-1], axis=1) * rng.uniform(0.9, 1.1, n)
    free = np.full(n, np.inf)
    of = Distances(nodes, rest, -free, free, free, np.zeros(n), np.array([0, n], np.int32))
    inverse_mass = rng.uniform(0.5, 2.0, n + 1)
    return of, x, rng.normal(size=(n + 1, 3)), inverse_mass


def test_taut_threads_are_calmed_as_the_implicit_tension_would():
    """(m + h^2 K) v' = m v against a dense solve; slack edges and the steady share take no part."""
    of, x, v, w = chain()
    h = 0.1
    rows = distance_rows(x, of, w, h, 0.1)
    p = -np.array([5.0, 2.0, -1.0, 8.0, 1e-3, 3.0])  # the third pushes, the fifth is slow
    whole = np.diag(1.0 / w)
    for c, (i, j) in enumerate(of.nodes):
        k = max(-h * p[c] / rows.length[c] - STEADY / max(w[i], w[j]), 0.0)
        whole[[i, j, i, j], [i, j, j, i]] += [k, k, -k, -k]
    want = np.linalg.solve(whole, v / w[:, None])
    out = v.copy()
    limit_tension(rows, p, h, out, w)
    np.testing.assert_allclose(out, want, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose((1.0 / w) @ out, (1.0 / w) @ v, rtol=1e-12)
    assert np.abs(out - v).max() > 0.1
    slow = v.copy()
    limit_tension(rows, 1e-4 * p, h, slow, w)
    np.testing.assert_array_equal(slow, v)


def test_edges_end_up_along_their_impulse_at_their_length():
    """Each alone, exactly; from any guess, and without a change of momentum."""
    of, x, v, w = chain()
    h, one = 0.1, Distances(*(f[:1] for f in of[:-1]), np.array([0, 1], np.int32))
    rows = distance_rows(x, one, w, h, 0.1)
    rows.bias[:], rows.rest[:] = 0.0, rows.length
    p, free = np.array([-0.7]), v.copy()
    apply_distance_impulses(rows, p, v, w)  # the guess, along the direction at the start
    sweep_ends(rows, p, h, v, w)
    i, j = one.nodes[0]
    d = (x + h * v)[j] - (x + h * v)[i]
    assert np.linalg.norm(d) == pytest.approx(rows.rest[0], rel=1e-12)
    np.testing.assert_allclose((v - free)[j], w[j] * p[0] * rows.direction[0], atol=1e-14)
    np.testing.assert_allclose(rows.direction[0], d / np.linalg.norm(d), atol=1e-14)
    np.testing.assert_allclose((1.0 / w) @ v, (1.0 / w) @ free, rtol=1e-12, atol=1e-12)
    before = v.copy()
    assert sweep_ends(rows, p, h, v, w)[0] < 1e-12
    np.testing.assert_allclose(v, before, atol=1e-12)


def test_how_far_edges_will_be_off():
    of, x, v, w = chain()
    h = 0.05
    rows = distance_rows(x, of, w, h, 0.1)
    y = x + h * v
    off = np.linalg.norm(y[1:] - y[:-1], axis=1) / of.rest - 1.0
    worst, p = np.abs(off).max(), np.zeros(len(off))
    assert stretches(rows, p, h, v, 0.999 * worst) and not stretches(rows, p, h, v, 1.001 * worst)
    most = int(np.abs(off).argmax())
    upper = np.where(np.arange(len(off)) == most, 0.0, np.inf)  # it bears no more than it does
    kept = rows._replace(lower=-upper, upper=upper)
    others = np.delete(np.abs(off), most).max()
    assert stretches(kept, p, h, v, 0.999 * others) and not stretches(kept, p, h, v, 1.001 * others)


@pytest.mark.parametrize("seed", range(3))
def test_rigid_bodies_bear_what_reaches_them(seed):
    x, poses, on, stack, rigid, soft = world(seed)
    rows = stack.rows(x, poses, on, rigid, soft, H, 0.1)
    rng = np.random.default_rng(seed)
    p = Impulses(*(rng.normal(size=q.shape) for q in zeros(stack, rigid, soft)))
    _, wrench = reactions(rows, p, N, B)
    np.testing.assert_allclose(rigid_reactions(rows, p, B), wrench, rtol=0.0, atol=1e-13)


def test_a_solve_begins_from_a_share_of_what_is_known():
    x, poses, on, stack, rigid, soft = world(1)
    rows = stack.rows(x, poses, on, rigid, soft, H, 0.1)
    rng = np.random.default_rng(1)
    p = Impulses(*(rng.normal(size=q.shape) for q in zeros(stack, rigid, soft)))
    q, want = Impulses(*(a.copy() for a in p)), copies(on)
    for a in (q.distances, q.bends, q.held.reshape(-1), q.contacts.reshape(-1)):
        decay(a, 0.9)
    warm_start(rows, q, want)
    limit_tension(rows.distances, q.distances, H, want.v, want.inverse_mass)

    begin(rows, p, on, H, 0.9, False)

    for a, b in zip((*p, on.v, on.rigid_v), (*q, want.v, want.rigid_v)):
        np.testing.assert_array_equal(a, b)
    assert bounded(on, 1e4)
    on.v[3, 1] = np.nan
    assert not bounded(on, 1e4)
