"""A regulated vacuum in increments within a step, classified anew after each (A III-C).

A's solver first ignores the pressure, then raises it to p in increments and reclassifies the points
after each, and at last solves with p and the classes that follow. The shares of p are thus

    0, 1/n, 2/n, ..., 1, and 1 once more if the last classification has changed the cavities.

Nothing moves in between: each solve begins at the start of the step.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PressureIncrement:
    """Where a step is on its way to the whole pressure."""

    count: int = 1  # n; 1: the whole pressure at once, without another look
    done: int = 0  # solves of this step that have been looked at

    @property
    def solves(self) -> int:
        """Solves that a step takes at most beyond the first."""
        return self.count + 1 if self.count > 1 else 0

    @property
    def share(self) -> float:
        """Of the vacuum that the regulator holds."""
        return min(self.done / self.count, 1.0) if self.count > 1 else 1.0

    def next(self, changed: bool) -> PressureIncrement | None:
        """The next solve, after cavities have been classified anew; None: the step is done."""
        if self.count == 1 or self.done > self.count or (self.done == self.count and not changed):
            return None
        return PressureIncrement(self.count, self.done + 1)
