"""Where the time of a step goes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

PHASES = ("free", "collision", "cavities", "compliance", "solve", "correct")  # of a step


class Clock:
    """Seconds by phase, of one step after the other."""

    def __init__(self, now: Callable[[], float]) -> None:
        self.now = now  # [s]
        self.start()

    def start(self) -> None:
        """Begin a step."""
        self.phases = dict.fromkeys(PHASES, 0.0)
        self._last = self.now()

    def add(self, spent: Mapping[str, float]) -> None:
        """Count the time since the last lap as spent so [s], by phase."""
        for phase, seconds in spent.items():
            self.phases[phase] += seconds
        self._last = self.now()

    def lap(self, phase: str) -> None:
        """Count the time since the last lap as spent in `phase`."""
        now = self.now()
        self.phases[phase] += now - self._last
        self._last = now
