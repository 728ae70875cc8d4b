"""A section meshed with quadrilaterals from node to node of its lines; Netgen fills what is thick.

Triangles are left where quadrilaterals do not fit.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from limpet.errors import MeshError
from limpet.meshing.section.axis import Strip, cut_strips
from limpet.meshing.section.chains import OUTSIDE, Lines
from limpet.meshing.section.division import divide
from limpet.meshing.section.outline import inside, signed_area
from limpet.meshing.section.quadrangulate import outlines, quadrangulate
from limpet.meshing.section.quality import quadratic
from limpet.meshing.section.sizes import size_field
from limpet.meshing.tetrahedra import require_package

Array = np.ndarray

TIMEOUT = 120.0  # [s]
LARGER = 1.2  # sizes: that of cells away from the lines


@dataclass(frozen=True)
class PlaneMesh:
    """Quadratic cells in the plane (r, z); corners first, then the middles of their sides."""

    points: Array  # (n, 2) [m]
    quads: Array  # (q, 8) counter-clockwise
    triangles: Array  # (t, 6)
    quad_part: Array  # (q,)
    triangle_part: Array  # (t,)
    edges: Array  # (e, 3) outer edges: start, middle, end; the material is on their left
    names: list[str | None]  # of the outer edges
    bridges: Array  # (b, 3) edges between two parts
    size: float  # [m] asked for

    @property
    def corners(self) -> Array:
        """(n,) whether a point is a corner of cells."""
        found = np.zeros(len(self.points), dtype=bool)
        found[self.quads[:, :4]] = True
        found[self.triangles[:, :3]] = True
        return found


@dataclass
class _Draft:
    """A division of the lines at one size, before Netgen fills it."""

    size: float
    points: list[Array]
    middles: dict[tuple[int, int], Array]  # of the edges on lines
    outer: dict[tuple[int, int], str | None]  # directed edges with the outside on their right
    cells: list[tuple[int, list[int]]]  # part and corners: strips on the axis, and walls
    loops: list[tuple[int, list[list[int]]]]  # part and loops of what is left


def plane_meshes(lines: Lines, lip: Array, sizes: Sequence[float]) -> list[PlaneMesh]:
    """A mesh for each size [m]; sizes at which there is none are left out."""
    drafts = [_draft(lines, lip, size) for size in sizes]
    polygons = [(d, part, loops) for d in drafts for part, loops in d.loops]
    for quads in (True, False):
        filled = _netgen([_task(d, loops, quads) for d, _, loops in polygons])
        cells: dict[int, list[tuple[int, list[int]]] | None] = {id(d): [] for d in drafts}
        for (d, part, _), piece in zip(polygons, filled):
            own = cells[id(d)]
            found = None if piece is None else _numbered(d, piece)
            if own is None or found is None:
                cells[id(d)] = None
            else:
                own += [(part, cell) for cell in found]
        out = [
            mesh
            for d in drafts
            if (own := cells[id(d)]) is not None and (mesh := _finished(d, own)) is not None
        ]
        if out:
            return out
    raise MeshError(
        "section could not be meshed by Netgen: remove very short edges and very thin walls"
    )


def _draft(lines: Lines, lip: Array, size: float) -> _Draft:
    lines, strips = cut_strips(lines, size)
    feet = {node for strip in strips for node in strip.foot}
    spokes = [k for k, c in enumerate(lines.chains) if feet & set(c.ends) and not c.on_axis]
    division = divide(lines, size_field(lines, lip), size, spokes)
    d = _Draft(size, list(lines.nodes), {}, {}, [], [])
    nodes: list[list[int]] = []  # of each chain
    for chain, s in zip(lines.chains, division):
        inner = list(range(len(d.points), len(d.points) + len(s) - 2))
        d.points += list(chain.at(s[1:-1]))
        nodes.append([chain.ends[0], *inner, chain.ends[1]])
    rims: dict[int, set[tuple[int, int]]] = {}  # directed edges round each part
    for strip in strips:
        _fill_strip(d, lines, strip, nodes, rims)
    for chain, s, own in zip(lines.chains, division, nodes):
        if chain.on_axis:
            continue
        middles = chain.at(0.5 * (s[1:] + s[:-1]))
        for a, b, middle in zip(own, own[1:], middles):
            d.middles[min(a, b), max(a, b)] = middle
            _toggle(rims, chain.left, a, b)
            _toggle(rims, chain.right, b, a)
            if chain.right == OUTSIDE:
                d.outer[a, b] = chain.name
            elif chain.left == OUTSIDE:
                d.outer[b, a] = chain.name
    points = np.array(d.points)
    for part, rim in rims.items():
        for loops in _grouped(points, _traced(points, rim)):
            _fill_walls(d, part, loops)
    return d


def _fill_walls(d: _Draft, part: int, loops: list[list[int]]) -> None:
    """Cells from line to line within an outer loop; what they leave is for Netgen."""
    if len(loops) > 1:
        d.loops.append((part, loops))
        return
    loop, points = np.array(loops[0]), np.array(d.points)
    good, bad = quadrangulate(points[loop], d.size)
    d.cells += [(part, loop[cell].tolist()) for cell in good]
    left = {(int(loop[a]), int(loop[b])) for a, b in outlines(bad)}
    d.loops += [(part, [rest]) for rest in _traced(points, left)]


def _toggle(rims: dict[int, set[tuple[int, int]]], part: int, a: int, b: int) -> None:
    """Add an edge to the rim of a part; the same edge the other way round cancels it."""
    if part == OUTSIDE:
        return
    rim = rims.setdefault(part, set())
    if (b, a) in rim:
        rim.remove((b, a))
    else:
        rim.add((a, b))


def _fill_strip(
    d: _Draft, lines: Lines, strip: Strip, nodes: list[list[int]],
    rims: dict[int, set[tuple[int, int]]],
) -> None:  # fmt: skip
    """Cells between the axis and the side of a strip; their outline is taken off the part's."""
    part = lines.chains[strip.axis].left
    side: list[int] = []
    for k in strip.side:
        own = nodes[k] if d.points[nodes[k][0]][1] < d.points[nodes[k][-1]][1] else nodes[k][::-1]
        side += own if not side else own[1:]
    z = np.array([d.points[n][1] for n in side])
    low, high = d.points[strip.foot[0]][1], d.points[strip.foot[1]][1]
    heights = low + (z - z[0]) / (z[-1] - z[0]) * (high - low)
    axis = [strip.foot[0], *range(len(d.points), len(d.points) + len(side) - 2), strip.foot[1]]
    d.points += [np.array([0.0, h]) for h in heights[1:-1]]
    for a, b, c, e in zip(axis, side, side[1:], axis[1:]):
        d.cells.append((part, [a, b, c, e]))
    outline = [(axis[0], side[0]), *pairwise(side), (side[-1], axis[-1])]
    for a, b in outline:
        _toggle(rims, part, b, a)


def _traced(points: Array, rim: set[tuple[int, int]]) -> list[list[int]]:
    """Closed loops of directed edges; where several leave a node, the leftmost turn."""
    after: dict[int, list[int]] = {}
    for a, b in sorted(rim):
        after.setdefault(a, []).append(b)
    loops = []
    while after:
        start = min(after)
        loop = [start]
        here = after[start].pop()
        while here != start:
            before = points[loop[-1]]
            loop.append(here)
            u = points[here] - before

            def turn(to: int, u: Array = u, here: int = here) -> float:
                v = points[to] - points[here]
                return float(np.arctan2(u[0] * v[1] - u[1] * v[0], u @ v))

            choice = max(after[here], key=turn)
            after[here].remove(choice)
            here = choice
        loops.append(loop)
        after = {a: b for a, b in after.items() if b}
    return loops


def _grouped(points: Array, loops: list[list[int]]) -> list[list[list[int]]]:
    """Each outer loop with the holes in it."""
    outer = [loop for loop in loops if signed_area(points[loop]) > 0.0]
    groups = [[loop] for loop in outer]
    for hole in loops:
        if signed_area(points[hole]) <= 0.0:
            around = [g for g in groups if inside(points[hole[:1]], points[g[0]])[0]]
            min(around, key=lambda g: signed_area(points[g[0]])).append(hole)
    return groups


def _task(d: _Draft, loops: list[list[int]], quads: bool) -> dict[str, Any]:
    return {
        "loops": [[(d.points[n] / d.size).tolist() for n in loop] for loop in loops],
        "size": LARGER,
        "quads": quads,
    }


def _netgen(tasks: list[dict[str, Any]]) -> list[dict[str, Any] | None]:
    if not tasks:
        return []
    require_package("netgen", "netgen-mesher", "meshing a section")
    worker = Path(__file__).with_name("netgen_plane.py")
    with TemporaryDirectory() as folder:
        (Path(folder) / "task.json").write_text(json.dumps(tasks))
        with suppress(subprocess.TimeoutExpired):
            subprocess.run(
                [sys.executable, "-P", str(worker), folder], capture_output=True, timeout=TIMEOUT
            )
        result = Path(folder) / "mesh.json"
        if result.is_file():
            return list(json.loads(result.read_text()))
    if len(tasks) == 1:
        return [None]
    half = len(tasks) // 2  # it aborted on one of them
    return _netgen(tasks[:half]) + _netgen(tasks[half:])


def _numbered(d: _Draft, mesh: dict[str, Any]) -> list[list[int]] | None:
    """The cells by points of the draft, which gets the new ones."""
    if not mesh["cells"]:
        return None
    points = d.size * np.array(mesh["points"])
    away, known = cKDTree(np.array(d.points)).query(points)
    number = []
    for x, distance, old in zip(points, away, known):
        if distance < 1e-6 * d.size:
            number.append(int(old))
        else:
            number.append(len(d.points))
            d.points.append(x)
    return [[number[v] for v in cell] for cell in mesh["cells"]]


def _finished(d: _Draft, cells: list[tuple[int, list[int]]]) -> PlaneMesh | None:
    made = quadratic(np.array(d.points), [*d.cells, *cells], d.middles)
    if made is None:
        return None
    points, quads, triangles, middle = made
    corners = {key: middle[min(key), max(key)] for key in d.outer if (min(key), max(key)) in middle}
    if len(corners) < len(d.outer):
        return None
    edges = np.array([(a, m, b) for (a, b), m in corners.items()])
    bridges = [
        (a, middle[a, b], b) for a, b in d.middles
        if (a, b) not in d.outer and (b, a) not in d.outer and (a, b) in middle
    ]  # fmt: skip
    used = np.unique(np.concatenate([quads[1].ravel(), triangles[1].ravel()]))
    compact = np.full(len(points), -1)
    compact[used] = np.arange(len(used))
    return PlaneMesh(
        points[used], compact[quads[1]], compact[triangles[1]], quads[0], triangles[0],
        compact[edges], list(d.outer.values()),
        compact[np.array(bridges, int).reshape(-1, 3)], d.size,
    )  # fmt: skip
