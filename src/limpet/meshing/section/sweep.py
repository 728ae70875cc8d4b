"""Paths along which a section is swept: a circle round the axis, or a closed path round a line.

A station of a path is a place on the ground, the foot of the section's axis, and a direction in
which its r is counted. Cells reach over two steps; middles of sides stand at odd stations.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

Array = np.ndarray


@dataclass(frozen=True)
class Sweep:
    """Stations of a closed path, counter-clockwise seen from above."""

    foot: Array  # (2 m, 2) [m] where r = 0
    direction: Array  # (2 m, 2) unit vectors of r

    @property
    def steps(self) -> int:
        return len(self.foot)

    @property
    def sectors(self) -> int:
        return self.steps // 2

    def place(self, point: Array, station: int) -> Array:
        """(3,) [m] of a point (r, z) of the section."""
        x, y = self.foot[station] + point[0] * self.direction[station]
        return np.array([x, y, point[1]])


def circle(sectors: int) -> Sweep:
    """A revolution in equal sectors."""
    angle = np.pi * np.arange(2 * sectors) / sectors
    direction = np.column_stack([np.cos(angle), np.sin(angle)])
    return Sweep(np.zeros((2 * sectors, 2)), direction)
