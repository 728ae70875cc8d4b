"""Runs the scenes of P and draws each into docs/images: make pictures.

    python docs/pictures.py                     all of them, some ten minutes
    python docs/pictures.py ground toy          these only
    python docs/pictures.py --keep /tmp/films   keeps what was run there, and uses what is there

Prints a line of figures for each: docs/scenes.md quotes them.
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


@dataclass(frozen=True)
class Case:
    """A scene as it is run and looked at."""

    scene: str
    changes: dict[str, object] = field(default_factory=dict)
    times: tuple[float, ...] = ()  # [s] shown besides the moments chosen by rule
    view: View = field(default_factory=View)


@dataclass(frozen=True)
class Film:
    """What a run left."""

    summary: Summary
    rows: list[Row]
    frames: list[SectionFrame]


CASES = {
    "ground": Case("ground", times=(0.6,)),
    "lift": Case("lift", times=(0.6,)),
    "soft-cube": Case("soft-cube", times=(0.6,)),
    "bunny": Case("bunny", times=(0.6,)),
    "shapes-plunger": Case("shapes", {"shape": "plunger"}, (0.6,)),
    "shapes-octopus": Case("shapes", {"shape": "octopus"}, (0.6,)),
    "shapes-shop": Case("shapes", {"shape": "shop"}, (0.6,)),
    # Along the diagonal, as it slides to a corner.
    "low-friction": Case("low-friction", times=(0.8, 0.875), view=View(-30.0, 15.0, -45.0)),
    "air-tunnel-one": Case("air-tunnel", {"setup": "one"}, (0.45,)),
    "air-tunnel-both": Case("air-tunnel", {"setup": "both"}, (0.45,)),
    "air-tunnel-two": Case("air-tunnel", {"setup": "two"}, (0.45,)),
    "toy": Case("toy", times=(1.6, 1.76), view=View(elevation=14.0, focus=("base", "head", "cup"))),
    "curved-convex": Case("curved", {"surface": "convex"}, (0.6,)),
    "curved-concave": Case("curved", {"surface": "concave"}, (0.6,)),
    "masses-5kg-one-cup": Case("masses", {"block_mass": "5 kg", "cups": 1}, (0.6,)),
    "masses-5kg-two-cups": Case("masses", {"block_mass": "5 kg", "cups": 2}, (0.6,)),
    "cube-halves": Case("cube-halves", times=(0.6,)),
    "pick-and-place": Case("pick-and-place", times=(0.6, 2.3, 4.0)),
    "tentacle": Case("tentacle", times=(1.0,)),
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


def figures(film: Film) -> str:
    """What docs/scenes.md quotes."""
    s = film.summary
    lowest = "no air trapped" if s.min_pressure is None else f"{1e-3 * s.min_pressure:.1f} kPa"
    sealed = [row for row in film.rows if row["cavities"]]
    parts = [
        f"{s.converged_steps} of {s.steps} steps converged", f"lowest {lowest}",
        f"penetration {1e6 * s.max_penetration:.1f} um", f"{s.ms_per_step:.0f} ms a step",
    ]  # fmt: skip
    if sealed:
        parts.append(f"air trapped {sealed[0]['time']:.3f} to {sealed[-1]['time']:.3f} s")
        parts.append(f"at most {max(row['cavities'] or 0 for row in sealed)} cavities")
    if s.peak_pull_force is not None:
        parts.append(f"peak {s.peak_pull_force:.2f} N at {s.peak_time:.3f} s")
    if s.release_time is not None:
        parts.append(f"release {s.release_time:.3f} s")
    for key, span in s.watched.items():
        start = film.rows[0][key]
        parts.append(f"{key} {start:.4f}: {span.least:.4f} to {span.most:.4f}, {span.last:.4f}")
    return "; ".join(parts)


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
        print(f"{name}: {figures(film)}", flush=True)


if __name__ == "__main__":
    main()
