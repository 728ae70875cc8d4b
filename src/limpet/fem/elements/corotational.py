"""Corotational linear elasticity at integration points, for all elements.

At a point the strain is e = sym(R^T F) - I, R the rotation of F; the stress is the linear law in
the rotated frame (P 3.7; M eq 30), P = R (2 mu e + p I) with p = lambda tr e where the element
has displacements only. With the polar rotation R^T F is symmetric, and P is the exact gradient of
psi = mu |e|^2 + lambda/2 (tr e)^2. The stiffness is its second derivative: the linear law in
the rotated frame, and the geometric stiffness (sigma_i + sigma_j)/(s_i + s_j) against a rotation
about principal axis k, with the principal stretches s and stresses sigma across that axis. A
negative one (compression) is omitted, which keeps the matrix positive definite. Without the
geometric stiffness a thin wall under tension is so much too soft that the steps oscillate.

In a mixed element (M 3.2) the law is split: 2 mu dev(e) at the points, and a pressure from
its own function space, which is the weighted mean of K tr e. The pressures of a cell are eliminated
here (static condensation); shared ones are unknowns of the body (`mixed.py`).
"""

from __future__ import annotations

import numpy as np

from limpet.compiled import inner, njit
from limpet.fem.elements.block import CellBlock
from limpet.geometry.rotation import gram_schmidt, polar, symmetric_eigen

Array = np.ndarray

# How the rotation is computed. NONE: R = I, linear elasticity for small rotations (M eq 29).
POLAR, GRAM_SCHMIDT, NONE = 0, 1, 2
ROTATIONS = {"polar": POLAR, "gram-schmidt": GRAM_SCHMIDT, "none": NONE}


@njit(cache=True, error_model="numpy", fastmath={"contract"}, inline="always")
def deform(
    x: Array, nodes: Array, gradients: Array, rotation: int, f: Array, r: Array, trace: Array
) -> None:
    """F, R and tr(R^T F - I) at each point of one cell."""
    q, k, _ = gradients.shape
    for g in range(q):
        fg, rg = f[g], r[g]
        fg[:] = 0.0
        for a in range(k):
            for i in range(3):
                xi = x[nodes[a], i]
                for j in range(3):
                    fg[i, j] += xi * gradients[g, a, j]
        if rotation == POLAR:
            polar(fg, rg)
        elif rotation == GRAM_SCHMIDT:
            gram_schmidt(fg, rg)
        else:
            rg[:] = 0.0
            for i in range(3):
                rg[i, i] = 1.0
        t = -3.0
        for i in range(3):
            for j in range(3):
                t += rg[i, j] * fg[i, j]
        trace[g] = t


@njit(cache=True, error_model="numpy", fastmath={"contract"}, inline="always")
def load(
    nodes: Array, gradients: Array, weights: Array, rotation: int,
    f: Array, r: Array, pressure: Array, mu: float, force: Array, turned: Array, work: Array,
) -> None:  # fmt: skip
    """Add the cell's forces; turned (q, 3 k) <- sqrt(w) R grad_a. work (2, 3, 3) is scratch."""
    q, k, _ = gradients.shape
    p = work[0]
    for g in range(q):
        fg, rg, w, root = f[g], r[g], weights[g], np.sqrt(weights[g])
        for i in range(3):
            for j in range(3):  # R (2 mu e + p I), 2 R e = F + R F^T R - 2 R
                s = 2.0 * fg[i, j]
                if rotation != POLAR:
                    s = fg[i, j]
                    for l in range(3):
                        for n in range(3):
                            s += rg[i, l] * fg[n, l] * rg[n, j]
                p[i, j] = w * (mu * (s - 2.0 * rg[i, j]) + pressure[g] * rg[i, j])
        for a in range(k):
            g0, g1, g2 = gradients[g, a, 0], gradients[g, a, 1], gradients[g, a, 2]
            for i in range(3):
                force[nodes[a], i] -= p[i, 0] * g0 + p[i, 1] * g1 + p[i, 2] * g2
                turned[g, 3 * a + i] = root * (rg[i, 0] * g0 + rg[i, 1] * g1 + rg[i, 2] * g2)


@inner(error_model="numpy", fastmath={"contract"})
def geometric_stiffness_axes(stretch: Array, pressure: float, mu: float, axes: Array) -> int:
    """Columns of `axes` whose outer products sum to G, the geometric stiffness at a point.

    About principal axis n it is (sigma_i + sigma_j)/(s_i + s_j) = mu + (p - 2 mu)/(tr U - s_n), so
    G = mu I + (p - 2 mu) (tr U I - U)^-1 for the left stretch U. If G is positive definite,
    its Cholesky factor is used; if it is indefinite, its positive part. Returns the number of
    columns; U is overwritten.
    """
    trace = stretch[0, 0] + stretch[1, 1] + stretch[2, 2]
    k00, k11, k22 = trace - stretch[0, 0], trace - stretch[1, 1], trace - stretch[2, 2]
    k01, k02, k12 = -stretch[0, 1], -stretch[0, 2], -stretch[1, 2]
    c00, c01, c02 = k11 * k22 - k12 * k12, k02 * k12 - k01 * k22, k01 * k12 - k02 * k11
    det = k00 * c00 + k01 * c01 + k02 * c02
    if k00 > 0.0 and k00 * k11 > k01 * k01 and det > 0.0:  # no two stretches cancel
        f = (pressure - 2.0 * mu) / det
        g00, g01, g02 = mu + f * c00, f * c01, f * c02
        g11 = mu + f * (k00 * k22 - k02 * k02)
        g12 = f * (k01 * k02 - k00 * k12)
        g22 = mu + f * (k00 * k11 - k01 * k01)
        minor = g00 * g11 - g01 * g01
        whole = (
            g00 * (g11 * g22 - g12 * g12)
            + g01 * (g02 * g12 - g01 * g22)
            + g02 * (g01 * g12 - g02 * g11)
        )
        if g00 < 0.0 and minor > 0.0 and whole < 0.0:
            return 0
        if g00 > 0.0 and minor > 0.0 and whole > 0.0:
            l00 = np.sqrt(g00)
            l10, l20 = g01 / l00, g02 / l00
            l11 = np.sqrt(minor) / l00
            l21 = (g12 - l10 * l20) / l11
            l22 = np.sqrt(whole / minor)
            axes[0, 0], axes[0, 1], axes[0, 2] = l00, 0.0, 0.0
            axes[1, 0], axes[1, 1], axes[1, 2] = l10, l11, 0.0
            axes[2, 0], axes[2, 1], axes[2, 2] = l20, l21, l22
            return 3
    symmetric_eigen(stretch, axes)
    used = 0
    for n in range(3):
        s1, s2 = stretch[(n + 1) % 3, (n + 1) % 3], stretch[(n + 2) % 3, (n + 2) % 3]
        tension = mu * (s1 + s2 - 2.0) + pressure  # half of sigma_i + sigma_j
        if tension > 0.0 and s1 + s2 > 0.0:
            root = np.sqrt(tension / (s1 + s2))
            for i in range(3):
                axes[i, used] = root * axes[i, n]
            used += 1
    return used


@njit(cache=True, error_model="numpy", fastmath={"contract"}, inline="always")
def geometric_stiffness_rows(
    f: Array, r: Array, pressure: Array, mu: float, turned: Array, rows: Array, work: Array
) -> int:
    """Rows whose outer products sum to the geometric stiffness; returns their number."""
    q, size = turned.shape
    stretch, axes = work[0], work[1]
    used = 0
    for g in range(q):
        for i in range(3):
            for j in range(3):  # left stretch F R^T
                stretch[i, j] = (
                    f[g, i, 0] * r[g, j, 0] + f[g, i, 1] * r[g, j, 1] + f[g, i, 2] * r[g, j, 2]
                )
        for n in range(geometric_stiffness_axes(stretch, pressure[g], mu, axes)):
            e0, e1, e2 = axes[0, n], axes[1, n], axes[2, n]
            for a in range(0, size, 3):
                t0, t1, t2 = turned[g, a], turned[g, a + 1], turned[g, a + 2]
                rows[used, a] = e1 * t2 - e2 * t1
                rows[used, a + 1] = e2 * t0 - e0 * t2
                rows[used, a + 2] = e0 * t1 - e1 * t0
            used += 1
    return used


@njit(cache=True, fastmath={"reassoc", "contract"})
def gram(rows: Array, count: int, out: Array) -> None:
    """out = sum of the outer products of the first `count` rows; at least the lower blocks."""
    n = rows.shape[1]
    if n >= 30 and count > 0:  # large enough for the dense product
        used = rows[:count]
        np.dot(used.T, used, out)
        return
    for i in range(n):
        last = i - i % 3 + 3
        for c in range(last):
            out[i, c] = 0.0
        for g in range(count):
            s = rows[g, i]
            for c in range(last):
                out[i, c] += s * rows[g, c]


@njit(cache=True, fastmath={"contract"}, inline="always")
def scatter(
    slots: Array, outer: Array, more: Array, laplace: Array, mu: float, lam: float,
    factor: float, values: Array,
) -> None:  # fmt: skip
    """Add factor * (linear law in the rotated frame + more) of one cell to its blocks."""
    k = len(laplace)
    for a in range(k):
        for b in range(a + 1):
            slot = slots[a, b]
            shear = mu * laplace[a, b]
            out = values[slot] if slot >= 0 else values[-1 - slot]
            for i in range(3):
                for j in range(3):
                    v = lam * outer[3 * a + i, 3 * b + j] + mu * outer[3 * a + j, 3 * b + i]
                    v += more[3 * a + i, 3 * b + j]
                    if i == j:
                        v += shear
                    if slot >= 0:
                        out[i, j] += factor * v
                    else:
                        out[j, i] += factor * v


@njit(cache=True, fastmath={"contract"}, inline="always")
def scatter_point(
    slots: Array, turned: Array, rows: Array, used: int, laplace: Array, mu: float, lam: float,
    factor: float, values: Array,
) -> None:  # fmt: skip
    """The same as `gram` and `scatter` for a cell of one point, block by block."""
    k = len(laplace)
    for a in range(k):
        a0, a1, a2 = turned[3 * a], turned[3 * a + 1], turned[3 * a + 2]
        for b in range(a + 1):
            b0, b1, b2 = turned[3 * b], turned[3 * b + 1], turned[3 * b + 2]
            shear, both = mu * laplace[a, b], lam + mu
            v00, v11, v22 = both * a0 * b0 + shear, both * a1 * b1 + shear, both * a2 * b2 + shear
            v01, v10 = lam * a0 * b1 + mu * a1 * b0, lam * a1 * b0 + mu * a0 * b1
            v02, v20 = lam * a0 * b2 + mu * a2 * b0, lam * a2 * b0 + mu * a0 * b2
            v12, v21 = lam * a1 * b2 + mu * a2 * b1, lam * a2 * b1 + mu * a1 * b2
            for n in range(used):
                r0, r1, r2 = rows[n, 3 * a], rows[n, 3 * a + 1], rows[n, 3 * a + 2]
                s0, s1, s2 = rows[n, 3 * b], rows[n, 3 * b + 1], rows[n, 3 * b + 2]
                v00, v01, v02 = v00 + r0 * s0, v01 + r0 * s1, v02 + r0 * s2
                v10, v11, v12 = v10 + r1 * s0, v11 + r1 * s1, v12 + r1 * s2
                v20, v21, v22 = v20 + r2 * s0, v21 + r2 * s1, v22 + r2 * s2
            slot = slots[a, b]
            if slot < 0:
                slot = -1 - slot
                v01, v10, v02, v20, v12, v21 = v10, v01, v20, v02, v21, v12
            out = values[slot]
            out[0, 0] += factor * v00
            out[0, 1] += factor * v01
            out[0, 2] += factor * v02
            out[1, 0] += factor * v10
            out[1, 1] += factor * v11
            out[1, 2] += factor * v12
            out[2, 0] += factor * v20
            out[2, 1] += factor * v21
            out[2, 2] += factor * v22


@inner(error_model="numpy", fastmath={"contract"})
def own_pressure(
    weights: Array, shape: Array, root: Array, trace: Array, bulk: float, mu: float, out: Array
) -> None:
    """Isotropic stress p - 2/3 mu tr e at the points of a cell with condensed pressures.

    The pressures are K C^-1 times the means of tr e (M eq 16).
    """
    q, c = shape.shape
    part = np.zeros(c)
    for i in range(c):
        for j in range(i + 1):
            for g in range(q):
                part[i] += root[i, j] * weights[g] * shape[g, j] * trace[g]
    for g in range(q):
        out[g] = -2.0 / 3.0 * mu * trace[g]
        for i in range(c):
            for j in range(i + 1):
                out[g] += bulk * root[i, j] * shape[g, j] * part[i]


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def mean_rows(
    weights: Array, shape: Array, root: Array, turned: Array, bulk: float, rows: Array
) -> None:
    """Rows (c, 3 k) whose outer products sum to the volumetric stiffness K B^T C^-1 B."""
    q, c = shape.shape
    for i in range(c):
        row = rows[i]
        for n in range(len(row)):
            row[n] = 0.0
        for g in range(q):
            f, source = 0.0, turned[g]
            for j in range(i + 1):
                f += root[i, j] * shape[g, j]
            f *= np.sqrt(bulk * weights[g])
            for n in range(len(row)):
                row[n] += f * source[n]


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def _assemble(
    x: Array, cells: Array, gradients: Array, weights: Array, laplace: Array, shape: Array,
    roots: Array, slots: Array, rotation: int, mu: float, lam: float, implicit: bool,
    factor: float, force: Array, values: Array,
) -> None:  # fmt: skip
    m, q, k, _ = gradients.shape
    c = shape.shape[1]
    bulk = lam + 2.0 / 3.0 * mu
    mu_tangent = mu if implicit else 0.0
    lam_tangent = lam if c == 0 else -2.0 / 3.0 * mu_tangent
    f, r = np.empty((q, 3, 3)), np.empty((q, 3, 3))
    trace, pressure = np.empty(q), np.empty(q)
    turned = np.empty((q, 3 * k))
    work = np.empty((2, 3, 3))  # allocated once: one array per cell would cost a fifth of the time
    rows = np.empty((3 * q + c, 3 * k))
    outer, more = np.empty((3 * k, 3 * k)), np.empty((3 * k, 3 * k))
    for e in range(m):
        deform(x, cells[e], gradients[e], rotation, f, r, trace)
        if c == 0:
            for g in range(q):
                pressure[g] = lam * trace[g]
        else:
            own_pressure(weights[e], shape, roots[e], trace, bulk, mu, pressure)
        load(cells[e], gradients[e], weights[e], rotation, f, r, pressure, mu, force, turned, work)
        if len(values) == 0:
            continue
        used = 0
        if rotation == POLAR and implicit:
            used = geometric_stiffness_rows(f, r, pressure, mu, turned, rows, work)
        if c > 0:
            mean_rows(weights[e], shape, roots[e], turned, bulk, rows[used : used + c])
            used += c
        if q == 1:
            scatter_point(
                slots[e], turned[0], rows, used, laplace[e], mu_tangent, lam_tangent, factor, values
            )
        else:
            gram(turned, q, outer)
            gram(rows, used, more)
            scatter(slots[e], outer, more, laplace[e], mu_tangent, lam_tangent, factor, values)


def assemble(
    block: CellBlock, x: Array, slots: Array, mu: float, lam: float, force: Array, values: Array,
    *, factor: float = 1.0, rotation: int = POLAR, implicit: bool = True,
) -> None:  # fmt: skip
    """Add elastic forces (n, 3) [N] and factor * stiffness blocks [N/m] of all cells.

    slots (m, k, k) int32: where block (a, b), a >= b, goes in `values`; -1 - slot if transposed.
    If `values` is empty, only the forces are computed. If not `implicit`, the matrix has only the
    volumetric part (M 3.4), for cells with condensed pressures.
    """
    _assemble(
        x, block.cells, block.gradients, block.weights, block.laplace, block.pressure_shape,
        block.pressure_root, slots, rotation, mu, lam, implicit, factor, force, values,
    )  # fmt: skip


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def _energy(
    x: Array, cells: Array, gradients: Array, weights: Array, shape: Array, roots: Array,
    rotation: int, mu: float, lam: float,
) -> float:  # fmt: skip
    m, q, _, _ = gradients.shape
    c = shape.shape[1]
    f, r, trace = np.empty((q, 3, 3)), np.empty((q, 3, 3)), np.empty(q)
    strain = np.empty((3, 3))
    total = 0.0
    for e in range(m):
        deform(x, cells[e], gradients[e], rotation, f, r, trace)
        for g in range(q):
            for i in range(3):
                for j in range(3):
                    strain[i, j] = (
                        r[g, 0, i] * f[g, 0, j] + r[g, 1, i] * f[g, 1, j] + r[g, 2, i] * f[g, 2, j]
                    )
            square = 0.0
            for i in range(3):
                for j in range(3):
                    one = 1.0 if i == j else 0.0
                    square += (0.5 * (strain[i, j] + strain[j, i]) - one) ** 2
            own = 0.5 * lam if c == 0 else -mu / 3.0
            total += weights[e, g] * (mu * square + own * trace[g] ** 2)
        for i in range(c):
            part = 0.0
            for j in range(i + 1):
                for g in range(q):
                    part += roots[e, i, j] * weights[e, g] * shape[g, j] * trace[g]
            total += 0.5 * (lam + 2.0 / 3.0 * mu) * part * part
    return total


def energy(block: CellBlock, x: Array, mu: float, lam: float, *, rotation: int = POLAR) -> float:
    """Elastic energy [J]. With Gram-Schmidt rotations the forces are not its gradient."""
    return _energy(
        x, block.cells, block.gradients, block.weights, block.pressure_shape, block.pressure_root,
        rotation, mu, lam,
    )  # fmt: skip


def lame(young: float, poisson: float) -> tuple[float, float]:
    """(mu, lambda) [Pa] from Young's modulus and Poisson's ratio; lambda is infinite at 0.5."""
    mu = young / (2.0 * (1.0 + poisson))
    if poisson == 0.5:
        return mu, np.inf
    return mu, young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson))
