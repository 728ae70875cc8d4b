"""Makes every picture of the docs: make pictures, which make docs does first.

    python docs/pictures.py                     those that other code has made, up to two hours
    python docs/pictures.py --all               all of them
    python docs/pictures.py ground toy          these only
    python docs/pictures.py --list              which there are, and which are up to date
    python docs/pictures.py --keep /tmp/films   keeps what was run there, and uses what is there

Scenes of the papers are run and drawn into docs/images/scene-*.png, their figures put in the table
of docs/scenes.md and printed. docs/images/made-by.json says by what code each was made.
"""

from __future__ import annotations

import argparse
import json
import pickle
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from diagrams import draw_packages, draw_step
from fingerprint import fingerprint

from limpet.record.history import Row, flatten, up_direction
from limpet.record.mesh_files import draw_meshes
from limpet.record.picture import View, draw_scene, select_frames
from limpet.record.run import record_run
from limpet.record.run_folder import frame_interval
from limpet.record.summary import Summary, summarise
from limpet.report import SectionFrame
from limpet.scenes import registry
from limpet.studies.registry import STUDIES
from limpet.viewer.render import render_run

IMAGES = Path(__file__).parent / "images"
MADE_BY = IMAGES / "made-by.json"
PAGE = Path(__file__).parent / "scenes.md"
TUTORIAL = Path(__file__).parent / "tutorial.md"
START, END = "<!-- figures, written by docs/pictures.py -->", "<!-- end of the figures -->"


@dataclass(frozen=True)
class Case:
    """A scene as it is run and looked at."""

    scene: str
    body: str  # whose rise is told
    changes: dict[str, object] = field(default_factory=dict)
    times: tuple[float, ...] = ()  # [s] shown besides the frames chosen by rule
    view: View = field(default_factory=View)


@dataclass(frozen=True)
class Recording:
    """What a run left."""

    summary: Summary
    rows: list[Row]
    frames: list[SectionFrame]


BOX = View(-75.0, 25.0, focus=("box", "apple", "cup"))
WHOLE = View(-60.0, 20.0, opened=None)  # sheets, which have no inside to look into
SERVED = View(-60.0, 15.0, opened=None, focus=("dish", "bar"))
CASES = {
    "ground": Case("ground", "cup", times=(0.6,)),
    "lift": Case("lift", "block", times=(0.6,)),
    "soft-cube": Case("soft-cube", "cube", times=(0.6,)),
    "bunny": Case("bunny", "bunny", times=(0.6,)),
    "shapes-plunger": Case("shapes", "cube", {"shape": "plunger"}, (0.6,)),
    "shapes-octopus": Case("shapes", "cube", {"shape": "octopus"}, (0.6,)),
    "shapes-shop": Case("shapes", "cube", {"shape": "shop"}, (0.6,)),
    "low-friction": Case("low-friction", "cube", times=(0.83, 0.895)),
    "air-tunnel-one": Case("air-tunnel", "cube", {"setup": "one"}, (0.45,)),
    "air-tunnel-both": Case("air-tunnel", "cube", {"setup": "both"}, (0.45,)),
    "air-tunnel-two": Case("air-tunnel", "cube", {"setup": "two"}, (0.45,)),
    "toy": Case(
        "toy", "base", times=(1.6, 1.76), view=View(elevation=14.0, focus=("base", "head", "cup"))
    ),
    "curved-convex": Case("curved", "block", {"surface": "convex"}, (0.6,)),
    "curved-concave": Case("curved", "block", {"surface": "concave"}, (0.6,)),
    "curved-convex-15mm": Case("curved", "block", {"surface": "convex", "radius": "15 mm"}, (0.6,)),
    "curved-concave-30mm": Case(
        "curved", "block", {"surface": "concave", "radius": "30 mm"}, (0.6,)
    ),
    "masses-5kg-one-cup": Case("masses", "cube", {"block_mass": "5 kg", "cups": 1}, (0.6,)),
    "masses-5kg-two-cups": Case("masses", "cube", {"block_mass": "5 kg", "cups": 2}, (0.6,)),
    "cube-halves": Case("cube-halves", "lower", times=(0.6,)),
    "pick-and-place": Case("pick-and-place", "apple", times=(0.6, 3.4, 4.28), view=BOX),
    "tentacle": Case("tentacle", "can", times=(1.0,)),
    "active-a20": Case("active-a20", "cup", {"duration": "2.2 s"}, (0.25, 0.85, 1.8)),
    "active-a30": Case("active-a30", "cup", {"duration": "2.2 s"}, (0.25, 0.85, 1.8)),
    "bellows": Case("bellows", "part", times=(0.2, 0.45, 0.85, 1.75, 2.1)),
    "rope": Case("rope", "light", times=(0.4, 0.8), view=WHOLE),
    "cloth": Case("cloth", "cloth", times=(0.3, 0.6, 1.0), view=WHOLE),
    "jelly": Case("jelly", "bar", times=(0.1, 0.3), view=SERVED),
    "cup-lifts-jelly": Case("cup-lifts-jelly", "jelly", times=(0.5,)),
    "cup-lifts-bag": Case("cup-lifts-bag", "bag", times=(0.5,)),
}


def run(case: Case) -> Recording:
    """The whole run, a frame every so often."""
    scene = registry.load(case.scene, case.changes)
    simulation = scene.simulation()
    every, up = frame_interval(scene.duration, scene.h), up_direction(scene.world.gravity)
    rows, frames = [], [simulation.section_frame("")]
    for report in simulation.run(scene.duration):
        rows.append(flatten(report, up))
        if report.step % every == 0:
            frames.append(simulation.section_frame(""))
    frames.append(simulation.section_frame("end"))
    summary = summarise(
        scene.name, scene.h, rows,
        fem_nodes=simulation.fem_nodes, collision_nodes=simulation.collision_nodes,
    )  # fmt: skip
    return Recording(summary, rows, frames)


def kept(name: str, folder: Path | None) -> Recording:
    """The film of a case, from `folder` if it is there."""
    path = folder / f"{name}.pkl" if folder else None
    if path and path.exists():
        return Recording(*pickle.loads(path.read_bytes()))
    film = run(CASES[name])
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(pickle.dumps((film.summary, film.rows, film.frames)))
    return film


def figures(name: str, film: Recording) -> str:
    """The row of a case in docs/scenes.md."""
    s, body = film.summary, CASES[name].body
    sealed = [row["time"] or 0.0 for row in film.rows if row["cavities"]]
    height = [_lowest(frame, body) for frame in film.frames]
    cells = [
        name,
        f"{sealed[0]:.2f} to {sealed[-1]:.2f} s" if sealed else "never",
        "" if s.min_pressure is None else f"{1e-3 * s.min_pressure:.1f} kPa",
        f"{body}: {_mm(max(height) - height[0])}",
        _mm(height[-1] - height[0]),
        f"{s.converged_steps} of {s.steps}",
        f"{1e6 * s.max_penetration:.2g} µm",
    ]
    return f"| {' | '.join(cells)} |"


def _lowest(frame: SectionFrame, body: str) -> float:
    """[m] height of the lowest point of a body."""
    return next(float(x[:, 2].min()) for name, x, _ in frame.bodies if name == body)


def _mm(length: float) -> str:
    return f"{round(1e3 * length, 1) + 0.0:.1f} mm"  # + 0.0: no minus before a zero


def write_figures(rows: dict[str, str]) -> None:
    """Put rows in the table of docs/scenes.md, in the place of older ones of the same name."""
    before, rest = PAGE.read_text(encoding="utf-8").split(START)
    table, after = rest.split(END)
    head, line, *old = table.strip().splitlines()
    known = {row.split("|")[1].strip(): row for row in old} | rows
    body = [known[name] for name in CASES if name in known]
    PAGE.write_text(
        before + START + "\n".join(["", head, line, *body, ""]) + END + after, encoding="utf-8"
    )


def film_case(name: str, keep: Path | None) -> None:
    """A scene of the papers, as a strip of frames and a row of figures."""
    case, film = CASES[name], kept(name, keep)
    draw_scene(select_frames(film.frames, case.times), IMAGES / f"scene-{name}.png", case.view)
    row = figures(name, film)
    write_figures({name: row})
    print(row, flush=True)


def ground_run(_: Path | None) -> None:
    """What `limpet run ground` and `limpet render` leave, as the tutorial shows it."""
    scene = registry.load("ground")
    with TemporaryDirectory() as folder:
        run = Path(folder) / "ground"
        record_run(scene, scene.simulation(), run, frames=False)
        for plot in ("history", "section"):
            shutil.copy(run / "plots" / f"{plot}.png", IMAGES / f"ground-{plot}.png")
        render_run(run, IMAGES / "ground-still.png")


def mycup_mesh(_: Path | None) -> None:
    """The mesh of the tutorial's own cup."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "mycup.toml"
        file.write_text(_own_cup(), encoding="utf-8")
        scene = registry.load(*registry.read_scene_file(file))
    draw_meshes(scene.world, IMAGES / "mycup-mesh.png")


def _own_cup() -> str:
    """The tutorial's scene file."""
    return TUTORIAL.read_text(encoding="utf-8").split("```toml\n")[1].split("```")[0]


def study(name: str, drawn: str, picture: str) -> Callable[[Path | None], None]:
    """The figure `drawn` of `limpet reproduce NAME` as `picture`."""

    def make(_: Path | None) -> None:
        result = STUDIES[name].run(lambda done, total, text: None)
        result.figures[drawn](IMAGES / picture)

    return make


@dataclass(frozen=True)
class Picture:
    """Something to make: the files in docs/images, how, and the modules that it rests on."""

    files: tuple[str, ...]
    make: Callable[[Path | None], None]
    modules: tuple[str, ...]
    told: tuple[object, ...] = ()

    @property
    def made_by(self) -> str:
        return fingerprint(self.modules, *self.told)


DRAWN = ("limpet.engine.simulation", "limpet.record.picture", "limpet.record.summary")


def pictures() -> dict[str, Picture]:
    """Everything there is, quick ones first."""
    out = {
        "step": Picture(("step.svg",), lambda _: draw_step(IMAGES / "step.svg"), (), (_drawing(),)),
        "packages": Picture(
            ("packages.svg",), lambda _: draw_packages(IMAGES / "packages.svg"), (), (_drawing(),)
        ),
        "mycup-mesh": Picture(
            ("mycup-mesh.png",),
            mycup_mesh,
            ("limpet.scenes.custom", "limpet.record.mesh_files"),
            (_own_cup(),),
        ),
        "ground-run": Picture(
            ("ground-history.png", "ground-section.png", "ground-still.png"),
            ground_run,
            ("limpet.scenes.ground", "limpet.record.run", "limpet.viewer.render"),
        ),
    }
    for name, case in CASES.items():
        module = registry.get(case.scene).module
        out[name] = Picture(
            (f"scene-{name}.png",),
            lambda keep, n=name: film_case(n, keep),
            (module, *DRAWN),
            (case,),
        )  # type: ignore[misc]
    for name, drawn, picture in (
        ("locking", "locking.png", "locking.png"),
        ("fig8", "fig8-active-a20.png", "active-fig8.png"),
        ("curved", "curved.png", "curved.png"),
        ("fig1-c", "fig1-c.png", "fig1-c.png"),
        ("averaging-c", "averaging-c.png", "averaging-c.png"),
        ("sweeps-c", "sweeps-c.png", "sweeps-c.png"),
        ("table3", "table3.png", "table3.png"),  # 13 minutes
    ):
        key = name if name not in out else f"study-{name}"
        out[key] = Picture(
            (picture,), study(name, drawn, picture), (f"limpet.studies.{STUDIES[name].module}",)
        )
    return out


def _drawing() -> str:
    return (Path(__file__).parent / "diagrams.py").read_text(encoding="utf-8")


def up_to_date(name: str, picture: Picture) -> bool:
    """Whether the files are there, and this code made them."""
    there = all((IMAGES / file).is_file() for file in picture.files)
    return there and _made_by().get(name) == picture.made_by


def _made_by() -> dict[str, str]:
    return json.loads(MADE_BY.read_text()) if MADE_BY.is_file() else {}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="see --list")
    parser.add_argument("--all", action="store_true", help="also those that are up to date")
    parser.add_argument("--list", action="store_true", help="names, and whether up to date")
    parser.add_argument("--keep", type=Path, help="folder of films that were run before")
    asked, there = parser.parse_args(), pictures()
    if asked.list:
        for name, picture in there.items():
            print(f"{name:22} {'up to date' if up_to_date(name, picture) else 'to be made'}")
        return
    for name in asked.names or there:
        if name not in there:
            parser.error(f"there is no picture '{name}'; there are {', '.join(there)}")
        if asked.names or asked.all or not up_to_date(name, there[name]):
            print(f"making {', '.join(there[name].files)}", flush=True)
            there[name].make(asked.keep)
            made = {**_made_by(), name: there[name].made_by}
            MADE_BY.write_text(json.dumps(dict(sorted(made.items())), indent=1) + "\n")


if __name__ == "__main__":
    main()
