"""Run a scene and record it in a run folder; handles interruption and divergence."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from limpet.errors import DivergedError, LimpetError
from limpet.record.run_folder import RecordableSimulation, Recorder
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
    frames: bool = True,
) -> Summary:  # fmt: skip
    """Run `simulation` for the duration of `scene` and record it in `folder`.

    An early end (Ctrl-C, divergence, an error in a step) is stored in the summary; all steps before
    it are kept. `replay`: write frames.npz for replays and animations; `frames`: write
    frames.vtkhdf. A second Ctrl-C skips the plots.
    """
    recorder = Recorder(folder, scene, simulation, force=force, frames=frames)
    recording = _frame_recorder(scene, simulation) if replay else None
    ended: RunStatus = "finished"
    why: str | None = None
    try:
        for report in simulation.run(scene.duration):
            recorder.add(report)
            if recording is not None:
                recording.add(report)
            if on_step is not None:
                on_step(report)
    except KeyboardInterrupt:
        ended, why = "interrupted", "interrupted from the keyboard"
    except DivergedError as problem:
        ended, why = "diverged", str(problem)
    except LimpetError as problem:
        ended, why = "failed", str(problem)
    except BaseException as problem:  # a bug: keep the record and show the traceback
        recorder.finish("failed", f"{type(problem).__name__}: {problem}")
        raise
    with _uninterrupted():
        summary = recorder.finish(ended, why)
        if recording is not None:
            recording.save(folder)
    if plots and recorder.rows:
        with contextlib.suppress(KeyboardInterrupt):
            _draw(scene, recorder, summary)
    return summary


def _frame_recorder(scene: Scene, simulation: RunnableSimulation) -> FrameRecorder | None:
    """The recorder of frames.npz, which needs a Simulation."""
    from limpet.engine.simulation import Simulation
    from limpet.record.frames import FrameRecorder

    if not isinstance(simulation, Simulation):
        return None
    return FrameRecorder(simulation, scene.name, scene.summary, round(scene.duration / scene.h))


def _draw(scene: Scene, recorder: Recorder, summary: Summary) -> None:
    from limpet.record.mesh_files import draw_meshes
    from limpet.record.picture import draw_scene, select_frames
    from limpet.record.plots import plot_history
    from limpet.record.section import plot_sections
    from limpet.scenes.custom import CustomCup

    plots = recorder.folder / "plots"
    plots.mkdir(exist_ok=True)
    plot_history(recorder.rows, summary, plots / "history.png")
    frames = sorted(recorder.key_frames.values(), key=lambda frame: frame.time)
    plot_sections(frames, plots / "section.png")
    pressed = [recorder.key_frames["hold"].time] if "hold" in recorder.key_frames else []
    draw_scene(select_frames(recorder.frames, pressed), plots / "scene.png")
    if isinstance(getattr(scene.parameters, "cup", None), CustomCup):
        draw_meshes(scene.world, plots / "mesh.png")


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Ignore Ctrl-C while the last files of a run are written."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread can be interrupted
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
