"""Blocks with holes: closed, full but for the hole, the outline as random as its seed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from limpet.errors import LimpetError
from limpet.fem.material import Material
from limpet.fem.soft_body import SoftBody
from limpet.geometry.surface import volume
from limpet.meshing.check import check_surface
from limpet.meshing.embedded import brick_body
from limpet.shapes.jelly import half_with_hole, hole_outline, jelly_half, tunnel_cube


def check(shape) -> float:
    """The volume of the cells, whose surfaces must be sound."""
    for surface in (shape.collision, shape.visual):
        check_surface(surface.positions(shape.points), surface.triangles, shape.name)
    return SoftBody("body", shape, Material(5e4, 0.45), 0.1).fem.volume


def hole_area(radius, seed, rough) -> float:
    angle = np.linspace(0.0, 2.0 * np.pi, 720, endpoint=False)
    return np.pi * float(((radius * hole_outline(angle, seed, rough)) ** 2).mean())


@settings(max_examples=12, deadline=None)
@given(
    seed=st.integers(0, 1000),
    rough=st.floats(0.0, 0.4),
    radius=st.floats(0.15, 0.3),
    depth=st.floats(0.05, 0.4),
    sectors=st.sampled_from([12, 16, 20]),
    around=st.integers(1, 3),
)
def test_a_half_with_a_hole_is_a_block_but_for_the_hole(
    seed, rough, radius, depth, sectors, around
):
    edge = 0.06
    shape = half_with_hole(
        edge, radius * edge, depth * edge, seed, rough=rough, sectors=sectors, around=around
    )
    hole = hole_area(radius * edge, seed, rough) * depth * edge
    assert check(shape) == pytest.approx(edge**3 / 2.0 - hole, rel=4e-3)
    surface = shape.collision.positions(shape.points)
    assert volume(surface, shape.collision.triangles) == pytest.approx(
        edge**3 / 2.0 - hole, rel=0.03
    )
    assert np.all(shape.points[shape.regions["top"], 2] == 0.0)
    assert np.all(shape.points[shape.regions["bottom"], 2] == -edge / 2.0)
    assert np.ptp(surface, axis=0) == pytest.approx([edge, edge, edge / 2.0])


def test_outlines_are_random_smooth_and_repeatable():
    angle = np.linspace(0.0, 2.0 * np.pi, 400)
    one, two = hole_outline(angle, 1, 0.3), hole_outline(angle, 2, 0.3)
    assert np.array_equal(one, hole_outline(angle, 1, 0.3))
    assert np.abs(one - two).max() > 0.1
    assert one[0] == pytest.approx(one[-1])
    assert np.abs(one - 1.0).max() == pytest.approx(0.3, rel=1e-2)
    assert np.all(hole_outline(angle, 1, 0.0) == 1.0)


def test_the_two_halves_have_the_nodes_of_the_paper():
    assert len(jelly_half().points) + len(half_with_hole().points) == pytest.approx(644, rel=0.03)


@pytest.mark.parametrize("finer", [1, 2, 3])
@pytest.mark.parametrize("divisions", [(2, 2, 1), (4, 4, 2)])
def test_a_plain_half_is_a_block_with_a_finer_surface(divisions, finer):
    shape = jelly_half(0.06, divisions, finer)
    assert check(shape) == pytest.approx(0.06**3 / 2.0)
    n = [finer * d for d in divisions]
    faces = 2 * (n[0] * n[1] + n[1] * n[2] + n[2] * n[0])
    assert len(shape.collision.triangles) == 2 * faces
    # it rides on the cells: what is linear it follows
    turn = np.array([[0.0, -1.0, 0.1], [1.0, 0.2, 0.0], [0.0, 0.0, 1.3]])
    rest = shape.collision.positions(shape.points)
    assert np.allclose(shape.collision.positions(shape.points @ turn), rest @ turn, atol=1e-15)


@pytest.mark.parametrize("element", [None, "hex8"])
@pytest.mark.parametrize(
    "hole, spacing, depth", [(7, 16, 15), (6, 30, 8), (8, 10, 30), (7, 40, 15)]
)
def test_a_tunnel_joins_the_two_holes(hole, spacing, depth, element):
    edge = 60
    shape = tunnel_cube(*(1e-3 * v for v in (edge, hole, spacing, depth)), element=element)
    removed = hole**2 * (2 * depth + spacing + hole)
    assert check(shape) == pytest.approx(1e-9 * (edge**3 - removed))
    # the surface is that of a handle: its Euler number is 0, a block's would be 2
    t = shape.collision.triangles
    edges = np.unique(np.sort(t[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1), axis=0)
    assert shape.collision.n_vertices - len(edges) + len(t) == 0


@pytest.mark.parametrize(
    "make, says",
    [
        (lambda: jelly_half(-1.0), "jelly half edge = -1 m"),
        (lambda: jelly_half(divisions=(0, 1, 1)), "jelly half divisions = .0, 1, 1."),
        (lambda: half_with_hole(depth=0.0), "half with hole depth = 0 m"),
        (lambda: half_with_hole(depth=0.03), "half with hole depth = 0.03 m: expected at most"),
        (lambda: half_with_hole(radius=0.025), "half with hole radius = 0.025 m: expected at most"),
        (lambda: half_with_hole(rough=0.9), "half with hole rough = 0.9"),
        (lambda: half_with_hole(sectors=10), "half with hole sectors = 10"),
        (lambda: tunnel_cube(hole=0.0), "tunnel cube hole = 0 m"),
        (lambda: tunnel_cube(spacing=0.007), "tunnel cube spacing = 0.007 m: expected between"),
        (lambda: tunnel_cube(depth=0.06), "tunnel cube depth = 0.06 m: expected at most"),
        (lambda: tunnel_cube(finer=0), "tunnel cube finer = 0"),
        (lambda: tunnel_cube(element="tet10"), "tunnel cube element = 'tet10': expected hex"),
        (lambda: brick_body(np.ones((1, 1, 1), bool), (np.arange(2.0),) * 3, 0), "bricks finer"),
    ],
)
def test_wrong_wishes_are_refused_in_one_line(make, says):
    with pytest.raises(LimpetError, match=says) as caught:
        make()
    assert "\n" not in str(caught.value)
