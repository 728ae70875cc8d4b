"""Suckers: cups with a firm rim and a thin roof, which is pushed in to displace the air.

Each is a wall of revolution: its inner face is a smooth line through given points, from the axis to
the rim, with a thickness along it. The mesh has one layer of cells through the wall, segments along
it, sectors around the axis and wedges at the axis.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from scipy.interpolate import CubicSpline, PchipInterpolator

from limpet.errors import LimpetError, suggest
from limpet.geometry.cells import mesh_of
from limpet.geometry.shape import Array, SoftShape, boundary
from limpet.meshing.revolved import LINEAR, RevolvedGrid, VertexRing, Wall, ring_surface
from limpet.shapes.cups import mesh_size

MM = 1e-3


@dataclass(frozen=True)
class Sucker:
    """Half section of a sucker, in millimetres; the rim is at z = 0."""

    name: str  # of the profile
    inner: tuple[tuple[float, float], ...]  # (r, z) [mm] from the axis to the rim
    thickness: tuple[float, ...]  # [mm] at those points
    handle: float  # [mm] radius of the region "top"

    @property
    def height(self) -> float:
        return MM * (self.inner[0][1] + self.thickness[0])

    def _along(self) -> Array:
        """(k,) [mm] arc length at each given point."""
        steps = np.linalg.norm(np.diff(np.array(self.inner), axis=0), axis=1)
        return np.concatenate([[0.0], np.cumsum(steps)])

    def _line(self) -> CubicSpline:
        """The inner face by arc length; horizontal at the axis."""
        level, free = (1, np.array([1.0, 0.0])), (2, np.zeros(2))
        return CubicSpline(self._along(), np.array(self.inner), bc_type=(level, free))

    def stations(self, count: int) -> Array:
        """(count + 1,) arc lengths [mm]: 0, the edge of the handle, then uniform to the rim."""
        edge = float(np.interp(self.handle, *np.array([np.array(self.inner)[:, 0], self._along()])))
        return np.concatenate([[0.0], np.linspace(edge, self._along()[-1], count)])

    def wall(self, r: Array | float, across: float) -> tuple[Array, Array]:
        """(r, z) [m] at arc length `r` [mm]: `across` = 0 on the inner face, 1 on the outer."""
        line = self._line()
        point, (dr, dz) = line(r), line(r, 1)
        depth = across * float(PchipInterpolator(self._along(), self.thickness)(r))
        slope = np.hypot(dr, dz)
        radius = max(float(point[0] - depth * dz / slope), 0.0) if r > 0.0 else 0.0
        return np.array(MM * radius), np.array(MM * (point[1] + depth * dr / slope))


# A bell on a stick with a ring at its foot.
PLUNGER = Sucker(
    "plunger",
    inner=((0, 15), (5, 14.3), (9.5, 11.8), (12.9, 7.8), (14.2, 3.5), (14.5, 0)),
    thickness=(1.2, 1.2, 1.3, 1.8, 2.6, 3.0),
    handle=4.0,
)
# A flat flange for contact (infundibulum), under a chamber with a thin roof (acetabulum).
OCTOPUS = Sucker(
    "octopus",
    inner=((0, 9.5), (4, 9.4), (7, 8.2), (7.8, 5.8), (8.6, 3.4), (12, 1.3), (17, 0)),
    thickness=(1.0, 1.1, 1.8, 2.4, 2.2, 1.6, 1.0),
    handle=3.0,
)
# A commercial cup: shallow, with a stiff lip and a thin roof.
SHOP = Sucker(
    "shop",
    inner=((0, 8), (5, 7.8), (10, 6.8), (13.5, 4.2), (15, 1.8), (15.5, 0)),
    thickness=(1.0, 1.0, 1.2, 2.4, 3.2, 3.2),
    handle=4.0,
)
SUCKERS: dict[str, Sucker] = {s.name: s for s in (PLUNGER, OCTOPUS, SHOP)}


def sucker(
    profile: str | Sucker = "plunger", *, element: str | None = None, nodes: int = 500,
    sectors: int | None = None, segments: int | None = None,
) -> SoftShape:  # fmt: skip
    """A sucker with about `nodes` nodes, or with explicit sectors and segments.

    Regions: "top" (the middle of the roof, for a gripper), "rim" (the end of the wall, for
    contact), "underside" (the whole inner face).
    """
    if isinstance(profile, str):
        if profile not in SUCKERS:
            raise LimpetError(f"sucker profile = '{profile}'{suggest(profile, SUCKERS)}")
        profile = SUCKERS[profile]
    kind = mesh_of(element, "hex20", "sucker")
    numbers = mesh_size("sucker", kind, nodes, sectors, segments, 4, wall_budget)
    return replace(revolve(profile, kind, *numbers), element=element)


def wall_budget(kind: str, nodes: int) -> tuple[int, int]:
    """An even number of sectors, and 0.75 segments per sector, for the nearest node count."""
    a_cell = {"hex20": 7, "tet10": 12}.get(kind, 2)
    sizes = [(m, max(4, round(0.75 * m))) for m in range(8, 61, 2)]
    return min(sizes, key=lambda size: abs(size[0] * size[1] * a_cell - nodes))


class Roof(Wall, Protocol):
    """A wall with a region "top" at the axis."""

    def stations(self, count: int) -> Array: ...


def revolve(profile: Roof, kind: str, sectors: int, segments: int) -> SoftShape:
    order = 1 if kind in LINEAR else 2
    corner = profile.stations(segments)
    station = np.interp(np.arange(order * segments + 1) / order, np.arange(segments + 1), corner)
    grid = RevolvedGrid(profile, sectors, kind, station)
    arrays = grid.fill([1] * segments)
    end = order * segments
    regions = {
        "top": grid.nodes(lambda i, k: i <= order and k == order),
        "rim": grid.nodes(lambda i, k: i == end),
        "underside": grid.nodes(lambda i, k: k == 0),
    }
    collision = ring_surface(grid, _rings(grid, end), order, arrays)
    return SoftShape("sucker", grid.control_points(), arrays, collision, boundary(arrays), regions)


def _rings(grid: RevolvedGrid, end: int) -> list[VertexRing]:
    """From the axis along the inner face and the rim to the axis outside; fine at the rim."""
    order, sectors = grid.order, grid.sectors
    if order == 2:  # as in cup: all vertices of a ring have the same position in their cells
        fine, coarse = 0.5 + np.arange(2 * sectors), 1.0 + 2.0 * np.arange(sectors)
    else:
        fine, coarse = np.arange(sectors) * 1.0, np.arange(0, sectors, 2) * 1.0
    last = end - order  # the segment next to the rim
    return [
        *(VertexRing(i, 0, coarse) for i in range(1, last + 1)),
        *(VertexRing(i, 0, fine) for i in range(last + 1, end + 1)),
        VertexRing(end, order, fine),
        *(VertexRing(i, order, coarse) for i in range(last, 0, -order)),
    ]
