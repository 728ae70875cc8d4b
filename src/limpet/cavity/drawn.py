"""The triangles that a cavity is drawn with: flat, through all vertices, sharing their edges."""

from __future__ import annotations

import numpy as np

from limpet.cavity.curved_triangles import facets_of
from limpet.cavity.mesh import CavityMesh

Array = np.ndarray


def drawn_triangles(mesh: CavityMesh) -> Array:
    """(f, 3) int32 over the cavity's vertices.

    Where a whole face borders on pieces of the next one, these have more vertices on the side that
    they share: the whole one takes them in. Of vertices at the same place one is taken.
    """
    if len(mesh.curved) + len(mesh.quads) == 0:
        return mesh.triangles
    one = _welded(mesh)
    curved = np.where(mesh.curved < 0, -1, one[mesh.curved])
    used = mesh.weights != 0.0
    used[one != np.arange(len(one))] = False
    single = np.flatnonzero(used.sum(axis=1) == 1).tolist()
    node: dict[int, int] = {v: int(mesh.vertices[v][used[v]][0]) for v in single}
    between: dict[tuple[int, ...], list[int]] = {}  # vertices on a side, by the nodes that carry it
    for v in np.flatnonzero(used.sum(axis=1) == 3).tolist():
        between.setdefault(tuple(sorted(mesh.vertices[v][used[v]].tolist())), []).append(v)
    whole: list[list[int]] = []
    pieces: list[list[int]] = []
    for face in curved.tolist():
        # only a whole face has its corners at nodes
        (whole if all(v in node for v in face[:3]) and min(face) >= 0 else pieces).append(face)
    out = [one[mesh.triangles], facets_of(np.array(pieces, np.int32).reshape(-1, 6))[0]]
    for face in [*whole, *one[mesh.quads].tolist()]:
        n = len(face) // 2
        sides = [
            _side(mesh, node, between, face[i], face[n + i], face[(i + 1) % n]) for i in range(n)
        ]
        middles = [face[n + i] for i in range(n)]
        polygons = [middles]
        for i in range(n):  # what the middles cut off at a corner
            before, after = sides[i - 1], sides[i]
            half = before[before.index(middles[i - 1]) :] + after[: after.index(middles[i]) + 1]
            polygons.append(half)
        for polygon in polygons:
            fan = [(polygon[0], polygon[k], polygon[k + 1]) for k in range(1, len(polygon) - 1)]
            out.append(np.array(fan, np.int32))
    return _without_folds(np.concatenate(out))


def _without_folds(triangles: Array) -> Array:
    """Without those that have collapsed, and without pairs that are each other's back side."""
    a, b, c = triangles.T
    some = triangles[(a != b) & (b != c) & (c != a)]
    low = some.argmin(axis=1)[:, None]
    turned = np.take_along_axis(some, (low + np.arange(3)) % 3, 1)  # the least vertex first
    front = np.where(turned[:, 1] < turned[:, 2], 1, -1)
    _, group = np.unique(np.sort(some, axis=1), axis=0, return_inverse=True)
    group = group.ravel()
    left = np.bincount(group, front)[group]
    same = np.flatnonzero(left * front > 0)
    same = same[np.argsort(group[same], kind="stable")]
    before = np.arange(len(same)) - np.searchsorted(group[same], group[same])  # in its group
    return some[np.sort(same[before < np.abs(left[same])])].astype(np.int32)


def _welded(mesh: CavityMesh) -> Array:
    """(v,) the first vertex that the same points carry with the same weights."""
    order = np.argsort(np.where(mesh.weights != 0.0, mesh.vertices, -1), axis=1)
    points = np.take_along_axis(np.where(mesh.weights != 0.0, mesh.vertices, -1), order, 1)
    weights = np.round(np.take_along_axis(mesh.weights, order, 1), 9)
    keys = np.hstack([points, weights])
    _, first, back = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    return first[back.ravel()]


def _side(
    mesh: CavityMesh, node: dict[int, int], between: dict[tuple[int, ...], list[int]],
    tail: int, middle: int, head: int,
) -> list[int]:  # fmt: skip
    """The vertices from one corner of a face up to the next, without that one."""
    ends = {node[tail], node[head]}
    carriers = mesh.vertices[middle][mesh.weights[middle] != 0.0].tolist()
    key = tuple(sorted({*carriers, *ends}))

    def along(v: int) -> float:
        other = [n for n in key if n not in ends]
        ahead = mesh.weights[v][mesh.vertices[v] == node[head]].sum()
        return float(ahead + 0.5 * mesh.weights[v][np.isin(mesh.vertices[v], other)].sum())

    inner = {middle, *between.get(key, [])}
    return [tail, *sorted(inner, key=along)]
