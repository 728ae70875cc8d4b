"""Kernels of soft bodies: points bound to nodes, held nodes, and the compliance of points."""

from __future__ import annotations

import numpy as np

from limpet.compiled import njit
from limpet.geometry.shape import Binding

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


@njit(cache=True)
def held_times(slots: Array, rows: Array, columns: Array, values: Array, y: Array) -> Array:
    """A y by those blocks of the symmetric A that couple to held nodes, for y (unknowns, 3).

    Complete at the held nodes; at the free ones it is what the held ones do to them.
    """
    out = np.zeros_like(y)
    for k in range(len(slots)):
        i, j, b = rows[k], columns[k], values[slots[k]]
        for d in range(3):
            out[i, d] += b[d, 0] * y[j, 0] + b[d, 1] * y[j, 1] + b[d, 2] * y[j, 2]
        if i != j:
            for d in range(3):
                out[j, d] += b[0, d] * y[i, 0] + b[1, d] * y[i, 1] + b[2, d] * y[i, 2]
    return out


@njit(cache=True)
def held_columns(
    slots: Array, rows: Array, columns: Array, values: Array, held: Array, out: Array
) -> None:
    """out (u, 3, m) += A y for y that is `held` (n_held, 3, m) at the held nodes, else zero."""
    first, m = len(out) - len(held), held.shape[2]
    for k in range(len(slots)):
        i, j, b = rows[k], columns[k], values[slots[k]]  # i >= j, so i is held
        for d in range(3):
            for e in range(3):
                f = b[e, d]
                for c in range(m):
                    out[j, d, c] += f * held[i - first, e, c]
                if j >= first and i != j:
                    f = b[d, e]
                    for c in range(m):
                        out[i, d, c] += f * held[j - first, e, c]


def with_markers(binding: Binding, nodes: Array) -> Binding:
    """The binding with more vertices, one at each of the nodes, that belong to no triangle."""
    if len(nodes) == 0:
        return binding
    more = binding.start[-1] + 1 + np.arange(len(nodes), dtype=np.int32)
    return Binding(
        binding.triangles,
        np.concatenate([binding.start, more]).astype(np.int32),
        np.concatenate([binding.nodes, nodes]).astype(np.int32),
        np.concatenate([binding.weights, np.ones(len(nodes))]),
    )


def renumbered(binding: Binding, new: Array) -> Binding:
    return Binding(binding.triangles, binding.start, new[binding.nodes], binding.weights)
