"""An octopus arm: a tapered body along x with a row of suckers on its underside, of hexahedra.

The arm is a row of units of the same proportions, which differ in size only. Seen from below, a
unit is a disc (the roof of the hollow), a ring around it with the wall of the sucker below, and a
frame out to the sides of the unit; each has eight sectors. Metres; the rims of all suckers are at
z = 0.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from limpet.errors import LimpetError, require_positive
from limpet.geometry.cells import CELLS, mesh_of
from limpet.geometry.shape import Array, Binding, SoftShape, boundary
from limpet.meshing.embedded import Vertices
from limpet.meshing.strips import strip

SECTORS = 8  # of a sucker; corners and side midpoints of the unit are between them
TURN = 2 * SECTORS  # half sectors
# Section of a sucker in units of its radius: outer face of the wall at the root and at the rim
ROOT, RIM = 0.8, 1.0
DEPTH = 0.6  # of the hollow below the arm
DOME = 0.15  # of its roof in the arm
BULGE = 0.03  # of the middle of the rim below its edges
HIGH_SIDES = 0.55  # thickness of the arm at its edges over that in the middle

Key = tuple[float, ...]


def tentacle(
    length: float = 0.16,  # [m] along x
    root: float = 0.024,  # [m] width at the root
    tip: float = 0.012,  # [m] width at the tip
    suckers: int = 7,  # number of suckers
    *,
    thickness: float = 0.45,  # of the arm, in widths
    sucker: float = 0.92,  # diameter of a sucker, as a fraction of the space for it
    lip: float = 0.12,  # thickness of a sucker's wall at the rim, in radii of the sucker
    wall: float = 0.35,  # thickness of that wall at the arm, in radii of the sucker
    rim_vertices: int = 3,  # vertices of the collision surface per sector
    stiffness: float = 1.0,  # Young's modulus of the suckers' walls over that of the arm
    element: str | None = None,
) -> SoftShape:
    """An arm from x = 0 to `length` with suckers below, of hex20 cells.

    Regions: root (the face at x = 0), tip, back (the upper face), rims (of the suckers).
    """
    for label, value in (("length", length), ("root", root), ("tip", tip)):
        require_positive(f"tentacle {label}", value, " m")
    require_positive("tentacle thickness", thickness)
    require_positive("tentacle stiffness", stiffness)
    if mesh_of(element, "hex20", "tentacle") != "hex20":
        raise LimpetError(f"tentacle element = '{element}': expected hex20, hex20p or hex20r")
    if tip > root:
        raise LimpetError(f"tentacle tip = {tip:g} m: expected at most root = {root:g} m")
    if suckers < 1 or rim_vertices < 1:
        raise LimpetError(
            f"tentacle suckers = {suckers}, rim_vertices = {rim_vertices}: expected 1 or more"
        )
    if not 0.0 < sucker < 1.0:
        raise LimpetError(f"tentacle sucker = {sucker:g}: expected a number between 0 and 1")
    if not 0.05 <= lip <= 0.5:
        raise LimpetError(f"tentacle lip = {lip:g}: expected 0.05 to 0.5 of a sucker's radius")
    if not 0.05 <= wall <= 0.6:
        raise LimpetError(f"tentacle wall = {wall:g}: expected 0.05 to 0.6 of a sucker's radius")
    arm = _Arm(length, root, tip, suckers, thickness, sucker, (lip, wall))
    cells = arm.mesh()
    points = np.array(arm.points)
    collision = arm.collision(cells["hex20"], rim_vertices)
    walls = np.ones(len(cells["hex20"]))
    walls[list(arm.wall.values())] = stiffness
    return SoftShape(
        "tentacle", points, cells, collision, boundary(cells), arm.regions(), element,
        {} if stiffness == 1.0 else {"hex20": walls},
    )  # fmt: skip


class _Arm:
    """Nodes by key, created on first use.

    On the lines between units: (line, side, level), side from -2 to 2 across the arm. In unit k:
    (k, ring, angle, level), rings 0 to 6 (2 and 4 are the faces of the wall, 6 the sides of the
    unit), angles in half sectors. Levels: 0 is the underside, 2 the back, -2 the rim.
    """

    def __init__(
        self, length: float, root: float, tip: float, count: int,
        thickness: float, sucker: float, walls: tuple[float, float],
    ) -> None:  # fmt: skip
        self.length, self.root, self.tip, self.count = length, root, tip, count
        self.thickness = thickness
        self.rim, self.foot = (RIM - walls[0], RIM), (ROOT - walls[1], ROOT)
        self.lines = self._unit_lines()
        pitch, width = np.diff(self.lines), self.width(self.lines)
        room = min(float((pitch / width[:-1]).min()), float((width[1:] / width[:-1]).min()))
        self.share = 0.5 * sucker * room  # radius of a sucker over the width of its unit
        self.ids: dict[Key, int] = {}
        self.points: list[Array] = []
        self.wall: dict[tuple[int, int], int] = {}  # (unit, sector) -> cell of a sucker's wall

    def width(self, x: Array | float) -> Array:
        return self.root + (self.tip - self.root) * np.asarray(x) / self.length

    def _unit_lines(self) -> Array:
        """Boundaries of the units, in proportion to their width; the ends have no sucker."""
        a, b = 0.3 * self.root, self.length - 0.5 * self.tip
        if b - a < 0.5 * self.count * self.tip:
            raise LimpetError(
                f"tentacle suckers = {self.count}: too many for length = {self.length:g} m; "
                f"expected at most {max(int((b - a) / (0.5 * self.tip)), 1)}"
            )
        step = np.linspace(0.0, 1.0, self.count + 1)
        wide, narrow = float(self.width(a)), float(self.width(b))
        if wide - narrow < 1e-6 * wide:
            return a + (b - a) * step
        return a + (b - a) * (wide - wide * (narrow / wide) ** step) / (wide - narrow)

    def radius(self, unit: int) -> float:
        return self.share * float(self.width(self.lines[unit]))

    def node(self, *key: float) -> int:
        if len(key) == 4 and key[1] == 6:  # on a side that two units may share
            key = self._side_key(int(key[0]), int(key[2]) % TURN, key[3])
        elif len(key) == 4:
            key = (key[0], key[1], key[2] % TURN if key[1] else 0, key[3])
        if key not in self.ids:
            self.ids[key] = len(self.points)
            self.points.append(self._line(*key) if len(key) == 3 else self._in_unit(*key))
        return self.ids[key]

    def _side_key(self, unit: int, angle: int, level: float) -> Key:
        """(line, side, level) of a point on the sides of a unit, by its angle in half sectors."""
        a = angle if angle <= 10 else angle - TURN  # -5 to 10
        if -2 <= a <= 2:
            return unit + 1.0, float(a), level
        if 6 <= a <= 10:
            return float(unit), 8.0 - a, level
        return unit + 0.5 + 0.25 * (4 - a if a > 0 else 4 + a), 2.0 if a > 0 else -2.0, level

    def _line(self, line: float, side: float, level: float) -> Array:
        ends = np.concatenate([[0.0], self.lines, [self.length]])
        x = float(np.interp(line, np.arange(-1, self.count + 2), ends))
        return self._lift(x, 0.25 * side * float(self.width(x)), level)

    def _lift(self, x: float, y: float, level: float, dome: float = 0.0) -> Array:
        """A point in the arm, level 0 (underside) to 2 (back)."""
        width = float(self.width(x))
        across = 2.0 * y / width
        low = DEPTH * self.share * width + dome
        back = 1.0 - (1.0 - HIGH_SIDES) * across**2
        high = DEPTH * self.share * width + self.thickness * width * back
        return np.array([x, y, low + (high - low) * level / 2.0])

    def _in_unit(self, unit: float, ring: float, angle: float, level: float) -> Array:
        k = int(unit)
        big, turn = self.radius(k), 2.0 * np.pi * angle / TURN
        middle = 0.5 * (self.lines[k] + self.lines[k + 1])
        down = max(-level, 0.0) / 2.0  # 0 to 1 along the wall
        inner, outer = (big * (a + (b - a) * down) for a, b in zip(self.foot, self.rim))
        if ring > 4:
            inside = self._in_unit(unit, 4, angle, level)
            outside = self.points[self.node(unit, 6, angle, level)]
            x, y = 0.5 * (inside + outside)[:2]
            return self._lift(x, y, level)
        r = 0.5 * ring * inner if ring <= 2 else inner + (outer - inner) * (ring / 2.0 - 1.0)
        x, y = middle + r * np.cos(turn), r * np.sin(turn)
        if level >= 0.0:
            return self._lift(x, y, level, DOME * big * max(1.0 - (r / inner) ** 2, 0.0))
        bulge = BULGE * big * (1.0 if ring == 3 else 0.0) * down
        z = (1.0 - down) * self._lift(x, y, 0.0)[2] + down * BULGE * big - bulge
        return np.array([x, y, z])

    def mesh(self) -> dict[str, Array]:
        """hex20 cells and, in the middle of a unit, wedge15 cells."""
        hexes: list[list[int]] = []
        wedges: list[list[int]] = []
        steps = np.rint(CELLS["hex20"].nodes + 1.0).astype(int)
        triangle = [(0, 0), (2, 0), (2, 2), (1, 0), (2, 1), (1, 2)]
        for k in range(self.count):
            for sector in range(SECTORS):
                j = 2 * sector
                low, middle, high = (
                    [(k, ring, j + a, level) for ring, a in triangle] for level in (0, 1, 2)
                )
                keys = low[:3] + high[:3] + low[3:] + high[3:] + middle[:3]
                wedges.append([self.node(*key) for key in keys])
                self.wall[k, sector] = len(hexes)
                for ring, level in ((2, -2), (2, 0), (4, 0)):
                    hexes.append([self.node(k, ring + a, j + b, level + c) for a, b, c in steps])
        for line in (-1, self.count):  # the ends without suckers
            for side in (-2, 0):
                hexes.append(
                    [self.node(line + 0.5 * a, side + float(b), float(c)) for a, b, c in steps]
                )
        return {"hex20": np.array(hexes, np.int32), "wedge15": np.array(wedges, np.int32)}

    def regions(self) -> dict[str, Array]:
        def chosen(where: Callable[[Key], bool]) -> Array:
            return np.array(sorted(n for key, n in self.ids.items() if where(key)), np.int32)

        return {
            "root": chosen(lambda key: len(key) == 3 and key[0] == -1),
            "tip": chosen(lambda key: len(key) == 3 and key[0] == self.count + 1),
            "back": chosen(lambda key: key[-1] == 2),
            "rims": chosen(lambda key: key[-1] == -2),
        }

    def collision(self, hexes: Array, rim_vertices: int) -> Binding:
        """Fine rings along the wall of each sucker; elsewhere the corners of the cells."""
        vertices = Vertices()

        def corner(*key: float) -> int:
            return vertices.at_node(self.node(*key))

        t = (2.0 * np.arange(rim_vertices) + 1.0) / rim_vertices - 1.0  # within a sector
        angles = (2.0 * np.arange(SECTORS)[:, None] + 1.0 + t).ravel()
        outline = np.arange(0.0, TURN, 2.0)
        triangles: list[tuple[int, int, int]] = []
        for k in range(self.count):
            # from the roof down the inner face, over the rim, up the outer face
            rings = [
                [
                    vertices.in_cell(cell, (across, s, up))
                    for cell in (hexes[self.wall[k, sector]] for sector in range(SECTORS))
                    for s in t
                ]
                for across, up in ((-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1), (1, 1))
            ]
            roof = corner(k, 0, 0, 0)
            first = rings[0]
            triangles += [(roof, first[(a + 1) % len(first)], a_) for a, a_ in enumerate(first)]
            for one, two in pairwise(rings):
                triangles += strip(one, angles, two, angles, TURN)
            below = [corner(k, 6, j, 0) for j in outline.astype(int)]
            triangles += strip(rings[-1], angles, below, outline, TURN)
            above, top = [corner(k, 6, j, 2) for j in outline.astype(int)], corner(k, 0, 0, 2)
            for a in range(SECTORS):
                b = (a + 1) % SECTORS
                triangles.append((top, above[a], above[b]))
                if a in (1, 2, 5, 6):  # the two free sides, north and south
                    triangles += [(below[a], below[b], above[b]), (below[a], above[b], above[a])]
        for line, outer in ((-1, -1), (self.count, self.count + 1)):
            low, high = ({s: [corner(x, s, z) for x in (line, line + 1)] for s in (-2.0, 0.0, 2.0)}
                         for z in (0.0, 2.0))  # fmt: skip
            quads = []
            for s in (-2.0, 0.0):
                quads.append((low[s][0], low[s + 2][0], low[s + 2][1], low[s][1]))
                quads.append((high[s][0], high[s][1], high[s + 2][1], high[s + 2][0]))
                end = 0 if outer == line else 1
                face = (low[s][end], low[s + 2][end], high[s + 2][end], high[s][end])
                quads.append(face if end else face[::-1])
            quads.append((low[-2.0][0], low[-2.0][1], high[-2.0][1], high[-2.0][0]))
            quads.append((low[2.0][1], low[2.0][0], high[2.0][0], high[2.0][1]))
            triangles += [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))]
        return vertices.bind(np.array(triangles))
