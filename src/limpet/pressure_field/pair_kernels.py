"""The pairs of a step in one kernel: poses, patches, friction, and what they do to the bodies."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from limpet.compiled import copy, copy_rows, inner, njit
from limpet.geometry.rotation import quaternion_matrix
from limpet.pressure_field.fields import RIGID_SPACE, SOFT_SPACE
from limpet.pressure_field.friction_terms import friction_terms
from limpet.pressure_field.patch_terms import friction_points, patch_terms
from limpet.pressure_field.polygons import AREA, CENTROID, OF_HOST, OF_PROBE, PRESSURE, ROW
from limpet.pressure_field.smooth_gradient import interpolated
from limpet.pressure_field.surface import ContactSurface, as_surface, equal_pressure_near
from limpet.rigid.kernels import advanced

Array = np.ndarray

SAFE = 0.5  # of the way to the core of a field that bodies may go unseen
NEAR_CORE = 0.02  # of the depth: thin places of a field may give way
ROUND_OFF = 1e-15


class PairTable(NamedTuple):
    """Pairs of bodies; a and b count the bodies."""

    a: Array  # (k,) int64
    b: Array  # (k,) int64
    modulus: Array  # (k,) [Pa] the lower of the two
    depth: Array  # (k,) [m] of overlap to the core of a field, where it is thin
    friction: Array  # (k,)
    damping: Array  # (k,) [s/Pa] chi over the modulus of both in series


class BodyPoses(NamedTuple):
    """Bodies as a step begins."""

    centre: Array  # (b, 3) [m] centres of mass
    quaternion: Array  # (b, 4)
    frame: Array  # (b, 3, 3) rotation of the field's frame in that of the body
    shift: Array  # (b, 3) [m] its origin from the centre of mass, in the frame of the body
    radius: Array  # (b,) [m] of a ball about the centre; 0: a half space


@njit(cache=True)
def end_poses(poses: BodyPoses, twist: Array, h: float) -> tuple[Array, Array, Array, Array]:
    """After h: centres (b, 3), rotation (b, 3, 3) and origin (b, 3) of the fields, d(rotation) by
    d(h w): the left Jacobian of SO(3).
    """
    n = len(poses.centre)
    centre, jacobian = np.empty((n, 3)), np.empty((n, 3, 3))
    rotation, origin = np.empty((n, 3, 3)), np.empty((n, 3))
    for i in range(n):
        w = twist[i, 3:]
        end, q = advanced(poses.centre[i], poses.quaternion[i], twist[i, :3], w, h)
        r = quaternion_matrix(q)
        copy(end, centre[i])
        copy(r @ poses.shift[i] + end, origin[i])
        copy_rows(r @ poses.frame[i], rotation[i], 0)
        x, y, z = h * w[0], h * w[1], h * w[2]
        cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        angle2 = x * x + y * y + z * z
        angle = np.sqrt(angle2)
        first, second = 0.5 - angle2 / 24.0, 1.0 / 6.0 - angle2 / 120.0
        if angle > 1e-3:
            first = (1.0 - np.cos(angle)) / angle2
            second = (angle - np.sin(angle)) / (angle2 * angle)
        copy_rows(np.eye(3) + first * cross + second * (cross @ cross), jacobian[i], 0)
    return centre, rotation, origin, jacobian


@inner()
def least_gap(
    fields: list, a: int, b: int, radius: Array, centre: Array, rotation: Array, origin: Array
) -> float:
    """[m] between balls about two bodies, or a ball and a half space."""
    for i, j in ((a, b), (b, a)):
        if fields[i].kind == SOFT_SPACE or fields[i].kind == RIGID_SPACE:
            n = rotation[i] @ fields[i].normal
            height = n @ (centre[j] - origin[i])
            return height - fields[i].offset - radius[j]
    away = 0.0
    for c in range(3):
        away += (centre[a, c] - centre[b, c]) ** 2
    return np.sqrt(away) - radius[a] - radius[b]


class Surfaces(NamedTuple):
    """Contact surfaces of m pairs, one after the other (see polygons.measured)."""

    gap: Array  # (m,) [m] between the pairs, at least
    first: Array  # (m + 1,) polygons of each pair
    rows: Array  # (k, ROW)
    start: Array  # (k + 1,) corners of each polygon
    corners: Array  # (c, 4)
    swapped: Array  # (m,) bool: body a is the host
    cells: Array  # (k, 2) int32 of body a and of body b

    def of_pair(self, m: int) -> ContactSurface:
        i, j = self.first[m], self.first[m + 1]
        start = self.start[i : j + 1]
        corners = self.corners[start[0] : start[-1]]
        return as_surface(
            self.rows[i:j], self.cells[i:j], start - start[0], corners, bool(self.swapped[m])
        )


@njit(cache=True)
def find_surfaces(
    fields: list, pairs: PairTable, which: Array, radius: Array, centre: Array, rotation: Array,
    origin: Array, candidates: list, slack: Array,
) -> Surfaces:  # fmt: skip
    """Of some pairs, with their fields at poses.

    candidates: of each pair (see surface.Candidates), replaced where bodies have left them; new
    ones hold for a motion by slack (k,) [m].
    """
    n = len(which)
    gap, first, swapped = np.empty(n), np.zeros(n + 1, np.int64), np.zeros(n, np.bool_)
    rows, corners = np.empty((64, ROW)), np.empty((256, 4))
    start, cells = np.zeros(65, np.int64), np.empty((64, 2), np.int32)
    for m in range(n):
        a, b = pairs.a[which[m]], pairs.b[which[m]]
        gap[m] = least_gap(fields, a, b, radius, centre, rotation, origin)
        first[m + 1] = first[m]
        if gap[m] > 0.0:
            continue
        surface, candidates[which[m]], swapped[m] = equal_pressure_near(
            fields[a], rotation[a], origin[a], fields[b], rotation[b], origin[b],
            candidates[which[m]], slack[which[m]],
        )  # fmt: skip
        own, own_cells, of_own, own_corners = surface
        used, count = first[m], len(own)
        end = start[used]
        while used + count > len(rows):
            rows = np.concatenate((rows, np.empty_like(rows)))
            start = np.concatenate((start, np.zeros_like(start)))
            cells = np.concatenate((cells, np.empty_like(cells)))
        while end + len(own_corners) > len(corners):
            corners = np.concatenate((corners, np.empty_like(corners)))
        copy_rows(own, rows, used)
        copy_rows(own_cells, cells, used)
        copy_rows(own_corners, corners, end)
        for k in range(count):
            start[used + k + 1] = end + of_own[k + 1]
        first[m + 1] = used + count
    k = first[n]
    ends = start[: k + 1]
    return Surfaces(gap, first, rows[:k], ends, corners[: ends[k]], swapped, cells[:k])


@njit(cache=True)
def friction_loads(
    fields: list, pairs: PairTable, which: Array, found: Surfaces, rotation: Array, origin: Array,
    large: float,
) -> tuple[Array, Array, Array]:  # fmt: skip
    """Highest p/E (m,) of pairs; and friction points (see patch_terms), pair m having
    start[m]:start[m + 1]. The fields stand at poses; their dissipation takes smoothed gradients
    if they have them.
    """
    n = len(which)
    highest, start = np.zeros(n), np.zeros(n + 1, np.int64)
    points = np.empty((64, 8))
    for m in range(n):
        start[m + 1] = start[m]
        i, j = found.first[m], found.first[m + 1]
        if i == j:
            continue
        modulus = pairs.modulus[which[m]]
        corners = found.corners[found.start[i] : found.start[j]]
        highest[m] = corners[:, 3].max() / modulus
        rows, first = found.rows[i:j], found.start[i : j + 1] - found.start[i]
        of_a, of_b = (OF_HOST, OF_PROBE) if found.swapped[m] else (OF_PROBE, OF_HOST)
        gradient_a, gradient_b = rows[:, of_a : of_a + 3].copy(), rows[:, of_b : of_b + 3].copy()
        centroid = rows[:, CENTROID : CENTROID + 3].copy()
        a, b = pairs.a[which[m]], pairs.b[which[m]]
        for side, body, gradient in ((0, a, gradient_a), (1, b, gradient_b)):
            own_field = fields[body]
            if len(own_field.smooth):
                smooth = interpolated(
                    own_field.points, own_field.corners, own_field.smooth, rotation[body],
                    origin[body], found.cells[i:j, side].copy(), centroid,
                )  # fmt: skip
                copy_rows(smooth, gradient, 0)
        own = friction_points(
            rows[:, AREA : AREA + 3], rows[:, CENTROID : CENTROID + 3], rows[:, PRESSURE],
            gradient_a, gradient_b, first, corners[:, :3], corners[:, 3], modulus, large,
        )  # fmt: skip
        end = start[m] + len(own)
        while end > len(points):
            points = np.concatenate((points, np.empty_like(points)))
        copy_rows(own, points, start[m])
        start[m + 1] = end
    return highest, start, points[: start[n]]


@njit(cache=True)
def evaluate_patches(
    pairs: PairTable, which: Array, found: Surfaces, radius: Array, centre: Array,
    jacobian: Array, slot: Array, h: float,
) -> tuple[Array, Array, Array, Array, Array, Array]:  # fmt: skip
    """What the pressure of some pairs does.

    slot (b,): number of each body among the movable ones of the island, or -1. Impulses (b, 6),
    their stiffness (6 s, 6 s) over the slots, their round-off (b, 6); of each pair the room [m] to
    the core of a field, the wrench (6,) on body a about its centre, the load [N].
    """
    n, slots = len(centre), slot.max() + 1
    impulse, round_off = np.zeros((n, 6)), np.zeros((n, 6))
    stiffness = np.zeros((6 * slots, 6 * slots))
    room, wrenches, load = np.empty(len(which)), np.zeros((len(which), 6)), np.zeros(len(which))
    for m in range(len(which)):
        k = which[m]
        a, b = pairs.a[k], pairs.b[k]
        room[m] = pairs.depth[k] + max(found.gap[m], 0.0)
        i, j = found.first[m], found.first[m + 1]
        if i == j:
            continue
        rows, first = found.rows[i:j], found.start[i : j + 1] - found.start[i]
        corners = found.corners[found.start[i] : found.start[j]]
        of_a, of_b = (OF_HOST, OF_PROBE) if found.swapped[m] else (OF_PROBE, OF_HOST)
        wrench, spring, highest, load[m] = patch_terms(
            rows[:, AREA : AREA + 3], rows[:, CENTROID : CENTROID + 3], rows[:, PRESSURE],
            rows[:, of_a : of_a + 3], rows[:, of_b : of_b + 3], first, corners[:, :3],
            corners[:, 3], centre[a], pairs.modulus[k],
        )  # fmt: skip
        room[m] = pairs.depth[k] * max(1.0 - highest, NEAR_CORE)
        copy(wrench, wrenches[m])
        size = radius[a] + radius[b] + np.abs(centre[a]).max()
        _add(
            impulse, stiffness, round_off, slot, a, b, wrench, spring, centre[a] - centre[b],
            jacobian[a], jacobian[b], h, h * h, size,
        )  # fmt: skip
    return impulse, stiffness, round_off, room, wrenches, load


@njit(cache=True)
def evaluate_friction(
    pairs: PairTable, which: Array, poses: BodyPoses, start: Array, points: Array, slot: Array,
    twist: Array, h: float, with_rate: bool,
) -> tuple[Array, Array, Array]:  # fmt: skip
    """As evaluate_patches, of friction and dissipation: impulses, stiffness, wrenches.

    with_rate: with the stiffness, which costs more than the rest.
    """
    n, slots = len(twist), slot.max() + 1 if with_rate else 0
    out = slot if with_rate else np.full_like(slot, -1)
    impulse, round_off = np.zeros((n, 6)), np.zeros((n, 6))
    stiffness, wrenches = np.zeros((6 * slots, 6 * slots)), np.zeros((len(which), 6))
    unit = np.eye(3)
    for m in range(len(which)):
        k = which[m]
        a, b = pairs.a[k], pairs.b[k]
        if start[m + 1] == start[m] or (pairs.friction[k] == 0.0 and pairs.damping[k] == 0.0):
            continue
        apart = poses.centre[a] - poses.centre[b]
        relative = twist[a] - twist[b]
        for c in range(3):
            d, e = (c + 1) % 3, (c + 2) % 3
            relative[c] -= twist[b, 3 + d] * apart[e] - twist[b, 3 + e] * apart[d]
        wrench, rate = friction_terms(
            points[start[m] : start[m + 1]], poses.centre[a], relative, pairs.friction[k],
            pairs.damping[k], with_rate,
        )  # fmt: skip
        copy(wrench, wrenches[m])
        _add(impulse, stiffness, round_off, out, a, b, wrench, rate, apart, unit, unit, h, h, 0.0)
    return impulse, stiffness, wrenches


@njit(cache=True)
def _add(
    impulse: Array, stiffness: Array, round_off: Array, slot: Array, a: int, b: int, wrench: Array,
    spring: Array, apart: Array, turn_a: Array, turn_b: Array, h: float, factor: float,
    scale: float,
) -> None:  # fmt: skip
    """Add a wrench on body a about its centre and its opposite on b, `apart` from b's to a's."""
    on_a, on_b = np.zeros((6, 6)), np.zeros((6, 6))  # velocities -> relative twist at a's centre
    x, y, z = apart[0], apart[1], apart[2]
    for c in range(3):
        on_a[c, c] = 1.0
        on_b[c, c] = -1.0
        for d in range(3):
            on_a[3 + c, 3 + d] = turn_a[c, d]
            on_b[3 + c, 3 + d] = -turn_b[c, d]
    for d in range(3):  # -(w x apart)
        on_b[0, 3 + d] = y * turn_b[2, d] - z * turn_b[1, d]
        on_b[1, 3 + d] = z * turn_b[0, d] - x * turn_b[2, d]
        on_b[2, 3 + d] = x * turn_b[1, d] - y * turn_b[0, d]
    half = np.empty((6, 6))
    for i in range(2):
        body, map_i = (a, on_a) if i == 0 else (b, on_b)
        for c in range(6):
            total = 0.0
            for e in range(6):
                total += map_i[e, c] * wrench[e]
            impulse[body, c] += h * total
            for d in range(6):
                total = 0.0
                for e in range(6):
                    total += map_i[e, c] * spring[e, d]
                half[c, d] = total
                round_off[body, c] += ROUND_OFF * h * abs(total) * (scale if d < 3 else 1.0)
        if slot[body] < 0:
            continue
        for j in range(2):
            other, map_j = (a, on_a) if j == 0 else (b, on_b)
            if slot[other] < 0:
                continue
            p, q = 6 * slot[body], 6 * slot[other]
            for c in range(6):
                for d in range(6):
                    total = 0.0
                    for e in range(6):
                        total += half[c, e] * map_j[e, d]
                    stiffness[p + c, q + d] += factor * total


@njit(cache=True)
def safe_share(
    pairs: PairTable, which: Array, room: Array, poses: BodyPoses, change: Array, h: float
) -> float:
    """The share of a change of velocities (b, 6) that takes no pair near its core."""
    share = np.inf
    for m in range(len(which)):
        k = which[m]
        a, b = pairs.a[k], pairs.b[k]
        speed, away = 0.0, 0.0
        for c in range(3):
            speed += (change[a, c] - change[b, c]) ** 2
            away += (poses.centre[a, c] - poses.centre[b, c]) ** 2
        speed = np.sqrt(speed)
        for i, j in ((a, b), (b, a)):
            spin = np.sqrt((change[i, 3:] ** 2).sum())
            arm = poses.radius[i]
            if arm == 0.0:  # a half space: as far as the other body
                arm = np.sqrt(away) + poses.radius[j]
            speed += spin * arm
        if speed > 0.0:
            share = min(share, SAFE * room[m] / (h * speed))
    return share
