"""Scenes that a file of Python builds."""

from __future__ import annotations

from pathlib import Path

import pytest

import limpet as lp
from limpet.errors import LimpetError
from limpet.record.scene_toml import scene_toml
from limpet.scenes.registry import load, parameters_of, read_scene_file

BUILD = '''"""A ball on a plate.

More words.
"""

import limpet as lp
from neighbour import SIZE
from limpet.units import Mass

duration, h = 0.2, 5e-3


def build(mass: Mass = "50 g", friction: float = 0.3) -> lp.World:
    world = lp.World(friction=friction)
    world.add_rigid(lp.shapes.box(SIZE, SIZE, SIZE), mass, name="box")
    return world


if __name__ == "__main__":
    raise SystemExit("not reached")
'''


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "neighbour.py").write_text("SIZE = 0.02\n")
    path = tmp_path / "falling.py"
    path.write_text(BUILD)
    return path


def mass_of(world: lp.World) -> float:
    return world.specs["box"].mass


def test_arguments_of_build_are_parameters(file: Path) -> None:
    scene = load(str(file), {"mass": "0.2 kg"})
    assert (scene.name, scene.summary, scene.h, scene.duration) == (
        "falling", "A ball on a plate.", 5e-3, 0.2,
    )  # fmt: skip
    assert mass_of(scene.world) == pytest.approx(0.2)
    assert mass_of(load(str(file)).world) == pytest.approx(0.05)
    assert parameters_of(str(file))["mass"].startswith("50 g")
    assert scene.simulation().h == 5e-3
    with pytest.raises(LimpetError, match="mas: unknown parameter; did you mean 'mass'"):
        load(str(file), {"mas": 1.0})


def test_its_record_builds_it_again(file: Path, tmp_path: Path) -> None:
    scene = load(str(file), {"mass": 0.3, "h": "2 ms"})
    (tmp_path / "again.toml").write_text(scene_toml(scene))
    name, parameters = read_scene_file(tmp_path / "again.toml")
    again = load(name, parameters)
    assert mass_of(again.world) == pytest.approx(0.3)
    assert (again.h, again.parameters) == (2e-3, scene.parameters)


def test_a_scene_file_names_it_beside_itself(file: Path, tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text('scene = "falling.py"\n[parameters]\nmass = "70 g"\n')
    scene = load(*read_scene_file(tmp_path / "own.toml"))
    assert mass_of(scene.world) == pytest.approx(0.07)
    (tmp_path / "bare.toml").write_text('scene = "falling.py"\n[parameters]\nmass = 70\n')
    with pytest.raises(LimpetError, match="mass = 70: has no unit"):
        read_scene_file(tmp_path / "bare.toml")


@pytest.mark.parametrize("name", ["world", "simulation"])
def test_it_may_hold_what_it_builds(tmp_path: Path, name: str) -> None:
    path = tmp_path / f"{name}.py"
    path.write_text(
        "import limpet as lp\nworld = lp.World()\n"
        "world.add_rigid(lp.shapes.box(0.1, 0.1, 0.1), 1.0, name='box')\n"
        + "simulation = lp.Simulation(world, 3e-3, lp.Settings(sealing_distance=7e-5))\n"
        * (name == "simulation")
    )
    scene = load(str(path))
    own = name == "simulation"
    assert (scene.h, scene.duration) == (3e-3 if own else 0.01, 1.0)
    assert scene.simulation().settings.sealing_distance == (7e-5 if own else 5e-5)
    assert load(str(path), {"h": 1e-3}).simulation().h == 1e-3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1", "expected a World called world, a Simulation called simulation, or a function"),
        ("world = 3", "world is an int; expected a World or a Simulation"),
        ("build = 3", "build is 3; expected a function"),
        ("def build(): return None", r"build\(\) is a NoneType; expected a World"),
        ("def build(a): pass", r"argument a of build\(\) has no default"),
        ("def build(h=1): pass", r"argument h of build\(\) is the run's"),
        ("def build(a=len): pass", r"arguments of build\(\) must be numbers, strings"),
        ("\nworld = (", "line 2: '\\(' was never closed"),
        ("\n\nworld = 1 / 0", "line 3: ZeroDivisionError: division by zero"),
        ("import limpet as lp\nworld = lp.World(friction='high')", "line 2: friction = 'high': "),
        ("def build(x=2.0):\n    return 1 / (x - 2.0)", "line 2: ZeroDivisionError"),
        ("duration = 'soon'\ndef build(): pass", "duration = 'soon': expected a time"),
    ],
)
def test_a_file_that_is_wrong_is_told_of_in_one_line(
    tmp_path: Path, text: str, message: str
) -> None:
    path = tmp_path / "wrong.py"
    path.write_text(text)
    with pytest.raises(LimpetError, match=message) as problem:
        load(str(path))
    assert "\n" not in str(problem.value)


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(LimpetError, match=r"scene 'none\.py': there is no such file"):
        load("none.py")
