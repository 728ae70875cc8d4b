"""Where the nodes of a section's lines stand: sizes, and pairs across its walls.

A wall is to have a ladder of quadrilaterals. So a node on one face of it gets a partner on the
other, at the foot of the normal, unless there is a node nearby.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from limpet.meshing.section.chains import OUTSIDE, Chain, Lines

Array = np.ndarray

SAMPLES = 24  # of a chain, where its size is computed
LONGEST = 2.5  # length of a cell over the thickness of its wall
PER_BEND = 1.3  # [rad] by which one edge may turn
SMALLEST = 1.0 / 8.0  # of the size: finer than this only where corners are
LIP, ROOT = 0.6, 0.7  # size at the lip, and at the roots of folds
REACH = 2.0  # sizes: how far the finer mesh reaches
PAIRED = 1.6  # sizes: nodes on walls up to this thick have partners
KINK = np.radians(8.0)  # a line that turns by this at one point has a node there, if there is room
APART = 0.7  # sizes between two such nodes
CLOSE = 0.45  # of the size: a partner this near to a node is that node


@dataclass(frozen=True)
class SizeField:
    """What bounds the size of cells along the chains, but for the size itself."""

    s: list[Array]  # (SAMPLES,) [m] arc lengths, of each chain
    thickness: list[Array]  # [m] of the wall there
    bend: list[Array]  # [m] radius of curvature
    lip: list[Array]  # [m] distance from the lip
    root: list[Array]  # [m] distance from the nearest root of a fold

    def at(self, chain: int, size: float) -> Array:
        """(SAMPLES,) [m] for cells of about `size` [m]."""
        finer = np.minimum(
            LIP + (1.0 - LIP) * np.clip(self.lip[chain] / (REACH * size), 0.0, 1.0),
            ROOT + (1.0 - ROOT) * np.clip(self.root[chain] / (REACH * size), 0.0, 1.0),
        )
        wall = np.minimum(LONGEST * self.thickness[chain], PER_BEND * self.bend[chain])
        return np.maximum(np.minimum(finer * size, wall), SMALLEST * size)


def size_field(lines: Lines, lip: Array) -> SizeField:
    """lip (k, 2) [m]: points of the lip."""
    roots = _roots(lines)
    s, thickness, bend, to_lip, to_root = [], [], [], [], []
    rays = _Rays(lines)
    for chain in lines.chains:
        at = np.linspace(0.0, chain.along[-1], SAMPLES + 2)[1:-1]
        x = chain.at(at)
        s.append(at)
        normal = _normals(chain, at)
        depth = [np.full(len(at), np.inf)]
        for part, sign in ((chain.left, 1.0), (chain.right, -1.0)):
            if part != OUTSIDE:
                depth.append(rays.depths(x, sign * normal))
        thickness.append(np.min(depth, axis=0))
        bend.append(_radius(chain, at))
        to_lip.append(np.linalg.norm(x[:, None] - lip[None], axis=2).min(axis=1))
        far = np.full(len(at), np.inf)
        to_root.append(
            np.linalg.norm(x[:, None] - roots[None], axis=2).min(axis=1) if len(roots) else far
        )
    return SizeField(s, thickness, bend, to_lip, to_root)


def divide(lines: Lines, field: SizeField, size: float, whole: Sequence[int] = ()) -> list[Array]:
    """Arc lengths [m] of the nodes of each chain, its ends included; `whole` chains have none."""
    rays = _Rays(lines)
    lengths = [float(c.along[-1]) for c in lines.chains]
    out: list[Array] = [np.array([0.0, length]) for length in lengths]
    imposed: list[list[float]] = [[] for _ in lines.chains]
    for node, x in enumerate(lines.nodes):
        reach = PAIRED * size
        for k, s in _feet(lines, node, x, reach, rays):
            imposed[k].append(s)
    # rounded, so that lines of equal length keep their order
    for k in sorted(range(len(lengths)), key=lambda k: -round(lengths[k] / lines.extent, 6)):
        chain = lines.chains[k]
        if chain.on_axis or k in whole:
            continue
        local = field.at(k, size)
        out[k] = _placed(lengths[k], field.s[k], local, _kinks(chain), imposed[k])
        for s in out[k][1:-1]:
            x, normal = chain.at(s), _normals(chain, np.array([s]))[0]
            reach = PAIRED * float(np.interp(s, field.s[k], local))
            for part, sign in ((chain.left, 1.0), (chain.right, -1.0)):
                if part == OUTSIDE:
                    continue
                depth, other, at = rays.cast(x, sign * normal)
                if depth < reach:
                    imposed[other].append(at)
    return out


def _placed(
    length: float, s: Array, local: Array, kinks: Sequence[float], partners: Sequence[float]
) -> Array:
    """Arc lengths of nodes: the ends, kinks and partners that keep their distance, and between."""
    fixed = [0.0, length]
    wished = [(at, APART) for at in kinks] + [(at, CLOSE) for at in partners]
    for at, sizes in wished:
        room = sizes * float(np.interp(at, s, local))
        if all(abs(at - f) > min(room, 0.4 * length) for f in fixed):
            fixed.append(at)
    fixed.sort()
    fine = np.linspace(0.0, length, 200)
    density = 1.0 / np.interp(fine, s, local)
    count = np.concatenate([[0.0], np.cumsum(0.5 * (density[1:] + density[:-1]) * np.diff(fine))])
    places = [0.0]
    for one, two in pairwise(fixed):
        a, b = np.interp([one, two], fine, count)
        pieces = max(1, round(b - a))
        places += list(np.interp(np.linspace(a, b, pieces + 1)[1:], count, fine))
        places[-1] = two
    return np.array(places)


def _feet(lines: Lines, node: int, x: Array, reach: float, rays: _Rays) -> list[tuple[int, float]]:
    """(chain, arc length) straight across the material from a node at the end of chains."""
    found = []
    for k in np.flatnonzero(_box_distances(lines.chains, x) < reach).tolist():
        chain = lines.chains[k]
        if node in chain.ends or chain.on_axis:
            continue
        s = np.linspace(0.0, chain.along[-1], 8 * SAMPLES)
        away = chain.at(s) - x
        distance = np.linalg.norm(away, axis=1)
        i = int(distance.argmin())
        if not 0 < i < len(s) - 1 or distance[i] >= reach:
            continue
        normal = _normals(chain, s[i : i + 1])[0]
        side = float(-away[i] @ normal)  # the node seen from the chain
        part = chain.left if side > 0.0 else chain.right
        if part != OUTSIDE and abs(side) > 0.8 * distance[i] and rays.clear(x, chain.at(s[i])):
            found.append((k, float(s[i])))
    return found


def _box_distances(chains: Sequence[Chain], x: Array) -> Array:
    """(k,) [m] from a point to the box round each chain."""
    low, high = (np.array([c.box[k] for c in chains]) for k in (0, 1))
    outside = np.maximum(np.maximum(low - x, x - high), 0.0)
    return np.asarray(np.linalg.norm(outside, axis=1))


class _Rays:
    """Where straight lines first meet the lines of a section."""

    def __init__(self, lines: Lines) -> None:
        chains = lines.chains
        self.a = np.concatenate([c.points[:-1] for c in chains])
        self.d = np.concatenate([np.diff(c.points, axis=0) for c in chains])
        self.chain = np.repeat(np.arange(len(chains)), [len(c.points) - 1 for c in chains])
        self.start = np.concatenate([c.along[:-1] for c in chains])
        self.length = np.linalg.norm(self.d, axis=1)
        self.least = 1e-6 * lines.extent

    def _hits(self, x: Array, direction: Array) -> tuple[Array, Array]:
        """Distance [m] along a direction to each segment, inf if it misses; and where on it."""
        det = direction[0] * self.d[:, 1] - direction[1] * self.d[:, 0]
        away = self.a - x
        with np.errstate(divide="ignore", invalid="ignore"):
            t = (away[:, 0] * self.d[:, 1] - away[:, 1] * self.d[:, 0]) / det
            u = (away[:, 0] * direction[1] - away[:, 1] * direction[0]) / det
        misses = ~((t > self.least) & (u >= -1e-9) & (u <= 1.0 + 1e-9))
        return np.where(misses, np.inf, t), u

    def depths(self, x: Array, directions: Array) -> Array:
        """(k,) [m] from points (k, 2) to the first hit."""
        u, v = directions[:, :1], directions[:, 1:]
        det = u * self.d[:, 1] - v * self.d[:, 0]
        a, b = self.a[:, 0] - x[:, :1], self.a[:, 1] - x[:, 1:]
        with np.errstate(divide="ignore", invalid="ignore"):
            t = (a * self.d[:, 1] - b * self.d[:, 0]) / det
            at = (a * v - b * u) / det
        hits = (t > self.least) & (at >= -1e-9) & (at <= 1.0 + 1e-9)
        return np.asarray(np.where(hits, t, np.inf).min(axis=1))

    def cast(self, x: Array, direction: Array) -> tuple[float, int, float]:
        """Distance [m], chain and arc length [m] of the first hit."""
        t, u = self._hits(x, direction)
        i = int(t.argmin())
        at = float(self.start[i] + np.clip(u[i], 0.0, 1.0) * self.length[i])
        return float(t[i]), int(self.chain[i]), at

    def clear(self, x: Array, y: Array) -> bool:
        """Whether nothing lies between two points."""
        length = float(np.linalg.norm(y - x))
        return bool(self._hits(x, (y - x) / length)[0].min() > length * (1.0 - 1e-3))


def _normals(chain: Chain, s: Array) -> Array:
    """(k, 2) unit normals to the left at arc lengths s."""
    step = 1e-3 * chain.along[-1]
    d = chain.at(np.minimum(s + step, chain.along[-1])) - chain.at(np.maximum(s - step, 0.0))
    d /= np.linalg.norm(d, axis=1)[:, None]
    return np.column_stack([-d[:, 1], d[:, 0]])


def _kinks(chain: Chain) -> list[float]:
    """Arc lengths [m] at which the polyline turns visibly."""
    step = np.diff(chain.points, axis=0)
    angle = np.arctan2(step[:, 1], step[:, 0])
    turn = np.abs((np.diff(angle) + np.pi) % (2.0 * np.pi) - np.pi)
    return [float(s) for s in chain.along[1:-1][turn > KINK]]


def _radius(chain: Chain, s: Array) -> Array:
    """(k,) [m] radius of curvature, from the turns of the polyline."""
    p = chain.points
    if len(p) < 3:
        return np.full(len(s), np.inf)
    step = np.diff(p, axis=0)
    angle = np.arctan2(step[:, 1], step[:, 0])
    turn = np.abs((np.diff(angle) + np.pi) % (2.0 * np.pi) - np.pi)
    length = np.linalg.norm(step, axis=1)
    curvature = turn / (0.5 * (length[1:] + length[:-1]))
    bent = np.interp(s, chain.along[1:-1], curvature)
    return np.asarray(1.0 / np.maximum(bent, 1e-9))


def _roots(lines: Lines) -> Array:
    """(k, 2) nodes at which an outline turns into the material's outside: the roots of folds."""
    out = []
    for node, x in enumerate(lines.nodes):
        into = [c for c in lines.chains if c.ends[1] == node and c.right == OUTSIDE]
        from_ = [c for c in lines.chains if c.ends[0] == node and c.right == OUTSIDE]
        if len(into) != 1 or len(from_) != 1:
            continue
        # a bend is seen over a tenth of the lines at it
        a = into[0].at(0.9 * into[0].along[-1]) - x
        b = from_[0].at(0.1 * from_[0].along[-1]) - x
        if -a[0] * b[1] + a[1] * b[0] < -0.3 * np.linalg.norm(a) * np.linalg.norm(b):
            out.append(x)
    return np.array(out).reshape(-1, 2)
