"""Joints as a constraint set: points of two bodies that stay together, as bilateral rows.

u = gap/h + H v = 0 in every step, so that the drift of a body that rotates by a finite angle is
closed in the next one. A ball joint is one pair of points; a hinge is two, the second of them free
along the axis. (A region of a soft body that is attached needs no rows: fem/attachments.py.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from limpet.dynamics.constraint_set import DATA, ConstraintSet, RowBlock, StepContext
from limpet.linalg.rows import Rows
from limpet.rigid import bilateral

Array = np.ndarray


@dataclass(frozen=True)
class Joints:
    """t pairs of points, all points counted through."""

    a: Array  # (t,) int32
    b: Array  # (t,) int32
    axis: Array  # (t,) int32: the pair at the other end of a hinge's axis; -1: hold in 3 directions

    def __len__(self) -> int:
        return len(self.a)


class JointSet(ConstraintSet):
    """All joints of a world. They have no warm start: the solver eliminates their rows."""

    name, phase = "joints", "compliance"

    def __init__(self, joints: Joints) -> None:
        self.joints = joints

    def update(self, now: StepContext) -> None:
        self._now = now

    def rows(self) -> RowBlock:
        jacobian, gap = joint_rows(self.joints, self._now.x)
        r = len(gap)
        return RowBlock(
            jacobian, gap / self._now.h, np.zeros(r), np.array([bilateral.KIND], np.int32),
            np.array([0, r], np.int32), np.zeros((1, DATA)), np.zeros(1, np.int64),
        )  # fmt: skip

    def accept(self, multipliers: Array, rates: Array) -> None:
        """A joint depends on nothing but where its points are."""

    def get_state(self) -> dict[str, object]:
        return {}

    def set_state(self, state: Mapping[str, object]) -> None: ...


def joint_rows(joints: Joints, x: Array) -> tuple[Rows, Array]:
    """Rows at x (N, 3), and their gaps (r,) [m]."""
    joint = np.repeat(np.arange(len(joints)), np.where(joints.axis < 0, 3, 2))
    direction = np.empty((len(joint), 3))
    full = joints.axis[joint] < 0
    direction[full] = np.tile(np.eye(3), (int(full.sum()) // 3, 1))
    for t in np.flatnonzero(joints.axis >= 0):
        along = x[joints.b[t]] - x[joints.b[joints.axis[t]]]
        _, _, frame = np.linalg.svd(along[None, :])
        direction[joint == t] = frame[1:]
    a, b = joints.a[joint], joints.b[joint]
    gap = np.einsum("ri,ri->r", direction, x[a] - x[b])
    point = np.stack([a, b], axis=1).reshape(-1).astype(np.int32)
    vector = np.stack([direction, -direction], axis=1).reshape(-1, 3)
    return Rows(np.arange(0, 2 * len(joint) + 1, 2, dtype=np.int32), point, vector), gap
