"""The command line: thin. What it calls is imported only when it is needed, so help is quick."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from limpet.cli.console import (
    FAILED,
    INTERRUPTED,
    WRONG_INPUT,
    changes,
    console,
    print_list,
    print_summary,
    progress_bar,
    scene_and_parameters,
    stop,
)
from limpet.errors import LimpetError

if TYPE_CHECKING:
    from limpet.record.summary import Summary
    from limpet.record.table import Study
    from limpet.scenes.registry import Scene
    from limpet.viewer.server import Server


def _examples(*lines: str) -> str:
    """The end of a command's help; \\b keeps the lines apart."""
    return "\n\n".join(("Examples:", *lines))


app = typer.Typer(
    help="Simulates suction: soft cups that trap air, seal, hold, leak and let go.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

Unit = Annotated[
    str | None, typer.Option(metavar="mm|cm|m|in", help="Unit of the numbers in the file.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]


def main() -> None:
    """The program `limpet`."""
    warnings.showwarning = _warn  # type: ignore[assignment]
    try:
        app()
    except LimpetError as problem:
        stop(str(problem), WRONG_INPUT)
    except KeyboardInterrupt:
        stop("interrupted", INTERRUPTED)
    except BrokenPipeError:  # somebody closed the pipe, as `| head` does: not worth a traceback
        sys.stderr.close()
        raise SystemExit(FAILED) from None


def _warn(message: Warning | str, *_: object) -> None:
    """One line for the user, without the place in the code that a programmer would want."""
    print(f"warning: {message}", file=sys.stderr)


@app.callback(invoke_without_command=True)
def _options(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        from importlib.metadata import version as version_of

        print(f"limpet {version_of('limpet')}")
        raise typer.Exit()


@app.command(
    "scenes",
    epilog=_examples("limpet scenes", "limpet scenes ground"),
)
def list_scenes(
    name: Annotated[
        str | None, typer.Argument(metavar="[SCENE]", help="Whose parameters to list.")
    ] = None,
    as_json: Json = False,
) -> None:
    """List the scenes, one line each, or the parameters of one."""
    from limpet.scenes.registry import parameters_of, scenes

    if name is None:
        print_list({key: entry.summary for key, entry in scenes().items()}, as_json)
    else:
        print_list(parameters_of(name), as_json)


@app.command(
    epilog=_examples(
        "limpet run ground --out runs/first",
        'limpet run lift --set block_mass="2 kg" --h "5 ms" --json',
        "limpet run mycup.toml --no-plots",
    )
)
def run(
    scene: Annotated[str, typer.Argument(metavar="SCENE|FILE.toml", help="See limpet scenes.")],
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help='Change a parameter: young="2 MPa".'),
    ] = None,
    h: Annotated[str | None, typer.Option("--h", metavar="S", help="Time step.")] = None,
    duration: Annotated[str | None, typer.Option(metavar="S", help="Simulated time.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Run folder; runs/SCENE or runs/FILE if not given."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Write over an earlier run.")] = False,
    as_json: Json = False,
    plots: Annotated[bool, typer.Option("--plots/--no-plots", help="Draw the figures.")] = True,
    frames: Annotated[
        bool, typer.Option("--frames/--no-frames", help="Write frames.vtkhdf for ParaView.")
    ] = True,
) -> None:
    """Run a scene and record it in a folder: history, summary, plots, a film."""
    from limpet.record.run_folder import check_folder
    from limpet.scenes.registry import load

    name, parameters = scene_and_parameters(scene)
    parameters |= changes(settings or [])
    parameters |= {k: v for k, v in (("h", h), ("duration", duration)) if v is not None}
    own = Path(scene).stem if scene.endswith(".toml") else name
    folder = out if out is not None else Path("runs") / own
    try:
        loaded = load(name, parameters)
        check_folder(folder, force=force)
        summary = _run(loaded, folder, force, plots, frames)
    except KeyboardInterrupt:
        stop("interrupted before the first step; nothing was recorded", INTERRUPTED)
    if as_json:
        print(summary.to_json())
    else:
        print_summary(summary, folder)
    if summary.ended != "finished":
        at = f"at step {summary.ended_step} (t = {summary.duration:g} s)"
        kept = f"what was recorded is in {folder}"
        if summary.ended == "interrupted":
            stop(f"interrupted {at}; {kept}", INTERRUPTED)
        stop(f"the run {summary.ended} {at}: {summary.why}; {kept}", FAILED)


@app.command(epilog=_examples("limpet bench", "limpet bench table1 --json"))
def bench(
    name: Annotated[str | None, typer.Argument(help="Which one; lists them if not given.")] = None,
    as_json: Json = False,
) -> None:
    """Time the phases of a step, beside the paper's figures."""
    from limpet.studies.registry import BENCHMARKS

    _study("bench", BENCHMARKS, name, as_json, None)


@app.command(
    epilog=_examples("limpet reproduce", "limpet reproduce fig4 --out runs/fig4"),
)
def reproduce(
    name: Annotated[
        str | None, typer.Argument(metavar="ID", help="Which one; lists them if not given.")
    ] = None,
    as_json: Json = False,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder; runs/reproduce/ID if not given.")
    ] = None,
) -> None:
    """Make a table or figure of the papers again."""
    from limpet.studies.registry import STUDIES

    folder = out if out is not None else Path("runs") / "reproduce" / (name or "")
    _study("reproduce", STUDIES, name, as_json, folder)


@app.command(
    epilog=_examples(
        "limpet view ground", 'limpet view ground --set young="2 MPa"', "limpet view runs/ground"
    )
)
def view(
    what: Annotated[str, typer.Argument(metavar="SCENE|FILE.toml|RUN", help="A run is replayed.")],
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help='Change a parameter: young="2 MPa".'),
    ] = None,
    port: Annotated[int, typer.Option(help="Port on this machine; 0 takes a free one.")] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")
    ] = True,
) -> None:
    """See a scene live in the browser, on this machine only; or a run that was recorded."""
    server = _server(what, settings or [], port)
    print(f"{server.address}  (Ctrl-C ends it)", flush=True)
    if browser:
        import webbrowser

        webbrowser.open(server.address)
    server.run()


@app.command(epilog=_examples("limpet run ground", "limpet replay runs/ground"))
def replay(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="RUN/replay.html if not given.")
    ] = None,
) -> None:
    """Make one html file of a run: it opens anywhere, without Limpet and without a network."""
    from limpet.viewer.replay import write_replay

    print(write_replay(run, out))


@app.command(
    epilog=_examples(
        "limpet render runs/ground", "limpet render runs/ground --film --out ground.gif"
    )
)
def render(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")],
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="RUN/still.png if not given, RUN/film.gif for a film."),
    ] = None,
    film: Annotated[
        bool, typer.Option("--film", help="A film: .gif, or .mp4 with ffmpeg.")
    ] = False,
    time: Annotated[
        str | None, typer.Option(metavar="S", help="Moment of the still; the lowest pressure.")
    ] = None,
    colour: Annotated[str, typer.Option(help="pressure, stress, displacement or gap.")] = "stress",
    size: Annotated[str, typer.Option(metavar="WxH", help="Pixels.")] = "1280x800",
) -> None:
    """Draw a still or a film of a run: with Chromium where there is one, else with matplotlib."""
    from limpet.units import quantity
    from limpet.viewer.render import render_run

    moment = None if time is None else quantity(time, "s", "time")
    with progress_bar("drawing") as progress:
        path = render_run(
            run, out, film=film, time=moment, colour=colour, size=size, progress=progress
        )
    print(path)


@app.command(
    epilog=_examples(
        "limpet check mycup.stl --unit mm", "limpet check part.ply --unit mm --repair mended.ply"
    )
)
def check(
    mesh: Annotated[Path, typer.Argument(metavar="MESH", help="STL, OBJ, PLY, OFF, ... or STEP.")],
    unit: Unit = None,
    repair: Annotated[
        Path | None, typer.Option(metavar="OUT", help="Write what can be mended safely here.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Find every fault of a mesh file. Status 0: none, 1: some, 2: it cannot be read."""
    from dataclasses import asdict

    from limpet.meshing.check_file import check_file

    report = check_file(mesh, unit, repair)
    if as_json:
        print(json.dumps({"file": str(mesh), **asdict(report)}, indent=2, allow_nan=False))
    else:
        from limpet.record.mesh_table import print_report

        print_report(console(), mesh, report, repair)
    if report.faults:
        raise typer.Exit(FAILED)


@app.command(
    epilog=_examples(
        "limpet mesh ground --out meshes",
        "limpet mesh mycup.toml --format vtu --format stl --unit mm --out meshes",
    )
)
def mesh(
    scene: Annotated[str, typer.Argument(metavar="SCENE|FILE.toml", help="See limpet scenes.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the files.")],
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change a parameter.")
    ] = None,
    formats: Annotated[
        list[str] | None,
        typer.Option(
            "--format",
            metavar="ENDING",
            help="vtu, vtk, msh, inp: cells; stl, obj, ply, off: skin.",
        ),
    ] = None,
    unit: Annotated[str, typer.Option(metavar="mm|cm|m|in", help="Of the numbers written.")] = "m",
) -> None:
    """Write the meshes of a scene's bodies, and a picture of the soft ones."""
    from limpet.record.mesh_files import write_meshes
    from limpet.scenes.registry import load

    name, parameters = scene_and_parameters(scene)
    loaded = load(name, parameters | changes(settings or []))
    for path in write_meshes(loaded.world, out, formats or ["vtu", "stl"], unit):
        print(path)


def _run(scene: Scene, folder: Path, force: bool, plots: bool, frames: bool) -> Summary:
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
            on_step=lambda report: progress(
                report.time, scene.duration, f"{scene.name}, step {report.step}"
            ),
        )


def _study(
    kind: str, studies: Mapping[str, Study], name: str | None, as_json: bool, folder: Path | None
) -> None:
    from limpet.record.table import find_study

    if name is None:
        print_list({key: study.summary for key, study in studies.items()}, as_json)
        return
    study = find_study(kind, studies, name)
    with progress_bar() as progress:
        result = study.run(progress)
    written = result.save(folder) if folder is not None else []
    if as_json:
        print(json.dumps({"name": name, **result.as_dict()}, indent=2, allow_nan=False))
    else:
        for table in result.tables:
            table.print(console())
        for path in written:
            print(path)
    if not result.ok:
        stop(f"{kind} '{name}': a figure is outside what is claimed", FAILED)


def _server(what: str, settings: list[str], port: int) -> Server:
    """The server of a scene, or of a run's replay if `what` is a folder."""
    try:
        from limpet.viewer.server import Server
    except ModuleNotFoundError as missing:
        raise LimpetError(
            f"view needs '{missing.name}', which is not installed: pip install 'limpet[view]'"
        ) from None
    if Path(what).is_dir():
        from limpet.viewer.replay import write_replay

        return Server(None, port=port, replay=write_replay(Path(what)))
    name, parameters = scene_and_parameters(what)
    return Server(name, parameters | changes(settings), port=port)
