"""Primitives (ball, half space, cylinder, block), and vertices against them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from limpet.compiled import copy, inner, njit
from limpet.errors import require_positive

Array = np.ndarray

BALL, HALF_SPACE, CYLINDER, BLOCK = 0, 1, 2, 3


@dataclass(frozen=True)
class Primitive:
    """A shape about its body's centre of mass, in the body's frame."""

    kind: int
    size: Array  # (3,): radius, half length; of a half space its offset; of a block its half sides
    axis: Array  # (3,) unit: of the cylinder, or outward normal of the half space


def ball(radius: float) -> Primitive:
    require_positive("ball radius", radius, " m")
    return Primitive(BALL, np.array([radius, 0.0, 0.0]), np.array([0.0, 0.0, 1.0]))


def half_space(offset: float = 0.0, normal: tuple[float, float, float] = (0, 0, 1)) -> Primitive:
    """All that lies below a plane: `offset` [m] from the body's centre along the normal."""
    n = np.asarray(normal, float)
    return Primitive(HALF_SPACE, np.array([offset, 0.0, 0.0]), n / np.linalg.norm(n))


def round_bar(
    radius: float, length: float, axis: tuple[float, float, float] = (0, 1, 0)
) -> Primitive:
    """A cylinder with flat ends: a wheel, a bar."""
    require_positive("cylinder radius", radius, " m")
    require_positive("cylinder length", length, " m")
    n = np.asarray(axis, float)
    return Primitive(CYLINDER, np.array([radius, 0.5 * length, 0.0]), n / np.linalg.norm(n))


def block(length: float, width: float, height: float) -> Primitive:
    """A box centred on the body's centre."""
    sides = np.array([length, width, height])
    for label, value in zip(("length", "width", "height"), sides):
        require_positive(f"block {label}", float(value), " m")
    return Primitive(BLOCK, 0.5 * sides, np.array([0.0, 0.0, 1.0]))


@njit(cache=True, error_model="numpy", inline="always")
def _from_block(half: Array, d: Array, n: Array) -> float:
    """Outside by the nearest point, inside by the nearest face."""
    out, deep, face = 0.0, -np.inf, 0
    for i in range(3):
        over = abs(d[i]) - half[i]
        n[i] = max(over, 0.0) * (1.0 if d[i] >= 0.0 else -1.0)
        out += n[i] * n[i]
        if over > deep:
            deep, face = over, i
    if out > 0.0:
        out = np.sqrt(out)
        for i in range(3):
            n[i] /= out
        return out
    n[:] = 0.0
    n[face] = 1.0 if d[face] >= 0.0 else -1.0
    return deep


@njit(cache=True, error_model="numpy", inline="always")
def signed_distance(kind: int, size: Array, axis: Array, d: Array, n: Array) -> float:
    """Signed distance of the point d from the shape about the origin; n <- outward unit normal."""
    if kind == BLOCK:
        return _from_block(size, d, n)
    if kind == BALL:
        length = np.sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2])
        if length == 0.0:
            copy(axis, n)
            return -size[0]
        for i in range(3):
            n[i] = d[i] / length
        return length - size[0]
    along = d[0] * axis[0] + d[1] * axis[1] + d[2] * axis[2]
    if kind == HALF_SPACE:
        copy(axis, n)
        return along - size[0]
    out = 0.0
    for i in range(3):
        n[i] = d[i] - along * axis[i]
        out += n[i] * n[i]
    out = np.sqrt(out)
    side, end = out - size[0], abs(along) - size[1]
    sign = 1.0 if along >= 0.0 else -1.0
    if side > 0.0 and end > 0.0:  # nearest to the rim
        far = np.sqrt(side * side + end * end)
        for i in range(3):
            n[i] = (n[i] / out * side + sign * axis[i] * end) / far
        return far
    if end > side or out == 0.0:
        for i in range(3):
            n[i] = sign * axis[i]
        return end
    for i in range(3):
        n[i] /= out
    return side


@njit(cache=True, error_model="numpy")
def bounding_box(x: Array, v: Array, first: int, last: int, middle: Array, half: Array) -> float:
    """Middle and half sides of a box round vertices first:last, written here; largest speed."""
    fast = 0.0
    for a in range(3):
        low = high = x[first, a] if last > first else 0.0
        for i in range(first + 1, last):
            low, high = min(low, x[i, a]), max(high, x[i, a])
        middle[a], half[a] = 0.5 * (low + high), 0.5 * (high - low)
    for i in range(first, last):
        fast = max(fast, v[i, 0] ** 2 + v[i, 1] ** 2 + v[i, 2] ** 2)
    return np.sqrt(fast)


@njit(cache=True, error_model="numpy")
def no_nearer(kind: int, size: Array, axis: Array, d: Array, half: Array) -> float:
    """[m] No point of the box of these half sides about d is nearer to the shape than this."""
    n = np.empty(3)
    least = signed_distance(kind, size, axis, d, n) - np.sqrt(half @ half)
    along, wide = abs(d @ axis), np.abs(axis) @ half
    if kind == HALF_SPACE:
        return d @ axis - wide - size[0]
    if kind == CYLINDER:
        return max(least, along - wide - size[1])
    if kind == BLOCK:
        for a in range(3):
            least = max(least, abs(d[a]) - half[a] - size[a])
    return least


@inner(error_model="numpy")
def near_primitive(
    x: Array, v: Array, first: int, last: int, kind: int, size: Array, axis: Array, centre: Array,
    rotation: Array, motion: Array, thickness: float, margin: float, h: float, reach: float,
    box: tuple[Array, Array, float], index: Array, gap: Array, normal: Array, found: int,
) -> int:  # fmt: skip
    """Write those of the vertices first:last that come within the margin, from row `found` on.

    box: middle and half sides of one round them, and their largest speed. Returns the row after.
    """
    d, own, n = np.empty(3), np.empty(3), np.empty(3)
    middle, half, fast = box
    for a in range(3):
        d[a] = middle[a] - centre[a]
    far = np.sqrt(d @ d) + np.sqrt(half @ half)
    fast += np.sqrt(motion[:3] @ motion[:3]) + far * np.sqrt(motion[3:] @ motion[3:])
    for a in range(3):  # in the shape's frame, with a box along its axes round the box
        own[a] = rotation[0, a] * d[0] + rotation[1, a] * d[1] + rotation[2, a] * d[2]
        n[a] = (
            abs(rotation[0, a]) * half[0]
            + abs(rotation[1, a]) * half[1]
            + abs(rotation[2, a]) * half[2]
        )
    most = max(h * fast, reach)  # that any may come nearer
    if no_nearer(kind, size, axis, own, n) - thickness - most > margin:
        return found  # none of them can be there
    for i in range(first, last):
        for a in range(3):
            d[a] = x[i, a] - centre[a]
        for a in range(3):
            own[a] = rotation[0, a] * d[0] + rotation[1, a] * d[1] + rotation[2, a] * d[2]
        off = signed_distance(kind, size, axis, own, n)
        if off - thickness - most > margin:
            continue
        n0, n1, n2 = n[0], n[1], n[2]
        for a in range(3):
            n[a] = rotation[a, 0] * n0 + rotation[a, 1] * n1 + rotation[a, 2] * n2
        u0 = v[i, 0] - motion[0] - motion[4] * d[2] + motion[5] * d[1]
        u1 = v[i, 1] - motion[1] - motion[5] * d[0] + motion[3] * d[2]
        u2 = v[i, 2] - motion[2] - motion[3] * d[1] + motion[4] * d[0]
        closing = h * (n[0] * u0 + n[1] * u1 + n[2] * u2)
        if off - thickness + min(closing, -reach) > margin:
            continue
        index[found], gap[found] = i, off - thickness
        for a in range(3):
            normal[found, a] = n[a]
        found += 1
    return found


@njit(cache=True, error_model="numpy")
def _near(
    x: Array, v: Array, kind: int, size: Array, axis: Array, centre: Array, rotation: Array,
    motion: Array, thickness: float, margin: float, h: float, reach: float,
) -> tuple[Array, Array, Array, Array]:  # fmt: skip
    n, middle, half = len(x), np.empty(3), np.empty(3)
    index, gap, normal = np.empty(n, np.int32), np.empty(n), np.empty((n, 3))
    fast = bounding_box(x, v, 0, n, middle, half)
    k = near_primitive(
        x, v, 0, n, kind, size, axis, centre, rotation, motion, thickness, margin, h, reach,
        (middle, half, fast), index, gap, normal, 0,
    )  # fmt: skip
    return index[:k], gap[:k], normal[:k], x[index[:k]]


def vertices_near(
    x: Array, v: Array, shape: Primitive, centre: Array, rotation: Array, motion: Array,
    thickness: float, margin: float, h: float, reach: float = 0.0,
) -> tuple[Array, Array, Array, Array]:  # fmt: skip
    """Vertices (n, 3) at x, moving with v, that come within `margin` [m] of the shape within h.

    centre (3,), rotation (3, 3) and motion (6,) of the shape; `thickness` [m] round the
    vertices is taken off the gaps; `reach` [m]: how far others may pull any of them, besides its
    own velocity. Returns vertex, gap, normal and point of each.
    """
    of = shape.kind, shape.size, shape.axis
    return _near(x, v, *of, centre, rotation, motion, thickness, margin, h, reach)
