"""A surface that rides on nodes: positions and forces through its binding, and its compliance."""

from __future__ import annotations

import numpy as np
from numba import njit

Array = np.ndarray


@njit(cache=True)
def carrying_nodes(touched: Array, start: Array, nodes: Array, n_free: int) -> Array:
    """(n_free,) bool: the free nodes that carry any of the touched surface vertices."""
    out = np.zeros(n_free, np.bool_)
    for v in range(len(touched)):
        if touched[v]:
            for k in range(start[v], start[v + 1]):
                if nodes[k] < n_free:
                    out[nodes[k]] = True
    return out


@njit(cache=True)
def free_entries(
    vertices: Array, start: Array, nodes: Array, weights: Array, n_free: int
) -> tuple[Array, Array, Array]:
    """(start, nodes, weights) of some vertices, without the nodes that are driven."""
    size = 0
    for v in vertices:
        size += start[v + 1] - start[v]
    out_start = np.zeros(len(vertices) + 1, np.int64)
    out_nodes, out_weights = np.empty(size, np.int64), np.empty(size)
    used = 0
    for i in range(len(vertices)):
        for k in range(start[vertices[i]], start[vertices[i] + 1]):
            if nodes[k] < n_free:
                out_nodes[used], out_weights[used] = nodes[k], weights[k]
                used += 1
        out_start[i + 1] = used
    return out_start, out_nodes[:used], out_weights[:used]


@njit(cache=True)
def vertex_compliance(
    vertices: Array, start: Array, nodes: Array, weights: Array, column: Array, s: Array, extra: int
) -> Array:
    """J S J^T: compliance of nodes (and `extra` more rows at the end) -> of surface vertices."""
    n, size = len(vertices), len(s)
    out_size = 3 * n + extra
    half = np.zeros((out_size, size))
    for i in range(n):
        for k in range(start[vertices[i]], start[vertices[i] + 1]):
            c, f = column[nodes[k]], weights[k]
            if c >= 0:
                for d in range(3):
                    line, source = half[3 * i + d], s[c + d]
                    for j in range(size):
                        line[j] += f * source[j]
    for e in range(extra):
        half[3 * n + e] = s[size - extra + e]
    out = np.zeros((out_size, out_size))
    for r in range(out_size):
        line, source = out[r], half[r]
        for i in range(min(r // 3 + 1, n)):
            t0, t1, t2 = 0.0, 0.0, 0.0
            for k in range(start[vertices[i]], start[vertices[i] + 1]):
                c, f = column[nodes[k]], weights[k]
                if c >= 0:
                    t0 += f * source[c]
                    t1 += f * source[c + 1]
                    t2 += f * source[c + 2]
            line[3 * i], line[3 * i + 1], line[3 * i + 2] = t0, t1, t2
        if r >= 3 * n:
            for e in range(extra):
                line[3 * n + e] = source[size - extra + e]
        for c in range(r):
            out[c, r] = line[c]
    return out


@njit(cache=True)
def bound_points(start: Array, nodes: Array, weights: Array, x: Array) -> Array:
    """Vertex values (n, 3) from node values x."""
    out = np.zeros((len(start) - 1, 3))
    for i in range(len(out)):
        for k in range(start[i], start[i + 1]):
            for d in range(3):
                out[i, d] += weights[k] * x[nodes[k], d]
    return out


@njit(cache=True)
def rows_times_modes(
    start: Array, vertex: Array, vector: Array,
    b_start: Array, b_nodes: Array, b_weights: Array, modes: Array,
) -> Array:  # fmt: skip
    """H N, (r, m), for rows over vertices and modes (n, 3, m) of the nodes that carry them."""
    out = np.zeros((len(start) - 1, modes.shape[2]))
    for r in range(len(out)):
        line = out[r]
        for k in range(start[r], start[r + 1]):
            for j in range(b_start[vertex[k]], b_start[vertex[k] + 1]):
                for d in range(3):
                    f, source = vector[k, d] * b_weights[j], modes[b_nodes[j], d]
                    for c in range(len(line)):
                        line[c] += f * source[c]
    return out


@njit(cache=True)
def spread(start: Array, nodes: Array, weights: Array, impulse: Array, out: Array) -> None:
    """Add vectors on the vertices to the nodes that carry them: the transpose of bound_points."""
    for i in range(len(start) - 1):
        for k in range(start[i], start[i + 1]):
            for d in range(3):
                out[nodes[k], d] += weights[k] * impulse[i, d]
