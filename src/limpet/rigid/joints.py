"""Ties: points of two bodies that stay together, as bilateral rows.

u = gap/h + H v = 0 in every step, so that what a turning body's arc leaves open is closed in the
next one. A ball joint is one tie, a hinge one and a second that leaves the way along the axis free.
(An attached region of a soft body needs none: bodies/handles.py.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

Array = np.ndarray


@dataclass(frozen=True)
class Joints:
    """t pairs of points, by global vertex."""

    a: Array  # (t,) int32
    b: Array  # (t,) int32
    axis: Array  # (t,) int32: the tie at the other end of a hinge's axis, -1: hold all three ways

    def __len__(self) -> int:
        return len(self.a)

    @property
    def n_rows(self) -> int:
        return int(np.where(self.axis < 0, 3, 2).sum())


def joint_rows(joints: Joints, x: Array) -> tuple[Array, Array, Array, Array]:
    """Rows (start, vertex, vector) over global vertices at x (N, 3), and their gaps (m,) [m]."""
    joint = np.repeat(np.arange(len(joints)), np.where(joints.axis < 0, 3, 2))
    way = np.empty((len(joint), 3))
    full = joints.axis[joint] < 0
    way[full] = np.tile(np.eye(3), (int(full.sum()) // 3, 1))
    for t in np.flatnonzero(joints.axis >= 0):
        along = x[joints.b[t]] - x[joints.b[joints.axis[t]]]
        _, _, frame = np.linalg.svd(along[None, :])
        way[joint == t] = frame[1:]
    a, b = joints.a[joint], joints.b[joint]
    gap = np.einsum("mi,mi->m", way, x[a] - x[b])
    vertex = np.stack([a, b], axis=1).reshape(-1).astype(np.int32)
    vector = np.stack([way, -way], axis=1).reshape(-1, 3)
    return np.arange(0, 2 * len(joint) + 1, 2, dtype=np.int32), vertex, vector, gap
