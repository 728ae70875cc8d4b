"""Symbolic analysis of a sparse block factorisation: order, fill, supernodes.

A node has one to three unknowns: three velocities, or one pressure. Order and fill are found on the
graph of nodes. Columns of the factor with the same rows form a supernode, kept as one dense panel
of scalars, so that the numeric work is small dense products.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from limpet.compiled import njit
from limpet.linalg.subtrees import independent_subtrees

Array = np.ndarray

WIDEST = 16  # nodes per supernode at most: the diagonal blocks of wider ones cost too much
FILL = 0.1  # fraction of zeros that a merged supernode may have
SMALL = 4  # supernodes narrower than this merge with twice as many zeros


@dataclass(frozen=True)
class BlockPattern:
    """Lower triangle of a symmetric block matrix, column by column, diagonal first."""

    n: int
    start: Array  # (n + 1,) int32
    rows: Array  # (nnz,) int32, sorted in each column, rows[start[j]] == j


@dataclass(frozen=True)
class SymbolicFactor:
    """Panels of the factor L of the leading `n` nodes of a BlockPattern, counted in unknowns.

    Panel s has the columns first[s]:first[s+1] and the rows rows[row_start[s]:row_start[s+1]], its
    own columns first; it is stored by columns from panel_start[s] on. Behind the panels stand the
    fronts: what the panels of one subtree send to those outside of it.
    """

    n: int  # nodes
    offset: Array  # (n + 1,) int32, where each node's unknowns begin
    sign: Array  # (offset[n],) +1, or -1 where the pivot is negative (a pressure)
    first: Array  # (s + 1,) int32
    row_start: Array  # (s + 1,) int32
    rows: Array  # int32
    panel_start: Array  # (s + f + 1,) int64
    tall: Array  # (s + f,) int32, how many rows a panel, or front, has
    # An update sends the product of a panel's lower part, or a front, to a later panel or a front.
    update_start: Array  # (s + f + 1,) int32
    update_from: Array  # (u,) int32, the panel's first row that belongs to the target's columns
    update_to: Array  # (u,) int32, one past the last such row
    update_panel: Array  # (u,) int32, the target
    place_start: Array  # (u + 1,) int32
    place: Array  # int32, row of the target panel for each of the panel's rows from update_from on
    run: Array  # int32, how many of them from each on stand next to each other in the target, too
    # f + 1 of int32, the panels of each, ascending; the first has no front, but sends to the panels
    # above themselves
    subtrees: tuple[Array, ...]
    top: Array  # int32, the panels that are in none of them
    block_start: Array  # (s + 1,) int32, where the blocks of each panel's columns begin
    scatter: Array  # (len(pattern.rows),) int64, where each block's corner goes, -1 outside
    stride: Array  # (len(pattern.rows),) int32, column length of the panel there
    height: Array  # (len(pattern.rows),) int32, rows and
    width: Array  # columns of the block

    @cached_property
    def size(self) -> int:
        """Number of unknowns."""
        return int(self.offset[-1])


def elimination_order(n: int, i: Array, j: Array, last: Array | None = None) -> Array:
    """A fill-reducing, post-ordered order of the node graph with edges (i, j): order[new] = old.

    `last` are nodes to be eliminated after all others: unit forces on them then involve only the
    end of the factor, which becomes denser.
    """
    late = np.zeros(n, bool)
    if last is not None and len(last):
        late[last] = True
        # connected with one another, they have a high degree until the end
        one, two = np.meshgrid(last, last)
        i, j = np.concatenate([i, one.ravel()]), np.concatenate([j, two.ravel()])
    off = i != j
    ii, jj = np.concatenate([i[off], j[off]]), np.concatenate([j[off], i[off]])
    graph = sparse.coo_matrix((np.full(len(ii), -1e-6), (ii, jj)), shape=(n, n)).tolil()
    graph.setdiag(1.0)
    # SuperLU is used for its minimum-degree order only.
    factor = splu(graph.tocsc(), permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True})
    order = np.argsort(factor.perm_c).astype(np.int32)
    order = np.concatenate([order[~late[order]], order[late[order]]])
    new = np.empty(n, np.int32)
    new[order] = np.arange(n, dtype=np.int32)
    pattern = block_pattern(n, new[i], new[j])
    return order[_postorder(_tree_and_fill(pattern, n)[0])]


def block_pattern(n: int, i: Array, j: Array) -> BlockPattern:
    """The pattern that holds every pair (i, j) of coupled nodes, and the diagonal."""
    row = np.concatenate([np.maximum(i, j), np.arange(n)]).astype(np.int64)
    col = np.concatenate([np.minimum(i, j), np.arange(n)]).astype(np.int64)
    key = np.unique(col * n + row)
    start = np.searchsorted(key, np.arange(n + 1, dtype=np.int64) * n).astype(np.int32)
    return BlockPattern(n, start, (key % n).astype(np.int32))


def pattern_slots(pattern: BlockPattern, i: Array, j: Array) -> Array:
    """Where block (max, min) of each pair stands in the pattern. int32, shape of i."""
    row, col = np.maximum(i, j).astype(np.int64), np.minimum(i, j).astype(np.int64)
    column = np.repeat(np.arange(pattern.n, dtype=np.int64), np.diff(pattern.start))
    key = column * pattern.n + pattern.rows
    return np.searchsorted(key, col * pattern.n + row).astype(np.int32)


@njit(cache=True)
def _fill(
    n: int, start: Array, rows: Array, parent: Array, store: bool, lstart: Array, lrows: Array
) -> Array:
    """Walk up the elimination tree row by row; count, or store, the rows of each column of L."""
    left_start = np.zeros(n + 1, np.int32)  # the pattern by rows
    for j in range(n):
        for s in range(start[j] + 1, start[j + 1]):
            if rows[s] < n:
                left_start[rows[s] + 1] += 1
    for i in range(n):
        left_start[i + 1] += left_start[i]
    left = np.empty(left_start[n], np.int32)
    place = left_start[:-1].copy()
    for j in range(n):
        for s in range(start[j] + 1, start[j + 1]):
            i = rows[s]
            if i < n:
                left[place[i]] = j
                place[i] += 1
    mark = np.full(n, -1, np.int32)
    used = np.zeros(n, np.int32)
    for i in range(n):
        mark[i] = i
        for s in range(left_start[i], left_start[i + 1]):
            k = left[s]
            while mark[k] != i:
                if parent[k] == -1:
                    parent[k] = i
                mark[k] = i
                if store:
                    lrows[lstart[k] + used[k]] = i
                used[k] += 1
                k = parent[k]
    return used


def _tree_and_fill(pattern: BlockPattern, n: int) -> tuple[Array, Array, Array]:
    """(parent, start, rows) of the strictly lower part of L, rows sorted."""
    parent = np.full(n, -1, np.int32)
    empty = np.zeros(1, np.int32)
    count = _fill(n, pattern.start, pattern.rows, parent, False, empty, empty)
    start = np.zeros(n + 1, np.int32)
    np.cumsum(count, out=start[1:])
    rows = np.empty(start[n], np.int32)
    _fill(n, pattern.start, pattern.rows, parent, True, start, rows)
    return parent, start, rows


@njit(cache=True)
def _postorder(parent: Array) -> Array:
    """Children before parents, subtrees together."""
    n = len(parent)
    head, link = np.full(n + 1, -1, np.int32), np.full(n, -1, np.int32)
    for k in range(n - 1, -1, -1):
        p = parent[k] if parent[k] >= 0 else n
        link[k] = head[p]
        head[p] = k
    order, stack = np.empty(n, np.int32), np.empty(n + 1, np.int32)
    done, top = 0, 0
    stack[0] = n
    while top >= 0:
        k = stack[top]
        child = head[k]
        if child >= 0:
            head[k] = link[child]
            top += 1
            stack[top] = child
        else:
            top -= 1
            if k < n:
                order[done] = k
                done += 1
    return order


@njit(cache=True)
def _supernodes(parent: Array, count: Array) -> Array:
    """First column of each supernode: equal columns joined, then neighbours with few zeros."""
    n = len(parent)
    first = np.empty(n + 1, np.int32)  # kept as a stack: later columns merge backwards
    size = np.empty(n + 1, np.int64)  # blocks of the panel without the merged zeros
    m = 0
    for j in range(n):
        first[m] = j
        size[m] = count[j] + 1
        m += 1
        while m > 1:
            # panel m-2 ends where panel m-1 begins; they may merge if that is its parent
            a, b = first[m - 2], first[m - 1]
            if parent[b - 1] != b:
                break
            width = j + 1 - a
            rows_below = count[j]
            merged = width * (width + 1) // 2 + width * rows_below
            true = size[m - 2] + size[m - 1]
            zeros = (merged - true) / merged
            narrow = b - a < SMALL or j + 1 - b < SMALL
            if width > WIDEST or zeros > (2.0 * FILL if narrow else FILL):
                break
            size[m - 2] = true
            m -= 1
    first[m] = n
    return first[: m + 1].copy()


def analyse(
    pattern: BlockPattern, n: int, size: Array | None = None, negative: Array | None = None
) -> SymbolicFactor:
    """Panels for the leading n nodes (the rest are prescribed).

    `size` (n,): unknowns of each node, 3 if not given. `negative` (n,) bool: nodes whose pivots are
    negative, the pressures of a saddle point.
    """
    sizes = np.full(n, 3, np.int32) if size is None else np.asarray(size, np.int32)
    offset = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    minus = np.zeros(n, bool) if negative is None else np.asarray(negative)
    parent, start, lower = _tree_and_fill(pattern, n)
    first = _supernodes(parent, np.diff(start))
    panels = len(first) - 1
    home = np.repeat(np.arange(panels, dtype=np.int32), np.diff(first))
    nodes: list[Array] = []  # of each panel's rows
    for s in range(panels):
        a, b = first[s], first[s + 1]
        below = np.unique(lower[start[a] : start[b]])
        nodes.append(np.concatenate([np.arange(a, b), below[below >= b]]).astype(np.int32))
    begins = [np.concatenate([[0], np.cumsum(sizes[own])]).astype(np.int32) for own in nodes]
    width = np.diff(offset[first])
    height = np.array([b[-1] for b in begins])
    above = [home[own[k]] if k < len(own) else -1 for own, k in zip(nodes, np.diff(first))]
    subtrees = independent_subtrees(np.array(above), width, height)
    subtrees.sort(key=lambda within: (width - height)[within[-1]])  # the largest front is saved
    front, top = np.full(panels, -1), np.ones(panels, bool)
    for f, within in enumerate(subtrees):
        top[within] = False
        if f == 0:
            continue  # no other one writes to the panels above before it has ended
        front[within] = panels + f - 1
        root = within[-1]  # a front has its rows below the diagonal block
        below = nodes[root][first[root + 1] - first[root] :]
        nodes.append(below)
        begins.append(np.concatenate([[0], np.cumsum(sizes[below])]).astype(np.int32))
    updates: list[tuple[int, int, int]] = []
    update_start = np.zeros(len(nodes) + 1, np.int32)
    places: list[Array] = []
    for s, own in enumerate(nodes):
        p = int(first[s + 1] - first[s]) if s < panels else 0
        while p < len(own):
            target = int(home[own[p]])
            if s < panels and front[s] >= 0 and front[target] != front[s]:
                target, end = int(front[s]), len(own)
            else:
                end = int(np.searchsorted(own, first[target + 1]))
            updates.append((begins[s][p], begins[s][end], target))
            at = begins[target][np.searchsorted(nodes[target], own[p:])]
            places.append(_unknowns(at, sizes[own[p:]]))
            p = end
        update_start[s + 1] = len(updates)
    heights = np.array([b[-1] for b in begins], np.int32)
    room = np.concatenate([width * height, heights[panels:].astype(np.int64) ** 2])
    panel_start = np.concatenate([[0], np.cumsum(room)]).astype(np.int64)
    column = np.repeat(np.arange(pattern.n), np.diff(pattern.start))
    inside = np.flatnonzero((pattern.rows < n) & (column < n))
    panel = home[column[inside]]
    row = np.array(
        [begins[p][np.searchsorted(nodes[p], r)] for p, r in zip(panel, pattern.rows[inside])]
    )
    blocks = len(pattern.rows)
    scatter = np.full(blocks, -1, np.int64)
    stride, tall, wide = (np.zeros(blocks, np.int32) for _ in range(3))
    stride[inside] = height[panel]
    tall[inside], wide[inside] = sizes[pattern.rows[inside]], sizes[column[inside]]
    scatter[inside] = (
        panel_start[panel] + (offset[column[inside]] - offset[first[panel]]) * height[panel] + row
    )
    table = np.array(updates, dtype=np.int32).reshape(-1, 3)
    return SymbolicFactor(
        n=n, offset=offset, sign=np.where(np.repeat(minus, sizes), -1.0, 1.0), first=offset[first],
        row_start=np.concatenate([[0], np.cumsum(height)]).astype(np.int32),
        rows=np.concatenate([_unknowns(offset[own], sizes[own]) for own in nodes[:panels]]),
        panel_start=panel_start, tall=heights,
        update_start=update_start, update_from=np.ascontiguousarray(table[:, 0]),
        update_to=np.ascontiguousarray(table[:, 1]), update_panel=np.ascontiguousarray(table[:, 2]),
        place_start=np.concatenate([[0], np.cumsum([len(p) for p in places])]).astype(np.int32),
        place=np.concatenate([*places, np.zeros(0, np.int32)]),
        run=np.concatenate([*map(_runs, places), np.zeros(0, np.int32)]),
        subtrees=tuple(subtrees), top=np.flatnonzero(top).astype(np.int32),
        block_start=pattern.start[first].astype(np.int32), scatter=scatter, stride=stride,
        height=tall, width=wide,
    )  # fmt: skip


def _runs(place: Array) -> Array:
    """(n,) int32: how many consecutive numbers begin at each of `place`."""
    last = np.append(np.diff(place) != 1, True)
    ends = np.flatnonzero(last)
    each = np.arange(len(place))
    return (ends[np.searchsorted(ends, each)] - each + 1).astype(np.int32)


def _unknowns(begin: Array, size: Array) -> Array:
    """begin[0], begin[0] + 1, ... size[0] of them, then those of begin[1], ... int32."""
    step = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
    return (np.repeat(begin, size) + step).astype(np.int32)
