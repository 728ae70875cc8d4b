"""The collision surface of a swept section: rings of vertices, strips between them, and caps.

All vertices of a ring have the same position in their cells: two in each sector near the lip, one
in its middle elsewhere. Corner and midside nodes differ in stiffness and load, so a lip with its
vertices at nodes would lift at every other one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, floor

import numpy as np

from limpet.geometry.cells import serendipity8, triangle6
from limpet.geometry.face_patches import collect_patches
from limpet.geometry.shape import Array, Binding
from limpet.meshing.section.swept import SweptNodes
from limpet.meshing.strips import strip

Patch = tuple[int, Array]  # element face, and reference coordinates (3, 2) of a triangle's corners


@dataclass(frozen=True)
class Ring:
    """A closed ring of vertices on a run of outer edges."""

    place: int  # along the run: even at the ends of edges, odd at their middles
    fine: bool  # two vertices in each sector, else one


@dataclass(frozen=True)
class Run:
    """Outer edges end to end, and the rings on them; closed, or ending at the axis or at a cap."""

    edges: Array  # (e, 3) start, middle, end
    rings: list[Ring]
    closed: bool


def swept_surface(nodes: SweptNodes, runs: Sequence[Run]) -> Binding:
    """Closed triangle surface; where a run ends off the axis, a flat cap closes it."""
    builder = _Builder(nodes)
    for run in runs:
        builder.add(run)
    return builder.binding()


class _Builder:
    def __init__(self, nodes: SweptNodes) -> None:
        self.nodes = nodes
        self.start, self.carriers, self.weights = [0], [], []  # type: ignore[var-annotated]
        self.triangles: list[tuple[int, int, int]] = []
        self.patches: list[list[Patch]] = []
        self.faces: dict[tuple[int, ...], int] = {}

    def binding(self) -> Binding:
        faces = [np.array(face) for face in self.faces]
        patches = collect_patches(faces, [False] * len(faces), self.patches)
        return Binding(
            np.array(self.triangles, dtype=np.int32), np.array(self.start, dtype=np.int32),
            np.array(self.carriers, dtype=np.int32), np.array(self.weights), patches,
        )  # fmt: skip

    def _vertex(self, carriers: Sequence[int], weights: Array) -> int:
        used = np.abs(weights) > 1e-12
        self.carriers += [n for n, u in zip(carriers, used) if u]
        self.weights += weights[used].tolist()
        self.start.append(len(self.carriers))
        return len(self.start) - 2

    def add(self, run: Run) -> None:
        steps = self.nodes.sweep.steps
        fine, coarse = 0.5 + np.arange(steps), 1.0 + 2.0 * np.arange(steps // 2)
        angles = [fine if ring.fine else coarse for ring in run.rings]
        loops = [
            [self._on_run(run, ring.place, float(j)) for j in its]
            for ring, its in zip(run.rings, angles)
        ]
        pairs = list(pairwise(range(len(loops))))
        if run.closed:
            pairs.append((len(loops) - 1, 0))
        else:
            self._cap(run, 0, loops[0], angles[0], below=True)
        for a, b in pairs:
            low, high = run.rings[a].place, run.rings[b].place
            if b < a:
                high += 2 * len(run.edges)
            where = dict(zip(loops[a], [(low, j) for j in angles[a]]))
            where |= dict(zip(loops[b], [(high, j) for j in angles[b]]))
            for triangle in strip(loops[a], angles[a], loops[b], angles[b], steps):
                self.triangles.append(triangle)
                self.patches.append(self._patches(run, [where[v] for v in triangle]))
        if not run.closed:
            self._cap(run, len(run.edges) - 1, loops[-1], angles[-1], below=False)

    def _cap(self, run: Run, edge: int, loop: list[int], angles: Array, below: bool) -> None:
        """A fan from the last ring to the axis, or to the middle of a flat cap."""
        end = int(run.edges[edge, 0 if below else 2])
        place = 0 if below else 2 * len(run.edges)
        on_axis = self.nodes.mesh.points[end, 0] == 0.0 and self.nodes.sweep.is_round
        if on_axis:
            middle = self._vertex([self.nodes.node(end, 0)], np.ones(1))
        else:
            middle = self._centre(loop)
        for a in range(len(loop)):
            b = (a + 1) % len(loop)
            one, two = (b, a) if below else (a, b)
            self.triangles.append((middle, loop[one], loop[two]))
            if on_axis:
                ring = run.rings[0 if below else -1].place
                between = 0.5 * (angles[a] + angles[b] + (0 if b else self.nodes.sweep.steps))
                corners = [(place, between), (ring, angles[one]), (ring, angles[two])]
                self.patches.append(self._patches(run, corners))
            else:
                self.patches.append([])

    def _centre(self, loop: list[int]) -> int:
        """A vertex at the mean of others."""
        own: dict[int, float] = {}
        for v in loop:
            for k in range(self.start[v], self.start[v + 1]):
                own[self.carriers[k]] = own.get(self.carriers[k], 0.0) + self.weights[k] / len(loop)
        return self._vertex(list(own), np.array(list(own.values())))

    def _face(self, run: Run, edge: int, sector: int) -> tuple[list[int], bool]:
        """Nodes of the element face on an edge in a sector, and whether it is a triangle.

        A triangle begins at the axis.
        """
        a, m, b = (int(p) for p in run.edges[edge % len(run.edges)])
        j, node = 2 * sector, self.nodes.node
        r = self.nodes.mesh.points[:, 0]
        if self.nodes.turns(j % self.nodes.sweep.steps) and 0.0 in (r[a], r[b]):
            tip, foot = (a, b) if r[a] == 0.0 else (b, a)
            return [
                node(tip, j), node(foot, j), node(foot, j + 2),
                node(m, j), node(foot, j + 1), node(m, j + 2),
            ], True  # fmt: skip
        return [
            node(a, j), node(b, j), node(b, j + 2), node(a, j + 2),
            node(m, j), node(b, j + 1), node(m, j + 2), node(a, j + 1),
        ], False  # fmt: skip

    def _on_run(self, run: Run, place: int, j: float) -> int:
        """The vertex at a place of a run and an angle, in steps of the sweep."""
        edge = min(place // 2, len(run.edges) - 1)
        sector = int(j // 2)
        face, triangular = self._face(run, edge, sector)
        u, v = 0.5 * (place - 2 * edge), 0.5 * j - sector
        if triangular:
            out = self._from_axis(run, edge, u)
            return self._vertex(face, triangle6(out * (1.0 - v), out * v))
        return self._vertex(face, serendipity8(2.0 * u - 1.0, 2.0 * v - 1.0))

    def _from_axis(self, run: Run, edge: int, u: float) -> float:
        start = int(run.edges[edge % len(run.edges), 0])
        return u if self.nodes.mesh.points[start, 0] == 0.0 else 1.0 - u

    def _patches(self, run: Run, corners: Sequence[tuple[float, float]]) -> list[Patch]:
        """The element faces under a triangle with corners at (place, angle)."""
        steps = self.nodes.sweep.steps
        p = np.array(corners, dtype=float)
        p[:, 1] -= steps * np.round((p[:, 1] - p[0, 1]) / steps)
        edge = floor(0.5 * p[:, 0].min())
        if p[:, 0].max() > 2 * edge + 2:
            return []  # it straddles edges, with a kink between them
        found: list[Patch] = []
        for sector in range(floor(0.5 * p[:, 1].min()), ceil(0.5 * p[:, 1].max())):
            face, triangular = self._face(run, edge, sector)
            u, v = 0.5 * p[:, 0] - edge, 0.5 * p[:, 1] - sector
            if triangular:
                out = np.array([self._from_axis(run, edge, x) for x in u])
                at = out[:, None] * np.column_stack([1.0 - v, v])
            else:
                at = np.column_stack([2.0 * u - 1.0, 2.0 * v - 1.0])
            found.append((self.faces.setdefault(tuple(face), len(self.faces)), at))
        return found
