"""Points of a contact surface between bodies of which one at least deforms.

A point rides on a tetrahedron of body a and on one of body b; a rigid body counts as one
tetrahedron, as velocities are affine in it, too. With n the normal and u the velocity of a relative
to b, the pressure at a point rises by k n . u dt: both gradients in series (wrench.py). So the
energy has the second derivative k dA n n^T there, which is what Newton's method takes. For a layer
that is squeezed between two planes this is exact; otherwise it leaves out how normals turn and the
volume inside the surface changes, which may have either sign: by less than RESHAPED times the
energy of a tetrahedron for a gradient 1 of the velocities in it. As much is added, so that a deep
overlap of a stiff field in a soft body does not ask for steps that turn tetrahedra inside out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from limpet.compiled import copy_rows, inner, njit
from limpet.pressure_field.friction_terms import point_friction
from limpet.pressure_field.patch_terms import traction_points
from limpet.pressure_field.surface import ContactSurface

Array = np.ndarray

RESHAPED = 3.0


class SurfacePoints(NamedTuple):
    """Points of a contact surface, and the vertices that carry them."""

    place: Array  # (q, 3) [m]
    normal: Array  # (q, 3) from b to a
    force: Array  # (q,) [N] of the pressure
    stiffness: Array  # (q,) [N/m] along the normal
    rise: Array  # (q,) [Pa/m] of the pressure on approach
    vertex: Array  # (q, 8) int64: four of a, four of b, those counted behind the ones of a
    weight: Array  # (q, 8) of the vertices in the relative velocity: those of b have a minus


def surface_points(
    surface: ContactSurface, modulus: float, large: float,
    x_a: Array, tets_a: Array, x_b: Array, tets_b: Array,
) -> SurfacePoints:  # fmt: skip
    """Three points on each triangle of a polygon above `large` of the area, one on others.

    tets_a (k, 4), tets_b (k, 4): vertices of the tetrahedra that each polygon rides on.
    """
    polygon, rows, stiffness = traction_points(
        surface.area, surface.centroid, surface.pressure, surface.gradient_a, surface.gradient_b,
        surface.start, surface.corners, surface.corner_pressure, modulus, large,
    )  # fmt: skip
    place, normal = np.ascontiguousarray(rows[:, :3]), np.ascontiguousarray(rows[:, 3:6])
    force, rise = rows[:, 6].copy(), rows[:, 7].copy()
    bound = _bound(polygon, place, x_a, tets_a, x_b, tets_b)
    return SurfacePoints(place, normal, force, stiffness, rise, *bound)


@njit(cache=True, error_model="numpy")
def _bound(
    polygon: Array, place: Array, x_a: Array, tets_a: Array, x_b: Array, tets_b: Array
) -> tuple[Array, Array]:
    vertex, weight = np.empty((len(polygon), 8), np.int64), np.empty((len(polygon), 8))
    before = -1
    inverse_a, inverse_b = np.empty((3, 3)), np.empty((3, 3))
    for q in range(len(polygon)):
        k = polygon[q]
        if k != before:
            inverse_a, inverse_b = _inverse(x_a, tets_a[k]), _inverse(x_b, tets_b[k])
            before = k
        for side in range(2):
            tet, x, inverse = (tets_a[k], x_a, inverse_a) if side == 0 else (
                tets_b[k], x_b, inverse_b
            )  # fmt: skip
            first, sign, shift = 4 * side, 1.0 - 2.0 * side, side * len(x_a)
            rest = 1.0
            for c in range(3):
                own = 0.0
                for d in range(3):
                    own += inverse[c, d] * (place[q, d] - x[tet[0], d])
                weight[q, first + c + 1] = sign * own
                rest -= own
            weight[q, first] = sign * rest
            for c in range(4):
                vertex[q, first + c] = tet[c] + shift
    return vertex, weight


@inner(error_model="numpy")
def _inverse(x: Array, tet: Array) -> Array:
    """(3, 3): from a place to barycentric coordinates 1 to 3."""
    edges = np.empty((3, 3))
    for c in range(3):
        for d in range(3):
            edges[d, c] = x[tet[c + 1], d] - x[tet[0], d]
    return np.linalg.inv(edges)


@njit(cache=True, error_model="numpy")
def pressure_stiffness(points: SurfacePoints, size: int) -> Array:
    """(3 size, 3 size) [N/m] over all vertices."""
    out, block = np.zeros((3 * size, 3 * size)), np.empty((3, 3))
    for q in range(len(points.force)):
        n = points.normal[q]
        for c in range(3):
            for d in range(3):
                block[c, d] = points.stiffness[q] * n[c] * n[d]
        _add(out, points.vertex[q], points.weight[q], block)
    return out


@njit(cache=True, error_model="numpy")
def add_stored(out: Array, x: Array, tets: Array, energy: Array, first: int) -> None:
    """Add what the energy (t,) [J] of tets resists their change of shape with, to the stiffness
    over all vertices; those of these tets are at x (v, 3) and counted from `first`.
    """
    gradient = np.empty((4, 3))
    for t in range(len(tets)):
        if energy[t] <= 0.0:
            continue
        copy_rows(_inverse(x, tets[t]), gradient, 1)
        for c in range(3):
            gradient[0, c] = -gradient[1, c] - gradient[2, c] - gradient[3, c]
        for i in range(4):
            for j in range(4):
                k = 0.0
                for c in range(3):
                    k += gradient[i, c] * gradient[j, c]
                p, q = 3 * (first + tets[t, i]), 3 * (first + tets[t, j])
                for c in range(3):
                    out[p + c, q + c] += RESHAPED * energy[t] * k


@njit(cache=True, error_model="numpy")
def friction(
    points: SurfacePoints, velocity: Array, mu: float, damping: float, with_rate: bool
) -> tuple[Array, Array]:
    """Forces (n, 3) [N] on all vertices at velocities (n, 3), and their rate (3 n, 3 n) [N s/m].

    As friction_terms: both bodies' points may move as they like. damping [s/Pa].
    """
    n_all = len(velocity)
    out = np.zeros((n_all, 3))
    rate = np.zeros((3 * n_all, 3 * n_all)) if with_rate else np.zeros((0, 0))
    u, block, force = np.empty(3), np.empty((3, 3)), np.empty(3)
    for q in range(len(points.force)):
        load, n, d = points.force[q], points.normal[q], damping * points.rise[q]
        if load <= 0.0:
            continue
        u[:] = 0.0
        for k in range(8):
            for c in range(3):
                u[c] += points.weight[q, k] * velocity[points.vertex[q, k], c]
        point_friction(u, n, load, mu, d, with_rate, force, block)
        for k in range(8):
            for c in range(3):
                out[points.vertex[q, k], c] += points.weight[q, k] * force[c]
        if with_rate:
            _add(rate, points.vertex[q], points.weight[q], block)
    return out, rate


@njit(cache=True, error_model="numpy", inline="always")
def _add(out: Array, vertex: Array, weight: Array, block: Array) -> None:
    for i in range(8):
        for j in range(8):
            w = weight[i] * weight[j]
            if w != 0.0:
                p, q = 3 * vertex[i], 3 * vertex[j]
                for c in range(3):
                    for d in range(3):
                        out[p + c, q + d] += w * block[c, d]
