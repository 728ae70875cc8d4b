"""Outlines of sections: corners, arcs and fillets as closed polylines, and what is wrong with them.

Lengths in metres; a corner is counted from 1 in messages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from limpet.errors import LimpetError

Array = np.ndarray

ARC_STEP = np.radians(5.0)  # of the polyline that stands for an arc
TOUCH = 1e-6  # of the extent: points nearer than this are one
MAX_EXTENT = 10.0  # [m]
MOST_POINTS = 2000
MM = 1e-3


@dataclass(frozen=True)
class Corner:
    """A corner of an outline, and the edge from it to the next one."""

    r: float  # [m] from the axis
    z: float  # [m]
    fillet: float = 0.0  # [m] radius that rounds the corner; between straight edges
    through: tuple[float, float] | None = None  # [m] a point of the edge, which is then an arc
    edge: str | None = None  # name of the edge, as "held", "port" or "lip"


CornerLike = Corner | Sequence[float]


@dataclass(frozen=True)
class Part:
    """A piece of a section with a material of its own. A later part replaces what it covers."""

    outline: Sequence[CornerLike]
    name: str = "body"
    stiffness: float = 1.0  # Young's modulus over that of the body's material


@dataclass(frozen=True)
class Loop:
    """A closed polyline, counter-clockwise; segment i is from point i to the next."""

    points: Array  # (n, 2) [m]
    names: list[str | None]  # of the segments
    corner: Array  # (n,) the corner at which the edge of each segment begins, from 1


def trace(part: Part, several: bool) -> Loop:
    """The outline of a part; a LimpetError names the faulty corner."""
    label = f"section of '{part.name}'" if several else "section"
    corners = _corners(part.outline, label)
    extent = _extent(corners, label)
    _check_corners(corners, extent, label)
    points, names, origin = _polyline(corners, label)
    if len(points) > MOST_POINTS:
        raise LimpetError(
            f"{label} has {len(points)} points, those of its arcs included: expected up to "
            f"{MOST_POINTS}; leave out some"
        )
    loop = _oriented(points, names, origin)
    _check_loop(loop, extent, label)
    return loop


def _corners(outline: Sequence[CornerLike], label: str) -> list[Corner]:
    out = []
    for k, given in enumerate(outline, 1):
        if not isinstance(given, Corner):
            values = tuple(given)
            if len(values) != 2:
                raise LimpetError(f"{label}, corner {k} = {values}: expected (r, z) or a Corner")
            given = Corner(float(values[0]), float(values[1]))
        out.append(given)
    closed = len(out) > 3 and (out[0].r, out[0].z) == (out[-1].r, out[-1].z)
    if closed:  # the first corner was given once more
        out.pop()
    if len(out) < 3:
        raise LimpetError(f"{label} has {len(out)} corners: expected 3 or more")
    return out


def _extent(corners: Sequence[Corner], label: str) -> float:
    for k, c in enumerate(corners, 1):
        numbers = [c.r, c.z, c.fillet, *(c.through or ())]
        if not np.all(np.isfinite(numbers)) or max(map(abs, numbers)) > MAX_EXTENT:
            raise LimpetError(
                f"{label}, {_place(k, c)}: expected finite lengths up to {MAX_EXTENT:g} m"
            )
    return float(np.ptp([(c.r, c.z) for c in corners], axis=0).max())


def _check_corners(corners: Sequence[Corner], extent: float, label: str) -> None:
    for k, c in enumerate(corners, 1):
        after = corners[k % len(corners)]
        if c.r < 0.0:
            raise LimpetError(f"{label}, {_place(k, c)}: expected r of 0, the axis, or more")
        if c.fillet < 0.0:
            raise LimpetError(f"{label}, {_place(k, c)}: fillet: expected a radius of 0 or more")
        if np.hypot(after.r - c.r, after.z - c.z) <= 2.0 * TOUCH * extent:
            raise LimpetError(
                f"{label}, {_place(k, c)}: the next corner is at the same place; remove one"
            )


def _place(k: int, c: Corner) -> str:
    return f"corner {k} at r = {c.r / MM:.4g} mm, z = {c.z / MM:.4g} mm"


def _polyline(
    corners: Sequence[Corner], label: str
) -> tuple[list[Array], list[str | None], list[int]]:
    """Points, and of the segment after each its name and corner."""
    n = len(corners)
    at = [np.array([c.r, c.z]) for c in corners]
    points: list[Array] = []
    names: list[str | None] = []
    origin: list[int] = []
    for k, c in enumerate(corners):
        before, after = corners[k - 1], at[(k + 1) % n]
        start = [at[k]]
        if c.fillet > 0.0:
            if c.through is not None or before.through is not None:
                raise LimpetError(
                    f"{label}, {_place(k + 1, c)}: a fillet needs straight edges on both sides"
                )
            room = [0.5 if o.fillet else 1.0 for o in (before, corners[(k + 1) % n])]
            start = _fillet(c.fillet, at[k - 1], at[k], after, room)
            if not start:
                raise LimpetError(
                    f"{label}, {_place(k + 1, c)}: a fillet of {c.fillet / MM:.4g} mm does not fit "
                    "the edges there"
                )
        if c.through is not None:
            start += _arc(at[k], np.array(c.through, float), after)[1:-1]
        points += start
        names += [c.edge] * len(start)
        origin += [k + 1] * len(start)
    return points, names, origin


def _fillet(
    radius: float, before: Array, corner: Array, after: Array, room: Sequence[float]
) -> list[Array]:
    """Points of the arc that rounds a corner; none if the edges are too short for it."""
    one, two = before - corner, after - corner
    lengths = float(np.linalg.norm(one)), float(np.linalg.norm(two))
    one, two = one / lengths[0], two / lengths[1]
    half = 0.5 * float(np.arccos(np.clip(one @ two, -1.0, 1.0)))
    if half > 0.5 * np.pi - 1e-6:
        return [corner]
    back = radius / np.tan(half)
    if any(back > share * length * (1.0 + 1e-9) for share, length in zip(room, lengths)):
        return []
    middle = corner + (one + two) / np.linalg.norm(one + two) * (radius / np.sin(half))
    top = middle + (corner - middle) * (radius / np.linalg.norm(corner - middle))
    return _arc(corner + back * one, top, corner + back * two)


def _arc(start: Array, through: Array, end: Array) -> list[Array]:
    """Points of the circle through three points, from the first to the last."""
    a, b = through - start, end - start
    cross = 2.0 * float(a[0] * b[1] - a[1] * b[0])
    if abs(cross) < 1e-9 * float(a @ a + b @ b):
        return [start, end]
    aa, bb = float(a @ a), float(b @ b)
    middle = start + np.array([b[1] * aa - a[1] * bb, a[0] * bb - b[0] * aa]) / cross
    angles = [float(np.arctan2(*(p - middle)[::-1])) for p in (start, through, end)]
    sense = 1.0 if cross > 0.0 else -1.0
    turn = (sense * (angles[2] - angles[0])) % (2.0 * np.pi)
    count = max(2, int(np.ceil(turn / ARC_STEP)))
    count += count % 2  # a point in the middle, so that the arc is the same from both ends
    angle = angles[0] + sense * turn * np.linspace(0.0, 1.0, count + 1)
    radius = float(np.linalg.norm(start - middle))
    arc = middle + radius * np.column_stack([np.cos(angle), np.sin(angle)])
    arc[0], arc[-1] = start, end
    return list(arc)


def _oriented(points: list[Array], names: list[str | None], origin: list[int]) -> Loop:
    """Counter-clockwise from the innermost point, of several the lowest.

    The mesh depends on where a loop begins; the same outline from a drawing, which may begin
    anywhere, is to have the same mesh.
    """
    p = np.array(points)
    if signed_area(p) < 0.0:
        p = p[::-1]
        names = [*names[-2::-1], names[-1]]
        origin = [*origin[-2::-1], origin[-1]]
    inner = p[:, 0] <= p[:, 0].min() + TOUCH * float(np.ptp(p, axis=0).max())
    first = int(np.flatnonzero(inner)[p[inner, 1].argmin()])
    return Loop(np.roll(p, -first, axis=0), names[first:] + names[:first], np.roll(origin, -first))


def signed_area(points: Array) -> float:
    """[m^2] of a closed polyline, positive if counter-clockwise."""
    x, y = points.T
    return 0.5 * float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))


def _check_loop(loop: Loop, extent: float, label: str) -> None:
    p = loop.points
    if (low := int(np.argmin(p[:, 0]))) >= 0 and p[low, 0] < -TOUCH * extent:
        k = int(loop.corner[low])
        raise LimpetError(f"{label}, corner {k}: the arc from it crosses the axis to negative r")
    step = np.roll(p, -1, axis=0) - p
    length = np.linalg.norm(step, axis=1)
    if length.min() <= TOUCH * extent:
        k = int(loop.corner[int(length.argmin())])
        raise LimpetError(f"{label}, corner {k}: fillets or arcs leave no edge there")
    before = np.roll(step, 1, axis=0)
    along = np.sum(step * before, axis=1) / (length * np.roll(length, 1))
    if along.min() < -1.0 + 1e-7:
        k = int(loop.corner[int(along.argmin())])
        raise LimpetError(f"{label}, corner {k}: the outline turns back on itself there")
    crossing = _crossing(p, TOUCH * extent)
    if crossing is not None:
        one, two = (int(loop.corner[i]) for i in crossing)
        raise LimpetError(
            f"{label}: the edge from corner {one} meets the edge from corner {two} near "
            f"r = {p[crossing[1]][0] / MM:.4g} mm, z = {p[crossing[1]][1] / MM:.4g} mm; expected "
            "an outline that does not cross or touch itself"
        )
    if signed_area(p) < TOUCH * extent**2:
        raise LimpetError(f"{label} encloses no area: corners 1 to {len(set(loop.corner))}")


def _crossing(p: Array, tolerance: float) -> tuple[int, int] | None:
    """Two segments of a closed polyline that meet though they are no neighbours."""
    n = len(p)
    q = np.roll(p, -1, axis=0)
    apart = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    far = (apart > 1) & (apart < n - 1)
    d = q - p

    def side(points: Array) -> Array:
        """(i, j): on which side of segment i point j lies, as a distance."""
        away = points[None] - p[:, None]
        cross = d[:, None, 0] * away[..., 1] - d[:, None, 1] * away[..., 0]
        return np.asarray(cross / np.linalg.norm(d, axis=1)[:, None])

    one, two = side(p), side(q)
    cuts = one * two < 0.0
    touch = distance_to_segments(p, p, q) < tolerance  # (j, i)
    # point j belongs to the segments j and j - 1
    touch &= far & np.roll(far, 1, axis=0)
    found = np.argwhere((cuts & cuts.T & far) | touch.T)
    if not len(found):
        return None
    i, j = found[0]
    return (int(min(i, j)), int(max(i, j)))


def distance_to_segments(points: Array, a: Array, b: Array) -> Array:
    """(k, n) distance of each point to each segment from a to b."""
    d = b - a
    away = points[:, None] - a[None]
    s = np.clip(np.sum(away * d, axis=2) / np.sum(d * d, axis=1), 0.0, 1.0)
    return np.asarray(np.linalg.norm(away - s[..., None] * d, axis=2))


def inside(points: Array, loop: Array) -> Array:
    """(k,) whether points lie in a closed polyline."""
    a, b = loop, np.roll(loop, -1, axis=0)
    x, y = points[:, :1], points[:, 1:]
    spans = (a[:, 1] > y) != (b[:, 1] > y)
    with np.errstate(divide="ignore", invalid="ignore"):
        at = a[:, 0] + (y - a[:, 1]) / (b[:, 1] - a[:, 1]) * (b[:, 0] - a[:, 0])
    return np.asarray(np.sum(spans & (x < at), axis=1) % 2 == 1)
