"""Suction cups as surfaces of revolution: profile, hexahedral or tetrahedral mesh, surfaces.

A profile is a wall (its underside and its thickness, from the axis to the lip) and a stem on top.
The mesh is structured: sectors around the axis, one layer through the wall, one cell per segment of
the profile, finer towards the lip, two layers in the stem, wedges at the axis.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from limpet.errors import LimpetError, require_positive, suggest
from limpet.geometry.cells import (
    mesh_of,
)
from limpet.geometry.shape import Array, SoftShape, boundary
from limpet.geometry.slack import lip_sectors, lip_slack
from limpet.meshing.revolved import (
    LINEAR,
    STEM_LAYERS,
    RevolvedGrid,
    VertexRing,
    even,
    ring_surface,
)

GRADING = 0.8  # stations are at (i / n)^grading of the wall: denser at the lip
HARMONICS = range(2, 7)  # of an imperfect wall: the numbers of waves that cups buckle with
PHASE = 0.3  # [rad] times n^2, of harmonic n: no angle at which all have their crest
RIM = 0.25  # fraction of the segments, from the lip, with a fine collision surface


class CoarseLipWarning(UserWarning):
    """The lip has so few corners that it may not seal."""


MOST_SECTORS, MOST_SEGMENTS = 400, 200
MOST_CELLS = 5000  # sectors times segments: some 33 000 nodes, made in about 4 s


@dataclass(frozen=True)
class CupProfile:
    """Half section of a cup in metres; the lower edge of the lip is at z = 0."""

    name: str  # of the profile
    radius: float  # [m] of the lip
    depth: float  # [m] of the dome at the axis
    height: float  # [m] from lip to top of the stem
    stem_radius: float  # [m] of the stem
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
        """z [m] of the wall's lower face at radius r [m]."""
        return self.depth * (1.0 - (np.asarray(r) / self.radius) ** self.dome)

    def wall(self, r: Array | float, across: float) -> tuple[Array, Array]:
        """(r, z) in the wall: `across` = 0 on the lower face, 1 on the upper, along its normal."""
        r = np.asarray(r, dtype=float)
        outer = np.clip((r - self.stem_radius) / (self.radius - self.stem_radius), 0.0, 1.0)
        thickness = self.hub_thickness + (self.lip_thickness - self.hub_thickness) * outer
        slope = -self.depth * self.dome * (r / self.radius) ** (self.dome - 1.0) / self.radius
        # in the stem the radius is constant across the wall, so that the stem is a cylinder
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
# 31.5 mm in diameter, for P's table 3, which gives no other dimension. The others are chosen such
# that the pull-off force on a cylinder of radius 50 mm is the measured one.
NEOPRENE = CupProfile(
    "neoprene", radius=15.75e-3, depth=7e-3, height=13.5e-3, stem_radius=6e-3,
    hub_thickness=2.4e-3, lip_thickness=1.6e-3,
)  # fmt: skip
# 40 mm in diameter, cast of silicone, for A, which gives no drawing: so thick that the dome sinks
# by some mm under A's -6 kPa and does not collapse.
CAST = CupProfile(
    "cast", radius=20e-3, depth=12e-3, height=21e-3, stem_radius=6e-3,
    hub_thickness=5e-3, lip_thickness=3e-3,
)  # fmt: skip
PROFILES: dict[str, CupProfile] = {p.name: p for p in (STANDARD, NEOPRENE, CAST)}


def cup(
    profile: str | CupProfile = "standard", *, element: str | None = None, nodes: int = 434,
    sectors: int | None = None, segments: int | None = None, part_radius: float | None = None,
    imperfection: float = 0.0,
) -> SoftShape:  # fmt: skip
    """A cup with about `nodes` nodes, or with explicit sectors and wall segments.

    The mesh is that of `element`; hex20 by default. `part_radius` [m]: the least radius of the part
    on which the lip is to lie; there are more sectors then if it needs them (`lip_sectors`), or a
    warning if the sectors are given. `imperfection`: by how much the thickness of the wall varies
    round the axis, root mean square, of the thickness; a moulded cup has some 1 %. The lower face
    stays as it is. A perfect cup buckles late, when rounding errors let it.

    Regions: "top" (the upper face of the stem, for a gripper), "lip" (its edge), "rim" (the
    underside next to the lip, for contact), "underside" (the whole lower face of the wall).
    """
    if not isinstance(profile, (str, CupProfile)):
        raise LimpetError(f"cup profile = {profile!r}: expected a name or a CupProfile")
    if isinstance(profile, str):
        if profile not in PROFILES:
            raise LimpetError(f"cup profile = '{profile}'{suggest(profile, PROFILES)}")
        profile = PROFILES[profile]
    profile.check()
    kind = mesh_of(element, "hex20", "cup")
    if not 0.0 <= imperfection <= 0.1:
        raise LimpetError(f"cup imperfection = {imperfection:g}: expected 0 to 0.1")
    numbers = mesh_size("cup", kind, nodes, sectors, segments, 3, _budget)
    if part_radius is not None:
        numbers = _for_part(profile, kind, part_radius, *numbers, given=sectors is not None)
    thickness = partial(_thickness, profile.stem_radius, imperfection) if imperfection else even
    return replace(_revolve(profile, kind, *numbers, thickness), element=element)


def _for_part(
    profile: CupProfile, kind: str, part_radius: float, sectors: int, segments: int, given: bool
) -> tuple[int, int]:
    """Sectors and segments for a part of that radius."""
    require_positive("cup part_radius", part_radius, " m")
    order = 1 if kind in LINEAR else 2
    least = lip_sectors(profile.radius, part_radius, order=order)
    if sectors >= least:
        return sectors, segments
    if given:
        length = 2.0 * np.pi * profile.radius / sectors
        slack = lip_slack(length, 1.0 / part_radius, profile.radius, order)
        warnings.warn(
            f"cup sectors = {sectors}: on a part of radius {part_radius:g} m its lip leaves up to "
            f"{1e6 * slack:.0f} um open between its nodes; use {least} sectors or more, about "
            f"{_count(kind, least, segments)} nodes",
            CoarseLipWarning,
            stacklevel=3,
        )
        return sectors, segments
    return least, segments


def mesh_size(
    label: str, kind: str, nodes: int, sectors: int | None, segments: int | None,
    least: int, budget: Callable[[str, int], tuple[int, int]],
) -> tuple[int, int]:  # fmt: skip
    """Sectors and segments as given, or chosen by `budget` for the number of nodes."""
    if (sectors is None) != (segments is None):
        raise LimpetError(f"{label} sectors and segments: give both, or only a number of nodes")
    if sectors is None or segments is None:
        require_positive(f"{label} nodes", nodes, hint="some hundreds")
        sectors, segments = budget(kind, nodes)
    if sectors < 6 or segments < least or (kind in LINEAR and sectors % 2):
        raise LimpetError(
            f"{label} sectors = {sectors}, segments = {segments}: expected 6 sectors and {least} "
            f"segments or more, for {' and '.join(LINEAR)} an even number of sectors"
        )
    few = sectors <= MOST_SECTORS and segments <= MOST_SEGMENTS
    if not few or sectors * segments > MOST_CELLS:
        raise LimpetError(
            f"{label} sectors = {sectors}, segments = {segments}: expected up to {MOST_SECTORS} "
            f"sectors, {MOST_SEGMENTS} segments and {MOST_CELLS} cells, sectors times segments"
        )
    return sectors, segments


def _budget(kind: str, nodes: int) -> tuple[int, int]:
    """Sectors and segments for the nearest node count, with well-proportioned cells."""
    best = (np.inf, 0, 0, 0)
    for m in range(8, 121, 2):
        for n in range(4, 81):
            if m * n > MOST_CELLS:
                continue
            count = _count(kind, m, n)
            shape = m / n / (1.4 if kind in LINEAR else 2.0)
            miss = abs(count / nodes - 1.0) + 0.05 * abs(np.log(shape))
            best = min(best, (miss, m, n, count))
    _, m, n, count = best
    if not -0.12 < count / nodes - 1.0 < 0.2:
        raise LimpetError(
            f"cup nodes = {nodes}: the nearest mesh of {kind} has {count}; "
            "use about that many (434 is the size in the papers)"
        )
    return m, n


def _count(kind: str, sectors: int, segments: int) -> int:
    """Number of nodes."""
    wall, upper = {"hex20": (7, 4), "tet10": (12, 8)}.get(kind, (2, 1))  # nodes per segment
    per_sector = wall * segments + upper * STEM_LAYERS * _hub(segments)
    return sectors * per_sector + 2 * STEM_LAYERS + 3


def _hub(segments: int) -> int:
    """Number of segments of the wall under the stem."""
    return max(1, round(0.18 * segments))


def _thickness(stem_radius: float, imperfection: float, r: float, angle: float) -> float:
    """Of the wall at r [m] outside of the stem, of that of the profile: 1 and a few harmonics."""
    blend = min(max((r / stem_radius - 1.0) / 0.5, 0.0), 1.0)
    wave = sum(math.cos(n * angle - PHASE * n * n) for n in HARMONICS)
    return 1.0 + imperfection * blend * wave * math.sqrt(2.0 / len(HARMONICS))


def _revolve(
    profile: CupProfile, kind: str, sectors: int, segments: int,
    thickness: Callable[[float, float], float],
) -> SoftShape:  # fmt: skip
    order = 1 if kind in LINEAR else 2
    hub = _hub(segments)
    station = _stations(profile, hub, segments, order)
    grid = RevolvedGrid(profile, sectors, kind, station, thickness)
    arrays = grid.fill([1 + (STEM_LAYERS if i < hub else 0) for i in range(segments)])
    points = grid.control_points()
    rings = _rings(grid, hub, segments)
    collision = ring_surface(grid, rings, order * (1 + STEM_LAYERS), arrays)
    end, touched = order * segments, order * (segments - _rim(segments))
    regions = {
        "top": grid.nodes(lambda i, k: k == order * (1 + STEM_LAYERS)),
        "lip": grid.nodes(lambda i, k: i == end),
        "rim": grid.nodes(lambda i, k: i >= touched and k == 0),
        "underside": grid.nodes(lambda i, k: k == 0),
    }
    return SoftShape("cup", points, arrays, collision, boundary(arrays), regions)


def _rim(segments: int) -> int:
    """Number of segments, from the lip, with a fine collision surface."""
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


def _rings(grid: RevolvedGrid, hub: int, segments: int) -> list[VertexRing]:
    """From the axis below, around the lip, to the top of the stem; fine at the rim only.

    On a quadratic mesh all vertices of a ring have the same position in their cells: two in each
    sector at the rim, one in its middle elsewhere. Vertices at nodes would differ, as corner and
    midside nodes differ in stiffness and load: the lip then lifted at every other vertex, at 42 N
    or 47 N depending on details.
    """
    order, sectors = grid.order, grid.sectors
    rim, end, top = order * (segments - _rim(segments)), order * segments, 1 + STEM_LAYERS
    if order == 2:
        fine, coarse = 0.5 + np.arange(2 * sectors), 1.0 + 2.0 * np.arange(sectors)
        inner = range(1, rim + 1)  # all rings of nodes
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
