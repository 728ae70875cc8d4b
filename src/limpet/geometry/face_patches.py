"""Where the triangles of a surface lie on the curved element faces that they stand for.

A collision triangle is a chord of the boundary of a quadratic mesh. Its corners lie on element
faces; a point between them, at barycentrics b, stands for the point of a face at the reference
coordinates sum b_i r_i, where r_i are those of the corners. A triangle that straddles several faces
has a patch on each of them: r_i are then continued beyond the face, and a point belongs to the
patch in whose face it falls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from limpet.compiled import copy, inner, njit

Array = np.ndarray

QUAD, TRIANGLE, BEZIER = 0, 1, 2  # serendipity quadrilateral; triangle; with control points
MOST_PATCHES = 8  # a triangle on more faces than this stays flat
QUAD_NODES = np.array(
    [[-1, -1], [1, -1], [1, 1], [-1, 1], [0, -1], [1, 0], [0, 1], [-1, 0]], dtype=float
)
TRIANGLE_NODES = np.array([[0, 0], [1, 0], [0, 1], [0.5, 0], [0.5, 0.5], [0, 0.5]])


@dataclass(frozen=True)
class FacePatches:
    """The element faces under the triangles of a surface."""

    nodes: Array  # (f, 8) int32 of each face: corners, midsides; a triangle repeats its first one
    kind: Array  # (f,) int8: QUAD, TRIANGLE or BEZIER
    start: Array  # (m + 1,) int32: triangle t has the patches start[t]:start[t + 1], or is flat
    face: Array  # (p,) int32, the face of each patch
    corners: Array  # (p, 3, 2) reference coordinates there of the triangle's corners

    def used_nodes(self) -> Array:
        """The nodes of all faces, sorted."""
        return np.unique(self.nodes)


def collect_patches(
    faces: Sequence[Array], control: Sequence[bool], patches: Sequence[Sequence[tuple[int, Array]]]
) -> FacePatches:
    """The record from lists: faces by nodes, and (face, corners (3, 2)) of each triangle."""
    patches = [each if len(each) <= MOST_PATCHES else [] for each in patches]
    flat = [p for each in patches for p in each]
    padded = [np.append(f, [f[0]] * (8 - len(f))) for f in faces]
    kind = [QUAD if len(f) == 8 else BEZIER if c else TRIANGLE for f, c in zip(faces, control)]
    return FacePatches(
        np.array(padded, np.int32).reshape(-1, 8),
        np.array(kind, np.int8),
        np.cumsum([0, *(len(each) for each in patches)]).astype(np.int32),
        np.array([face for face, _ in flat], np.int32),
        np.array([corners for _, corners in flat], float).reshape(-1, 3, 2),
    )


def join_patches(
    parts: Sequence[FacePatches | None], triangles: Sequence[int], first: Array
) -> FacePatches | None:
    """The patches of surfaces that stand one after the other; None if all of them are flat.

    triangles: how many each has; first (n,): what is added to its nodes.
    """
    if all(part is None for part in parts):
        return None
    none = FacePatches(
        np.zeros((0, 8), np.int32), np.zeros(0, np.int8), np.zeros(1, np.int32),
        np.zeros(0, np.int32), np.zeros((0, 3, 2)),
    )  # fmt: skip
    start, faces, count = [np.zeros(1, np.int32)], [], 0
    for part, m in zip(parts, triangles):
        ends = np.zeros(m, np.int32) if part is None else part.start[1:]
        start.append(ends + start[-1][-1])
        if part is not None:
            faces.append(part.face + np.int32(count))
            count += len(part.nodes)
    some = [none if part is None else part for part in parts]
    return FacePatches(
        np.concatenate([p.nodes + np.int32(o) for p, o in zip(some, first)]),
        np.concatenate([p.kind for p in some]),
        np.concatenate(start).astype(np.int32),
        np.concatenate(faces),
        np.concatenate([p.corners for p in some]),
    )


@inner()
def face_weights(kind: int, s: float, t: float, out: Array) -> None:
    """Shape functions of a face at (s, t) into out (8,)."""
    out[:] = 0.0
    if kind == QUAD:
        out[0] = 0.25 * (1.0 - s) * (1.0 - t) * (-s - t - 1.0)
        out[1] = 0.25 * (1.0 + s) * (1.0 - t) * (s - t - 1.0)
        out[2] = 0.25 * (1.0 + s) * (1.0 + t) * (s + t - 1.0)
        out[3] = 0.25 * (1.0 - s) * (1.0 + t) * (t - s - 1.0)
        out[4] = 0.5 * (1.0 - s * s) * (1.0 - t)
        out[5] = 0.5 * (1.0 + s) * (1.0 - t * t)
        out[6] = 0.5 * (1.0 - s * s) * (1.0 + t)
        out[7] = 0.5 * (1.0 - s) * (1.0 - t * t)
    else:
        a, b, c = 1.0 - s - t, s, t
        if kind == TRIANGLE:
            out[0], out[1], out[2] = a * (2.0 * a - 1.0), b * (2.0 * b - 1.0), c * (2.0 * c - 1.0)
            out[3], out[4], out[5] = 4.0 * a * b, 4.0 * b * c, 4.0 * c * a
        else:
            out[0], out[1], out[2] = a * a, b * b, c * c
            out[3], out[4], out[5] = 2.0 * a * b, 2.0 * b * c, 2.0 * c * a


@inner()
def border_value(kind: int, side: int, s: float, t: float) -> float:
    """Positive inside the face, zero on one of its sides: 4 of a quadrilateral, 3 of a triangle."""
    if kind == QUAD:
        if side == 0:
            return 1.0 - s
        if side == 1:
            return 1.0 + s
        if side == 2:
            return 1.0 - t
        return 1.0 + t
    if side == 0:
        return s
    if side == 1:
        return t
    return 1.0 - s - t


@inner()
def patch_of(
    triangle: int, bary: Array, start: Array, face: Array, corners: Array, kind: Array
) -> int:
    """The patch of a triangle on whose face the point at some barycentrics lies."""
    best, most = -1, -np.inf
    for p in range(start[triangle], start[triangle + 1]):
        s, t = reference(corners[p], bary)
        k = kind[face[p]]
        inside = np.inf
        for side in range(4 if k == QUAD else 3):
            inside = min(inside, border_value(k, side, s, t))
        if inside > most:
            best, most = p, inside
    return best


@inner()
def on_face(
    triangle: int, bary: Array, start: Array, face: Array, corners: Array, kind: Array,
    nodes: Array, out_nodes: Array, out_weights: Array,
) -> None:  # fmt: skip
    """Nodes (8,) and weights (8,) of the point of an element face at barycentrics of a triangle."""
    p = patch_of(triangle, bary, start, face, corners, kind)
    s, t = reference(corners[p], bary)
    copy(nodes[face[p]], out_nodes)
    face_weights(kind[face[p]], s, t, out_weights)


@njit(cache=True)
def reference(corners: Array, bary: Array) -> tuple[float, float]:
    """Reference coordinates in a face from those of a triangle's corners (3, 2)."""
    s = bary[0] * corners[0, 0] + bary[1] * corners[1, 0] + bary[2] * corners[2, 0]
    t = bary[0] * corners[0, 1] + bary[1] * corners[1, 1] + bary[2] * corners[2, 1]
    return s, t
