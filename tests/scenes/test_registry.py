"""Scenes by name: the list, the nearest name, parameters with units, scene files."""

import importlib
import json
import subprocess
import sys
from types import SimpleNamespace

import pytest

from limpet.errors import LimpetError
from limpet.scenes import registry
from limpet.scenes.registry import SceneParameters, get, load, read_scene_file, scene, scenes
from limpet.units import Length, Positive, Pressure, Time


class ToyParameters(SceneParameters):
    duration: Time = 1.5
    young: Positive[Pressure] = 4e6
    gap: Length | None = None
    rings: int = 3
    stations: tuple[Length, ...] = (0.0,)


@pytest.fixture
def toy(monkeypatch):
    """A scene of the test's own, gone after it."""
    monkeypatch.setattr(registry, "_ADDED", dict(registry._ADDED))
    monkeypatch.setattr(registry, "_RECIPES", dict(registry._RECIPES))

    @scene("toy", ToyParameters, summary="a toy", expect="it seals")
    def build(parameters):
        return SimpleNamespace(gravity=(0.0, 0.0, -9.81), young=parameters.young)

    return build


def test_load_builds_the_world_from_the_resolved_parameters(toy):
    loaded = load("toy", {"young": "2 MPa", "h": "5 ms", "stations": ["1 mm", 0.5]})
    assert loaded.world.young == 2e6
    assert (loaded.h, loaded.duration) == (0.005, 1.5)
    assert loaded.parameters.stations == (0.001, 0.5)
    assert (loaded.name, loaded.summary, loaded.expect) == ("toy", "a toy", "it seals")
    assert "toy" in scenes()


@pytest.mark.parametrize(
    ("overrides", "line"),
    [
        ({"yung": "1"}, "yung: unknown parameter; did you mean 'young'?"),
        ({"young": "0"}, "young = '0': expected a number greater than 0"),
        ({"young": "4 mm"}, "young = '4 mm': expected a pressure (Pa, kPa, MPa, GPa, bar, mbar)"),
        ({"h": "0 s"}, "h = '0 s': expected a time above 0 (s, ms)"),
        ({"duration": -1.0}, "duration = -1.0: expected a time above 0 (s, ms)"),
        ({"duration": "1 ms"}, "duration = 1 ms: expected at least one step, h = 10 ms"),
        ({"rings": "many"}, "rings = 'many': expected a valid integer"),
        ({"stations": [1.0, "x"]}, "stations.1 = 'x': expected a length (m, mm, cm, um, in)"),
    ],
)
def test_a_wrong_parameter_is_one_clear_line(toy, overrides, line):
    with pytest.raises(LimpetError) as caught:
        load("toy", overrides)
    assert str(caught.value).startswith(line)
    assert "\n" not in str(caught.value)


def test_parameters_are_frozen(toy):
    with pytest.raises(ValueError, match="frozen"):
        load("toy").parameters.young = 1.0


def test_units_of_parameters():
    units = {name: registry.unit_of(ToyParameters, name) for name in ToyParameters.model_fields}
    assert units == {
        "h": "s",
        "duration": "s",
        "stride": "",
        "threads": "",
        "sealing_distance": "m",
        "seal": "",
        "reach": "m",
        "roughness": "m",
        "wavelength": "m",
        "seal_boundary": "",
        "cavity_faces": "",
        "cavities": "",
        "young": "Pa",
        "gap": "m",
        "rings": "",
        "stations": "m",
    }


def test_an_unknown_scene_is_answered_with_the_nearest():
    with pytest.raises(LimpetError, match=r"scene 'grond': .* did you mean 'ground'"):
        get("grond")


def test_listing_imports_neither_numba_nor_the_simulation():
    code = (
        "import sys; from limpet.scenes.registry import scenes; assert 'ground' in scenes();"
        "heavy = {'numba', 'scipy', 'matplotlib', 'limpet.engine.simulation'} & set(sys.modules);"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("name", sorted(scenes()))
def test_the_catalogue_agrees_with_what_the_modules_register(name):
    entry = scenes()[name]
    importlib.import_module(entry.module)
    assert registry._RECIPES[name].expect


def test_scene_file(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('scene = "toy"\n[parameters]\nyoung = "2 MPa"\nrings = 4\n')
    assert read_scene_file(path) == ("toy", {"young": "2 MPa", "rings": 4})


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("scene = ", "is not TOML"),
        ("[parameters]\nh = 1", 'expected a line such as scene = "ground"'),
        ('scene = "toy"\nparameters = 3', "parameters = 3: expected a table"),
        (
            'scene = "toy"\n[parameter]\nh = 1',
            "unknown key 'parameter'; did you mean 'parameters'",
        ),
    ],
)
def test_a_wrong_scene_file_is_one_clear_line(tmp_path, text, line):
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(LimpetError) as caught:
        read_scene_file(path)
    assert line in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_scene_file_that_is_not_there(tmp_path):
    with pytest.raises(LimpetError, match="cannot be read"):
        read_scene_file(tmp_path / "none.toml")


def test_the_parameters_of_a_scene_are_listed_with_units():
    lines = registry.parameters_of("ground")
    assert lines["young"].split() == ["4", "MPa", "Young's", "modulus", "of", "the", "cup"]
    assert lines["h"] == "10 ms"
    assert lines["leak"].startswith("0 mol/s")


def test_programs_get_value_unit_text_and_range_of_each_parameter():
    table = registry.parameter_table("ground")
    assert set(table) == set(registry.parameters_of("ground"))
    assert table["sealing_distance"] == {
        "value": 5e-5, "unit": "m", "text": "gaps below this are airtight", "above": 0.0,
    }  # fmt: skip
    assert (table["stride"]["at_least"], table["stride"]["at_most"]) == (1, 1000)
    json.dumps({name: registry.parameter_table(name) for name in registry.scenes()})
