"""Faulty files give one clear line and status 2, and leave nothing behind; limpet check."""

from __future__ import annotations

import json
import struct
import subprocess
import sys

import meshio
import numpy as np
import pytest

from limpet.cli.commands import app, main
from limpet.meshing.export import save_mesh
from limpet.meshing.files import MOST_BYTES, MOST_TRIANGLES
from limpet.shapes.boxes import box

BLOCK = box(0.03, 0.04, 0.05, (2, 2, 2))
CUP = 'scene = "ground"\n[cup]\nmesh = "{}"\nunit = "mm"\n'


@pytest.fixture
def limpet(tmp_path, monkeypatch, capfd):
    """Run the program in this process: status, standard output, standard error."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["limpet", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code or 0, *capfd.readouterr()

    return run


def typo(folder):
    (folder / "a.toml").write_text('scene = "ground"\n[parameters]\nyuong = "4 MPa"\n')
    return ["yuong: unknown parameter", "did you mean 'young'?"]


def bare_number(folder):
    (folder / "a.toml").write_text('scene = "ground"\n[parameters]\npush = 3\n')
    return ["push = 3: has no unit", "expected a length", '"3 mm"']


def wrong_unit(folder):
    (folder / "a.toml").write_text('scene = "ground"\n[parameters]\nyoung = "4 mm"\n')
    return ["young = '4 mm'", "expected a pressure (Pa, kPa"]


def open_mesh(folder):
    triangles = BLOCK.triangles[1:]
    meshio.write_points_cells(folder / "cup.stl", 1e3 * BLOCK.points, [("triangle", triangles)])
    (folder / "a.toml").write_text(CUP.format("cup.stl"))
    return ["cup.stl' is open: 3 edges have one triangle only", "close the holes"]


def missing_file(folder):
    (folder / "a.toml").write_text(CUP.format("cup.stl"))
    return ["cup.stl': there is no such file"]


def huge(folder):
    """A binary STL of ten million triangles: a hole in the disk, told before it is read."""
    count = 10_000_000
    with (folder / "cup.stl").open("wb") as file:
        file.write(bytes(80) + struct.pack("<I", count))
        file.truncate(84 + 50 * count)
    (folder / "a.toml").write_text(CUP.format("cup.stl"))
    return ["cup.stl' has 500 MB: expected 100 MB or less", "decimate"]


def empty(folder):
    (folder / "a.toml").write_text("")
    return ['a.toml\': expected a line such as scene = "ground"']


def binary_noise(folder):
    (folder / "a.toml").write_bytes(np.random.default_rng(0).bytes(5000))
    return ["a.toml': is not TOML"]


def cyclic_include(folder):
    (folder / "a.toml").write_text('include = "b.toml"\nscene = "ground"\n')
    (folder / "b.toml").write_text('include = "a.toml"\n')
    return ["circular include", "'a.toml' -> 'b.toml' -> 'a.toml'"]


def not_a_number(folder):
    (folder / "a.toml").write_text('scene = "ground"\n[parameters]\nyoung = nan\n')
    return ["young = nan", "expected a pressure", "a finite value"]


def noise_for_a_mesh(folder):
    (folder / "cup.stl").write_bytes(np.random.default_rng(1).bytes(5000))
    (folder / "a.toml").write_text(CUP.format("cup.stl"))
    return ["cup.stl': not a valid STL file: it has 5000 bytes", "export it again"]


def nan_in_a_mesh(folder):
    points = 1e3 * BLOCK.points
    points[0, 0] = np.nan
    meshio.write_points_cells(folder / "cup.ply", points, [("triangle", BLOCK.triangles)])
    (folder / "a.toml").write_text(CUP.format("cup.ply"))
    return ["cup.ply': expected points of three finite coordinates"]


def too_many_triangles(folder):
    count = MOST_TRIANGLES + 1
    with (folder / "cup.stl").open("wb") as file:
        file.write(bytes(80) + struct.pack("<I", count))
        file.truncate(84 + 50 * count)
    assert (folder / "cup.stl").stat().st_size < MOST_BYTES
    (folder / "a.toml").write_text(CUP.format("cup.stl"))
    return [f"cup.stl' has {count} triangles: expected {MOST_TRIANGLES} or fewer", "decimate"]


def huge_scene_file(folder):
    (folder / "a.toml").write_text("# long\n" * 200_000)
    return ["a.toml' has 1.4 MB: expected 1 MB or less"]


def number_of_400_digits(folder):
    (folder / "a.toml").write_text(f'scene = "ground"\n[parameters]\nyoung = {"1" * 400}\n')
    return ["young = 111", "...111", "expected a pressure", "a finite value up to 1e+30"]


def number_of_5000_digits(folder):
    (folder / "a.toml").write_text(f'scene = "ground"\n[parameters]\nyoung = {"1" * 5000}\n')
    return ["a.toml': has a number with too many digits"]


def huge_number(folder):
    (folder / "a.toml").write_text('scene = "ground"\n[parameters]\nfriction = 1e308\n')
    return ["friction = 1e+308: expected a number up to 1e+30"]


def too_many_steps(folder):
    (folder / "a.toml").write_text('scene = "ground"\n[parameters]\nh = "1e-300 s"\n')
    return ["h = 1e-297 ms: expected at most 1e+09 steps"]


def too_many_cells(folder):
    text = 'scene = "ground"\n[parameters]\nsectors = 99999999\nsegments = 3\n'
    (folder / "a.toml").write_text(text)
    return ["sectors = 99999999", "expected up to 400 sectors"]


def line_breaks_in_names(folder):
    (folder / "a.toml").write_text('scene = "a\\nb\\u001b[31m"\n')
    return [r"scene 'a\nb\x1b[31m': unknown scene"]


def nested_deeply(folder):
    (folder / "a.toml").write_text('scene = "ground"\n[parameters]\nyoung = ' + "[" * 5000)
    return ["a.toml': is nested too deeply"]


def zero_byte_in_a_name(folder):
    (folder / "a.toml").write_text('include = "b\\u0000.toml"\nscene = "ground"\n')
    return [r"b\x00.toml': a file name has no zero bytes"]


def name_of_5000_characters(folder):
    (folder / "a.toml").write_text(CUP.format("b" * 5000))
    return ["mesh file", "there is no such file"]


def four_bytes_of_ply(folder):
    (folder / "cup.ply").write_bytes(b"ply\n")
    (folder / "a.toml").write_text(CUP.format("cup.ply"))
    return ["cup.ply': cannot be read (expected a header from 'ply' to 'end_header')"]


@pytest.mark.parametrize(
    "make",
    [
        typo, bare_number, wrong_unit, open_mesh, missing_file, huge, empty, binary_noise,
        cyclic_include, not_a_number, noise_for_a_mesh, nan_in_a_mesh, too_many_triangles,
        huge_scene_file, number_of_400_digits, number_of_5000_digits, huge_number, too_many_steps,
        too_many_cells, line_breaks_in_names, nested_deeply, zero_byte_in_a_name,
        name_of_5000_characters, four_bytes_of_ply,
    ],
    ids=lambda make: make.__name__,
)  # fmt: skip
def test_a_faulty_file_is_one_clear_line_and_status_2(limpet, tmp_path, make):
    pieces = make(tmp_path)
    before = set(tmp_path.rglob("*"))
    status, out, err = limpet("run", "a.toml")
    assert (status, out) == (2, "")
    assert err.startswith("limpet: ") and err.count("\n") == 1, err
    for piece in pieces:
        assert piece in err
    assert set(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    "value", ["1" * 400, "9" * 5000, "[" + "1" * 5000 + "]", "[" * 3000, "nan"]
)
def test_settings_that_no_number_can_hold(limpet, value):
    status, out, err = limpet("run", "ground", "--set", f"young={value}")
    assert (status, out) == (2, "")
    assert err.startswith("limpet: ") and err.count("\n") == 1 and len(err) < 500


def test_a_mesh_is_no_scene(limpet, tmp_path):
    save_mesh(BLOCK, tmp_path / "cup.stl", "mm")
    status, _, err = limpet("run", "cup.stl")
    assert status == 2
    assert "is not a scene file (.toml, .py)" in err


def test_check_of_a_sound_mesh(limpet, tmp_path):
    save_mesh(BLOCK, tmp_path / "block.stl", "mm")
    status, out, err = limpet("check", "block.stl", "--unit", "mm")
    assert (status, err) == (0, "")
    assert "30 x 40 x 50 mm = 0.03 x 0.04 x 0.05 m" in out
    assert "no fault found" in out
    status, out, _ = limpet("check", "block.stl", "--unit", "mm", "--json")
    report = json.loads(out)
    assert (status, report["faults"], report["parts"]) == (0, [], 1)
    assert report["volume"] == pytest.approx(60_000.0)


def test_check_names_the_faults_and_their_fixes(limpet, tmp_path):
    triangles = BLOCK.triangles[2:, ::-1]
    meshio.write_points_cells(tmp_path / "a.ply", 1e3 * BLOCK.points, [("triangle", triangles)])
    status, out, err = limpet("check", "a.ply")
    assert (status, err) == (1, "")
    assert "open" in out and "hole" in out and "unit unknown" in out
    status, out, _ = limpet("check", "a.ply", "--json")
    assert status == 1
    assert [fault["name"] for fault in json.loads(out)["faults"]] == ["open"]


def test_check_mends_what_is_safe(limpet, tmp_path):
    x, t = 1e3 * BLOCK.points, BLOCK.triangles[:, ::-1]
    soup = x[t].reshape(-1, 3), np.arange(3 * len(t)).reshape(-1, 3)
    meshio.write_points_cells(tmp_path / "a.ply", soup[0], [("triangle", soup[1].astype("i4"))])
    assert limpet("check", "a.ply", "--unit", "mm")[0] == 1
    status, out, err = limpet("check", "a.ply", "--unit", "mm", "--repair", "b.ply")
    assert (status, err) == (0, ""), out
    assert limpet("check", "b.ply", "--unit", "mm")[0] == 0
    mended = meshio.read(tmp_path / "b.ply")
    assert len(mended.points) == len(BLOCK.points)
    assert np.ptp(mended.points, axis=0) == pytest.approx([30.0, 40.0, 50.0])


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["none.stl"], "there is no such file"),
        (["a.ply", "--unit", "km"], "unit = 'km'"),
        (["a.ply", "--repair", "b.doc"], "--repair b.doc: expected a name that ends in one of"),
    ],
)
def test_check_of_what_cannot_be_checked(limpet, tmp_path, arguments, says):
    save_mesh(BLOCK, tmp_path / "a.ply", "mm")
    status, out, err = limpet("check", *arguments)
    assert (status, out) == (2, "")
    assert says in err and err.count("\n") == 1


def test_meshes_of_a_scene(limpet, tmp_path):
    status, out, err = limpet("mesh", "lift", "--out", "m", "--format", "vtu", "--unit", "mm")
    assert (status, err) == (0, "")
    written = {"cup.vtu", "block.vtu", "ground.vtu", "mesh.png"}
    assert {path.name for path in (tmp_path / "m").iterdir()} == written
    assert len(out.splitlines()) == 4
    assert np.ptp(meshio.read(tmp_path / "m" / "block.vtu").points, axis=0) == pytest.approx(
        [60.0, 60.0, 30.0]
    )
    status, _, err = limpet("mesh", "lift", "--out", "m", "--format", "slt")
    assert status == 2 and "did you mean 'stl'?" in err


def test_every_command_has_an_example(limpet):
    commands = [c.name or c.callback.__name__ for c in app.registered_commands]
    assert {"run", "view", "replay", "check"} < set(commands)
    for command in commands:
        _, out, _ = limpet(command, "--help")
        assert "Examples:" in out
        assert f"limpet {command}" in out.split("Examples:")[1]


def test_help_is_quick_because_it_loads_next_to_nothing():
    code = (
        "import sys; sys.argv = ['limpet', '--help']\n"
        "from limpet.cli.commands import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(sorted({'numpy', 'scipy', 'numba', 'pydantic', 'matplotlib', 'h5py', 'meshio',"
        " 'starlette'} & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr == "[]\n"
