"""What every prescribed motion is: a pose over time."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

Array = np.ndarray


class Motion(ABC):
    """A pose over time: a rotation about the world's origin, then a translation."""

    @abstractmethod
    def pose(self, time: float) -> tuple[Array, Array]:
        """(3, 3) rotation and (3,) [m] shift that bring the place at rest to that at `time`."""

    def place(self, points: Array, time: float) -> Array:
        """Where points that stand at `points` at rest are at `time`."""
        rotation, shift = self.pose(time)
        return points @ rotation.T + shift
