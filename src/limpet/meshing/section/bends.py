"""The smooth bends of a line, as the round folds of a bellows, and where they want nodes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from limpet.meshing.section.chains import OUTSIDE, Chain, bends_at

WIDE = 0.5  # sizes: a bend this long in the middle of its wall has nodes at its ends


@dataclass(frozen=True)
class Bend:
    """A stretch of a chain that turns by more than BEND to one side."""

    start: float  # [m] arc lengths
    tops: tuple[float, ...]  # one, or more if it turns back and further
    end: float
    turn: float  # [rad] to the left

    def places(self, chain: Chain, thickness: float, size: float) -> list[float]:
        """Arc lengths [m] of its nodes, for cells of `size` [m] on a wall of `thickness` [m].

        Cells that begin and end with the bend follow its form. In a tight one they would be too
        small: there is a node at its top, as at a corner.
        """
        radius = (self.end - self.start) / abs(self.turn)
        sides = (chain.left, 1.0), (chain.right, -1.0)
        within = [-sign * np.sign(self.turn) for part, sign in sides if part != OUTSIDE]
        radius += 0.5 * min(thickness, 4.0 * radius) * float(np.mean(within))
        if abs(self.turn) * radius > WIDE * size:
            return [self.start, self.end]
        return list(self.tops)

    def is_root(self, chain: Chain) -> bool:
        """Whether it turns to the outside: the material is on the outer side of the bend."""
        outside = [sign for part, sign in ((chain.left, 1), (chain.right, -1)) if part == OUTSIDE]
        return len(outside) == 1 and self.turn * outside[0] > 0.0


def bends_of(chain: Chain) -> list[Bend]:
    """The bends of a chain, in order."""
    along = chain.along
    return [
        Bend(float(along[i]), tuple(float(along[k]) for k in tops), float(along[j]), turn)
        for i, tops, j, turn in bends_at(chain.points)
    ]
