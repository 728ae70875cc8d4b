"""What a pressure field does that deforms: the exact gradient of its potential energy.

Two bodies have U = integral of min(t(p_a), t(p_b)) over the volume that they share, in the deformed
configuration (F eq 1; t: see patch_terms). The pressure p_a of a vertex moves with the material. If
that moves by w(x), p_a changes by -w . grad p_a where it is, so

    -dU = integral of w . grad t(p_a) over the volume that a is displaced from (p_a < p_b),

and the force on a vertex is the integral of its shape function times grad t(p_a). The surface of
equal pressure moves too, but there both pressures are the same, so that adds nothing. By the
divergence theorem this is the traction t n on that surface, less t div w inside: the part that a
rigid body does not have. Force and moment on the other body are opposite, as a rigid w has div 0.

Exact up to round-off: U, its gradient, and the balance of forces and moments, for linear tetrahedra
that keep their sense. Inverted ones have no pressure. Not exact, as it is for Newton's method only:
the second derivative, see point_terms.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from limpet.compiled import copy, copy_rows, inner, njit
from limpet.pressure_field.fields import FieldGeometry, HalfSpace, PressureField, RigidSurface
from limpet.pressure_field.packed import CORNERS, FACES, SLOPE
from limpet.pressure_field.patch_terms import CORE, LOCKING
from limpet.pressure_field.surface import Pose

Array = np.ndarray

MOST = 1024  # parts of a tetrahedron that is clipped by the planes of another
FLAT = 1e-15  # of the size cubed: a cone without volume


class ConvexCells(NamedTuple):
    """A body as convex parts that add up to it, some perhaps with a minus."""

    planes: Array  # (m, f, 4) outward unit normal, offset [m]
    slope: Array  # (m, 4) pressure as slope[:3] . x + slope[3] [Pa]; inf: rigid
    sign: Array  # (m,) +1 or -1
    boxes: Array  # (m, 6) [m] lower and upper corner of each


def convex_cells(body: FieldGeometry) -> ConvexCells:
    """In the frame of the body. A rigid surface has cones from its middle to each triangle."""
    if isinstance(body, HalfSpace):
        slope, k = np.full(4, np.inf), body.stiffness
        if np.isfinite(k):
            slope = np.append(-k * body.normal, k * body.offset)
        plane = np.append(body.normal, body.offset)[None, None]
        everywhere = np.array([[-np.inf] * 3 + [np.inf] * 3])
        return ConvexCells(plane, slope[None], np.ones(1), everywhere)
    if isinstance(body, PressureField):
        planes = np.ascontiguousarray(body.cells[:, FACES:CORNERS]).reshape(-1, 4, 4)
        slope = np.ascontiguousarray(body.cells[:, SLOPE : SLOPE + 4])
        corners, sign = body.points[body.tets], np.ones(len(body.tets))
    else:
        planes, slope, corners, sign = _cones(body)
    boxes = np.hstack([corners.min(axis=1), corners.max(axis=1)])
    return ConvexCells(planes, slope, sign, boxes)


def _cones(body: RigidSurface) -> tuple[Array, Array, Array, Array]:
    tip = np.broadcast_to(body.points.mean(axis=0), (len(body.triangles), 1, 3))
    corners = np.concatenate([tip, body.points[body.triangles]], axis=1)
    size = np.linalg.det(corners[:, 1:] - corners[:, :1])
    full = np.abs(size) > FLAT * np.ptp(body.points, axis=0).max() ** 3
    corners, sign = corners[full], np.sign(size[full])
    planes = np.empty((len(corners), 4, 4))
    for k in range(4):
        a, b, c = (corners[:, (k + i) % 4] for i in (1, 2, 3))
        normal = np.cross(b - a, c - a)
        normal /= np.linalg.norm(normal, axis=1)[:, None]
        normal *= -np.sign(np.einsum("ij,ij->i", normal, corners[:, k] - a))[:, None]
        planes[:, k, :3], planes[:, k, 3] = normal, np.einsum("ij,ij->i", normal, a)
    return planes, np.full((len(corners), 4), np.inf), corners, sign


def placed(cells: ConvexCells, pose: Pose) -> ConvexCells:
    """In the world."""
    return ConvexCells(*_placed(*cells, *pose))


@njit(cache=True)
def _placed(
    planes: Array, slope: Array, sign: Array, boxes: Array, r: Array, t: Array
) -> tuple[Array, Array, Array, Array]:
    out_planes, out_slope = np.empty_like(planes), np.empty_like(slope)
    out_boxes = np.empty_like(boxes)
    for i in range(len(sign)):
        for f in range(planes.shape[1]):
            shift = 0.0
            for k in range(3):
                n = 0.0
                for c in range(3):
                    n += r[k, c] * planes[i, f, c]
                out_planes[i, f, k] = n
                shift += n * t[k]
            out_planes[i, f, 3] = planes[i, f, 3] + shift
        if np.isinf(slope[i, 3]):
            out_slope[i] = np.inf
        else:
            shift = 0.0
            for k in range(3):
                n = 0.0
                for c in range(3):
                    n += r[k, c] * slope[i, c]
                out_slope[i, k] = n
                shift += n * t[k]
            out_slope[i, 3] = slope[i, 3] - shift
        if np.isinf(boxes[i, 3]):
            copy(boxes[i], out_boxes[i])
            continue
        for k in range(3):
            middle, half = t[k], 0.0
            for c in range(3):
                middle += r[k, c] * 0.5 * (boxes[i, c] + boxes[i, 3 + c])
                half += abs(r[k, c]) * 0.5 * (boxes[i, 3 + c] - boxes[i, c])
            out_boxes[i, k], out_boxes[i, 3 + k] = middle - half, middle + half
    return out_planes, out_slope, sign, out_boxes


@njit(cache=True, error_model="numpy")
def displaced(
    x: Array, tets: Array, pressure: Array, modulus: float, other: ConvexCells
) -> tuple[Array, Array]:
    """Forces (n, 3) [N] on the vertices x (n, 3) of a field, and the energy (m,) [J] of each tet.

    modulus [Pa]: the lower one of both bodies. Where the pressures are equal over a volume, either
    body may count: here the one that is asked first has none of it (p_a < p_b).
    """
    force, energy = np.zeros_like(x), np.zeros(len(tets))
    parts, spare = np.empty((MOST, 4, 4)), np.empty((MOST, 4, 4))
    value, gradient, share = np.empty((5, 4)), np.empty(3), np.empty(4)
    low, high = np.empty(3), np.empty(3)
    for i in range(len(tets)):
        for c in range(3):
            low[c], high[c] = np.inf, -np.inf
            for k in range(4):
                low[c] = min(low[c], x[tets[i, k], c])
                high[c] = max(high[c], x[tets[i, k], c])
        six = _pressure_gradient(x, tets[i], pressure, gradient)
        if six <= 0.0:
            continue
        for j in range(len(other.sign)):
            apart = False
            for c in range(3):
                apart |= low[c] > other.boxes[j, 3 + c] or high[c] < other.boxes[j, c]
            if apart:
                continue
            cuts = _cuts(x, tets[i], pressure, other.slope[j], other.planes[j], value)
            if cuts < 0:
                continue
            count = 1
            for a in range(4):
                for k in range(4):
                    parts[0, a, k] = 1.0 if a == k else 0.0
            for cut in range(cuts):
                count = _clip(parts, count, value[cut], spare)
            for part in range(count):
                volume = other.sign[j] * six / 6.0 * _share_of_volume(parts[part])
                energy[i] += volume * _integrate(parts[part], tets[i], pressure, modulus, share)
                for k in range(4):
                    for c in range(3):
                        force[tets[i, k], c] += volume * share[k] * gradient[c]
    return force, energy


@njit(cache=True, error_model="numpy", inline="always")
def _cuts(x: Array, tet: Array, pressure: Array, slope: Array, planes: Array, out: Array) -> int:
    """Fill values (c, 4) at the corners of a tet, below 0 inside, of the planes that cut it.

    Returns how many there are; -1: one of them has all of the tet outside.
    """
    cuts = 0
    for f in range(-1, len(planes)):
        if f < 0 and slope[3] == np.inf:
            continue
        below, above = True, True
        for k in range(4):
            v = tet[k]
            if f < 0:
                at = pressure[v] - slope[3]
                for c in range(3):
                    at -= slope[c] * x[v, c]
            else:
                at = -planes[f, 3]
                for c in range(3):
                    at += planes[f, c] * x[v, c]
            out[cuts, k] = at
            below &= at < 0.0
            above &= at >= 0.0
        if above:
            return -1
        if not below:
            cuts += 1
    return cuts


@inner(error_model="numpy")
def _pressure_gradient(x: Array, tet: Array, pressure: Array, out: Array) -> float:
    """Fill the gradient (3,) [Pa/m] of a tet, and return six times its volume [m^3]."""
    a, b, c, d = tet[0], tet[1], tet[2], tet[3]
    e, p = np.empty((3, 3)), (pressure[b], pressure[c], pressure[d])
    for k in range(3):
        e[0, k], e[1, k], e[2, k] = x[b, k] - x[a, k], x[c, k] - x[a, k], x[d, k] - x[a, k]
    six = 0.0
    out[:] = 0.0
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        for n in range(3):
            u, w = (n + 1) % 3, (n + 2) % 3
            cross = e[j, u] * e[k, w] - e[j, w] * e[k, u]
            out[n] += (p[i] - pressure[a]) * cross
            if i == 0:
                six += e[0, n] * cross
    for n in range(3):
        out[n] /= six
    return six


@njit(cache=True, error_model="numpy", inline="always")
def _share_of_volume(part: Array) -> float:
    """Volume of a part over that of its tet, from barycentric coordinates (4, 4) of its corners."""
    x, y, z = part[0, 1], part[0, 2], part[0, 3]
    ax, ay, az = part[1, 1] - x, part[1, 2] - y, part[1, 3] - z
    bx, by, bz = part[2, 1] - x, part[2, 2] - y, part[2, 3] - z
    cx, cy, cz = part[3, 1] - x, part[3, 2] - y, part[3, 3] - z
    return abs(ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx))


@njit(cache=True, error_model="numpy", inline="always")
def _integrate(part: Array, tet: Array, pressure: Array, modulus: float, share: Array) -> float:
    """Mean of t over a part; fills the means (4,) of dt/dp times the shape functions of its tet.

    x = 1 - (1 - CORE) p / modulus is linear, so the mean of x^-4 is one over the product of its
    corner values, and that of x^-5 times a barycentric coordinate a fourth of this over x there.
    """
    left, mean, product = np.empty(4), 0.0, 1.0
    for a in range(4):
        p = 0.0
        for k in range(4):
            p += part[a, k] * pressure[tet[k]]
        mean += 0.25 * p
        left[a] = 1.0 - (1.0 - CORE) * min(max(p, 0.0) / modulus, 1.0)
        product /= left[a]
    share[:] = 0.0
    for a in range(4):
        weight = 0.25 + LOCKING * (1.0 - CORE) * (product / left[a] - 1.0)
        for k in range(4):
            share[k] += weight * part[a, k]
    return mean + LOCKING * (modulus * (product - 1.0) - 4.0 * (1.0 - CORE) * mean)


@inner(error_model="numpy")
def _clip(parts: Array, count: int, value: Array, spare: Array) -> int:
    """Keep of the parts (count, 4, 4) what has a value below 0; value (4,) at the tet's corners."""
    h, inside, outside = np.empty(4), np.empty(4, np.int64), np.empty(4, np.int64)
    used = 0
    for i in range(count):
        low, high = 0, 0
        for a in range(4):
            h[a] = 0.0
            for k in range(4):
                h[a] += parts[i, a, k] * value[k]
            if h[a] < 0.0:
                inside[low] = a
                low += 1
            else:
                outside[high] = a
                high += 1
        if low == 0 or used + 3 > MOST:
            continue
        if low == 4:
            _corners(parts[i], h, ((0, 0), (1, 1), (2, 2), (3, 3)), spare[used])
            used += 1
        elif low == 1:
            a, b, c, d = inside[0], outside[0], outside[1], outside[2]
            _corners(parts[i], h, ((a, a), (a, b), (a, c), (a, d)), spare[used])
            used += 1
        elif low == 3:  # a prism of the corners inside, and those on the edges to the one outside
            a, b, c, d = inside[0], inside[1], inside[2], outside[0]
            _corners(parts[i], h, ((a, a), (b, b), (c, c), (a, d)), spare[used])
            _corners(parts[i], h, ((b, b), (c, c), (a, d), (b, d)), spare[used + 1])
            _corners(parts[i], h, ((c, c), (a, d), (b, d), (c, d)), spare[used + 2])
            used += 3
        else:  # a prism with a triangle about each of the two corners inside
            a, b, c, d = inside[0], inside[1], outside[0], outside[1]
            _corners(parts[i], h, ((a, a), (a, c), (a, d), (b, b)), spare[used])
            _corners(parts[i], h, ((a, c), (a, d), (b, b), (b, c)), spare[used + 1])
            _corners(parts[i], h, ((a, d), (b, b), (b, c), (b, d)), spare[used + 2])
            used += 3
    for i in range(used):
        copy_rows(spare[i], parts[i], 0)
    return used


@inner(error_model="numpy")
def _corners(part: Array, h: Array, at: tuple, out: Array) -> None:
    """Four corners (4, 4): those of a part, or where the value is 0 between two of them."""
    for n in range(4):
        a, b = at[n]
        w = 0.0 if a == b else h[a] / (h[a] - h[b])
        for k in range(4):
            out[n, k] = part[a, k] + w * (part[b, k] - part[a, k])
