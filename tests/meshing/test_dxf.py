"""Sections from DXF drawings: polylines with bulges, loose lines and arcs, faults in one line."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.errors import LimpetError
from limpet.meshing.dxf import outline_from_dxf
from limpet.meshing.section.outline import Part, signed_area, trace
from limpet.scenes.registry import load
from limpet.scenes.scene_file import read as read_scene_file
from limpet.shapes.section import cup_from_section

ezdxf = pytest.importorskip("ezdxf")

STEM = [(0, 4.5), (9, 3.3), (17.5, 0), (17.8, 0.7), (9.3, 4.9), (5, 6.2), (5, 15), (0, 15)]


def drawing(path, draw, unit=4):
    made = ezdxf.new(units=unit)
    made.layers.add("HELD")
    draw(made.modelspace())
    made.saveas(path)
    return path


def area(corners):
    return signed_area(trace(Part(corners), False).points)


def test_a_closed_polyline_with_a_bulge(tmp_path):
    half_circle = [(10, 0, 0), (12, 0, 1.0), (12, 4, 0), (10, 4, 0)]
    file = drawing(
        tmp_path / "a.dxf", lambda m: m.add_lwpolyline(half_circle, format="xyb", close=True)
    )
    corners = outline_from_dxf(file)
    assert area(corners) == pytest.approx((8 + np.pi * 4 / 2) * 1e-6, rel=2e-3)
    assert np.allclose(corners[1].through, (14e-3, 2e-3))


def test_loose_lines_and_arcs_in_any_order_name_edges_by_their_layer(tmp_path):
    def draw(m):
        m.add_line((0, 12), (5, 12), dxfattribs={"layer": "HELD"})
        m.add_line((5, 6), (5, 12))
        m.add_arc((5, 0), 6, 0, 90)  # from (11, 0) to (5, 6)
        m.add_line((11, 0), (10.2, 0))
        m.add_line((0, 4), (10.2, 0))  # and nothing along the axis

    corners = outline_from_dxf(drawing(tmp_path / "b.dxf", draw))
    # under the arc a quarter disc and the stem, without the hollow
    whole = 5 * 12 + np.pi * 36 / 4 - 0.5 * 4 * 10.2
    assert area(corners) == pytest.approx(whole * 1e-6, rel=2e-3)
    shape = cup_from_section(corners)
    assert np.allclose(shape.points[shape.regions["held"], 2], 12e-3)


@pytest.mark.parametrize(
    ("code", "unit", "scale"), [(4, None, 1.0), (1, None, 25.4), (0, "cm", 10.0)]
)
def test_units(tmp_path, code, unit, scale):
    file = drawing(tmp_path / "c.dxf", lambda m: m.add_lwpolyline(STEM, close=True), code)
    assert max(c.z for c in outline_from_dxf(file, unit)) == pytest.approx(15e-3 * scale)


def test_a_scene_file_names_a_drawing_beside_it(tmp_path):
    drawing(tmp_path / "stem.dxf", lambda m: m.add_lwpolyline(STEM, close=True))
    file = tmp_path / "stem.toml"
    file.write_text('scene = "ground"\n[cup]\ndxf = "stem.dxf"\n')
    scene = load(*read_scene_file(file))
    made = scene.world.specs["cup"].shape
    assert len(made.points) == len(cup_from_section(np.array(STEM) * 1e-3).points)


@pytest.mark.parametrize(
    ("draw", "says"),
    [
        (lambda m: m.add_lwpolyline(STEM[1:]), r"open between \(0, 15\) mm and \(9, 3.3\) mm"),
        (lambda m: (m.add_lwpolyline(STEM, close=True), m.add_line((30, 0), (40, 0))), "30, 0"),
        (lambda m: m.add_text("no lines"), "has no lines, arcs or polylines"),
    ],
)
def test_faults_are_one_line(tmp_path, draw, says):
    with pytest.raises(LimpetError, match=says) as caught:
        outline_from_dxf(drawing(tmp_path / "d.dxf", draw))
    assert "\n" not in str(caught.value)


def test_what_is_no_drawing_is_told(tmp_path):
    bad = tmp_path / "bad.dxf"
    bad.write_text("hello\nworld\n")
    with pytest.raises(LimpetError, match="is not a DXF drawing"):
        outline_from_dxf(bad)
    with pytest.raises(LimpetError, match="cannot be read"):
        outline_from_dxf(tmp_path / "none.dxf")
    file = drawing(tmp_path / "e.dxf", lambda m: m.add_lwpolyline(STEM, close=True), 0)
    with pytest.raises(LimpetError, match="does not say its unit"):
        outline_from_dxf(file)
