"""Parts are set down from above until they nearly touch, by exact distances of their solids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
from manifold3d import Manifold, Mesh64

from limpet.errors import LimpetError
from limpet.geometry.shape import SoftShape
from limpet.studies.stress.recipe import Part, Recipe, Vector

Array = np.ndarray

CLEARANCE = 2e-5  # [m] between what is set down and what it is set down on
FALLS = 60  # moves by the distance that is left


def surface_of(part: Part) -> tuple[Array, Array]:
    """Points (n, 3) [m] and triangles (m, 3) of a part's collision surface, placed."""
    shape = part.shape.make()
    if isinstance(shape, SoftShape):
        points, triangles = shape.collision.positions(shape.points), shape.collision.triangles
    else:
        points, triangles = shape.points, shape.triangles  # type: ignore[attr-defined]
    placed = points @ np.array(part.rotation).T + part.position
    return placed, np.asarray(triangles)


def solid_of(part: Part) -> Manifold:
    points, triangles = surface_of(part)
    solid = Manifold(Mesh64(points, np.ascontiguousarray(triangles, dtype=np.uint64)))
    if solid.is_empty():
        raise LimpetError(f"'{part.name}' is no solid: its surface is open or crosses itself")
    return solid


def set_down(part: Part, below: Sequence[Part], carrier: Part | None) -> Vector:
    """Where a part comes to lie on those below, moved along z only.

    What carries it stands on its top by itself: it makes no contact with it.
    """
    x, y, _ = part.position
    if not below:
        return x, y, 0.0
    highest = max(float(surface_of(p)[0][:, 2].max()) for p in below)
    lowest = float(surface_of(replace(part, position=(x, y, 0.0)))[0][:, 2].min())
    height = highest - lowest + CLEARANCE
    solid = solid_of(replace(part, position=(x, y, height)))
    others = [solid_of(p) for p in below]
    reach = 10.0 * float(np.ptp(surface_of(part)[0], axis=0).max())
    for _ in range(FALLS):
        gap = min(other.min_gap(solid, reach) for other in others)
        if gap < 2.0 * CLEARANCE:
            return x, y, height
        if gap >= reach:
            break
        height -= gap - CLEARANCE
        solid = solid.translate((0.0, 0.0, CLEARANCE - gap))
    return x, y, height


def overlaps(recipe: Recipe) -> str | None:
    """Two bodies that overlap at the start."""
    apart = {frozenset((p.name, p.carrier)) for p in recipe.parts if p.carrier}
    for one, other in combinations(recipe.parts, 2):
        if frozenset((one.name, other.name)) in apart:
            continue
        if not (solid_of(one) ^ solid_of(other)).is_empty():
            return f"{one.name} and {other.name}"
    return None
