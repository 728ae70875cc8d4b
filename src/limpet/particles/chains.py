"""Edges grouped in chains: what pulls at one end of a chain is felt at the other at once.

One by one, the rows of a chain of n edges need some n^2 sweeps to pass a load on. Rows of one
chain couple only with their neighbours in it, so all of them are solved together at the price of
a few sweeps: block Gauss-Seidel, one tridiagonal system per chain.
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray

STRAIGHT = 0.8  # cosine between two edges at rest that belong to one chain


def chains(points: Array, edges: Array) -> tuple[Array, Array, Array]:
    """(order (e,), flip (e,) bool, start (t + 1,)): edges order[start[t]:start[t+1]] are chain t.

    A flipped edge is walked from its second node to its first. At each node an edge goes on in that
    which is straightest, if both choose each other; rings are cut in two.
    """
    e, n = len(edges), len(points)
    along = points[edges[:, 1]] - points[edges[:, 0]]
    along = along / np.linalg.norm(along, axis=1, keepdims=True)
    half_node = edges.T.ravel()  # end 0 of every edge, then end 1
    away = np.concatenate([along, -along])  # from that end into the edge
    by_node = np.argsort(half_node, kind="stable")
    first = np.searchsorted(half_node[by_node], np.arange(n + 1))
    choice, straight = np.full(2 * e, -1), np.full(2 * e, -STRAIGHT)
    for node in range(n):
        here = by_node[first[node] : first[node + 1]]
        if len(here) > 1:
            cosine = away[here] @ away[here].T
            best = cosine.argmin(axis=1)
            good = cosine[np.arange(len(here)), best] < straight[here]
            choice[here[good]] = here[best[good]]
    mutual = (choice >= 0) & (choice[choice] == np.arange(2 * e))
    after = np.where(mutual, choice, -1)
    order: list[int] = []
    flip: list[bool] = []
    start = [0]
    seen = np.zeros(e, bool)

    def walk(edge: int, entered: int) -> None:
        """From one end of an edge on, until the chain ends or comes round."""
        nodes: set[int] = set()
        while edge >= 0 and not seen[edge]:
            ends = {int(edges[edge, 0]), int(edges[edge, 1])}
            if len(ends & nodes) > 1 or (nodes and int(edges[edge, 1 - entered]) in nodes):
                break  # would close a ring: the rest is another chain
            seen[edge] = True
            nodes |= ends
            order.append(edge)
            flip.append(entered == 1)
            half = int(after[edge + e * (1 - entered)])
            edge, entered = (half % e, half // e) if half >= 0 else (-1, 0)
        if len(order) > start[-1]:
            start.append(len(order))

    for edge in range(e):  # from loose ends first
        for end in (0, 1):
            if after[edge + e * end] < 0 and not seen[edge]:
                walk(edge, end)
    for edge in range(e):  # what is left are rings
        if not seen[edge]:
            walk(edge, 0)
    return np.array(order, np.int64), np.array(flip, bool), np.array(start, np.int32)
