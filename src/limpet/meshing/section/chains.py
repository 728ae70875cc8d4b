"""The lines of a section: its outlines cut where parts meet, and joined to chains between nodes.

A chain ends at a corner, at the axis, where another line begins and where its name changes; in
between it is smooth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy.spatial import cKDTree

from limpet.errors import LimpetError
from limpet.meshing.section.outline import (
    TOUCH,
    Loop,
    Part,
    distance_to_segments,
    inside,
    trace,
)

Array = np.ndarray

SHARP = np.radians(28.0)  # a polyline that turns by more has a corner there
BEND = np.radians(30.0)  # a smooth line that turns by this to one side has a bend there
OUTSIDE = -1
MOST_CHAINS = 300


@dataclass(frozen=True)
class Chain:
    """A smooth line between two nodes."""

    points: Array  # (k, 2) [m]
    ends: tuple[int, int]  # nodes
    left: int  # the part on its left, OUTSIDE
    right: int
    name: str | None

    @cached_property
    def along(self) -> Array:
        """(k,) [m] arc length at each point."""
        steps = np.linalg.norm(np.diff(self.points, axis=0), axis=1)
        return np.concatenate([[0.0], np.cumsum(steps)])

    @cached_property
    def box(self) -> tuple[Array, Array]:
        """(2,) [m] its lowest and its highest coordinates."""
        return self.points.min(axis=0), self.points.max(axis=0)

    def at(self, s: Array | float) -> Array:
        """(..., 2) [m] the points at arc lengths s."""
        along = self.along
        return np.stack([np.interp(s, along, self.points[:, k]) for k in (0, 1)], axis=-1)

    @property
    def on_axis(self) -> bool:
        return bool(np.all(self.points[:, 0] == 0.0))


@dataclass(frozen=True)
class Lines:
    """The chains of a section and the nodes at their ends."""

    nodes: list[Array]  # (2,) [m] each
    chains: list[Chain]
    extent: float  # [m]


def lines_of(parts: Sequence[Part]) -> Lines:
    """The lines of a section; later parts replace what they cover."""
    loops = [trace(part, len(parts) > 1) for part in parts]
    points = np.concatenate([loop.points for loop in loops])
    extent = float(np.ptp(points, axis=0).max())
    a, b, names = _split(loops, TOUCH * extent)
    xy, segments = _merge(a, b, TOUCH * extent)
    segments, sides, labels = _sides(xy, segments, names, loops, 10.0 * TOUCH * extent)
    if not len(segments):
        raise LimpetError("section: the parts leave nothing")
    xy[np.abs(xy[:, 0]) < TOUCH * extent, 0] = 0.0
    lines = _joined(xy, segments, sides, labels, extent)
    if len(lines.chains) > MOST_CHAINS:
        raise LimpetError(
            f"section has {len(lines.chains)} sharp corners and bends: expected up to {MOST_CHAINS}"
        )
    return lines


def _split(loops: Sequence[Loop], tolerance: float) -> tuple[Array, Array, list[str | None]]:
    """All segments (a, b), cut where they cross or touch those of other parts."""
    a = np.concatenate([loop.points for loop in loops])
    b = np.concatenate([np.roll(loop.points, -1, axis=0) for loop in loops])
    owner = np.repeat(np.arange(len(loops)), [len(loop.points) for loop in loops])
    names = [name for loop in loops for name in loop.names]
    starts: list[Array] = []
    ends: list[Array] = []
    labels: list[str | None] = []
    for i in range(len(a)):
        d = b[i] - a[i]
        length = float(np.linalg.norm(d))
        others = owner != owner[i]
        near = distance_to_segments(a[others], a[i : i + 1], b[i : i + 1])[:, 0] < tolerance
        cuts = [float(s) for s in ((a[others][near] - a[i]) @ d / length**2)]
        cuts += _crossings(a[i], d, a[others], (b - a)[others])
        edge = tolerance / length
        inner = sorted(s for s in cuts if edge < s < 1.0 - edge)
        places = [0.0, *(s for k, s in enumerate(inner) if not k or s - inner[k - 1] > edge), 1.0]
        for s, t in pairwise(places):
            starts.append(a[i] + s * d)
            ends.append(a[i] + t * d)
            labels.append(names[i])
    return np.array(starts), np.array(ends), labels


def _crossings(origin: Array, d: Array, a: Array, e: Array) -> list[float]:
    """Where the segment origin + s d, s in [0, 1], properly crosses the segments a + t e."""
    det = d[0] * e[:, 1] - d[1] * e[:, 0]
    away = a - origin
    with np.errstate(divide="ignore", invalid="ignore"):
        s = (away[:, 0] * e[:, 1] - away[:, 1] * e[:, 0]) / det
        t = (away[:, 0] * d[1] - away[:, 1] * d[0]) / det
    scale = np.linalg.norm(d) * np.linalg.norm(e, axis=1)
    crosses = (np.abs(det) > 1e-9 * scale) & (s > 0.0) & (s < 1.0) & (t > 0.0) & (t < 1.0)
    return [float(x) for x in s[crosses]]


def _merge(a: Array, b: Array, tolerance: float) -> tuple[Array, Array]:
    """Distinct points, and the segments (m, 2) by point."""
    both = np.concatenate([a, b])
    near = cKDTree(both).query_ball_point(both, 3.0 * tolerance)
    first = np.array([min(found) for found in near])  # the first point at each place
    first = first[first]
    used, number = np.unique(first, return_inverse=True)
    return both[used].copy(), number.reshape(2, -1).T


def _sides(
    xy: Array, segments: Array, names: list[str | None], loops: Sequence[Loop], off: float
) -> tuple[Array, Array, list[str | None]]:
    """The segments between different parts, directed with a part on their left."""
    label: dict[tuple[int, int], str | None] = {}
    for (i, j), name in zip(segments.tolist(), names):
        key = (min(i, j), max(i, j))
        if i != j:
            label[key] = name or label.get(key)
    unique = np.array(list(label))
    p, q = xy[unique[:, 0]], xy[unique[:, 1]]
    d = (q - p) / np.linalg.norm(q - p, axis=1)[:, None]
    normal = off * np.column_stack([-d[:, 1], d[:, 0]])
    left, right = (_part_at(0.5 * (p + q) + s * normal, loops) for s in (1.0, -1.0))
    keep = left != right
    turned = left == OUTSIDE
    unique[turned] = unique[turned][:, ::-1]
    left[turned], right[turned] = right[turned], OUTSIDE
    kept = [name for name, k in zip(label.values(), keep) if k]
    return unique[keep], np.column_stack([left, right])[keep], kept


def _part_at(points: Array, loops: Sequence[Loop]) -> Array:
    """(k,) the last part that covers each point."""
    part = np.full(len(points), OUTSIDE)
    for i, loop in enumerate(loops):
        part[inside(points, loop.points)] = i
    return part


def _joined(
    xy: Array, segments: Array, sides: Array, names: list[str | None], extent: float
) -> Lines:
    at: dict[int, list[int]] = {}  # segments at a point
    for k, (i, j) in enumerate(segments.tolist()):
        at.setdefault(i, []).append(k)
        at.setdefault(j, []).append(k)

    def kind(k: int) -> tuple[object, ...]:
        return (*sides[k].tolist(), names[k], bool(np.all(xy[segments[k], 0] == 0.0)))

    def is_node(point: int) -> bool:
        around = at[point]
        if len(around) != 2 or kind(around[0]) != kind(around[1]):
            return True
        into = next((k for k in around if segments[k][1] == point), None)
        out = next((k for k in around if segments[k][0] == point), None)
        if into is None or out is None:
            return True
        return abs(_turn(xy[segments[into][0]], xy[point], xy[segments[out][1]])) > SHARP

    following = {int(i): k for k, (i, j) in enumerate(segments.tolist()) if not is_node(i)}
    begins = [k for k, (i, _) in enumerate(segments.tolist()) if is_node(i)]
    done: set[int] = set()
    number: dict[int, int] = {}
    nodes: list[Array] = []
    chains: list[Chain] = []

    def node(point: int) -> int:
        if point not in number:
            number[point] = len(nodes)
            nodes.append(xy[point])
        return number[point]

    for k in [*begins, *range(len(segments))]:
        if k in done:
            continue
        run = [k]
        done.add(k)
        while (after := following.get(int(segments[run[-1]][1]))) is not None and after not in done:
            run.append(after)
            done.add(after)
        points = xy[[segments[run[0]][0], *(segments[s][1] for s in run)]]
        ends = node(int(segments[run[0]][0])), node(int(segments[run[-1]][1]))
        left, right = (int(s) for s in sides[k])
        chain = Chain(points, ends, left, right, names[k])
        # one that is closed, or leaves the axis and returns to it, has more nodes
        whole = ends[0] == ends[1] or (not chain.on_axis and np.all(points[[0, -1], 0] == 0.0))
        chains += _at_tops(chain, nodes) if whole else [chain]
    return Lines(nodes, chains, extent)


def _turn(a: Array, b: Array, c: Array) -> float:
    """Angle [rad] by which a polyline turns at b, to the left."""
    u, v = b - a, c - b
    return float(np.arctan2(u[0] * v[1] - u[1] * v[0], u @ v))


def bends_at(p: Array) -> list[tuple[int, list[int], int, float]]:
    """Bends of a polyline (k, 2): its points where one starts, has its tops, ends; and its turn.

    A bend by up to 225 degrees has one top, longer ones more.
    """
    step = np.linalg.norm(np.diff(p, axis=0), axis=1)
    turns = [0.0, *(_turn(p[k - 1], p[k], p[k + 1]) for k in range(1, len(p) - 1)), 0.0]
    found = []
    k = 1
    while k < len(p) - 1:
        end = k
        while end < len(p) - 1 and np.sign(turns[end]) == np.sign(turns[k]) and turns[k] != 0.0:
            end += 1
        total = sum(turns[k:end])
        if abs(total) > BEND:
            pieces = max(2, round(abs(total) / (0.5 * np.pi)))
            passed = np.cumsum(np.abs(turns[k:end])) - 0.5 * np.abs(turns[k:end])
            shares = abs(total) * np.arange(1, pieces) / pieces
            tops = [k + int(np.abs(passed - share).argmin()) for share in shares]
            # the line may begin or end with an arc
            start = 0 if k == 1 and step[0] < 1.5 * step[1] else k
            stop = end if end == len(p) - 1 and step[-1] < 1.5 * step[-2] else end - 1
            found.append((start, sorted(set(tops)), stop, float(total)))
        k = max(end, k + 1)
    return found


def cut_at_bends(lines: Lines) -> Lines:
    """The lines with a node at the top of each bend."""
    nodes = list(lines.nodes)
    chains = [piece for chain in lines.chains for piece in _at_tops(chain, nodes)]
    return Lines(nodes, chains, lines.extent)


def _at_tops(chain: Chain, nodes: list[Array]) -> list[Chain]:
    """The chain in pieces, with a new node at the top of each bend."""
    p = chain.points
    tops = [k for _, tops, _, _ in bends_at(p) for k in tops]
    places = [0, *tops, len(p) - 1]
    ids = [chain.ends[0], *range(len(nodes), len(nodes) + len(tops)), chain.ends[1]]
    nodes += [p[k] for k in tops]
    return [
        Chain(p[i : j + 1], (ids[n], ids[n + 1]), chain.left, chain.right, chain.name)
        for n, (i, j) in enumerate(pairwise(places))
    ]
