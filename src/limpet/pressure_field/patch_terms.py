"""Force, moment and stiffness of a contact surface at one pose, exact for linear pressures.

Near its core a pressure field locks, so that no load presses bodies through each other: the contact
traction at the pressure p is

    t(p) = p + LOCKING E (x^-4 - 1 - 4 (1 - x)),    x = 1 - (1 - CORE) p/E,

E being the lower modulus of the two: 0.3 % above p at half of the depth, twice p at nine tenths,
1e8 E at the core. It is the same function for both bodies, so their surface stays where it is, and
the contact keeps a potential energy: the integral of t instead of p (F V). As x is linear over a
triangle, the averages of x^-4 and of its moments are products of the corner values (Dirichlet
averages), so they are exact too.
"""

from __future__ import annotations

import numpy as np

from limpet.compiled import inner, njit
from limpet.pressure_field.polygon_quadrature import WEIGHTS, twice_area
from limpet.pressure_field.wrench import rise_of_pressure

Array = np.ndarray

LOCKING = 1e-4  # of the modulus
RIM = 1e-3  # of the largest rise of pressure on approach: below it, the pressure does not rise
CORE = 1e-3  # x at the core


@njit(cache=True, error_model="numpy", inline="always")
def corner_shares(area: float, p: Array, modulus: float, out: Array) -> None:
    """Forces [N] at the corners of a triangle that stand for its traction: the same resultant.

    area [m^2]; p (3,) [Pa] at the corners; out (3,).
    """
    total = p[0] + p[1] + p[2]
    x = (_left(p[0], modulus), _left(p[1], modulus), _left(p[2], modulus))
    product = 1.0 / (x[0] * x[1] * x[2])
    for a in range(3):
        linear = (total + p[a]) / 12.0
        locked = modulus * (product / x[a] - 1.0) / 3.0 - 4.0 * (1.0 - CORE) * linear
        out[a] = area * (linear + LOCKING * locked)


@njit(cache=True, error_model="numpy", inline="always")
def _left(p: float, modulus: float) -> float:
    """x: the share of the depth that is left."""
    return 1.0 - (1.0 - CORE) * min(p / modulus, 1.0)


@inner(error_model="numpy")
def face_rises(area: Array, gradient_a: Array, gradient_b: Array) -> tuple[Array, Array, Array]:
    """Of polygons: size (k,) [m^2], unit normal (k, 3), rise of pressure on approach [Pa/m]."""
    count = len(area)
    size, n, rise = np.empty(count), np.zeros((count, 3)), np.empty(count)
    for k in range(count):
        size[k] = np.sqrt(area[k, 0] ** 2 + area[k, 1] ** 2 + area[k, 2] ** 2)
        for c in range(3):
            n[k, c] = area[k, c] / size[k] if size[k] > 0.0 else 0.0
        rise[k] = rise_of_pressure(n[k], gradient_a[k], gradient_b[k])
    return size, n, rise


@njit(cache=True, error_model="numpy", inline="always")
def spring_of(rise: float, steepest: float, pressure: float, highest: float) -> float:
    """[Pa/m] that a polygon enters the stiffness with.

    Where the pressure does not rise on approach, on the rims of a box, the force still fades as the
    body leaves: these take the secant stiffness of the others, never in the force.
    """
    if rise > RIM * steepest:
        return rise
    return max(pressure, 0.0) * steepest / highest if highest > 0.0 else 0.0


@njit(cache=True, error_model="numpy")
def patch_terms(
    area: Array, centroid: Array, pressure: Array, gradient_a: Array, gradient_b: Array,
    start: Array, corners: Array, corner_pressure: Array, about: Array, modulus: float,
) -> tuple[Array, Array, float, float]:  # fmt: skip
    """Wrench (6,) on body a about a point, stiffness (6, 6) [N/m, ...] there, highest p/E, and the
    load [N]: the sum of the forces, whatever their directions.

    The stiffness is that of approach along the normals.
    """
    wrench, stiffness = np.zeros(6), np.zeros((6, 6))
    count = len(pressure)
    _, n, rise = face_rises(area, gradient_a, gradient_b)
    steepest, highest, load = rise.max() if count else 0.0, 0.0, 0.0
    for i in range(len(corner_pressure)):
        highest = max(highest, corner_pressure[i])
    p, share, x = np.empty(3), np.empty(3), np.empty((3, 3))
    first, second = np.empty(3), np.empty((3, 3))
    for k in range(count):
        spring = spring_of(rise[k], steepest, pressure[k], highest)
        zeroth = 0.0
        first[:], second[:] = 0.0, 0.0
        for i in range(start[k], start[k + 1]):
            j = i + 1 if i + 1 < start[k + 1] else start[k]
            da = 0.5 * twice_area(n[k], centroid, k, corners, i, j)
            if da <= 0.0:
                continue
            p[0], p[1], p[2] = pressure[k], corner_pressure[i], corner_pressure[j]
            for c in range(3):
                x[0, c] = centroid[k, c] - about[c]
                x[1, c] = corners[i, c] - about[c]
                x[2, c] = corners[j, c] - about[c]
            corner_shares(da, p, modulus, share)
            left = (_left(p[0], modulus), _left(p[1], modulus), _left(p[2], modulus))
            product = 1.0 / (left[0] * left[1] * left[2])
            for a in range(3):
                load += share[a]
                for c in range(3):
                    wrench[c] += share[a] * n[k, c]
                    d, e = (c + 1) % 3, (c + 2) % 3
                    wrench[3 + c] += share[a] * (x[a, d] * n[k, e] - x[a, e] * n[k, d])
                for b in range(3):
                    # average of the product of two barycentric coordinates and dt/dp
                    plain = 1.0 / 6.0 if a == b else 1.0 / 12.0
                    locked = plain * product / (left[a] * left[b])
                    slope = 4.0 * (1.0 - CORE) * LOCKING * (locked - plain)
                    weight = spring * da * (plain + slope)
                    zeroth += weight
                    for c in range(3):
                        first[c] += weight * x[a, c]
                        for d in range(3):
                            second[c, d] += weight * x[a, c] * x[b, d]
        _add_spring(stiffness, n[k], zeroth, first, second)
    return wrench, stiffness, highest / modulus, load


@njit(cache=True, error_model="numpy", inline="always")
def _add_spring(out: Array, n: Array, zeroth: float, first: Array, second: Array) -> None:
    """Add the integral of k j j^T, j = (n, x cross n), from the moments of k over x."""
    cross = np.empty((3, 3))  # x -> x cross n
    cross[0, 0], cross[0, 1], cross[0, 2] = 0.0, n[2], -n[1]
    cross[1, 0], cross[1, 1], cross[1, 2] = -n[2], 0.0, n[0]
    cross[2, 0], cross[2, 1], cross[2, 2] = n[1], -n[0], 0.0
    for c in range(3):
        moment = cross[c, 0] * first[0] + cross[c, 1] * first[1] + cross[c, 2] * first[2]
        for d in range(3):
            out[c, d] += zeroth * n[c] * n[d]
            out[3 + c, d] += moment * n[d]
            out[d, 3 + c] += moment * n[d]
            total = 0.0
            for e in range(3):
                for f in range(3):
                    total += cross[c, e] * second[e, f] * cross[d, f]
            out[3 + c, 3 + d] += total


@njit(cache=True, error_model="numpy")
def traction_points(
    area: Array, centroid: Array, pressure: Array, gradient_a: Array, gradient_b: Array,
    start: Array, corners: Array, corner_pressure: Array, modulus: float, large: float,
) -> tuple[Array, Array, Array]:  # fmt: skip
    """Points that stand for the traction: the polygon of each (m,), rows (m, 8) of point, normal,
    force [N] and rise of pressure [Pa/m], and the stiffness (m,) [N/m] along the normal.

    A polygon above `large` of the surface's area has three points a triangle, others one, where
    the resultant of the traction acts: force and moment are exact. Some of the three may carry no
    force.
    """
    size, normal, rises = face_rises(area, gradient_a, gradient_b)
    count = len(pressure)
    total, steepest, highest, most = size.sum(), rises.max() if count else 0.0, 0.0, 0
    for i in range(len(corner_pressure)):
        highest = max(highest, corner_pressure[i])
    for k in range(count):
        most += 3 * (start[k + 1] - start[k]) if size[k] > large * total else 1
    polygon, rows, stiffness = np.empty(most, np.int64), np.empty((most, 8)), np.empty(most)
    p, share, resultant = np.empty(3), np.empty(3), np.empty(3)
    used = 0
    for k in range(count):
        spring = spring_of(rises[k], steepest, pressure[k], highest)
        whole, force, stiff = size[k] <= large * total, 0.0, 0.0
        resultant[:] = 0.0
        for i in range(start[k], start[k + 1]):
            j = i + 1 if i + 1 < start[k + 1] else start[k]
            da = 0.5 * twice_area(normal[k], centroid, k, corners, i, j)
            if da <= 0.0:
                continue
            p[0], p[1], p[2] = pressure[k], corner_pressure[i], corner_pressure[j]
            corner_shares(da, p, modulus, share)
            sum_ = share[0] + share[1] + share[2]
            if whole:
                force += sum_
                stiff += spring * da * _slope((p[0] + p[1] + p[2]) / 3.0, modulus)
                for c in range(3):
                    resultant[c] += (
                        share[0] * centroid[k, c] + share[1] * corners[i, c]
                        + share[2] * corners[j, c]
                    )  # fmt: skip
                continue
            for g in range(3):
                wc, wi, wj = WEIGHTS[g]
                for c in range(3):
                    rows[used, c] = wc * centroid[k, c] + wi * corners[i, c] + wj * corners[j, c]
                    rows[used, 3 + c] = normal[k, c]
                # with the same resultant at WEIGHTS
                rows[used, 6], rows[used, 7] = max(2.0 * share[g] - sum_ / 3.0, 0.0), rises[k]
                between = wc * p[0] + wi * p[1] + wj * p[2]
                stiffness[used] = spring * da / 3.0 * _slope(between, modulus)
                polygon[used] = k
                used += 1
        if whole and force > 0.0:
            for c in range(3):
                rows[used, c], rows[used, 3 + c] = resultant[c] / force, normal[k, c]
            rows[used, 6], rows[used, 7] = force, rises[k]
            stiffness[used], polygon[used] = stiff, k
            used += 1
    return polygon[:used], rows[:used], stiffness[:used]


@njit(cache=True, error_model="numpy", inline="always")
def _slope(p: float, modulus: float) -> float:
    """dt/dp of the traction."""
    return 1.0 + 4.0 * (1.0 - CORE) * LOCKING * (_left(p, modulus) ** -5 - 1.0)


@njit(cache=True, error_model="numpy")
def friction_points(
    area: Array, centroid: Array, pressure: Array, gradient_a: Array, gradient_b: Array,
    start: Array, corners: Array, corner_pressure: Array, modulus: float, large: float,
) -> Array:  # fmt: skip
    """The rows (m, 8) of `traction_points` that carry a force."""
    _, rows, _ = traction_points(
        area, centroid, pressure, gradient_a, gradient_b, start, corners, corner_pressure, modulus,
        large,
    )  # fmt: skip
    used = 0
    for i in range(len(rows)):
        if rows[i, 6] > 0.0:
            for c in range(8):
                rows[used, c] = rows[i, c]
            used += 1
    return rows[:used]
