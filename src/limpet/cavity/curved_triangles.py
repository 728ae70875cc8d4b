"""Volume under six-node triangles, and its gradient, exact.

x(b, c) = sum N_k x_k is quadratic, so the area vector n = dx/db x dx/dc is quadratic, too, and has
the same shape functions: n = sum N_k n_k, with n_k its values at the six nodes. Hence

    g_k = integral of N_k n = sum_l M_kl n_l,    V = 1/3 sum_k x_k . g_k,

with the mass matrix M of the shape functions. On a closed mesh g is the gradient of V: an edge that
two triangles share has the same three nodes on both sides.

Nodes: three corners, then the middles of the edges 01, 12, 20. A middle of -1 is that of a straight
edge, half-way between its ends.
"""

from __future__ import annotations

import numpy as np

from limpet.compiled import inner, njit

Array = np.ndarray


@njit(cache=True)
def gather(nodes: Array, y: Array, origin: Array, out: Array) -> None:
    """The places (6, 3) of a triangle's nodes, from the origin."""
    for i in range(3):
        for k in range(3):
            out[i, k] = y[nodes[i], k] - origin[k]
    for i in range(3):
        m = nodes[3 + i]
        for k in range(3):
            out[3 + i, k] = (
                y[m, k] - origin[k] if m >= 0 else 0.5 * (out[i, k] + out[(i + 1) % 3, k])
            )


@inner()
def add_volume_gradient(curved: Array, share: Array, y: Array, g: Array) -> float:
    """Volume about y[0] of triangles (c, 6) over points y; adds its gradient to g (v, 3)."""
    volume = 0.0
    x, own = np.empty((6, 3)), np.empty((6, 3))
    u, v, n = np.empty((6, 3)), np.empty((6, 3)), np.empty((6, 3))
    for t in range(len(curved)):
        gather(curved[t], y, y[0], x)
        for k in range(3):  # dx/db and dx/dc are linear: from the corners to the middles
            u[0, k] = 4.0 * x[3, k] - 3.0 * x[0, k] - x[1, k]
            u[1, k] = x[0, k] + 3.0 * x[1, k] - 4.0 * x[3, k]
            u[2, k] = x[0, k] - x[1, k] + 4.0 * (x[4, k] - x[5, k])
            v[0, k] = 4.0 * x[5, k] - 3.0 * x[0, k] - x[2, k]
            v[1, k] = x[0, k] - x[2, k] + 4.0 * (x[4, k] - x[3, k])
            v[2, k] = x[0, k] + 3.0 * x[2, k] - 4.0 * x[5, k]
            for i in range(3):
                j = (i + 1) % 3
                u[3 + i, k] = 0.5 * (u[i, k] + u[j, k])
                v[3 + i, k] = 0.5 * (v[i, k] + v[j, k])
        for i in range(6):
            n[i, 0] = u[i, 1] * v[i, 2] - u[i, 2] * v[i, 1]
            n[i, 1] = u[i, 2] * v[i, 0] - u[i, 0] * v[i, 2]
            n[i, 2] = u[i, 0] * v[i, 1] - u[i, 1] * v[i, 0]
        w = share[t] / 360.0  # M n: a corner is opposite to the middle of the next edge
        for k in range(3):
            corners, middles = n[0, k] + n[1, k] + n[2, k], n[3, k] + n[4, k] + n[5, k]
            for i in range(3):
                across = 3 + (i + 1) % 3
                own[i, k] = w * (7.0 * n[i, k] - corners - 4.0 * n[across, k])
                own[across, k] = w * (16.0 * (middles + n[across, k]) - 4.0 * n[i, k])
                volume += x[i, k] * own[i, k] + x[across, k] * own[across, k]
        for i in range(3):
            m, j = curved[t, 3 + i], (i + 1) % 3
            for k in range(3):
                g[curved[t, i], k] += own[i, k]
                if m >= 0:
                    g[m, k] += own[3 + i, k]
                else:
                    g[curved[t, i], k] += 0.5 * own[3 + i, k]
                    g[curved[t, j], k] += 0.5 * own[3 + i, k]
    return volume / 3.0


@inner()
def curved_area(nodes: Array, y: Array) -> float:
    """Length of the area vector of a triangle: that of its corners, and 2/3 sag x chord a side."""
    a, b, c = y[nodes[0]], y[nodes[1]], y[nodes[2]]
    ux, uy, uz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    vx, vy, vz = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    nx = 0.5 * (uy * vz - uz * vy)
    ny = 0.5 * (uz * vx - ux * vz)
    nz = 0.5 * (ux * vy - uy * vx)
    for i in range(3):
        m = nodes[3 + i]
        if m >= 0:
            p, q = y[nodes[i]], y[nodes[(i + 1) % 3]]
            ux, uy, uz = q[0] - p[0], q[1] - p[1], q[2] - p[2]
            vx = (2.0 / 3.0) * (y[m, 0] - 0.5 * (p[0] + q[0]))
            vy = (2.0 / 3.0) * (y[m, 1] - 0.5 * (p[1] + q[1]))
            vz = (2.0 / 3.0) * (y[m, 2] - 0.5 * (p[2] + q[2]))
            nx += vy * uz - vz * uy
            ny += vz * ux - vx * uz
            nz += vx * uy - vy * ux
    return float(np.sqrt(nx * nx + ny * ny + nz * nz))


@njit(cache=True)
def facets_of(curved: Array) -> tuple[Array, Array]:
    """Flat triangles (f, 3) through the nodes of curved ones (c, 6), and the one each is of."""
    facets = np.empty((4 * len(curved), 3), dtype=np.int32)
    of = np.empty(4 * len(curved), dtype=np.int32)
    n = 0
    for t in range(len(curved)):
        ends, missing = curved[t], 0
        for i in range(3):
            missing += ends[3 + i] < 0
        # cut off each corner between two middles; what is left is the polygon between
        first = n
        if missing == 0:
            for i in range(3):
                facets[n, 0], facets[n, 1], facets[n, 2] = (
                    ends[i],
                    ends[3 + i],
                    ends[3 + (i + 2) % 3],
                )
                n += 1
            facets[n, 0], facets[n, 1], facets[n, 2] = ends[3], ends[4], ends[5]
            n += 1
        else:
            # from a corner next to a straight edge a fan over the other nodes
            root = 0
            while ends[3 + root] >= 0:
                root += 1
            last = ends[(root + 1) % 3]
            for j in range(1, 3):
                i = (root + j) % 3
                for node in (ends[3 + i], ends[(i + 1) % 3]):
                    if node >= 0 and node != ends[root]:
                        facets[n, 0], facets[n, 1], facets[n, 2] = ends[root], last, node
                        last = node
                        n += 1
        of[first:n] = t
    return facets[:n].copy(), of[:n].copy()
