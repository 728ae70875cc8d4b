"""Shared parts of the commands: reading arguments, printing results, progress, exit."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

from limpet.errors import LimpetError

if TYPE_CHECKING:
    from rich.console import Console

    from limpet.record.summary import Summary
    from limpet.record.table import Progress, Result

WRONG_INPUT, FAILED, INTERRUPTED = 2, 1, 130  # exit status


class Signalled(KeyboardInterrupt):
    """SIGTERM or SIGHUP, which end a command as Ctrl-C does."""


def interrupt_on_signals() -> None:
    """Let batch queues and closed terminals end a command as Ctrl-C does, unless ignored."""

    def interrupt(number: int, _: FrameType | None) -> None:
        raise Signalled(f"by {signal.Signals(number).name}")

    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, interrupt)


def exit_status(why: KeyboardInterrupt | str | None) -> int:
    """128 + the number of the signal, as shells have it; 130 for Ctrl-C."""
    name = str(why or "").rpartition("by ")[2]
    return 128 + signal.Signals[name] if name in signal.Signals.__members__ else INTERRUPTED


def recorded_scene(folder: Path, out: Path | None) -> tuple[str, Path]:
    """The scene file of a run folder that is resumed, and that folder."""
    if out is not None and out.resolve() != folder.resolve():
        raise LimpetError(f"--out {out}: a run is resumed in its own folder, '{folder}'")
    if not (folder / "scene.toml").is_file():
        raise LimpetError(f"run '{folder}': has no scene.toml, so there is no run to resume")
    return str(folder / "scene.toml"), folder


def finished_run(folder: Path) -> Summary | None:
    """The summary of a run that has finished, so that nothing is left to resume."""
    from limpet.record.journal import FILE
    from limpet.record.saved_state import summary_of

    if not (folder / "summary.json").is_file() or (folder / FILE).exists():
        return None
    summary = summary_of(folder)
    return summary if summary.ended == "finished" else None


def scene_and_parameters(scene: str) -> tuple[str, dict[str, object]]:
    """Resolve the argument SCENE, which is a name, or a file if it ends in .toml or .py."""
    from limpet.scenes.registry import read_scene_file

    if scene.endswith(".toml"):
        return read_scene_file(Path(scene))
    if Path(scene).is_file() and not scene.endswith(".py"):
        raise LimpetError(
            f"scene '{scene}': is not a scene file (.toml, .py); name a mesh in a scene file: "
            '[cup] mesh = "..." (docs/scene-files.md)'
        )
    return scene, {}


def print_list(summaries: dict[str, str], as_json: bool) -> None:
    if as_json:
        print(json.dumps(summaries, indent=2))
        return
    width = max(map(len, summaries))
    for name, summary in summaries.items():
        print(f"{name:{width}}  {summary}")


def print_result(result: Result, name: str, as_json: bool, written: list[Path]) -> None:
    """The tables of a study and the files that it wrote."""
    if as_json:
        print(json.dumps({"name": name, **result.as_dict()}, indent=2, allow_nan=False))
        return
    for table in result.tables:
        table.print(console())
    for path in written:
        print(path)


def print_summary(summary: Summary, folder: Path) -> None:
    from rich.table import Table
    from rich.text import Text

    from limpet.units import show

    def shown(value: float | None, unit: str, otherwise: str) -> str:
        return otherwise if value is None else show(value, unit)

    table = Table(show_header=False, box=None, pad_edge=False)
    suction = {
        "push force": _push(summary),
        "peak pull force": shown(summary.peak_pull_force, "N", "none"),
        "release": _release(summary),
        "lowest pressure": shown(summary.min_pressure, "Pa", "no trapped air"),
        "largest penetration": f"{1e6 * summary.max_penetration:.3g} µm",
    }
    if summary.probes and summary.min_pressure is None:
        suction = {}
    probes = {
        name: f"{_probe(name, s.last)} at the end, from {_probe(name, s.least)} to "
        f"{_probe(name, s.most)} during the run"
        for name, s in summary.probes.items()
    }
    lines = {
        **({} if summary.ended == "finished" else {"ended": _ended(summary)}),
        **suction,
        **probes,
        **_particle_lines(summary),
        "converged": f"{summary.converged_steps} of {summary.steps} steps",
        **_linearised_line(summary),
        "simulated time": _time_line(summary),
        "time per step": f"{summary.ms_per_step:.3g} ms",
        "run folder": str(folder),
    }
    for name, value in lines.items():
        table.add_row(name, Text(value, overflow="fold"))
    console().print(table)


def _linearised_line(summary: Summary) -> dict[str, str]:
    """How far the steps of soft bodies are from their true forces."""
    if summary.max_relinearisation_residual == 0.0:
        return {}
    return {"relinearised": f"to {1e6 * summary.max_relinearisation_residual:.2g} µm or less"}


def _ended(summary: Summary) -> str:
    """How a run that is not finished ended, or that it has not."""
    return f"{summary.ended} at step {summary.ended_step}"


def _push(summary: Summary) -> str:
    """How hard the cups were pressed."""
    from limpet.units import show

    forces = [show(cup.push_force, "N") for cup in summary.cups.values()]
    return ", ".join(dict.fromkeys(forces)) or "none"


def _release(summary: Summary) -> str:
    """When the last cup let go, which ones hold, and which ones sealed again."""
    from limpet.units import show

    cups = summary.cups
    text = "never" if summary.release_time is None else show(summary.release_time, "s")
    if len(cups) > 1:
        text = ", ".join(
            f"{name}: {'never' if c.release_time is None else show(c.release_time, 's')}"
            for name, c in cups.items()
        )
    again = [f"{name} sealed {c.seals} times" for name, c in cups.items() if c.seals > 1]
    return "; ".join([text, *again])


def _particle_lines(summary: Summary) -> dict[str, str]:
    """Stretch, penetration, inverted cells and energy of particle bodies."""
    p = summary.particles
    if p is None:
        return {}
    energy = (
        f"{p.last_kinetic_energy:.3g} J moving at the end, at most {p.max_kinetic_energy:.3g} J"
    )
    if p.last_elastic_energy is not None:
        energy += f"; {p.last_elastic_energy:.3g} J elastic"
    given = f"{p.gravity_work:.3g} J by gravity, {p.drive_work:.3g} J by motions and forces"
    return {
        "stretch of edges": f"{100 * p.last_stretch:.3g} % at the end, at most "
        f"{100 * p.max_stretch:.3g} %",
        "inverted cells": f"{p.last_inverted} at the end, at most {p.max_inverted}",
        "deepest overlap": f"{1e3 * summary.max_penetration:.3g} mm",
        "energy": energy,
        "energy given": given,
        "residual": f"{summary.max_residual:.3g} mm at most",
    }


def _time_line(summary: Summary) -> str:
    from limpet.units import show

    longer = " or more" if summary.duration > (summary.steps + 0.5) * summary.h else ""
    return f"{show(summary.duration, 's')} in steps of {show(summary.h, 's')}{longer}"


def _probe(name: str, value: float) -> str:
    from limpet.record.history import unit_of_column
    from limpet.units import show

    unit = unit_of_column(name)
    if unit == "yes":
        return "yes" if value else "no"
    return show(value, unit) if unit else f"{100.0 * value:.2f} %"


def console() -> Console:
    from rich.console import Console

    return Console(highlight=False)


@contextmanager
def progress_bar(first: str = "compiling") -> Iterator[Progress]:
    """A progress bar on stderr, at first with the text `first`; none if stderr is no terminal."""
    if not sys.stderr.isatty():
        yield lambda done, total, text: None
        return
    from rich.console import Console
    from rich.progress import Progress as Bar

    with Bar(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(first, total=None)
        yield lambda done, total, text: bar.update(
            task, completed=done, total=total, description=text
        )


@contextmanager
def progress_lines() -> Iterator[Progress]:
    """A progress bar on stderr, or a line at the start and after each quarter."""
    if sys.stderr.isatty():
        with progress_bar() as progress:
            yield progress
        return
    said = -1

    def say(done: float, total: float, text: str) -> None:
        nonlocal said
        quarter = int(4.0 * done / total) if total > 0.0 else 4
        if quarter > said:
            said = quarter
            print(f"limpet: {text}: {25 * quarter} %", file=sys.stderr, flush=True)

    yield say


def compile_for(scene: str | None) -> None:
    """Compile the kernels of a scene that are not compiled yet, on all cores."""
    from limpet.warm_up.kernels import prepare

    with progress_lines() as progress:
        prepare(scene, progress)


def stop(message: str, status: int) -> NoReturn:
    """Print one line on stderr and exit."""
    print(f"limpet: {message}", file=sys.stderr)
    raise SystemExit(status)
