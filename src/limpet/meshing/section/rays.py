"""Straight lines across the material of a section."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from limpet.meshing.section.chains import OUTSIDE, Chain, Lines

Array = np.ndarray

PIECES = 192  # of a chain, between which the nearest point to a node is looked for


class Rays:
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


def normals(chain: Chain, s: Array) -> Array:
    """(k, 2) unit normals to the left at arc lengths s."""
    step = 1e-3 * chain.along[-1]
    d = chain.at(np.minimum(s + step, chain.along[-1])) - chain.at(np.maximum(s - step, 0.0))
    d /= np.linalg.norm(d, axis=1)[:, None]
    return np.column_stack([-d[:, 1], d[:, 0]])


def feet(lines: Lines, node: int, x: Array, reach: float, rays: Rays) -> list[tuple[int, float]]:
    """(chain, arc length) straight across the material from a node at the end of chains."""
    found = []
    for k in np.flatnonzero(_box_distances(lines.chains, x) < reach).tolist():
        chain = lines.chains[k]
        if node in chain.ends or chain.on_axis:
            continue
        s = np.linspace(0.0, chain.along[-1], PIECES)
        away = chain.at(s) - x
        distance = np.linalg.norm(away, axis=1)
        i = int(distance.argmin())
        if not 0 < i < len(s) - 1 or distance[i] >= reach:
            continue
        normal = normals(chain, s[i : i + 1])[0]
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
