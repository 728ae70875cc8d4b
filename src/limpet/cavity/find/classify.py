"""Which vertices of a cup lie inside its contact ring: the classifier of A III-B, algorithm 1.

The vertices that touch cut the surface graph of a cup; what cannot reach the outside over vertices
that do not touch is inside, and the cup is airtight if there is such a vertex. Five classes result:

    IN_CONTACT        touches, with contact all round
    STRICTLY_INSIDE   does not touch, cut off from the outside: the wall of the cavity
    INNER_BORDER      touches, next to the inside
    STRICTLY_OUTSIDE  does not touch, open to the outside
    OUTER_BORDER      touches, next to the outside; where the ring is one vertex wide, to both

A's text and figure 2 say this; its algorithm 1 does not quite, and is mended here:

- Line 9 pushes the border points B that touch. From these nothing that is open can be reached, and
  line 15 would call them outside. Figure 2 begins at the border points that do not touch; one
  that does is the outer border already, and stays.
- Line 20 pushes neighbours without a mark: a point is pushed by each of its neighbours. Here it is
  marked when it is pushed.
- Stage 3 takes all that is left for one cavity ("it assumes the object has only one"). Here each
  connected part of it is a region of its own.
- A cup that lies flat touches everywhere: no point is strictly inside and by line 29 it is not
  airtight. That is kept: a flattened cavity is known by its history, not by one look at contacts.

Where the outside begins is B, for A the border of an inner surface that somebody has marked. The
collision surfaces here are closed, so B is found (`outside_seeds`): of the parts into which contact
cuts a surface the one of the largest area is the outside; a recess has less surface than what it is
a recess in. Or the inner surface is named, and B is all that lies beyond it and does not touch.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from limpet.compiled import njit

Array = np.ndarray

NOT_CLASSIFIED = 0
IN_CONTACT = 1
STRICTLY_INSIDE = 2
INNER_BORDER = 3
STRICTLY_OUTSIDE = 4
OUTER_BORDER = 5
NO_REGION = -1

CLASS_NAMES = {  # in A's words
    IN_CONTACT: "in active contact",
    STRICTLY_INSIDE: "strictly inside",
    INNER_BORDER: "inner border",
    STRICTLY_OUTSIDE: "strictly outside",
    OUTER_BORDER: "outer border",
}


@dataclass(frozen=True)
class VertexClasses:
    label: Array  # (n,) int8, the class of each vertex
    region: Array  # (n,) int32, which connected part of the inside it is of, or NO_REGION
    regions: int  # how many there are

    @property
    def airtight(self) -> bool:
        return self.regions > 0


def classify(start: Array, neighbours: Array, contact: Array, border: Array) -> VertexClasses:
    """Classify the vertices of a surface graph (A algorithm 1).

    start (n + 1,), neighbours: of vertex v they are neighbours[start[v]:start[v + 1]]. contact (n,)
    bool. border (n,) bool: the set B, where the outside begins.
    """
    return VertexClasses(*_classify(start, neighbours, contact, border))


def outside_seeds(
    start: Array, neighbours: Array, body: Array, contact: Array, area: Array,
    inner: Array | None = None,
) -> Array:  # fmt: skip
    """B (n,) bool, where the outside begins on closed surfaces that stand one after the other.

    body (n,) int32; contact (n,) bool; area (n,) [m^2] of each vertex; inner (n,) bool: vertices of
    the named inner surfaces. On a body with such vertices the outside is all the rest, on others
    the largest part that contact leaves. Vertices without neighbours are points of no surface.
    """
    if inner is None:
        inner = np.zeros(len(contact), dtype=np.bool_)
    named = np.bincount(body, weights=inner)[body] > 0.0
    largest = _largest_parts(start, neighbours, body, contact, area)
    return ~contact & (np.where(named, ~inner, largest) | (np.diff(start) == 0))


@njit(cache=True)
def next_to(start: Array, neighbours: Array, which: Array) -> Array:
    """(n,) bool: the vertices with a neighbour among those of `which` (n,) bool."""
    out = np.zeros(len(which), dtype=np.bool_)
    for v in range(len(which)):
        for e in range(start[v], start[v + 1]):
            out[v] |= which[neighbours[e]]
    return out


@njit(cache=True)
def _classify(
    start: Array, neighbours: Array, contact: Array, border: Array
) -> tuple[Array, Array, int]:
    n = len(contact)
    label = np.full(n, NOT_CLASSIFIED, dtype=np.int8)
    stack = np.empty(n, dtype=np.int32)
    size = 0
    # Stage 1: what touches; the outside begins at the border, which is the outer one if it touches.
    for v in range(n):
        if contact[v]:
            label[v] = OUTER_BORDER if border[v] else IN_CONTACT
        elif border[v]:
            label[v] = STRICTLY_OUTSIDE
            stack[size] = v
            size += 1
    # Stage 2: the outside spreads up to the contact, and moves the outer border there.
    while size > 0:
        size -= 1
        v = stack[size]
        for e in range(start[v], start[v + 1]):
            w = neighbours[e]
            if label[w] == NOT_CLASSIFIED:
                label[w] = STRICTLY_OUTSIDE
                stack[size] = w
                size += 1
            elif label[w] == IN_CONTACT:
                label[w] = OUTER_BORDER
    # Stage 3: each connected part of the rest is a region inside; the contact next to it bounds it.
    region = np.full(n, NO_REGION, dtype=np.int32)
    regions = 0
    for seed in range(n):
        if label[seed] != NOT_CLASSIFIED:
            continue
        label[seed], region[seed] = STRICTLY_INSIDE, regions
        stack[0], size = seed, 1
        while size > 0:
            size -= 1
            v = stack[size]
            for e in range(start[v], start[v + 1]):
                w = neighbours[e]
                if label[w] == NOT_CLASSIFIED:
                    label[w], region[w] = STRICTLY_INSIDE, regions
                    stack[size] = w
                    size += 1
                elif label[w] == IN_CONTACT:
                    label[w] = INNER_BORDER
        regions += 1
    return label, region, regions


@njit(cache=True)
def _largest_parts(
    start: Array, neighbours: Array, body: Array, contact: Array, area: Array
) -> Array:
    """(n,) bool: of each body, the connected part that does not touch and has the most area."""
    n = len(contact)
    part = np.full(n, NO_REGION, dtype=np.int32)
    stack = np.empty(n, dtype=np.int32)
    most = np.full(body.max() + 1, -1.0)  # [m^2] of each body's largest part
    best = np.full(body.max() + 1, NO_REGION, dtype=np.int32)
    parts = 0
    for seed in range(n):
        if contact[seed] or part[seed] != NO_REGION:
            continue
        part[seed] = parts
        stack[0], size = seed, 1
        total = 0.0
        while size > 0:
            size -= 1
            v = stack[size]
            total += area[v]
            for e in range(start[v], start[v + 1]):
                w = neighbours[e]
                if not contact[w] and part[w] == NO_REGION:
                    part[w] = parts
                    stack[size] = w
                    size += 1
        if total > most[body[seed]]:
            most[body[seed]], best[body[seed]] = total, parts
        parts += 1
    chosen = np.zeros(n, dtype=np.bool_)
    for v in range(n):
        chosen[v] = part[v] != NO_REGION and part[v] == best[body[v]]
    return chosen
