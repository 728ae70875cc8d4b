"""The process with the simulation, without a page: frames, their cost, and what can be set."""

import json
import struct

import numpy as np
import pytest

import limpet as lp
from limpet.record.frame import COLOURS, FIGURES, capture_frame, frame_header
from limpet.scenes.registry import load, parameters_of, scenes
from limpet.viewer.controls import HIDDEN, fields_of
from limpet.viewer.frames import MAGIC, PLAYING, pack


def unpack(frame):
    """A frame's parts, read as docs/viewer.md says."""
    head = struct.unpack_from("<12I", frame)
    n, k, c, points, triangles = head[4:9]
    v, t = head[10:]
    at = 48
    parts = []
    for kind, count in (
        ("<f8", 2 + len(FIGURES)), ("<f4", 3 * n), ("<f4", n), ("<f4", 3 * k), ("<f4", 3 * k),
        ("<u4", 4 * c), ("<f4", 3 * points), ("<u4", 3 * triangles),
        ("<f4", 3 * v), ("<f4", v), ("<u4", 3 * t),
    ):  # fmt: skip
        parts.append(np.frombuffer(frame, kind, count, at))
        at += parts[-1].nbytes
    assert at == len(frame)
    return head, parts


@pytest.fixture(scope="module")
def sealed(small):
    simulation = load("ground", {**small, "duration": "0.4 s"}).simulation()
    what = frame_header(simulation)
    report = list(simulation.run(0.4))[-1]
    return simulation, what, report


def test_a_frame_says_what_the_moment_was(sealed):
    simulation, what, report = sealed
    moment = capture_frame(simulation, what, report, ["gap"])
    frame = pack(moment, "gap", epoch=3, flags=PLAYING, factor=0.5)
    head, (figures, x, colour, points, forces, table, air, faces, *patch) = unpack(frame)
    assert head[:4] == (MAGIC, 3, report.step, PLAYING) and head[6] == 1
    assert list(COLOURS)[head[9]] == "gap"
    assert figures[:2].tolist() == [pytest.approx(0.4), 0.5]
    assert figures[2:].tolist() == moment.figures.tolist()
    assert np.array_equal(x.reshape(-1, 3), moment.positions)
    assert np.array_equal(colour, moment.fields["gap"], equal_nan=True)
    assert np.array_equal(points.reshape(-1, 3), moment.contact_points)
    assert np.array_equal(forces.reshape(-1, 3), moment.contact_forces)
    assert table[:1].view("<f4")[0] == np.float32(moment.cavities[0].pressure)
    assert np.array_equal(air.reshape(-1, 3), moment.cavities[0].points)
    assert np.array_equal(faces.reshape(-1, 3), moment.cavities[0].triangles)
    assert not any(len(part) for part in patch)


def test_a_frame_has_the_surface_on_which_fields_meet():
    world = lp.World()
    world.add_rigid(lp.fields.box(0.06, 0.06, 0.04, 1e6), 0.4, position=(0.0, 0.0, 0.0199))
    world.add_rigid(lp.fields.floor(), 1.0, fixed=True)
    simulation = lp.Simulation(world, 2e-3)
    what, report = frame_header(simulation), simulation.step()
    moment = capture_frame(simulation, what, report)
    assert moment.patch.pressure.max() > 0.0
    *_, points, pressure, triangles = unpack(pack(moment, "gap", epoch=1, flags=0, factor=1.0))[1]
    assert np.array_equal(points.reshape(-1, 3), moment.patch.points)
    assert np.array_equal(pressure, moment.patch.pressure)
    assert np.array_equal(triangles.reshape(-1, 3), moment.patch.triangles)


@pytest.mark.parametrize("name", ["ground", "lift", "toy", "air-tunnel"])
def test_every_parameter_has_a_field_with_its_unit(name):
    assert name in scenes()
    parameters = load(name).parameters
    fields = {f["name"]: f for f in fields_of(parameters)}
    json.dumps(list(fields.values()), allow_nan=False)
    for key in set(parameters_of(name)) - set(HIDDEN):
        if key not in fields:  # lists and tables are for scene files
            assert not isinstance(getattr(parameters, key), (int, float, str))
        elif fields[key]["kind"] == "number":
            low, high = fields[key]["range"]
            assert low <= fields[key]["value"] / fields[key]["size"] <= high
    assert fields["h"]["unit"] == "ms" and fields["h"]["size"] == 1e-3
