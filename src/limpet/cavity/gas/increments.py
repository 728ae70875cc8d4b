"""A regulated vacuum in increments within a step, classified anew after each (A III-C).

A's solver begins with contact forces that ignore the pressure, then raises the pressure to that of
the regulator in increments and reclassifies the points after each, and at last solves with the
whole pressure and the classes that follow. Here the pressure rises from that of the last step: from
none it would let go of what the vacuum holds already. The shares of its change are

    1/n, 2/n, ..., 1, and 1 once more if the last classification has changed the cavities.

Nothing moves in between: each solve begins at the start of the step.
"""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class PressureIncrement:
    """Where a step is on its way to the whole pressure."""

    count: int = 1  # n; 1: the whole pressure at once, without another look
    number: int = 1  # of the solve, from 1

    @staticmethod
    def first(count: int, changes: bool) -> PressureIncrement:
        """Of a step; a pressure that does not change is there from the start."""
        return PressureIncrement(count, 1 if changes else count)

    @property
    def retries(self) -> int:
        """Solves that a step takes at most beyond the first."""
        return self.count if self.count > 1 else 0

    @property
    def share(self) -> float:
        """Of the change of the pressure."""
        return min(self.number / self.count, 1.0)

    def next(self, changed: bool) -> PressureIncrement | None:
        """The next solve, after cavities have been classified anew; None: the step is done."""
        whole = self.number >= self.count
        if self.count == 1 or self.number > self.count or (whole and not changed):
            return None
        return replace(self, number=self.number + 1)
