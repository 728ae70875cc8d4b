"""The command line. Each command imports what it needs, so that --help is fast."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from limpet.cli import cups, recording  # noqa: F401  they register their commands
from limpet.cli.app import Json, SceneArgument, Setting, Unit, app, examples
from limpet.cli.console import (
    FAILED,
    WRONG_INPUT,
    compile_for,
    console,
    exit_status,
    interrupt_on_signals,
    print_list,
    print_result,
    progress_bar,
    progress_lines,
    scene_and_parameters,
    stop,
)
from limpet.errors import LimpetError, Notice, StorageError
from limpet.scenes.settings import parse_settings

if TYPE_CHECKING:
    from limpet.record.table import Study
    from limpet.viewer.server import Server


def main() -> None:
    """Entry point of the program `limpet`."""
    warnings.showwarning = _warn  # type: ignore[assignment]
    interrupt_on_signals()
    try:
        app()
    except StorageError as problem:
        stop(str(problem), FAILED)
    except LimpetError as problem:
        stop(str(problem), WRONG_INPUT)
    except KeyboardInterrupt as signal:
        stop("interrupted", exit_status(signal))
    except BrokenPipeError:  # the reader closed the pipe, as `| head` does
        sys.stderr.close()
        raise SystemExit(FAILED) from None
    except OSError as problem:  # a file that cannot be read or written
        if problem.filename is None:
            raise
        stop(f"'{problem.filename}': {problem.strerror}", FAILED)


def _warn(message: Warning | str, *_: object) -> None:
    """Print a warning as one line without the code location."""
    kind = "note" if isinstance(message, Notice) else "warning"
    print(f"{kind}: {message}", file=sys.stderr)


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
    epilog=examples("limpet scenes", "limpet scenes ground"),
)
def list_scenes(
    name: Annotated[
        str | None, typer.Argument(metavar="[SCENE]", help="Scene whose parameters are listed.")
    ] = None,
    as_json: Json = False,
) -> None:
    """List all scenes, or the parameters of one scene."""
    from limpet.scenes.registry import parameter_table, parameters_of, scenes

    if name is None:
        print_list({key: entry.summary for key, entry in scenes().items()}, as_json)
    elif as_json:
        print(json.dumps(parameter_table(name), indent=2))
    else:
        print_list(parameters_of(name), as_json)


@app.command(
    epilog=examples("limpet bench", "limpet bench table1 --json", "limpet bench ground --threads 2")
)
def bench(
    name: Annotated[str | None, typer.Argument(help="Benchmark; lists all if omitted.")] = None,
    threads: Annotated[
        int | None, typer.Option(metavar="N", help="Threads of a step: of ground and table1.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Run a benchmark: time per step by phase, compared with the papers."""
    from limpet.studies.registry import BENCHMARKS

    settings = {} if threads is None else {"threads": threads}
    _study("bench", BENCHMARKS, name, as_json, None, settings)


@app.command(epilog=examples("limpet fuzz", "limpet fuzz --seed 7 --minutes 60 --out runs/fuzz"))
def fuzz(
    inputs: Annotated[int, typer.Option(min=1, metavar="N", help="Number of inputs.")] = 5000,
    seed: Annotated[int, typer.Option(min=0, help="Another seed, other inputs.")] = 0,
    minutes: Annotated[
        float | None, typer.Option(min=0.0, help="As many inputs as there is time for.")
    ] = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where failing inputs are kept.")] = Path(
        "runs/fuzz"
    ),
    as_json: Json = False,
) -> None:
    """Read mutated scene files, meshes, settings and messages: each ends in one line, or works.

    Exit status 1 if an input ends in a traceback, in a crash, in a message of several lines, or
    not within 5 s.
    """
    from limpet.studies.fuzz.report import run

    with progress_bar() as progress:
        result = run(progress, out, inputs=inputs, seed=seed, minutes=minutes)
    print_result(result, "fuzz", as_json, result.save(out))
    if not result.ok:
        stop(f"fuzz: inputs failed; they are in {out / 'failures'}", FAILED)


@app.command(
    epilog=examples(
        "limpet reproduce",
        "limpet reproduce fig4 --out runs/fig4",
        'limpet reproduce outcomes --set scenes=bunny,toy --set steps="20 ms, 10 ms"',
    ),
)
def reproduce(
    name: Annotated[
        str | None, typer.Argument(metavar="ID", help="Study; lists all if omitted.")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Set what a study lets you choose."),
    ] = None,
    as_json: Json = False,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Output folder; default: runs/reproduce/ID.")
    ] = None,
) -> None:
    """Reproduce a table or figure of the papers."""
    from limpet.studies.registry import STUDIES

    folder = out if out is not None else Path("runs") / "reproduce" / (name or "")
    _study("reproduce", STUDIES, name, as_json, folder, parse_settings(settings or []))


@app.command(
    epilog=examples(
        "limpet stress --scenes 20",
        "limpet stress --seed 1000 --jobs 4 --out runs/stress",
        "limpet stress --scenes 1 --seed 42 --all",
    )
)
def stress(
    scenes: Annotated[int, typer.Option(min=1, help="Number of random worlds.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="The first seed.")] = 0,
    jobs: Annotated[int, typer.Option(min=1, help="Processes.")] = 1,
    everything: Annotated[
        bool, typer.Option("--all", help="Also try on every world what is tried on a share only.")
    ] = False,
    as_json: Json = False,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Output folder; default: runs/stress.")
    ] = None,
) -> None:
    """Run random worlds and check that physics and software hold in each (it continues)."""
    from limpet.studies.stress.study import stress as run_worlds

    folder = out if out is not None else Path("runs") / "stress"
    compile_for(None)
    with progress_bar() as progress:
        result = run_worlds(scenes, seed, jobs, progress, folder, everything)
    written = result.save(folder)
    if as_json:
        print(json.dumps({"name": "stress", **result.as_dict()}, indent=2, allow_nan=False))
    else:
        for table in result.tables:
            table.print(console())
        for path in written:
            print(path)
    if not result.ok:
        stop("stress: a claim does not hold", FAILED)


@app.command("warm-up", epilog=examples("limpet warm-up", "limpet warm-up ground --jobs 2"))
def warm_up(
    scene: Annotated[
        str | None, typer.Argument(help="Compile what this scene needs; everything if omitted.")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Processes; default: one a core, up to 8.")
    ] = None,
) -> None:
    """Compile the kernels beforehand, on all cores; else that happens when they are needed."""
    from limpet.kernel_cache import folder
    from limpet.warm_up.kernels import compile_on_all_cores, missing, of_scene

    names = of_scene(None if scene is None else scene_and_parameters(scene)[0])
    todo = missing(names)
    with progress_lines() as progress:
        if todo:
            compile_on_all_cores(todo, progress, jobs)
    print(f"{len(names)} kernels, {len(todo)} of them compiled now, in {folder()}")


@app.command(
    epilog=examples(
        "limpet view ground",
        'limpet view ground --set young="2 MPa"',
        "limpet view gripper.py",
        "limpet view runs/ground",
    )
)
def view(
    target: Annotated[
        str,
        typer.Argument(metavar="SCENE|FILE|RUN", help="Scene, .toml or .py file, or run folder."),
    ],
    settings: Setting = None,
    port: Annotated[int, typer.Option(help="Local port; 0 selects a free one.")] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")
    ] = True,
) -> None:
    """View a running scene or a recorded run in the browser (local connections only)."""
    server = _server(target, settings or [], port)
    print(f"{server.address}  (Ctrl-C to stop)", flush=True)
    if browser:
        import webbrowser

        webbrowser.open(server.address)
    server.run()


@app.command(
    epilog=examples(
        "limpet check mycup.stl --unit mm", "limpet check part.ply --unit mm --repair repaired.ply"
    )
)
def check(
    mesh: Annotated[Path, typer.Argument(metavar="MESH", help="STL, OBJ, PLY, OFF, ... or STEP.")],
    unit: Unit = None,
    repair: Annotated[
        Path | None, typer.Option(metavar="OUT", help="Write a repaired mesh to this file.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Check a mesh file. Exit status 0: no faults, 1: faults, 2: cannot be read."""
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
    epilog=examples(
        "limpet mesh ground --out meshes",
        "limpet mesh mycup.toml --format vtu --format stl --unit mm --out meshes",
    )
)
def mesh(
    scene: SceneArgument,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Output folder.")],
    settings: Setting = None,
    formats: Annotated[
        list[str] | None,
        typer.Option(
            "--format",
            metavar="ENDING",
            help="Cells: vtu, vtk, msh, inp; surface: stl, obj, ply, off.",
        ),
    ] = None,
    unit: Annotated[
        str, typer.Option(metavar="mm|cm|m|in", help="Length unit of the files.")
    ] = "m",
) -> None:
    """Write the meshes of a scene, and an image of its soft bodies."""
    from limpet.record.mesh_files import write_meshes
    from limpet.scenes.registry import load

    name, parameters = scene_and_parameters(scene)
    loaded = load(name, parameters | parse_settings(settings or []))
    for path in write_meshes(loaded.world, out, formats or ["vtu", "stl"], unit):
        print(path)


def _study(
    kind: str, studies: Mapping[str, Study], name: str | None, as_json: bool, folder: Path | None,
    settings: Mapping[str, object] | None = None,
) -> None:  # fmt: skip
    from limpet.record.table import find_study

    if name is None:
        print_list({key: study.summary for key, study in studies.items()}, as_json)
        return
    study = find_study(kind, studies, name)
    compile_for(name)
    with progress_bar() as progress:
        result = study.run(progress, settings, folder)
    written = result.save(folder) if folder is not None else []
    print_result(result, name, as_json, written)
    if not result.ok:
        stop(f"{kind} '{name}': a claim does not hold", FAILED)


def _server(target: str, settings: list[str], port: int) -> Server:
    """The server of a scene, or of a replay if `target` is a run folder."""
    try:
        from limpet.viewer.server import Server
    except ModuleNotFoundError as missing:
        raise LimpetError(
            f"view needs '{missing.name}', which is not installed: pip install 'limpet[view]'"
        ) from None
    if Path(target).is_dir():
        from limpet.viewer.replay import write_replay

        return Server(None, port=port, replay=write_replay(Path(target)))
    from limpet.scenes.registry import read_parameters

    name, parameters = scene_and_parameters(target)
    parameters |= parse_settings(settings)
    read_parameters(name, parameters)  # a typo is told at once
    compile_for(name)
    return Server(name, parameters, port=port)
