"""The potential energy of a contact (F eq 1): the lower of both pressures, over the common volume.

F adds up each body's pressure over the part of it that the contact displaces. Of every point in
both bodies, that is the one with the lower pressure there. Exact up to round-off, and apart from
the surface's kernels; it looks at every pair of cells, so it is for checks, not for each step.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from limpet.pressure_field.fields import FieldGeometry, HalfSpace, PressureField
from limpet.pressure_field.packed import CORNERS, FACES, SLOPE
from limpet.pressure_field.surface import Pose

Array = np.ndarray

ALIKE = 1e-12  # distance over size below which two planes are one


class ConvexCells(NamedTuple):
    """A body as convex parts that add up to it, some perhaps with a minus, in the world's frame."""

    planes: Array  # (m, f, 4) outward unit normal, offset [m]
    slope: Array  # (m, 4) pressure as slope[:3] . x + slope[3] [Pa]; inf: rigid
    sign: Array  # (m,) +1 or -1
    ball: Array  # (m, 4) centre and radius [m] of a ball about each


def energy(a: FieldGeometry, pose_a: Pose, b: FieldGeometry, pose_b: Pose) -> float:
    """U [J] of the contact of a and b."""
    one, two = _parts(a, pose_a), _parts(b, pose_b)
    return float(_sum(one, two))


def _parts(body: FieldGeometry, pose: Pose) -> ConvexCells:
    rotation, origin = pose
    if isinstance(body, HalfSpace):
        normal = rotation @ body.normal
        offset = body.offset + normal @ origin
        k = body.stiffness
        rigid = np.isinf(k)
        steep = np.full(4, np.inf) if rigid else np.append(-k * normal, k * offset)
        plane = np.append(normal, offset)[None, None]
        return ConvexCells(plane, steep[None], np.ones(1), np.append(origin, np.inf)[None])
    if isinstance(body, PressureField):
        sign = np.ones(len(body.tets))
        corners = body.points[body.tets]
        planes, slope = (
            body.cells[:, FACES:CORNERS].reshape(-1, 4, 4),
            body.cells[:, SLOPE : SLOPE + 4],
        )
        slope = np.column_stack([slope[:, :3] @ rotation.T, slope[:, 3]])
        slope[:, 3] -= slope[:, :3] @ origin
    else:
        # cones from a point to every triangle: what they cover twice is taken away again
        tip = np.broadcast_to(body.points.mean(axis=0), (len(body.triangles), 1, 3))
        corners = np.concatenate([tip, body.points[body.triangles]], axis=1)
        size = np.linalg.det(corners[:, 1:] - corners[:, :1])
        full = np.abs(size) > 1e-15 * np.ptp(body.points, axis=0).max() ** 3
        corners, sign = corners[full], np.sign(size[full])
        planes, slope = _faces(corners), np.full((len(corners), 4), np.inf)
    turned = planes[:, :, :3] @ rotation.T
    planes = np.concatenate([turned, planes[:, :, 3:] + (turned @ origin)[:, :, None]], axis=2)
    world = corners @ rotation.T + origin
    centre = world.mean(axis=1)
    radius = np.linalg.norm(world - centre[:, None], axis=2).max(axis=1)
    return ConvexCells(planes, slope, sign, np.column_stack([centre, radius]))


def _faces(corners: Array) -> Array:
    """(m, 4, 4) outward planes of tets (m, 4, 3) of either sense."""
    out = np.empty((len(corners), 4, 4))
    for k in range(4):
        a, b, c = (corners[:, (k + i) % 4] for i in (1, 2, 3))
        normal = np.cross(b - a, c - a)
        normal /= np.linalg.norm(normal, axis=1)[:, None]
        inside = np.einsum("ij,ij->i", normal, corners[:, k] - a)
        normal *= -np.sign(inside)[:, None]
        out[:, k, :3], out[:, k, 3] = normal, np.einsum("ij,ij->i", normal, a)
    return out


@njit(cache=True)
def _sum(one: ConvexCells, two: ConvexCells) -> float:
    total = 0.0
    faces_1, faces_2 = one.planes.shape[1], two.planes.shape[1]
    planes = np.empty((faces_1 + faces_2 + 1, 4))
    buffer, distance = np.empty((2, 32, 3)), np.empty(32)
    centre = np.empty(3)
    for i in range(len(one.sign)):
        for j in range(len(two.sign)):
            d2 = 0.0
            for c in range(3):
                d2 += (one.ball[i, c] - two.ball[j, c]) ** 2
            if d2 >= (one.ball[i, 3] + two.ball[j, 3]) ** 2:
                continue
            small = one.ball[i] if one.ball[i, 3] < two.ball[j, 3] else two.ball[j]
            centre[:] = small[:3]
            planes[:faces_1], planes[faces_1:-1] = one.planes[i], two.planes[j]
            sign = one.sign[i] * two.sign[j]
            p, q = one.slope[i], two.slope[j]
            if np.isinf(p[3]) or np.isinf(q[3]):
                lower = q if np.isinf(p[3]) else p
                total += sign * _integral(planes[:-1], lower, centre, small[3], buffer, distance)
                continue
            # where p < q count p, elsewhere q
            difference = p - q
            size = np.sqrt(difference[0] ** 2 + difference[1] ** 2 + difference[2] ** 2)
            steep = np.sqrt(p[0] ** 2 + p[1] ** 2 + p[2] ** 2)
            if size <= 1e-12 * steep:
                at = difference[3]
                for c in range(3):
                    at += difference[c] * centre[c]
                lower = p if at < 0.0 else q
                total += sign * _integral(planes[:-1], lower, centre, small[3], buffer, distance)
                continue
            for side in (1.0, -1.0):
                planes[-1] = side * difference / size
                planes[-1, 3] *= -1.0
                lower = p if side > 0.0 else q
                total += sign * _integral(planes, lower, centre, small[3], buffer, distance)
    return total


@njit(cache=True)
def _integral(
    planes: Array, p: Array, centre: Array, radius: float, buffer: Array, distance: Array
) -> float:
    """Integral of p[:3] . x + p[3] over what is inside all planes and within the ball's cube.

    Each face is a square on its plane, larger than the ball, clipped by the others; the pyramid
    from the centre to the face has its own centroid at three quarters of the way.
    """
    total = 0.0
    alike = ALIKE * radius
    for f in range(len(planes)):
        nx, ny, nz = planes[f, 0], planes[f, 1], planes[f, 2]
        height = planes[f, 3] - (nx * centre[0] + ny * centre[1] + nz * centre[2])
        if height < -radius:
            return 0.0
        if height > radius:
            continue
        # two unit vectors in the plane
        ux, uy, uz = (0.0, nz, -ny) if abs(nx) < 0.6 else (-nz, 0.0, nx)
        size = np.sqrt(ux * ux + uy * uy + uz * uz)
        ux, uy, uz = ux / size, uy / size, uz / size
        vx, vy, vz = ny * uz - nz * uy, nz * ux - nx * uz, nx * uy - ny * ux
        ox, oy, oz = centre[0] + height * nx, centre[1] + height * ny, centre[2] + height * nz
        for c, (s, t) in enumerate(((-2.0, -2.0), (2.0, -2.0), (2.0, 2.0), (-2.0, 2.0))):
            buffer[0, c, 0] = ox + radius * (s * ux + t * vx)
            buffer[0, c, 1] = oy + radius * (s * uy + t * vy)
            buffer[0, c, 2] = oz + radius * (s * uz + t * vz)
        which, n = 0, 4
        for g in range(len(planes)):
            if g == f or n < 3:
                continue
            highest = 0.0
            for i in range(n):
                d = -planes[g, 3]
                for c in range(3):
                    d += planes[g, c] * buffer[which, i, c]
                distance[i] = d
                highest = max(highest, abs(d))
            if highest <= alike:  # one plane given twice is one face; two that oppose, no volume
                same = nx * planes[g, 0] + ny * planes[g, 1] + nz * planes[g, 2] > 0.0
                n = n if same and f < g else 0
            else:
                which, n = _clip(buffer, which, n, distance)
        for i in range(2, n):
            ax, ay, az = _from_first(buffer, which, i - 1)
            bx, by, bz = _from_first(buffer, which, i)
            area = 0.5 * (
                nx * (ay * bz - az * by) + ny * (az * bx - ax * bz) + nz * (ax * by - ay * bx)
            )
            mean = p[3]
            for c in range(3):
                corners = buffer[which, 0, c] + buffer[which, i - 1, c] + buffer[which, i, c]
                mean += p[c] * 0.25 * (corners + centre[c])
            total += height * area / 3.0 * mean
    return total


@njit(cache=True)
def _from_first(buffer: Array, which: int, i: int) -> tuple[float, float, float]:
    return (
        buffer[which, i, 0] - buffer[which, 0, 0],
        buffer[which, i, 1] - buffer[which, 0, 1],
        buffer[which, i, 2] - buffer[which, 0, 2],
    )


@njit(cache=True)
def _clip(buffer: Array, which: int, n: int, distance: Array) -> tuple[int, int]:
    """Keep of a polygon what has a distance of at most 0 from a plane; from one half of the buffer
    to the other."""
    other, count, before = 1 - which, 0, n - 1
    for i in range(n):
        a, b = distance[before], distance[i]
        if (a > 0.0) != (b > 0.0):
            w = a / (a - b)
            for c in range(3):
                start = buffer[which, before, c]
                buffer[other, count, c] = start + w * (buffer[which, i, c] - start)
            count += 1
        if b <= 0.0:
            for c in range(3):
                buffer[other, count, c] = buffer[which, i, c]
            count += 1
        before = i
    return other, count
