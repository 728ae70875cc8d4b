"""Soft blocks with holes: the halves of a jelly cube (P 5, 'Cube Halves'), the cube with a tunnel
(P 5.2, 'Air Tunnel'). Hexahedra; metres; the top face at z = 0."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from limpet.errors import LimpetError, require_positive
from limpet.geometry.cells import CELLS
from limpet.geometry.shape import Array, Binding, SoftShape, boundary
from limpet.meshing.embedded import Vertices, brick_body
from limpet.meshing.strips import strip

HARMONICS = (2, 3, 4, 5)  # of the outline of a hole
FRAME = 0.4  # position of the line that divides the frame, from the hole to the side of the block


def jelly_half(
    edge: float = 0.06, divisions: tuple[int, int, int] = (4, 4, 2), finer: int = 2
) -> SoftShape:
    """The lower half of a cube of `edge` [m]; regions bottom, top.

    `divisions`: cells along x, y, z; `finer`: subdivisions of an edge in the collision surface.
    """
    require_positive("jelly half edge", edge, " m")
    if min(divisions) < 1:
        raise LimpetError(f"jelly half divisions = {divisions}: expected three numbers from 1 up")
    x, y = (np.linspace(-edge / 2.0, edge / 2.0, n + 1) for n in divisions[:2])
    z = np.linspace(-edge / 2.0, 0.0, divisions[2] + 1)
    return brick_body(np.ones(divisions, dtype=bool), (x, y, z), finer, name="half")


def half_with_hole(
    edge: float = 0.06,  # [m] of the cube
    radius: float = 0.016,  # [m] mean radius of the hole
    depth: float = 0.012,  # [m] of the hole
    seed: int = 1,  # of the random outline
    *,
    rough: float = 0.25,  # deviation of the outline from a circle, in radii
    sectors: int = 12,  # cells around the hole
    around: int = 2,  # vertices of the collision surface per sector
) -> SoftShape:
    """Half of a cube with a hole of random outline in its top face, of hex20 cells.

    Regions: bottom, top.
    """
    for label, value in (("edge", edge), ("radius", radius), ("depth", depth)):
        require_positive(f"half with hole {label}", value, " m")
    if not 0.0 <= rough <= 0.45:
        raise LimpetError(f"half with hole rough = {rough:g}: expected 0 (a circle) to 0.45")
    if radius * (1.0 + rough) > 0.45 * edge:
        raise LimpetError(
            f"half with hole radius = {radius:g} m: expected at most "
            f"{0.45 * edge / (1.0 + rough):.3g} m, or the hole comes too near to the side"
        )
    if depth > 0.45 * edge:
        raise LimpetError(
            f"half with hole depth = {depth:g} m: expected at most {0.45 * edge:.3g} m, for a floor"
        )
    if sectors < 8 or sectors % 4 or around < 1:
        raise LimpetError(
            f"half with hole sectors = {sectors}, around = {around}: expected 8, 12, 16, ... "
            "sectors and one vertex or more in each"
        )
    angle = np.pi / 4.0 + np.pi * np.arange(2 * sectors) / sectors  # corners and midsides
    outline = radius * hole_outline(angle, seed, rough)
    block = _Holed(edge, angle, outline, (0.0, -depth, -edge / 2.0))
    cells = block.mesh()
    points = np.array(block.points)
    z = points[:, 2]
    regions = {
        "bottom": np.flatnonzero(z == z.min()).astype(np.int32),
        "top": np.flatnonzero(z == 0.0).astype(np.int32),
    }
    collision = block.collision(cells["hex20"], around)
    return SoftShape("half with hole", points, cells, collision, boundary(cells), regions)


def hole_outline(angle: Array, seed: int, rough: float) -> Array:
    """A smooth random closed curve: its radius at each angle, 1 on average, within 1 +- rough."""
    waves = np.random.default_rng(seed).normal(size=(2, len(HARMONICS)))
    fine = np.linspace(0.0, 2.0 * np.pi, 360, endpoint=False)

    def sway(a: Array) -> Array:
        phase = np.outer(a, HARMONICS)
        return np.cos(phase) @ waves[0] + np.sin(phase) @ waves[1]

    return 1.0 + rough * sway(angle) / np.abs(sway(fine)).max()


class _Holed:
    """A block cut into sectors round its hole, nodes by (ring, angle, level) in half cells.

    Ring 2 is the hole's border, 4 parts the frame, 6 the block's side; level 0 is the top, 2 the
    hole's floor, 4 the bottom.
    """

    def __init__(
        self, edge: float, angle: Array, outline: Array, heights: tuple[float, float, float]
    ) -> None:
        way = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        border = outline[:, None] * way
        side = 0.5 * edge * way / np.abs(way).max(axis=1)[:, None]
        parted = border + FRAME * (side - border)
        rings = [0.0 * border, 0.5 * border, border, 0.5 * (border + parted), parted]
        self.rings = [*rings, 0.5 * (parted + side), side]  # of (angles, 2) [m]
        top, floor, bottom = heights
        self.heights = [top, 0.5 * (top + floor), floor, 0.5 * (floor + bottom), bottom]
        self.turn = len(angle)
        self.ids: dict[tuple[int, int, int], int] = {}
        self.points: list[Array] = []
        self.upper: dict[tuple[int, int], int] = {}  # (ring, sector) -> cell at the top

    def node(self, ring: int, angle: int, level: int) -> int:
        key = (ring, angle % self.turn if ring else 0, level)
        if key not in self.ids:
            self.ids[key] = len(self.points)
            self.points.append(np.append(self.rings[ring][key[1]], self.heights[level]))
        return self.ids[key]

    def mesh(self) -> dict[str, Array]:
        hexes: list[list[int]] = []
        wedges: list[list[int]] = []
        steps = np.rint(CELLS["hex20"].nodes + 1.0).astype(int)
        triangle = [(0, 0), (2, 0), (2, 2), (1, 0), (2, 1), (1, 2)]
        for j in range(0, self.turn, 2):
            low, middle, high = ([(r, j + a, lv) for r, a in triangle] for lv in (4, 3, 2))
            keys = low[:3] + high[:3] + low[3:] + high[3:] + middle[:3]
            wedges.append([self.node(*key) for key in keys])
            for ring in (2, 4):
                self.upper[ring, j // 2] = len(hexes)
                for level in (2, 4):  # of the cell's lower face
                    hexes.append([self.node(ring + a, j + b, level - c) for a, b, c in steps])
        return {"hex20": np.array(hexes, np.int32), "wedge15": np.array(wedges, np.int32)}

    def collision(self, hexes: Array, around: int) -> Binding:
        """Rings from the hole's floor over its border and the top face to the sides; nodes below.

        On the top face the vertices of a ring stand alike in their cells.
        """
        vertices = Vertices()
        t = (2.0 * np.arange(around) + 1.0) / around - 1.0
        sectors = self.turn // 2
        between = (2.0 * np.arange(sectors)[:, None] + 1.0 + t).ravel()
        corners = np.arange(float(self.turn))

        def at_nodes(ring: int, level: int) -> list[int]:
            return [vertices.at_node(self.node(ring, j, level)) for j in range(self.turn)]

        def in_cells(ring: int, across: float, up: float) -> list[int]:
            own = [hexes[self.upper[ring, s]] for s in range(sectors)]
            return [vertices.in_cell(cell, (across, s, up)) for cell in own for s in t]

        rings = [
            (in_cells(2, -1, -1), between),  # the floor's edge
            (in_cells(2, -1, 1), between),  # the border
            *((in_cells(2, a, 1), between) for a in (0.0, 1.0)),
            (in_cells(4, 0, 1), between),
            (at_nodes(6, 0), corners),
            (at_nodes(6, 2), corners),
            (at_nodes(6, 4), corners),
            (at_nodes(4, 4), corners),
        ]
        floor, bottom = (vertices.at_node(self.node(0, 0, level)) for level in (2, 4))
        first, last = rings[0][0], rings[-1][0]
        # the surface is that of a cup upside down: flip every triangle
        found = [(floor, first[(a + 1) % len(first)], v) for a, v in enumerate(first)]
        for (one, lower), (two, upper) in pairwise(rings):
            found += strip(one, lower, two, upper, self.turn)
        found += [(bottom, v, last[(a + 1) % len(last)]) for a, v in enumerate(last)]
        return vertices.bind(np.array(found)[:, [0, 2, 1]])


def tunnel_cube(
    edge: float = 0.06,  # [m] of the cube
    hole: float = 0.007,  # [m] width of the holes and the tunnel
    spacing: float = 0.016,  # [m] between the centres of the holes
    depth: float = 0.015,  # [m] from the top to the roof of the tunnel
    *,
    finer: int = 2,  # subdivisions of a cell edge in the collision surface
    element: str | None = None,
) -> SoftShape:
    """A cube with two holes in its top face, along x, that are connected by a tunnel.

    Regions: bottom, top.
    """
    sizes = (("edge", edge), ("hole", hole), ("spacing", spacing), ("depth", depth))
    for label, value in sizes:
        require_positive(f"tunnel cube {label}", value, " m")
    if spacing <= 1.1 * hole or spacing + hole > 0.95 * edge:
        raise LimpetError(
            f"tunnel cube spacing = {spacing:g} m: expected between 1.1 holes = {1.1 * hole:.3g} m "
            f"and {0.95 * edge - hole:.3g} m, for walls between and around the holes"
        )
    if depth + hole > 0.95 * edge:
        raise LimpetError(
            f"tunnel cube depth = {depth:g} m: expected at most {0.95 * edge - hole:.3g} m, "
            "for a floor under the tunnel"
        )
    e, w, s = edge / 2.0, hole / 2.0, spacing / 2.0
    x = np.array([-e, -s - w, -s + w, s - w, s + w, e])
    y = np.array([-e, -w, w, e])
    z = np.array([-edge, -depth - hole, -depth, 0.0])
    filled = np.ones((5, 3, 3), dtype=bool)
    filled[[1, 3], 1, 2] = False  # the holes
    filled[1:4, 1, 1] = False  # the tunnel
    return brick_body(filled, (x, y, z), finer, element, "tunnel cube")
