"""Kernels of contact_surface, first phase: which pairs of cells may share a polygon.

One body, the host, stays in its frame; the other, the probe, is transformed to it. Pairs that no
polygon can come from are left out before polygons.py cuts and clips the others.
"""

from __future__ import annotations

import numpy as np

from limpet.compiled import inner, njit
from limpet.pressure_field.packed import CONSTANT, CORNERS, FACES, PRESSURES, SCALE, SLOPE

Array = np.ndarray

# Relative tolerance, by the size of the summed terms, for equal pressures. If they are equal over
# a volume or on a face, the pressure of the probe counts as the higher one. This consistent
# tie-breaking keeps the surface closed and conserves energy.
EQUAL = 1e-13


@inner(error_model="numpy")
def relative(rh: Array, th: Array, rp: Array, tp: Array) -> tuple[Array, Array]:
    """Rotation and translation from the probe's frame to the host's."""
    r, t = np.empty((3, 3)), np.empty(3)
    dx, dy, dz = tp[0] - th[0], tp[1] - th[1], tp[2] - th[2]
    for i in range(3):
        for j in range(3):
            r[i, j] = rh[0, i] * rp[0, j] + rh[1, i] * rp[1, j] + rh[2, i] * rp[2, j]
        t[i] = rh[0, i] * dx + rh[1, i] * dy + rh[2, i] * dz
    return r, t


@njit(cache=True, error_model="numpy")
def moved(x: Array, r: Array, t: Array) -> Array:
    """Points x (n, 3) rotated by r, then translated by t."""
    out = np.empty_like(x)
    for i in range(len(x)):
        for k in range(3):
            out[i, k] = r[k, 0] * x[i, 0] + r[k, 1] * x[i, 1] + r[k, 2] * x[i, 2] + t[k]
    return out


@njit(cache=True, error_model="numpy", inline="always")
def _outside(cells: Array, i: int, x: Array, a: int, b: int, c: int, d: int, touch: float) -> bool:
    """Whether points a, b, c, d of x (n, 3) are all beyond one face of a cell."""
    outside = False
    for f in range(FACES, FACES + 16, 4):
        nx, ny, nz = cells[i, f], cells[i, f + 1], cells[i, f + 2]
        at_a = nx * x[a, 0] + ny * x[a, 1] + nz * x[a, 2]
        at_b = nx * x[b, 0] + ny * x[b, 1] + nz * x[b, 2]
        at_c = nx * x[c, 0] + ny * x[c, 1] + nz * x[c, 2]
        at_d = nx * x[d, 0] + ny * x[d, 1] + nz * x[d, 2]
        outside |= min(min(at_a, at_b), min(at_c, at_d)) > cells[i, f + 3] + touch
    return outside


@njit(cache=True, error_model="numpy", inline="always")
def _on_one_side(
    cells: Array, i: int, nx: float, ny: float, nz: float, d: float, touch: float
) -> bool:
    """Whether the corners of a tet are all above or all below the plane (nx, ny, nz) . x = d."""
    lowest, highest = np.inf, -np.inf
    for at in range(CORNERS, CORNERS + 12, 3):
        height = nx * cells[i, at] + ny * cells[i, at + 1] + nz * cells[i, at + 2] - d
        lowest, highest = min(lowest, height), max(highest, height)
    return (lowest > touch) | (highest < -touch)


@njit(cache=True, error_model="numpy", inline="always")
def inward_normal(x: Array, a: int, b: int, c: int) -> tuple[float, float, float]:
    """Unit normal of a triangle, into the body that it bounds."""
    ux, uy, uz = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
    vx, vy, vz = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
    nx, ny, nz = uz * vy - uy * vz, ux * vz - uz * vx, uy * vx - ux * vy
    size = np.sqrt(nx * nx + ny * ny + nz * nz)
    return nx / size, ny / size, nz / size


@inner(error_model="numpy")
def crossing_tets(
    pairs: Array, cells_h: Array, cells_p: Array, tets: Array, x: Array, r: Array, touch: float,
    slack: float,
) -> Array:  # fmt: skip
    """Pairs without those that share no pressure, or that a face of the host's tet separates.

    Both tets have to reach to either side of the plane of equal pressure. The probe's vertices are
    x (n, 3) in the host's frame; none may move further than `slack` [m].
    """
    kept, k = np.empty_like(pairs), 0
    for pair in range(len(pairs)):
        i, j = pairs[pair, 0], pairs[pair, 1]
        a, b, c, d = tets[j, 0], tets[j, 1], tets[j, 2], tets[j, 3]
        sx, sy, sz = cells_h[i, SLOPE], cells_h[i, SLOPE + 1], cells_h[i, SLOPE + 2]
        s0, margin = cells_h[i, CONSTANT], 4.0 * EQUAL * (cells_h[i, SCALE] + cells_p[j, SCALE])
        at_a = cells_p[j, PRESSURES] - (sx * x[a, 0] + sy * x[a, 1] + sz * x[a, 2] + s0)
        at_b = cells_p[j, PRESSURES + 1] - (sx * x[b, 0] + sy * x[b, 1] + sz * x[b, 2] + s0)
        at_c = cells_p[j, PRESSURES + 2] - (sx * x[c, 0] + sy * x[c, 1] + sz * x[c, 2] + s0)
        at_d = cells_p[j, PRESSURES + 3] - (sx * x[d, 0] + sy * x[d, 1] + sz * x[d, 2] + s0)
        lowest, highest = (
            min(min(at_a, at_b), min(at_c, at_d)),
            max(max(at_a, at_b), max(at_c, at_d)),
        )
        slope = abs(sx) + abs(sy) + abs(sz) + abs(cells_p[j, SLOPE])
        slope += abs(cells_p[j, SLOPE + 1]) + abs(cells_p[j, SLOPE + 2])
        margin += slope * slack
        if (lowest > margin) | (highest < -margin):
            continue
        gx, gy, gz = cells_p[j, SLOPE], cells_p[j, SLOPE + 1], cells_p[j, SLOPE + 2]
        mx = r[0, 0] * gx + r[0, 1] * gy + r[0, 2] * gz - sx
        my = r[1, 0] * gx + r[1, 1] * gy + r[1, 2] * gz - sy
        mz = r[2, 0] * gx + r[2, 1] * gy + r[2, 2] * gz - sz
        level = mx * x[a, 0] + my * x[a, 1] + mz * x[a, 2] - at_a
        if _on_one_side(cells_h, i, mx, my, mz, level, margin):
            continue
        if _outside(cells_h, i, x, a, b, c, d, touch + slack):
            continue
        kept[k, 0], kept[k, 1] = i, j
        k += 1
    return kept[:k]


@inner(error_model="numpy")
def crossing_triangles(
    pairs: Array, cells_h: Array, triangles: Array, x: Array, touch: float, slack: float
) -> Array:
    """As crossing_tets, with triangles of a rigid probe: the plane is that of the triangle."""
    kept, k = np.empty_like(pairs), 0
    for pair in range(len(pairs)):
        i, j = pairs[pair, 0], pairs[pair, 1]
        a, b, c = triangles[j, 0], triangles[j, 1], triangles[j, 2]
        if _outside(cells_h, i, x, a, b, c, c, touch + slack):
            continue
        nx, ny, nz = inward_normal(x, a, b, c)
        level = nx * x[a, 0] + ny * x[a, 1] + nz * x[a, 2]
        if _on_one_side(cells_h, i, nx, ny, nz, level, touch + slack):
            continue
        kept[k, 0], kept[k, 1] = i, j
        k += 1
    return kept[:k]
