"""H A^-1 H^T and H M^-1 H^T of rows over the points of a soft body (P eq 7, 10)."""

from __future__ import annotations

import numpy as np

from limpet.fem.discretisation import Discretisation
from limpet.fem.surface_map import carrying_nodes, spread, vertex_compliance
from limpet.fem.tangent import BoundPoints, Tangent
from limpet.geometry.shape import Array, Binding
from limpet.linalg.reduced_compliance import ReducedCompliance, sparse_rows
from limpet.linalg.rows import Rows

DENSE_ROW = 12  # rows with more vertices than this (a cavity's pressure) are half-solved directly


class PointCompliance:
    """Of the points that are bound to the nodes of a body."""

    def __init__(self, fem: Discretisation, points: Binding) -> None:
        self._fem, self._points = fem, points
        first_node = np.minimum.reduceat(points.nodes, points.start[:-1])
        vertex_order = np.argsort(first_node, kind="stable")
        self._vertices = BoundPoints(vertex_order, points.start, points.nodes, points.weights)
        node, ones = np.arange(fem.n_free + 1), np.ones(fem.n_free)
        self._nodes = BoundPoints(node[:-1], node, node[:-1], ones)

    def of_step(self, tangent: Tangent, rows: Rows) -> ReducedCompliance:
        """H A^-1 H^T by way of the touched vertices, or of the nodes that carry them if these are
        fewer.

        So a finer collision mesh does not make the half-solves dearer. A cavity's row, which
        touches most of the underside, is half-solved as it is.
        """
        b, d, n = self._points, self._fem, self._fem.n_free
        count = np.diff(rows.start)
        dense = np.flatnonzero(count > DENSE_ROW)
        touched = np.zeros(b.n_vertices, bool)
        touched[rows.point[np.repeat(count <= DENSE_ROW, count)]] = True
        extra = np.zeros((len(dense), d.symbolic.size))
        for e, r in enumerate(dense):  # one a cavity
            own = slice(rows.start[r], rows.start[r + 1])
            force = np.zeros((b.n_vertices, 3))
            np.add.at(force, rows.point[own], rows.vector[own])
            on_nodes = np.zeros((len(d.rest), 3))
            spread(b.start, b.nodes, b.weights, force, on_nodes)
            by_unknown = np.zeros((len(d.rest) + len(d.pressure_unknown), 3))
            by_unknown[d.nodes_at] = on_nodes
            extra[e] = by_unknown[: d.free_unknowns].reshape(-1)[d.entries]
        ranks = np.flatnonzero(touched[self._vertices.order])
        nodes = np.flatnonzero(carrying_nodes(touched, b.start, b.nodes, n))
        if len(ranks) <= len(nodes):
            by_vertex = tangent.compliance(self._vertices, ranks, extra)
        else:
            by_node = tangent.compliance(self._nodes, nodes, extra)
            column = np.full(len(d.rest), -1, np.int32)
            column[nodes] = 3 * np.arange(len(nodes))
            by_vertex = vertex_compliance(
                self._vertices.order[ranks], b.start, b.nodes, b.weights, column, by_node,
                len(dense),
            )  # fmt: skip
        place = np.zeros(b.n_vertices, np.int32)
        place[self._vertices.order[ranks]] = np.arange(len(ranks))
        extra_column = np.full(len(count), -1, np.int32)
        extra_column[dense] = 3 * len(ranks) + np.arange(len(dense))
        b_rows = sparse_rows(rows.start, rows.point, rows.vector, place, extra_column)
        return ReducedCompliance(*b_rows, by_vertex)

    def known(self, tangent: Tangent | None) -> Array:
        """(2, m) bool: the vertices, and the nodes, for which `tangent` is half-solved."""
        out = np.zeros((2, max(self._points.n_vertices, self._fem.n_free)), bool)
        if tangent is not None and (known := tangent.known) is not None:
            out[0 if known.points is self._vertices else 1, known.index] = True
        return out

    def recall(self, tangent: Tangent, known: Array) -> None:
        """Half-solve what `known` says."""
        tangent.forget()
        for points, which in zip((self._vertices, self._nodes), known):
            if which.any():
                tangent.recall(points, np.flatnonzero(which))

    def of_impact(self, rows: Rows) -> ReducedCompliance:
        """H M^-1 H^T with the masses of the nodes."""
        b, d, points = self._points, self._fem, np.unique(rows.point)
        index = np.concatenate([np.arange(b.start[i], b.start[i + 1]) for i in points])
        ride = np.zeros((len(points), d.n_free))  # of the points on the free nodes
        at = np.repeat(np.arange(len(points)), np.diff(b.start)[points])
        free = b.nodes[index] < d.n_free
        np.add.at(ride, (at[free], b.nodes[index][free]), b.weights[index][free])
        s = (ride / d.node_mass[: d.n_free]) @ ride.T
        place, none = np.zeros(b.n_vertices, np.int32), np.full(len(rows), -1, np.int32)
        place[points] = np.arange(len(points))
        b_rows = sparse_rows(rows.start, rows.point, rows.vector, place, none)
        return ReducedCompliance(*b_rows, np.kron(s, np.eye(3)))
