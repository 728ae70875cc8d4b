"""Two nodes that keep their distance: C = |x_j - x_i| - L (C eq 23, in metres).

lambda > 0 pushes the nodes apart, so that its bounds say what the material resists (C 4.2).
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

import numpy as np

from limpet.compiled import njit
from limpet.errors import LimpetError

Array = np.ndarray


ROTATION = 0.1  # share of its length by which its rotation in a step may shorten a rod, at most


class ForceSide(StrEnum):
    """C's three ways of bounding lambda."""

    BOTH = "both"  # neither longer nor shorter
    COMPRESSION = "compression"  # not shorter: keeps a volume
    STRETCH = "stretch"  # not longer: damps excessive deformation, as a string does


def bounds(resists: ForceSide, max_force: float = np.inf) -> tuple[float, float]:
    """(lambda-, lambda+) [N] for a largest force `max_force`."""
    if not max_force > 0.0:
        raise LimpetError(f"largest force {max_force:g} N of a constraint: expected above 0")
    lower = 0.0 if resists == ForceSide.COMPRESSION else -max_force
    upper = 0.0 if resists == ForceSide.STRETCH else max_force
    return lower, upper


class Distances(NamedTuple):
    """k pairs of nodes; infinitely stiff, or implicit springs with dampers in the solve."""

    nodes: Array  # (k, 2) int32: i, j
    rest: Array  # (k,) [m]
    lower: Array  # (k,) [N] lambda-
    upper: Array  # (k,) [N] lambda+
    stiffness: Array  # (k,) [N/m], inf: a constraint
    damping: Array  # (k,) [N s/m] of springs
    chain: Array  # (t + 1,) int32: rows chain[i]:chain[i+1] are a chain of edges, end to end


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def length_rate(length: float, along: float, square: float, h: float) -> float:
    """(|d + h u| - |d|)/h: the mean rate of the length over a step at relative velocity u.

    along = u . d/|d|, square = |u|^2. C's rate is `along` alone, and every swing makes the rod
    longer by h |u|^2/2|d| in each step; with the whole rate it keeps its length as it
    rotates. Up to a point: a rotation by half a radian or more in a step cannot be held along d.
    """
    reach = length + h * along
    across = max(square - along * along, 0.0)
    full = np.sqrt(reach * reach + h * h * across)
    return along + min(h * across / max(full + reach, length), ROTATION * length / h)


@njit(cache=True, error_model="numpy")
def edge_rotation_rate(v: Array, of: Distances) -> float:
    """[rad/s] How fast the fastest edge rotates, or changes its length, at velocities v (n, 3)."""
    largest = 0.0
    for c in range(len(of.rest)):
        i, j = of.nodes[c, 0], of.nodes[c, 1]
        u0, u1, u2 = v[j, 0] - v[i, 0], v[j, 1] - v[i, 1], v[j, 2] - v[i, 2]
        largest = max(largest, (u0 * u0 + u1 * u1 + u2 * u2) / (of.rest[c] * of.rest[c]))
    return np.sqrt(largest)


@njit(cache=True, error_model="numpy")
def transverse_frequency(force: Array, of: Distances, inverse_mass: Array) -> float:
    """[rad/s] The fastest swing across chains under these forces (k,) [N], by Gershgorin."""
    load = np.zeros(len(inverse_mass))
    for c in range(len(force)):
        if force[c] < 0.0:  # tension
            k = -force[c] / of.rest[c]
            load[of.nodes[c, 0]] += k
            load[of.nodes[c, 1]] += k
    largest = 0.0
    for i in range(len(load)):
        largest = max(largest, 2.0 * load[i] * inverse_mass[i])
    return np.sqrt(largest)
