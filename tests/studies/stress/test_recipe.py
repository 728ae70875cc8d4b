"""Worlds as data: the same for a seed, turned, mirrored, shrunk and printed."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

import limpet as lp
from limpet.geometry.surface import volume
from limpet.studies.stress.compare import SAME, differences, mirror, random_turn
from limpet.studies.stress.invariants import Finding
from limpet.studies.stress.mirror import mirrored_shape
from limpet.studies.stress.recipe import Call, Part, Recipe, build, transformed
from limpet.studies.stress.recipe import Path as Way
from limpet.studies.stress.script import as_script
from limpet.studies.stress.shrink import shrink, simpler
from limpet.studies.stress.trace import run
from limpet.studies.stress.worlds import SMALL, world_of

CUP = Part(
    "cup",
    Call("shapes.cup", {"element": "hex8", "sectors": 16, "segments": 4}),
    0.01,
    Call("Material", {"young": 4e6, "poisson": 0.3}),
    position=(0.0, 0.0, 2e-5),
    motion=Way(((0.0, (0.0, 0.0, 0.0)), (0.04, (0.0, 0.0, -1e-3)))),
    region="top",
)
PLATE = Part(
    "box", Call("shapes.box", {"length": 0.1, "width": 0.1, "height": 0.01}), 1.0, fixed=True
)
PRESS = Recipe((PLATE, CUP), 0.01, 4)


def test_the_world_of_a_seed_is_always_the_same() -> None:
    assert world_of(7, SMALL) == world_of(7, SMALL)
    assert world_of(7, SMALL).recipe != world_of(8, SMALL).recipe


def test_turned_and_mirrored_worlds_have_the_same_forces() -> None:
    base = run(PRESS)
    rng = np.random.default_rng(1)
    for turn in (random_turn(rng), mirror(rng)):
        other = run(transformed(PRESS, turn, np.zeros(3)))
        assert np.abs(base.steps[-1].forces).max() > 0.1
        assert differences(base, other, turn).max() < SAME


def test_mirror_image_twice_is_the_shape_itself() -> None:
    for element in ("hex8", "hex20", "tet4", "tet10"):
        shape = lp.shapes.cup(element=element, sectors=8, segments=3)
        image = mirrored_shape(shape)
        assert isinstance(image, lp.shapes.SoftShape)
        inside = volume(image.collision.positions(image.points), image.collision.triangles)
        assert inside > 0.0
        again = mirrored_shape(image)
        assert isinstance(again, lp.shapes.SoftShape)
        np.testing.assert_array_equal(again.points, shape.points)
        for kind, cells in shape.cells.items():
            np.testing.assert_array_equal(again.cells[kind], cells)
        world = lp.World()
        world.add_soft(image, lp.Material(1e6, 0.3), 0.01)
        lp.Simulation(world).step()  # cells that were inside out would be refused


def test_shrinking_keeps_what_fails() -> None:
    line = {"source": Call("Regulator", {"vacuum": 1e4})}
    large = replace(PRESS, steps=64, leak=1e-6, friction=1.0).with_part(replace(CUP, line=line))
    small = shrink(large, lambda r: r.steps >= 3 and bool(r.part("cup").line), seconds=10.0)
    assert small.steps == 3
    assert small.part("cup").line == line
    assert (small.leak, small.friction, small.gravity) == (0.0, 0.0, (0.0, 0.0, 0.0))
    assert [p.name for p in small.parts] == ["cup"]
    assert all(r != small for r in simpler(small))


def test_script_runs_by_itself(tmp_path: Path) -> None:
    turn = mirror(np.random.default_rng(2))
    text = as_script(PRESS, Finding("mirrored", 1, 1.0, "for a test"), 0, turn)
    file = tmp_path / "case.py"
    file.write_text(text)
    done = subprocess.run([sys.executable, file], capture_output=True, text=True, check=True)
    assert done.stdout.count("converged") == PRESS.steps
    assert done.stdout.count(" N\n") == PRESS.steps


def test_script_builds_the_same_world() -> None:
    recipe = world_of(23, SMALL).recipe
    text = as_script(recipe, Finding("air", 1, 1.0, "for a test"), 23).split("\nsim = build()")[0]
    names: dict[str, object] = {}
    exec(text, names)  # the script up to its loop
    sim = names["build"]()  # type: ignore[operator]
    mine = build(recipe)
    np.testing.assert_array_equal(sim.snapshot().positions, mine.snapshot().positions)
    assert sim.h == mine.h
    assert sim.settings == mine.settings
