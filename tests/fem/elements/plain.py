"""The laws written plainly, one cell and one integration point at a time, to check by reading.

Every law has a measure v of volume, tr(R^T F - I) or det F - 1, a stress at each point, and mixed
elements have a pressure p of some space of functions N with C p = phi, phi = integral of N v.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .kit import RUBBER, constants_of

I = np.eye(3)
FAR = 0.5  # change of volume from which the rubber law turns negative curvature round
EVEN = ((0, 1, 2), (1, 2, 0), (2, 0, 1))


def rotation_of(law, f):
    """R of F: the nearest rotation, Gram-Schmidt's from the first columns, or none."""
    if law == "none":
        return I
    if law == "gram-schmidt":
        a = f[:, 0] / np.linalg.norm(f[:, 0])
        b = f[:, 1] - (f[:, 1] @ a) * a
        b = b / np.linalg.norm(b)
        return np.stack([a, b, np.cross(a, b)], axis=1)
    u, _, vt = np.linalg.svd(f)
    return u @ np.diag([1.0, 1.0, np.linalg.det(u @ vt)]) @ vt


def cofactor(f):
    """d det F / dF."""
    return np.stack([np.cross(f[:, (j + 1) % 3], f[:, (j + 2) % 3]) for j in range(3)], axis=1)


def volume(law, f):
    """(v, dv/dF)."""
    if law in RUBBER:
        return np.linalg.det(f) - 1.0, cofactor(f)
    r = rotation_of(law, f)
    return np.trace(r.T @ f) - 3.0, r


def rotation_slope(f, r):
    """dR/dF (9, 9), polar: dR = R W, and S W + W S = R^T dF - dF^T R with S the stretch."""
    s = r.T @ f
    columns = []
    for df in np.eye(9).reshape(9, 3, 3):
        skew = r.T @ df - df.T @ r
        axial = np.array([skew[2, 1], skew[0, 2], skew[1, 0]])
        w = np.linalg.solve(np.trace(s) * I - s, axial)
        columns.append((r @ np.cross(I, w)).ravel())
    return np.stack(columns, axis=1)


def determinant_curvature(f):
    """d2 det F / dF dF (9, 9)."""
    h = np.zeros((3, 3, 3, 3))
    for i, k, m in EVEN:
        for j, l, n in EVEN:
            h[i, j, k, l] = h[k, l, i, j] = f[m, n]
            h[i, l, k, j] = h[k, j, i, l] = -f[m, n]
    return h.reshape(9, 9)


def positive(h, turned_round=False):
    """A symmetric matrix without its negative part, or with that part turned round."""
    values, axes = np.linalg.eigh(h)
    return (axes * (np.abs(values) if turned_round else np.maximum(values, 0.0))) @ axes.T


def mooney_rivlin(f, constants):
    """(stress (3, 3), its derivative (9, 9)) of the part that resists changes of shape.

    d = I1 a(J) - 3 and e = I2 b(J) - 3, where a and b are powers of J; from 1/2 to 0 parabolas that
    end level, then constant.
    """
    c10, c01, c20, c30 = constants
    j, dj, ddj = np.linalg.det(f), cofactor(f).ravel(), determinant_curvature(f)

    def of_shape(i, di, ddi, exponent):
        k = max(j, 0.5)
        p, p1, p2 = k**exponent, exponent * k ** (exponent - 1), 0.0
        if j > 0.5:
            p2 = exponent * (exponent - 1) * k ** (exponent - 2)
        elif j > 0.0:
            p, p1, p2 = p - p1 * (0.25 - j**2), 2.0 * p1 * j, 2.0 * p1
        else:
            p, p1 = p - 0.25 * p1, 0.0
        second = p * ddi + p1 * (np.outer(di, dj) + np.outer(dj, di))
        return i * p - 3.0, p * di + i * p1 * dj, second + i * (p2 * np.outer(dj, dj) + p1 * ddj)

    one, both, size = f.ravel(), np.einsum("ij,kl->ikjl", I, I), np.sum(f * f)
    left, right = f @ f.T, f.T @ f
    swapped = np.einsum("il,kj->ijkl", f, f).reshape(9, 9)  # of dF F^T F + F dF^T F + F F^T dF
    turned = np.kron(I, right) + swapped + np.kron(left, I)
    i2 = 0.5 * (size**2 - np.sum(right * right))
    di2 = 2.0 * (size * f - f @ right).ravel()
    ddi2 = 4.0 * np.outer(one, one) + 2.0 * size * both.reshape(9, 9) - 2.0 * turned
    d, dd, ddd = of_shape(size, 2.0 * one, 2.0 * np.eye(9), -2.0 / 3.0)
    _, de, dde = of_shape(i2, di2, ddi2, -4.0 / 3.0)
    w1, w2 = c10 + 2.0 * c20 * d + 3.0 * c30 * d**2, 2.0 * c20 + 6.0 * c30 * d
    if d < 0.0:
        w1, w2 = c10 * (1.0 - d**2 / 9.0), -2.0 * c10 * d / 9.0
    return (w1 * dd + c01 * de).reshape(3, 3), w2 * np.outer(dd, dd) + w1 * ddd + c01 * dde


def at_point(law, f, mu, lam, mixed, pressure):
    """(stress (3, 3), its derivative (9, 9) made positive) under a pressure of the mixed space."""
    v, dv = volume(law, f)
    d = dv.ravel()
    if law == "neo-hookean":
        m, l = 4.0 / 3.0 * mu, lam + 5.0 / 6.0 * mu
        alpha = 1.0 + 0.75 * m / l
        if mixed:  # what has no bulk modulus at rest
            l, alpha = m / 8.0, 7.0
        size = 1.0 + np.sum(f * f)
        iso = l * (v + 1.0 - alpha) + pressure
        h = m * (1.0 - 1.0 / size) * np.eye(9)
        h += 2.0 * m / size**2 * np.outer(f, f) + l * np.outer(d, d)
        h += iso * determinant_curvature(f)
        return m * (1.0 - 1.0 / size) * f + iso * dv, positive(h, turned_round=abs(v) > FAR)
    if law == "mooney-rivlin":
        constants = constants_of(mu)
        bulk = 0.0 if mixed else lam + 2.0 / 3.0 * mu
        stress, h = mooney_rivlin(f, constants)
        iso = bulk * v + pressure
        if v < -0.5:  # squeezed to less than half
            more = 64.0 / 3.0 * constants[0] + 160.0 / 3.0 * constants[1]
            bulk, iso = bulk + more, iso + more * (v + 0.5)
        h = h + bulk * np.outer(d, d) + iso * determinant_curvature(f)
        return stress + iso * dv, positive(h, turned_round=not -0.5 < v < 0.2)
    l = -2.0 / 3.0 * mu if mixed else lam
    iso = l * v + pressure
    strain = 0.5 * (dv.T @ f + f.T @ dv) - I
    stress = dv @ (2.0 * mu * strain + iso * I)
    if law == "polar":
        h = 2.0 * mu * np.eye(9) + (iso - 2.0 * mu) * rotation_slope(f, dv)
    else:  # as if R stood still: 2 mu R sym(R^T dF)
        local = [dv.T @ df for df in np.eye(9).reshape(9, 3, 3)]
        h = np.stack([(mu * dv @ (a + a.T)).ravel() for a in local], axis=1)
    return stress, positive(h + l * np.outer(d, d))


@dataclass(frozen=True)
class CellAnswer:
    force: np.ndarray  # (k, 3)
    stiffness: np.ndarray  # (3 k, 3 k)
    excess: np.ndarray  # (c,) phi - C p
    coupling: np.ndarray  # (c, 3 k)


def cell_answer(patch, e, x, p=None):
    """One cell of a patch; p (c,) are its shared pressures, if it has any."""
    b, law, mu, lam = patch.block, patch.law, patch.mu, patch.lam
    shared, k = patch.element.shared_pressure, len(x)
    gradients, weights, shape = b.gradients[e], b.weights[e], b.pressure_shape
    mixed = shape.shape[1] > 0
    deformations = [x.T @ g for g in gradients]
    volumes = [volume(law, f) for f in deformations]
    phi = sum(w * n * v for w, n, (v, _) in zip(weights, shape, volumes))
    slope = [np.einsum("ij,aj->ai", dv, g).ravel() for (_, dv), g in zip(volumes, gradients)]
    coupling = sum(w * np.outer(n, s) for w, n, s in zip(weights, shape, slope))
    if mixed and not shared:
        compliance = sum(w * np.outer(n, n) for w, n in zip(weights, shape)) / patch.bulk
        p = np.linalg.solve(compliance, phi)
    force, stiffness = np.zeros((k, 3)), np.zeros((3 * k, 3 * k))
    for f, w, n, g in zip(deformations, weights, shape, gradients):
        stress, h = at_point(law, f, mu, lam, mixed, n @ p if mixed else 0.0)
        force -= w * g @ stress.T
        strain = np.einsum("il,aj->ijal", I, g).reshape(9, 3 * k)  # dF by the nodes
        stiffness += w * strain.T @ h @ strain
    if mixed and not shared:
        stiffness += coupling.T @ np.linalg.solve(compliance, coupling)
    excess = phi - patch.compliance[e] @ p if shared else np.zeros(0)
    return CellAnswer(force, stiffness, excess, coupling if shared else np.zeros((0, 3 * k)))


def homogeneous(law, f, mu, lam):
    """(stress, pressure of a mixed element) in a homogeneous state."""
    pressure = (lam + 2.0 / 3.0 * mu) * volume(law, f)[0]
    return at_point(law, f, mu, lam, True, pressure)[0], pressure
