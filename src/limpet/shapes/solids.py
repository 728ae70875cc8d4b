"""Solids with rounded shapes as in M, meshed by Netgen: bunny, torus, serpent, quadruped.

The defaults give about the node counts of M table 1. Metres, z up, lowest point at z = 0. `nodes`
are the corner nodes; `order` is 1 for tet4 and 2 for tet10 cells; `inner` is the size of the tets
inside, in mean edges of the surface.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from importlib import import_module
from importlib.resources import as_file, files

import numpy as np
from manifold3d import Manifold, Mesh64, OpType

from limpet.errors import LimpetError, require_positive
from limpet.geometry.shape import Array, SoftShape
from limpet.geometry.union import arrays
from limpet.meshing.tetrahedra import require_package, solid, tetrahedralise


def bunny(nodes: int = 280, inner: float = 0.8, height: float = 0.12, order: int = 2) -> SoftShape:
    """The Stanford bunny with closed holes, `height` [m]; regions ear (the tip of one) and tail.

    `nodes`: approximate number of corner nodes; `inner`: size of the tets inside, in mean edges of
    the surface; `order`: 1 for tet4, 2 for tet10 cells. The scan comes with the package pymeshfix,
    which also repairs it.
    """
    dense, triangles = bunny_surface(height)
    shape = solid(*tetrahedralise(dense, triangles, nodes, inner, 0.88, "bunny"), "bunny", order)
    ear, tail = dense[dense[:, 2].argmax()], dense[dense[:, 0].argmax()]
    return _with_regions(shape, {"ear": (ear, 0.1 * height), "tail": (tail, 0.06 * height)})


def bunny_surface(height: float) -> tuple[Array, Array]:
    """The scan as a closed surface of about 11 000 vertices, upright on z = 0, facing -x."""
    require_positive("bunny height", height, " m")
    dense, triangles = _bunny_scan()
    low, high = dense.min(axis=0), dense.max(axis=0)
    return (dense - [*(0.5 * (low + high))[:2], low[2]]) * height / (high[2] - low[2]), triangles


@cache
def _bunny_scan() -> tuple[Array, Array]:
    require_package("pymeshfix", "pymeshfix", "the bunny")
    repair = import_module("pymeshfix").PyTMesh()
    repair.set_quiet(1)
    with as_file(files("pymeshfix") / "examples" / "StanfordBunny.ply") as path:
        repair.load_file(str(path))
    repair.remove_smallest_components()
    repair.fill_small_boundaries()
    points, triangles = repair.return_arrays()
    scan = Manifold(
        Mesh64(
            vert_properties=np.ascontiguousarray(points, dtype=np.float64),
            tri_verts=np.ascontiguousarray(triangles, dtype=np.uint64),
        )
    )
    return arrays(scan.simplify(1e-3 * float(np.ptp(points, axis=0).max())))


def torus(
    major: float = 0.05,  # [m] radius of the centre line
    minor: float = 0.02,  # [m] radius of the tube
    nodes: int = 513,
    inner: float = 0.5,
    order: int = 2,
) -> SoftShape:
    """A torus around z; M has 513 and 908 nodes. Region: side (at the smallest x).

    `nodes`, `inner` and `order` as for `bunny`.
    """
    require_positive("torus minor", minor, " m")
    if not major > minor:
        raise LimpetError(f"torus major = {major:g} m: expected more than minor = {minor:g} m")
    angle = np.linspace(0.0, 2.0 * np.pi, 120, endpoint=False)
    centres = major * np.stack([np.cos(angle), np.sin(angle), 0.0 * angle], axis=1)
    surface = _tube(centres, np.full(len(angle), minor), closed=True)
    shape = solid(*tetrahedralise(*surface, nodes, inner, 0.64, "torus"), "torus", order)
    side = np.array([-major - minor, 0.0, minor])
    return _with_regions(shape, {"side": (side, 0.5 * minor)})


def serpent(
    length: float = 0.3,  # [m] along x
    thickness: float = 0.018,  # [m] at the head
    nodes: int = 343,
    inner: float = 0.4,
    order: int = 2,
) -> SoftShape:
    """A tapered, winding body along x with a raised head; regions head and tail (the ends).

    `nodes`, `inner` and `order` as for `bunny`.
    """
    require_positive("serpent length", length, " m")
    require_positive("serpent thickness", thickness, " m")
    s = 0.5 - 0.5 * np.cos(np.linspace(0.0, np.pi, 240))  # from head to tail, dense at both ends
    body = 0.5 * thickness * (1.0 - 0.7 * s)
    lift = np.clip(1.0 - s / 0.3, 0.0, None) ** 2
    centres = np.stack(
        [length * (0.8 * s), 0.1 * length * np.sin(3.0 * np.pi * s), body + 0.25 * length * lift], 1
    )
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(centres, axis=0), axis=1))])
    end = np.minimum(np.minimum(along, along[-1] - along) / body, 1.0)
    surface = _tube(centres, body * np.sqrt(1.0 - (1.0 - end) ** 2), closed=False)  # round ends
    drop = surface[0][:, 2].min()
    shape = solid(*tetrahedralise(*surface, nodes, inner, 0.96, "serpent"), "serpent", order)
    head, tail = centres[0] - [0.0, 0.0, drop], centres[-1] - [0.0, 0.0, drop]
    return _with_regions(shape, {"head": (head, 0.5 * thickness), "tail": (tail, 0.3 * thickness)})


def quadruped(
    length: float = 0.2, nodes: int = 334, inner: float = 0.67, order: int = 2
) -> SoftShape:
    """A barrel on four legs with neck, head and muzzle, facing -x; regions feet and head.

    `length` [m]; `nodes`, `inner` and `order` as for `bunny`.
    """
    require_positive("quadruped length", length, " m")

    def ball(x: float, z: float, size: tuple[float, float, float], pitch: float = 0.0) -> Manifold:
        return Manifold.sphere(1.0, 64).scale(size).rotate((0.0, pitch, 0.0)).translate((x, 0, z))

    parts = [
        ball(0.06, 0.42, (0.34, 0.17, 0.18)),
        ball(-0.26, 0.54, (0.20, 0.09, 0.10), 40.0),
        ball(-0.37, 0.64, (0.13, 0.09, 0.10), -25.0),
    ]
    for x in (-0.16, 0.29):
        for y in (-0.08, 0.08):
            parts.append(Manifold.cylinder(0.4, 0.055, 0.07, 48).translate((x, y, 0.0)))
    surface = arrays(Manifold.batch_boolean(parts, OpType.Add).refine_to_length(0.02))
    dense, triangles = surface[0] * length, surface[1]
    shape = solid(
        *tetrahedralise(dense, triangles, nodes, inner, 0.84, "quadruped"), "quadruped", order
    )
    head = dense[dense[:, 0].argmin()]
    shape = _with_regions(shape, {"head": (head, 0.1 * length)})
    feet = np.flatnonzero(shape.points[:, 2] < 0.03 * length)
    return replace(shape, regions={**shape.regions, "feet": feet})


def _tube(centres: Array, radii: Array, closed: bool, sides: int = 48) -> tuple[Array, Array]:
    """A round tube around a line that is nowhere vertical; an open tube ends in a point."""
    if closed:
        tangent = np.roll(centres, -1, axis=0) - np.roll(centres, 1, axis=0)
    else:
        tangent = np.gradient(centres, axis=0)
    side = np.cross([0.0, 0.0, 1.0], tangent)
    up = np.cross(tangent, side)
    side /= np.linalg.norm(side, axis=1)[:, None]
    up /= np.linalg.norm(up, axis=1)[:, None]
    angle = np.linspace(0.0, 2.0 * np.pi, sides, endpoint=False)[:, None]
    ring = np.cos(angle) * side[:, None] + np.sin(angle) * up[:, None]
    rings = centres[:, None] + radii[:, None, None] * ring
    if not closed:
        rings = rings[1:-1]
    n = len(rings)
    number = np.arange(n * sides).reshape(n, sides)
    here = number if closed else number[:-1]
    next_ring = np.roll(number, -1, axis=0)[: len(here)]
    a, b, c, d = here, np.roll(here, -1, 1), np.roll(next_ring, -1, 1), next_ring
    quads = np.stack([np.stack([a, b, c], -1), np.stack([a, c, d], -1)]).reshape(-1, 3)
    points = rings.reshape(-1, 3)
    if closed:
        return points, quads
    first, last = number[0], number[-1]
    start, end = np.full(sides, n * sides), np.full(sides, n * sides + 1)
    caps = [
        np.stack([start, np.roll(first, -1), first], axis=1),
        np.stack([end, last, np.roll(last, -1)], axis=1),
    ]
    return np.concatenate([points, centres[[0, -1]]]), np.concatenate([quads, *caps])


def _with_regions(shape: SoftShape, places: dict[str, tuple[Array, float]]) -> SoftShape:
    """Regions of the nodes within a distance of a point; at least the nearest node."""
    regions = {}
    for name, (place, distance) in places.items():
        away = np.linalg.norm(shape.points - place, axis=1)
        regions[name] = np.flatnonzero(away <= max(distance, float(away.min())))
    return replace(shape, regions=regions)
