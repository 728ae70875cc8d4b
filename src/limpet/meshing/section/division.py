"""Where the nodes of a section's lines stand: sizes, and pairs across its walls.

A wall is to have a ladder of quadrilaterals. So a node on one face of it gets a partner on the
other, at the foot of the normal, unless there is a node nearby; and there are no other nodes
between two partners.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from limpet.meshing.section.bends import Bend, bends_of
from limpet.meshing.section.chains import OUTSIDE, Chain, Lines
from limpet.meshing.section.rays import Rays, feet, normals
from limpet.meshing.section.sizes import SizeField

Array = np.ndarray

PAIRED = 1.6  # sizes: nodes on walls up to this thick have partners
KINK = np.radians(8.0)  # a line that turns by this at one point has a node there, if there is room
APART = 0.7  # sizes between two such nodes
CLOSE = 0.45  # of the size: a foot this near to a node is that node
TIE = 1e-6  # cells: a half is rounded down, at any scale
MERGED = 0.3  # so is a partner this near


def divide(lines: Lines, field: SizeField, size: float, whole: Sequence[int] = ()) -> list[Array]:
    """Arc lengths [m] of the nodes of each chain, its ends included; `whole` chains have none."""
    return _Division(lines, field, size).run(whole)


@dataclass
class _Wishes:
    """Arc lengths [m] on a chain at which there should be nodes."""

    feet: list[float]  # straight across from corners
    partners: list[float]  # straight across from nodes
    bends: list[tuple[float, float]]  # of bends, and the room [m] they want; its own first
    ladder: list[tuple[float, float]]  # between the partners of two neighbours


class _Division:
    """The nodes of the chains, placed one chain after the other."""

    def __init__(self, lines: Lines, field: SizeField, size: float) -> None:
        self.lines, self.field, self.size = lines, field, size
        self.rays = Rays(lines)
        self.bends = [bends_of(chain) for chain in lines.chains]
        self.places = [[self._places(k, bend) for bend in own] for k, own in enumerate(self.bends)]
        self.local = [
            field.at(k, size, [b for b, at in zip(self.bends[k], self.places[k]) if len(at) != 2])
            for k in range(len(lines.chains))
        ]
        self.wishes = [_Wishes([], [], [], []) for _ in lines.chains]

    def run(self, whole: Sequence[int]) -> list[Array]:
        chains = self.lines.chains
        lengths = [float(c.along[-1]) for c in chains]
        out: list[Array] = [np.array([0.0, length]) for length in lengths]
        for node, x in enumerate(self.lines.nodes):
            for k, s in feet(self.lines, node, x, PAIRED * self.size, self.rays):
                self.wishes[k].feet.append(s)
        bends = [wish for k in range(len(chains)) for wish in self._bends(k)]
        for own in (True, False):
            for k, s, room, is_own in bends:
                if own == is_own:
                    self.wishes[k].bends.append((s, room))
        # rounded, so that lines of equal length keep their order
        for k in sorted(
            range(len(chains)), key=lambda k: -round(lengths[k] / self.lines.extent, 6)
        ):
            if not (chains[k].on_axis or k in whole):
                out[k] = self._placed(k)
                self._pair(k, out[k])
        return out

    def _at(self, k: int, values: Array, s: float) -> float:
        return float(np.interp(s, self.field.s[k], values))

    def _places(self, k: int, bend: Bend) -> list[float]:
        top = bend.tops[0]
        thickness = self._at(k, self.field.thickness[k], top)
        local = self._at(k, self.field.at(k, self.size, [bend]), top)
        return bend.places(self.lines.chains[k], thickness, local)

    def _bends(self, k: int) -> list[tuple[int, float, float, bool]]:
        """Chain, arc length and room of the nodes for the bends of chain k; whether it is on k."""
        chain, found = self.lines.chains[k], []
        for bend, places in zip(self.bends[k], self.places[k]):
            if bend.is_root(chain) and self._is_across_bend(k, bend):
                continue  # the two faces of a fold: the outer bend decides
            across = [self._across(k, s) for s in places]
            sides = [(k, places, True)]
            for other in sorted({j for hits in across for j, _ in hits}):
                sides.append((other, [s for hits in across for j, s in hits if j == other], False))
            for j, nodes, own in sides:
                length = float(np.ptp(nodes)) if len(nodes) > 1 else np.inf
                for s in nodes:
                    room = CLOSE * min(length, self._at(j, self.local[j], s))
                    found.append((j, s, room, own))
        return found

    def _is_across_bend(self, k: int, bend: Bend) -> bool:
        """Whether there is a bend on the other face of the wall."""
        return any(
            b.start <= at <= b.end and not b.is_root(self.lines.chains[j])
            for s in bend.tops for j, at in self._across(k, s)
            for b in self.bends[j]
        )  # fmt: skip

    def _across(self, k: int, s: float) -> list[tuple[int, float]]:
        """(chain, arc length) of the partners of a place on chain k."""
        chain = self.lines.chains[k]
        x, normal = chain.at(s), normals(chain, np.array([s]))[0]
        reach = PAIRED * self.size
        found = []
        for part, sign in ((chain.left, 1.0), (chain.right, -1.0)):
            if part != OUTSIDE:
                depth, other, at = self.rays.cast(x, sign * normal)
                if depth < reach:
                    found.append((other, at))
        return found

    def _pair(self, k: int, places: Array) -> None:
        """Wish for partners of the nodes of chain k on the faces across."""
        before = self._across_end(k, 0)
        for n, s in enumerate(places[1:]):
            last = n == len(places) - 2
            after = self._across_end(k, 1) if last else self._across(k, float(s))
            for other, at in after:
                if not last:
                    self.wishes[other].partners.append(at)
                for same, was in before:
                    if same == other:
                        self.wishes[other].ladder.append((min(was, at), max(was, at)))
            before = after

    def _across_end(self, k: int, end: int) -> list[tuple[int, float]]:
        """(chain, arc length) across from an end of chain k: the far end of a short edge there."""
        chains, node = self.lines.chains, self.lines.chains[k].ends[end]
        reach = PAIRED * self.size
        far = {
            m for j, c in enumerate(chains) if j != k and node in c.ends and c.along[-1] < reach
            for m in c.ends if m != node
        }  # fmt: skip
        return [
            (j, float(c.along[-1]) * side)
            for j, c in enumerate(chains) for side in (0, 1)
            if c.ends[side] in far and node not in c.ends
        ]  # fmt: skip

    def _placed(self, k: int) -> Array:
        """Arc lengths of nodes: the ends, the wishes that keep their distance, and between."""
        chain, wishes = self.lines.chains[k], self.wishes[k]
        s, local, length = self.field.s[k], self.local[k], float(chain.along[-1])
        fixed = [0.0, length]

        def keep(wished: Sequence[tuple[float, float]], others: Sequence[float]) -> None:
            for at, room in wished:
                if all(abs(at - f) > min(room, 0.4 * length) for f in others):
                    fixed.append(at)

        def with_room(wished: Sequence[float], sizes: float) -> list[tuple[float, float]]:
            return [(at, sizes * self._at(k, local, at)) for at in wished]

        keep(with_room(wishes.feet, CLOSE), fixed)
        keep(with_room(wishes.partners, MERGED), list(fixed))  # of different nodes: all of them
        keep(wishes.bends, fixed)
        keep(with_room(_kinks(chain), APART), fixed)
        fixed.sort()
        fine = np.linspace(0.0, length, 200)
        density = 1.0 / np.interp(fine, s, local)
        steps = 0.5 * (density[1:] + density[:-1]) * np.diff(fine)
        count = np.concatenate([[0.0], np.cumsum(steps)])
        places = [0.0]
        for one, two in pairwise(fixed):
            a, b = np.interp([one, two], fine, count)
            pieces = 1 if self._in_ladder(k, one, two) else max(1, round(b - a - TIE))
            places += list(np.interp(np.linspace(a, b, pieces + 1)[1:], count, fine))
            places[-1] = two
        return np.array(places)

    def _in_ladder(self, k: int, one: float, two: float) -> bool:
        """Whether the nodes at both ends of a stretch are partners of neighbours."""
        near = [CLOSE * self._at(k, self.local[k], s) for s in (one, two)]
        return any(
            abs(one - a) <= near[0] and abs(two - b) <= near[1] for a, b in self.wishes[k].ladder
        )


def _kinks(chain: Chain) -> list[float]:
    """Arc lengths [m] at which the polyline turns visibly."""
    step = np.diff(chain.points, axis=0)
    angle = np.arctan2(step[:, 1], step[:, 0])
    turn = np.abs((np.diff(angle) + np.pi) % (2.0 * np.pi) - np.pi)
    return [float(s) for s in chain.along[1:-1][turn > KINK]]
