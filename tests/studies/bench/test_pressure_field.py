"""The table of query times can be read, with a peer and without."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.pressure_field.fields import half_space
from limpet.pressure_field.surface import contact_surface
from limpet.studies.bench import drake, pressure_field
from limpet.studies.bench.test_objects import Ball, own_body


def test_a_short_run_without_drake_gives_a_row_a_pair(monkeypatch):
    monkeypatch.setattr(drake, "available", lambda: False)
    monkeypatch.setattr(pressure_field, "ROWS", pressure_field.ROWS[:2])
    monkeypatch.setattr(pressure_field, "ROUNDS", 2)
    monkeypatch.setattr(pressure_field, "SPELL", 1e-4)
    seen = []
    result = pressure_field.run(lambda done, total, text: seen.append((done, total)))
    (table,) = result.tables
    assert result.ok and seen[-1] == (2, 2)
    assert [row[0] for row in table.rows] == ["sphere-box", "sphere-box"]
    coarse, fine = table.as_dict()["rows"]
    assert coarse["faces"] < fine["faces"] and coarse["ours [ms]"] > 0.0
    assert any("not installed" in note for note in table.notes)


def test_the_surface_is_judged_and_no_time():
    columns = tuple("abcdefghi")
    rows = [
        ("sphere-box", "", 1, 30, 1.0, 30, 2.0, 2.0, True),
        ("mug-box", "", 1, 800, 1.0, 700, 0.5, 0.5, True),
    ]
    assert pressure_field._result(columns, rows, True).ok
    rows[1] = ("mug-box", "", 1, 800, 1.0, 700, 9.0, 9.0, False)
    assert not pressure_field._result(columns, rows, True).ok


def test_surfaces_agree_in_faces_area_and_force():
    ball, ground = own_body(Ball(0.05, 0.02, 1e7)), half_space((0.0, 0.0, 1.0), 0.0)
    there = np.eye(3), np.array([0.0, 0.0, 0.04])
    surface = contact_surface(ball, there, ground, pressure_field.HERE)
    faces, size = len(surface), float(np.linalg.norm(surface.area, axis=1).sum())
    force = surface.pressure @ surface.area
    assert faces > 5
    assert pressure_field.agree(surface, faces, size, force)
    assert not pressure_field.agree(surface, faces + 1, size, force)
    assert not pressure_field.agree(surface, faces, size * (1.0 + 1e-9), force)
    assert not pressure_field.agree(surface, faces, size, force + 1e-9 * force[2])


def test_growth_is_the_power_of_the_faces():
    faces = np.array([10.0, 100.0, 1000.0])
    assert pressure_field._growth(list(zip(faces, 3.0 * faces**1.5))) == pytest.approx(1.5)
