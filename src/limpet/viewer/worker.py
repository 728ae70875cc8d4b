"""The simulation in a process of its own: it steps, takes commands from a pipe and sends frames.

It sends one frame, and the next only when that was acknowledged: nothing piles up on the way, and
after a pause nothing old arrives. What goes to the page is bytes: the text of a JSON object, or a
frame, which begins otherwise (frames.py).
"""

from __future__ import annotations

import contextlib
import json
import math
import time
import traceback
from collections import deque
from collections.abc import Mapping
from multiprocessing.connection import Connection
from typing import Any

from limpet.errors import LimpetError
from limpet.record.frame import COLOURS, capture_frame, frame_header
from limpet.report import StepReport
from limpet.scenes.registry import Scene, load
from limpet.viewer.controls import fields_of, live_of, set_live
from limpet.viewer.frames import ENDED, PLAYING, pack

FRAME_RATE = 30.0  # [1/s] at most
SHARE = 0.05  # of the time may be spent on frames while it plays; costly ones come less often
SMALL = 2000  # vertices up to which the first colour is the stress, which is costly
WINDOW = 1.0  # [s] over which the real-time factor is taken
STEP_LIMIT = 1000  # steps that one command may ask for


class Worker:
    """One simulation, and what the page has asked of it."""

    def __init__(self, pipe: Connection, scene: str, overrides: Mapping[str, object]) -> None:
        self._pipe, self._name, self._given = pipe, scene, dict(overrides)
        self._epoch, self._playing, self._ended, self._due = 0, False, False, 0
        self._speed, self._colour = 1.0, "stress"
        self._waiting = self._stale = False  # for an acknowledgement; something is not shown yet
        self._next = 0.0  # [s] on the clock: when a frame is due
        self._laps: deque[tuple[float, float]] = deque()  # clock, simulated time
        self._report: StepReport | None = None
        self._closed = False
        self._build({})

    def serve(self) -> None:
        """Until the pipe is closed."""
        while not self._closed:
            self._listen()
            if self._playing or self._due:
                self._advance()
            self._show()

    def _listen(self) -> None:
        """Take all commands; wait for one if there is nothing to do but to wait."""
        busy = self._playing or self._due or (self._stale and not self._waiting)
        wait: float | None = 0.0 if busy else None
        if self._playing and not self._due:
            wait = self._too_early()
        try:
            while self._pipe.poll(wait):
                self._obey(self._pipe.recv())
                wait = 0.0
        except (EOFError, OSError):
            self._closed = True

    def _too_early(self) -> float:
        """[s] until the next step is due at the chosen speed."""
        if not self._laps or not math.isfinite(self._speed):
            return 0.0
        clock, simulated = self._laps[0]
        due = clock + (self._simulation.time + self._simulation.h - simulated) / self._speed
        return max(0.0, due - time.monotonic())

    def _obey(self, command: Mapping[str, Any]) -> None:
        what = command["do"]
        try:
            if what == "ack":
                self._waiting = False
                return
            if what == "play":
                if self._ended:
                    self._reset()
                self._playing = True
                self._laps.clear()
            elif what == "pause":
                self._playing, self._due = False, 0
            elif what == "step":
                self._playing = False
                self._due = min(int(command.get("count", 1)), STEP_LIMIT)
            elif what == "reset":
                self._playing, self._due = False, 0
                self._reset()
            elif what == "speed":
                self._speed = float(command["value"]) or math.inf
                self._laps.clear()
            elif what == "colour":
                self._colour = command["name"] if command["name"] in COLOURS else self._colour
            elif what == "parameters":
                self._playing, self._due = False, 0
                self._build(command["values"])
            elif what == "live":
                set_live(self._simulation, command["name"], float(command["value"]))
            elif what == "pull":
                self._simulation.clear_forces()
                if any(command["force"]):
                    self._simulation.apply_force(
                        command["body"], command["vertex"], command["force"]
                    )
            elif what == "hello":  # a page has come: tell it everything
                self._waiting = False
                self._send({"type": "header", **self._header})
            self._stale = True
        except LimpetError as problem:
            self._send({"type": "problem", "text": str(problem)})
            self._stale = True

    def _build(self, changes: Mapping[str, object]) -> None:
        """Another simulation, on top of what was given; the old one stays if this cannot be."""
        self._send({"type": "status", "text": "building the scene"})
        scene: Scene = load(self._name, {**self._given, **changes})
        simulation = scene.simulation()
        self._scene, self._simulation = scene, simulation
        self._seen, self._start = frame_header(simulation), simulation.get_state()
        self._epoch += 1
        self._report, self._ended = None, False
        stressed = len(self._seen.rest) <= SMALL and not simulation.particles_only
        self._header = {
            "epoch": self._epoch,
            "scene": scene.name,
            "summary": scene.summary,
            "duration": scene.duration,
            "h": scene.h,
            "parameters": fields_of(scene.parameters),
            "live": live_of(simulation),
            "rest": self._seen.rest.ravel().tolist(),
            "colour": "stress" if stressed else "displacement",
            **self._seen.header(),
        }
        self._laps.clear()
        self._waiting, self._stale = False, True
        self._send({"type": "header", **self._header})

    def _reset(self) -> None:
        self._simulation.clear_forces()
        self._simulation.set_state(self._start)
        self._report, self._ended, self._stale = None, False, True
        self._laps.clear()

    def _advance(self) -> None:
        try:
            self._report = self._simulation.step()
        except LimpetError as problem:
            self._playing, self._due, self._ended = False, 0, True
            self._send({"type": "problem", "text": f"the run stopped: {problem}"})
            return
        self._stale = True
        self._due = max(0, self._due - 1)
        now = time.monotonic()
        self._laps.append((now, self._simulation.time))
        while now - self._laps[0][0] > WINDOW and len(self._laps) > 2:
            self._laps.popleft()
        if self._simulation.time >= self._scene.duration - 0.5 * self._scene.h and self._playing:
            self._playing, self._ended = False, True

    def _show(self) -> None:
        """Send a frame if there is something new, the page is ready, and the last is old enough."""
        if not self._stale or self._waiting or self._due:
            return
        begin = time.monotonic()
        if self._playing and begin < self._next:
            return
        moment = capture_frame(self._simulation, self._seen, self._report, (self._colour,))
        flags = PLAYING * self._playing + ENDED * self._ended
        frame = pack(moment, self._colour, epoch=self._epoch, flags=flags, factor=self._real_time())
        self._put(frame)
        self._waiting, self._stale = True, False
        cost = time.monotonic() - begin
        self._next = begin + max(1.0 / FRAME_RATE, cost / SHARE)

    def _real_time(self) -> float:
        if len(self._laps) < 2 or not self._playing:
            return math.nan
        (begin, first), (end, last) = self._laps[0], self._laps[-1]
        return (last - first) / (end - begin) if end > begin else math.nan

    def _send(self, message: dict[str, Any]) -> None:
        self._put(json.dumps(message).encode())

    def _put(self, message: bytes) -> None:
        try:
            self._pipe.send_bytes(message)
        except OSError:  # nobody is there any more
            self._closed = True


def main(pipe: Connection, scene: str, overrides: dict[str, object]) -> None:
    """What the process runs. An error that ends it is one line on the page."""
    try:
        Worker(pipe, scene, overrides).serve()
    except KeyboardInterrupt:
        pass
    except LimpetError as problem:
        _last_words(pipe, str(problem))
    except Exception as problem:
        traceback.print_exc()
        _last_words(pipe, f"the simulation failed ({type(problem).__name__}: {problem})")


def _last_words(pipe: Connection, text: str) -> None:
    with contextlib.suppress(OSError):
        pipe.send_bytes(json.dumps({"type": "problem", "text": text}).encode())
