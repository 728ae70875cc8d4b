"""frames.npz of a run folder: about 200 frames for the replay and for animations.

While the run goes on, and after a run that was killed, the frames are in the journal.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from limpet.errors import LimpetError
from limpet.record.frame import (
    COLOURS,
    AirFrame,
    Frame,
    FrameHeader,
    PatchFrame,
    capture_frame,
    frame_header,
)
from limpet.record.journal import Journal, Record, read_journal
from limpet.report import StepReport
from limpet.storage.files import npz_bytes, write_whole

if TYPE_CHECKING:
    from limpet.engine.simulation import Simulation

Array = np.ndarray

FILE = "frames.npz"
FRAMES = 200  # approximate number of frames of a run


@dataclass(frozen=True)
class Recording:
    """The frames of a run."""

    title: str
    summary: str
    frame_header: FrameHeader
    frames: Sequence[Frame]

    def __len__(self) -> int:
        return len(self.frames)


class FrameRecorder:
    """Keeps frames of a simulation at a fixed interval, with all colours."""

    def __init__(
        self, simulation: Simulation, title: str, summary: str, steps: int,
        journal: Journal | None = None, kept: Recording | None = None,
    ) -> None:  # fmt: skip
        """Begin before the first step, or continue after the frames `kept` in the journal."""
        self._simulation, self._journal = simulation, journal
        self._interval = max(1, -(-steps // FRAMES))
        self.frames: list[Frame] = []
        if kept is not None:
            self._header, self.frames = kept.frame_header, list(kept.frames)
            self._title, self._summary = kept.title, kept.summary
            return
        self._title, self._summary, self._header = title, summary, frame_header(simulation)
        if journal is not None:
            head = {"title": title, "summary": summary, "header": self._header}
            journal.append("film", 0, head)
        self._keep(None)

    def add(self, report: StepReport, *, last: bool = False) -> None:
        """Keep this step if a frame is due, or if it is the last."""
        due = report.step // self._interval > self.frames[-1].step // self._interval
        if (due or last) and self.frames[-1].step != report.step:
            self._keep(report)

    def _keep(self, report: StepReport | None) -> None:
        frame = capture_frame(self._simulation, self._header, report, COLOURS)
        if self._journal is not None:
            self._journal.append("film", frame.step, frame)
        self.frames.append(frame)

    def save(self, folder: Path) -> None:
        save(Recording(self._title, self._summary, self._header, self.frames), folder / FILE)


def save(recording: Recording, path: Path) -> None:
    """Write all frames as concatenated arrays; each different cavity mesh is stored once."""
    s, frames = recording.frame_header, recording.frames
    air = [a for m in frames for a in m.cavities]
    meshes: dict[bytes, int] = {}
    which = [meshes.setdefault(a.triangles.tobytes(), len(meshes)) for a in air]
    triangles = [np.frombuffer(raw, np.int32).reshape(-1, 3) for raw in meshes]
    none = np.zeros((0, 3))
    head: dict[str, Any] = {
        "title": recording.title,
        "summary": recording.summary,
        "names": s.names,
        "kinds": s.kinds,
    }
    head |= {"ambient": s.ambient, "reach": s.reach, "whole": s.whole}
    arrays: dict[str, Any] = dict(
        head=np.array(json.dumps(head)),
        offset=s.offset, rest=s.rest, up=s.up,
        triangles=np.concatenate([none, *s.triangles]).astype(np.int32),
        triangle_start=_start(s.triangles),
        step=np.array([m.step for m in frames]),
        time=np.array([m.time for m in frames]),
        positions=np.stack([m.positions for m in frames]),
        figures=np.stack([m.figures for m in frames]),
        contact_start=_start([m.contact_points for m in frames]),
        contact_points=np.concatenate([m.contact_points for m in frames]),
        contact_forces=np.concatenate([m.contact_forces for m in frames]),
        cavity_start=_start([m.cavities for m in frames]),
        cavity_mesh=np.array(which, np.int32),
        cavity_pressure=np.array([a.pressure for a in air]),
        cavity_point_start=_start([a.points for a in air]),
        cavity_points=np.concatenate([none, *(a.points for a in air)]).astype(np.float32),
        mesh_start=_start(triangles),
        mesh_triangles=np.concatenate([none, *triangles]).astype(np.int32),
        patch_point_start=_start([m.patch.points for m in frames]),
        patch_points=np.concatenate([m.patch.points for m in frames]),
        patch_pressure=np.concatenate([m.patch.pressure for m in frames]),
        patch_triangle_start=_start([m.patch.triangles for m in frames]),
        patch_triangles=np.concatenate([m.patch.triangles for m in frames]),
        **{f"field_{name}": np.stack([m.fields[name] for m in frames]) for name in COLOURS},
    )  # fmt: skip
    write_whole(path, npz_bytes(arrays, compressed=True))


def read(folder: Path) -> Recording:
    """Read the frames of a run folder."""
    path = folder / FILE if folder.is_dir() else folder
    if not path.is_file():
        recording = from_journal(read_journal(folder)) if folder.is_dir() else None
        if recording is not None:
            return recording
        raise LimpetError(
            f"run '{folder}': has no {FILE}; record it with limpet run SCENE --out {folder} --force"
        )
    try:
        with np.load(path) as file:
            return _unpack({name: file[name] for name in file.files})
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        raise LimpetError(
            f"recording '{path}': is damaged or of another version; run the scene again"
        ) from None


def from_journal(records: Iterable[Record]) -> Recording | None:
    """The film in a journal; None if it has no frame."""
    head, *frames = [r.content for r in records if r.kind == "film"] or [None]
    return Recording(head["title"], head["summary"], head["header"], frames) if frames else None


def _unpack(a: dict[str, Array]) -> Recording:
    head: dict[str, Any] = json.loads(str(a["head"]))
    triangles = tuple(_parts(a["triangles"], a["triangle_start"]))
    header = FrameHeader(
        tuple(head["names"]), tuple(head["kinds"]), a["offset"], triangles, a["rest"], a["up"],
        head["ambient"], head["reach"], head["whole"],
    )  # fmt: skip
    meshes = _parts(a["mesh_triangles"], a["mesh_start"])
    points = _parts(a["cavity_points"], a["cavity_point_start"])
    air = [
        AirFrame(x, meshes[mesh], float(p))
        for x, mesh, p in zip(points, a["cavity_mesh"], a["cavity_pressure"])
    ]
    fields = {name: a[f"field_{name}"] for name in COLOURS}
    contacts = _parts(a["contact_points"], a["contact_start"])
    forces = _parts(a["contact_forces"], a["contact_start"])
    start = a["cavity_start"]
    patches = [
        PatchFrame(*parts)
        for parts in zip(
            _parts(a["patch_points"], a["patch_point_start"]),
            _parts(a["patch_pressure"], a["patch_point_start"]),
            _parts(a["patch_triangles"], a["patch_triangle_start"]),
        )
    ]
    frames = [
        Frame(
            int(a["step"][k]), float(a["time"][k]), a["positions"][k], contacts[k], forces[k],
            tuple(air[start[k] : start[k + 1]]), a["figures"][k],
            {name: values[k] for name, values in fields.items()}, patches[k],
        )
        for k in range(len(a["step"]))
    ]  # fmt: skip
    return Recording(head["title"], head["summary"], header, frames)


def _start(parts: Sequence[Any]) -> Array:
    return np.cumsum([0] + [len(p) for p in parts]).astype(np.int64)


def _parts(joined: Array, start: Array) -> list[Array]:
    return [joined[a:b] for a, b in pairwise(start)]
