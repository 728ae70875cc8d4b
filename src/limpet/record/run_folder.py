"""Run folder: scene.toml, history.csv, summary.json, frames.vtkhdf and the journal of all frames.

Every file can be read at any moment. history.csv and the journal grow by whole records; the other
files are replaced as a whole, from time to time and at the end. A lock keeps other runs away.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from limpet.errors import LimpetError, StorageError
from limpet.record import journal, saved_state
from limpet.record.history import (
    COLUMNS,
    Row,
    csv_line,
    cup_columns,
    flatten,
    up_direction,
    vacuum_columns,
)
from limpet.record.journal import Journal, without_triangles
from limpet.record.pace import Pace
from limpet.record.saved_state import Kept
from limpet.record.scene_toml import scene_toml
from limpet.record.summary import RunStatus, Summary, summarise
from limpet.report import SectionFrame, StepReport
from limpet.scenes.registry import Scene
from limpet.storage.files import AppendedFile, remove_unfinished, write_whole
from limpet.storage.lock import LOCK, FolderLock, LockedError, check_unlocked

if TYPE_CHECKING:
    from collections.abc import Callable

    from limpet.record.vtkhdf import FrameWriter

SECTION_FRAMES = 60  # approximate number of frames for scene.png and frames.vtkhdf
SUMMARY_PACE = (1.0, 0.02)  # [s] between two writings, and their largest share of the time
FRAMES_PACE = (1.0, 0.03)
STATE_PACE = (5.0, 0.02)
RESERVE = ".reserve"  # space for the summary of a run that fills the disk
RESERVED = 32_768  # [byte]


class RecordableSimulation(Protocol):
    """The part of a simulation that the recorder reads besides the step reports."""

    @property
    def fem_nodes(self) -> int: ...
    @property
    def collision_nodes(self) -> int: ...
    def section_frame(self, label: str) -> SectionFrame: ...


def check_folder(folder: Path, *, force: bool = False) -> None:
    """Raise an error if `folder` cannot become a run folder; changes nothing."""
    if folder.exists() and not folder.is_dir():
        raise LimpetError(f"run folder '{folder}': is a file; choose another with --out DIR")
    if folder.is_dir():
        try:
            check_unlocked(folder)
        except LockedError as problem:
            raise _busy(folder, problem) from None
        if not force and any(path.name != LOCK for path in folder.iterdir()):
            raise LimpetError(
                f"run folder '{folder}': exists and is not empty; choose another with --out DIR, "
                "continue an interrupted run with --resume, or overwrite it with --force"
            )
        parent = folder
    else:
        parent = next(p for p in folder.absolute().parents if p.exists())
    if not parent.is_dir() or not os.access(parent, os.W_OK | os.X_OK):
        raise LimpetError(
            f"run folder '{folder}': '{parent}' cannot be written to; choose another with --out DIR"
        )


def lock_folder(folder: Path, *, force: bool = False) -> FolderLock:
    """Make the folder if need be, and keep other runs away from it."""
    check_folder(folder, force=force)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return FolderLock(folder)
    except LockedError as problem:
        raise _busy(folder, problem) from None
    except OSError as problem:
        raise StorageError(
            f"run folder '{folder}': cannot be written to ({problem.strerror}); "
            "choose another with --out DIR"
        ) from None


class Recorder:
    """Writes a run folder step by step, so that a run that ends early keeps its steps."""

    def __init__(
        self, folder: Path, scene: Scene, simulation: RecordableSimulation, *, force: bool = False,
        frames: bool = True, resume: bool = False,
    ) -> None:  # fmt: skip
        """`resume`: continue a run that ended early; the simulation goes to its last saved state.

        Without such a state the run begins anew.
        """
        self.folder = folder
        self.rows: list[Row] = []
        self.key_frames: dict[str, SectionFrame] = {}  # "rest", "hold", "peak"
        self.frames: list[SectionFrame] = []  # at a fixed interval, and the last step
        self._scene = scene
        self._simulation = simulation
        self._up = up_direction(scene.world.gravity)
        self._cups = scene.world.held_bodies()
        self._least_volume = np.inf
        self._largest_pull = 0.0
        self._frame_interval = frame_interval(scene.duration, scene.h)
        self._paces = {"summary": Pace(*SUMMARY_PACE), "frames": Pace(*FRAMES_PACE)}
        self._paces["state"] = Pace(*STATE_PACE)
        self._lock = lock_folder(folder, force=force or resume)
        self._frame_writer = _frame_writer(folder) if frames else None
        try:
            self.kept = saved_state.restore(folder, scene, simulation) if resume else None
            if self.kept is None:
                self._begin()
            else:
                self._continue(self.kept)
        except BaseException:
            self._free_reserve()
            self._lock.release()
            raise

    def _begin(self) -> None:
        folder, world = self.folder, self._scene.world
        _remove_old_run(folder)
        write_whole(folder / "scene.toml", scene_toml(self._scene))
        write_whole(folder / RESERVE, os.urandom(RESERVED))
        self._history = AppendedFile(folder / "history.csv")
        more = (
            world.probe_columns() + vacuum_columns(world.sensor_names()) + cup_columns(self._cups)
        )
        self._history.append((",".join((*COLUMNS, *more)) + "\n").encode())
        self.journal = Journal(folder)
        self._write_summary("running", None)
        self._keep("rest")
        self._add_frame(self.key_frames["rest"], 0)
        if self._frame_writer is not None:
            self._frame_writer.write()

    def _continue(self, kept: Kept) -> None:
        """Go on after what is kept; the rest of the files is cut off."""
        remove_unfinished(self.folder)
        for name in (*AT_THE_END, "frames.npz"):
            (self.folder / name).unlink(missing_ok=True)
        write_whole(self.folder / RESERVE, os.urandom(RESERVED))
        self._history = AppendedFile(self.folder / "history.csv", kept.history_size)
        self.journal = Journal(self.folder, kept.journal_size)
        self.rows, self.key_frames = kept.rows, kept.key_frames
        self._least_volume, self._largest_pull = kept.least_volume, kept.largest_pull
        for frame in kept.sections:
            self._show(frame)
        self._write_summary("running", None)

    def add(self, report: StepReport) -> None:
        """Record a step. If a number is not finite, raise DivergedError and record nothing.

        Raises StorageError where the disk is full.
        """
        row = flatten(report, self._up)
        self._history.append(csv_line(row).encode())
        before = int(self.rows[-1]["step"] or 0) if self.rows else 0
        self.rows.append(row)
        self._update_key_frames(row)
        if report.step // self._frame_interval > before // self._frame_interval:
            self._add_frame(self._capture("frame"), report.step)
        with self._paces["summary"] as due:
            if due:
                self._write_summary("running", None)
        with self._paces["frames"] as due:
            if due and self._frame_writer is not None:
                self._frame_writer.write()

    def save_state(self, step: int, *, now: bool = False) -> None:
        """Save from time to time, or `now`, what --resume continues from."""
        with self._paces["state"] as due:
            if due or now:
                keys = {name: without_triangles(f) for name, f in self.key_frames.items()}
                limits = {"least_volume": self._least_volume, "largest_pull": self._largest_pull}
                self.journal.append("keys", step, {"frames": keys, **limits})
                saved_state.save(self.folder, self._simulation)

    def finish(
        self, ended: RunStatus = "finished", why: str | None = None,
        save_film: Callable[[], None] | None = None,
    ) -> Summary:  # fmt: skip
        """Write the last files, whatever the reason for the end, and close them.

        Where the disk is full, what was written stays, and the summary says so if it still fits.
        """
        last = [self._add_last_frame] if ended == "finished" and self.rows else []
        film = [save_film] if save_film is not None else []
        frames = [self._frame_writer.close] if self._frame_writer is not None else []
        for write in (*last, *film, *frames):
            try:
                write()
            except StorageError as problem:
                ended, why = ("failed", str(problem)) if ended == "finished" else (ended, why)
        self._history.close()
        self.journal.close()
        self._free_reserve()
        summary = self._summary(ended, why)
        with contextlib.suppress(StorageError):
            self._write_summary(ended, why)
        self._lock.release()
        return summary

    def remove_journal(self) -> None:
        """When all is done: nothing is left to resume."""
        for name in (journal.FILE, saved_state.FILE):
            (self.folder / name).unlink(missing_ok=True)

    def _add_last_frame(self) -> None:
        self._add_frame(self._capture("end"), int(self.rows[-1]["step"] or 0))

    def _free_reserve(self) -> None:
        with contextlib.suppress(OSError):
            (self.folder / RESERVE).unlink(missing_ok=True)

    def _summary(self, ended: RunStatus, why: str | None) -> Summary:
        return summarise(
            self._scene.name, self._scene.h, self.rows, fem_nodes=self._simulation.fem_nodes,
            collision_nodes=self._simulation.collision_nodes, ended=ended, why=why,
            parameters=self._scene.parameters.model_dump(mode="json"),
        )  # fmt: skip

    def _write_summary(self, ended: RunStatus, why: str | None) -> None:
        write_whole(self.folder / "summary.json", self._summary(ended, why).to_json() + "\n")

    def _update_key_frames(self, row: Row) -> None:
        """ "hold": smallest volume while the cup is pushed; "peak": largest pull, with air."""
        force, volume = row["reaction"], row["volume"]
        assert force is not None
        if force < 0.0 and volume is not None and volume <= self._least_volume:
            self._least_volume = volume
            self._keep("hold")
        if force > self._largest_pull and (row["cavities"] or not self._cups):
            self._largest_pull = force
            self._keep("peak")

    def _add_frame(self, frame: SectionFrame, step: int) -> None:
        first = not self.frames
        self.journal.append("section", step, frame if first else without_triangles(frame))
        self._show(frame)

    def _show(self, frame: SectionFrame) -> None:
        repeated = bool(self.frames) and frame.time == self.frames[-1].time
        if self._frame_writer is not None and not repeated:
            self._frame_writer.add(frame)
        self.frames.append(frame)

    def _keep(self, label: str) -> None:
        self.key_frames[label] = self._capture(label)

    def _capture(self, label: str) -> SectionFrame:
        """The present state with copied arrays, because the simulation reuses its own."""
        frame = self._simulation.section_frame(label)
        return dataclasses.replace(
            frame,
            bodies=[(name, x.copy(), triangles) for name, x, triangles in frame.bodies],
            contacts=frame.contacts.copy(),
            forces=frame.forces.copy(),
            cavity_points=frame.cavity_points.copy(),
            cavity_triangles=frame.cavity_triangles.copy(),
        )


def frame_interval(duration: float, h: float) -> int:
    """Number of h from one frame to the next."""
    return max(1, int(duration / h / SECTION_FRAMES))


def _busy(folder: Path, problem: LockedError) -> LimpetError:
    return LimpetError(
        f"run folder '{folder}': {problem.owner} is writing a run to it; wait until it ends, or "
        "choose another with --out DIR"
    )


def _frame_writer(folder: Path) -> FrameWriter:
    from limpet.record.vtkhdf import FrameWriter  # HDF5 takes 40 ms to load

    return FrameWriter(folder / "frames.vtkhdf")


AT_THE_END = (
    "replay.html", "plots/history.png", "plots/section.png", "plots/scene.png", "plots/mesh.png",
)  # fmt: skip
DURING_A_RUN = (
    "scene.toml", "history.csv", "summary.json", "frames.npz", "frames.vtkhdf", journal.FILE,
    saved_state.FILE, RESERVE,
)  # fmt: skip


def _remove_old_run(folder: Path) -> None:
    """Remove the files of an earlier run, and no others."""
    remove_unfinished(folder)
    for name in (*DURING_A_RUN, *AT_THE_END):
        (folder / name).unlink(missing_ok=True)
