"""Finding cavities: how many, how large, where they end, whatever the sealing distance."""

from __future__ import annotations

import math

import numpy as np
import pytest

from limpet.cavity.find.union_search import Fate, detect
from limpet.cavity.mesh import areas, positions, volume, volume_and_gradient
from limpet.cavity.seal.boundary import SealBoundary
from limpet.cavity.seal.leak_paths import bottlenecks, seal_gaps
from limpet.cavity.seal.proximity import vertex_proximity
from limpet.geometry.bvh import build_tree

S = 1e-4
PLACED = [
    SealBoundary.OUTER,
    SealBoundary.INNER,
    SealBoundary.MIDDLE,
    0.3,
]  # models that say where the pressure ends


def polygonal_volume(kit, sectors=16):
    """Under the dome: the frusta between regular polygons."""
    total = 0.0
    for (r0, z0), (r1, z1) in zip(kit.CUP[:4], kit.CUP[1:5]):
        a, m, b = (
            kit.polygon(r0, sectors),
            kit.polygon(1.0, sectors) * r0 * r1,
            kit.polygon(r1, sectors),
        )
        total += (z0 - z1) * (a + m + b) / 3.0
    return total


def found(scene, x=None, sealing_distance=S, ring=SealBoundary.OUTER, **more):
    x = scene.x if x is None else x
    return detect(scene.surface, x, scene.contacts(x), sealing_distance, ring, **more)


def assert_closed(mesh, x):
    """Every edge is met once in each direction, and the area vectors add up to nothing."""
    t = mesh.triangles
    half = np.concatenate([t[:, [0, 1]], t[:, [1, 2]], t[:, [2, 0]]]).astype(np.int64)
    half = half[half[:, 0] != half[:, 1]]
    n = len(mesh.vertices)
    net = np.zeros((n, n), dtype=int)
    np.add.at(net, (half[:, 0], half[:, 1]), 1)
    assert np.array_equal(net, net.T)
    y = positions(mesh, x)
    vectors = np.cross(y[t[:, 1]] - y[t[:, 0]], y[t[:, 2]] - y[t[:, 0]])
    vectors = vectors * mesh.share[:, None] / 2
    total = max(abs(math.fsum(column)) for column in vectors.T)
    assert total <= 1e-15 * areas(mesh, x)[0]


@pytest.mark.parametrize("cells", [1, 20])
@pytest.mark.parametrize("block_first", [False, True])
def test_a_cup_at_rest_on_a_block_has_exactly_one_cavity(kit, cells, block_first):
    bodies = [kit.cup(), kit.block(cells)]
    scene = kit.scene(*(bodies[::-1] if block_first else bodies))
    result = found(scene)
    assert len(result.cavities) == 1
    mesh = result.cavities[0]
    v, _ = volume_and_gradient(mesh, scene.x)
    assert v == pytest.approx(polygonal_volume(kit), rel=1e-12)
    assert v == pytest.approx(volume(mesh, scene.x), rel=1e-14)
    cup = int(block_first)
    lift = kit.gradient(mesh, scene.x)[scene.part(cup)].sum(axis=0)
    assert lift[2] == pytest.approx(kit.polygon(0.017), rel=1e-12)
    assert_closed(mesh, scene.x)
    assert mesh.carriers == (cup,)
    assert len(mesh.seal_line) == 16
    assert np.allclose(np.hypot(*scene.x[mesh.seal_line, :2].T), 0.017)


def test_a_cup_raised_on_one_side_has_none(kit):
    scene = kit.scene(kit.cup(), kit.block())
    x = scene.x.copy()
    x[scene.part(0), 2] += 0.02 * np.maximum(0.0, x[scene.part(0), 0])
    assert (scene.contacts(x).gap < S).any()
    assert found(scene, x).cavities == ()


def test_a_cup_far_away_needs_no_union(kit):
    scene = kit.scene(kit.cup(), kit.block())
    assert found(scene, scene.moved(0, (0, 0, 0.1))).cavities == ()


@pytest.mark.parametrize("ring", PLACED)
@pytest.mark.parametrize("sealing_distance", [1e-5, 5e-5, 3e-4])
def test_the_sealing_distance_moves_nothing(kit, ring, sealing_distance):
    # A shallow lip, so that the gap reaches the sealing distance only millimetres inside the ring.
    profile = kit.CUP.copy()
    profile[3] = 0.0135, 0.0004
    profile[2] = 0.011, 0.0009
    scene = kit.scene(kit.cup(profile), kit.block(20))
    one, other = (
        found(scene, sealing_distance=s, ring=ring).cavities for s in (S, sealing_distance)
    )
    assert len(one) == len(other) == 1
    g = [kit.gradient(m[0], scene.x) for m in (one, other)]
    assert volume(other[0], scene.x) == pytest.approx(volume(one[0], scene.x), rel=1e-10)
    # The triangulation of the flat block may differ; its wrench may not. The cup's share is unique.
    cup, block = scene.part(0), scene.part(1)
    assert np.abs(g[0][cup] - g[1][cup]).max() < 1e-10 * np.abs(g[0]).max()
    for y in (np.ones(3), scene.x[block]):
        assert np.allclose((g[0][block] * y).sum(0), (g[1][block] * y).sum(0), atol=1e-12)


def test_without_a_touching_ring_all_closed_vertices_seal(kit):
    scene = kit.scene(kit.cup(), kit.block())
    x = scene.moved(0, (0, 0, 5e-5))
    assert found(scene, x, sealing_distance=3e-5).cavities == ()
    for sealing_distance in (6e-5, S, 3e-4):
        (mesh,) = found(scene, x, sealing_distance=sealing_distance).cavities
        expected = polygonal_volume(kit) + 5e-5 * kit.polygon(0.017)
        assert volume(mesh, x) == pytest.approx(expected, rel=1e-10)


def test_the_ring_model_says_where_the_pressure_ends(kit):
    scene = kit.scene(kit.cup(), kit.block(20))
    lift = {}
    for ring in PLACED:
        (mesh,) = found(scene, ring=ring).cavities
        g = kit.gradient(mesh, scene.x)
        lift[ring] = g[scene.part(0)].sum(axis=0)[2]
        assert np.allclose(g.sum(axis=0), 0.0, atol=1e-15)
        assert volume(mesh, scene.x) == pytest.approx(polygonal_volume(kit), rel=1e-12)
        assert_closed(mesh, scene.x)
    outer, inner = kit.polygon(0.017), kit.polygon(0.015)
    assert lift[SealBoundary.OUTER] == pytest.approx(outer, rel=1e-12)
    assert lift[SealBoundary.INNER] == pytest.approx(inner, rel=1e-12)
    assert lift[SealBoundary.MIDDLE] == pytest.approx((outer + inner) / 2, rel=1e-12)
    assert lift[0.3] == pytest.approx(0.3 * outer + 0.7 * inner, rel=1e-12)
    for share, ring in (
        (1.0, SealBoundary.OUTER),
        (0.0, SealBoundary.INNER),
        (0.5, SealBoundary.MIDDLE),
    ):
        (mesh,) = found(scene, ring=share).cavities
        assert kit.gradient(mesh, scene.x)[scene.part(0)].sum(axis=0)[2] == lift[ring]


def test_with_history_the_mesh_ends_where_the_union_cut(kit):
    # Between the innermost vertices that are closed and the next ones, as deep as these are high.
    scene = kit.scene(kit.cup(), kit.block(20))
    for sealing_distance in (5e-5, 1e-4, 3e-4):
        (mesh,) = found(
            scene, sealing_distance=sealing_distance, ring=SealBoundary.HISTORY
        ).cavities
        assert_closed(mesh, scene.x)
        radius = 0.015 - 1e-3 * sealing_distance / (1.5e-3 + sealing_distance)
        lift = kit.gradient(mesh, scene.x)[scene.part(0)].sum(axis=0)[2]
        assert lift == pytest.approx(kit.polygon(radius), rel=1e-3)


def test_a_lifted_outer_edge_moves_the_seal_line_inward(kit):
    scene = kit.scene(kit.cup(), kit.block())
    before = found(scene).cavities
    x = scene.x.copy()
    rim = np.flatnonzero((np.hypot(x[:, 0], x[:, 1]) > 0.0165) & (x[:, 2] == 0) & (x[:, 0] > 0.016))
    rim = rim[rim < scene.surface.offset[1]]
    x[rim, 2] += 5e-4
    new, remeshed = found(scene, x), found(scene, x, previous=before)
    assert remeshed.unions == 1
    for result in (new, remeshed):
        (mesh,) = result.cavities
        assert not np.isin(rim, mesh.seal_line).any()
        lift = kit.gradient(mesh, x)[scene.part(0)].sum(axis=0)[2]
        assert kit.polygon(0.016) < lift < 0.99 * kit.polygon(0.017)
        assert_closed(mesh, x)


def test_a_known_cavity_is_remeshed_by_one_union(kit):
    scene = kit.scene(kit.cup(), kit.block(20))
    first = found(scene)
    trees = [build_tree(scene.x[scene.part(b)], s.triangles) for b, s in enumerate(scene.surfaces)]
    again = found(scene, previous=first.cavities, trees=trees)
    assert (first.unions, again.unions) == (2, 1)
    one, other = first.cavities[0], again.cavities[0]
    assert np.array_equal(one.interior, other.interior)
    assert np.array_equal(one.seal_line, other.seal_line)
    assert volume(one, scene.x) == pytest.approx(volume(other, scene.x), rel=1e-14)


@pytest.mark.parametrize("ring", list(SealBoundary))
@pytest.mark.parametrize("height", [0.0, 3e-5])
def test_a_flattened_cavity_lives_on_until_its_ring_opens(kit, ring, height):
    scene = kit.scene(kit.cup(), kit.block())
    before = found(scene, ring=ring).cavities
    x = scene.x.copy()
    x[:49, 2] = height  # the whole inner wall lies on the block, closed
    flat = found(scene, x, ring=ring, previous=before)
    assert len(flat.cavities) == 1
    assert flat.lost == ()
    lifts = [kit.gradient(m[0], x)[:98].sum(axis=0)[2] for m in (before, flat.cavities)]
    assert lifts[1] == pytest.approx(lifts[0], rel=1e-9)
    assert seal_gaps(scene.surface, scene.contacts(x), S, flat.cavities)[0] < S
    # Nobody knew it: then a flat contact is no cavity.
    if height == 0.0:
        assert found(scene, x, ring=ring).cavities == ()
    # Lift a sector from the apex to the rim: the ring is open, the cavity gone.
    y = x.copy()
    y[:98, 2] += np.where(np.abs(np.arctan2(y[:98, 1], y[:98, 0])) < 0.6, 5e-4, 0.0)
    gone = found(scene, y, ring=ring, previous=flat.cavities)
    assert gone.cavities == ()
    assert gone.lost == ((0, Fate.OPEN),)


def test_the_seal_gap_is_the_worst_of_the_best_paths(kit):
    scene = kit.scene(kit.cup(), kit.block())
    cavities = found(scene).cavities
    assert seal_gaps(scene.surface, scene.contacts(), S, cavities)[0] == pytest.approx(
        0.0, abs=1e-12
    )
    x = scene.x.copy()
    radius, angle = np.hypot(x[:98, 0], x[:98, 1]), np.arctan2(x[:98, 1], x[:98, 0])
    for r, gap in ((0.015, 6e-5), (0.016, 2e-5), (0.017, 4e-5)):
        x[:98][(np.abs(radius - r) < 1e-6) & (np.abs(angle) < 0.1) & (x[:98, 2] < 1e-6), 2] = gap
    assert seal_gaps(scene.surface, scene.contacts(x), S, cavities)[0] == pytest.approx(2e-5)
    ((gap, neck),) = bottlenecks(
        scene.surface, vertex_proximity(scene.contacts(x), scene.surface), S, cavities
    )
    assert x[neck] == pytest.approx([0.016, 0.0, gap])  # that is where it would open


def test_two_dimples_are_two_cavities_and_a_new_one_is_found_beside_a_known_one(kit):
    def plate(x, y):
        near = np.minimum(np.hypot(x - 0.015, y), np.hypot(x + 0.015, y))
        return -4e-3 * np.clip(1.2 - near / 6e-3, 0.0, 1.0)

    # The plate is the block turned over, its dimples now facing down.
    x, t = kit.heightfield(plate, cells=30, size=0.064, bottom=-0.01)
    x = x * [1.0, 1.0, -1.0]
    scene = kit.scene((x, t[:, ::-1].copy()), kit.block())
    both = found(scene)
    assert len(both.cavities) == 2
    v = [volume(m, scene.x) for m in both.cavities]
    assert v[0] == pytest.approx(v[1], rel=1e-6)
    # Open the way from the right dimple to the edge.
    y = scene.x.copy()
    y[: len(x), 2] += np.where(
        (y[: len(x), 0] > 0.015) & (np.abs(y[: len(x), 1]) < 2.5e-3), 1e-3, 0
    )
    left = found(scene, y, previous=both.cavities)
    assert len(left.cavities) == 1
    assert len(left.lost) == 1
    assert left.lost[0][1] is Fate.OPEN
    again = found(scene, previous=left.cavities)
    assert len(again.cavities) == 2
    assert again.unions == 2
    # Each ring vertex belongs to one cavity; together they own what lies inside the plate's edge.
    assert np.intersect1d(again.cavities[0].interior, again.cavities[1].interior).size == 0
    for mesh in again.cavities:
        assert_closed(mesh, scene.x)


@pytest.mark.parametrize("ring", list(SealBoundary))
def test_a_ring_shaped_cavity_round_a_post(kit, ring):
    profile = kit.CUP.copy()
    profile[:3] = (0.0, 5e-3), (5.5e-3, 5e-3), (0.011, 4e-3)
    side = 2.5e-3
    block = kit.heightfield(
        lambda x, y: np.where(np.maximum(np.abs(x), np.abs(y)) < side, 5e-3, 0.0), cells=60
    )
    scene = kit.scene(kit.cup(profile), block)
    (mesh,) = found(scene, ring=ring).cavities
    assert_closed(mesh, scene.x)
    empty = kit.scene(kit.cup(profile), kit.block())
    dome = volume(found(empty).cavities[0], empty.x)
    # The post's foot is one cell of 1 mm wider than its top of 4 mm: a frustum-like solid.
    post = volume_of_post(block)
    if ring is not SealBoundary.INNER:
        assert volume(mesh, scene.x) == pytest.approx(
            dome - post, rel=1e-3 if ring is SealBoundary.OUTER else 0.05
        )
    else:
        # The apex touches the post: with a dry ring the pressure ends round it.
        assert not np.isin(0, mesh.interior)
        assert np.isin(0, mesh.seal_line)


def volume_of_post(block):
    x, t = block
    high = x.copy()
    a, b, c = high[t[:, 0]], high[t[:, 1]], high[t[:, 2]]
    return np.einsum("ij,ij", a, np.cross(b, c)) / 6.0 - 0.06**2 * 0.03


def test_the_body_with_the_hole_bears_the_ring_when_the_other_is_flat(kit):
    # Cube halves of P: a flat lid comes first and leads, but has no vertex over the hole.
    hole = kit.heightfield(
        lambda x, y: -8e-3 * (np.hypot(x, y) < 7e-3), size=0.03, bottom=-0.015, cells=15
    )
    x, t = kit.block(size=0.03)
    scene = kit.scene((x * [1, 1, -1], t[:, ::-1].copy()), hole)
    (mesh,) = found(scene).cavities
    assert mesh.carriers == (1,)
    assert_closed(mesh, scene.x)
    volumes = [volume(found(scene, sealing_distance=s).cavities[0], scene.x) for s in (1e-5, 3e-4)]
    assert volumes[0] == pytest.approx(volumes[1], rel=1e-9)


def test_a_cup_over_the_joint_of_two_blocks_is_closed_where_three_bodies_meet(kit):
    def half(sign, overlap):
        x, t = kit.block(cells=4)
        y = x.copy()
        y[:, 0] = sign * (0.03 + x[:, 0]) - sign * overlap
        return y, (t if sign > 0 else t[:, ::-1].copy())

    scene = kit.scene(kit.cup(), half(1, 1e-3), half(-1, 0.0))
    (mesh,) = found(scene).cavities
    assert set(mesh.body) == {0, 1, 2}
    assert volume(mesh, scene.x) == pytest.approx(polygonal_volume(kit), rel=1e-3)
    assert_closed(mesh, scene.x)


def test_a_cup_wider_than_the_block_seals_on_the_edge_of_the_block(kit):
    # No vertex of the cup is closed; the rim of the block stands in the dome and touches its wall.
    profile = kit.CUP.copy()
    profile[:, 1] -= 2.75e-3  # at r = 12.5 mm, half-way along a segment, the wall is at height 0
    top = 0.0125
    n = 16
    post = np.array([(0.0, -0.02), (top, -0.02), (top, 0.0), (0.0, 0.0)])
    scene = kit.scene(kit.cup(profile), kit.cup(post, n))
    (mesh,) = found(scene).cavities
    assert_closed(mesh, scene.x)
    assert 0 < volume(mesh, scene.x) < polygonal_volume(kit)
    again = found(scene, previous=(mesh,))
    assert len(again.cavities) == 1


@pytest.mark.parametrize("seed", range(4))
def test_turning_and_moving_the_world_changes_nothing(kit, seed):
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    turn *= np.linalg.det(turn)
    scene = kit.scene(kit.cup(), kit.block(7))
    (mesh,) = found(scene).cavities
    x = scene.x @ turn.T + [10.0, -3.0, 5.0]
    (moved,) = found(scene, x).cavities
    assert volume(moved, x) == pytest.approx(volume(mesh, scene.x), rel=1e-9)
    cup = scene.part(0)
    g, h = kit.gradient(mesh, scene.x)[cup], kit.gradient(moved, x)[cup]
    assert np.abs(h - g @ turn.T).max() < 1e-9 * np.abs(g).max()


@pytest.mark.parametrize("radius", [-0.05, 0.05])
def test_on_a_cylinder_the_sealing_distance_hardly_matters(kit, radius):
    def height(x, y):
        return -np.sign(radius) * (abs(radius) - np.sqrt(radius**2 - x * x))

    scene = kit.scene(kit.cup(sectors=48), kit.heightfield(height, cells=40))
    x = scene.x.copy()
    cup = x[scene.part(0)]
    cup[:, 2] += height(cup[:, 0], cup[:, 1])
    results = [found(scene, x, sealing_distance=s) for s in (1e-4, 2e-4, 4e-4)]
    assert all(len(r.cavities) == 1 for r in results)
    volumes = [volume(r.cavities[0], x) for r in results]
    lifts = [kit.gradient(r.cavities[0], x)[scene.part(0)].sum(axis=0)[2] for r in results]
    assert np.ptp(volumes) < 1e-3 * volumes[0]
    assert np.ptp(lifts) < 1e-3 * lifts[0]
