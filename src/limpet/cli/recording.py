"""Commands that record runs and show what was recorded."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from limpet.cli.app import Json, RunFolder, Setting, app, examples
from limpet.cli.console import (
    FAILED,
    compile_for,
    exit_status,
    finished_run,
    print_summary,
    progress_bar,
    recorded_scene,
    scene_and_parameters,
    stop,
)
from limpet.errors import LimpetError
from limpet.scenes.settings import parse_settings

if TYPE_CHECKING:
    from limpet.record.summary import Summary
    from limpet.scenes.registry import Scene


@app.command(
    epilog=examples(
        "limpet run ground --out runs/first",
        'limpet run lift --set block_mass="2 kg" --h "5 ms" --json',
        "limpet run mycup.toml --no-plots",
        "limpet run gripper.py --set mass=0.5",
        "limpet run --resume runs/first",
    )
)
def run(
    scene: Annotated[
        str,
        typer.Argument(
            metavar="SCENE|FILE|RUN",
            help="Scene name (see limpet scenes), .toml or .py file; with --resume a run folder.",
        ),
    ],
    settings: Setting = None,
    h: Annotated[
        str | None, typer.Option("--h", metavar="S", help='Time step, e.g. "5 ms".')
    ] = None,
    duration: Annotated[str | None, typer.Option(metavar="S", help="Simulated time.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Run folder; default: runs/SCENE or runs/FILE."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an earlier run.")] = False,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume", help="Continue a run that was interrupted or killed, with the same bits."
        ),
    ] = False,
    as_json: Json = False,
    plots: Annotated[bool, typer.Option("--plots/--no-plots", help="Write plots/*.png.")] = True,
    frames: Annotated[
        bool, typer.Option("--frames/--no-frames", help="Write frames.vtkhdf for ParaView.")
    ] = True,
) -> None:
    """Run a scene and record it in a folder: history, summary, frames and plots.

    Ctrl-C, SIGTERM and SIGHUP end the run after its step and keep all that was recorded; --resume
    continues it, also after kill -9. Without an earlier run, --resume begins one.
    """
    from limpet.record.run_folder import check_folder
    from limpet.scenes.registry import load, read_parameters

    if resume and force:
        raise LimpetError("--resume --force: expected one of them; --force begins anew")
    if resume and Path(scene).is_dir():
        scene, out = recorded_scene(Path(scene), out)
    name, parameters = scene_and_parameters(scene)
    parameters |= parse_settings(settings or [])
    parameters |= {k: v for k, v in (("h", h), ("duration", duration)) if v is not None}
    default = Path(scene).stem if scene.endswith((".toml", ".py")) else name
    folder = out if out is not None else Path("runs") / default
    try:
        check_folder(folder, force=force or resume)
        if resume and (done := finished_run(folder)) is not None:
            summary = done
        else:
            read_parameters(name, parameters)  # a typo is told at once
            compile_for(name)
            summary = _run(load(name, parameters), folder, force, plots, frames, resume)
    except KeyboardInterrupt as signal:
        stop("interrupted before the first step; nothing was recorded", exit_status(signal))
    if as_json:
        print(summary.to_json())
    else:
        print_summary(summary, folder)
    if summary.ended != "finished":
        at = f"at step {summary.ended_step} (t = {summary.duration:g} s)"
        kept = f"the recorded steps are in {folder}"
        if summary.ended == "interrupted":
            more = f"continue with limpet run --resume {folder}"
            stop(f"interrupted {at}; {kept}; {more}", exit_status(summary.why))
        stop(f"the run {summary.ended} {at}: {summary.why}; {kept}", FAILED)


@app.command(epilog=examples("limpet summary runs/ground", "limpet summary runs/ground --json"))
def summary(run: RunFolder, as_json: Json = False) -> None:
    """Print the summary of a run, also of one that is running or was killed."""
    from limpet.record.saved_state import summary_of

    found = summary_of(run)
    if as_json:
        print(found.to_json())
    else:
        print_summary(found, run)


@app.command(epilog=examples("limpet run ground", "limpet replay runs/ground"))
def replay(
    run: RunFolder,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Output file; default: RUN/replay.html.")
    ] = None,
) -> None:
    """Write a run as one HTML file, which opens in a browser without Limpet or a network."""
    from limpet.viewer.replay import write_replay

    print(write_replay(run, out))


@app.command(
    epilog=examples(
        "limpet render runs/ground", "limpet render runs/ground --animation --out ground.gif"
    )
)
def render(
    run: RunFolder,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Default: RUN/image.png or RUN/animation.gif."),
    ] = None,
    animation: Annotated[
        bool, typer.Option("--animation", help="Write .gif, or .mp4 with ffmpeg.")
    ] = False,
    time: Annotated[
        str | None, typer.Option(metavar="S", help="Time of the image; default: lowest pressure.")
    ] = None,
    colour: Annotated[
        str, typer.Option(help="pressure, stress, displacement, gap or class.")
    ] = "stress",
    size: Annotated[str, typer.Option(metavar="WxH", help="Size in pixels.")] = "1280x800",
) -> None:
    """Draw an image or animation of a run with Chromium, or with matplotlib if there is none."""
    from limpet.units import quantity
    from limpet.viewer.render import render_run

    at = None if time is None else quantity(time, "s", "time")
    with progress_bar("drawing") as progress:
        path = render_run(
            run, out, animation=animation, time=at, colour=colour, size=size, progress=progress
        )
    print(path)


def _run(
    scene: Scene, folder: Path, force: bool, plots: bool, frames: bool, resume: bool
) -> Summary:
    from limpet.record.run import record_run

    simulation = scene.simulation()
    with progress_bar() as progress:
        return record_run(
            scene,
            simulation,
            folder,
            force=force,
            plots=plots,
            frames=frames,
            resume=resume,
            on_step=lambda report: progress(
                report.time, scene.duration, f"{scene.name}, step {report.step}"
            ),
        )
