"""Points held where they are: nodes and points of rigid bodies, in the world or on a rigid body."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from limpet.particles.point_pairs import PointPairs

Array = np.ndarray


class Anchors(NamedTuple):
    """k points, each held on another (C eq 20, 21; the law is in `held`)."""

    node: Array  # (k,) int32: the node that is held, -1: a point of a rigid body
    rigid: Array  # (k, 2) int32: the body that is held if no node is, and that it is held on; -1
    local: (
        Array  # (k, 2, 3) [m]: their points in the bodies' frames; in the world where there is none
    )


def anchors_at(
    place: Array, node: Array, own: int, target: int, centre: Array, rotation: Array
) -> Anchors:
    """Points (k, 3) [m] held where they are now, on body `target` or (-1) in the world.

    own: the rigid body that they belong to, -1 if they are nodes. Poses of
    the rigid bodies: centre (b, 3), rotation (b, 3, 3).
    """
    k = len(place)
    local = np.empty((k, 2, 3))
    for side, body in enumerate((own, target)):
        local[:, side] = place if body < 0 else (place - centre[body]) @ rotation[body]
    rigid = np.repeat(np.array([[own, target]], np.int32), k, axis=0)
    return Anchors(np.asarray(node, np.int32), rigid, local)


def anchor_pairs(anchors: Anchors, x: Array, centre: Array, rotation: Array) -> PointPairs:
    """Pairs of points at node positions x (n, 3) and poses of the rigid bodies.

    Both impulses act at the first point (half-way between two rigid bodies), so that a gap not yet
    closed makes no moment.
    """
    k = len(anchors.node)
    at = np.empty((k, 2, 3))
    for side in range(2):
        body = anchors.rigid[:, side]
        there = (
            np.einsum("kij,kj->ki", rotation[body], anchors.local[:, side])
            if len(rotation)
            else 0.0
        )
        about = centre[body] if len(rotation) else 0.0
        at[:, side] = np.where((body < 0)[:, None], anchors.local[:, side], there + about)
    on_node = anchors.node >= 0
    at[on_node, 0] = x[anchors.node[on_node]]
    share = np.where(on_node | (anchors.rigid[:, 1] < 0), 1.0, 0.5)[:, None]
    point = share * at[:, 0] + (1.0 - share) * at[:, 1]
    arm = np.zeros((k, 2, 3))
    for side in range(2):
        body = anchors.rigid[:, side]
        known = body >= 0
        arm[known, side] = point[known] - centre[body[known]]
    start = np.concatenate([[0], np.cumsum(on_node)]).astype(np.int32)
    held = int(on_node.sum())
    return PointPairs(
        start, anchors.node[on_node], np.ones(held), np.zeros((held, 3)), anchors.rigid, arm,
        np.repeat(np.eye(3)[None], k, axis=0), at[:, 0] - at[:, 1], np.zeros(k),
    )  # fmt: skip
