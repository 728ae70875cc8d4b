"""Ctrl-C, and the signals of batch queues and closed terminals: a run ends after its step."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any

GRACE = 2.0  # [s] a step that takes longer is broken off
STOPPING = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)


def reason(number: int) -> str:
    """Why a run was interrupted, for its summary."""
    if number == signal.SIGINT:
        return "interrupted from the keyboard"
    return f"interrupted by {signal.Signals(number).name}"


class StopSignals:
    """Within it a first signal is noted in `received`, a second one raises KeyboardInterrupt.

    So does the first when the step does not end in time. Signals that are ignored, as by nohup,
    stay so. Threads other than the main one get no signals.
    """

    def __init__(self) -> None:
        self.received: int | None = None
        self._writing = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> StopSignals:
        if threading.current_thread() is threading.main_thread():
            for number in STOPPING:
                if signal.getsignal(number) is not signal.SIG_IGN:
                    self._before[number] = signal.signal(number, self._stop)
        return self

    def __exit__(self, *_: object) -> None:
        if hasattr(signal, "SIGALRM") and signal.SIGALRM in self._before:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before.clear()

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Signals within are noted only, so that what is written is complete."""
        self._writing = True
        try:
            yield
        finally:
            self._writing = False

    def _stop(self, number: int, _: FrameType | None) -> None:
        first, self.received = self.received is None, self.received or number
        if first:
            self._set_alarm()
        elif not self._writing:
            raise KeyboardInterrupt

    def _set_alarm(self) -> None:
        if hasattr(signal, "SIGALRM"):  # not on Windows
            self._before[signal.SIGALRM] = signal.signal(signal.SIGALRM, self._too_late)
            signal.setitimer(signal.ITIMER_REAL, GRACE)

    def _too_late(self, number: int, _: FrameType | None) -> None:
        if not self._writing:
            raise KeyboardInterrupt
