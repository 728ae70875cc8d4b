"""The strip of cells along the axis, whose sides on the axis become the edges of wedges.

No other cell may touch the axis: revolved, a triangle there would be a tetrahedron or a pyramid.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from limpet.errors import LimpetError
from limpet.meshing.section.chains import Chain, Lines

Array = np.ndarray

WIDEST = 1.7  # sizes: a strip up to this wide ends at a corner
SAME = 1e-9  # of the extent


@dataclass(frozen=True)
class Strip:
    """A strip along the axis in one part, from a lower chain to an upper one."""

    axis: int  # chain on the axis
    foot: tuple[int, int]  # nodes on the axis, below and above
    side: tuple[int, ...]  # chains on its outer side, from below


def cut_strips(lines: Lines, size: float) -> tuple[Lines, list[Strip]]:
    """The lines with the sides of the strips, about `size` [m] wide."""
    chains, nodes = list(lines.chains), list(lines.nodes)
    axis = [k for k, c in enumerate(chains) if c.on_axis]
    if not axis:
        touching = next((x for c in chains for x in c.points if x[0] == 0.0), None)
        if touching is not None:
            raise LimpetError(
                f"section touches the axis only at z = {1e3 * touching[1]:.4g} mm: expected an "
                "edge along the axis, or a distance from it"
            )
        return lines, []
    feet = {node for k in axis for node in chains[k].ends}
    leaving = {node: _leaving(chains, node, lines) for node in feet}
    width = _width(chains, leaving, size, axis)
    cut: dict[int, int] = {}
    for node, k in leaving.items():
        cut[node] = _cut(chains, nodes, k, node, width, SAME * lines.extent)
    strips = []
    for k in axis:
        foot = sorted(chains[k].ends, key=lambda n: nodes[n][1])
        part = chains[k].left
        side = _side(chains, nodes, cut[foot[0]], cut[foot[1]], part, SAME * lines.extent)
        strips.append(Strip(k, (foot[0], foot[1]), side))
    return Lines(nodes, chains, lines.extent), strips


def _leaving(chains: list[Chain], node: int, lines: Lines) -> int:
    """The chain that leaves the axis at a node."""
    found = [k for k, c in enumerate(chains) if node in c.ends and not c.on_axis]
    if len(found) != 1:
        raise LimpetError(
            f"section: {len(found)} lines meet the axis at z = {1e3 * lines.nodes[node][1]:.4g} "
            "mm: expected one"
        )
    return found[0]


def _width(chains: list[Chain], leaving: dict[int, int], size: float, axis: list[int]) -> float:
    """[m] of the strip: to the first corner, or `size`; nothing else may lie in it."""
    limit = np.inf
    for node, k in leaving.items():
        r = chains[k].points[:, 0]
        r = r if chains[k].ends[0] == node else r[::-1]
        rising = np.flatnonzero(np.diff(r) <= 0.0)
        limit = min(limit, float(r[rising[0]] if len(rising) else r[-1]))
    low = min(chains[k].points[:, 1].min() for k in axis)
    high = max(chains[k].points[:, 1].max() for k in axis)
    used = {*axis, *leaving.values()}
    for k, c in enumerate(chains):
        between = (c.points[:, 1] > low) & (c.points[:, 1] < high)
        if k not in used and between.any():
            limit = min(limit, float(c.points[between, 0].min()))
    at_corner = limit <= WIDEST * size and not _sliver(chains, axis, limit, low, high)
    return limit if at_corner else min(size, 0.6 * limit)


def _sliver(chains: list[Chain], axis: list[int], width: float, low: float, high: float) -> bool:
    """Whether a line at r = width would run close along another one."""
    for k, c in enumerate(chains):
        middle, step = 0.5 * (c.points[1:] + c.points[:-1]), np.abs(np.diff(c.points, axis=0))
        close = (middle[:, 0] > 1.0001 * width) & (middle[:, 0] < 1.3 * width)
        close &= (middle[:, 1] > low) & (middle[:, 1] < high) & (step[:, 0] < step[:, 1])
        if k not in axis and close.any():
            return True
    return False


def _cut(
    chains: list[Chain], nodes: list[Array], k: int, node: int, width: float, tolerance: float
) -> int:
    """The node at r = width of a chain that starts on the axis; the chain is cut there."""
    turned = chains[k].ends[0] != node
    chain = _reversed(chains[k]) if turned else chains[k]
    r = chain.points[:, 0]
    if abs(r[-1] - width) <= tolerance:
        return chain.ends[1]
    i = int(np.argmax(r >= width - tolerance))
    share = (width - r[i - 1]) / (r[i] - r[i - 1])
    point = chain.points[i - 1] + share * (chain.points[i] - chain.points[i - 1])
    point[0] = width
    if share < 1e-6 and i > 1:
        i -= 1
    rest = i + 1 if share > 1.0 - 1e-6 else i
    new = len(nodes)
    nodes.append(point)
    inner = replace(chain, points=np.vstack([chain.points[:i], point]), ends=(node, new))
    outer = replace(
        chain, points=np.vstack([point, chain.points[rest:]]), ends=(new, chain.ends[1])
    )
    chains[k] = _reversed(inner) if turned else inner
    chains.append(_reversed(outer) if turned else outer)
    return new


def _reversed(chain: Chain) -> Chain:
    return Chain(chain.points[::-1], chain.ends[::-1], chain.right, chain.left, chain.name)


def _side(
    chains: list[Chain], nodes: list[Array], low: int, high: int, part: int, tolerance: float
) -> tuple[int, ...]:
    """The chains from node `low` straight up to `high`: those there are, and new ones between."""
    r, bottom, top = nodes[low][0], nodes[low][1], nodes[high][1]
    on = [
        n for n, x in enumerate(nodes)
        if abs(x[0] - r) <= tolerance and bottom + tolerance < x[1] < top - tolerance
        and any(n in c.ends for c in chains)
    ]  # fmt: skip
    order = [low, *sorted(on, key=lambda n: nodes[n][1]), high]
    side = []
    for one, two in pairwise(order):
        there = [
            k for k, c in enumerate(chains)
            if set(c.ends) == {one, two} and np.ptp(c.points[:, 0]) <= tolerance
        ]  # fmt: skip
        if not there:
            points = np.array([nodes[one], nodes[two]])
            chains.append(Chain(points, (one, two), part, part, None))
            there = [len(chains) - 1]
        side.append(there[0])
    return tuple(side)
