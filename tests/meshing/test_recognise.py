"""Bodies of revolution among files: recognised and their section recovered, others left alone."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import cKDTree

from limpet.errors import Notice
from limpet.geometry.rotation import rotation_matrix
from limpet.meshing.export import save_mesh
from limpet.meshing.files import load_mesh
from limpet.meshing.section.outline import Corner
from limpet.meshing.section.recognise import (
    revolved_volume,
    section_of_step,
    section_of_surface,
)
from limpet.shapes.boxes import box
from limpet.shapes.cups import STANDARD, cup
from limpet.shapes.custom_cup import cup_from_mesh
from limpet.shapes.objects import compartment_box
from limpet.shapes.section import cup_from_section

MM = 1e-3
STEM = [(0, 4.5), (9, 3.3), (17.5, 0), (17.8, 0.7), (9.3, 4.9), (5, 6.2), (5, 15), (0, 15)]
Z = np.array([0.0, 0.0, 1.0])


@pytest.fixture(scope="module", params=[20, 33, 64])
def stl(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("cup") / f"cup{request.param}.stl"
    save_mesh(cup("standard", sectors=request.param, segments=9), path, "mm")
    return load_mesh(path, "mm")


def test_a_surface_of_revolution_gives_its_section_wherever_it_stands(stl):
    turn = rotation_matrix(Z, 0.3)
    path = section_of_surface(stl.points @ turn.T + [0.3, -0.2, 0.0], stl.triangles)
    assert path is not None
    r, z = path.T
    below = (z < STANDARD.underside(r) + 1e-6) & (r <= STANDARD.radius)
    assert below.sum() > 15
    assert np.abs(z - STANDARD.underside(r))[below].max() < 2e-6
    assert r.max() == pytest.approx(17.82 * MM, abs=0.01 * MM)
    assert revolved_volume(path) == pytest.approx(2.03e-6, rel=0.02)


def test_other_surfaces_are_left_alone(stl):
    assert section_of_surface(box(0.02, 0.02, 0.02).points, box(0.02, 0.02, 0.02).triangles) is None
    other = compartment_box()
    assert section_of_surface(other.points, other.triangles) is None
    squeezed = stl.points * [1.0, 1.01, 1.0]
    assert section_of_surface(squeezed, stl.triangles) is None
    tilted = stl.points @ rotation_matrix(np.array([1.0, 0.0, 0.0]), 0.02).T
    assert section_of_surface(tilted, stl.triangles) is None
    dented = stl.points.copy()
    dented[np.argmax(dented[:, 0])] *= 0.99
    assert section_of_surface(dented, stl.triangles) is None


def write_step(path, corners, hole=None):
    occ = pytest.importorskip("netgen.occ")
    points = [occ.Pnt(r, 0, z) for r, z in corners]
    sides = [occ.Segment(a, b) for a, b in zip(points, [*points[1:], points[0]])]
    made = occ.Face(occ.Wire(sides)).Revolve(occ.Axis((0, 0, 0), occ.Z), 360)
    if hole is not None:
        made = made - occ.Cylinder(occ.Pnt(hole, 0, -5), occ.Z, r=1.0, h=30)
    made.WriteStep(str(path))
    return path


def test_a_step_solid_gives_the_section_it_was_made_of(tmp_path):
    path = section_of_step(write_step(tmp_path / "a.step", STEM), Z)
    assert path is not None
    for corner in np.array(STEM) * MM:
        assert np.linalg.norm(path - corner, axis=1).min() < 1e-9
    assert section_of_step(write_step(tmp_path / "b.step", STEM, hole=12), Z) is None


def test_a_step_cup_is_meshed_as_its_section_and_a_note_says_so(tmp_path):
    file = write_step(tmp_path / "a.step", STEM)
    with pytest.warns(Notice, match=r"a.step': is a body of revolution; .* with [0-9]+ nodes"):
        shape = cup_from_mesh(file, nodes=560)
    same = cup_from_section(np.array(STEM) * MM, nodes=560)
    assert len(shape.points) == len(same.points)
    assert np.allclose(np.sort(shape.points[:, 2]), np.sort(same.points[:, 2]), atol=1e-7)
    assert np.allclose(shape.points[shape.regions["top"], 2], 15 * MM)


def test_a_bore_is_taken_for_a_port(tmp_path):
    file = write_step(tmp_path / "port.step", [(r + 2, z) for r, z in STEM])
    with pytest.warns(Notice, match="its bore as a port"):
        shape = cup_from_mesh(file, nodes=700, top=4 * MM)
    assert np.allclose(np.hypot(*shape.points[shape.regions["port"], :2].T), 2 * MM)
    high = np.flatnonzero(shape.points[:, 2] > 11 * MM + 1e-9)
    assert set(shape.regions["top"]) == set(high) | set(shape.regions["port"])


def write_folded_step(path):
    """A wall with two rounded folds, arcs as a CAD program writes them; its outline in mm."""
    occ = pytest.importorskip("netgen.occ")
    turns = [(0, 6), (9, 6), (5, 3), (9, 0), (10, 0.6), (6.6, 3), (10.5, 7.5), (0, 7.5)]
    corners = [
        Corner(r * MM, z * MM, fillet=0.4 * MM * (k in (2, 5))) for k, (r, z) in enumerate(turns)
    ]
    at = [np.array(p, float) for p in turns]
    ends = [(p, p, None) for p in at]
    for k in (2, 5):
        one, two = at[k - 1] - at[k], at[k + 1] - at[k]
        one, two = one / np.linalg.norm(one), two / np.linalg.norm(two)
        half = 0.5 * np.arccos(one @ two)
        out = (one + two) / np.linalg.norm(one + two)
        top = at[k] + out * 0.4 * (1.0 / np.sin(half) - 1.0)
        back = 0.4 / np.tan(half)
        ends[k] = (at[k] + back * one, at[k] + back * two, top)
    edges = []
    for k, (start, end, top) in enumerate(ends):
        if top is not None:
            edges.append(occ.ArcOfCircle(*(occ.Pnt(p[0], 0, p[1]) for p in (start, top, end))))
        after = ends[(k + 1) % len(ends)][0]
        edges.append(occ.Segment(occ.Pnt(end[0], 0, end[1]), occ.Pnt(after[0], 0, after[1])))
    made = occ.Face(occ.Wire(edges)).Revolve(occ.Axis((0, 0, 0), occ.Z), 360)
    made.WriteStep(str(path))
    return corners


def test_a_folded_cup_from_step_has_the_mesh_of_its_section(tmp_path):
    """Not only its form: push forces of two meshes of one bellows cup differed by up to 9 %."""
    corners = write_folded_step(tmp_path / "folds.step")
    with pytest.warns(Notice):
        found = cup_from_mesh(tmp_path / "folds.step", nodes=600)
    made = cup_from_section(corners, nodes=600)
    assert len(found.points) == len(made.points)
    away, _ = cKDTree(made.points).query(found.points)
    assert away.max() < 2e-3 * MM
