"""Volume under whole serendipity faces of eight nodes, and its gradient, exact.

x, dx/ds and dx/dt have at most the degrees (2, 2), (1, 2) and (2, 1) in (s, t), so N x . n has at
most (5, 5): three Gauss points each way are exact. A side has three nodes and is a parabola, as the
side of a six-node triangle is.
"""

from __future__ import annotations

import numpy as np

from limpet.compiled import inner, njit
from limpet.geometry.cells import serendipity8

Array = np.ndarray


def _rule() -> tuple[Array, Array, Array]:
    """Shape functions (9, 8) at the Gauss points, and dN/ds and dN/dt times half the weight."""
    point, weight = np.polynomial.legendre.leggauss(3)
    n, ds, dt = [], [], []
    for s, ws in zip(point, weight):
        for t, wt in zip(point, weight):
            # quadratic in s and in t, so central differences are exact
            root = np.sqrt(ws * wt)
            n.append(serendipity8(s, t))
            ds.append(root * 0.5 * (serendipity8(s + 1, t) - serendipity8(s - 1, t)))
            dt.append(root * 0.5 * (serendipity8(s, t + 1) - serendipity8(s, t - 1)))
    return np.array(n), np.array(ds), np.array(dt)


SHAPE, ALONG_S, ALONG_T = _rule()


@inner()
def add_quad_gradient(quads: Array, share: Array, y: Array, g: Array) -> float:
    """Volume about y[0] of faces (q, 8) over points y; adds its gradient to g (v, 3)."""
    volume = 0.0
    x, own = np.empty((8, 3)), np.empty((8, 3))
    for f in range(len(quads)):
        for i in range(8):
            for k in range(3):
                x[i, k] = y[quads[f, i], k] - y[0, k]
        own[:] = 0.0
        for p in range(len(SHAPE)):
            u0, u1, u2, v0, v1, v2 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
            for i in range(8):
                s, t = ALONG_S[p, i], ALONG_T[p, i]
                u0 += s * x[i, 0]
                u1 += s * x[i, 1]
                u2 += s * x[i, 2]
                v0 += t * x[i, 0]
                v1 += t * x[i, 1]
                v2 += t * x[i, 2]
            n0, n1, n2 = u1 * v2 - u2 * v1, u2 * v0 - u0 * v2, u0 * v1 - u1 * v0
            for i in range(8):
                w = share[f] * SHAPE[p, i]
                own[i, 0] += w * n0
                own[i, 1] += w * n1
                own[i, 2] += w * n2
        for i in range(8):
            for k in range(3):
                volume += x[i, k] * own[i, k]
                g[quads[f, i], k] += own[i, k]
    return volume / 3.0


@inner()
def quad_area(nodes: Array, y: Array) -> float:
    """Length of the area vector of a face: that of its corners, and 2/3 sag x chord a side."""
    a, b, c, d = y[nodes[0]], y[nodes[1]], y[nodes[2]], y[nodes[3]]
    ux, uy, uz = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    vx, vy, vz = d[0] - b[0], d[1] - b[1], d[2] - b[2]
    nx = 0.5 * (uy * vz - uz * vy)
    ny = 0.5 * (uz * vx - ux * vz)
    nz = 0.5 * (ux * vy - uy * vx)
    for i in range(4):
        p, q, m = y[nodes[i]], y[nodes[(i + 1) % 4]], y[nodes[4 + i]]
        ux, uy, uz = q[0] - p[0], q[1] - p[1], q[2] - p[2]
        vx = (2.0 / 3.0) * (m[0] - 0.5 * (p[0] + q[0]))
        vy = (2.0 / 3.0) * (m[1] - 0.5 * (p[1] + q[1]))
        vz = (2.0 / 3.0) * (m[2] - 0.5 * (p[2] + q[2]))
        nx += vy * uz - vz * uy
        ny += vz * ux - vx * uz
        nz += vx * uy - vy * ux
    return float(np.sqrt(nx * nx + ny * ny + nz * nz))


@njit(cache=True)
def facets_of_quads(quads: Array) -> Array:
    """Flat triangles (6 q, 3) through the nodes of faces (q, 8)."""
    facets = np.empty((6 * len(quads), 3), dtype=np.int32)
    for f in range(len(quads)):
        a = quads[f]
        for i in range(4):
            j = 6 * f + i
            facets[j, 0], facets[j, 1], facets[j, 2] = a[i], a[4 + i], a[4 + (i + 3) % 4]
        facets[6 * f + 4, 0], facets[6 * f + 4, 1], facets[6 * f + 4, 2] = a[4], a[5], a[6]
        facets[6 * f + 5, 0], facets[6 * f + 5, 1], facets[6 * f + 5, 2] = a[4], a[6], a[7]
    return facets
