"""A rubber law that stiffens at large stretches: Mooney-Rivlin with the higher terms of Yeoh.

    psi = c10 d + c20 d^2 + c30 d^3 + c01 (I2 b(J) - 3) + K/2 (J - 1)^2,   d = I1 a(J) - 3,

with I1 = |F|^2, I2 = |cof F|^2, J = det F, a = J^(-2/3) and b = J^(-4/3): changes of shape and of
volume apart. c20 = c30 = 0 is the law of Mooney and Rivlin, c01 = 0 that of Yeoh. At small strains
the shear modulus is 2 (c10 + c01).

To be defined for flat and inverted cells too, below J = LEAST the slopes of a and b fall to zero at
J = 0, and a bulk modulus is added that keeps psi above that of rest. Only there d can be negative;
then psi has c10 (d - d^3/27) instead of the first three terms, else a cell shrunk to a point would
have come to rest. Above d = MOST psi goes on along its tangent: rubber is torn by then, and cells
thrown far apart by a step must not overflow.

The second derivative is made positive in the frame of the singular values, as that of the
neo-Hookean law (neo_hookean.py). In an element with condensed pressures K (J - 1) enters by its
mean.
"""

from __future__ import annotations

import numpy as np

from limpet.compiled import copy, inner, njit
from limpet.fem.elements.block import CellBlock
from limpet.fem.elements.corotational import gram
from limpet.fem.elements.neo_hookean import _cofactor, _excess, _gradient
from limpet.geometry.rotation import det3, symmetric_eigen

Array = np.ndarray
Constants = tuple[float, float, float, float]  # c10, c01, c20, c30 [Pa]

LEAST = 0.5  # J below which a and b are no powers any more; rubber is not squeezed to half
MOST = 60.0  # d from which on psi is straight: a bar of 7.9 times its length
# Negative eigenvalues are clamped to zero, and reflected below LEAST and above this J. A swollen
# cell has lost its resistance to shear: with clamping as far as 1.5 one of 70 bodies that were
# flat or inside out was thrown into a knot, with 1.2 none of 270.
SWOLLEN = 1.2


@inner(error_model="numpy")
def _power(volume: float, exponent: float) -> tuple[float, float, float]:
    """J^exponent with two derivatives; below LEAST its slope falls to zero at J = 0."""
    j = max(volume, LEAST)
    value = j**exponent
    slope, curvature = exponent * value / j, exponent * (exponent - 1.0) * value / (j * j)
    if volume >= LEAST:
        return value, slope, curvature
    part = max(volume, 0.0) / LEAST
    flat = slope / LEAST if volume > 0.0 else 0.0
    return value - 0.5 * slope * LEAST * (1.0 - part * part), slope * part, flat


@inner(error_model="numpy")
def _squeezed(c: Constants) -> float:
    """[Pa] The bulk modulus that is added below LEAST.

    By as much a and b are less curved there than the powers: with less, a cell squeezed evenly to a
    little below LEAST would have gained energy.
    """
    return (16.0 / 3.0 * max(c[0], 0.0) + 40.0 / 3.0 * max(c[1], 0.0)) / LEAST**2


@inner(error_model="numpy")
def _shape_energy(d: float, c: Constants) -> tuple[float, float, float]:
    """Energy density of d = I1 a - 3, with two derivatives."""
    if d < 0.0:
        return c[0] * (d - d**3 / 27.0), c[0] * (1.0 - d * d / 9.0), -c[0] * d / 4.5
    e = min(d, MOST)
    slope = c[0] + e * (2.0 * c[2] + 3.0 * e * c[3])
    curvature = 2.0 * c[2] + 6.0 * e * c[3] if d == e else 0.0
    return e * (c[0] + e * (c[2] + e * c[3])) + (d - e) * slope, slope, curvature


@inner(error_model="numpy")
def slopes(
    i1: float, i2: float, volume: float, c: Constants
) -> tuple[float, float, float, float, float, float, float]:
    """Of psi without K, derivatives by 1: I1, 2: I2, 3: J, and by 11, 13, 23, 33; others are 0."""
    a, a1, a2 = _power(volume, -2.0 / 3.0)
    b, b1, b2 = _power(volume, -4.0 / 3.0)
    _, w1, w2 = _shape_energy(i1 * a - 3.0, c)
    by_volume = i1 * a1
    return (
        w1 * a, c[1] * b, w1 * by_volume + c[1] * i2 * b1,
        w2 * a * a, w2 * a * by_volume + w1 * a1, c[1] * b1,
        w2 * by_volume * by_volume + w1 * i1 * a2 + c[1] * i2 * b2,
    )  # fmt: skip


@inner(error_model="numpy")
def square(f: Array) -> float:
    total = 0.0
    for i in range(3):
        for j in range(3):
            total += f[i, j] * f[i, j]
    return total


@inner(error_model="numpy")
def _point_rows(
    f: Array, w: float, c: Constants, bulk: float, pressure: float, gradients: Array, rows: Array
) -> int:
    """Rows (<= 9, 3 k) whose outer products sum to the projected second derivative at a point."""
    k = len(gradients)
    u, s, vt = np.linalg.svd(f)
    if np.linalg.det(u) < 0.0:
        u[0, 2], u[1, 2], u[2, 2], s[2] = -u[0, 2], -u[1, 2], -u[2, 2], -s[2]
    if np.linalg.det(vt) < 0.0:
        vt[2, 0], vt[2, 1], vt[2, 2], s[2] = -vt[2, 0], -vt[2, 1], -vt[2, 2], -s[2]
    area = np.array([s[1] * s[2], s[2] * s[0], s[0] * s[1]])  # dJ/ds
    i1 = s[0] ** 2 + s[1] ** 2 + s[2] ** 2
    i2 = area[0] ** 2 + area[1] ** 2 + area[2] ** 2
    volume = s[0] * s[1] * s[2]
    p1, p2, p3, p11, p13, p23, p33 = slopes(i1, i2, volume, c)
    p3, p33 = p3 + pressure, p33 + bulk
    negative = -1.0 if volume < LEAST or volume > SWOLLEN else 0.0
    block, axes = np.empty((3, 3)), np.empty((3, 3))
    for i in range(3):
        for j in range(3):
            one, other = 2.0 * s[i], 2.0 * s[j]  # dI1/ds
            two = p13 * one + p23 * one * (i1 - s[i] ** 2)
            mixed = two * area[j] + area[i] * (p13 * other + p23 * other * (i1 - s[j] ** 2))
            block[i, j] = p11 * one * other + mixed + p33 * area[i] * area[j]
            if i == j:
                block[i, j] += 2.0 * p1 + 2.0 * p2 * (i1 - s[i] ** 2)
            else:
                block[i, j] += 4.0 * p2 * s[i] * s[j] + p3 * s[3 - i - j]
    symmetric_eigen(block, axes)
    turned = np.empty((k, 3))  # gradients in the right frame
    for a in range(k):
        for i in range(3):
            turned[a, i] = (
                vt[i, 0] * gradients[a, 0] + vt[i, 1] * gradients[a, 1] + vt[i, 2] * gradients[a, 2]
            )
    used = 0
    for n in range(3):
        value = max(block[n, n], negative * block[n, n])
        if value > 0.0:
            root = np.sqrt(w * value)
            for a in range(k):
                for d in range(3):
                    rows[used, 3 * a + d] = root * (
                        axes[0, n] * u[d, 0] * turned[a, 0]
                        + axes[1, n] * u[d, 1] * turned[a, 1]
                        + axes[2, n] * u[d, 2] * turned[a, 2]
                    )
            used += 1
        i, j = (n + 1) % 3, (n + 2) % 3
        for sign in (1.0, -1.0):  # flip, twist: (dpsi/ds_i -+ dpsi/ds_j) / (s_i -+ s_j)
            value = 2.0 * p1 + 2.0 * p2 * (s[n] ** 2 - sign * area[n]) - sign * p3 * s[n]
            value = max(value, negative * value)
            if value > 0.0:
                root = np.sqrt(0.5 * w * value)
                for a in range(k):
                    for d in range(3):
                        rows[used, 3 * a + d] = root * (
                            u[d, i] * turned[a, j] + sign * u[d, j] * turned[a, i]
                        )
                used += 1
    return used


@njit(cache=True, nogil=True, error_model="numpy")
def _assemble(
    x: Array, cells: Array, gradients: Array, weights: Array, shape: Array, roots: Array,
    slots: Array, c: Constants, bulk: float, factor: float, force: Array, values: Array,
) -> None:  # fmt: skip
    m, q, k, _ = gradients.shape
    pressures, stiff = shape.shape[1], len(values) > 0
    at_points = 0.0 if pressures > 0 else bulk
    squeezed = _squeezed(c)
    f, cofactor, stress = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    part = np.empty(pressures)
    rows = np.empty((9 * q + pressures, 3 * k))
    stiffness = np.empty((3 * k, 3 * k))
    for e in range(m):
        if pressures > 0:
            _excess(x, cells[e], gradients[e], weights[e], shape, roots[e], part)
        for i in range(pressures):
            for a in range(3 * k):
                rows[9 * q + i, a] = 0.0
        used = 0
        for g in range(q):
            w = weights[e, g]
            _gradient(x, cells[e], gradients[e, g], f)
            _cofactor(f, cofactor)
            volume = det3(f)
            short = min(volume - LEAST, 0.0)
            pressure = at_points * (volume - 1.0) + squeezed * short
            for i in range(pressures):
                for j in range(i + 1):
                    scale = roots[e, i, j] * shape[g, j]
                    pressure += bulk * scale * part[i]
                    for a in range(k if stiff else 0):
                        for d in range(3):
                            slope = 0.0
                            for l in range(3):
                                slope += cofactor[d, l] * gradients[e, g, a, l]
                            rows[9 * q + i, 3 * a + d] += np.sqrt(bulk) * w * scale * slope
            i1 = square(f)
            p = slopes(i1, square(cofactor), volume, c)
            for i in range(3):
                for j in range(3):
                    turned = 0.0  # F F^T F
                    for l in range(3):
                        for n in range(3):
                            turned += f[i, l] * f[n, l] * f[n, j]
                    stress[i, j] = 2.0 * p[0] * f[i, j] + 2.0 * p[1] * (i1 * f[i, j] - turned)
                    stress[i, j] += (p[2] + pressure) * cofactor[i, j]
            for a in range(k):
                for i in range(3):
                    s = 0.0
                    for j in range(3):
                        s += stress[i, j] * gradients[e, g, a, j]
                    force[cells[e, a], i] -= w * s
            if stiff:
                curvature = at_points + (squeezed if short < 0.0 else 0.0)
                used += _point_rows(f, w, c, curvature, pressure, gradients[e, g], rows[used:])
        if not stiff:
            continue
        for i in range(pressures):
            copy(rows[9 * q + i], rows[used])
            used += 1
        gram(rows, used, stiffness)
        for a in range(k):
            for b in range(a + 1):
                slot = slots[e, a, b]
                for i in range(3):
                    for j in range(3):
                        v = factor * stiffness[3 * a + i, 3 * b + j]
                        if slot >= 0:
                            values[slot, i, j] += v
                        else:
                            values[-1 - slot, j, i] += v


def assemble(
    block: CellBlock, x: Array, slots: Array, constants: Constants, bulk: float, force: Array,
    values: Array, *, factor: float = 1.0,
) -> None:  # fmt: skip
    """Add forces and factor * stiffness blocks, as `corotational.assemble`; constants and K."""
    _assemble(
        x, block.cells, block.gradients, block.weights, block.pressure_shape, block.pressure_root,
        slots, constants, bulk, factor, force, values,
    )  # fmt: skip


@njit(cache=True, error_model="numpy")
def _energy(
    x: Array, cells: Array, gradients: Array, weights: Array, shape: Array, roots: Array,
    c: Constants, bulk: float,
) -> float:  # fmt: skip
    m, q, _, _ = gradients.shape
    pressures = shape.shape[1]
    at_points = 0.0 if pressures > 0 else bulk
    squeezed = _squeezed(c)
    f, cofactor, part = np.empty((3, 3)), np.empty((3, 3)), np.empty(pressures)
    total = 0.0
    for e in range(m):
        for g in range(q):
            _gradient(x, cells[e], gradients[e, g], f)
            _cofactor(f, cofactor)
            volume = det3(f)
            psi = _shape_energy(square(f) * _power(volume, -2.0 / 3.0)[0] - 3.0, c)[0]
            psi += c[1] * (square(cofactor) * _power(volume, -4.0 / 3.0)[0] - 3.0)
            psi += 0.5 * squeezed * min(volume - LEAST, 0.0) ** 2
            total += weights[e, g] * (psi + 0.5 * at_points * (volume - 1.0) ** 2)
        if pressures > 0:
            _excess(x, cells[e], gradients[e], weights[e], shape, roots[e], part)
            for i in range(pressures):
                total += 0.5 * bulk * part[i] * part[i]
    return total


def energy(block: CellBlock, x: Array, constants: Constants, bulk: float) -> float:
    """Elastic energy [J], zero at rest; constants and K."""
    return _energy(
        x, block.cells, block.gradients, block.weights, block.pressure_shape, block.pressure_root,
        constants, bulk,
    )  # fmt: skip
