"""Where the time of a step goes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

PHASES = ("free", "collision", "cavities", "compliance", "solve", "correct")  # of a step


class Clock:
    """Seconds by phase."""

    def __init__(self, now: Callable[[], float]) -> None:
        self.phases = dict.fromkeys(PHASES, 0.0)
        self._now, self._last = now, now()

    def resume(self) -> None:
        """Leave out the time since the last lap."""
        self._last = self._now()

    def take(self, phases: Mapping[str, float]) -> None:
        """Count what another clock has measured, instead of the time since the last lap."""
        for phase, seconds in phases.items():
            self.phases[phase] += seconds
        self.resume()

    def lap(self, phase: str) -> None:
        now = self._now()
        self.phases[phase] += now - self._last
        self._last = now
