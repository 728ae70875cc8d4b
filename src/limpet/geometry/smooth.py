"""Smooth surfaces over triangles: a quadratic patch on each, from normals at its corners.

Facets of a tube or a sphere are chords of the true surface. The patch over a triangle has its
corners in common with it, and stands out of its plane by the bulge

    h(b) = sum_i b_i n_i . (x_i - P) / (1 + n_i . N),   P = sum_i b_i x_i,   N ~ sum_i b_i n_i

along N: exact in the middle of a chord of a circle, to fourth order on spheres and cylinders. On an
edge it depends on the two ends alone, so that two patches that share their normals there meet
without a step, and N is continuous. Faces that turn by more than the crease angle share no normal:
there the ridge stays, as the chord that it is, and patches rise from it by RISE at most.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from limpet.compiled import inner, njit
from limpet.geometry.distance import (
    Adjacency,
    Vec,
    add,
    cross,
    dot,
    point,
    scale,
    sub,
    unit,
)
from limpet.geometry.facet_normals import CREASE, FacetNormals, facet_normals
from limpet.geometry.surface import Surface

Array = np.ndarray

NONE = 1e-9  # [m] a bulge below this is none
# of the edges and of the face
MIDDLES = ((0.5, 0.5, 0.0), (0.0, 0.5, 0.5), (0.5, 0.0, 0.5), (1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0))
RISE = 0.1  # slope by which a patch leaves a ridge at most


class Patches(NamedTuple):
    """The patches over the triangles of one surface that keeps its shape.

    A surface that deforms has none: its facets are chords that may be as curved as what they lie
    on, but by no more than they are at rest.
    """

    bulge: float  # [m] by which a patch stands out of its triangle at most; 0: there are none
    relief: float  # [m] by which a facet of a surface that deforms may recede; 0: it does not
    smooth: Array  # (m, 3) bool, whether the edge opposite to local vertex k is no ridge
    curved: Array  # (m,) bool, whether the patch over a triangle is not flat
    round: Array  # (n,) bool, vertices without a ridge, with curved patches round them
    ridge: Array  # (n,) bool, vertices at which a ridge ends
    beside: Array  # (m,) bool, triangles with a ridge at an edge or a corner
    local: Array  # (m, 3, 3) corner normals on b - a, c - a and the unit normal of each triangle


def no_patches(surface: Surface, relief: float = 0.0) -> Patches:
    """Triangles that are what they are: all edges may be ridges."""
    m, n = len(surface.triangles), surface.n_vertices
    no_edge, no_face, no_vertex = np.zeros((m, 3), bool), np.zeros(m, bool), np.zeros(n, bool)
    return Patches(
        0.0, relief, no_edge, no_face, no_vertex, no_vertex, no_face, np.zeros((m, 3, 3))
    )


def patches(
    surface: Surface, x: Array, crease: float = CREASE, rigid: bool = True,
    facets: FacetNormals | None = None,
) -> Patches:  # fmt: skip
    """The patches over a surface that stands at rest at x (n, 3) [m].

    crease [rad]: faces that turn by more meet in a ridge; 0 leaves all triangles flat. facets:
    the normals, if they are known.
    """
    if crease <= 0.0:
        return no_patches(surface)
    x = np.ascontiguousarray(x, dtype=np.float64)
    smooth, corner, whole, bound = facets or facet_normals(surface, x, crease)
    triangles = np.ascontiguousarray(surface.triangles, dtype=np.int32)
    bulges = largest_bulges(x, triangles, corner)
    bulge = min(float(bulges.max(initial=0.0)), bound)
    if bulge < NONE or not rigid:
        return no_patches(surface, bulge if bulge >= NONE else 0.0)
    curved = bulges >= NONE
    bent, ridge = (np.zeros(surface.n_vertices, np.bool_) for _ in range(2))
    bent[triangles[curved]] = True
    for k in (1, 2):  # the two ends of the edge opposite to each corner
        ridge[np.roll(triangles, -k, axis=1)[~smooth]] = True
    beside = ~smooth.all(axis=1) | ridge[triangles].any(axis=1)
    local = _in_triangles(x, triangles, corner)
    bent[: len(whole)] &= whole  # markers behind the vertices belong to no triangle
    return Patches(bulge, 0.0, smooth, curved, bent, ridge, np.asarray(beside), local)


def _in_triangles(x: Array, triangles: Array, corner: Array) -> Array:
    """Corner normals as sums of b - a, c - a and the unit normal of their triangle."""
    a, b, c = (x[triangles[:, k]] for k in range(3))
    n = np.cross(b - a, c - a)
    length = np.linalg.norm(n, axis=1, keepdims=True)
    n = np.divide(n, length, out=np.zeros_like(n), where=length > 0.0)
    frames = np.stack([b - a, c - a, n], axis=2)  # columns
    flat = np.zeros_like(corner)
    flat[:, :, 2] = 1.0
    good = length[:, 0] > 1e-12 * np.linalg.norm(b - a, axis=1) * np.linalg.norm(c - a, axis=1)
    flat[good] = np.linalg.solve(frames[good, None], corner[good][..., None])[..., 0]
    return flat


@inner()
def corner_normals(t: int, x: Array, triangles: Array, on: Patches) -> tuple[Vec, Vec, Vec]:
    """Unit normals of the smooth surface at the three corners of triangle t."""
    a = point(x, triangles[t, 0])
    u, v = sub(point(x, triangles[t, 1]), a), sub(point(x, triangles[t, 2]), a)
    n, c = unit(cross(u, v)), on.local[t]
    return (
        unit(add(add(scale(c[0, 0], u), scale(c[0, 1], v)), scale(c[0, 2], n))),
        unit(add(add(scale(c[1, 0], u), scale(c[1, 1], v)), scale(c[1, 2], n))),
        unit(add(add(scale(c[2, 0], u), scale(c[2, 1], v)), scale(c[2, 2], n))),
    )


@inner()
def smooth_normal(i: int, x: Array, adjacent: Adjacency, on: Patches) -> Vec:
    """Unit normal of the smooth surface at its vertex i, which is on no ridge."""
    t = adjacent.vertex_triangles[adjacent.vertex_start[i]]
    na, nb, nc = corner_normals(t, x, adjacent.triangles, on)
    a, b, _ = adjacent.triangles[t]
    return na if a == i else (nb if b == i else nc)


@inner()
def _over(
    a: Vec, b: Vec, c: Vec, na: Vec, nb: Vec, nc: Vec, u: float, v: float, w: float
) -> tuple[Vec, float]:
    """Unit normal N and bulge h at the weights u, v, w."""
    n = unit(add(add(scale(u, na), scale(v, nb)), scale(w, nc)))
    ab, ac, bc = sub(b, a), sub(c, a), sub(c, b)
    # x_i - P, from the edges: no digits are lost far from the origin
    pa = scale(-1.0, add(scale(v, ab), scale(w, ac)))
    pb = sub(scale(u, ab), scale(w, bc))
    pc = add(scale(u, ac), scale(v, bc))
    h = u * dot(na, pa) / (1.0 + dot(na, n))
    h += v * dot(nb, pb) / (1.0 + dot(nb, n))
    h += w * dot(nc, pc) / (1.0 + dot(nc, n))
    return n, h


@inner()
def _from_ridges(
    t: int, corners: tuple[Vec, Vec, Vec], weights: Vec, triangles: Array, on: Patches
) -> float:
    """[m] how far a point of triangle t is from the ridges at its edges and corners, over the
    weights of their ends.

    From an edge along the line to the opposite corner: so two triangles agree on the edge that they
    share.
    """
    least = np.inf
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        if not on.smooth[t, k]:
            rest = weights[i] + weights[j]
            if rest > 0.0:
                on_edge = add(scale(weights[i], corners[i]), scale(weights[j], corners[j]))
                off = sub(corners[k], scale(1.0 / rest, on_edge))
                least = min(least, weights[k] * np.sqrt(dot(off, off)) / rest)
        elif on.ridge[triangles[t, i]] and on.smooth[t, j] and weights[i] > 0.0:
            # a ridge of other triangles ends here
            off = add(
                scale(weights[j], sub(corners[j], corners[i])),
                scale(weights[k], sub(corners[k], corners[i])),
            )
            least = min(least, np.sqrt(dot(off, off)) / weights[i])
    return least


@njit(cache=True)
def patch(
    t: int, u: float, v: float, w: float, x: Array, triangles: Array, on: Patches
) -> tuple[Vec, float]:
    """Unit normal of the smooth surface over the point (u, v, w) of triangle t, and its bulge."""
    a, b, c = point(x, triangles[t, 0]), point(x, triangles[t, 1]), point(x, triangles[t, 2])
    na, nb, nc = corner_normals(t, x, triangles, on)
    n, h = _over(a, b, c, na, nb, nc, u, v, w)
    most = on.bulge
    if on.beside[t]:
        most = min(most, RISE * _from_ridges(t, (a, b, c), (u, v, w), triangles, on))
    return n, min(most, max(-most, h))


@njit(cache=True)
def normal_curvature(t: int, along: Vec, x: Array, triangles: Array, on: Patches) -> float:
    """[1/m] of the smooth surface over triangle t in the direction `along` (any length).

    Positive where it is convex: along . dN/d(along).
    """
    a, b, c = point(x, triangles[t, 0]), point(x, triangles[t, 1]), point(x, triangles[t, 2])
    u, v = sub(b, a), sub(c, a)
    n = cross(u, v)
    nn, d = dot(n, n), unit(along)
    if nn == 0.0:
        return 0.0
    gb, gc = dot(cross(v, n), d) / nn, dot(cross(n, u), d) / nn  # slopes of the weights
    na, nb, nc = corner_normals(t, x, triangles, on)
    return -(gb + gc) * dot(na, d) + gb * dot(nb, d) + gc * dot(nc, d)


@njit(cache=True)
def largest_bulges(x: Array, triangles: Array, corner: Array) -> Array:
    """(m,) [m] largest bulge of each patch, up or down, at the middles of edges and of the face."""
    out = np.zeros(len(triangles))
    for t in range(len(triangles)):
        a, b, c = point(x, triangles[t, 0]), point(x, triangles[t, 1]), point(x, triangles[t, 2])
        na = (corner[t, 0, 0], corner[t, 0, 1], corner[t, 0, 2])
        nb = (corner[t, 1, 0], corner[t, 1, 1], corner[t, 1, 2])
        nc = (corner[t, 2, 0], corner[t, 2, 1], corner[t, 2, 2])
        for u, v, w in MIDDLES:
            _, h = _over(a, b, c, na, nb, nc, u, v, w)
            out[t] = max(out[t], abs(h))
    return out
