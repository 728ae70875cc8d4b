"""How often costly work is done: rarely enough to take a small share of the time."""

from __future__ import annotations

import time


class Pace:
    """``with pace as due: if due: ...`` measures the work and says when it is due again."""

    def __init__(self, interval: float, share: float) -> None:
        """`interval` [s] between two works at least; `share` of the time at most."""
        self._interval, self._share = interval, share
        self._next = time.monotonic() + interval

    def __enter__(self) -> bool:
        self._begin = time.monotonic()
        self._due = self._begin >= self._next
        return self._due

    def __exit__(self, *_: object) -> None:
        if self._due:
            now = time.monotonic()
            self._next = now + max(self._interval, (now - self._begin) / self._share)
