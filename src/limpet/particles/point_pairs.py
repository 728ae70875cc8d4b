"""Pairs of points in contact or held together, on nodes and on rigid bodies.

u = sum of weight v[node] + (v + w x r) of rigid body a - the same of b: the velocity of a's point
seen from b's, a vector. Impulses P on a's point and -P on b's. Where the two points lie apart by a
gap along the normal n, with nodes on both sides, the line between them rotates with the faces, and
so does the direction of sliding: `tilt` g has u += g (n . v[node]), and the node gets n (g . P) as
well. Then a rigid rotation makes no sliding, and friction conserves the angular momentum.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from limpet.compiled import inner, njit
from limpet.contact.contacts import EDGE_EDGE, Contacts
from limpet.contact.pipeline import CollisionBody
from limpet.contact.primitive_pairs import Kinematics
from limpet.contact.rows import tangent_pair

Array = np.ndarray

STEEP = 0.2  # cosine (sine) below which a face (two edges) does not define how the normal rotates


class PointPairs(NamedTuple):
    """k pairs of points."""

    start: Array  # (k + 1,) int32: entries of pair c are start[c]:start[c+1]
    node: Array  # (e,) int32
    weight: Array  # (e,) barycentric, positive on a, negative on b
    tilt: Array  # (e, 3) by which the normal rotates with the node
    rigid: Array  # (k, 2) int32: rigid body of a and of b, -1 for none
    arm: Array  # (k, 2, 3) [m] from their centres
    frame: Array  # (k, 3, 3): normal (from b to a), two tangents
    gap: Array  # (k, 3) [m] point of a less point of b, along each of these
    friction: Array  # (k,) mu; unused where points are held


NO_PAIRS = PointPairs(
    np.zeros(1, np.int32), np.zeros(0, np.int32), np.zeros(0), np.zeros((0, 3)),
    np.zeros((0, 2), np.int32), np.zeros((0, 2, 3)), np.zeros((0, 3, 3)),
    np.zeros((0, 3)), np.zeros(0),
)  # fmt: skip


NO_CONTACTS = Contacts.none()


class CollisionSurfaces(NamedTuple):
    """s surfaces that contacts refer to by number."""

    first: Array  # (s,) int32: first node of each, 0 of a rigid one
    rigid: Array  # (s,) int32: number among the rigid bodies, -1: made of nodes
    radius: Array  # (s,) [m] of balls, whose only vertex is the centre; else 0
    friction: Array  # (s, s) mu

    @staticmethod
    def of(bodies: Sequence[CollisionBody], friction: Array) -> CollisionSurfaces:
        return CollisionSurfaces(
            np.array([max(b.first, 0) for b in bodies], np.int32),
            np.array([b.rigid for b in bodies], np.int32),
            np.array([b.radius for b in bodies], float),
            friction,
        )

    def split(self, contacts: Contacts) -> tuple[Contacts, Contacts]:
        """Contacts among rigid bodies, and contacts with nodes."""
        among = (self.rigid[contacts.surface_a] >= 0) & (self.rigid[contacts.surface_b] >= 0)
        count = int(np.count_nonzero(among))
        if count == 0:
            return NO_CONTACTS, contacts
        if among[:count].all():  # as they most often are found
            return contacts.take(slice(0, count)), contacts.take(slice(count, None))
        return contacts.take(among), contacts.take(~among)


@njit(cache=True, error_model="numpy")
def pair_compliance(
    pairs: PointPairs, inverse_mass: Array, rigid_inverse_mass: Array, rigid_inverse_inertia: Array
) -> Array:
    """(k, 3, 3) in each pair's frame: the velocity that a unit impulse makes between its points."""
    k = len(pairs.gap)
    out = np.empty((k, 3, 3))
    w, b = np.empty((3, 3)), np.empty((3, 3))
    for c in range(k):
        n, tilts = pairs.frame[c, 0], pairs.rigid[c, 0] < 0 and pairs.rigid[c, 1] < 0
        w[:] = 0.0
        for e in range(pairs.start[c], pairs.start[c + 1]):
            m, s, g = inverse_mass[pairs.node[e]], pairs.weight[e], pairs.tilt[e]
            for i in range(3):
                w[i, i] += m * s * s
                for j in range(3 if tilts else 0):
                    w[i, j] += m * (s * (n[i] * g[j] + g[i] * n[j]) + g[i] * g[j])
        for side in range(2):
            body = pairs.rigid[c, side]
            if body >= 0 and rigid_inverse_mass[body] > 0.0:
                r, inertia = pairs.arm[c, side], rigid_inverse_inertia[body]
                for i in range(3):
                    w[i, i] += rigid_inverse_mass[body]
                for j in range(3):  # column j: (I^-1 (r x e_j)) x r
                    i1, i2 = (j + 1) % 3, (j + 2) % 3
                    t0 = inertia[0, i1] * r[i2] - inertia[0, i2] * r[i1]
                    t1 = inertia[1, i1] * r[i2] - inertia[1, i2] * r[i1]
                    t2 = inertia[2, i1] * r[i2] - inertia[2, i2] * r[i1]
                    w[0, j] += t1 * r[2] - t2 * r[1]
                    w[1, j] += t2 * r[0] - t0 * r[2]
                    w[2, j] += t0 * r[1] - t1 * r[0]
        f = pairs.frame[c]
        for i in range(3):
            for j in range(3):
                b[i, j] = f[i, 0] * w[0, j] + f[i, 1] * w[1, j] + f[i, 2] * w[2, j]
        for i in range(3):
            for j in range(3):
                out[c, i, j] = b[i, 0] * f[j, 0] + b[i, 1] * f[j, 1] + b[i, 2] * f[j, 2]
    return out


@inner(error_model="numpy")
def _tilt_of_face(x: Array, nodes: Array, n: Array, gap: float, out: Array) -> bool:
    """Tilts (3, 3) of a face's nodes: gap times the slopes of its barycentric weights, across n.

    The face is projected along n; False when n lies nearly in its plane.
    """
    a, b, c = x[nodes[0]], x[nodes[1]], x[nodes[2]]
    area, whole = 0.0, 0.0
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        part = (b[j] - a[j]) * (c[k] - a[k]) - (b[k] - a[k]) * (c[j] - a[j])
        area += n[i] * part
        whole += part * part
    if area * area < STEEP * STEEP * whole or whole == 0.0:
        return False
    for m in range(3):
        p, q = x[nodes[(m + 1) % 3]], x[nodes[(m + 2) % 3]]
        for i in range(3):
            j, k = (i + 1) % 3, (i + 2) % 3
            # slope = n x (edge opposite)/area
            out[m, i] = gap * (n[j] * (q[k] - p[k]) - n[k] * (q[j] - p[j])) / area
    return True


@inner(error_model="numpy")
def _tilt_of_edges(x: Array, a: Array, b: Array, n: Array, gap: float, out: Array) -> bool:
    """Tilts (2, 3) of the far ends of two edges across n; their near ends have the negatives."""
    e, f = x[a[1]] - x[a[0]], x[b[1]] - x[b[0]]
    area = 0.0
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        area += n[i] * (e[j] * f[k] - e[k] * f[j])
    if area * area < STEEP * STEEP * (e @ e) * (f @ f):
        return False
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        out[0, i] = gap * (f[j] * n[k] - f[k] * n[j]) / area
        out[1, i] = gap * (n[j] * e[k] - n[k] * e[j]) / area
    return True


@njit(cache=True, error_model="numpy")
def _entries(
    surface_a, vertices_a, weights_a, surface_b, vertices_b, weights_b, gap, normal, kind,
    start, x, of, edge,
):  # fmt: skip
    """Of each pair: its nodes, their weights and tilts."""
    k = len(gap)
    begin = np.zeros(k + 1, np.int32)
    node, weight, tilt = np.empty(6 * k, np.int32), np.empty(6 * k), np.zeros((6 * k, 3))
    slopes, used = np.empty((3, 3)), 0
    for c in range(k):
        soft_a, soft_b = of.rigid[surface_a[c]] < 0, of.rigid[surface_b[c]] < 0
        slope_a = slope_b = False
        if soft_a and soft_b and gap[c] != 0.0:
            a, b = start[surface_a[c]] + vertices_a[c], start[surface_b[c]] + vertices_b[c]
            if kind[c] == edge:
                slope_a = slope_b = _tilt_of_edges(x, a, b, normal[c], gap[c], slopes)
            else:
                slope_b = b[0] != b[1]  # the face is the side of three nodes
                face = b if slope_b else a
                known = face[0] != face[1] and _tilt_of_face(x, face, normal[c], gap[c], slopes)
                slope_a, slope_b = known and not slope_b, known and slope_b
        for side in range(2):
            if not (soft_a if side == 0 else soft_b):
                continue
            first = of.first[surface_a[c]] if side == 0 else of.first[surface_b[c]]
            vertices = vertices_a[c] if side == 0 else vertices_b[c]
            weights = weights_a[c] if side == 0 else weights_b[c]
            slope = slope_a if side == 0 else slope_b
            for j in range(3):
                if weights[j] == 0.0 and not (slope and (kind[c] != edge or j < 2)):
                    continue
                node[used] = first + vertices[j]
                weight[used] = weights[j] if side == 0 else -weights[j]
                if slope:
                    for i in range(3):
                        if kind[c] != edge:
                            tilt[used, i] = slopes[j, i]
                        else:
                            tilt[used, i] = slopes[side, i] if j == 1 else -slopes[side, i]
                used += 1
        begin[c + 1] = used
    return begin, node[:used].copy(), weight[:used].copy(), tilt[:used].copy()


@njit(cache=True, error_model="numpy")
def _frames(
    surface_a, vertices_a, weights_a, surface_b, vertices_b, weights_b, gap, normal, start, x,
    centre, of,
):  # fmt: skip
    """Of each pair: rigid bodies, arms from their centres, frame, gap, friction; and the point.

    Impulses act at the point of the side that is made of nodes, so that no moment is left over;
    between two rigid surfaces half-way, on a primitive at the vertex, or on the ball round it.
    """
    k = len(gap)
    rigid, arm, point = np.empty((k, 2), np.int32), np.empty((k, 2, 3)), np.empty((k, 3))
    frame, gaps, friction = np.empty((k, 3, 3)), np.zeros((k, 3)), np.empty(k)
    for c in range(k):
        a, b = surface_a[c], surface_b[c]
        rigid[c, 0], rigid[c, 1], gaps[c, 0] = of.rigid[a], of.rigid[b], gap[c]
        friction[c] = of.friction[a, b]
        share, radius = 1.0, 0.0
        if rigid[c, 0] >= 0:
            if rigid[c, 1] < 0:
                share = 0.0
            elif weights_b[c, 0] != 0.0 or weights_b[c, 1] != 0.0 or weights_b[c, 2] != 0.0:
                share = 0.5
            else:
                radius = of.radius[a]
        for i in range(3):
            on_a = on_b = 0.0
            for j in range(3):
                if share > 0.0 and weights_a[c, j] != 0.0:
                    on_a += weights_a[c, j] * x[start[a] + vertices_a[c, j], i]
                if share < 1.0 and weights_b[c, j] != 0.0:
                    on_b += weights_b[c, j] * x[start[b] + vertices_b[c, j], i]
            frame[c, 0, i] = normal[c, i]
            point[c, i] = share * on_a + (1.0 - share) * on_b - radius * normal[c, i]
            arm[c, 0, i] = point[c, i] - centre[a, i]
            arm[c, 1, i] = point[c, i] - centre[b, i]
        tangent_pair(frame[c, 0], frame[c, 1], frame[c, 2])
    return rigid, arm, frame, gaps, friction, point


def contact_pairs(
    contacts: Contacts, surfaces: CollisionSurfaces, at: Kinematics
) -> tuple[PointPairs, Array]:
    """Pairs of points of the contacts, and where their impulses act (k, 3) [m]."""
    if len(contacts.gap) == 0:
        return NO_PAIRS, np.zeros((0, 3))
    c = contacts
    sides = c.surface_a, c.vertices_a, c.weights_a, c.surface_b, c.vertices_b, c.weights_b
    normal = np.ascontiguousarray(c.normal)
    entries = _entries(*sides, c.gap, normal, c.kind, at.start, at.x, surfaces, EDGE_EDGE)
    *frames, point = _frames(*sides, c.gap, normal, at.start, at.x, at.centre, surfaces)
    return PointPairs(*entries, *frames), point
