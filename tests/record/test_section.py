"""The section: where the plane cuts a surface, and which contacts are drawn in it."""

import numpy as np
import pytest

from limpet.record.section import HALF_SECTOR, cut, near_plane, plot_sections


def area(loop):
    x, z = loop.T
    return 0.5 * abs(np.dot(x, np.roll(z, -1)) - np.dot(z, np.roll(x, -1)))


@pytest.mark.parametrize("turn", [0.0, 0.1, np.pi / 8])
def test_a_ring_is_cut_into_its_two_profiles(kit, turn):
    """With vertices in the plane, near it, and half a sector off, where the ring is narrower."""
    _, points, triangles = kit.frame().bodies[0]
    c, s = np.cos(turn), np.sin(turn)
    turned = points @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])
    loops = cut(turned, triangles)
    assert len(loops) == 2
    for loop in loops:
        radius = np.abs(loop[:, 0])
        assert loop[:, 1].min() == pytest.approx(0.0, abs=1e-12)
        assert loop[:, 1].max() == pytest.approx(0.004, abs=1e-12)
        # A chord at angle a of a sector of 45 degrees is at r cos(22.5) / cos(22.5 - a).
        narrow = np.cos(np.pi / 8) / np.cos(np.pi / 8 - turn)
        assert radius.max() == pytest.approx(0.017 * narrow, rel=1e-4)
        assert radius.min() == pytest.approx(0.010 * narrow, rel=1e-4)
        assert area(loop) == pytest.approx(0.007 * 0.004 * narrow, rel=1e-4)


def test_a_surface_off_the_plane_is_not_cut(kit):
    _, points, triangles = kit.frame().bodies[0]
    assert cut(points + np.array([0.0, 1.0, 0.0]), triangles) == []
    assert cut(np.zeros((0, 3)), np.zeros((0, 3), dtype=int)) == []


def test_contacts_near_the_plane_keep_radius_side_and_radial_force():
    points = np.array([[0.01, 0.001, 0.0], [-0.01, 0.001, 0.002], [0.0, 0.01, 0.0]])
    inward = -3.0 * points[:, :2] / np.linalg.norm(points[:, :2], axis=1)[:, None]
    forces = np.column_stack([inward, [1.0, 2.0, 3.0]])
    at, f = near_plane(points, forces)
    r = np.hypot(0.01, 0.001)
    assert at == pytest.approx(np.array([[r, 0.0], [-r, 0.002]]))
    assert f == pytest.approx(np.array([[-3.0, 1.0], [3.0, 2.0]]))


def test_the_sector_is_wide_enough_for_eight():
    angle = np.linspace(0, 2 * np.pi, 8, endpoint=False) + np.pi / 8 - 1e-9
    ring = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    assert len(near_plane(ring, ring)[0]) == 2
    assert np.pi / 8 == HALF_SECTOR


def test_draws_frames_with_and_without_air_and_contacts(kit, tmp_path):
    frames = [kit.frame("rest"), kit.frame("hold", 0.7, sealed=True)]
    for count in (1, 2):
        plot_sections(frames[:count], tmp_path / "section.png")
        assert (tmp_path / "section.png").stat().st_size > 10_000
