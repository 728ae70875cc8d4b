"""A gripper that a scene file describes: cups, part, vacuum and moves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from limpet.dynamics.motion import Moves
from limpet.engine.simulation import Simulation
from limpet.errors import LimpetError
from limpet.record.scene_toml import scene_toml
from limpet.scenes.registry import load, read_scene_file

FOUR = """
scene = "gripper"

[part]
size = ["200 mm", "150 mm", "20 mm"]
mass = "1 kg"
leak = "0.5 l/min"

[[cup]]
design = "flat"
diameter = "30 mm"
nodes = 300
at = ["50 mm", "40 mm"]

[[cup]]
design = "flat"
diameter = "30 mm"
nodes = 300
at = ["-50 mm", "-40 mm"]

[vacuum]
source = "ejector"
free_flow = "40 l/min"
end_vacuum = "80 kPa"
flow_check = "15 l/min"

[[motion]]
by = ["0 mm", "0 mm", "100 mm"]
speed = "0.5 m/s"
acceleration = "5 m/s^2"
jerk = "100 m/s^3"
wait = "0.1 s"

[parameters]
push = "0.8 mm"
grip = "0.2 s"
duration = "0.3 s"
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "own.toml"
    path.write_text(text)
    return path


def test_a_file_says_all_of_it(tmp_path: Path) -> None:
    scene = load(*read_scene_file(written(tmp_path, FOUR)))
    world = scene.world
    assert list(world.specs) == ["part", "ground", "cup 1", "cup 2"]
    assert world.specs["part"].mass == 1.0 and world.held_bodies() == ["cup 1", "cup 2"]
    (manifold,) = world.manifolds.values()
    assert float(manifold.source.end_vacuum) == 80e3
    assert all(c.source is manifold for c in world.connections.values())
    assert [type(e).__name__ for e in world.connections["cup 1"].line] == ["FlowCheck", "Hose"]
    exchange = world.air_exchanges["cup 1"]
    assert exchange.conductance * 50e3 == pytest.approx(0.5e-3 / 60 / 0.02405, rel=1e-3)  # mol/s
    _, motion = world.motions["cup 1"]
    assert isinstance(motion, Moves) and motion is world.motions["cup 2"][1]
    np.testing.assert_allclose(motion.offset(99.0), [0.0, 0.0, 0.1 - 0.9e-3], atol=1e-12)


def test_its_record_builds_it_again(tmp_path: Path) -> None:
    scene = load(*read_scene_file(written(tmp_path, FOUR)))
    again = load(*read_scene_file(written(tmp_path, scene_toml(scene))))
    assert again.parameters == scene.parameters


def test_both_cups_seal_and_share_the_vacuum(tmp_path: Path) -> None:
    scene = load(*read_scene_file(written(tmp_path, FOUR)))
    reports = list(scene.simulation().run(scene.duration))
    assert all(r.converged for r in reports) and max(r.air_error for r in reports) < 1e-9
    one, two = (reports[-1].vacuum_sensors[f"cup {i}"] for i in (1, 2))
    assert one.sealed and two.sealed
    assert one.vacuum == pytest.approx(two.vacuum, rel=1e-3) and one.vacuum > 30e3


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[part]", "[pat]", "unknown key 'pat'; did you mean 'part'"),
        ('mass = "1 kg"', "", "part.mass: "),
        ('mass = "1 kg"', "mass = 1", "part.mass = 1: has no unit"),
        ('mass = "1 kg"', 'mass = "1 l"', "part.mass = '1 l': expected a mass"),
        ('size = ["200 mm", "150 mm", "20 mm"]', "", "part: expected either size or mesh"),
        ('design = "flat"', 'design = "flatt"', "did you mean 'flat'"),
        ('source = "ejector"', 'source = "fan"', "source"),
        ('free_flow = "40 l/min"', 'free_flow = "40 m^3/s"', "free_flow"),
        ('speed = "0.5 m/s"', "speed = 0.5", "speed = 0.5: has no unit"),
        ('by = ["0 mm", "0 mm", "100 mm"]', 'by = ["0 mm", "1 mm"]', "by"),
        ("[vacuum]", "[[vacuum]]", "vacuum"),
        ("[[cup]]", "[cup]", "is not TOML"),
    ],
)
def test_what_is_wrong_is_one_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = written(tmp_path, FOUR.replace(old, new))
    with pytest.raises(LimpetError, match=message) as problem:
        load(*read_scene_file(path))
    assert "\n" not in str(problem.value)


def test_the_page_asks_the_same_by_file_and_by_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (Path(__file__).parents[2] / "docs" / "howto" / "hold.md").read_text(encoding="utf-8")
    toml, code = (
        page.split(f"```{kind}\n")[1].split("```")[0].strip().splitlines()
        for kind in ("toml", "python")
    )
    assert len(toml) <= 25 and len([line for line in code if line]) <= 16
    told = load(*read_scene_file(written(tmp_path, "\n".join(toml)))).simulation()
    names: dict[str, object] = {}
    monkeypatch.setattr("limpet.record.any_world.record_run", lambda *a, **k: None)
    exec("\n".join(code), names)
    built = names["simulation"]
    assert isinstance(built, Simulation)
    for one, two in zip(told.run(0.1), built.run(0.1)):
        np.testing.assert_allclose(one.reactions["cup"], two.reactions["cup"], rtol=1e-9, atol=1e-9)
    assert one.vacuum_sensors["cup"].vacuum == pytest.approx(two.vacuum_sensors["cup"].vacuum)
    assert two.vacuum_sensors["cup"].sealed
