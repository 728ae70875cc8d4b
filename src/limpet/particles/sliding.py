"""Nodes that slide on primitives within a step: new gaps, normals and axes of friction.

A node slides round a ball between two solves; a normal from the step's start would let it in.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from limpet.compiled import njit
from limpet.contact.primitives import Primitive, signed_distance
from limpet.contact.rows import tangent_pair
from limpet.particles.point_pairs import PointPairs

Array = np.ndarray

MESH = -1  # instead of a kind: the body has its triangles, no primitive


class BodyPrimitives(NamedTuple):
    """Primitives of the rigid bodies, and the distance that nodes keep from them."""

    kind: Array  # (b,) int64, MESH: none
    size: Array  # (b, 3)
    axis: Array  # (b, 3)
    thickness: Array  # (n,) [m] by node

    @staticmethod
    def of(shapes: Sequence[Primitive | None], thickness: Array) -> BodyPrimitives:
        kind = [MESH if s is None else s.kind for s in shapes]
        size = [np.zeros(3) if s is None else s.size for s in shapes]
        axis = [np.zeros(3) if s is None else s.axis for s in shapes]
        rows = np.reshape(size, (-1, 3)), np.reshape(axis, (-1, 3))
        return BodyPrimitives(np.array(kind, np.int64), *rows, thickness)


@njit(cache=True, error_model="numpy")
def slide(
    pairs: PointPairs, p: Array, x: Array, centre: Array, rotation: Array, shapes: BodyPrimitives
) -> None:
    """Single nodes on primitives where they are now, in place; p (k, 3) keeps its direction.

    x (n, 3): all nodes; centre (b, 3) and rotation (b, 3, 3) of the rigid bodies.
    """
    d, n = np.empty(3), np.empty(3)
    for c in range(len(p)):
        body = pairs.rigid[c, 1]
        if body < 0 or pairs.rigid[c, 0] >= 0 or shapes.kind[body] == MESH:
            continue
        i = pairs.node[pairs.start[c]]
        for a in range(3):
            pairs.arm[c, 1, a] = x[i, a] - centre[body, a]
        a0, a1, a2 = pairs.arm[c, 1, 0], pairs.arm[c, 1, 1], pairs.arm[c, 1, 2]
        for a in range(3):
            d[a] = rotation[body, 0, a] * a0 + rotation[body, 1, a] * a1 + rotation[body, 2, a] * a2
        off = signed_distance(shapes.kind[body], shapes.size[body], shapes.axis[body], d, n)
        pairs.gap[c, 0] = off - shapes.thickness[i]
        f = pairs.frame[c]
        w0 = f[0, 0] * p[c, 0] + f[1, 0] * p[c, 1] + f[2, 0] * p[c, 2]
        w1 = f[0, 1] * p[c, 0] + f[1, 1] * p[c, 1] + f[2, 1] * p[c, 2]
        w2 = f[0, 2] * p[c, 0] + f[1, 2] * p[c, 1] + f[2, 2] * p[c, 2]
        n0, n1, n2 = n[0], n[1], n[2]
        for a in range(3):
            f[0, a] = (
                rotation[body, a, 0] * n0 + rotation[body, a, 1] * n1 + rotation[body, a, 2] * n2
            )
        tangent_pair(f[0], f[1], f[2])
        for a in range(3):
            p[c, a] = f[a, 0] * w0 + f[a, 1] * w1 + f[a, 2] * w2
