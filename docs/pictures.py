"""Runs the scenes of P and draws each into docs/images: make pictures.

    python docs/pictures.py                     all of them, some ten minutes
    python docs/pictures.py ground toy          these only
    python docs/pictures.py --keep /tmp/films   keeps what was run there, and uses what is there

The figures of each run go into the table of docs/scenes.md, and are printed.
"""

from __future__ import annotations

import argparse
import pickle
from dataclasses import dataclass, field
from pathlib import Path

from limpet.record.history import Row, flatten, up_direction
from limpet.record.picture import View, draw_scene, moments
from limpet.record.run_folder import film_step
from limpet.record.summary import Summary, summarise
from limpet.report import SectionFrame
from limpet.scenes import registry

IMAGES = Path(__file__).parent / "images"
PAGE = Path(__file__).parent / "scenes.md"
START, END = "<!-- figures, written by docs/pictures.py -->", "<!-- end of the figures -->"


@dataclass(frozen=True)
class Case:
    """A scene as it is run and looked at."""

    scene: str
    body: str  # whose rise is told
    changes: dict[str, object] = field(default_factory=dict)
    times: tuple[float, ...] = ()  # [s] shown besides the moments chosen by rule
    view: View = field(default_factory=View)


@dataclass(frozen=True)
class Film:
    """What a run left."""

    summary: Summary
    rows: list[Row]
    frames: list[SectionFrame]


BOX = View(-75.0, 25.0, focus=("box", "apple", "cup"))
CASES = {
    "ground": Case("ground", "cup", times=(0.6,)),
    "lift": Case("lift", "block", times=(0.6,)),
    "soft-cube": Case("soft-cube", "cube", times=(0.6,)),
    "bunny": Case("bunny", "bunny", times=(0.6,)),
    "shapes-plunger": Case("shapes", "cube", {"shape": "plunger"}, (0.6,)),
    "shapes-octopus": Case("shapes", "cube", {"shape": "octopus"}, (0.6,)),
    "shapes-shop": Case("shapes", "cube", {"shape": "shop"}, (0.6,)),
    # Along the diagonal, as it slides to a corner.
    "low-friction": Case("low-friction", "cube", times=(0.8, 0.875), view=View(-30.0, 15.0, -45.0)),
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
    "pick-and-place": Case("pick-and-place", "apple", times=(0.6, 3.0, 4.8), view=BOX),
    "tentacle": Case("tentacle", "can", times=(1.0,)),
    "active-a20": Case("active-a20", "cup", {"duration": "2.2 s"}, (0.25, 0.85, 1.8)),
    "active-a30": Case("active-a30", "cup", {"duration": "2.2 s"}, (0.25, 0.85, 1.8)),
}


def run(case: Case) -> Film:
    """The whole run, a frame every so often."""
    scene = registry.load(case.scene, case.changes)
    simulation = scene.simulation()
    every, up = film_step(scene.duration, scene.h), up_direction(scene.world.gravity)
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
    return Film(summary, rows, frames)


def kept(name: str, folder: Path | None) -> Film:
    """The film of a case, from `folder` if it is there."""
    path = folder / f"{name}.pkl" if folder else None
    if path and path.exists():
        return Film(*pickle.loads(path.read_bytes()))
    film = run(CASES[name])
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(pickle.dumps((film.summary, film.rows, film.frames)))
    return film


def figures(name: str, film: Film) -> str:
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


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(CASES))
    parser.add_argument("--keep", type=Path, help="folder of films that were run before")
    asked = parser.parse_args()
    for name in asked.names or CASES:
        if name not in CASES:
            parser.error(f"there is no picture '{name}'; there are {', '.join(CASES)}")
        case, film = CASES[name], kept(name, asked.keep)
        shown = moments(film.frames, case.times)
        draw_scene(shown, IMAGES / f"scene-{name}.png", case.view)
        row = figures(name, film)
        write_figures({name: row})
        print(row, flush=True)


if __name__ == "__main__":
    main()
