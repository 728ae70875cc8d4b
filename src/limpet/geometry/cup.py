"""Suction cups as surfaces of revolution: profile, hexahedral or tetrahedral mesh, surfaces.

A profile is a wall (its underside and its thickness, from the axis to the lip) and a stem on top.
The mesh is structured: sectors round the axis, one layer through the wall, one cell a segment of
the profile, finer towards the lip, two layers in the stem, wedges at the axis.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from limpet.errors import LimpetError, require_positive, suggest
from limpet.geometry.cells import CELLS
from limpet.geometry.shapes import Array, Binding, SoftShape, boundary, hexahedron_tets

STEM_LAYERS = 2
GRADING = 0.8  # stations stand at (i / n)^grading of the wall: closer together at the lip
RIM = 0.25  # share of the wall's segments, from the lip inward, with a fine collision surface


@dataclass(frozen=True)
class CupProfile:
    """Half section of a cup in metres; the lip's lower edge touches z = 0."""

    name: str
    radius: float  # of the lip
    depth: float  # of the dome under the axis
    height: float  # from lip to top of the stem
    stem_radius: float
    hub_thickness: float  # of the wall at the stem
    lip_thickness: float
    dome: float = 2.0  # the underside is depth (1 - (r / radius)^dome): 2 is a parabola

    def check(self) -> CupProfile:
        for label in ("radius", "depth", "height", "stem_radius", "hub_thickness", "lip_thickness"):
            require_positive(f"cup {label}", getattr(self, label), " m")
        if self.stem_radius >= self.radius:
            raise LimpetError(
                f"cup stem_radius = {self.stem_radius:g} m: expected less than its radius "
                f"{self.radius:g} m"
            )
        if self.height <= self.depth + self.hub_thickness:
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
    hub_thickness=2.5e-3, lip_thickness=0.7e-3,
)  # fmt: skip
PROFILES: dict[str, CupProfile] = {p.name: p for p in (STANDARD,)}


def cup(
    profile: str | CupProfile = "standard",
    *,
    element: str = "hex20",
    nodes: int = 434,
    sectors: int | None = None,
    segments: int | None = None,
) -> SoftShape:
    """A cup at about the given number of `nodes`, or with explicit sectors and wall segments.

    Regions: "top" (the stem's upper face, what a gripper holds), "lip" (its edge), "rim" (the
    underside next to the lip, where it touches).
    """
    if isinstance(profile, str):
        if profile not in PROFILES:
            raise LimpetError(f"cup profile = '{profile}'{suggest(profile, PROFILES)}")
        profile = PROFILES[profile]
    profile.check()
    if element not in ("hex20", "tet4"):
        raise LimpetError(f"cup element = '{element}'{suggest(element, ['hex20', 'tet4'])}")
    if sectors is None or segments is None:
        if nodes < 150:
            raise LimpetError(
                f"cup nodes = {nodes}: expected 150 or more (434 is the papers' size)"
            )
        sectors, segments = _budget(element, nodes)
    if sectors < 6 or segments < 3 or (element == "tet4" and sectors % 2):
        raise LimpetError(
            f"cup sectors = {sectors}, segments = {segments}: expected 6 sectors and 3 segments or "
            "more, for tet4 an even number of sectors"
        )
    return _revolve(profile, element, sectors, segments)


def _budget(element: str, nodes: int) -> tuple[int, int]:
    """Sectors and segments whose node count comes nearest, with cells of even proportions."""
    best = (np.inf, 8, 6)
    for m in range(8, 49, 2):
        for n in range(4, 41):
            stem = STEM_LAYERS * _hub(n)
            per_sector = 7 * n + 4 * stem if element == "hex20" else 2 * n + stem
            count = m * per_sector + 2 * STEM_LAYERS + 3
            shape = m / n / (3.0 if element == "hex20" else 1.4)
            miss = abs(count / nodes - 1.0) + 0.05 * abs(np.log(shape))
            best = min(best, (miss, m, n))
    return best[1], best[2]


def _hub(segments: int) -> int:
    """How many of the wall's segments lie under the stem."""
    return max(1, round(0.18 * segments))


def _revolve(profile: CupProfile, element: str, sectors: int, segments: int) -> SoftShape:
    order = 2 if element == "hex20" else 1
    hub = _hub(segments)
    station = _stations(profile, hub, segments, order)
    grid = _Grid(profile, sectors, order, station)
    cells: dict[str, list[list[int]]] = {"hex20": [], "wedge15": []} if order == 2 else {"tet4": []}
    for j in range(sectors):
        for i in range(segments):
            for k in range(1 + (STEM_LAYERS if i < hub else 0)):
                corner = (order * i, order * j, order * k)
                if order == 2:
                    cells["wedge15" if i == 0 else "hex20"].append(grid.quadratic_cell(corner))
                else:
                    cells["tet4"].extend(map(list, grid.tets(corner)))
    arrays = {name: np.array(block, dtype=np.int32) for name, block in cells.items() if block}
    points = np.array(grid.points)
    collision = _collision_surface(grid, hub, segments)
    end, rim = order * segments, order * (segments - _rim(segments))
    regions = {
        "top": grid.nodes(lambda i, k: k == order * (1 + STEM_LAYERS)),
        "lip": grid.nodes(lambda i, k: i == end),
        "rim": grid.nodes(lambda i, k: i >= rim and k == 0),
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


class _Grid:
    """Nodes by (station, angle, layer) in steps of 1/order; created when first asked for."""

    def __init__(self, profile: CupProfile, sectors: int, order: int, station: Array) -> None:
        self.profile, self.sectors, self.order, self.station = profile, sectors, order, station
        self.ids: dict[tuple[int, int, int], int] = {}
        self.points: list[Array] = []

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

    def quadratic_cell(self, corner: tuple[int, int, int]) -> list[int]:
        i, j, k = corner
        if i == 0:  # wedge: triangle (axis, ring at j, ring at j + 2), along the layer
            tri = [(0, j, 0), (2, j, 0), (2, j + 2, 0), (1, j, 0), (2, j + 1, 0), (1, j + 2, 0)]
            bottom, middle, top = ([(a, b, k + up) for a, b, _ in tri] for up in (0, 1, 2))
            keys = bottom[:3] + top[:3] + bottom[3:] + top[3:] + middle[:3]
        else:
            steps = np.rint(CELLS["hex20"].nodes + 1.0).astype(int)
            keys = [(i + s[0], j + s[1], k + s[2]) for s in steps]
        return [self.node(*key) for key in keys]

    def tets(self, corner: tuple[int, int, int]) -> list[tuple[int, int, int, int]]:
        i, j, k = corner
        c = [
            self.node(i + a, j + b, k + e)
            for e in (0, 1)
            for a, b in ((0, 0), (1, 0), (1, 1), (0, 1))
        ]
        # at the axis corners 0 = 3 and 4 = 7: the tets that name both have collapsed
        return [t for t in hexahedron_tets(c) if len(set(t)) == 4]

    def bind(self, i: int, j: int, k: int) -> tuple[list[int], list[float]]:
        """Nodes and weights of a grid point: a node, or the centre of a quadratic face."""
        if self.order == 1 or (i % 2 + j % 2 + k % 2) < 2 or i == 0:
            return [self.node(i, j, k)], [1.0]
        corners = [(i - 1, j - 1, k), (i + 1, j - 1, k), (i + 1, j + 1, k), (i - 1, j + 1, k)]
        sides = [(i, j - 1, k), (i + 1, j, k), (i, j + 1, k), (i - 1, j, k)]
        if i == 1:  # a wedge's six-node face: its middle on the ring j, between axis and side
            keys = [
                (0, 0, k),
                (2, j - 1, k),
                (2, j + 1, k),
                (1, j - 1, k),
                (2, j, k),
                (1, j + 1, k),
            ]
            return [self.node(*q) for q in keys], [0.0, -0.125, -0.125, 0.5, 0.25, 0.5]
        return [self.node(*q) for q in corners + sides], [-0.25] * 4 + [0.5] * 4


def _collision_surface(grid: _Grid, hub: int, segments: int) -> Binding:
    """Closed rings of triangles: fine round the lip, coarse elsewhere."""
    order, m = grid.order, grid.sectors
    fine = order * m if order == 2 else m  # angular steps of a fine ring
    coarse = m if order == 2 else m // 2 if m >= 16 else m
    lip = _rim(segments)
    last = order * segments
    rings: list[tuple[int, int, int]] = []  # (station, layer, angular count), from below to the top
    # every node ring of a quadratic mesh, every other one of a linear mesh
    inner = range(1, order * (segments - lip), 1 if order == 2 else 2)
    rings += [(i, 0, coarse) for i in inner]
    rings += [(i, 0, fine) for i in range(last - order * lip, last + 1)]
    rings += [(last, order, fine)]
    rings += [(order * (segments - lip), order, coarse), (order * hub, order, coarse)]
    rings += [(order * hub, order * (1 + STEM_LAYERS), coarse)]

    start, nodes, weights, ids = [0], [], [], {}

    def vertex(i: int, j: int, k: int) -> int:
        key = (i, j % (order * m) if i else 0, k)
        if key not in ids:
            ids[key] = len(start) - 1
            n, w = grid.bind(*key)
            nodes.extend(n)
            weights.extend(w)
            start.append(len(nodes))
        return ids[key]

    def ring(i: int, k: int, count: int) -> list[int]:
        step = order * m // count
        return [vertex(i, step * a, k) for a in range(count)]

    below, above = vertex(0, 0, 0), vertex(0, 0, order * (1 + STEM_LAYERS))
    loops = [ring(*r) for r in rings]
    triangles: list[tuple[int, int, int]] = []
    first, final = loops[0], loops[-1]
    triangles += [(below, first[(a + 1) % len(first)], first[a]) for a in range(len(first))]
    for one, two in pairwise(loops):
        triangles += _strip(one, two)
    triangles += [(above, final[a], final[(a + 1) % len(final)]) for a in range(len(final))]
    return Binding(
        np.array(triangles, dtype=np.int32),
        np.array(start, dtype=np.int32),
        np.array(nodes, dtype=np.int32),
        np.array(weights),
    )


def _strip(one: list[int], two: list[int]) -> list[tuple[int, int, int]]:
    """Triangles between two rings with counts n:n, n:2n or 2n:n, outward when going up the cup."""
    n, m = len(one), len(two)
    out: list[tuple[int, int, int]] = []
    if n == m:
        for a in range(n):
            b = (a + 1) % n
            if a % 2:
                out += [(one[a], one[b], two[a]), (one[b], two[b], two[a])]
            else:
                out += [(one[a], one[b], two[b]), (one[a], two[b], two[a])]
    elif m == 2 * n:
        for a in range(n):
            b, c, d = (a + 1) % n, 2 * a, (2 * a + 2) % m
            out += [
                (one[a], two[c + 1], two[c]),
                (one[a], one[b], two[c + 1]),
                (one[b], two[d], two[c + 1]),
            ]
    elif n == 2 * m:
        for a in range(m):
            b, c, d = (a + 1) % m, 2 * a, (2 * a + 2) % n
            out += [
                (one[c], one[c + 1], two[a]),
                (one[c + 1], two[b], two[a]),
                (one[c + 1], one[d], two[b]),
            ]
    else:
        raise LimpetError(f"rings of {n} and {m} vertices do not fit")
    return out


def scaled(profile: CupProfile, **changes: float) -> CupProfile:
    """A profile with some of its measures changed."""
    return replace(profile, **changes)  # type: ignore[arg-type]
