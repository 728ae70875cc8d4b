"""Scene files: own cups, includes, units, paths; and own bodies in scenes."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from limpet.errors import LimpetError, Notice
from limpet.meshing.export import save_mesh
from limpet.record.run import record_run
from limpet.record.scene_toml import scene_toml
from limpet.scenes.registry import load, read_scene_file
from limpet.shapes.boxes import box
from limpet.shapes.cups import cup

LINES = """
inner = [["0 mm", "4.5 mm"], ["6 mm", "4 mm"], ["12 mm", "2.4 mm"], ["17.5 mm", "0 mm"]]
thickness = ["6 mm", "3 mm", "1.3 mm", "0.7 mm"]
handle = "5 mm"
"""


def write(folder, text, name="mycup.toml"):
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


def scene_of(path):
    return load(*read_scene_file(path))


def cup_of(scene):
    return scene.world.specs["cup"].shape


@pytest.mark.parametrize("name", ["ground", "lift", "masses"])
def test_a_cup_from_lines_in_a_scene(tmp_path, name):
    shape = cup_of(scene_of(write(tmp_path, f'scene = "{name}"\n[cup]{LINES}')))
    x = shape.points
    assert np.hypot(x[:, 0], x[:, 1]).max() == pytest.approx(0.0178, abs=3e-4)
    assert x[:, 2].max() - x[:, 2].min() == pytest.approx(10.5e-3, abs=1e-5)


def test_a_cup_by_numbers(tmp_path):
    text = 'scene = "ground"\n[cup]\nradius = "20 mm"\nnodes = 600\n'
    shape = cup_of(scene_of(write(tmp_path, text)))
    x = shape.points
    assert np.hypot(x[:, 0], x[:, 1]).max() == pytest.approx(0.020, abs=4e-4)
    assert np.ptp(x[:, 2]) == pytest.approx(0.015, abs=1e-6)  # as the standard one
    assert len(x) == pytest.approx(600, rel=0.2)


def test_an_own_cup_seals_and_holds_and_its_mesh_is_drawn(tmp_path):
    text = f"""
scene = "ground"
[parameters]
duration = "0.9 s"
push_time = "0.3 s"
hold = "0.1 s"
h = "20 ms"
speed = "10 mm/s"
[cup]{LINES}"""
    scene = scene_of(write(tmp_path, text))
    summary = record_run(scene, scene.simulation(), tmp_path / "run")
    assert summary.ended == "finished"
    assert summary.converged_steps == summary.steps
    assert summary.peak_pull_force > 10.0
    assert summary.min_pressure < 60e3
    assert (tmp_path / "run" / "plots" / "mesh.png").stat().st_size > 10_000
    again = scene_of(tmp_path / "run" / "scene.toml")
    assert again.parameters == scene.parameters


def test_a_cup_from_a_file_beside_the_scene_file(tmp_path, monkeypatch):
    (tmp_path / "sub").mkdir()
    save_mesh(cup("standard", sectors=24, segments=12), tmp_path / "sub" / "a.stl", "mm")
    text = 'scene = "ground"\n[cup]\nmesh = "a.stl"\nunit = "mm"\nnodes = 500\n'
    path = write(tmp_path, text, "sub/mycup.toml")
    monkeypatch.chdir(tmp_path)  # not where the mesh is
    with pytest.warns(Notice, match="is a body of revolution"):
        assert set(cup_of(scene_of(path)).cells) == {"wedge15", "hex20"}
    scene = scene_of(write(tmp_path, f"{text}revolve = false\n", "sub/tets.toml"))
    shape = cup_of(scene)
    assert set(shape.cells) == {"tet10"}
    assert len(shape.points) == pytest.approx(500, rel=0.15)
    assert str(tmp_path / "sub" / "a.stl") in scene_toml(scene)


def test_a_block_from_a_file(tmp_path):
    save_mesh(box(0.05, 0.07, 0.02), tmp_path / "part.stl", "mm")
    text = '[parameters]\nblock_mesh = "part.stl"\nblock_unit = "mm"\n'
    for name in ("ground", "lift"):
        world = scene_of(write(tmp_path, f'scene = "{name}"\n{text}')).world
        x = world.specs["block"].shape.points
        assert np.ptp(x, axis=0) == pytest.approx([0.05, 0.07, 0.02])
        assert x[:, 2].max() == pytest.approx(0.0, abs=1e-9)
    assert world.specs["ground"].shape.points[:, 2].max() == pytest.approx(-0.02)
    with pytest.raises(LimpetError, match="block_mesh: unknown parameter"):
        load("masses", {"block_mesh": "part.stl"})


def test_includes_are_below_what_includes_them(tmp_path):
    write(tmp_path, '[parameters]\nyoung = "1 MPa"\nfriction = 0.3\npush = "2 mm"', "rubber.toml")
    write(tmp_path, f"[cup]{LINES}", "lines.toml")
    text = 'include = ["rubber.toml", "lines.toml"]\nscene = "lift"\n[parameters]\npush = "4 mm"\n'
    name, parameters = read_scene_file(write(tmp_path, text, "main.toml"))
    assert name == "lift"
    assert parameters["push"] == "4 mm"
    assert parameters["young"] == "1 MPa"
    assert parameters["cup"]["handle"] == "5 mm"
    write(tmp_path, 'include = "main.toml"\n[cup]\nhandle = "4 mm"\n', "other.toml")
    _, parameters = read_scene_file(tmp_path / "other.toml")
    assert parameters["cup"]["handle"] == "4 mm"
    assert len(parameters["cup"]["inner"]) == 4


def test_a_mesh_named_by_an_included_file_is_beside_that_file(tmp_path):
    (tmp_path / "cups").mkdir()
    write(tmp_path, '[cup]\nmesh = "a.stl"\nunit = "mm"\n', "cups/a.toml")
    path = write(tmp_path, 'include = "cups/a.toml"\nscene = "ground"\n')
    assert read_scene_file(path)[1]["cup"]["mesh"] == str(tmp_path / "cups" / "a.stl")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[cup]\n", "cup: is empty; expected mesh, section, inner, or dimensions such as radius"),
        ('[cup]\nmesh = "a.stl"\nradius = "1 mm"', "cup.radius: not valid for a cup by mesh"),
        (
            '[cup]\ninner = [["0 mm", "1 mm"]]',
            "cup.inner: expected either cup.thickness or cup.outer",
        ),
        ('[cup]\nlike = "standart"', "cup.like = 'standart'; did you mean 'standard'"),
        ('[cup]\nraduis = "1 mm"', "cup.raduis: unknown parameter; did you mean 'cup.rad"),
        ('[cup]\nradius = "1 kg"', "cup.radius = '1 kg': expected a length"),
        ("[cup]\nradius = 20", r"cup.radius = 20: has no unit; .* \"20 mm\""),
        ('[cup]\ninner = [[0, "4 mm"], [6, "4 mm"]]', "cup.inner = 6: has no unit"),
        ('[cup]\nmesh = "a.stl"\nunit = "km"', "cup.unit = 'km': expected 'mm', 'cm', 'm' or 'in'"),
        ("[parameters]\nyoung = 4e6", "young = 4000000.0: has no unit"),
        ('[parameters]\nprofile = "neoprene"\n[cup]\nradius = "2 cm"', "remove one of them"),
        ('[parameters]\nblock_unit = "mm"', "there is no block_mesh"),
        ("cup = 3", "cup = 3: expected a table"),
        ("include = 3", "include = 3: expected a file name or a list"),
        ('include = "none.toml"', "none.toml': cannot be read"),
        ('incl = "a"', "unknown key 'incl'; did you mean 'include'"),
        ("a = " + "[" * 5000, "nested too deeply|is not TOML"),
    ],
)
def test_wrong_scene_files_are_one_clear_line(tmp_path, text, says):
    with pytest.raises(LimpetError, match=says) as caught:
        scene_of(write(tmp_path, f'scene = "ground"\n{text}'))
    assert "\n" not in str(caught.value)


SECTION = """
[cup]
section = [["0 mm", "4 mm"], ["15 mm", 0], {r = "15 mm", z = "1 mm", edge = "side"},
           {r = "5 mm", z = "6 mm", fillet = "1 mm", edge = "held"}, ["0 mm", "6 mm"]]
[[cup.parts]]
name = "hard"
stiffness = 20
outline = [["0 mm", "5 mm"], ["3 mm", "5 mm"], ["3 mm", "6 mm"], ["0 mm", "6 mm"]]
"""


def test_a_section_survives_the_scene_file_of_a_run(tmp_path):
    made = scene_of(write(tmp_path, f'scene = "ground"\n{SECTION}'))
    again = scene_of(write(tmp_path, scene_toml(made), "again.toml"))
    assert again.parameters == made.parameters
    shape = made.parameters.cup.shape(434, None, None, None)
    assert {"hard", "side", "held", "lip"} <= set(shape.regions)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('["15 mm", 0]', "[15, 0]", r"cup.section\[2\] = 15: has no unit"),
        ('fillet = "1 mm"', "fillet = 1", r"cup.section\[4\].fillet = 1: has no unit"),
        ('["3 mm", "5 mm"]', "[3, 5]", r"cup.parts\[1\].outline\[2\] = 3: has no unit"),
        ('["15 mm", 0]', '["15 mm"]', "expected .r, z., or a table"),
        ("stiffness", "stifness", "stifness"),
        ("[cup]", '[cup]\nradius = "2 cm"', "cup.radius: not valid for a cup by section"),
    ],
)
def test_wrong_sections_are_one_clear_line(tmp_path, old, new, says):
    with pytest.raises(LimpetError, match=says) as caught:
        scene_of(write(tmp_path, f'scene = "ground"\n{SECTION.replace(old, new, 1)}'))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["shapes", "curved"])
def test_scenes_with_a_cup_of_their_own_take_none(tmp_path, name):
    with pytest.raises(LimpetError, match="not valid here; only the scenes ground and lift take"):
        scene_of(write(tmp_path, f'scene = "{name}"\n[cup]\nradius = "2 cm"'))


def test_the_files_of_the_manual_can_be_run(tmp_path):
    page = (Path(__file__).parents[2] / "docs" / "scene-files.md").read_text(encoding="utf-8")
    files = re.findall(r"```toml\n# (\S+)\n(.*?)```", page, re.DOTALL)
    assert len(files) == page.count("```toml") >= 6
    save_mesh(cup("standard", sectors=24, segments=12), tmp_path / "mycup.stl", "mm")
    save_mesh(box(0.05, 0.07, 0.02), tmp_path / "part.stl", "mm")
    for name, text in files:
        write(tmp_path, text, name)
    for name, _ in files:
        assert "cup" in scene_of(tmp_path / name).world.specs


def test_a_rubber_that_stiffens_by_its_constants(tmp_path):
    path = write(
        tmp_path,
        'scene = "cantilever"\n[parameters]\nyoung = "1 MPa"\nlaw = "mooney-rivlin"\n'
        'c01 = "30 kPa"\nc20 = "-2 kPa"\nc30 = "1 kPa"\n',
    )
    (soft,) = scene_of(path).world.specs.values()
    assert soft.material.constants[1:] == (3e4, -2e3, 1e3)
    assert soft.material.young == 1e6
    path = write(tmp_path, 'scene = "cantilever"\n[parameters]\nlaw = "mooney-rivlin"\n')
    with pytest.raises(LimpetError, match="expected c01, c20 or c30"):
        scene_of(path)
