"""The union: volumes, shells, and where each triangle came from."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.errors import MeshError
from limpet.geometry.surface import volume
from limpet.geometry.union import union

CUBE_TRIANGLES = np.array(
    [
        (0, 2, 3), (0, 3, 1), (4, 5, 7), (4, 7, 6), (0, 1, 5), (0, 5, 4),
        (2, 6, 7), (2, 7, 3), (0, 4, 6), (0, 6, 2), (1, 3, 7), (1, 7, 5),
    ],
    dtype=np.int32,
)  # fmt: skip


def box(low, high):
    corners = np.array([[i, j, k] for k in (0, 1) for j in (0, 1) for i in (0, 1)], dtype=float)
    return np.asarray(low) + corners * (np.asarray(high) - np.asarray(low)), CUBE_TRIANGLES


def hollow(low, high, wall):
    """A box with a void inside, as one surface."""
    x, t = box(low, high)
    y, _ = box(np.add(low, wall), np.subtract(high, wall))
    return np.concatenate([x, y]), np.concatenate([t, t[:, ::-1] + 8])


def test_volume_of_two_overlapping_boxes():
    u = union([box((0, 0, 0), (1, 1, 1)), box((0.5, 0.25, 0.25), (1.5, 0.75, 0.75))])
    assert len(u.shell_volume) == 1
    assert u.shell_volume[0] == pytest.approx(1 + 0.125, rel=1e-14)
    assert volume(u.points, u.triangles) == pytest.approx(1.125, rel=1e-14)


def test_every_triangle_lies_in_the_input_triangle_it_names():
    rng = np.random.default_rng(0)
    a, b = box((0, 0, 0), (1, 1, 1)), box((0.4, 0.3, 0.2), (1.5, 1.4, 1.3))
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    surfaces = [a, (b[0] @ (turn * np.linalg.det(turn)).T, b[1])]
    u = union(surfaces)
    assert set(u.body) == {0, 1}
    for t, b, f in zip(u.triangles, u.body, u.face):
        x, triangles = surfaces[b]
        p, q, r = x[triangles[f]]
        normal = np.cross(q - p, r - p)
        assert np.abs((u.points[t] - p) @ normal).max() < 1e-12
        own = np.cross(u.points[t[1]] - u.points[t[0]], u.points[t[2]] - u.points[t[0]])
        assert own @ normal >= -1e-15
    # in the order of the input, whatever pose it has
    number = u.body * len(CUBE_TRIANGLES) + u.face
    assert (np.diff(number) >= 0).all()


def test_a_lid_on_an_open_box_makes_one_void_with_both_bodies():
    # A pot: five slabs would do; here a hollow box whose top is cut away by the lid's overlap.
    walls = [
        box((0, 0, 0), (1, 1, 0.1)),
        box((0, 0, 0.05), (0.1, 1, 1)),
        box((0.9, 0, 0.05), (1, 1, 1)),
        box((0.05, 0, 0.05), (0.95, 0.1, 1)),
        box((0.05, 0.9, 0.05), (0.95, 1, 1)),
    ]
    u = union([*walls, box((-0.1, -0.1, 0.99), (1.1, 1.1, 1.2))])
    void = np.flatnonzero(u.shell_volume < 0)
    assert len(u.shell_volume) == 2
    assert len(void) == 1
    assert u.shell_volume[void[0]] == pytest.approx(-0.8 * 0.8 * 0.89, rel=1e-12)
    assert set(u.body[u.shell == void[0]]) == {0, 1, 2, 3, 4, 5}


def test_a_void_inside_one_body_names_that_body_only():
    u = union([hollow((0, 0, 0), (1, 1, 1), 0.2), box((0.9, 0.4, 0.4), (2, 0.6, 0.6))])
    void = np.flatnonzero(u.shell_volume < 0)
    assert len(void) == 1
    assert set(u.body[u.shell == void[0]]) == {0}


def test_disjoint_bodies_are_two_shells():
    u = union([box((0, 0, 0), (1, 1, 1)), box((2, 0, 0), (3, 2, 1))])
    assert sorted(u.shell_volume) == pytest.approx([1.0, 2.0])


def test_an_open_surface_is_refused():
    x, t = box((0, 0, 0), (1, 1, 1))
    with pytest.raises(MeshError, match="surface 1 of the union is not a closed solid"):
        union([box((0, 0, 0), (1, 1, 1)), (x, t[:-1])])
