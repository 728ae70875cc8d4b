"""Bodies of revolution among solids from files: is it one about z, and what is its section?

A surface of triangles is one if its vertices stand on rings, all of them about the same axis, and
its edges lead from ring to ring along one line. A STEP file is cut by half planes at several angles
(netgen_section.py); the cuts of a body of revolution are alike.
"""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from limpet.geometry.surface import volume
from limpet.meshing.section.outline import distance_to_segments, signed_area

Array = np.ndarray

MM = 1e-3
SAME = 2e-4  # of the extent: points of one ring lie within this, and so do cuts of a STEP solid
FEWEST = 8  # vertices of a ring
WIDEST_GAP = 2.5  # between neighbours on a ring, in mean gaps
VOLUME = 0.03  # tolerance of the volume of the revolved section of a surface of triangles
EXACT = 2e-3  # and of a STEP solid
TIMEOUT = 120.0  # [s]


def section_of_surface(points: Array, triangles: Array) -> Array | None:
    """(k, 2) [m] the section (r, z) of a closed surface about an axis along z, None if it has none.

    points (n, 3) [m]: the axis goes through the centre of volume.
    """
    x = points - _centre(points, triangles)
    extent = float(np.ptp(x, axis=0).max())
    rz = np.column_stack([np.hypot(x[:, 0], x[:, 1]), x[:, 2]])
    ring, profile = _rings(rz, SAME * extent)
    on_axis = profile[:, 0] < 2.0 * SAME * extent
    profile[on_axis, 0] = 0.0
    counts = np.bincount(ring)
    if np.any(counts[~on_axis] < FEWEST) or np.all(on_axis):
        return None
    for k in np.flatnonzero(~on_axis):
        angle = np.sort(np.arctan2(x[ring == k, 1], x[ring == k, 0]))
        gaps = np.diff(np.append(angle, angle[0] + 2.0 * np.pi))
        if gaps.max() > WIDEST_GAP * 2.0 * np.pi / counts[k]:
            return None  # a slot, or a hole that is not in the middle
    path = _path(ring, triangles, profile, on_axis)
    if path is None:
        return None
    # facets are chords: a ring of n has this share of the disc within it
    n = int(counts[~on_axis].min())
    share = n / (2.0 * np.pi) * np.sin(2.0 * np.pi / n)
    ratio = abs(volume(points, triangles)) / revolved_volume(path)
    return path if share - VOLUME < ratio < 1.0 + VOLUME else None


def _centre(points: Array, triangles: Array) -> Array:
    """(3,) x and y of the centre of volume, and 0."""
    a, b, c = (points[triangles[:, k]] - points[0] for k in range(3))
    six = np.einsum("ij,ij->i", a, np.cross(b, c))
    middle = points[0] + (six[:, None] * (a + b + c)).sum(axis=0) / (4.0 * six.sum())
    return np.array([middle[0], middle[1], 0.0])


def _rings(rz: Array, near: float) -> tuple[Array, Array]:
    """The ring of each vertex, and (r, z) of each ring."""
    pairs = cKDTree(rz).query_pairs(near, output_type="ndarray")
    n = len(rz)
    graph = coo_matrix((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n, n))
    count, ring = connected_components(graph, directed=False)
    counts = np.bincount(ring, minlength=count)
    sums = [np.bincount(ring, weights=rz[:, k], minlength=count) for k in (0, 1)]
    return ring, np.column_stack(sums) / counts[:, None]


def _path(ring: Array, triangles: Array, profile: Array, on_axis: Array) -> Array | None:
    """The points of the section in order: a loop, or a path from the axis to the axis."""
    edges = np.sort(ring[triangles[:, [[0, 1], [1, 2], [2, 0]]]].reshape(-1, 2), axis=1)
    edges = np.unique(edges[edges[:, 0] != edges[:, 1]], axis=0)
    after = _neighbours(edges)
    if len(profile) > 3:
        after = _neighbours(
            np.array([(a, b) for a, b in edges.tolist() if not _skips(a, b, after, profile)])
        )
    if any(len(near) > 2 for near in after.values()) or len(after) < len(profile):
        return None
    ends = [k for k, near in after.items() if len(near) == 1]
    if len(ends) not in (0, 2) or (not ends and on_axis.any()):
        return None
    walk = [ends[0] if ends else 0]
    before = -1
    while True:
        nexts = [k for k in after[walk[-1]] if k != before]
        if not nexts or nexts[0] == walk[0]:
            break
        before = walk[-1]
        walk.append(nexts[0])
    if len(walk) < len(profile):
        return None  # a void inside
    path = [profile[k] for k in walk]
    if ends:  # a flat disc has no vertex on the axis
        if not on_axis[walk[0]]:
            path.insert(0, np.array([0.0, path[0][1]]))
        if not on_axis[walk[-1]]:
            path.append(np.array([0.0, path[-1][1]]))
    return np.array(path)


def _neighbours(edges: Array) -> dict[int, list[int]]:
    after: dict[int, list[int]] = {}
    for a, b in edges.tolist():
        after.setdefault(a, []).append(b)
        after.setdefault(b, []).append(a)
    return after


def _skips(a: int, b: int, after: dict[int, list[int]], profile: Array) -> bool:
    """Whether an edge leads past a ring between its ends, as a diagonal of a bent face may."""
    length = np.linalg.norm(profile[b] - profile[a])
    between = set(after[a]) & set(after[b])
    return any(
        max(np.linalg.norm(profile[m] - profile[a]), np.linalg.norm(profile[m] - profile[b]))
        < length
        for m in between
    )


def revolved_volume(path: Array) -> float:
    """[m^3] of a closed section (k, 2) revolved about r = 0."""
    r, z = path.T
    s, up = np.roll(r, -1), np.roll(z, -1) - z
    return abs(float(np.pi / 3.0 * np.sum(up * (r * r + r * s + s * s))))


def section_of_step(file: Path, up: Array) -> Array | None:
    """As section_of_surface, for the solid in a STEP file; up (3,): the direction of z."""
    with TemporaryDirectory() as folder:
        task = {"file": str(file.absolute()), "up": up.tolist()}
        (Path(folder) / "task.json").write_text(json.dumps(task))
        worker = Path(__file__).with_name("netgen_section.py")
        with suppress(subprocess.TimeoutExpired):
            subprocess.run(
                [sys.executable, "-P", str(worker), folder], capture_output=True, timeout=TIMEOUT
            )
        result = Path(folder) / "cuts.json"
        if not result.is_file():
            return None
        found = json.loads(result.read_text())
    cuts = [MM * np.array(cut) for cut in found["cuts"]]
    if not cuts:
        return None
    first = cuts[0]
    near = SAME * float(np.ptp(first, axis=0).max())
    first[np.abs(first[:, 0]) < near, 0] = 0.0
    alike = all(
        distance_to_segments(p, q, np.roll(q, -1, axis=0)).min(axis=1).max() < 2.0 * near
        for other in cuts[1:]
        for p, q in ((first, other), (other, first))
    )
    ratio = MM**3 * found["volume"] / revolved_volume(first)
    return first if alike and abs(ratio - 1.0) < EXACT and signed_area(first) != 0.0 else None
