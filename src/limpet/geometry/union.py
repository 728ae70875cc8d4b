"""Boolean union of closed surfaces, split into shells, with the provenance of every triangle.

P 4.1 takes the union of the bodies in contact; a shell that bounds a void and has triangles of more
than one body is a cavity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from manifold3d import Error, Manifold, Mesh64, OpType

from limpet.compiled import njit
from limpet.errors import MeshError
from limpet.geometry.fans import fanned

Array = np.ndarray


@dataclass(frozen=True)
class UnionMesh:
    """The boundary of a union. A shell of negative volume bounds a void inside the union."""

    points: Array  # (p, 3) [m]
    triangles: Array  # (t, 3) int32, counter-clockwise seen from outside the solid; by body, face
    body: Array  # (t,) int32, the input surface that the triangle is part of
    face: Array  # (t,) int32, the triangle of that surface
    shell: Array  # (t,) int32, connected component
    shell_volume: Array  # (s,) [m^3], signed


def union(surfaces: Sequence[tuple[Array, Array]]) -> UnionMesh:
    """The union of closed surfaces, each (x (n, 3) [m], triangles (m, 3)), in double precision.

    The result is arbitrary for surfaces that touch exactly: offset them first (P 4.1).
    """
    solids = []
    first_id = Manifold.reserve_ids(len(surfaces))
    for i, (x, triangles) in enumerate(surfaces):
        # Without an original id, and a face id for every triangle, the library silently merges
        # coplanar triangles and the provenance is lost.
        solid = Manifold(
            Mesh64(
                vert_properties=np.ascontiguousarray(x, dtype=np.float64),
                tri_verts=np.ascontiguousarray(triangles, dtype=np.uint64),
                run_index=np.array([0, 3 * len(triangles)], dtype=np.uint64),
                run_original_id=np.array([first_id + i], dtype=np.uint32),
                face_id=np.arange(len(triangles), dtype=np.uint64),
            )
        )
        # An open mesh becomes an empty solid without an exception.
        if solid.status() != Error.NoError:
            raise MeshError(
                f"surface {i} of the union is not a closed solid ({solid.status().name}): "
                "run check_surface on it"
            )
        solids.append(solid)
    result = Manifold.batch_boolean(solids, OpType.Add)
    if result.status() != Error.NoError:
        raise MeshError(f"the union failed ({result.status().name}): check the surfaces")
    mesh = result.to_mesh64()
    points = np.array(mesh.vert_properties[:, :3])
    triangles = np.asarray(mesh.tri_verts).astype(np.int32)
    merge_from = np.asarray(mesh.merge_from_vert)
    if len(merge_from):  # the library duplicates vertices between runs: merge them
        same = np.arange(len(points), dtype=np.int32)
        same[merge_from] = np.asarray(mesh.merge_to_vert)
        triangles = same[triangles]
    ends = np.asarray(mesh.run_index).astype(np.int64) // 3
    runs = ends[1:] - ends[:-1]
    body = np.repeat(np.asarray(mesh.run_original_id).astype(np.int32) - np.int32(first_id), runs)
    face = np.asarray(mesh.face_id).astype(np.int32)
    faces = int(face.max(initial=0)) + 1
    points, triangles, origin = fanned(points, triangles, body.astype(np.int64) * faces + face)
    body, face = body[origin], face[origin]
    # in the order of the input: that of the library depends on the axes, and who comes first counts
    # where several bodies or faces meet
    order = np.lexsort((face, body))
    triangles, body, face = triangles[order], body[order], face[order]
    shell, shell_volume = shells(points, triangles)
    return UnionMesh(points, triangles, body, face, shell, shell_volume)


@njit(cache=True)
def shells(x: Array, triangles: Array) -> tuple[Array, Array]:
    """Connected components (t,) of a closed mesh and their signed volumes (s,) [m^3]."""
    parent = np.arange(len(x))
    for t in range(len(triangles)):
        a = _root(parent, triangles[t, 0])
        for k in range(1, 3):
            b = _root(parent, triangles[t, k])
            parent[b] = a
    number = np.full(len(x), -1, dtype=np.int32)
    origin = np.empty(
        len(triangles), dtype=np.int32
    )  # a vertex of each shell, against cancellation
    shell = np.empty(len(triangles), dtype=np.int32)
    count = 0
    for t in range(len(triangles)):
        r = _root(parent, triangles[t, 0])
        if number[r] < 0:
            number[r] = count
            origin[count] = triangles[t, 0]
            count += 1
        shell[t] = number[r]
    volume = np.zeros(count)
    for t in range(len(triangles)):
        o = x[origin[shell[t]]]
        a, b, c = triangles[t]
        ax, ay, az = x[a, 0] - o[0], x[a, 1] - o[1], x[a, 2] - o[2]
        bx, by, bz = x[b, 0] - o[0], x[b, 1] - o[1], x[b, 2] - o[2]
        cx, cy, cz = x[c, 0] - o[0], x[c, 1] - o[1], x[c, 2] - o[2]
        six = ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)
        volume[shell[t]] += six / 6.0
    return shell, volume


@njit(cache=True)
def _root(parent: Array, i: int) -> int:
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


def arrays(body: Manifold) -> tuple[Array, Array]:
    mesh = body.to_mesh64()
    return np.array(mesh.vert_properties[:, :3]), np.array(mesh.tri_verts).astype(np.int32)
