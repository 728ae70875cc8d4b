"""Surfaces that touch are moved a little into or off each other before their union (P 4.1)."""

from __future__ import annotations

import numpy as np

from limpet.cavity.mesh import JoinedSurface
from limpet.cavity.seal.boundary import PULL, Division
from limpet.cavity.seal.proximity import VertexProximity
from limpet.compiled import inner, njit

Array = np.ndarray

ROUND_OFF = 1e-9  # [m] a bulge below this is none


def offsets(
    surface: JoinedSurface, near: VertexProximity, sealing_distance: float, division: Division,
    leads: Array, x: Array,
) -> Array:  # fmt: skip
    """How far each vertex is moved before the union, (N, 3) [m] (P 4.1).

    leads (n, n) bool: whether body i's vertices are moved against body j's, which then only
    follow where that has not closed the gap. x (N, 3) [m]: where they are. Gaps are those to smooth
    surfaces, while the union is one of triangles: vertices near a smooth surface are first moved
    such that they stand off its triangles by their gaps.
    """
    shift = np.zeros((len(near.gap), 3))
    both = [near] if near.second is None else [near, near.second]
    body, role = surface.body, division.role
    for one in both:  # where three bodies meet a vertex has to keep off two of them
        _master_offsets(one.gap, one.away, one.face, body, role, leads, sealing_distance, shift)
    for one in both:
        _onto_facets(one.gap, one.away, one.face, one.weights, body, leads, x, shift)
    for one in both:
        how = (one.gap, one.away, one.face, one.weights)
        _follow(*how, body, role, division.inside, leads, sealing_distance, x, shift)
    return shift


@inner()
def _bulge(v: int, gap: Array, away: Array, face: Array, weights: Array, x: Array) -> float:
    """[m] by which the smooth surface stands out of its triangle at the contact of vertex v."""
    bulge = -gap[v]
    for c in range(3):
        for i in range(3):
            bulge += weights[v, c] * (x[v, i] - x[face[v, c], i]) * away[v, i]
    return bulge if abs(bulge) > ROUND_OFF else 0.0


@njit(cache=True)
def _onto_facets(
    gap: Array, away: Array, face: Array, weights: Array, body: Array, leads: Array, x: Array,
    shift: Array,
) -> None:  # fmt: skip
    """Move the leaders by what smooth surfaces stand out of their triangles (in place)."""
    for v in range(len(gap)):
        if gap[v] == np.inf or not leads[body[v], body[face[v, 0]]]:
            continue
        bulge = _bulge(v, gap, away, face, weights, x)
        for i in range(3):
            shift[v, i] -= bulge * away[v, i]


@njit(cache=True)
def _master_offsets(
    gap: Array, away: Array, face: Array, body: Array, role: Array, leads: Array,
    sealing_distance: float, shift: Array,
) -> None:  # fmt: skip
    """Move the leaders (in place)."""
    # Exact touch is arbitrary in a union: pushed vertices go to gap =
    # -sealing_distance; pulled ones move by the sealing distance all alike, so that what lies
    # deeper than they do stays deeper.
    for v in range(len(gap)):
        if role[v] != 0 and gap[v] < sealing_distance and leads[body[v], body[face[v, 0]]]:
            step = (
                sealing_distance - min(gap[v], 0.0)
                if role[v] == PULL
                else -sealing_distance - gap[v]
            )
            for i in range(3):
                step -= shift[v, i] * away[v, i]
            for i in range(3):
                shift[v, i] += step * away[v, i]


@njit(cache=True)
def _follow(
    gap: Array, away: Array, face: Array, weights: Array, body: Array, role: Array, inside: Array,
    leads: Array, sealing_distance: float, x: Array, shift: Array,
) -> None:  # fmt: skip
    """Then move those who follow them (in place)."""
    for v in range(len(gap)):
        if role[v] == 0 or gap[v] >= sealing_distance or leads[body[v], body[face[v, 0]]]:
            continue
        # A follower moves for what the leader's offset leaves open, but never under a face that
        # reaches into a cavity: there the leader's roles alone place the cut.
        reaches_in, any_role = False, False
        left = gap[v] + _bulge(v, gap, away, face, weights, x)
        for i in range(3):
            left += shift[v, i] * away[v, i]
        for c in range(3):
            f = face[v, c]
            if weights[v, c] == 0.0:
                continue
            reaches_in |= inside[f]
            any_role |= role[f] != 0
            for i in range(3):
                left -= weights[v, c] * shift[f, i] * away[v, i]
        if (reaches_in and any_role) or left <= -0.5 * sealing_distance:
            continue
        for i in range(3):
            shift[v, i] += (-sealing_distance - left) * away[v, i]
