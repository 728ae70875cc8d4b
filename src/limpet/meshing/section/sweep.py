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
    core: tuple[Array, Array] | None = None  # [m] x and y of a grid that the feet go round

    @property
    def steps(self) -> int:
        return len(self.foot)

    @property
    def is_round(self) -> bool:
        """Whether all feet are the same."""
        return bool(np.ptp(self.foot, axis=0).max() == 0.0)

    def place(self, point: Array, station: int) -> Array:
        """(3,) [m] of a point (r, z) of the section."""
        x, y = self.foot[station] + point[0] * self.direction[station]
        return np.array([x, y, point[1]])


def circle(sectors: int) -> Sweep:
    """A revolution in equal sectors."""
    angle = np.pi * np.arange(2 * sectors) / sectors
    direction = np.column_stack([np.cos(angle), np.sin(angle)])
    return Sweep(np.zeros((2 * sectors, 2)), direction)


def rounded(length: float, width: float, quarter: int, divisions: tuple[int, int]) -> Sweep:
    """Round a rectangle of length x width [m], a line if width is 0: an oval.

    quarter: sectors in each quarter of a revolution at the corners; divisions: of the sides along
    x and y.
    """
    along = [np.linspace(0.5, -0.5, 2 * n + 1)[:-1] for n in divisions]
    feet, angles = [], []
    for k, corner in enumerate([(1, 1), (-1, 1), (-1, -1), (1, -1)]):
        at = 0.5 * np.array(corner) * [length, width]
        turn = 0.5 * np.pi * (k + np.arange(2 * quarter) / (2 * quarter))
        feet.append(np.tile(at, (2 * quarter, 1)))
        angles.append(turn)
        side = k % 2  # after this corner the path runs along x, then along y
        extent = (length, width)[side]
        if extent == 0.0:
            continue
        share = along[side] if k < 2 else -along[side]
        straight = np.tile(at, (len(share), 1))
        straight[:, side] = extent * share
        feet.append(straight)
        angles.append(np.full(len(share), 0.5 * np.pi * (k + 1)))
    angle = np.concatenate(angles)
    core = None
    if length > 0.0 and width > 0.0:
        x, y = (np.linspace(-0.5, 0.5, 2 * n + 1) for n in divisions)
        core = (length * x, width * y)
    direction = np.column_stack([np.cos(angle), np.sin(angle)])
    return Sweep(np.concatenate(feet), direction, core)
