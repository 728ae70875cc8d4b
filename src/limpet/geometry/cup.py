"""Suction cups as surfaces of revolution: profile, hexahedral or tetrahedral mesh, surfaces.

A profile is a wall (its underside and its thickness, from the axis to the lip) and a stem on top.
The mesh is structured: sectors round the axis, one layer through the wall, one cell a segment of
the profile, finer towards the lip, two layers in the stem, wedges at the axis.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Protocol

import numpy as np

from limpet.errors import LimpetError, require_positive, suggest
from limpet.geometry.cells import (
    CELLS,
    TET_EDGES,
    bezier_triangle,
    mesh_of,
    serendipity8,
    triangle6,
)
from limpet.geometry.grids import HEXAHEDRON_TETS
from limpet.geometry.shapes import Array, Binding, SoftShape, boundary
from limpet.geometry.strips import strip

LINEAR = ("tet4", "hex8")
STEM_LAYERS = 2
GRADING = 0.8  # stations stand at (i / n)^grading of the wall: closer together at the lip
RIM = 0.25  # share of the wall's segments, from the lip inward, with a fine collision surface


@dataclass(frozen=True)
class CupProfile:
    """Half section of a cup in metres; the lip's lower edge touches z = 0."""

    name: str
    radius: float  # [m] of the lip
    depth: float  # [m] of the dome under the axis
    height: float  # [m] from lip to top of the stem
    stem_radius: float  # [m]
    hub_thickness: float  # [m] of the wall at the stem
    lip_thickness: float  # [m] of the wall at the lip
    dome: float = 2.0  # the underside is depth (1 - (r / radius)^dome): 2 is a parabola

    def check(self) -> CupProfile:
        for label in ("radius", "depth", "height", "stem_radius", "hub_thickness", "lip_thickness"):
            require_positive(f"cup {label}", getattr(self, label), " m")
        if self.stem_radius >= self.radius:
            raise LimpetError(
                f"cup stem_radius = {self.stem_radius:g} m: expected less than its radius "
                f"{self.radius:g} m"
            )
        if not self.dome >= 1.0:
            raise LimpetError(
                f"cup dome = {self.dome:g}: expected 1 (a cone), 2 (a parabola) or more"
            )
        if self.height < 1.01 * (self.depth + self.hub_thickness):
            raise LimpetError(
                f"cup height = {self.height:g} m: expected more than depth + hub_thickness = "
                f"{self.depth + self.hub_thickness:g} m"
            )
        return self

    def underside(self, r: Array | float) -> Array:
        """z [m] of the wall's lower face at radius r."""
        return self.depth * (1.0 - (np.asarray(r) / self.radius) ** self.dome)

    def wall(self, r: Array | float, across: float) -> tuple[Array, Array]:
        """(r, z) in the wall: `across` = 0 on the lower face, 1 on the upper, along its normal."""
        r = np.asarray(r, dtype=float)
        outer = np.clip((r - self.stem_radius) / (self.radius - self.stem_radius), 0.0, 1.0)
        thickness = self.hub_thickness + (self.lip_thickness - self.hub_thickness) * outer
        slope = -self.depth * self.dome * (r / self.radius) ** (self.dome - 1.0) / self.radius
        # inside the stem the wall's upper face rises straight up, so that the stem stands on it
        tilt = np.where(r > self.stem_radius, 1.0, 0.0) * np.arctan(slope)
        blend = np.clip((r / self.stem_radius - 1.0) / 0.5, 0.0, 1.0)
        tilt = tilt * blend
        return r - across * thickness * np.sin(tilt), self.underside(
            r
        ) + across * thickness * np.cos(tilt)


STANDARD = CupProfile(
    "standard", radius=17.5e-3, depth=4.5e-3, height=15e-3, stem_radius=5e-3,
    hub_thickness=2.0e-3, lip_thickness=0.7e-3,
)  # fmt: skip
# 31.5 mm across, for P's table 3, which tells no more of its cup: depth, stem and thicknesses are
# such that it lets go of a cylinder of radius 50 mm at the force that was measured there.
NEOPRENE = CupProfile(
    "neoprene", radius=15.75e-3, depth=7e-3, height=13.5e-3, stem_radius=6e-3,
    hub_thickness=2.4e-3, lip_thickness=1.6e-3,
)  # fmt: skip
# 40 mm across, cast of silicone, for paper A, whose drawing we lack: thick enough that the dome
# sinks by some mm under A's -6 kPa and does not collapse.
CAST = CupProfile(
    "cast", radius=20e-3, depth=12e-3, height=21e-3, stem_radius=6e-3,
    hub_thickness=5e-3, lip_thickness=3e-3,
)  # fmt: skip
PROFILES: dict[str, CupProfile] = {p.name: p for p in (STANDARD, NEOPRENE, CAST)}


def cup(
    profile: str | CupProfile = "standard",
    *,
    element: str | None = None,
    nodes: int = 434,
    sectors: int | None = None,
    segments: int | None = None,
) -> SoftShape:
    """A cup at about the given number of `nodes`, or with explicit sectors and wall segments.

    Its mesh is that of `element`, hexahedra of 20 nodes if none is named.

    Regions: "top" (the stem's upper face, what a gripper holds), "lip" (its edge), "rim" (the
    underside next to the lip, where it touches), "underside" (all of the wall's lower face).
    """
    if not isinstance(profile, (str, CupProfile)):
        raise LimpetError(f"cup profile = {profile!r}: expected a name or a CupProfile")
    if isinstance(profile, str):
        if profile not in PROFILES:
            raise LimpetError(f"cup profile = '{profile}'{suggest(profile, PROFILES)}")
        profile = PROFILES[profile]
    profile.check()
    kind = mesh_of(element, "hex20", "cup")
    numbers = mesh_size("cup", kind, nodes, sectors, segments, 3, _budget)
    return replace(_revolve(profile, kind, *numbers), element=element)


def mesh_size(
    label: str, kind: str, nodes: int, sectors: int | None, segments: int | None,
    least: int, budget: Callable[[str, int], tuple[int, int]],
) -> tuple[int, int]:  # fmt: skip
    """Sectors and segments as given, or those that `budget` finds for the number of nodes."""
    if (sectors is None) != (segments is None):
        raise LimpetError(
            f"{label} sectors and segments: give both, or neither and a number of nodes"
        )
    if sectors is None or segments is None:
        require_positive(f"{label} nodes", nodes, hint="some hundred")
        sectors, segments = budget(kind, nodes)
    if sectors < 6 or segments < least or (kind in LINEAR and sectors % 2):
        raise LimpetError(
            f"{label} sectors = {sectors}, segments = {segments}: expected 6 sectors and {least} "
            f"segments or more, for {' and '.join(LINEAR)} an even number of sectors"
        )
    return sectors, segments


def _budget(kind: str, nodes: int) -> tuple[int, int]:
    """Sectors and segments whose node count comes nearest, with cells of even proportions."""
    wall, upper = {"hex20": (7, 4), "tet10": (12, 8)}.get(kind, (2, 1))  # nodes a segment
    best = (np.inf, 0, 0, 0)
    for m in range(8, 121, 2):
        for n in range(4, 81):
            per_sector = wall * n + upper * STEM_LAYERS * _hub(n)
            count = m * per_sector + 2 * STEM_LAYERS + 3
            shape = m / n / (1.4 if kind in LINEAR else 2.0)
            miss = abs(count / nodes - 1.0) + 0.05 * abs(np.log(shape))
            best = min(best, (miss, m, n, count))
    _, m, n, count = best
    if not abs(count / nodes - 1.0) < 0.2:
        raise LimpetError(
            f"cup nodes = {nodes}: the nearest mesh of {kind} has {count}; "
            "ask for about that many (434 is the papers' size)"
        )
    return m, n


def _hub(segments: int) -> int:
    """How many of the wall's segments lie under the stem."""
    return max(1, round(0.18 * segments))


def _revolve(profile: CupProfile, kind: str, sectors: int, segments: int) -> SoftShape:
    order = 1 if kind in LINEAR else 2
    hub = _hub(segments)
    station = _stations(profile, hub, segments, order)
    grid = RevolvedGrid(profile, sectors, kind, station)
    arrays = grid.fill([1 + (STEM_LAYERS if i < hub else 0) for i in range(segments)])
    points = grid.control_points()
    rings = _rings(grid, hub, segments)
    collision = ring_surface(grid, rings, order * (1 + STEM_LAYERS))
    end, touched = order * segments, order * (segments - _rim(segments))
    regions = {
        "top": grid.nodes(lambda i, k: k == order * (1 + STEM_LAYERS)),
        "lip": grid.nodes(lambda i, k: i == end),
        "rim": grid.nodes(lambda i, k: i >= touched and k == 0),
        "underside": grid.nodes(lambda i, k: k == 0),
    }
    return SoftShape("cup", points, arrays, collision, boundary(arrays), regions)


def _rim(segments: int) -> int:
    """How many of the wall's segments, from the lip inward, have a fine collision surface."""
    return max(1, round(RIM * segments))


def _stations(profile: CupProfile, hub: int, segments: int, order: int) -> Array:
    """Radii of the profile's stations (and, for order 2, their midpoints)."""
    inner = np.linspace(0.0, profile.stem_radius, hub + 1)
    outer = (
        profile.stem_radius
        + (profile.radius - profile.stem_radius)
        * np.linspace(0, 1, segments - hub + 1)[1:] ** GRADING
    )
    r = np.concatenate([inner, outer])
    if order == 1:
        return r
    full = np.empty(2 * len(r) - 1)
    full[::2], full[1::2] = r, 0.5 * (r[1:] + r[:-1])
    return full


class Wall(Protocol):
    """What is revolved."""

    @property
    def height(self) -> float: ...  # [m] of a stem's top, if there is one

    def wall(self, r: Array | float, across: float) -> tuple[Array, Array]: ...


class RevolvedGrid:
    """Nodes by (station, angle, layer) in steps of 1/order; created when first asked for."""

    def __init__(self, profile: Wall, sectors: int, kind: str, station: Array) -> None:
        self.profile, self.sectors, self.kind, self.station = profile, sectors, kind, station
        self.order = 1 if kind in LINEAR else 2
        self.ids: dict[tuple[int, int, int], int] = {}
        self.points: list[Array] = []
        self.edges: dict[int, tuple[int, int]] = {}  # control point -> the ends of its edge

    def position(self, i: int, j: int, k: int) -> Array:
        p, order = self.profile, self.order
        across = min(k / order, 1.0)
        r, z = p.wall(self.station[i], across)
        if k > order:  # in the stem: straight up from the wall to the top
            z = z + (p.height - z) * (k / order - 1.0) / STEM_LAYERS
        angle = 2.0 * np.pi * j / (order * self.sectors)
        return np.array([r * np.cos(angle), r * np.sin(angle), z])

    def node(self, i: int, j: int, k: int) -> int:
        key = (i, j % (self.order * self.sectors) if i else 0, k)
        if key not in self.ids:
            self.ids[key] = len(self.points)
            self.points.append(self.position(*key))
        return self.ids[key]

    def nodes(self, where: Callable[[int, int], bool]) -> Array:
        """The nodes whose (station, layer) satisfy `where`."""
        found = sorted(n for (i, _, k), n in self.ids.items() if where(i, k))
        return np.array(found, dtype=np.int32)

    def fill(self, layers: Sequence[int]) -> dict[str, Array]:
        """All cells by kind, `layers` of them over each segment, all round."""
        cells: dict[str, list[list[int]]] = {}
        for j in range(self.sectors):
            for i, count in enumerate(layers):
                for k in range(count):
                    for name, cell in self.cells((self.order * i, self.order * j, self.order * k)):
                        cells.setdefault(name, []).append(cell)
        return {name: np.array(block, dtype=np.int32) for name, block in cells.items()}

    def cells(self, corner: tuple[int, int, int]) -> list[tuple[str, list[int]]]:
        """(kind, nodes) of the cells in the brick at `corner`; a wedge's worth at the axis."""
        i, j, k = corner
        if self.kind.startswith("tet"):
            return [(self.kind, tet) for tet in self.tets(corner)]
        order = self.order
        if i == 0:  # wedge: triangle (axis, ring at j, ring at j + order), along the layer
            tri = [(0, j), (order, j), (order, j + order), (1, j), (2, j + 1), (1, j + 2)]
            low, middle, high = ([(a, b, k + up) for a, b in tri] for up in (0, 1, order))
            keys = low[:3] + high[:3]
            if order == 2:
                keys += low[3:] + high[3:] + middle[:3]
            return [(f"wedge{len(keys)}", [self.node(*key) for key in keys])]
        steps = np.rint(CELLS[self.kind].nodes + 1.0).astype(int) * order // 2
        return [(self.kind, [self.node(i + s[0], j + s[1], k + s[2]) for s in steps])]

    def tets(self, corner: tuple[int, int, int]) -> list[list[int]]:
        o = self.order
        square = ((0, 0), (o, 0), (o, o), (0, o))
        keys = [(corner[0] + a, corner[1] + b, corner[2] + e) for e in (0, o) for a, b in square]
        out = []
        for tet in HEXAHEDRON_TETS:
            ends = [self.node(*keys[a]) for a in tet]
            # at the axis corners 0 = 3 and 4 = 7: the tets that name both have collapsed
            if len(set(ends)) == 4:
                edges = TET_EDGES if o == 2 else ()
                middles = [self.middle(keys[tet[a]], keys[tet[b]]) for a, b in edges]
                for (a, b), middle in zip(edges, middles):
                    self.edges[middle] = (ends[a], ends[b])
                out.append(ends + middles)
        return out

    def middle(self, one: tuple[int, int, int], two: tuple[int, int, int]) -> int:
        """The node half-way between two corners, on the profile; an angle at the axis is none."""
        angle = two[1] if one[0] == 0 else one[1] if two[0] == 0 else (one[1] + two[1]) // 2
        return self.node((one[0] + two[0]) // 2, angle, (one[2] + two[2]) // 2)

    def control_points(self) -> Array:
        """The points, with Bezier control points such that edges pass through the profile."""
        points = np.array(self.points)
        out = points.copy()
        for middle, (a, b) in self.edges.items():
            out[middle] = 2.0 * points[middle] - 0.5 * (points[a] + points[b])
        return out

    def bind(self, i: int, j: float, k: int) -> tuple[list[int], Array]:
        """Nodes and weights of the point at station i, angle j, on layer k's face of the mesh."""
        if self.order == 1 or i == 0:
            return [self.node(i, int(j), k)], np.ones(1)
        e = int(j // 2)
        t = j - 2 * e - 1.0  # -1 to 1 across the sector
        c = min(i // 2, len(self.station) // 2 - 1)
        if i == 1:  # in a wedge: barycentrics of axis and the two corners of the ring
            keys = [(0, 0), (2, 2 * e), (2, 2 * e + 2), (1, 2 * e), (2, 2 * e + 1), (1, 2 * e + 2)]
            b = 0.25 * (1.0 - t), 0.25 * (1.0 + t)
            bezier = self.kind == "tet10"
            weights = bezier_triangle(0.5, *b) if bezier else triangle6(*b)
        elif self.kind == "tet10":
            keys, weights = _half_face(2 * c, 2 * e, 0.5 * (i - 2 * c), 0.5 * (1.0 + t))
        else:
            square = CELLS["hex20"].nodes[[0, 1, 2, 3, 8, 9, 10, 11], :2]
            keys = [(2 * c + 1 + round(p), 2 * e + 1 + round(q)) for p, q in square]
            weights = serendipity8(i - 2 * c - 1.0, t)
        used = np.abs(weights) > 1e-12
        nodes = [self.node(p, q, k) for (p, q), u in zip(keys, used) if u]
        return nodes, weights[used]


def _half_face(i: int, j: int, u: float, v: float) -> tuple[list[tuple[int, int]], Array]:
    """Keys and weights at (u, v) in [0, 1]^2 of a face that its diagonal cuts in two triangles."""
    corner = (i + 2, j) if u >= v else (i, j + 2)
    keys = [
        (i, j), corner, (i + 2, j + 2),
        ((i + corner[0]) // 2, (j + corner[1]) // 2),
        ((corner[0] + i + 2) // 2, (corner[1] + j + 2) // 2), (i + 1, j + 1),
    ]  # fmt: skip
    return keys, bezier_triangle(1.0 - max(u, v), abs(u - v), min(u, v))


@dataclass(frozen=True)
class VertexRing:
    """A closed ring of collision vertices at one station of the profile."""

    station: int
    layer: int
    angles: Array  # rising, in steps of the grid, within one turn


def _rings(grid: RevolvedGrid, hub: int, segments: int) -> list[VertexRing]:
    """From the axis below, round the lip, to the stem's top: fine at the rim, coarse elsewhere.

    On a quadratic mesh the vertices of a ring all stand alike in their cells: two in each sector in
    the rim, one in its middle elsewhere. Placed at nodes they would not: corner and midside nodes
    differ in stiffness and share of load, and the lip lifted at every other vertex, at 42 N or 47 N
    as chance would have it.
    """
    order, sectors = grid.order, grid.sectors
    rim, end, top = order * (segments - _rim(segments)), order * segments, 1 + STEM_LAYERS
    if order == 2:
        fine, coarse = 0.5 + np.arange(2 * sectors), 1.0 + 2.0 * np.arange(sectors)
        inner = range(1, rim + 1)  # every ring of nodes
    else:
        fine, coarse = np.arange(sectors) * 1.0, np.arange(0, sectors, 2) * 1.0
        inner = range(1, rim, 2)
    return [
        *(VertexRing(i, 0, coarse) for i in inner),
        *(VertexRing(i, 0, fine) for i in range(inner[-1] + 1, end + 1)),
        VertexRing(end, order, fine),
        VertexRing(rim, order, coarse),
        VertexRing(order * hub, order, coarse),
        VertexRing(order * hub, order * top, coarse),
    ]


def ring_surface(grid: RevolvedGrid, rings: list[VertexRing], top: int) -> Binding:
    """Strips of triangles between the rings, closed by fans at the axis: on layers 0 and `top`."""
    start: list[int] = [0]
    nodes: list[int] = []
    weights: list[float] = []

    def vertex(i: int, j: float, k: int) -> int:
        n, w = grid.bind(i, j, k)
        nodes.extend(n)
        weights.extend(w)
        start.append(len(nodes))
        return len(start) - 2

    loops = [[vertex(r.station, j, r.layer) for j in r.angles] for r in rings]
    below, above = vertex(0, 0, 0), vertex(0, 0, top)
    first, final = loops[0], loops[-1]
    triangles = [(below, first[(a + 1) % len(first)], first[a]) for a in range(len(first))]
    for (one, two), (lower, upper) in zip(pairwise(loops), pairwise(rings)):
        triangles += strip(one, lower.angles, two, upper.angles, grid.order * grid.sectors)
    triangles += [(above, final[a], final[(a + 1) % len(final)]) for a in range(len(final))]
    return Binding(
        np.array(triangles, dtype=np.int32), np.array(start, dtype=np.int32),
        np.array(nodes, dtype=np.int32), np.array(weights),
    )  # fmt: skip
