"""The worker process of the simulation: it steps, reads commands from a pipe and sends frames.

A frame is sent only after the last one was acknowledged, so frames do not queue up and no old frame
arrives after a pause. Messages to the page are bytes: a JSON object, or a frame (frames.py).
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
FRAME_SHARE = 0.05  # largest share of the time spent on frames while playing
STRESS_VERTICES = 2000  # up to this many, the first colour is the stress, which is costly
WINDOW = 1.0  # [s] for the real-time factor
STEP_LIMIT = 1000  # of one command


class Worker:
    """One simulation and the state of its playback."""

    def __init__(
        self, pipe: Connection, scene: str | Scene, overrides: Mapping[str, object]
    ) -> None:
        self._pipe, self._source, self._given = pipe, scene, dict(overrides)
        self._epoch, self._playing, self._ended, self._due = 0, False, False, 0
        self._speed, self._colour = 1.0, "stress"
        self._waiting = self._stale = False  # awaiting an acknowledgement; a frame is due
        self._next = 0.0  # [s] clock time of the next frame
        self._laps: deque[tuple[float, float]] = deque()  # clock, simulated time
        self._report: StepReport | None = None
        self._closed = False
        self._build({})

    def serve(self) -> None:
        """Run until the pipe is closed."""
        while not self._closed:
            self._listen()
            if self._playing or self._due:
                self._advance()
            self._show()

    def _listen(self) -> None:
        """Execute all pending commands; wait for one if there is nothing else to do."""
        busy = self._playing or self._due or (self._stale and not self._waiting)
        wait: float | None = 0.0 if busy else None
        if self._playing and not self._due:
            wait = self._time_to_next_step()
        try:
            while self._pipe.poll(wait):
                self._execute(self._pipe.recv())
                wait = 0.0
        except (EOFError, OSError):
            self._closed = True

    def _time_to_next_step(self) -> float:
        """[s] until the next step is due at the chosen speed."""
        if not self._laps or not math.isfinite(self._speed):
            return 0.0
        clock, simulated = self._laps[0]
        due = clock + (self._simulation.time + self._simulation.h - simulated) / self._speed
        return max(0.0, due - time.monotonic())

    def _execute(self, command: Mapping[str, Any]) -> None:
        name = command["do"]
        try:
            if name == "ack":
                self._waiting = False
                return
            if name == "close":  # of the server: the page cannot say it
                self._closed = True
                return
            if name == "play":
                if self._ended:
                    self._reset()
                self._playing = True
                self._laps.clear()
            elif name == "pause":
                self._playing, self._due = False, 0
            elif name == "step":
                self._playing = False
                self._due = min(int(command.get("count", 1)), STEP_LIMIT)
            elif name == "reset":
                self._playing, self._due = False, 0
                self._reset()
            elif name == "speed":
                self._speed = float(command["value"]) or math.inf
                self._laps.clear()
            elif name == "colour":
                self._colour = command["name"] if command["name"] in COLOURS else self._colour
            elif name == "parameters":
                self._playing, self._due = False, 0
                self._build(command["values"])
            elif name == "live":
                set_live(self._simulation, command["name"], float(command["value"]))
            elif name == "pull":
                self._simulation.clear_forces()
                if any(command["force"]):
                    self._simulation.apply_force(
                        command["body"], command["vertex"], command["force"]
                    )
            elif name == "hello":  # a new page: send the header
                self._waiting = False
                self._send({"type": "header", **self._header})
            self._stale = True
        except LimpetError as problem:
            self._send({"type": "problem", "text": str(problem)})
            self._stale = True

    def _build(self, changes: Mapping[str, object]) -> None:
        """Build a new simulation with changed parameters; if that fails, the old one stays."""
        self._send({"type": "status", "text": "building the scene"})
        given, source = {**self._given, **changes}, self._source
        scene = source.changed(given) if isinstance(source, Scene) else load(source, given)
        simulation = scene.simulation()
        self._scene, self._simulation = scene, simulation
        self._frame_header, self._start = frame_header(simulation), simulation.get_state()
        self._epoch += 1
        self._report, self._ended = None, False
        stressed = len(self._frame_header.rest) <= STRESS_VERTICES and not simulation.particles_only
        self._header = {
            "epoch": self._epoch,
            "scene": scene.name,
            "summary": scene.summary,
            "duration": scene.duration,
            "h": scene.h,
            "parameters": fields_of(scene.parameters),
            "live": live_of(simulation),
            "rest": self._frame_header.rest.ravel().tolist(),
            "colour": "stress" if stressed else "displacement",
            **self._frame_header.as_json(),
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
        """Send a frame if the state has changed, the page is ready and a frame is due."""
        if not self._stale or self._waiting or self._due:
            return
        begin = time.monotonic()
        if self._playing and begin < self._next:
            return
        state = capture_frame(self._simulation, self._frame_header, self._report, (self._colour,))
        flags = PLAYING * self._playing + ENDED * self._ended
        frame = pack(state, self._colour, epoch=self._epoch, flags=flags, factor=self._real_time())
        self._put(frame)
        self._waiting, self._stale = True, False
        cost = time.monotonic() - begin
        self._next = begin + max(1.0 / FRAME_RATE, cost / FRAME_SHARE)

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
        except OSError:  # the server is gone
            self._closed = True


def main(pipe: Connection, scene: str | Scene, overrides: dict[str, object]) -> None:
    """Entry point of the process or thread. An error that ends it is shown on the page."""
    try:
        Worker(pipe, scene, overrides).serve()
    except KeyboardInterrupt:
        pass
    except LimpetError as problem:
        _send_problem(pipe, str(problem))
    except Exception as problem:
        traceback.print_exc()
        _send_problem(pipe, f"the simulation failed ({type(problem).__name__}: {problem})")


def _send_problem(pipe: Connection, text: str) -> None:
    with contextlib.suppress(OSError):
        pipe.send_bytes(json.dumps({"type": "problem", "text": text}).encode())
