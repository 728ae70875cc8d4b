"""Contact surfaces as points that a step can be solved for.

A point stands for a piece of area A with pressure p. Over a step of length h with approach speed -u
along the normal the pressure rises along its gradient g and by dissipation d (F eq 3), so

    f = A (p - (h g + p d) u)  or nothing,    i.e.  u + f / (A (h g + p d)) >= p / (h g + p d),

a contact that is closed by p / (h g + p d) and gives way by itself: implicit in the stiffness and
damping of the patch. With no approach the sum of the forces is exactly that of the surface.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numba import njit

from limpet.errors import LimpetError
from limpet.pressure_field.fields import FieldGeometry
from limpet.pressure_field.polygon_quadrature import WEIGHTS, twice_area
from limpet.pressure_field.surface import ContactSurface, Pose, contact_surface
from limpet.pressure_field.wrench import check_depth, rise_of_pressure, softness

Array = np.ndarray

LARGE = 0.01  # of a pair's area: a polygon above it counts by three points a triangle, else by one
BEHIND = 0.5  # of a pair's force where the pressure falls on approach: it is past the middle
FLAT = 1.0  # [m] over which the pressure doubles at the slowest
STICTION_TOLERANCE = 1e-6  # [m/s] of a point that friction as large as its normal force holds
FAN = 64  # points of one polygon, at most


ORIGIN: Pose = (np.eye(3), np.zeros(3))


@dataclass(frozen=True)
class FieldPair:
    """Two bodies that touch by their pressure fields."""

    a: int  # by number
    b: int
    field_a: FieldGeometry
    field_b: FieldGeometry
    dissipation: float  # [s] F's chi
    names: tuple[str, str]
    pose_a: Pose = ORIGIN  # of the fields' frames at the beginning
    pose_b: Pose = ORIGIN

    @property
    def label(self) -> str:
        """For messages."""
        return "'{}' and '{}'".format(*self.names)


@dataclass(frozen=True)
class QuadraturePoints:
    """m points between bodies."""

    surface_a: Array  # (m,) int32
    surface_b: Array  # (m,) int32
    point: Array  # (m, 3) [m]
    normal: Array  # (m, 3) unit, from b to a
    area: Array  # (m,) [m^2]
    pressure: Array  # (m,) [Pa] above 0
    rise: Array  # (m,) [Pa/m] of the pressure for each metre of approach
    damping: Array  # (m,) [s/m] share by which the pressure rises for each m/s of approach
    key: Array  # (m,) int64, the same for the same piece in the next step

    def __len__(self) -> int:
        return len(self.area)

    def contact_law_terms(self, h: float) -> tuple[Array, Array]:
        """(m,) u that the points ask for [m/s], and how they give way [m/s/N]."""
        stiffness = h * self.rise + self.pressure * self.damping  # [Pa s/m]
        return self.pressure / stiffness, 1.0 / (self.area * stiffness)

    def stiction_compliance(self) -> Array:
        """(m,) [m/s/N] how fast the points creep under the friction that holds them.

        F regularises Coulomb's law. Here it takes hardly more than what says how points that carry
        one load share it: without any, the solver goes from one way of sharing to the next.
        """
        return STICTION_TOLERANCE / (self.area * self.pressure)

    @staticmethod
    def none() -> QuadraturePoints:
        i, f, v = np.zeros(0, np.int32), np.zeros(0), np.zeros((0, 3))
        return QuadraturePoints(i, i, v, v, f, f, f, f, np.zeros(0, np.int64))

    @staticmethod
    def join(parts: Sequence[QuadraturePoints]) -> QuadraturePoints:
        if not parts:
            return QuadraturePoints.none()
        joined = {
            f.name: np.concatenate([getattr(p, f.name) for p in parts])
            for f in fields(QuadraturePoints)
        }
        return QuadraturePoints(**joined)


def find_patches(
    pairs: Sequence[FieldPair], poses: Mapping[int, Pose]
) -> tuple[QuadraturePoints, list[ContactSurface]]:
    """The points of all pairs, with their fields at `poses` by body, and each pair's surface."""
    parts, surfaces = [QuadraturePoints.none()], []
    for number, pair in enumerate(pairs):
        surface = contact_surface(pair.field_a, poses[pair.a], pair.field_b, poses[pair.b])
        surfaces.append(surface)
        if len(surface):
            check_depth(surface, pair.field_a, pair.field_b, pair.label)
            parts.append(_patch(pair, number, surface))
    return QuadraturePoints.join(parts), surfaces


def _patch(pair: FieldPair, number: int, surface: ContactSurface) -> QuadraturePoints:
    damping = pair.dissipation * softness(pair.field_a, pair.field_b)
    values, polygon, sub = _points(
        surface.area, surface.centroid, surface.pressure, surface.gradient_a, surface.gradient_b,
        surface.start, surface.corners, surface.corner_pressure, LARGE,
    )  # fmt: skip
    force = values[:, 6] * values[:, 7]
    if force[values[:, 8] <= 0.0].sum() > BEHIND * force.sum():
        raise LimpetError(
            f"{pair.label} overlap deeper than their pressure field: it pushes them on, not apart; "
            "raise the modulus, lower the time step, or move them apart"
        )
    cells = surface.cells[polygon].astype(np.int64)
    key = (((number << 22) + cells[:, 0] + 1) << 22) + cells[:, 1] + 1
    m = len(values)
    return QuadraturePoints(
        surface_a=np.full(m, pair.a, np.int32), surface_b=np.full(m, pair.b, np.int32),
        point=values[:, 0:3], normal=values[:, 3:6], area=values[:, 6], pressure=values[:, 7],
        rise=np.maximum(values[:, 8], values[:, 7] / FLAT), damping=damping * values[:, 8],
        key=(1 << 61) + key * FAN + sub,
    )  # fmt: skip


@njit(cache=True)
def _points(
    area: Array, centroid: Array, pressure: Array, gradient_a: Array, gradient_b: Array,
    start: Array, corners: Array, corner_pressure: Array, large: float,
) -> tuple[Array, Array, Array]:  # fmt: skip
    """Rows (m, 9) of point, normal, area, pressure, rise; and the polygon and number of each.

    A polygon is a fan of triangles about its centroid. Three points each are exact to degree 2; one
    for a whole polygon stands where the resultant of its pressure acts, so the moment is exact too.
    """
    total, most = 0.0, 0
    size = np.empty(len(pressure))
    for k in range(len(pressure)):
        size[k] = np.sqrt(area[k, 0] ** 2 + area[k, 1] ** 2 + area[k, 2] ** 2)
        total += size[k]
    for k in range(len(pressure)):
        most += 3 * (start[k + 1] - start[k]) if size[k] > large * total else 1
    rows = np.empty((most, 9))
    polygon, sub = np.empty(most, np.int64), np.empty(most, np.int64)
    n, resultant = np.empty(3), np.empty(3)
    used = 0
    for k in range(len(pressure)):
        if size[k] == 0.0:
            continue
        for c in range(3):
            n[c] = area[k, c] / size[k]
        rise = rise_of_pressure(n, gradient_a[k], gradient_b[k])
        whole = size[k] <= large * total
        resultant[:] = 0.0
        force, count = 0.0, 0
        first, end = start[k], start[k + 1]
        for i in range(first, end):
            j = i + 1 if i + 1 < end else first
            twice = twice_area(n, centroid, k, corners, i, j)
            for wc, wi, wj in WEIGHTS:
                p = wc * pressure[k] + wi * corner_pressure[i] + wj * corner_pressure[j]
                if whole:
                    force += p * twice / 6.0
                    for c in range(3):
                        x = wc * centroid[k, c] + wi * corners[i, c] + wj * corners[j, c]
                        resultant[c] += x * p * twice / 6.0
                elif p > 0.0 and twice > 0.0:
                    for c in range(3):
                        rows[used, c] = (
                            wc * centroid[k, c] + wi * corners[i, c] + wj * corners[j, c]
                        )
                        rows[used, 3 + c] = n[c]
                    rows[used, 6], rows[used, 7], rows[used, 8] = twice / 6.0, p, rise
                    polygon[used], sub[used] = k, count
                    used += 1
                count += 1
        if whole and force > 0.0:
            for c in range(3):
                rows[used, c], rows[used, 3 + c] = resultant[c] / force, n[c]
            rows[used, 6], rows[used, 7], rows[used, 8] = size[k], force / size[k], rise
            polygon[used], sub[used] = k, 0
            used += 1
    return rows[:used], polygon[:used], sub[:used]
