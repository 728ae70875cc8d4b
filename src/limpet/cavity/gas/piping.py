"""The graph of the vacuum lines: nodes with a volume of air, edges with a flow law, sources.

Elements without resistance join their ends to one node. Every cup has a node, its port; a manifold
is a node that several lines lead to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from limpet.cavity.gas.line_elements import Element, Hose, resists
from limpet.cavity.gas.vacuum_line import Source, Valve

Array = np.ndarray

LEAST_VOLUME = 1e-9  # [m^3] of a node between elements: 1 mm^3, so that its pressure is determined

OPEN = Valve()


@dataclass(frozen=True)
class Line:
    """What leads from a cup to its source, or to a manifold."""

    elements: tuple[Element, ...]  # from the cup on
    source: Source | None = None  # None: the line leads to a manifold
    valve: Valve = OPEN
    manifold: int = -1  # its number


@dataclass(frozen=True)
class Trunk:
    """A manifold, and what leads from it to its source."""

    name: str
    elements: tuple[Element, ...]
    source: Source
    valve: Valve
    switch: float  # [Pa] of vacuum from which on its parts count as present


@dataclass(frozen=True)
class Edge:
    """An element between two nodes, the second one nearer to the source."""

    start: int
    end: int
    element: Element


@dataclass(frozen=True)
class SourceEnd:
    """A source, and the valve between it and its node."""

    node: int
    source: Source
    valve: Valve


@dataclass(frozen=True)
class Piping:
    """All lines of a world."""

    volume: Array  # (k,) [m^3] of the nodes
    edges: tuple[Edge, ...]
    sources: tuple[SourceEnd, ...]  # of the lines with one of their own in order, then of trunks
    port: Array  # (lines,) int, the node of each cup
    source_of: Array  # (lines,) int
    manifold: Array  # (manifolds,) int, their nodes


def piping(lines: Sequence[Line], trunks: Sequence[Trunk] = ()) -> Piping:
    """The graph of lines, from each cup to its source or manifold."""
    volume: list[float] = []
    edges: list[Edge] = []
    sources: list[SourceEnd] = []

    def new_node() -> int:
        volume.append(0.0)
        return len(volume) - 1

    def lead(node: int, elements: Sequence[Element], goal: int | None = None) -> int:
        left = sum(resists(e) for e in elements)
        for e in elements:
            if not resists(e):
                volume[node] += float(e.volume)
                continue
            left -= 1
            ahead = goal if goal is not None and left == 0 else new_node()
            near = 0.5 if isinstance(e, Hose) else 0.0
            volume[node] += near * float(e.volume)
            volume[ahead] += (1.0 - near) * float(e.volume)
            edges.append(Edge(node, ahead, e))
            node = ahead
        return node

    ports = [new_node() for _ in lines]
    manifolds = [new_node() for _ in trunks]
    source_of = []
    for node, line in zip(ports, lines):
        source_of.append(len(sources))
        if line.source is not None:
            sources.append(SourceEnd(lead(node, line.elements), line.source, line.valve))
        else:
            lead(node, line.elements, manifolds[line.manifold])
            source_of[-1] = -len(trunks) + line.manifold
    for node, trunk in zip(manifolds, trunks):
        sources.append(SourceEnd(lead(node, trunk.elements), trunk.source, trunk.valve))
    between = ~np.isin(np.arange(len(volume)), ports)
    sizes = np.array(volume, dtype=float)
    sizes[between] = np.maximum(sizes[between], LEAST_VOLUME)
    numbers = np.array(source_of, int)
    return Piping(
        sizes, tuple(edges), tuple(sources), np.array(ports, int),
        np.where(numbers < 0, numbers + len(sources), numbers), np.array(manifolds, int),
    )  # fmt: skip
