"""Run folder: scene.toml, history.csv and frames.vtkhdf written during the run, summary.json."""

from __future__ import annotations

import dataclasses
import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
from pydantic import BaseModel

from limpet.errors import LimpetError
from limpet.record.history import (
    COLUMNS,
    Row,
    csv_line,
    cup_columns,
    flatten,
    up_direction,
    vacuum_columns,
)
from limpet.record.summary import RunStatus, Summary, summarise
from limpet.report import SectionFrame, StepReport
from limpet.scenes.registry import Scene, unit_of
from limpet.units import show

if TYPE_CHECKING:
    from limpet.record.vtkhdf import FrameWriter

FLUSH_INTERVAL = 0.5  # [s] at most this much of a run is lost if the process is killed
SECTION_FRAMES = 60  # approximate number of frames for scene.png and frames.vtkhdf


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
        if not force and any(folder.iterdir()):
            raise LimpetError(
                f"run folder '{folder}': exists and is not empty; "
                "choose another with --out DIR, or overwrite it with --force"
            )
        parent = folder
    else:
        parent = next(p for p in folder.absolute().parents if p.exists())
    if not parent.is_dir() or not os.access(parent, os.W_OK | os.X_OK):
        raise LimpetError(
            f"run folder '{folder}': '{parent}' cannot be written to; choose another with --out DIR"
        )


class Recorder:
    """Writes a run folder step by step, so that a run that ends early keeps its steps."""

    def __init__(
        self, folder: Path, scene: Scene, simulation: RecordableSimulation, *, force: bool = False,
        frames: bool = True,
    ) -> None:  # fmt: skip
        check_folder(folder, force=force)
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
        self._flushed = time.monotonic()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            _remove_old_run(folder)
            (folder / "scene.toml").write_text(scene_toml(scene), encoding="utf-8")
            self._history = (folder / "history.csv").open("w", encoding="utf-8")
            world = scene.world
            more = world.probe_columns() + vacuum_columns(world.connections)
            more += cup_columns(self._cups)
            self._history.write(",".join((*COLUMNS, *more)) + "\n")
            self._frame_writer = _frame_writer(folder) if frames else None
        except OSError as problem:
            raise LimpetError(
                f"run folder '{folder}': cannot be written to ({problem.strerror}); "
                "choose another with --out DIR"
            ) from None
        self._frame_interval = frame_interval(scene.duration, scene.h)
        self._keep("rest")
        self._add_frame(self.key_frames["rest"])

    def add(self, report: StepReport) -> None:
        """Record a step. If a number is not finite, raise DivergedError and record nothing."""
        row = flatten(report, self._up)
        self._history.write(csv_line(row))
        self.rows.append(row)
        if (now := time.monotonic()) - self._flushed > FLUSH_INTERVAL:
            self._history.flush()
            self._flushed = now
        self._update_key_frames(row)
        if report.step % self._frame_interval == 0:
            self._add_frame(self._capture("frame"))

    def finish(self, ended: RunStatus = "finished", why: str | None = None) -> Summary:
        """Close the files and write summary.json, whatever the reason for the end."""
        self._history.close()
        if ended == "finished" and self.rows:
            self._add_frame(self._capture("end"))
        if self._frame_writer is not None:
            self._frame_writer.close()
        summary = summarise(
            self._scene.name, self._scene.h, self.rows, fem_nodes=self._simulation.fem_nodes,
            collision_nodes=self._simulation.collision_nodes, ended=ended, why=why,
        )  # fmt: skip
        (self.folder / "summary.json").write_text(summary.to_json() + "\n", encoding="utf-8")
        return summary

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

    def _add_frame(self, frame: SectionFrame) -> None:
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
    """Number of steps from one frame to the next."""
    return max(1, int(duration / h / SECTION_FRAMES))


def scene_toml(scene: Scene) -> str:
    """The resolved scene in SI units, readable by ``limpet run``; comments show other units."""
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
    if value is None:  # TOML has no null
        return f"# {name} is not set"
    comment = ""
    if isinstance(value, float) and unit and (shown := show(value, unit)) != f"{value:g} {unit}":
        comment = f"  # {shown}"
    return f"{name} = {_toml(_with_unit(value, unit) if unit else value)}{comment}"


def _with_unit(value: object, unit: str) -> object:
    """A quantity with all digits and its unit."""
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
    return json.dumps(value, allow_nan=False)  # numbers and booleans as in JSON


def _frame_writer(folder: Path) -> FrameWriter:
    from limpet.record.vtkhdf import FrameWriter  # HDF5 takes 40 ms to load

    return FrameWriter(folder / "frames.vtkhdf")


def _remove_old_run(folder: Path) -> None:
    """Remove the files of an earlier run, and no others."""
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
