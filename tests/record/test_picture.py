"""The picture of a scene: projection, cutting, which triangle is seen, and the frames shown."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.image import imread

from limpet.record.picture import _layout, draw_scene, plane_of, select_frames
from limpet.record.render import (
    AMBIENT,
    FIXED,
    LINE,
    SOFT,
    Plane,
    View,
    clip,
    colour_of,
    is_closed,
    nearest,
    render,
    shade,
)

AWAY = Plane(np.zeros(3), np.array([0.0, -1.0, 0.0]))  # cuts off y < 0


def area(corners):
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return 0.5 * np.linalg.norm(normal, axis=1).sum()


def test_projection_by_hand():
    """From the front x is right and z up; 30 degrees higher, y goes up by its half."""
    p = np.array([[1.0, 2.0, 3.0]])
    assert View(-90.0, 0.0).project(p) == pytest.approx(np.array([[1.0, 3.0, -2.0]]))
    c, s = np.sqrt(3.0) / 2.0, 0.5
    raised = [[1.0, 3.0 * c + 2.0 * s, 3.0 * s - 2.0 * c]]
    assert View(-90.0, 30.0).project(p) == pytest.approx(np.array(raised))
    assert View(0.0, 0.0).project(p) == pytest.approx(np.array([[2.0, 3.0, 1.0]]))


def test_view_axes_are_a_right_handed_frame():
    axes = View(-37.0, 12.0).axes
    assert axes @ axes.T == pytest.approx(np.eye(3), abs=1e-15)
    assert np.linalg.det(axes) == pytest.approx(1.0)


def test_the_cut_removes_what_is_before_the_plane_and_nothing_else(kit):
    _, points, triangles = kit.frame().bodies[0]
    for turn in (0.0, 0.1):  # vertices in the plane, and across it
        c, s = np.cos(turn), np.sin(turn)
        turned = points @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])
        kept = clip(turned, triangles, AWAY)
        other = clip(turned, triangles, Plane(AWAY.origin, -AWAY.normal))
        assert kept[..., 1].min() == pytest.approx(0.0, abs=1e-15)
        assert other[..., 1].max() == pytest.approx(0.0, abs=1e-15)
        assert area(kept) + area(other) == pytest.approx(area(turned[triangles]), rel=1e-12)
        assert area(kept) == pytest.approx(area(other), rel=1e-12)  # a ring has two equal halves


def test_a_triangle_cut_by_hand_keeps_its_sense():
    points = np.array([[0.0, -1.0, 0.0], [2.0, 1.0, 0.0], [-2.0, 1.0, 0.0]])
    kept = clip(points, np.array([[0, 1, 2]]), AWAY)
    assert area(kept) == pytest.approx(3.0)  # of 4: the tip, a quarter, is gone
    rest = clip(points, np.array([[0, 1, 2]]), Plane(np.zeros(3), np.array([0.0, 1.0, 0.0])))
    assert sorted(rest[0].tolist()) == [[-1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [1.0, 0.0, 0.0]]
    for corners in (*kept, *rest):
        assert np.cross(corners[1] - corners[0], corners[2] - corners[0])[2] > 0.0
    assert len(clip(points, np.array([[0, 1, 2]]), None)) == 1


def test_loops_lie_in_the_plane(kit):
    _, points, triangles = kit.frame().bodies[0]
    plane = Plane(np.array([0.0, 0.0, 0.01]), np.array([np.cos(0.3), np.sin(0.3), 0.0]))
    loops = plane.loops(points, triangles)
    assert len(loops) == 2
    for loop in loops:
        assert plane.distance(loop) == pytest.approx(0.0, abs=1e-8)
        assert (loop[:, 2].min(), loop[:, 2].max()) == pytest.approx((0.0, 0.004))


def test_nearest_triangle_against_every_pixel_by_hand():
    rng = np.random.default_rng(4)
    corners = rng.uniform(-3.0, 23.0, (12, 3, 3))
    seen = nearest(corners, 20, 16)
    for row in range(16):
        for column in range(20):
            best, found = -np.inf, -1
            for k, t in enumerate(corners):
                edges = np.column_stack([t[1, :2] - t[0, :2], t[2, :2] - t[0, :2]])
                if np.linalg.det(edges) <= 0.0:
                    continue  # seen from behind
                u, v = np.linalg.solve(edges, [column + 0.5, row + 0.5] - t[0, :2])
                if min(u, v, 1.0 - u - v) < 0.0:
                    continue
                z = (1.0 - u - v) * t[0, 2] + u * t[1, 2] + v * t[2, 2]
                if z > best:
                    best, found = z, k
            assert seen[row, column] == found
    assert (seen >= 0).any() and (seen < 0).any()


def test_faces_to_the_light_are_brighter():
    up = np.array([[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
    colours = shade(np.concatenate([up, up[:, ::-1]]), "#ffffff", View())
    assert 0.9 < colours[0, 0] <= 1.0
    assert colours[1] == pytest.approx(AMBIENT)  # in the shade


def test_render_shows_the_body_where_it_is(kit):
    """Seen from above, uncut: the ring's hole shows the block below it."""
    frame = kit.frame()
    image = render(frame, View(-90.0, 90.0), None, (-0.02, 0.02, -0.02, 0.02), (81, 81))
    hue = {name: _hue(colour) for name, colour in (("cup", SOFT[0]), ("block", FIXED))}
    assert _hue(image[40, 45]) == pytest.approx(hue["block"], abs=1e-3)  # 2.5 mm from the axis
    assert _hue(image[40, 67]) == pytest.approx(hue["cup"], abs=1e-3)  # 13.5 mm
    assert (np.abs(image - _rgb(LINE)).max(axis=2) < 1e-9).any()  # drawn round


def test_cut_scene_has_nothing_before_the_plane(kit):
    frame, view = kit.frame(), View(-90.0, 0.0)
    plane = plane_of(frame, view)
    assert plane.origin == pytest.approx([0.0, 0.0, 0.002], abs=1e-12)  # of the cup, the soft body
    assert plane.normal == pytest.approx([0.0, -1.0, 0.0], abs=1e-15)
    assert plane_of(frame, View(opened=None)) is None
    window, pixels = (-0.02, 0.02, -0.012, 0.006), (80, 36)
    whole = render(frame, view, None, window, pixels)
    opened = render(frame, view, plane, window, pixels)
    assert not np.allclose(whole[28, 40], 1.0)  # the wall of the ring that is before the plane
    assert not np.allclose(opened[28, 40], whole[28, 40])


def _rgb(colour):
    return np.array([int(colour[i : i + 2], 16) / 255.0 for i in (1, 3, 5)])


def _hue(colour):
    rgb = _rgb(colour) if isinstance(colour, str) else colour
    return rgb / rgb.max()


def test_bodies_have_colours_by_kind(kit):
    frame = kit.frame()
    assert colour_of(frame, "cup") == SOFT[0]
    assert colour_of(frame, "block") == FIXED


def test_moments_are_start_lowest_pressure_end_and_those_asked_for(kit):
    frames = [replace(kit.frame(sealed=k in (3, 4)), time=0.1 * k) for k in range(9)]
    frames[4] = replace(frames[4], cavities=((*frames[4].cavities[0][:2], 10e3),))
    assert [f.time for f in select_frames(frames)] == pytest.approx([0.0, 0.4, 0.8])
    assert [f.time for f in select_frames(frames, [0.62])] == pytest.approx([0.0, 0.4, 0.6, 0.8])
    airless = [replace(f, cavities=()) for f in frames]
    assert [f.time for f in select_frames(airless)] == pytest.approx([0.0, 0.4, 0.8])
    assert select_frames(frames[:1]) == frames[:1]


def test_the_picture_shows_the_air_where_there_is_some(kit, tmp_path):
    blue = []
    for sealed in (False, True):
        frames = [kit.frame("rest"), kit.frame("hold", 0.7, sealed=sealed)]
        draw_scene(frames, tmp_path / "scene.png")
        image = imread(tmp_path / "scene.png")[:, :-150, :3]  # without the pressure's scale
        blue.append(int((image[..., 2] > image[..., 0] + 0.3).sum()))
    assert image.shape[1] > 900
    assert 5_000 < (tmp_path / "scene.png").stat().st_size < 150_000
    assert blue[1] > blue[0] + 1000


def test_many_panels_go_in_two_rows():
    assert _layout(4, 0.5)[:2] == (1, 4)
    assert _layout(6, 0.8)[:2] == (2, 3)
    assert _layout(5, 4.0)[:2] == (1, 5)  # tall ones stay side by side
    for count, aspect in ((1, 3.0), (5, 1.0), (6, 0.1)):
        rows, columns, panel = _layout(count, aspect)
        assert rows * columns >= count
        assert panel * columns <= 11.21 and panel * aspect * rows <= 6.61  # [inch]


def test_a_sheet_is_seen_from_both_sides_and_encloses_nothing(kit):
    square = np.array([[-1.0, 0.0, -1.0], [1.0, 0.0, -1.0], [1.0, 0.0, 1.0], [-1.0, 0.0, 1.0]])
    sheet = np.array([[0, 1, 2], [0, 2, 3]], np.int32)
    assert not is_closed(sheet)
    assert all(is_closed(triangles) for *_, triangles in kit.frame("rest").bodies)
    for triangles in (sheet, sheet[:, ::-1]):
        frame = replace(kit.frame("rest"), bodies=[("sheet", square, triangles)])
        view = View(-90.0, 0.0, opened=None)
        image = render(frame, view, None, (-2.0, 2.0, -2.0, 2.0), (40, 40))
        seen = (image < 1.0).any(axis=-1)
        assert seen.sum() == pytest.approx(20 * 20, rel=0.15)
