"""Run a scene into a run folder: the loop around Simulation.run, and how a run may end."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from limpet.errors import DivergedError, LimpetError
from limpet.record.run_folder import Counted, Recorder
from limpet.record.summary import Ended, Summary
from limpet.report import StepReport
from limpet.scenes.registry import Scene

if TYPE_CHECKING:
    from limpet.record.frames import FrameRecorder


class Runnable(Counted, Protocol):
    """A simulation, as far as recording it needs to know."""

    def run(self, duration: float) -> Iterable[StepReport]: ...


def record_run(
    scene: Scene,
    simulation: Runnable,
    folder: Path,
    *,
    force: bool = False,
    on_step: Callable[[StepReport], None] | None = None,
    plots: bool = True,
    film: bool = True,
    frames: bool = True,
) -> Summary:
    """Step `simulation` through `scene` and keep what it does in `folder`.

    An early end (Ctrl-C, numbers that diverge, a step that cannot be done) is a value in the
    summary; what was recorded before it is kept, with a film of it (frames.npz). A second Ctrl-C
    leaves out the plots.
    """
    recorder = Recorder(folder, scene, simulation, force=force, frames=frames)
    camera = _camera(scene, simulation) if film else None
    ended: Ended = "finished"
    why: str | None = None
    try:
        for report in simulation.run(scene.duration):
            recorder.add(report)
            if camera is not None:
                camera.add(report)
            if on_step is not None:
                on_step(report)
    except KeyboardInterrupt:
        ended, why = "interrupted", "interrupted from the keyboard"
    except DivergedError as problem:
        ended, why = "diverged", str(problem)
    except LimpetError as problem:
        ended, why = "failed", str(problem)
    except BaseException as problem:  # a defect of ours: keep the record, show the traceback
        recorder.finish("failed", f"{type(problem).__name__}: {problem}")
        raise
    with _uninterrupted():
        summary = recorder.finish(ended, why)
        if camera is not None:
            camera.save(folder)
    if plots and recorder.rows:
        with contextlib.suppress(KeyboardInterrupt):
            _draw(scene, recorder, summary)
    return summary


def _camera(scene: Scene, simulation: Runnable) -> FrameRecorder | None:
    """What keeps frames.npz; only a Simulation itself can be filmed."""
    from limpet.engine.simulation import Simulation
    from limpet.record.frames import FrameRecorder

    if not isinstance(simulation, Simulation):
        return None
    return FrameRecorder(simulation, scene.name, scene.summary, round(scene.duration / scene.h))


def _draw(scene: Scene, recorder: Recorder, summary: Summary) -> None:
    from limpet.record.mesh_files import draw_meshes
    from limpet.record.picture import draw_scene, moments
    from limpet.record.plots import plot_history
    from limpet.record.section import plot_sections
    from limpet.scenes.own import OwnCup

    plots = recorder.folder / "plots"
    plots.mkdir(exist_ok=True)
    plot_history(recorder.rows, summary, plots / "history.png")
    frames = sorted(recorder.frames.values(), key=lambda frame: frame.time)
    plot_sections(frames, plots / "section.png")
    pressed = [recorder.frames["hold"].time] if "hold" in recorder.frames else []
    draw_scene(moments(recorder.film, pressed), plots / "scene.png")
    if isinstance(getattr(scene.parameters, "cup", None), OwnCup):
        draw_meshes(scene.world, plots / "mesh.png")


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Ctrl-C is ignored while the last lines of a run are written."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread is ever interrupted
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
