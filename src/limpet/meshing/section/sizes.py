"""The size of cells along the lines of a section."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from limpet.meshing.section.bends import Bend
from limpet.meshing.section.chains import OUTSIDE, Chain, Lines
from limpet.meshing.section.rays import Rays, normals

Array = np.ndarray

SAMPLES = 96  # of a chain, where its size is computed
LONGEST = 2.5  # length of a cell over the thickness of its wall
PER_BEND = 1.3  # [rad] by which one edge may turn
SMALLEST = 1.0 / 8.0  # of the size: finer than this only where corners are
LIP, INNER = 0.6, 0.5  # size at the lip, and at sharp inner corners, where the stress is singular
REACH = 1.0  # sizes: how far the finer mesh reaches


@dataclass(frozen=True)
class SizeField:
    """What bounds the size of cells along the chains, but for the size itself."""

    s: list[Array]  # (SAMPLES,) [m] arc lengths, of each chain
    thickness: list[Array]  # [m] of the wall there
    bend: list[Array]  # [m] radius of curvature
    lip: list[Array]  # [m] distance from the lip
    inner: list[Array]  # [m] distance from the nearest inner corner

    def at(self, chain: int, size: float, tight: Sequence[Bend] = ()) -> Array:
        """(SAMPLES,) [m] for cells of about `size` [m]; `tight` bends are as corners."""
        finer = np.minimum(
            LIP + (1.0 - LIP) * np.clip(self.lip[chain] / (REACH * size), 0.0, 1.0),
            INNER + (1.0 - INNER) * np.clip(self.inner[chain] / (REACH * size), 0.0, 1.0),
        )
        bend, s = self.bend[chain].copy(), self.s[chain]
        for one in tight:
            bend[(s >= one.start) & (s <= one.end)] = np.inf
        wall = np.minimum(LONGEST * self.thickness[chain], PER_BEND * bend)
        return np.maximum(np.minimum(finer * size, wall), SMALLEST * size)


def size_field(lines: Lines, lip: Array) -> SizeField:
    """lip (k, 2) [m]: points of the lip."""
    inner = _inner_corners(lines)
    s, thickness, bend, to_lip, to_inner = [], [], [], [], []
    rays = Rays(lines)
    for chain in lines.chains:
        at = np.linspace(0.0, chain.along[-1], SAMPLES + 2)[1:-1]
        x = chain.at(at)
        s.append(at)
        normal = normals(chain, at)
        depth = [np.full(len(at), np.inf)]
        for part, sign in ((chain.left, 1.0), (chain.right, -1.0)):
            if part != OUTSIDE:
                depth.append(rays.depths(x, sign * normal))
        thickness.append(np.min(depth, axis=0))
        bend.append(_radius(chain, at))
        to_lip.append(np.linalg.norm(x[:, None] - lip[None], axis=2).min(axis=1))
        far = np.full(len(at), np.inf)
        to_inner.append(
            np.linalg.norm(x[:, None] - inner[None], axis=2).min(axis=1) if len(inner) else far
        )
    return SizeField(s, thickness, bend, to_lip, to_inner)


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


def _inner_corners(lines: Lines) -> Array:
    """(k, 2) [m] nodes at which an outline turns to the outside."""
    out = []
    for node, x in enumerate(lines.nodes):
        into = [c for c in lines.chains if c.ends[1] == node and c.right == OUTSIDE]
        from_ = [c for c in lines.chains if c.ends[0] == node and c.right == OUTSIDE]
        if len(into) != 1 or len(from_) != 1:
            continue
        # seen over a tenth of the lines at it
        a = into[0].at(0.9 * into[0].along[-1]) - x
        b = from_[0].at(0.1 * from_[0].along[-1]) - x
        if -a[0] * b[1] + a[1] * b[0] < -0.3 * np.linalg.norm(a) * np.linalg.norm(b):
            out.append(x)
    return np.array(out).reshape(-1, 2)
