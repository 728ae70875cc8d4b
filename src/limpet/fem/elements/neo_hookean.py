"""A rubber law for large stretches: the stable neo-Hookean of Smith, De Goes and Kim (2018).

    psi = mu/2 (I_C - 3) + lambda/2 (J - alpha)^2 - mu/2 log(I_C + 1),   I_C = |F|^2, J = det F,

with mu and lambda chosen such that small strains follow Young's modulus and Poisson's ratio, and
alpha such that the rest shape is free of stress. It is defined for flat and inverted cells too.
The second derivative is computed in the frame of the singular values, where it decouples into three
twists, three flips and a 3x3 block of stretches. Negative eigenvalues are clamped to zero; far from
the rest volume their absolute value is used (Chen et al. 2024), else a step from a flat or inverted
state meets no resistance and overshoots.

In an element with condensed pressures the law is split like the corotational one. The points keep
lambda = mu/8 and alpha = 7, free of stress at rest and without a bulk modulus at small strains;
K (J - 1) enters by its mean. In a homogeneous state the sum is the same psi. With all of lambda in
the mean, the points would lose energy by a change of volume, and a single hex20p would collapse
from rest.
"""

from __future__ import annotations

import numpy as np

from limpet.compiled import copy, inner, njit
from limpet.fem.elements.block import CellBlock
from limpet.fem.elements.corotational import gram
from limpet.geometry.rotation import det3, symmetric_eigen

Array = np.ndarray

# |J - 1| above which negative eigenvalues are reflected. Below, clamping converges faster: a block
# compressed by a third comes to rest in 16 steps, not in 28.
FAR = 0.5


def moduli(mu: float, lam: float) -> tuple[float, float, float]:
    """(mu, lambda, alpha) of the law from the Lame constants of small strains."""
    m, l = 4.0 / 3.0 * mu, lam + 5.0 / 6.0 * mu
    return m, l, 1.0 + 0.75 * m / l


@njit(cache=True)
def _split(own_pressure: bool, lam: float, mu: float, alpha: float) -> tuple[float, float, float]:
    """(K of the mean part, lambda and alpha of the points)."""
    if own_pressure:
        return lam - mu / 8.0, mu / 8.0, 7.0
    return 0.0, lam, alpha


@inner(error_model="numpy")
def _gradient(x: Array, nodes: Array, gradients: Array, f: Array) -> None:
    f[:] = 0.0
    for a in range(len(nodes)):
        for i in range(3):
            for j in range(3):
                f[i, j] += x[nodes[a], i] * gradients[a, j]


@inner(error_model="numpy")
def _cofactor(f: Array, out: Array) -> None:
    """dJ/dF."""
    for i in range(3):
        for j in range(3):
            i1, i2, j1, j2 = (i + 1) % 3, (i + 2) % 3, (j + 1) % 3, (j + 2) % 3
            out[i, j] = f[i1, j1] * f[i2, j2] - f[i1, j2] * f[i2, j1]


@inner(error_model="numpy")
def _excess(
    x: Array, nodes: Array, gradients: Array, weights: Array, shape: Array, root: Array,
    part: Array,
) -> None:  # fmt: skip
    """Means of J - 1 over the orthonormalised pressure functions of the cell."""
    q, c = shape.shape
    f = np.empty((3, 3))
    part[:] = 0.0
    for g in range(q):
        _gradient(x, nodes, gradients[g], f)
        excess = weights[g] * (det3(f) - 1.0)
        for i in range(c):
            for j in range(i + 1):
                part[i] += root[i, j] * shape[g, j] * excess


@inner(error_model="numpy")
def _point_rows(
    f: Array, w: float, mu: float, lam: float, pressure: float, gradients: Array, rows: Array
) -> int:
    """Rows (<= 9, 3 k) whose outer products sum to the projected second derivative at a point."""
    k = len(gradients)
    u, s, vt = np.linalg.svd(f)
    if np.linalg.det(u) < 0.0:
        u[0, 2], u[1, 2], u[2, 2], s[2] = -u[0, 2], -u[1, 2], -u[2, 2], -s[2]
    if np.linalg.det(vt) < 0.0:
        vt[2, 0], vt[2, 1], vt[2, 2], s[2] = -vt[2, 0], -vt[2, 1], -vt[2, 2], -s[2]
    invariant = 1.0 + s[0] ** 2 + s[1] ** 2 + s[2] ** 2
    shear, log_term = mu * (1.0 - 1.0 / invariant), 2.0 * mu / invariant**2
    negative = -1.0 if abs(s[0] * s[1] * s[2] - 1.0) > FAR else 0.0
    block, axes = np.empty((3, 3)), np.empty((3, 3))
    area = np.array([s[1] * s[2], s[2] * s[0], s[0] * s[1]])
    for i in range(3):
        for j in range(3):
            block[i, j] = log_term * s[i] * s[j] + lam * area[i] * area[j]
            block[i, j] += shear if i == j else pressure * s[3 - i - j]
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
        for sign in (1.0, -1.0):  # flip, twist
            value = shear - sign * pressure * s[n]
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
    slots: Array, mu: float, lam: float, alpha: float, factor: float, force: Array, values: Array,
) -> None:  # fmt: skip
    m, q, k, _ = gradients.shape
    c, stiff = shape.shape[1], len(values) > 0
    bulk, lam, alpha = _split(c > 0, lam, mu, alpha)
    f, cofactor = np.empty((3, 3)), np.empty((3, 3))
    part = np.empty(c)
    rows = np.empty((9 * q + c, 3 * k))
    stiffness = np.empty((3 * k, 3 * k))
    for e in range(m):
        if c > 0:
            _excess(x, cells[e], gradients[e], weights[e], shape, roots[e], part)
        rows[9 * q :] = 0.0
        used = 0
        for g in range(q):
            w = weights[e, g]
            _gradient(x, cells[e], gradients[e, g], f)
            _cofactor(f, cofactor)
            pressure = lam * (det3(f) - alpha)
            if c > 0:
                for i in range(c):
                    for j in range(i + 1):
                        scale = roots[e, i, j] * shape[g, j]
                        pressure += bulk * scale * part[i]
                        for a in range(k if stiff else 0):
                            for d in range(3):
                                slope = 0.0
                                for l in range(3):
                                    slope += cofactor[d, l] * gradients[e, g, a, l]
                                rows[9 * q + i, 3 * a + d] += np.sqrt(bulk) * w * scale * slope
            invariant = 1.0
            for i in range(3):
                for j in range(3):
                    invariant += f[i, j] * f[i, j]
            for a in range(k):
                for i in range(3):
                    s = 0.0
                    for j in range(3):
                        stress = mu * (1.0 - 1.0 / invariant) * f[i, j] + pressure * cofactor[i, j]
                        s += stress * gradients[e, g, a, j]
                    force[cells[e, a], i] -= w * s
            if stiff:
                used += _point_rows(f, w, mu, lam, pressure, gradients[e, g], rows[used:])
        if not stiff:
            continue
        for i in range(c):
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
    block: CellBlock, x: Array, slots: Array, mu: float, lam: float, force: Array, values: Array,
    *, factor: float = 1.0,
) -> None:  # fmt: skip
    """Add forces and factor * stiffness blocks, as `corotational.assemble`; Lame constants."""
    _assemble(
        x, block.cells, block.gradients, block.weights, block.pressure_shape, block.pressure_root,
        slots, *moduli(mu, lam), factor, force, values,
    )  # fmt: skip


@njit(cache=True, error_model="numpy")
def _energy(
    x: Array, cells: Array, gradients: Array, weights: Array, shape: Array, roots: Array,
    mu: float, lam: float, alpha: float,
) -> float:  # fmt: skip
    m, q, _, _ = gradients.shape
    c = shape.shape[1]
    bulk, lam, alpha = _split(c > 0, lam, mu, alpha)
    f, part = np.empty((3, 3)), np.empty(c)
    rest = 0.5 * lam * (1.0 - alpha) ** 2 - 0.5 * mu * np.log(4.0)
    total = 0.0
    for e in range(m):
        for g in range(q):
            _gradient(x, cells[e], gradients[e, g], f)
            invariant = (f * f).sum()
            psi = 0.5 * mu * (invariant - 3.0 - np.log(invariant + 1.0)) - rest
            psi += 0.5 * lam * (det3(f) - alpha) ** 2
            total += weights[e, g] * psi
        if c > 0:
            _excess(x, cells[e], gradients[e], weights[e], shape, roots[e], part)
            total += 0.5 * bulk * (part * part).sum()
    return total


def energy(block: CellBlock, x: Array, mu: float, lam: float) -> float:
    """Elastic energy [J], zero at rest; Lame constants."""
    return _energy(
        x, block.cells, block.gradients, block.weights, block.pressure_shape, block.pressure_root,
        *moduli(mu, lam),
    )  # fmt: skip
