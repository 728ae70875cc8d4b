"""Bending of two triangles about their common edge, by one of two constraint functions.

Nodes i, j of the edge, L and R opposite to it. DOT is C's (eq 33), (x_L - x_C).(x_R - x_C) with x_C
the middle of the edge; here over a length of the rest shape, so that it is metres and its
multiplier newtons. It changes with the square of the angle: about the flat state it does not
resist bending, only stretch across the edge. ANGLE is the dihedral angle itself [rad], its
multiplier a moment [N m]: it resists bending from the flat state on, and its sign is known, so a
reversed state is not taken for the right one.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from limpet.compiled import njit
from limpet.geometry.distance import add, cross, dot, point, scale, sub

Array = np.ndarray


class BendingModel(IntEnum):
    """Which function of the two triangles keeps its value."""

    ANGLE = 0
    DOT = 1


class Bends(NamedTuple):
    """k hinges; infinitely stiff up to a largest moment, or implicit springs in the solve."""

    nodes: Array  # (k, 4) int32: i, j, L, R
    model: Array  # (k,) int8, a BendingModel
    size: Array  # (k,) [m] of the rest shape, that DOT is divided by
    rest: Array  # (k,) value at rest
    lower: Array  # (k,) [N m] or [N] lambda-
    upper: Array  # (k,) lambda+
    stiffness: Array  # (k,) [N m/rad] or [N/m], inf: a constraint
    damping: Array  # (k,) [N m s] or [N s/m] of springs


@njit(cache=True, error_model="numpy", inline="always")
def bending_and_tips(x: Array, nodes: Array, model: int, size: float, tip: Array) -> float:
    """The value, and its gradients by the tips L and R in tip (8,): 3 and 3, then two levers s.

    The edge takes the rest: i has -(1 - s) of each, j -s of each.
    """
    xi, xj, xl, xr = point(x, nodes[0]), point(x, nodes[1]), point(x, nodes[2]), point(x, nodes[3])
    if model == BendingModel.DOT.value:
        middle = scale(0.5, add(xi, xj))
        a, b = sub(xl, middle), sub(xr, middle)
        s = 1.0 / size
        for d in range(3):
            tip[d], tip[3 + d] = s * b[d], s * a[d]
        tip[6] = tip[7] = 0.5
        return s * dot(a, b)
    e, to_l, to_r = sub(xj, xi), sub(xl, xi), sub(xr, xi)
    left, right = cross(e, to_l), cross(to_r, e)  # normals of the two sides
    ee, ll, rr = dot(e, e), dot(left, left), dot(right, right)
    if ee == 0.0 or ll == 0.0 or rr == 0.0:  # a triangle without area has no side
        tip[:] = 0.0
        return 0.0
    inverse = 1.0 / np.sqrt(ee)
    length = ee * inverse
    angle = np.arctan2(dot(cross(left, right), e) * inverse, dot(left, right))
    p, q = -length / ll, -length / rr  # d angle = -|e| (n.dx)/|n|^2 at the tips
    for d in range(3):
        tip[d], tip[3 + d] = p * left[d], q * right[d]
    tip[6], tip[7] = dot(to_l, e) * inverse * inverse, dot(to_r, e) * inverse * inverse
    return angle


@njit(cache=True, error_model="numpy")
def bending_angles(x: Array, nodes: Array, model: Array, size: Array) -> tuple[Array, Array]:
    """Values (k,) and gradients (k, 4, 3) by the nodes i, j, L, R of all."""
    k = len(nodes)
    value, gradient, tip = np.empty(k), np.empty((k, 4, 3)), np.empty(8)
    for c in range(k):
        value[c] = bending_and_tips(x, nodes[c], model[c], size[c], tip)
        for d in range(3):
            left, right = tip[d], tip[3 + d]
            gradient[c, 0, d] = -(1.0 - tip[6]) * left - (1.0 - tip[7]) * right
            gradient[c, 1, d] = -tip[6] * left - tip[7] * right
            gradient[c, 2, d], gradient[c, 3, d] = left, right
    return value, gradient


def rest_sizes(x: Array, nodes: Array) -> Array:
    """(k,) [m] the geometric mean of the two triangles' heights over the edge's middle."""
    middle = 0.5 * (x[nodes[:, 0]] + x[nodes[:, 1]])
    left = np.linalg.norm(x[nodes[:, 2]] - middle, axis=1)
    right = np.linalg.norm(x[nodes[:, 3]] - middle, axis=1)
    return np.sqrt(left * right)


@njit(cache=True)
def wrap_angle(value: float) -> float:
    """A difference of angles [rad], between -pi and pi."""
    if value > np.pi:
        return value - 2.0 * np.pi
    if value < -np.pi:
        return value + 2.0 * np.pi
    return value
