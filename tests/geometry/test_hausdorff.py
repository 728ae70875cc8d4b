"""The distance of two surfaces, against what can be said without it."""

from __future__ import annotations

import numpy as np
import pytest

import limpet as lp
from limpet.geometry.hausdorff import samples
from limpet.geometry.shape import RigidShape
from limpet.meshing.files import load_scan
from limpet.shapes.objects import can


def moved(shape, by):
    return RigidShape(shape.name, shape.points + np.asarray(by), shape.triangles)


def test_a_surface_is_at_no_distance_from_itself():
    apart = lp.hausdorff(can(), can())
    assert apart.distance == pytest.approx(0.0, abs=1e-12)


def test_a_box_in_a_larger_box():
    """From the inner face to the outer one, and from the outer corner to the inner corner."""
    small, large = (
        lp.shapes.box(0.02, 0.02, 0.02),
        moved(lp.shapes.box(0.03, 0.03, 0.03), (0, 0, 5e-3)),
    )
    apart = lp.hausdorff(small, large)
    assert apart.a_to_b == pytest.approx(5e-3, rel=1e-9)
    assert apart.mean == pytest.approx(5e-3, rel=1e-9)
    assert apart.b_to_a == pytest.approx(5e-3 * np.sqrt(3.0), rel=1e-9)
    assert apart.distance == apart.b_to_a
    assert np.abs(apart.place) == pytest.approx([0.015, 0.015, abs(apart.place[2])])


def test_shifted_cans_are_as_far_apart_as_they_were_shifted():
    tin = can(0.02, 0.04, sides=48)
    assert lp.hausdorff(tin, moved(tin, (0, 0, 3e-3))).distance == pytest.approx(3e-3, rel=1e-6)


def test_a_large_triangle_is_looked_at_between_its_corners():
    """A bump under the middle of a face, which no vertex of the face sees."""
    flat = lp.shapes.box(0.1, 0.1, 0.02)
    bump = moved(lp.shapes.box(0.004, 0.004, 0.012), (0.02, 0.01, 0.01))
    both = RigidShape(
        "both", np.concatenate([flat.points, bump.points]),
        np.concatenate([flat.triangles, bump.triangles + len(flat.points)]),
    )  # fmt: skip
    assert lp.hausdorff(both, flat).a_to_b == pytest.approx(0.01, rel=1e-6)
    assert lp.hausdorff(flat, bump, spacing=1e-3).a_to_b > 0.06


def test_samples_are_no_farther_apart_than_asked():
    shape = lp.shapes.box(0.05, 0.03, 0.01)
    points = samples(shape.points, shape.triangles, 2e-3)
    rng = np.random.default_rng(0)
    corner = shape.points[shape.triangles[rng.integers(len(shape.triangles), size=200)]]
    weights = rng.dirichlet(np.ones(3), size=200)
    anywhere = np.einsum("kj,kji->ki", weights, corner)
    nearest = np.linalg.norm(anywhere[:, None] - points, axis=2).min(axis=1)
    assert nearest.max() <= 2e-3


def test_an_open_scan_can_be_compared(tmp_path):
    """A scan of the upper faces only: all of it lies on the body, not all of the body on it."""
    body = lp.shapes.box(0.04, 0.04, 0.01)
    file = tmp_path / "scan.obj"
    lines = [f"v {x} {y} {z}" for x, y, z in 1e3 * body.points]
    top = [t for t in body.triangles.tolist() if body.points[t, 2].min() > -1e-9]
    lines += ["f " + " ".join(str(i + 1) for i in t) for t in top]
    file.write_text("\n".join(lines) + "\n")
    with pytest.raises(lp.LimpetError):
        lp.shapes.load_mesh(file, unit="mm")  # open: no body to simulate
    apart = lp.hausdorff(load_scan(file, unit="mm"), body)
    assert apart.a_to_b == pytest.approx(0.0, abs=1e-9)
    assert apart.b_to_a == pytest.approx(0.01, rel=1e-6)
    with pytest.raises(lp.LimpetError, match="the unit is missing"):
        load_scan(file)
