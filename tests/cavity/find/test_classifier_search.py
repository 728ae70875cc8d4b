"""Cavities by the classifier: exact on flat bodies, close on curved ones."""

from __future__ import annotations

import math

import numpy as np
import pytest

from limpet.cavity.find.classifier_search import detect_recesses
from limpet.cavity.find.union_search import Fate, detect
from limpet.cavity.mesh import areas, positions, volume, volume_and_gradient
from limpet.cavity.seal.boundary import SealBoundary
from limpet.errors import LimpetError

S = 1e-4
CUP_VERTICES = 16 * 9 + 2  # of kit.cup(): nine rings and two poles


def by_classes(scene, x=None, sealing_distance=S, ring=SealBoundary.OUTER, **more):
    x = scene.x if x is None else x
    return detect_recesses(scene.surface, x, scene.contacts(x), sealing_distance, ring, **more)


def by_union(scene, x=None, sealing_distance=S, ring=SealBoundary.OUTER, **more):
    x = scene.x if x is None else x
    return detect(scene.surface, x, scene.contacts(x), sealing_distance, ring, **more)


def assert_closed(mesh, x):
    """Every edge is met as often in each direction, and the area vectors add up to nothing."""
    t = mesh.triangles
    half = np.concatenate([t[:, [0, 1]], t[:, [1, 2]], t[:, [2, 0]]]).astype(np.int64)
    half = half[half[:, 0] != half[:, 1]]
    net = np.zeros((len(mesh.vertices),) * 2, dtype=int)
    np.add.at(net, (half[:, 0], half[:, 1]), 1)
    assert np.array_equal(net, net.T)
    y = positions(mesh, x)
    vectors = np.cross(y[t[:, 1]] - y[t[:, 0]], y[t[:, 2]] - y[t[:, 0]]) * mesh.share[:, None] / 2
    assert max(abs(math.fsum(column)) for column in vectors.T) <= 1e-15 * areas(mesh, x)[0]


@pytest.mark.parametrize("ring", [SealBoundary.OUTER, SealBoundary.INNER, SealBoundary.MIDDLE, 0.3])
@pytest.mark.parametrize("cells", [1, 20])
def test_on_a_flat_block_it_is_the_cavity_of_the_union(kit, ring, cells):
    scene = kit.scene(kit.cup(), kit.block(cells))
    (mesh,), (other,) = by_classes(scene, ring=ring).cavities, by_union(scene, ring=ring).cavities
    assert np.array_equal(mesh.interior, other.interior)
    assert np.array_equal(mesh.seal_line, other.seal_line)
    assert np.array_equal(mesh.rings, other.rings)
    assert volume(mesh, scene.x) == pytest.approx(volume(other, scene.x), rel=1e-12)
    one, two = kit.gradient(mesh, scene.x), kit.gradient(other, scene.x)
    cup, block = scene.part(0), scene.part(1)
    assert np.abs(one[cup] - two[cup]).max() < 1e-12 * np.abs(two).max()
    # what the block feels is the same wrench, whatever its vertices share of it
    x = scene.x[block]
    for a, b in ((one, two), (np.cross(x, one[block]), np.cross(x, two[block]))):
        assert np.allclose(a.sum(axis=0), b.sum(axis=0), atol=1e-15)
    assert_closed(mesh, scene.x)


def test_the_gradient_is_that_of_the_volume(kit):
    scene = kit.scene(kit.cup(), kit.block(6))
    (mesh,) = by_classes(scene).cavities
    rng = np.random.default_rng(0)
    x = scene.x + 1e-4 * rng.normal(size=scene.x.shape)
    dense = kit.gradient(mesh, x)
    way = rng.normal(size=x.shape)
    e = 1e-6
    slope = (volume(mesh, x + e * way) - volume(mesh, x - e * way)) / (2 * e)
    assert slope == pytest.approx((dense * way).sum(), rel=1e-7)
    assert volume_and_gradient(mesh, x)[0] == volume(mesh, x)


@pytest.mark.parametrize("radius", [0.05, 0.1])
def test_on_a_curved_block_the_volume_is_close(kit, radius):
    def dome(x, y):
        return np.sqrt(radius**2 - x**2 - y**2) - radius

    profile = kit.CUP.copy()
    profile[:, 1] += dome(profile[:, 0], 0.0)  # the cup follows the block
    scene = kit.scene(kit.cup(profile, 24), kit.heightfield(dome, cells=60, size=0.05))
    (mesh,), (other,) = (f(scene, sealing_distance=2e-4).cavities for f in (by_classes, by_union))
    assert np.array_equal(mesh.seal_line, other.seal_line)
    assert volume(mesh, scene.x) == pytest.approx(volume(other, scene.x), rel=0.02)
    lift, other_lift = (kit.gradient(m, scene.x)[scene.part(0)].sum(axis=0) for m in (mesh, other))
    assert lift == pytest.approx(other_lift, rel=0.01, abs=1e-3 * other_lift[2])
    assert_closed(mesh, scene.x)


def test_a_known_cavity_keeps_its_line_flattens_and_opens(kit):
    scene = kit.scene(kit.cup(), kit.block())
    before = by_classes(scene).cavities
    again = by_classes(scene, previous=before).cavities
    assert np.array_equal(again[0].seal_line, before[0].seal_line)
    x = scene.x.copy()
    x[:49, 2] = 0.0  # the whole inner wall lies on the block
    assert by_classes(scene, x).cavities == ()  # nobody knew it: then a flat contact is no cavity
    flat = by_classes(scene, x, previous=before)
    assert len(flat.cavities) == 1 and flat.lost == ()
    lifts = [kit.gradient(m[0], x)[:CUP_VERTICES].sum(axis=0)[2] for m in (before, flat.cavities)]
    assert lifts[1] == pytest.approx(lifts[0], rel=1e-9)
    y = x.copy()
    y[:98, 2] += np.where(np.abs(np.arctan2(y[:98, 1], y[:98, 0])) < 0.6, 5e-4, 0.0)
    gone = by_classes(scene, y, previous=flat.cavities)
    assert gone.cavities == () and gone.lost == ((0, Fate.OPEN),)


def test_a_cavity_that_contact_cuts_in_two_becomes_two_and_merges_again(kit):
    scene, whole, split = kit.bellows()
    one = by_classes(scene, whole)
    two = by_classes(scene, split, previous=one.cavities)
    assert (len(one.cavities), len(two.cavities)) == (1, 2)
    assert two.lost == ()
    merged = by_classes(scene, whole, previous=two.cavities)
    assert len(merged.cavities) == 1 and merged.lost == ()
    assert volume(merged.cavities[0], whole) == pytest.approx(volume(one.cavities[0], whole))
    for mesh in two.cavities:
        assert_closed(mesh, split)


def test_a_contact_inside_the_cavity_has_a_loop_of_its_own(kit):
    # a post under the apex: the wall is a ring, and so is the area that the pressure acts on
    profile = kit.CUP.copy()
    profile[:3] = (0.0, 0.0), (3e-3, 0.0), (6e-3, 5e-3)
    scene = kit.scene(kit.cup(profile), kit.block())
    (mesh,), (other,) = (f(scene, ring=SealBoundary.INNER).cavities for f in (by_classes, by_union))
    assert volume(mesh, scene.x) == pytest.approx(volume(other, scene.x), rel=1e-9)
    lift = kit.gradient(mesh, scene.x)[scene.part(0)].sum(axis=0)[2]
    assert lift == pytest.approx(kit.polygon(0.015) - kit.polygon(0.003), rel=1e-12)
    assert_closed(mesh, scene.x)


def test_a_ring_between_two_plates_is_closed_by_a_patch_on_each(kit):
    profile = np.array([(0.01, 0.0), (0.02, 0.0), (0.02, 5e-3), (0.01, 5e-3)])
    angle = 2 * np.pi * np.arange(16) / 16
    points = np.array([(r * np.cos(a), r * np.sin(a), z) for r, z in profile for a in angle])
    triangles = []
    for i in range(4):
        for j in range(16):
            a, b = i * 16 + j, i * 16 + (j + 1) % 16
            c, d = ((i + 1) % 4) * 16 + j, ((i + 1) % 4) * 16 + (j + 1) % 16
            triangles += [(a, b, d), (a, d, c)]
    middle = points.copy()
    # a waist on the inside, so that there are vertices that do not touch
    waist = np.array([(0.009 * np.cos(a), 0.009 * np.sin(a), 2.5e-3) for a in angle])
    outer = np.array([(0.021 * np.cos(a), 0.021 * np.sin(a), 2.5e-3) for a in angle])
    points = np.concatenate([middle, waist, outer])
    rows = {k: 16 * k + np.arange(16) for k in range(6)}
    order = [0, 1, 5, 2, 3, 4]  # inner low, outer low, belly, outer high, inner high, waist
    triangles = []
    for one, two in zip(order, order[1:] + order[:1]):
        for j in range(16):
            k = (j + 1) % 16
            a, b, c, d = rows[one][j], rows[one][k], rows[two][k], rows[two][j]
            triangles += [(a, b, c), (a, c, d)]
    block, faces = kit.block()
    lid = block + np.array([0.0, 0.0, 0.035])
    scene = kit.scene((points, np.array(triangles, np.int32)), (block, faces), (lid, faces))
    (mesh,) = by_classes(scene, ring=SealBoundary.INNER).cavities
    base, narrow = kit.polygon(0.01), kit.polygon(0.009)
    mixed = kit.polygon(1.0) * 0.01 * 0.009
    assert volume(mesh, scene.x) == pytest.approx(5e-3 * (base + mixed + narrow) / 3, rel=1e-12)
    for body, sign in ((1, -1.0), (2, 1.0)):
        push = kit.gradient(mesh, scene.x)[scene.part(body)].sum(axis=0)
        assert push == pytest.approx([0.0, 0.0, sign * base], abs=1e-15)
    assert_closed(mesh, scene.x)


def test_a_ring_that_lies_on_a_ridge_is_closed_though_no_vertex_is_near(kit):
    # the edge of a post stands in the dome and touches its wall half-way between two rings
    profile = kit.CUP.copy()
    profile[:, 1] -= 2.75e-3
    post = np.array([(0.0, -0.02), (0.0125, -0.02), (0.0125, 0.0), (0.0, 0.0)])
    scene = kit.scene(kit.cup(profile), kit.cup(post))
    (mesh,) = by_classes(scene).cavities
    assert_closed(mesh, scene.x)
    assert len(by_union(scene).cavities) == 1
    # lowered on one side only, it is open
    x = scene.x.copy()
    part = scene.part(1)
    x[part, 2] -= np.where((x[part, 0] > 0.011) & (x[part, 2] == 0.0), 1e-3, 0.0)
    assert by_classes(scene, x).cavities == ()
    assert by_union(scene, x).cavities == ()


def test_the_inner_surface_may_be_named(kit):
    scene = kit.scene(kit.cup(), kit.block())
    inner = np.zeros(len(scene.x), dtype=bool)
    inner[:98] = True  # from the apex to the edge of the rim
    (named,) = by_classes(scene, inner=inner).cavities
    (found,) = by_classes(scene).cavities
    assert np.array_equal(named.interior, found.interior)
    # named the other way round, the dome is the outside and what is left bulges: no recess
    inner = ~inner
    inner[CUP_VERTICES:] = False
    assert by_classes(scene, inner=inner).cavities == ()


def test_a_hollow_within_a_body_is_no_cavity(kit):
    (x, t), (y, u) = kit.block(4), kit.block(2, size=0.03)
    hollow = np.concatenate([x, 0.5 * y + np.array([0.0, 0.0, -0.01])])
    body = (hollow, np.concatenate([t, u[:, ::-1] + len(x)]).astype(np.int32))
    below = kit.block()[0] + np.array([0.0, 0.0, -0.03]), kit.block()[1]
    assert by_classes(kit.scene(body, below)).cavities == ()


def test_the_unions_own_cut_is_refused(kit):
    scene = kit.scene(kit.cup(), kit.block())
    with pytest.raises(LimpetError, match="history"):
        by_classes(scene, ring=SealBoundary.HISTORY)
