"""Run a scene and record it in a run folder; handles interruption, divergence and full disks."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from limpet.errors import DivergedError, LimpetError, StorageError
from limpet.record.run_folder import RecordableSimulation, Recorder
from limpet.record.signals import StopSignals, reason
from limpet.record.summary import RunStatus, Summary
from limpet.report import StepReport
from limpet.scenes.registry import Scene

if TYPE_CHECKING:
    from limpet.record.frames import FrameRecorder


class RunnableSimulation(RecordableSimulation, Protocol):
    """The part of a simulation that record_run needs."""

    def run(self, duration: float) -> Iterable[StepReport]: ...


def record_run(
    scene: Scene, simulation: RunnableSimulation, folder: Path, *, force: bool = False,
    on_step: Callable[[StepReport], None] | None = None, plots: bool = True, replay: bool = True,
    frames: bool = True, resume: bool = False,
) -> Summary:  # fmt: skip
    """Run `simulation` for the duration of `scene` and record it in `folder`.

    An early end (Ctrl-C, SIGTERM, SIGHUP, divergence, a full disk, an error in a step) is stored in
    the summary; all steps before it are kept. `resume`: continue the run in the folder from its
    last saved state; with `simulation` of the same scene, the record becomes that of a run that
    nothing had ended. `replay`: record frames for replays and animations; `frames`: write
    frames.vtkhdf. A second Ctrl-C skips the plots.
    """
    with StopSignals() as signals:
        with signals.writing():
            recorder = Recorder(
                folder, scene, simulation, force=force, frames=frames, resume=resume
            )
        recording: FrameRecorder | None = None
        ended: RunStatus = "finished"
        why: str | None = None
        try:
            recording = _frame_recorder(scene, simulation, recorder) if replay else None
            ended, why = _steps(scene, simulation, recorder, recording, on_step, signals)
        except KeyboardInterrupt:
            ended, why = "interrupted", reason(signals.received or 2)
        except DivergedError as problem:
            ended, why = "diverged", str(problem)
        except LimpetError as problem:
            ended, why = "failed", str(problem)
        except BaseException as problem:  # a bug: keep the record and show the traceback
            recorder.finish("failed", f"{type(problem).__name__}: {problem}")
            raise
        with signals.writing():
            save = partial(recording.save, folder) if recording is not None else None
            summary = recorder.finish(ended, why, save)
    with contextlib.suppress(KeyboardInterrupt):
        if plots and recorder.rows:
            summary = _draw(scene, recorder, summary)
        if summary.ended == "finished":
            recorder.remove_journal()
    return summary


def _steps(
    scene: Scene, simulation: RunnableSimulation, recorder: Recorder,
    recording: FrameRecorder | None, on_step: Callable[[StepReport], None] | None,
    signals: StopSignals,
) -> tuple[RunStatus, str | None]:  # fmt: skip
    """All steps that are left, unless a signal comes; a state is saved then and now and again."""
    total = round(scene.duration / scene.h)
    done = int(recorder.rows[-1]["step"] or 0) if recorder.rows else 0
    for report in simulation.run((total - done) * scene.h if done else scene.duration):
        with signals.writing():
            recorder.add(report)
            if recording is not None:
                recording.add(report)
            stopped = signals.received is not None and report.step < total
            if report.step < total:
                recorder.save_state(report.step, now=stopped)
        if on_step is not None:
            on_step(report)
        if stopped:
            assert signals.received is not None
            return "interrupted", reason(signals.received)
    return "finished", None


def _frame_recorder(
    scene: Scene, simulation: RunnableSimulation, recorder: Recorder
) -> FrameRecorder | None:
    """The recorder of the film, which needs a Simulation."""
    from limpet.engine.simulation import Simulation
    from limpet.record.frames import FrameRecorder

    if not isinstance(simulation, Simulation):
        return None
    kept = recorder.kept.film if recorder.kept is not None else None
    steps = round(scene.duration / scene.h)
    return FrameRecorder(simulation, scene.name, scene.summary, steps, recorder.journal, kept)


def _draw(scene: Scene, recorder: Recorder, summary: Summary) -> Summary:
    """Draw the plots; where the disk is full, the run has failed, but what it recorded is kept."""
    from limpet.record.mesh_files import draw_meshes
    from limpet.record.picture import draw_scene, select_frames
    from limpet.record.plots import plot_history
    from limpet.record.section import plot_sections
    from limpet.scenes.custom import CustomCup
    from limpet.storage.files import replacing

    plots = recorder.folder / "plots"
    frames = sorted(recorder.key_frames.values(), key=lambda frame: frame.time)
    pressed = [recorder.key_frames["hold"].time] if "hold" in recorder.key_frames else []
    chosen = select_frames(recorder.frames, pressed)
    own_cup = isinstance(getattr(scene.parameters, "cup", None), CustomCup)
    drawings: dict[str, Callable[[Path], object]] = {
        "history.png": lambda path: plot_history(recorder.rows, summary, path),
        "section.png": lambda path: plot_sections(frames, path),
        "scene.png": lambda path: draw_scene(chosen, path),
    }
    if own_cup:
        drawings["mesh.png"] = lambda path: draw_meshes(scene.world, path)
    try:
        plots.mkdir(exist_ok=True)
        for name, draw in drawings.items():
            with replacing(plots / name) as path:
                draw(path)
    except StorageError as problem:
        return _failed(summary, str(problem))
    except OSError as problem:
        return _failed(summary, f"'{plots}': cannot be written ({problem.strerror})")
    return summary


def _failed(summary: Summary, why: str) -> Summary:
    return replace(summary, ended="failed", why=why) if summary.ended == "finished" else summary
