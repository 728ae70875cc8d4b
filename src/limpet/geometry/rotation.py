"""Rotations: the polar factor of a deformation gradient, quaternions, the exponential map."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from limpet.compiled import inner, njit

Array = np.ndarray


@njit(cache=True, error_model="numpy", inline="always")
def det3(a: Array) -> float:
    return (
        a[0, 0] * (a[1, 1] * a[2, 2] - a[1, 2] * a[2, 1])
        - a[0, 1] * (a[1, 0] * a[2, 2] - a[1, 2] * a[2, 0])
        + a[0, 2] * (a[1, 0] * a[2, 1] - a[1, 1] * a[2, 0])
    )


@inner(error_model="numpy", fastmath={"contract"})
def polar_by_svd(f: Array, r: Array) -> None:
    """The nearest rotation (never a reflection), also for inverted or flattened F."""
    u, _, vt = np.linalg.svd(f)
    if (
        np.linalg.det(u) * np.linalg.det(vt) < 0.0
    ):  # flip the direction of the smallest singular value
        for i in range(3):
            u[i, 2] = -u[i, 2]
    for i in range(3):
        for j in range(3):
            r[i, j] = u[i, 0] * vt[0, j] + u[i, 1] * vt[1, j] + u[i, 2] * vt[2, j]


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def polar(f: Array, r: Array) -> None:
    """Write the rotation R of F = R S into r. Newton's iteration R <- (R + R^-T)/2, scaled once.

    Stateless, so a restored run is bit-identical; inverted elements go through the SVD.
    """
    d = det3(f)
    size = 0.0
    for i in range(3):
        for j in range(3):
            size += f[i, j] * f[i, j]
    if not (d > 1e-4 * (size / 3.0) ** 1.5):
        polar_by_svd(f, r)
        return
    scale = d ** (-1.0 / 3.0)
    for i in range(3):
        for j in range(3):
            r[i, j] = scale * f[i, j]
    for _ in range(40):
        c00 = r[1, 1] * r[2, 2] - r[1, 2] * r[2, 1]
        c01 = r[1, 2] * r[2, 0] - r[1, 0] * r[2, 2]
        c02 = r[1, 0] * r[2, 1] - r[1, 1] * r[2, 0]
        c10 = r[0, 2] * r[2, 1] - r[0, 1] * r[2, 2]
        c11 = r[0, 0] * r[2, 2] - r[0, 2] * r[2, 0]
        c12 = r[0, 1] * r[2, 0] - r[0, 0] * r[2, 1]
        c20 = r[0, 1] * r[1, 2] - r[0, 2] * r[1, 1]
        c21 = r[0, 2] * r[1, 0] - r[0, 0] * r[1, 2]
        c22 = r[0, 0] * r[1, 1] - r[0, 1] * r[1, 0]
        inverse = 0.5 / (r[0, 0] * c00 + r[0, 1] * c01 + r[0, 2] * c02)
        n00, n01, n02 = (
            0.5 * r[0, 0] + inverse * c00,
            0.5 * r[0, 1] + inverse * c01,
            0.5 * r[0, 2] + inverse * c02,
        )
        n10, n11, n12 = (
            0.5 * r[1, 0] + inverse * c10,
            0.5 * r[1, 1] + inverse * c11,
            0.5 * r[1, 2] + inverse * c12,
        )
        n20, n21, n22 = (
            0.5 * r[2, 0] + inverse * c20,
            0.5 * r[2, 1] + inverse * c21,
            0.5 * r[2, 2] + inverse * c22,
        )
        change = (
            abs(n00 - r[0, 0])
            + abs(n01 - r[0, 1])
            + abs(n02 - r[0, 2])
            + abs(n10 - r[1, 0])
            + abs(n11 - r[1, 1])
            + abs(n12 - r[1, 2])
            + abs(n20 - r[2, 0])
            + abs(n21 - r[2, 1])
            + abs(n22 - r[2, 2])
        )
        r[0, 0], r[0, 1], r[0, 2] = n00, n01, n02
        r[1, 0], r[1, 1], r[1, 2] = n10, n11, n12
        r[2, 0], r[2, 1], r[2, 2] = n20, n21, n22
        if change < 1e-8:  # quadratic: the next change would be below 1e-16
            return
    polar_by_svd(f, r)


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def gram_schmidt(f: Array, r: Array) -> None:
    """The rotation from Gram-Schmidt orthonormalisation of the columns of F.

    Cheaper than the polar factor, but it depends on the order of the axes (M 3.4, after
    Mueller 2008). Zero or parallel columns fall back to the polar factor.
    """
    a = np.sqrt(f[0, 0] ** 2 + f[1, 0] ** 2 + f[2, 0] ** 2)
    dot, size = 0.0, 0.0
    for i in range(3):
        r[i, 0] = f[i, 0] / a
        dot += r[i, 0] * f[i, 1]
        size += f[i, 1] * f[i, 1]
    b = 0.0
    for i in range(3):
        r[i, 1] = f[i, 1] - dot * r[i, 0]
        b += r[i, 1] * r[i, 1]
    if not (a > 1e-12 and b > 1e-24 * (size + a * a)):
        polar(f, r)
        return
    b = 1.0 / np.sqrt(b)
    for i in range(3):
        r[i, 1] *= b
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        r[i, 2] = r[j, 0] * r[k, 1] - r[k, 0] * r[j, 1]


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def symmetric_eigen(a: Array, vectors: Array) -> None:
    """Eigenvectors (columns of `vectors`) of a symmetric 3x3 a, which becomes diagonal (Jacobi)."""
    for i in range(3):
        for j in range(3):
            vectors[i, j] = 1.0 if i == j else 0.0
    for _ in range(12):
        off = a[0, 1] * a[0, 1] + a[0, 2] * a[0, 2] + a[1, 2] * a[1, 2]
        size = a[0, 0] * a[0, 0] + a[1, 1] * a[1, 1] + a[2, 2] * a[2, 2]
        if off <= 1e-24 * size:
            return
        for p in range(2):
            for q in range(p + 1, 3):
                if a[p, q] == 0.0:
                    continue
                theta = 0.5 * (a[q, q] - a[p, p]) / a[p, q]
                t = 1.0 / (abs(theta) + np.sqrt(theta * theta + 1.0))
                if theta < 0.0:
                    t = -t
                c = 1.0 / np.sqrt(t * t + 1.0)
                s = t * c
                k = 3 - p - q
                app, aqq, apq, akp, akq = a[p, p], a[q, q], a[p, q], a[k, p], a[k, q]
                a[p, p], a[q, q] = app - t * apq, aqq + t * apq
                a[p, q] = a[q, p] = 0.0
                a[k, p] = a[p, k] = c * akp - s * akq
                a[k, q] = a[q, k] = s * akp + c * akq
                for i in range(3):
                    vp, vq = vectors[i, p], vectors[i, q]
                    vectors[i, p], vectors[i, q] = c * vp - s * vq, s * vp + c * vq


@njit(cache=True)
def quaternion_matrix(q: Array) -> Array:
    """Rotation matrix of a unit quaternion (w, x, y, z)."""
    w, x, y, z = q
    r = np.empty((3, 3))
    r[0, 0], r[0, 1], r[0, 2] = 1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)
    r[1, 0], r[1, 1], r[1, 2] = 2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)
    r[2, 0], r[2, 1], r[2, 2] = 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)
    return r


@njit(cache=True)
def quaternion_product(p: Array, q: Array) -> Array:
    """The quaternion product p q: rotation q, then rotation p."""
    out = np.empty(4)
    out[0] = p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3]
    out[1] = p[0] * q[1] + q[0] * p[1] + p[2] * q[3] - p[3] * q[2]
    out[2] = p[0] * q[2] + q[0] * p[2] + p[3] * q[1] - p[1] * q[3]
    out[3] = p[0] * q[3] + q[0] * p[3] + p[1] * q[2] - p[2] * q[1]
    return out


@njit(cache=True)
def rotation_vector_quaternion(w: Array) -> Array:
    """exp of a rotation vector [rad] as a unit quaternion."""
    angle = np.sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2])
    half = 0.5 * angle
    sinc = 0.5 if angle < 1e-8 else np.sin(half) / angle
    out = np.empty(4)
    out[0] = np.cos(half)
    for i in range(3):
        out[1 + i] = sinc * w[i]
    return out


@njit(cache=True)
def rotation_matrix(axis: Array, angle: float) -> Array:
    """Rotation by `angle` [rad] about `axis` (need not be a unit vector)."""
    size = np.sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2])
    return quaternion_matrix(rotation_vector_quaternion(axis * (angle / size)))


@njit(cache=True)
def rotation_vector(r: Array) -> Array:
    """The rotation vector (3,) [rad] of a rotation matrix, of length pi at most."""
    # Shepperd's method: divide by the largest component, which is accurate at all angles
    trace = r[0, 0] + r[1, 1] + r[2, 2]
    q = np.empty(4)
    if trace >= max(r[0, 0], r[1, 1], r[2, 2]):
        q[0] = 1.0 + trace
        q[1], q[2], q[3] = r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]
    else:
        i = 0
        if r[1, 1] > r[0, 0]:
            i = 1
        if r[2, 2] > r[i, i]:
            i = 2
        j, m = (i + 1) % 3, (i + 2) % 3
        q[0] = r[m, j] - r[j, m]
        q[1 + i] = 1.0 + r[i, i] - r[j, j] - r[m, m]
        q[1 + j], q[1 + m] = r[j, i] + r[i, j], r[m, i] + r[i, m]
    q /= np.sqrt((q * q).sum()) * (1.0 if q[0] >= 0.0 else -1.0)
    size = np.sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    return q[1:] * (2.0 if size < 1e-12 else 2.0 * np.arctan2(size, q[0]) / size)


def rotation_between(one: Sequence[float] | Array, other: Sequence[float] | Array) -> Array:
    """(3, 3) the smallest rotation that brings the direction (3,) of `one` to that of `other`."""
    a, b = (np.asarray(v, float) / np.linalg.norm(v) for v in (one, other))
    axis = np.cross(a, b)
    size = float(np.linalg.norm(axis))
    if size < 1e-9:  # along the same line: half a turn about any axis across it, or none
        axis = np.cross(a, np.eye(3)[int(np.argmin(np.abs(a)))])
    return rotation_matrix(axis, float(np.arctan2(size, a @ b)))
