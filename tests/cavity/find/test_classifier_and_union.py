"""Classifier and union agree on what is airtight, but for passages only the union can see."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from limpet.cavity.find.classifier_search import detect_recesses
from limpet.cavity.find.union_search import detect
from limpet.cavity.mesh import volume


def by_classes(scene, x=None):
    x = scene.x if x is None else x
    return detect_recesses(scene.surface, x, scene.contacts(x), S)


def by_union(scene, x=None, sealing_distance=None):
    x = scene.x if x is None else x
    return detect(
        scene.surface, x, scene.contacts(x), S if sealing_distance is None else sealing_distance
    )


# A cup of 12 sectors whose rim vertices stand on the plate, within the sealing distance, or not.
S = 1e-4
SECTORS = 12
RIM = 3 * SECTORS
FIRST = 1 + 3 * SECTORS  # of the rim's vertices
heights = st.one_of(st.just(0.0), st.floats(0.0, 0.9 * S), st.floats(1.1 * S, 2e-3))
mostly_closed = st.one_of(*[st.floats(0.0, 0.9 * S)] * 3, st.floats(1.1 * S, 2e-3))
clearly = st.one_of(*[st.just(0.0)] * 8, st.floats(4 * S, 2e-3))


@pytest.fixture(scope="module")
def pair(kit):
    return kit.scene(kit.cup(sectors=SECTORS), kit.block(1))


@settings(max_examples=500, deadline=None)
@given(st.sampled_from([heights, mostly_closed]).flatmap(
    lambda h: st.lists(h, min_size=RIM, max_size=RIM)
))  # fmt: skip
def test_classifier_and_union_agree_on_random_contacts(pair, rim):
    x = pair.x.copy()
    x[FIRST : FIRST + RIM, 2] = rim
    classes, union = by_classes(pair, x).cavities, by_union(pair, x).cavities
    assert bool(classes) == bool(union)
    # and on which vertices are inside
    free = np.array(rim) >= S
    inside = [
        sorted(v for m in meshes for v in m.interior.tolist() if not 0 <= v - FIRST < RIM
               or free[v - FIRST])
        for meshes in (classes, union)
    ]  # fmt: skip
    assert inside[0] == inside[1]


def grooved(kit, angle, width, rim):
    """A turned cup over a groove from the middle to the edge of the plate; the groove's width."""
    cup, triangles = kit.cup(sectors=SECTORS)
    cup[FIRST : FIRST + RIM, 2] = rim
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    cup[:, :2] = cup[:, :2] @ turn.T
    plate, faces = kit.block(30)
    inside = (np.abs(plate[:, 1]) < width / 2) & (plate[:, 0] > 0.0) & (plate[:, 2] == 0.0)
    plate[inside, 2] = -2e-3
    return kit.scene((cup, triangles), (plate, faces)), np.ptp(plate[inside, 1])


@settings(max_examples=60, deadline=None)
@given(
    st.floats(0.0, 2 * np.pi), st.floats(0.2e-3, 12e-3),
    st.lists(clearly, min_size=RIM, max_size=RIM),
)  # fmt: skip
def test_over_a_groove_they_differ_only_where_it_is_finer_than_the_vertices(kit, angle, width, rim):
    """A groove from the middle to the edge of the plate, cut between the grid's lines."""
    scene, width = grooved(kit, angle, width, rim)
    sealed, closed = bool(by_classes(scene).cavities), bool(by_union(scene).cavities)
    if sealed and not closed:  # the groove, with its slopes one cell wide, lies between two spokes
        spacing = 2 * 0.017 * np.sin(np.pi / SECTORS)
        slopes = 2 * 0.06 / 30
        assert width + slopes < spacing + 4 * S
    if closed and not sealed:  # the way out over the vertices has a throat that seals by being thin
        assert not by_union(scene, sealing_distance=S / 100).cavities


def test_a_throat_between_open_vertices_seals_the_union_only(kit):
    """A raised rim vertex beside one that stands over a groove: the tent between them tapers."""
    rim = np.zeros(RIM)
    rim[23] = 1.95e-3
    scene = grooved(kit, 6.0625, 7.8e-3, rim)[0]
    assert not by_classes(scene).cavities
    (pocket,) = by_union(scene).cavities
    assert FIRST + 23 in pocket.interior and 0 not in pocket.interior  # the tent, not the dome
    assert not by_union(scene, sealing_distance=S / 2).cavities


def test_a_slit_finer_than_the_vertices_opens_the_union_only(kit):
    plate, faces = kit.block(60)
    plate[
        (np.abs(plate[:, 1] - 3e-3) < 5e-4) & (plate[:, 0] > 0.0) & (plate[:, 2] == 0.0), 2
    ] = -2e-3
    scene = kit.scene(kit.cup(sectors=SECTORS), (plate, faces))
    assert len(by_classes(scene).cavities) == 1
    assert by_union(scene).cavities == ()


def test_a_hole_through_the_plate_is_covered_by_the_classifier(kit):
    # the plate of A: what is behind the hole is the vacuum line's business
    hole = np.array([(0.004, -0.01), (0.03, -0.01), (0.03, 0.0), (0.004, 0.0)])
    angle = 2 * np.pi * np.arange(24) / 24
    points = np.array([(r * np.cos(a), r * np.sin(a), z) for r, z in hole for a in angle])
    triangles = []
    for i in range(4):
        for j in range(24):
            a, b = i * 24 + j, i * 24 + (j + 1) % 24
            c, d = ((i + 1) % 4) * 24 + j, ((i + 1) % 4) * 24 + (j + 1) % 24
            triangles += [(a, b, d), (a, d, c)]
    scene = kit.scene(kit.cup(), (points, np.array(triangles, np.int32)))
    flat = kit.scene(kit.cup(), kit.block())
    (mesh,), (whole,) = by_classes(scene).cavities, by_classes(flat).cavities
    assert volume(mesh, scene.x) == pytest.approx(volume(whole, flat.x), rel=1e-12)
    push = kit.gradient(mesh, scene.x)[scene.part(1)].sum(axis=0)
    assert push == pytest.approx([0.0, 0.0, -kit.polygon(0.017)], abs=1e-15)
    assert by_union(scene).cavities == ()


@pytest.mark.parametrize("apart", [-1e-3, 1e-3])
def test_two_blocks_seal_a_cup_only_where_they_touch(kit, apart):
    def half(sign):
        x, t = kit.block(cells=4)
        y = x.copy()
        y[:, 0] = sign * (0.03 + apart / 2 + x[:, 0])
        return y, (t if sign > 0 else t[:, ::-1].copy())

    scene = kit.scene(kit.cup(sectors=SECTORS), half(1), half(-1))
    assert len(by_classes(scene).cavities) == len(by_union(scene).cavities) == int(apart < 0)
