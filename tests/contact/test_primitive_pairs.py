"""All pairs of vertices and primitives at once, against one pair after the other."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.contact.pipeline import CollisionBody, CollisionPipeline, _may_meet
from limpet.contact.primitive_pairs import Kinematics
from limpet.contact.primitives import (
    ball,
    block,
    half_space,
    no_nearer,
    round_bar,
    signed_distance,
    vertices_near,
)
from limpet.geometry.rotation import rotation_matrix
from limpet.particles.point_pairs import CollisionSurfaces, contact_pairs

PRIMITIVES = {
    "ball": ball(0.3),
    "half space": half_space(0.05, (0.0, 0.6, 0.8)),
    "bar": round_bar(0.2, 0.3, (0.6, 0.0, 0.8)),
    "block": block(0.4, 0.3, 0.2),
}
NO_FACES = np.zeros((0, 3), np.int32)
MARGIN, H = 0.05, 0.02


def place(rng, n):
    """Positions, velocities, centre, rotation and motion of one body."""
    rotation = rotation_matrix(rng.normal(size=3), rng.random())
    return (
        0.4 * rng.normal(size=(n, 3)), rng.normal(size=(n, 3)), 0.2 * rng.normal(size=3), rotation,
        0.3 * rng.normal(size=6),
    )  # fmt: skip


def joined(places):
    x, v, *rigid = zip(*places)
    start = np.cumsum([0, *map(len, x)])
    return Kinematics(start, np.concatenate(x), np.concatenate(v), *map(np.array, rigid))


@pytest.mark.parametrize("seed", range(3))
def test_all_pairs_at_once_are_the_pairs_one_by_one(seed):
    rng = np.random.default_rng(seed)
    soft = [
        CollisionBody(f"soft {k}", first, -1, False, NO_FACES, True, None, thick, False)
        for k, (first, thick) in enumerate([(0, 0.0), (30, 2e-3)])
    ]
    solid = [
        CollisionBody(name, -1, k, True, NO_FACES, True, shape, 0.0, False)
        for k, (name, shape) in enumerate(PRIMITIVES.items())
    ]
    parts = [*solid[:2], *soft, *solid[2:]]
    places = [place(rng, 30 if p.rigid < 0 else 8) for p in parts]
    b = next(i for i, p in enumerate(parts) if p.name == "ball")
    _, _, centre, rotation, motion = places[b]
    places[b] = centre[None], motion[None, :3], centre, rotation, motion
    at = joined(places)
    pipeline = CollisionPipeline.of(parts, at)
    found, friction = pipeline.find(at, H, MARGIN), rng.random((len(parts), len(parts)))
    surfaces = CollisionSurfaces.of(parts, friction)
    pairs, points = contact_pairs(found, surfaces, at)

    of = pipeline.primitives
    assert of is not None and len(of.one) == 14  # 2 x 4, and 6 among solids
    seen, among = 0, []
    for one, two, number in zip(of.one, of.two, of.number):
        a, (x, v, *_), on = parts[one], places[one], places[two]
        radius = 0.3 if a.name == "ball" else a.thickness
        fast = np.linalg.norm(v, axis=1).max() if a.rigid < 0 else 0.0
        index, gap, normal, point = vertices_near(
            x, v, parts[two].shape, *on[2:], radius, MARGIN, H, H * fast,
        )  # fmt: skip
        here = slice(seen, seen + len(index))
        own = found.take(here)
        seen += len(index)
        nodes = index + max(a.first, 0)
        np.testing.assert_array_equal(own.vertices_a, np.repeat(index[:, None], 3, axis=1))
        np.testing.assert_array_equal(own.key, nodes.astype(np.int64) * 1024 + number)
        assert np.all(own.weights_a == [1.0, 0.0, 0.0]) and np.all(own.weights_b == 0.0)
        np.testing.assert_array_equal(own.gap, gap)
        np.testing.assert_array_equal(own.normal, normal)
        on_ball = point - radius * normal if a.name == "ball" else point
        np.testing.assert_allclose(points[here], on_ball, rtol=0.0, atol=1e-15)
        assert np.all(own.surface_a == one) and np.all(own.surface_b == two)
        assert np.all(pairs.rigid[here] == [a.rigid, parts[two].rigid])
        assert np.all(pairs.friction[here] == friction[one, two])
        among += [a.rigid >= 0] * len(index)
    assert seen == len(found) > 50
    assert among == sorted(among, reverse=True)  # those among rigid bodies come first
    rigid, rest = surfaces.split(found)
    assert len(rigid) == sum(among) > 0 and np.all(surfaces.rigid[rest.surface_a] < 0)


def test_contacts_among_rigid_bodies_are_split_off_in_any_order():
    rng = np.random.default_rng(0)
    parts = [
        CollisionBody("soft", 0, -1, True, NO_FACES, True, None, 0.0, False),
        *(
            CollisionBody(name, -1, k, True, NO_FACES, True, shape, 0.0, False)
            for k, (name, shape) in enumerate(PRIMITIVES.items())
        ),
    ]
    at = joined([place(rng, 30) for _ in parts])
    found = CollisionPipeline.of(parts, at).find(at, H, MARGIN)
    order = rng.permutation(len(found))
    surfaces = CollisionSurfaces.of(parts, np.ones((5, 5)))
    rigid, rest = surfaces.split(found.take(order))
    among = (surfaces.rigid[found.surface_a] >= 0)[order]
    np.testing.assert_array_equal(rigid.key, found.key[order][among])
    np.testing.assert_array_equal(rest.key, found.key[order][~among])


@pytest.mark.parametrize("name", list(PRIMITIVES))
def test_no_point_of_a_box_is_nearer_than_its_bound(name):
    rng, shape, n = np.random.default_rng(1), PRIMITIVES[name], np.empty(3)
    tight = []
    for _ in range(60):
        d, half = rng.normal(size=3), 0.5 * rng.random(3)
        least = no_nearer(shape.kind, shape.size, shape.axis, d, half)
        points = d + half * rng.uniform(-1.0, 1.0, size=(200, 3))
        points[:8] = d + half * np.stack(np.meshgrid(*3 * [[-1, 1]]), axis=-1).reshape(-1, 3)
        off = [signed_distance(shape.kind, shape.size, shape.axis, p, n) for p in points]
        assert least <= min(off) + 1e-12
        tight.append(min(off) - least)
    assert min(tight) < 0.1  # and it is a bound, not minus infinity


def test_surfaces_are_passed_over_only_when_they_cannot_meet():
    rng, kept = np.random.default_rng(2), []
    for _ in range(200):
        places = [place(rng, 12) for _ in range(2)]
        places[1][0][:, 0] += rng.uniform(1.0, 4.0)
        kept.append(bool(_may_meet(joined(places), [(0, 1)], MARGIN, H)))
        if not kept[-1]:
            a, b = (np.vstack([x, x + H * v]) for x, v, *_ in places)
            apart = np.maximum(b.min(axis=0) - a.max(axis=0), a.min(axis=0) - b.max(axis=0))
            assert apart.max() > MARGIN
    assert 20 < sum(kept) < 180
