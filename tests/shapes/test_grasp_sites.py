"""Where a cup fits on a scanned body."""

from __future__ import annotations

import numpy as np
import pytest
from manifold3d import Manifold
from scipy.spatial.transform import Rotation

from limpet.errors import MeshError
from limpet.geometry.surface import volume
from limpet.meshing.check import check_surface
from limpet.shapes import grasp_sites as spots
from limpet.shapes.boxes import box


def egg(segments: int = 96) -> tuple[np.ndarray, np.ndarray]:
    """Half-axes 80, 60 and 50 mm; on top it curves with 128 and 72 mm."""
    mesh = Manifold.sphere(1.0, segments).scale((0.08, 0.06, 0.05)).to_mesh64()
    return np.array(mesh.vert_properties[:, :3]), np.array(mesh.tri_verts).astype(np.int32)


CENTRE = np.zeros(3)


def test_the_best_site_of_an_egg_is_on_top() -> None:
    points, triangles = egg()
    spot = spots.best_site(points, triangles, 0.012, CENTRE, 0.0, "egg", np.radians(5.0))
    assert spot.normal[2] > np.cos(np.radians(5.0))
    assert -1.0 / spot.curvature == pytest.approx([0.072, 0.128], rel=0.1)
    top, normal = spots.dome(points, np.array([0.0, 0.0, 0.049]), 0.012)
    np.testing.assert_allclose(top, [0.0, 0.0, 0.05], atol=2e-4)
    np.testing.assert_allclose(normal, [0.0, 0.0, 1.0], atol=2e-2)


def test_of_smooth_sites_the_nearest_to_the_centre_of_mass_is_taken() -> None:
    points, triangles = egg()
    heavy = np.array([0.012, 0.0, 0.0])  # an egg that is heavier at one end
    spot = spots.best_site(points, triangles, 0.012, heavy, 1e-4, "egg")
    sites = spots.grasp_sites(points, triangles, 0.012, np.radians(15.0))
    smooth = [s for s in sites if s.roughness <= 1e-4]
    assert spot.point[0] == pytest.approx(0.012, abs=6e-3)
    away = [np.hypot(*(s.point - heavy)[:2]) for s in smooth]
    assert np.hypot(*(spot.point - heavy)[:2]) == min(away)
    assert spot.normal[0] > 0.05  # the cup comes along the normal


def test_a_bumpy_side_is_passed_over() -> None:
    points, triangles = egg(192)
    bumps = 4e-4 * np.sin(900.0 * points[:, 0]) * (points[:, 0] > 0.002)
    rough = points + np.outer(bumps, [0.0, 0.0, 1.0])
    spot = spots.best_site(rough, triangles, 0.01, CENTRE, 5e-5, "egg")
    assert spot.point[0] < -0.005
    ironed = spots.smooth(rough, triangles, 4e-3)
    assert np.abs(ironed - points).max() < 1.5e-3
    off = [np.std((p - points)[points[:, 2] > 0.03, 2]) for p in (rough, ironed)]
    assert off[1] < 0.5 * off[0]


def test_a_box_has_no_dome() -> None:
    cube = box(0.05, 0.05, 0.05, (8, 8, 8))
    with pytest.raises(MeshError, match="cube has no dome of radius 10 mm that faces up"):
        spots.best_site(cube.points, cube.triangles, 0.01, CENTRE, 1e-4, "cube")


def test_it_is_finer_and_a_dome_where_the_cup_goes() -> None:
    points, triangles = egg()
    top = np.array([0.0, 0.0, 0.05])
    coarse, faces = spots.coarsen_around(points, triangles, 200, top, 0.02, 4.0)
    near = np.linalg.norm(coarse - top, axis=1) < 0.015
    assert near.sum() > 3.0 * 200 * (0.015**2 * np.pi) / 0.05  # the egg has about 0.05 m^2
    fine, split = spots.split_around(coarse, faces, top, 0.015)
    check_surface(fine, split)
    assert volume(fine, split) == pytest.approx(volume(coarse, faces), rel=1e-12)
    assert (np.linalg.norm(fine - top, axis=1) < 0.015).sum() > 2.5 * near.sum()
    round_ = spots.polish(fine, top, 0.015, 0.02)
    check_surface(round_, split)
    near = np.linalg.norm(fine - top, axis=1) < 0.015
    assert spots.paraboloid((round_ - top)[near])[1] < 1e-12
    far = np.linalg.norm(fine - top, axis=1) > 0.02
    np.testing.assert_array_equal(round_[far], fine[far])


def test_a_leaning_body_stands_on_the_face_it_leans_to() -> None:
    leaning = Rotation.from_euler("xy", [20.0, -15.0], degrees=True).as_matrix()
    points = box(0.04, 0.05, 0.06).points @ leaning.T
    upright = points @ spots.standing(points, points.mean(axis=0), "box").T
    assert np.ptp(upright[:, 2]) == pytest.approx(0.06, abs=1e-12)
    assert np.sum(upright[:, 2] < upright[:, 2].min() + 1e-12) == 4
