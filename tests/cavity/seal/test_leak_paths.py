"""Leak paths against brute force, and the tractions along them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.csgraph import connected_components, dijkstra

from limpet.cavity.find.union_search import detect
from limpet.cavity.seal.boundary import Candidate
from limpet.cavity.seal.leak_paths import (
    seal_gap,
    seal_traction,
    seal_tractions,
    vertex_areas,
    vertex_loads,
    widest_crossing,
)
from limpet.cavity.seal.proximity import vertex_proximity
from limpet.geometry.surface import triangle_normals

SEALING = 1e-4


@pytest.fixture(scope="module")
def pressed(kit):
    """A cup on a block: the scene, its contacts' nearness, the cavity as its carrier sees it."""
    scene = kit.scene(kit.cup(), kit.block(5))
    (mesh,) = detect(scene.surface, scene.x, scene.contacts(), SEALING).cavities
    candidate = Candidate(mesh.rings, mesh.interior, mesh.seal_line)
    return scene, vertex_proximity(scene.contacts(), scene.surface), candidate, mesh


def ends(scene, near, candidate):
    """Open vertices of the carrier inside, and outside."""
    (carrier,) = np.unique(candidate.rings[:, 0])
    low, high = scene.surface.offset[carrier : carrier + 2]
    known = np.zeros(len(near.gap), bool)
    known[candidate.interior] = known[candidate.seal_line] = True
    inside = [v for v in candidate.interior if near.gap[v] >= SEALING]
    outside = [v for v in range(low, high) if not known[v] and near.gap[v] >= SEALING]
    return inside, outside


def least_of_largest(scene, near, candidate, cost):
    """The lowest level at which vertices up to it join inside and outside."""
    inside, outside = ends(scene, near, candidate)
    surface = scene.surface
    count = len(near.gap)
    edges = np.repeat(np.arange(count), np.diff(surface.vertex_start)), surface.neighbours
    free = np.zeros(count, bool)
    free[inside] = True
    for level in np.unique(cost):
        may = (cost <= level) | free
        keep = may[edges[0]] & may[edges[1]]
        graph = sparse.coo_array(
            (np.ones(keep.sum()), (edges[0][keep], edges[1][keep])), shape=(count, count)
        )
        _, part = connected_components(graph, directed=False)
        reached = [v for v in outside if may[v] and part[v] in set(part[inside])]
        if reached:
            return level
    return np.inf


def least_sum(scene, near, candidate, cost):
    """Dijkstra on edges that cost what the vertex at their end does."""
    inside, outside = ends(scene, near, candidate)
    surface = scene.surface
    count = len(near.gap)
    tail = np.repeat(np.arange(count), np.diff(surface.vertex_start))
    paid = cost[surface.neighbours]
    paid[np.isin(surface.neighbours, inside)] = 0.0
    tiny = 1e-12  # a zero would be no edge
    graph = sparse.csr_array((paid + tiny, (tail, surface.neighbours)), shape=(count, count))
    return dijkstra(graph, indices=inside).min(axis=0)[outside].min()


@given(seed=st.integers(0, 10**9), empty=st.floats(0.0, 0.7))
@settings(max_examples=30, deadline=None)
def test_the_weakest_path_is_that_of_brute_force(pressed, seed, empty):
    scene, near, candidate, _ = pressed
    rng = np.random.default_rng(seed)
    traction = 1e4 * rng.uniform(size=len(near.gap)) * (rng.uniform(size=len(near.gap)) > empty)
    traction[near.gap >= SEALING] = 0.0  # only what touches bears a load
    largest, total = seal_traction(scene.surface, near, SEALING, candidate, traction)
    assert largest == least_of_largest(scene, near, candidate, traction)
    assert total == pytest.approx(least_sum(scene, near, candidate, traction), abs=1e-6)
    assert largest <= total * (1.0 + 1e-12)


def test_contacts_that_pull_count_as_none(pressed):
    """A step that was not solved may leave some; a path that gained by them would never end."""
    scene, near, candidate, _ = pressed
    rng = np.random.default_rng(3)
    traction = np.where(near.gap < SEALING, rng.uniform(-1e3, 1e4, size=len(near.gap)), 0.0)
    assert traction.min() < 0.0
    clipped = np.maximum(traction, 0.0)
    pulled = seal_traction(scene.surface, near, SEALING, candidate, traction)
    assert pulled == seal_traction(scene.surface, near, SEALING, candidate, clipped)


@given(seed=st.integers(0, 10**9))
@settings(max_examples=20, deadline=None)
def test_the_widest_path_is_that_of_brute_force(pressed, seed):
    scene, near, candidate, _ = pressed
    rng = np.random.default_rng(seed)
    gap = np.where(near.gap < SEALING, SEALING * rng.uniform(size=len(near.gap)), near.gap)
    rough = type(near)(gap, near.away, near.face, near.weights)
    widest = seal_gap(scene.surface, rough, SEALING, candidate)
    assert widest == -least_of_largest(scene, rough, candidate, -gap)


def test_an_even_ring_bears_its_load_over_its_width(pressed):
    """Three circles of vertices: the path meets three, the largest of them counts."""
    scene, near, _, mesh = pressed
    contacts = scene.contacts()
    closed = np.flatnonzero(near.gap < SEALING)
    closed = closed[closed < scene.surface.offset[1]]
    radius = np.hypot(scene.x[:, 0], scene.x[:, 1])
    traction = np.zeros(len(scene.x))
    for r, t in ((0.015, 3e3), (0.016, 8e3), (0.017, 5e3)):
        traction[closed[np.abs(radius[closed] - r) < 1e-6]] = t
    ((largest, total),) = seal_tractions(
        scene.surface, vertex_proximity(contacts, scene.surface), SEALING, [mesh], traction
    )
    assert (largest, total) == (8e3, 16e3)


def test_loads_and_areas_are_those_of_numpy(pressed):
    scene, *_ = pressed
    c = scene.contacts()
    force = np.random.default_rng(1).uniform(size=len(c))
    surface = scene.surface
    load = vertex_loads(
        surface.offset[c.surface_a], c.vertices_a, c.weights_a,
        surface.offset[c.surface_b], c.vertices_b, c.weights_b, force, len(scene.x),
    )  # fmt: skip
    expected = np.zeros(len(scene.x))
    np.add.at(
        expected, surface.offset[c.surface_a][:, None] + c.vertices_a, c.weights_a * force[:, None]
    )
    np.add.at(
        expected, surface.offset[c.surface_b][:, None] + c.vertices_b, c.weights_b * force[:, None]
    )
    np.testing.assert_allclose(load, expected, rtol=1e-13, atol=1e-15)
    for body in range(2):  # action and reaction
        assert load[scene.part(body)].sum() == pytest.approx(force.sum(), rel=1e-12)
    size = np.linalg.norm(triangle_normals(scene.x, surface.triangles), axis=1)
    third = np.zeros(len(scene.x))
    np.add.at(third, surface.triangles, size[:, None] / 3.0)
    np.testing.assert_allclose(vertex_areas(surface.triangles, scene.x), third, rtol=1e-13)


def test_vertices_of_a_body_without_a_ring_do_not_matter(pressed):
    """A body that no longer bears a ring may have left its vertices in the interior."""
    scene, near, candidate, _ = pressed
    others = np.flatnonzero(~np.isin(scene.surface.body, candidate.rings[:, 0])).astype(np.int32)
    assert len(others)
    more = replace(candidate, interior=np.union1d(candidate.interior, others).astype(np.int32))
    gap = seal_gap(scene.surface, near, SEALING, candidate)
    assert seal_gap(scene.surface, near, SEALING, more) == gap


def test_a_pocket_in_a_ring_without_a_seal_line_is_not_outside():
    """A row of vertices from the cavity to the outside, over a ring with a free vertex in it."""
    gap = np.array([1e-4, 1e-4, 3e-5, 9e-5, 1e-5, *[1e-4] * 30])  # [m]
    n = len(gap)
    inside = np.arange(n) < 2
    graph = [[w for w in (v - 1, v + 1) if 0 <= w < n] for v in range(n)]
    start = np.cumsum([0, *map(len, graph)]).astype(np.int32)
    given = (start, np.concatenate(graph).astype(np.int32), gap, 5e-5, inside, 0)
    ends = np.array([[1, 2]], dtype=np.int32)
    assert widest_crossing(*given, ends, np.array([3e-5])) == (1e-5, 4)
