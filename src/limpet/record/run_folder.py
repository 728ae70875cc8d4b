"""A run folder: scene.toml; history.csv and frames.vtkhdf while it runs; summary.json, plots."""

from __future__ import annotations

import dataclasses
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
from pydantic import BaseModel

from limpet.errors import LimpetError
from limpet.record.history import COLUMNS, Row, csv_line, flatten, up_direction, vacuum_columns
from limpet.record.summary import Ended, Summary, summarise
from limpet.report import SectionFrame, StepReport
from limpet.scenes.registry import Scene, unit_of
from limpet.units import show

if TYPE_CHECKING:
    from limpet.record.vtkhdf import FrameWriter

FLUSH_SECONDS = 0.5  # at most this much of a run is lost to a power cut
FILM = 60  # frames kept of a run, about, to choose a picture's moments from

FrameSource = Callable[[str], SectionFrame]  # label -> the present moment


class Counted(Protocol):
    """What the recorder asks of a simulation besides its reports."""

    @property
    def fem_nodes(self) -> int: ...
    @property
    def collision_nodes(self) -> int: ...
    def section_frame(self, label: str) -> SectionFrame: ...


def check_folder(folder: Path, *, force: bool = False) -> None:
    """Refuse a folder that cannot be a run folder, before any work is done; changes nothing."""
    if folder.exists() and not folder.is_dir():
        raise LimpetError(f"run folder '{folder}': is a file; choose another with --out DIR")
    if folder.is_dir():
        if not force and any(folder.iterdir()):
            raise LimpetError(
                f"run folder '{folder}': exists and is not empty; "
                "choose another with --out DIR, or write over it with --force"
            )
        parent = folder
    else:
        parent = next(p for p in folder.absolute().parents if p.exists())
    if not parent.is_dir() or not os.access(parent, os.W_OK | os.X_OK):
        raise LimpetError(
            f"run folder '{folder}': '{parent}' cannot be written to; choose another with --out DIR"
        )


class Recorder:
    """Writes a run folder step by step, so that an early end keeps all that came before."""

    def __init__(
        self,
        folder: Path,
        scene: Scene,
        simulation: Counted,
        *,
        force: bool = False,
        frames: bool = True,
    ) -> None:
        check_folder(folder, force=force)
        self.folder = folder
        self.rows: list[Row] = []
        self.frames: dict[str, SectionFrame] = {}  # at rest, at hold, at the peak
        self.film: list[SectionFrame] = []  # every so often, and the end
        self._scene = scene
        self._simulation = simulation
        self._up = up_direction(scene.world.gravity)
        self._least_volume = np.inf
        self._largest_pull = 0.0
        self._flushed = time.monotonic()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            _remove_old_run(folder)
            (folder / "scene.toml").write_text(scene_toml(scene), encoding="utf-8")
            self._history = (folder / "history.csv").open("w", encoding="utf-8")
            more = scene.world.probe_columns() + vacuum_columns(scene.world.connections)
            self._history.write(",".join((*COLUMNS, *more)) + "\n")
            self._frames = _frame_writer(folder) if frames else None
        except OSError as problem:
            raise LimpetError(
                f"run folder '{folder}': cannot be written to ({problem.strerror}); "
                "choose another with --out DIR"
            ) from None
        self._film_step = film_step(scene.duration, scene.h)
        self._keep("rest")
        self._film(self.frames["rest"])

    def add(self, report: StepReport) -> None:
        """Record a step; raises DivergedError, and records nothing, if a number is not finite."""
        row = flatten(report, self._up)
        self._history.write(csv_line(row))
        self.rows.append(row)
        if (now := time.monotonic()) - self._flushed > FLUSH_SECONDS:
            self._history.flush()
            self._flushed = now
        self._keep_moments(row)
        if report.step % self._film_step == 0:
            self._film(self._copy("film"))

    def finish(self, ended: Ended = "finished", why: str | None = None) -> Summary:
        """Close the history and write summary.json; safe whatever ended the run."""
        self._history.close()
        if ended == "finished" and self.rows:
            self._film(self._copy("end"))
        if self._frames is not None:
            self._frames.close()
        summary = summarise(
            self._scene.name,
            self._scene.h,
            self.rows,
            fem_nodes=self._simulation.fem_nodes,
            collision_nodes=self._simulation.collision_nodes,
            ended=ended,
            why=why,
        )
        (self.folder / "summary.json").write_text(summary.to_json() + "\n", encoding="utf-8")
        return summary

    def _keep_moments(self, row: Row) -> None:
        """Hold is where the pushed cup has least air under it; the peak is the largest pull."""
        force, volume = row["reaction"], row["volume"]
        assert force is not None
        if force < 0.0 and volume is not None and volume <= self._least_volume:
            self._least_volume = volume
            self._keep("hold")
        if force > self._largest_pull:
            self._largest_pull = force
            self._keep("peak")

    def _film(self, frame: SectionFrame) -> None:
        if self._frames is not None and not (self.film and frame.time == self.film[-1].time):
            self._frames.add(frame)
        self.film.append(frame)

    def _keep(self, label: str) -> None:
        self.frames[label] = self._copy(label)

    def _copy(self, label: str) -> SectionFrame:
        """A copy of this moment: the simulation moves on in its own arrays."""
        frame = self._simulation.section_frame(label)
        return dataclasses.replace(
            frame,
            bodies=[(name, x.copy(), triangles) for name, x, triangles in frame.bodies],
            contacts=frame.contacts.copy(),
            forces=frame.forces.copy(),
            cavity_points=frame.cavity_points.copy(),
            cavity_triangles=frame.cavity_triangles.copy(),
        )


def film_step(duration: float, h: float) -> int:
    """Every how many steps a frame is kept."""
    return max(1, int(duration / h / FILM))


def scene_toml(scene: Scene) -> str:
    """The scene as it was run, readable by ``limpet run``: in SI, what reads better in comments."""
    lines = [f"# {scene.summary}", f"scene = {json.dumps(scene.name)}", "", "[parameters]"]
    tables: dict[str, BaseModel] = {}
    for name, value in scene.parameters:
        if isinstance(value, BaseModel):
            tables[name] = value
        else:
            lines.append(_line(scene.parameters, name))
    for name, table in tables.items():
        given = [key for key, value in table if value is not None]
        lines += ["", f"[parameters.{name}]", *(_line(table, key) for key in given)]
    return "\n".join(lines) + "\n"


def _line(model: BaseModel, name: str) -> str:
    value, unit = model.model_dump(mode="json", include={name})[name], unit_of(type(model), name)
    if value is None:  # TOML has no null: a parameter that is not set is left out
        return f"# {name} is not set"
    comment = ""
    if isinstance(value, float) and unit and (shown := show(value, unit)) != f"{value:g} {unit}":
        comment = f"  # {shown}"
    return f"{name} = {_toml(_with_unit(value, unit) if unit else value)}{comment}"


def _with_unit(value: object, unit: str) -> object:
    """Every digit of a quantity, and its unit."""
    if isinstance(value, (list, tuple)):
        return [_with_unit(item, unit) for item in value]
    return f"{value!r} {unit}"


def _toml(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(k)} = {_toml(v)}" for k, v in value.items()) + " }"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return json.dumps(value, allow_nan=False)  # numbers and booleans are spelled as in JSON


def _frame_writer(folder: Path) -> FrameWriter:
    from limpet.record.vtkhdf import FrameWriter  # HDF5 takes 40 ms to load

    return FrameWriter(folder / "frames.vtkhdf")


def _remove_old_run(folder: Path) -> None:
    """Remove what an earlier run has left, and nothing else that may lie in the folder."""
    for name in (
        "scene.toml",
        "history.csv",
        "summary.json",
        "frames.npz",
        "frames.vtkhdf",
        "replay.html",
    ):
        (folder / name).unlink(missing_ok=True)
    for name in ("history.png", "section.png", "scene.png", "mesh.png"):
        (folder / "plots" / name).unlink(missing_ok=True)
