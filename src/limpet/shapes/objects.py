"""Rigid objects for manipulation: apple, can, ring, mug, pencil, wheel.

They stand on z = 0, centred in x and y. Facets on which a cup seals must be small: the middle of a
facet of edge L is L^2 / 6R below the exact surface of radius R, which must be less than the sealing
distance (0.05 mm by default).
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from manifold3d import CrossSection, Manifold, OpType
from scipy.spatial import ConvexHull

from limpet.errors import LimpetError, require_positive
from limpet.geometry.shape import Array, RigidShape
from limpet.geometry.union import arrays
from limpet.meshing.strips import strip

DIMPLES = ((0.28, 0.35), (0.16, 0.3))  # at stalk and blossom: depth in radii, width in radians
LOBES = 5, 0.03  # around the blossom, and their height in radii; the apple stands on them
LOBE_WIDTH = 0.35  # [rad]
GROWTH = 1.4  # of the facets from ring to ring outside the fine region


def apple(
    diameter: float = 0.07,  # [m] of the apple
    *,
    lying: bool = True,
    fine: float = 0.0028,  # [m] facets near the highest point
    reach: float = 0.02,  # [m] radius of the fine region
    coarse: float = 0.016,  # [m] facets elsewhere
) -> RigidShape:
    """An apple with a dimple at the stalk and one below.

    If `lying`, it lies on its side with the stalk along x, so that a cup can seal on top; else it
    stands with the stalk up.
    """
    sizes = (("diameter", diameter), ("fine", fine), ("reach", reach), ("coarse", coarse))
    for label, value in sizes:
        require_positive(f"apple {label}", value, " m")
    if not fine <= coarse <= diameter / 3.0:
        raise LimpetError(
            f"apple fine = {fine:g} m, coarse = {coarse:g} m: expected fine at most coarse, and "
            f"that at most a third of the diameter, {diameter / 3.0:.3g} m"
        )
    radius = diameter / 2.0
    way = _directions(fine / radius, reach / radius, coarse / radius)
    stalk, right, front = (0, 1, 2) if lying else (2, 0, 1)
    from_stalk = np.arccos(np.clip(way[:, stalk], -1.0, 1.0))
    from_blossom, round_it = np.pi - from_stalk, np.arctan2(way[:, front], way[:, right])
    (deep, wide), (low, narrow), (lobes, high) = *DIMPLES, LOBES
    bumps = from_blossom**2 * np.exp(-((from_blossom / LOBE_WIDTH) ** 2)) * np.cos(lobes * round_it)
    distance = radius * (
        1.0
        - deep * np.exp(-((from_stalk / wide) ** 2))
        - low * np.exp(-((from_blossom / narrow) ** 2))
        + high * bumps / (LOBE_WIDTH**2 * np.exp(-1.0))
    )
    points = distance[:, None] * way
    return RigidShape("apple", points - [0.0, 0.0, points[:, 2].min()], _hull(way))


def _directions(fine: float, reach: float, coarse: float) -> Array:
    """Unit vectors (n, 3) in rings around z, spaced by `fine` [rad] up to `reach`, then wider."""
    out = [[0.0, 0.0, 1.0]]
    polar, gap, turned = fine, fine, 0.0
    while polar < np.pi - 0.6 * gap:
        # at least eight: on six vertices five lobes alias to a tilt
        count = max(round(2.0 * np.pi * np.sin(polar) / gap), 8)
        angle = 2.0 * np.pi * (np.arange(count) + turned) / count
        flat = np.sin(polar)
        out += np.stack(
            [flat * np.cos(angle), flat * np.sin(angle), np.full(count, np.cos(polar))], axis=1
        ).tolist()
        turned = 0.5 - turned
        if polar > reach:
            gap = min(GROWTH * gap, coarse)
        polar += 0.87 * gap  # the height of a triangle
    return np.array([*out, [0.0, 0.0, -1.0]])


def _hull(x: Array) -> Array:
    """The outward triangles of a convex surface."""
    t = ConvexHull(x).simplices.astype(np.int32)
    a, b, c = (x[t[:, k]] for k in range(3))
    inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), a + b + c) < 0.0
    t[inward] = t[inward][:, [0, 2, 1]]
    return t


def can(
    radius: float = 0.033, height: float = 0.115, *, lying: bool = False, sides: int = 64
) -> RigidShape:
    """A drinks can on z = 0, radius and height [m]; `lying` along y, or standing.

    `sides`: number of facets around it.
    """
    require_positive("can radius", radius, " m")
    require_positive("can height", height, " m")
    points, triangles = _revolved([(radius, 0.0), (radius, height)], _sides("can", sides))
    if lying:
        points = points[:, [0, 2, 1]] * [1.0, -1.0, 1.0] + [0.0, height / 2.0, radius]
    return RigidShape("can", points - [0.0, 0.0, points[:, 2].min()], triangles)


def globe(radius: float, sides: int = 48) -> RigidShape:
    """A sphere around the origin, radius [m], with `sides` facets around and half as many along."""
    require_positive("globe radius", radius, " m")
    down = np.linspace(-0.5 * np.pi, 0.5 * np.pi, _sides("globe", sides) // 2 + 1)[1:-1]
    section = [(radius * float(np.cos(a)), radius * float(np.sin(a))) for a in down]
    return RigidShape("globe", *_revolved(section, sides))


def ring(
    inner: float = 0.02, outer: float = 0.03, height: float = 0.01, *, sides: int = 48
) -> RigidShape:
    """A flat ring on z = 0: inner and outer radius, height [m]; `sides`: number of facets."""
    for label, value in (("inner", inner), ("height", height)):
        require_positive(f"ring {label}", value, " m")
    if not inner < outer < np.inf:
        raise LimpetError(f"ring outer = {outer:g} m: expected more than inner = {inner:g} m")
    section = [(inner, height), (inner, 0.0), (outer, 0.0), (outer, height)]
    points, triangles = _revolved(section, _sides("ring", sides), closed=True)
    return RigidShape("ring", points, triangles)


def compartment_box(
    length: float = 0.2,  # [m] along x, outer dimension
    width: float = 0.2,  # [m] along y, outer dimension
    height: float = 0.06,  # [m] outer dimension
    cells: tuple[int, int] = (2, 2),  # number of cells along x and y
    wall: float = 0.004,  # [m] thickness of the walls
) -> RigidShape:
    """An open box on z = 0, divided by walls into cells along x and y."""
    sizes = (("length", length), ("width", width), ("height", height), ("wall", wall))
    for label, value in sizes:
        require_positive(f"compartment box {label}", value, " m")
    if min(cells) < 1:
        raise LimpetError(f"compartment box cells = {cells}: expected two whole numbers from 1 up")
    rooms = [(size - (n + 1) * wall) / n for size, n in zip((length, width), cells)]
    if min(*rooms, height - wall) <= 0.0:
        raise LimpetError(
            f"compartment box wall = {wall:g} m: too thick for {cells[0]} x {cells[1]} cells"
        )
    box = Manifold.cube((length, width, height)).translate((-length / 2.0, -width / 2.0, 0.0))
    room = Manifold.cube((rooms[0], rooms[1], 2.0 * height))
    for i in range(cells[0]):
        for j in range(cells[1]):
            x = -length / 2.0 + wall + i * (rooms[0] + wall)
            y = -width / 2.0 + wall + j * (rooms[1] + wall)
            box = Manifold.batch_boolean([box, room.translate((x, y, wall))], OpType.Subtract)
    return RigidShape("compartment box", *arrays(box))


def mug(
    radius: float = 0.04,
    height: float = 0.09,
    wall: float = 0.005,
    handle: float = 0.006,  # [m] half the thickness of the handle
    sides: int = 48,
) -> RigidShape:
    """A mug on z = 0, open above, with a round handle along x; outer dimensions."""
    sizes = (("radius", radius), ("height", height), ("wall", wall), ("handle", handle))
    for label, value in sizes:
        require_positive(f"mug {label}", value, " m")
    sides = _sides("mug", sides)
    reach = 0.3 * height  # [m] radius of the centre line of the handle
    if wall >= min(radius, height) / 2.0 or handle >= reach / 2.0:
        raise LimpetError(
            f"mug wall = {wall:g} m, handle = {handle:g} m: expected the wall below "
            f"{min(radius, height) / 2.0:.3g} m and the handle below {reach / 2.0:.3g} m"
        )
    outer = Manifold.cylinder(height, radius, radius, sides)
    hollow = Manifold.cylinder(height, radius - wall, radius - wall, sides).translate((0, 0, wall))
    ring = CrossSection.circle(handle, max(sides // 3, 6)).translate((reach, 0.0))
    grip = ring.revolve(sides).rotate((90.0, 0.0, 0.0)).translate((radius, 0.0, height / 2.0))
    return RigidShape("mug", *arrays((outer + grip) - hollow))


def drilled_plate(
    length: float = 0.06,  # [m] along x
    width: float = 0.06,  # [m] along y
    height: float = 0.02,  # [m] along z
    hole: float = 0.004,  # [m] diameter of the hole
    depth: float = 0.01,  # [m] of the hole
    at: tuple[float, float] = (0.0, 0.0),  # [m] position of the hole in x, y
    *,
    sides: int = 12,  # number of facets of the hole
) -> RigidShape:
    """A plate with a blind hole, its top at z = 0.

    The hole is a port for a vacuum line.
    """
    sizes = {"length": length, "width": width, "height": height, "hole": hole, "depth": depth}
    for label, value in sizes.items():
        require_positive(f"drilled plate {label}", value, " m")
    if not depth < height:
        raise LimpetError(
            f"drilled plate depth = {depth:g} m: expected less than its height {height:g} m"
        )
    inside = [abs(x) + 0.5 * hole < 0.5 * size for x, size in zip(at, (length, width))]
    if not all(inside):
        raise LimpetError(
            f"drilled plate hole at ({at[0]:g}, {at[1]:g}) m: expected it inside the plate, "
            f"{length:g} x {width:g} m"
        )
    plate = Manifold.cube((length, width, height)).translate((-length / 2, -width / 2, -height))
    drill = Manifold.cylinder(2.0 * depth, hole / 2, hole / 2, _sides("drilled plate", sides))
    return RigidShape("plate", *arrays(plate - drill.translate((*at, -depth))))


def pencil(
    length: float = 0.175,  # [m] with the point
    width: float = 7e-3,  # [m] between two opposite faces
    point: float = 0.018,  # [m] length of the sharpened part
) -> RigidShape:
    """A hexagonal pencil along the x axis, pointing to +x, with two faces normal to z.

    Its blunt end is at x = 0.
    """
    for label, value in (("width", width), ("point", point)):
        require_positive(f"pencil {label}", value, " m")
    if not point < length < np.inf:
        raise LimpetError(f"pencil length = {length:g} m: expected more than its point {point:g} m")
    radius = width / np.sqrt(3.0)
    body = Manifold.cylinder(length - point, radius, radius, 6)
    lead = Manifold.cylinder(point, radius, 0.1 * radius, 6).translate((0.0, 0.0, length - point))
    return RigidShape("pencil", *arrays((body + lead).rotate((0.0, 90.0, 0.0))))


def spoon(
    length: float = 0.17,  # [m] with the bowl
    bowl: tuple[float, float, float] = (0.05, 0.034, 0.01),  # [m] length, width, depth
    handle: tuple[float, float] = (3e-3, 8e-3),  # [m] across and up
    wall: float = 1.5e-3,  # [m] of the bowl
    sides: int = 32,
) -> RigidShape:
    """A spoon along x with its bowl open above; the handle is on the x axis and ends at x = 0."""
    for label, value in (("bowl", min(bowl)), ("handle", min(handle)), ("wall", wall)):
        require_positive(f"spoon {label}", value, " m")
    if not (bowl[0] < length < np.inf and wall < 0.5 * min(bowl)):
        raise LimpetError(
            f"spoon length = {length:g} m, wall = {wall:g} m: expected more than the bowl's length "
            f"{bowl[0]:g} m, and a wall below half its depth"
        )
    ball = Manifold.sphere(1.0, _sides("spoon", sides))
    half = np.array([0.5 * bowl[0], 0.5 * bowl[1], bowl[2]])
    dish = (ball.scale(tuple(half)) - ball.scale(tuple(half - wall))).translate(
        (length - half[0], 0.0, 0.5 * handle[1])
    )
    dish = dish.trim_by_plane((0.0, 0.0, -1.0), -0.5 * handle[1])
    bar = Manifold.cube((length - bowl[0] + 2.0 * wall, *handle))
    return RigidShape("spoon", *arrays(dish + bar.translate((0.0, -handle[0] / 2, -handle[1] / 2))))


def wheel(radius: float, width: float, spokes: int = 5, sides: int = 64) -> RigidShape:
    """A wheel about the y axis, radius and width [m]: rim, hub and spokes."""
    for label, value in (("radius", radius), ("width", width)):
        require_positive(f"wheel {label}", value, " m")
    if spokes < 2:
        raise LimpetError(f"wheel spokes = {spokes}: expected 2 or more")
    sides = _sides("wheel", sides)
    rim = Manifold.cylinder(width, radius, radius, sides, True)
    rim -= Manifold.cylinder(2.0 * width, 0.8 * radius, 0.8 * radius, sides, True)
    hub = Manifold.cylinder(width, 0.2 * radius, 0.2 * radius, sides, True)
    spoke = Manifold.cube((0.8 * radius, 0.12 * radius, 0.5 * width), True)
    spoke = spoke.translate((0.5 * radius, 0.0, 0.0))
    turned = [spoke.rotate((0.0, 0.0, 360.0 * k / spokes)) for k in range(spokes)]
    whole = Manifold.batch_boolean([rim, hub, *turned], OpType.Add)
    return RigidShape("wheel", *arrays(whole.rotate((90.0, 0.0, 0.0))))


def _sides(name: str, sides: int) -> int:
    if sides < 6:
        raise LimpetError(f"{name} sides = {sides}: expected 6 or more")
    return sides


def _revolved(
    section: list[tuple[float, float]], sides: int, closed: bool = False
) -> tuple[Array, Array]:
    """The surface of revolution of (r, z) corners: upwards, or around a `closed` section."""
    steps = np.arange(float(sides))
    angle = 2.0 * np.pi * steps / sides
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    points = [np.column_stack([r * circle, np.full(sides, z)]) for r, z in section]
    loops = [list(range(k * sides, (k + 1) * sides)) for k in range(len(section))]
    triangles: list[tuple[int, int, int]] = []
    for one, two in pairwise([*loops, loops[0]] if closed else loops):
        triangles += strip(one, steps, two, steps, sides)
    if not closed:
        below, above = sides * len(section), sides * len(section) + 1
        points.append(np.array([[0.0, 0.0, section[0][1]], [0.0, 0.0, section[-1][1]]]))
        first, last = loops[0], loops[-1]
        triangles += [(below, first[(a + 1) % sides], first[a]) for a in range(sides)]
        triangles += [(above, last[a], last[(a + 1) % sides]) for a in range(sides)]
    return np.concatenate(points), np.array(triangles, dtype=np.int32)
