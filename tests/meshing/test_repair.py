"""Every fault of a mesh is found, beside the others; what is safe to mend is repaired."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.meshing.check import check_surface
from limpet.meshing.repair import inspect, repaired
from limpet.shapes.boxes import box

BLOCK = box(30.0, 40.0, 50.0, (2, 3, 4))
X, T = BLOCK.points, BLOCK.triangles


def names(report):
    return [fault.name for fault in report.faults]


def test_a_sound_block():
    report = inspect(X, T, "mm")
    assert report.faults == report.notes == ()
    assert (report.vertices, report.triangles, report.parts) == (len(X), len(T), 1)
    assert report.size == pytest.approx((30.0, 40.0, 50.0))
    assert report.volume == pytest.approx(60_000.0)
    assert report.area == pytest.approx(2 * (1200 + 1500 + 2000))


def doubled():
    return X[T].reshape(-1, 3), np.arange(3 * len(T)).reshape(-1, 3)


def collapsed():
    return np.concatenate([X, X[:1]]), np.concatenate([T, [[0, len(X), 5]]])


def needle():
    return np.concatenate([X, [0.5 * (X[T[0, 0]] + X[T[0, 1]])]]), np.concatenate(
        [T, [[T[0, 0], len(X), T[0, 1]]]]
    )


def crossing():
    return np.concatenate([X, X + 5.0]), np.concatenate([T, T + len(X)])


def fin():
    middle = 0.5 * (X[T[0, 0]] + X[T[0, 1]])
    outside = 2.0 * middle - X.mean(axis=0)
    return np.concatenate([X, [outside]]), np.concatenate([T, [[*T[0, :2], len(X)]]])


@pytest.mark.parametrize(
    ("mesh", "faults", "left"),
    [
        (doubled(), ["duplicate vertices"], []),
        (collapsed(), ["duplicate vertices", "degenerate triangles"], []),
        ((X, np.concatenate([T, T[:3]])), ["duplicate triangles"], []),
        ((X, T[:, ::-1]), ["inside-out"], []),
        ((X, np.where(np.arange(len(T))[:, None] < 4, T[:, ::-1], T)), ["orientation"], []),
        ((X, T[2:]), ["open"], ["open"]),
        (fin(), ["not manifold", "open"], ["not manifold", "open"]),
        (crossing(), ["self-intersection"], ["self-intersection"]),
        ((0.0 * X, T), ["duplicate vertices", "no area"], None),
    ],
)
def test_each_fault_is_named_and_mended_where_that_is_safe(mesh, faults, left):
    report = inspect(*mesh, "mm")
    assert names(report) == faults
    assert all(fault.found and fault.fix for fault in report.faults)
    if left is None:
        return
    x, t = repaired(*mesh)
    assert names(inspect(x, t, "mm")) == left
    assert [f.name for f in report.faults if not f.mendable] == left
    if not left:
        check_surface(1e-3 * x, t)


def test_needles_are_found():
    assert "needles" in names(inspect(*needle(), "mm"))


def test_several_faults_at_once():
    x, t = doubled()
    report = inspect(x, np.concatenate([t[2:, ::-1], t[2:4, ::-1]]), "mm")
    assert names(report) == ["duplicate vertices", "duplicate triangles", "open"]
    assert report.volume is None


def test_holes_are_counted_and_placed():
    gone = [0, len(T) - 1]  # at two ends of the block
    report = inspect(X, np.delete(T, gone, axis=0), "mm")
    (fault,) = report.faults
    assert "6 edges have only one triangle, around 2 holes" in fault.found


def test_doubled_vertices_of_an_stl_are_no_fault():
    report = inspect(*doubled(), "mm", soup=True)
    assert report.faults == ()
    assert report.doubled == 3 * len(T) - len(X)


@pytest.mark.parametrize(
    ("unit", "scale", "fault", "note"),
    [
        ("mm", 1.0, [], ""),
        ("m", 1.0, [], "5e+04 mm (50 m) large in m: check the unit"),
        ("m", 10.0, ["size"], ""),
        ("mm", 1e-3, ["size"], ""),
        (None, 1.0, [], "50 mm in mm, 5e+04 mm in m (likely mm or cm or in); give it with --unit"),
    ],
)
def test_the_size_in_the_unit_given(unit, scale, fault, note):
    report = inspect(scale * X, T, unit)
    assert names(report) == fault
    assert note in " ".join(report.notes)
    assert bool(note) == bool(report.notes)


def test_two_parts_and_a_void():
    inner = box(10.0, 10.0, 10.0)
    x = np.concatenate([X, inner.points - [0.0, 0.0, 20.0]])
    t = np.concatenate([T, len(X) + inner.triangles[:, ::-1]])
    report = inspect(x, t, "mm")
    assert (report.faults, report.parts) == ((), 2)
    assert report.volume == pytest.approx(59_000.0)


def test_a_closed_part_that_is_inside_out_beside_an_open_one():
    x = np.concatenate([X, X + np.array([99.0, 0.0, 0.0])])
    t = np.concatenate([T[2:], T[:, ::-1] + len(X)])
    report = inspect(x, t, "mm")
    assert names(report) == ["open", "orientation"]
    assert f"{len(T)} of {len(t)} triangles" in report.faults[1].found
    assert names(inspect(*repaired(x, t), "mm")) == ["open"]
