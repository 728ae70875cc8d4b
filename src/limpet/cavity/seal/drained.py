"""Cavities that all air has left: their walls touch, so they are part of a neighbour's ring.

A dome that bottoms cuts the air under it in two, and the pull then presses the air of one part out
under the lip. What is left is contact, and where in a contact the pressure falls is for the ring
model of the cavity within to say; as a cavity of its own it would keep that one's ring from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from limpet.cavity.mesh import CavityMesh, JoinedSurface
from limpet.cavity.seal.boundary import ring_vertices

Array = np.ndarray


def without_drained(
    surface: JoinedSurface, meshes: Sequence[CavityMesh], empty: Sequence[bool]
) -> tuple[list[int], list[CavityMesh]]:
    """The cavities to look for: those that stay, by index, each with the empty ones next to it.

    Only what the next detection has to know of a mesh is joined; an empty cavity without a
    neighbour that has air stays as it is.
    """
    joined, stay = list(meshes), list(range(len(meshes)))
    full = [i for i in stay if not empty[i]]
    for gone in np.flatnonzero(empty).tolist():
        for i in full:
            both = _joined(surface, joined[i], meshes[gone])
            if both is not None:
                joined[i] = both
                stay.remove(gone)
                break
    return stay, [joined[i] for i in stay]


def _joined(surface: JoinedSurface, mesh: CavityMesh, gone: CavityMesh) -> CavityMesh | None:
    """The mesh with what lay beyond the wall between the two; None if they share no wall."""
    lines = np.zeros(len(surface.body), dtype=bool)
    lines[mesh.seal_line] = lines[gone.seal_line] = True
    wall = ring_vertices(surface, lines, mesh.seal_line) & ring_vertices(
        surface, lines, gone.seal_line
    )
    if not wall.any():
        return None
    outer = lines & ~wall
    inside = np.concatenate([mesh.interior, gone.interior, np.flatnonzero(wall)])
    halves = mesh.halves
    if halves:  # the first is the one that ends at the outer edge of the ring
        first = _joined(surface, halves[0], gone.halves[0] if gone.halves else gone)
        halves = (first or halves[0], *halves[1:])
    return replace(
        mesh,
        interior=np.unique(inside).astype(np.int32),
        seal_line=np.flatnonzero(outer if outer.any() else lines).astype(np.int32),
        halves=halves,
    )
