"""Contact detection by proximity between closed triangle surfaces.

Each vertex makes at most one contact with the other surface, at its nearest point; edges make one
where two ridges cross. After the minimal distances of P 3.1, with every vertex within the alarm
distance kept: the neighbours of a touching vertex of a soft body arrive within one step.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import dist

import numpy as np

from limpet.compiled import njit
from limpet.contact.collider import Collider, Shape, collider
from limpet.contact.contacts import EDGE_EDGE, FACE_VERTEX, VERTEX_FACE, Contacts
from limpet.contact.edges import edge_rows
from limpet.contact.self_contact import self_rows
from limpet.contact.vertices import vertex_rows
from limpet.geometry.bvh import Tree, refit
from limpet.linalg.threads import ALONE, Threads

Array = np.ndarray


__all__ = [
    "EDGE_EDGE", "FACE_VERTEX", "VERTEX_FACE", "Collider", "Contacts", "closing_speeds", "collider",
    "detect",
]  # fmt: skip


@njit(cache=True, nogil=True)
def _contact_rows(
    x: Array, shape_x: Shape, y: Array, shape_y: Shape, alarm: float, facing: bool, rim: float
) -> tuple[Array, Array]:
    """All contacts of surface a at x with surface b at y; rows as in Contacts.of_rows."""
    i0, v0 = vertex_rows(x, shape_x, y, shape_y, alarm, facing, VERTEX_FACE, rim)
    i1, v1 = vertex_rows(y, shape_y, x, shape_x, alarm, facing, FACE_VERTEX, rim)
    i2, v2 = edge_rows(x, shape_x, y, shape_y, alarm)
    return np.concatenate((i0, i1, i2)), np.concatenate((v0, v1, v2))


@njit(cache=True)
def _apart(x: Tree, y: Tree, distance: float) -> bool:
    """Whether the boxes round two surfaces are farther apart than that."""
    for d in range(3):
        if x.lower[0, d] > y.upper[0, d] + distance or y.lower[0, d] > x.upper[0, d] + distance:
            return True
    return False


@njit(cache=True)
def _speeds(v: Array) -> tuple[Array, float, float]:
    """Mean velocity, the largest distance from it, and the largest speed."""
    n, mean = len(v), np.zeros(3)
    for i in range(n):
        for d in range(3):
            mean[d] += v[i, d] / n
    spread = most = 0.0
    for i in range(n):
        off = whole = 0.0
        for d in range(3):
            off += (v[i, d] - mean[d]) ** 2
            whole += v[i, d] ** 2
        spread, most = max(spread, off), max(most, whole)
    return mean, np.sqrt(spread), np.sqrt(most)


def closing_speeds(velocities: Sequence[Array], pairs: Sequence[tuple[int, int]]) -> list[float]:
    """How fast the surfaces of each pair can come together at most [m/s]."""
    body = [_speeds(v) for v in velocities]
    out = []
    for a, b in pairs:
        (mean_a, spread_a, most_a), (mean_b, spread_b, most_b) = body[a], body[b]
        out.append(min(dist(mean_a, mean_b) + spread_a + spread_b, most_a + most_b))
    return out


def refit_trees(
    colliders: Sequence[Collider], positions: Sequence[Array], pairs: Sequence[tuple[int, int]]
) -> None:
    """Fit the trees of all surfaces that are in a pair to their positions."""
    for i in sorted({i for pair in pairs for i in pair}):
        shape = colliders[i].shape
        refit(shape.tree, positions[i], shape.adjacent.triangles)


def detect(
    colliders: Sequence[Collider], positions: Sequence[Array], pairs: Sequence[tuple[int, int]],
    alarm: float | Sequence[float], facing: bool = True, rim: float = 0.0,
    ways: Sequence[Array] | None = None, threads: Threads = ALONE,
) -> Contacts:  # fmt: skip
    """Contacts of the given pairs of bodies within the alarm distance [m], pair after pair.

    A body in a pair with itself touches itself, within that distance of where its vertices go by
    `ways` (n, 3) [m] each, if given. The alarm distance is one for all, or one a pair.

    positions: for each collider (n, 3) [m], where its vertices are in the world. The order is
    fixed: within a pair vertices of a, vertices of b, edges. A vertex counts when it faces the
    other body; with facing=False also when it does not, as long as it is outside. Within `rim` [m]
    of an edge it lies on the face that it looks at: where contacts are not solved to the last
    micrometre, two boxes stacked edge on edge still hold each other by their faces.
    """
    where = [np.ascontiguousarray(x, dtype=np.float64) for x in positions]
    first = np.cumsum([0, *map(len, where)])
    refit_trees(colliders, where, pairs)
    within = [alarm] * len(pairs) if isinstance(alarm, float) else alarm
    near, searches = [], []
    for (a, b), far in zip(pairs, within):
        one, two = colliders[a].shape, colliders[b].shape
        if a == b:
            walls = colliders[a].walls
            assert walls is not None
            way = np.zeros_like(where[a]) if ways is None else np.ascontiguousarray(ways[a])
            search = partial(self_rows, where[a], way, one, walls, far)
        elif _apart(one.tree, two.tree, far + one.patches.bulge + two.patches.bulge):
            continue
        else:
            search = partial(_contact_rows, where[a], one, where[b], two, far, facing, rim)
        near.append((a, b))
        searches.append(search)
    found = zip(near, threads.run(searches))
    return Contacts.join(
        [Contacts.of_rows(a, b, *rows, first) for (a, b), rows in found if len(rows[0])]
    )
