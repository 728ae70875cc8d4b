"""state.npz of a run folder, and what was recorded up to it: where ``--resume`` continues."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from limpet.errors import LimpetError
from limpet.record.frames import Recording, from_journal
from limpet.record.history import Row, read_rows
from limpet.record.journal import Record, read_journal, with_triangles
from limpet.record.scene_toml import scene_toml
from limpet.record.summary import RunStatus, Summary, summarise
from limpet.report import SectionFrame
from limpet.scenes.registry import Scene
from limpet.storage.lock import LockedError, check_unlocked

if TYPE_CHECKING:
    from limpet.engine.simulation import Simulation

FILE = "state.npz"


@dataclass(frozen=True)
class Kept:
    """What was recorded up to a saved state."""

    rows: list[Row]
    history_size: int  # [byte]
    journal_size: int  # [byte]
    sections: list[SectionFrame]
    key_frames: dict[str, SectionFrame]
    least_volume: float  # [m^3]
    largest_pull: float  # [N]
    film: Recording | None


def save(folder: Path, simulation: object) -> None:
    """Save the state of a Simulation; of a substitute for one there is none."""
    if (real := _real(simulation)) is not None:
        real.save(folder / FILE)


def restore(folder: Path, scene: Scene, simulation: object) -> Kept | None:
    """Take the simulation to the last saved state; None if there is none."""
    _check_scene(folder, scene)
    real = _real(simulation)
    if real is None or not (folder / FILE).is_file():
        return None
    real.load(folder / FILE)
    rows, history_size = read_rows(folder / "history.csv", real.steps)
    records = [r for r in read_journal(folder) if r.step <= real.steps]
    keys = [r for r in records if r.kind == "keys" and r.step == real.steps]
    if (rows[-1]["step"] if rows else 0) != real.steps or not keys:
        raise LimpetError(
            f"run folder '{folder}': its history and its frames do not reach its {FILE}; "
            "run the scene again with --force"
        )
    return _kept(rows, history_size, records, keys[-1])


def summary_of(folder: Path) -> Summary:
    """The summary of a run folder, made from its history if the run has not written its own."""
    try:
        told = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
        if told["ended"] != "running":
            return Summary.from_dict(told)
        rows, _ = read_rows(folder / "history.csv")
        same = {key: told[key] for key in ("fem_nodes", "collision_nodes")}
        scene, h = str(told["scene"]), float(told["h"])
    except OSError as problem:
        raise LimpetError(
            f"run '{folder}': has no {Path(problem.filename).name}; record it with limpet run "
            f"SCENE --out {folder}"
        ) from None
    except (ValueError, KeyError, TypeError):
        raise LimpetError(
            f"run '{folder}': its summary or history is damaged; run the scene again"
        ) from None
    try:
        check_unlocked(folder)
        ended: RunStatus = "killed"
    except LockedError:
        ended = "running"
    return summarise(scene, h, rows, **same, ended=ended, parameters=told.get("parameters"))


def _kept(rows: list[Row], history_size: int, records: list[Record], keys: Record) -> Kept:
    sections = [r.content for r in records if r.kind == "section"]
    first, content = sections[0], keys.content
    return Kept(
        rows=rows, history_size=history_size, journal_size=records[-1].end,
        sections=[first, *(with_triangles(f, first) for f in sections[1:])],
        key_frames={name: with_triangles(f, first) for name, f in content["frames"].items()},
        least_volume=content["least_volume"], largest_pull=content["largest_pull"],
        film=from_journal(records),
    )  # fmt: skip


def _check_scene(folder: Path, scene: Scene) -> None:
    """The folder must have a run of the same scene with the same parameters, or none."""
    path = folder / "scene.toml"
    if not path.is_file():
        return
    recorded, wanted = path.read_text(encoding="utf-8"), scene_toml(scene)
    for old, new in zip(recorded.splitlines(), wanted.splitlines()):
        if old != new:
            raise LimpetError(
                f"run folder '{folder}': was recorded with {old}, not {new}; resume it as it was "
                f"(limpet run --resume {folder}), or choose another with --out DIR"
            )


def _real(simulation: object) -> Simulation | None:
    from limpet.engine.simulation import Simulation

    return simulation if isinstance(simulation, Simulation) else None
