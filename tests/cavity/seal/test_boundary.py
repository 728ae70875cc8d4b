"""The contact ring on the vertex graph: nearest contacts, offsets, leak paths."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.cavity.find.offsets import offsets
from limpet.cavity.find.union_search import detect
from limpet.cavity.seal.boundary import PULL, PUSH, Candidate, SealBoundary, divide
from limpet.cavity.seal.leak_paths import bottleneck_path, ring_open, seal_gap
from limpet.cavity.seal.proximity import VertexProximity, vertex_proximity

S = 1e-4


@pytest.fixture(scope="module")
def case(kit):
    scene = kit.scene(kit.cup(), kit.block(20))
    (mesh,) = detect(scene.surface, scene.x, scene.contacts(), S).cavities
    return scene, mesh, Candidate(mesh.rings, mesh.interior, mesh.seal_line)


def with_gaps(scene, gap):
    n = len(scene.x)
    up = np.tile([0.0, 0.0, 1.0], (n, 1))
    face = np.full((n, 3), scene.surface.offset[1], dtype=np.int32)
    return VertexProximity(gap, up, face, np.full((n, 3), 1 / 3))


def test_each_vertex_knows_its_nearest_contact(case):
    scene, _, _ = case
    contacts = scene.contacts()
    near = vertex_proximity(contacts, scene.surface)
    expected = np.full(len(scene.x), np.inf)
    first = scene.surface.offset
    for k in range(len(contacts)):
        if contacts.kind[k] == 2:
            continue
        for body, at, w in (
            (contacts.surface_a[k], contacts.vertices_a[k], contacts.weights_a[k]),
            (contacts.surface_b[k], contacts.vertices_b[k], contacts.weights_b[k]),
        ):
            if w.max() > 1 - 1e-9:
                v = first[body] + at[w.argmax()]
                expected[v] = min(expected[v], contacts.gap[k])
    assert np.array_equal(near.gap, expected)
    # Moving along `away` parts the vertex from the point of the other body that holds it.
    held = np.flatnonzero(np.isfinite(near.gap))
    there = np.einsum("vi,vik->vk", near.weights[held], scene.x[near.face[held]])
    part = np.einsum("vk,vk->v", near.away[held], scene.x[held] - there)
    assert np.allclose(part, near.gap[held], atol=1e-12)
    assert len(np.unique(scene.surface.body[held])) == 2


@pytest.mark.parametrize("seed", range(20))
def test_the_seal_gap_agrees_with_flooding_at_every_level(case, seed):
    scene, mesh, candidate = case
    rng = np.random.default_rng(seed)
    gap = np.full(len(scene.x), np.inf)
    ring = np.flatnonzero((scene.x[:98, 2] == 0.0) & (np.hypot(*scene.x[:98, :2].T) > 0.01))
    # Now and then a vertex of the ring is open; sometimes that opens the ring.
    gap[ring] = rng.uniform(-1e-6, S * rng.choice([1.0, 2.5]), len(ring))
    near = with_gaps(scene, gap)
    start, neighbours = scene.surface.vertex_start, scene.surface.neighbours
    inside = [v for v in mesh.interior if gap[v] >= S]
    known = set(mesh.interior) | set(mesh.seal_line)

    def leaks(level):
        seen, stack = set(inside), list(inside)
        while stack:
            v = stack.pop()
            if v not in known and gap[v] >= S:
                return True
            for w in neighbours[start[v] : start[v + 1]]:
                if w not in seen and gap[w] >= level:
                    seen.add(w)
                    stack.append(w)
        return False

    brute = max(level for level in [*gap[ring], np.inf] if leaks(level))
    assert seal_gap(scene.surface, near, S, candidate) == brute
    # Where it is narrowest: with that vertex shut the best path is no wider, mostly narrower.
    level, neck = bottleneck_path(scene.surface, near, S, candidate)
    assert gap[neck] == level if np.isfinite(level) else neck == -1
    if np.isfinite(level):
        others = np.flatnonzero(gap == level)
        assert others.tolist() == [neck]
        gap[neck] = -1.0
        assert not leaks(level)
        gap[neck] = level
    assert ring_open(scene.surface, near, S, candidate) == leaks(S)


@pytest.mark.parametrize("ring", [SealBoundary.OUTER, SealBoundary.INNER])
def test_pushed_vertices_overlap_and_pulled_ones_part_by_the_sealing_distance(case, ring):
    scene, _, candidate = case
    near = vertex_proximity(scene.contacts(), scene.surface)
    division = divide(scene.surface, near, S, [candidate], ring)
    leads = np.array([[True, True], [False, False]])
    shift = offsets(scene.surface, near, S, division, leads, scene.x)
    cup = scene.part(0)
    gap = near.gap[cup] + (shift[cup] * near.away[cup]).sum(axis=1)
    assert np.allclose(gap[division.role[cup] == PUSH], -S, atol=1e-15)
    assert np.allclose(gap[division.role[cup] == PULL], S, atol=1e-15)
    assert (division.role[cup] == PUSH).sum() == {SealBoundary.OUTER: 16, SealBoundary.INNER: 48}[
        ring
    ]
    assert not shift[cup][near.gap[cup] >= S].any()
    # Seal line and interior part the cup: no neighbour of the interior is beyond the line.
    (c,) = division.candidates
    inner = set(c.interior) | set(c.seal_line)
    start, neighbours = scene.surface.vertex_start, scene.surface.neighbours
    for v in c.interior:
        assert set(neighbours[start[v] : start[v + 1]]) <= inner


def test_a_follower_moves_only_for_what_the_leader_leaves_open(kit):
    # A flat lid of few vertices leads; the vertices of the block below are what seals.
    x, t = kit.block(size=0.05)
    scene = kit.scene((x * [1, 1, -1], t[:, ::-1].copy()), kit.block(cells=6))
    near = vertex_proximity(scene.contacts(), scene.surface)
    division = divide(scene.surface, near, S, [], SealBoundary.OUTER)
    leads = np.array([[True, True], [False, False]])
    shift = offsets(scene.surface, near, S, division, leads, scene.x)
    lid, block = scene.part(0), scene.part(1)
    assert np.allclose(shift[lid][near.gap[lid] < S], [0, 0, -S])
    # The lid's corners carry its whole face down, so no vertex of the block need move.
    assert (near.gap[block] < S).sum() == 25
    assert not shift[block].any()
    # With the lid's corners free the block's vertices close the gap themselves.
    gap = near.gap.copy()
    gap[lid] = np.inf
    alone = VertexProximity(gap, near.away, near.face, near.weights)
    division = divide(scene.surface, alone, S, [], SealBoundary.OUTER)
    shift = offsets(scene.surface, alone, S, division, leads, scene.x)
    assert np.allclose(shift[block][near.gap[block] < S], [0, 0, S])
