"""Pockets that all air has left: what the next detection is told of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from limpet.cavity.mesh import CavityMesh, JoinedSurface, join_surfaces
from limpet.cavity.seal.boundary import Candidate, SealBoundary, divide
from limpet.cavity.seal.drained import without_drained
from limpet.cavity.seal.proximity import VertexProximity
from limpet.geometry.surface import surface_topology

AROUND, RINGS = 12, 8  # vertices of a ring; vertex 0 is the middle, the last one closes the back
SEALING = 5e-5


def ring(*numbers: int) -> np.ndarray:
    """The vertices of rings 1 to RINGS; ring 0 is the middle."""
    parts = [np.arange(AROUND) + 1 + AROUND * (n - 1) if n else np.zeros(1, int) for n in numbers]
    return np.concatenate(parts).astype(np.int32)


def surface() -> JoinedSurface:
    """A closed disc of rings, and a tetrahedron for it to lie on."""
    back = 1 + AROUND * RINGS
    triangles = []
    for a in range(AROUND):
        b = (a + 1) % AROUND
        triangles.append((0, ring(1)[a], ring(1)[b]))
        for n in range(1, RINGS):
            low, high = ring(n), ring(n + 1)
            triangles += [(low[a], high[a], high[b]), (low[a], high[b], low[b])]
        triangles.append((ring(RINGS)[a], back, ring(RINGS)[b]))
    plate = surface_topology(np.array([(0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3)]), 4)
    return join_surfaces([surface_topology(np.array(triangles), back + 1), plate])


def mesh(interior: np.ndarray, line: np.ndarray) -> CavityMesh:
    """What detection looks at; there is nothing to it else."""
    none = np.zeros((0, 3), np.int32)
    return CavityMesh(
        none, np.zeros(0), np.zeros(0, bool), np.zeros(0, np.int32), none, np.zeros((0, 3)),
        np.zeros(0, np.int32), none, np.array([[0, 1]], np.int32), interior, interior, line,
    )  # fmt: skip


def test_an_empty_pocket_round_a_cavity_joins_it() -> None:
    middle, pocket = mesh(ring(0, 1), ring(2)), mesh(ring(4, 5), ring(3, 6))
    stay, (joined,) = without_drained(surface(), [middle, pocket], [False, True])
    assert stay == [0]
    np.testing.assert_array_equal(joined.interior, ring(0, 1, 2, 3, 4, 5))
    np.testing.assert_array_equal(joined.seal_line, ring(6))


def test_an_empty_middle_joins_the_pocket_round_it() -> None:
    middle, pocket = mesh(ring(0, 1), ring(2)), mesh(ring(4, 5), ring(3, 6))
    stay, (joined,) = without_drained(surface(), [middle, pocket], [True, False])
    assert stay == [1]
    np.testing.assert_array_equal(joined.interior, ring(0, 1, 2, 3, 4, 5))
    np.testing.assert_array_equal(joined.seal_line, ring(6))


def test_pockets_with_air_apart_or_alone_stay() -> None:
    middle, pocket = mesh(ring(0, 1), ring(2)), mesh(ring(4, 5), ring(3, 6))
    far = mesh(ring(6), ring(5, 7))
    for one, two, empty in (
        (middle, pocket, [False, False]),
        (middle, far, [False, True]),
        (middle, pocket, [True, True]),
    ):
        stay, meshes = without_drained(surface(), [one, two], empty)
        assert stay == [0, 1]
        assert meshes[0] is one
        assert meshes[1] is two


def test_of_a_mean_mesh_the_outer_half_is_joined() -> None:
    inner, outer = mesh(ring(0), ring(1)), mesh(ring(0, 1), ring(2))
    mean = replace(outer, halves=(outer, inner))
    _, (joined,) = without_drained(surface(), [mean, mesh(ring(4, 5), ring(3, 6))], [False, True])
    np.testing.assert_array_equal(joined.halves[0].seal_line, ring(6))
    assert joined.halves[1] is inner


def test_what_a_ring_encloses_stays_inside_and_what_the_air_outside_reaches_does_not() -> None:
    """Rings 2, 3, 5 touch; ring 4 stands 20 um off between them, and ring 6 does outside."""
    surfaces = surface()
    n = len(surfaces.body)
    gap = np.full(n, np.inf)
    gap[ring(2, 3, 5)], gap[ring(4, 6)] = 0.0, 2e-5
    first = surfaces.offset[1]
    near = VertexProximity(
        gap, np.tile([0.0, 0.0, 1.0], (n, 1)), np.full((n, 3), first, np.int32),
        np.tile([1.0, 0.0, 0.0], (n, 1)),
    )  # fmt: skip
    known = Candidate(np.array([[0, 1]], np.int32), ring(0, 1, 2, 3, 4, 5), ring(6), 0, False)
    division = divide(surfaces, near, SEALING, [known], SealBoundary.OUTER)
    assert division.sealed.all()
    np.testing.assert_array_equal(division.candidates[0].interior, ring(0, 1, 2, 3, 4))
    np.testing.assert_array_equal(division.candidates[0].seal_line, ring(5))
