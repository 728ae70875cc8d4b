"""How far smooth rigid walls bulge into a cavity, whose mesh ends at their facets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from limpet.cavity.curved_triangles import facets_of
from limpet.cavity.mesh import CavityMesh, JoinedSurface, positions
from limpet.compiled import njit
from limpet.contact.collider import Shape
from limpet.geometry.bvh import ANY_SIDE, DEPTH, Tree, nearest
from limpet.geometry.distance import add, cross, dot, point, scale, sub
from limpet.geometry.smooth import Patches, patch

Array = np.ndarray

NEGLIGIBLE = 1e-7  # [m] of a bulge: 0.1 mm^3 under a large cup


def bulge_volume(
    mesh: CavityMesh, surface: JoinedSurface, x: Array, shapes: Sequence[Shape]
) -> float:
    """[m^3] between the facets of the rigid walls of a cavity and the smooth surfaces over them.

    The walls keep their shape and the mesh rides on them, so it stays what it is until the cavity
    is meshed anew. x (N, 3) [m], to which the trees of the shapes, one a body, are fitted.
    """
    total, y = 0.0, positions(mesh, x)
    whole = len(mesh.triangles)
    facets, of = facets_of(mesh.curved)
    pieces = np.concatenate([mesh.triangles, facets])
    kind = np.concatenate([np.arange(whole), whole + of])  # which of the mesh's each is of
    share, bridge = mesh.share[kind], mesh.bridge[kind]
    for body in np.unique(mesh.body).tolist():
        on = shapes[body].patches
        if on.bulge < NEGLIGIBLE:
            continue
        own = (mesh.body[pieces] == body).all(axis=1) & ~bridge
        part = slice(surface.offset[body], surface.offset[body + 1])
        total += _volume(
            y, pieces[own], share[own], shapes[body].tree, x[part],
            surface.own_triangles[body], on,
        )  # fmt: skip
    return total


@njit(cache=True)
def _volume(
    y: Array, pieces: Array, share: Array, tree: Tree, x: Array, triangles: Array, on: Patches
) -> float:
    """The bulge over flat pieces, by its values at the middles of their sides.

    That is exact where a piece lies on one facet, as the bulge is quadratic there.
    """
    stack = np.empty(DEPTH, np.int32)
    total = 0.0
    for k in range(len(pieces)):
        a, b, c = point(y, pieces[k, 0]), point(y, pieces[k, 1]), point(y, pieces[k, 2])
        area = scale(0.5, cross(sub(b, a), sub(c, a)))  # out of the air, into the wall
        for p, q in ((a, b), (b, c), (c, a)):
            middle = scale(0.5, add(p, q))
            t, u, v, w, _, _ = nearest(tree, x, triangles, middle, np.inf, ANY_SIDE, stack)
            if t >= 0 and on.curved[t]:
                n, h = patch(t, u, v, w, x, triangles, on)
                total -= share[k] * h * dot(n, area) / 3.0
    return total
