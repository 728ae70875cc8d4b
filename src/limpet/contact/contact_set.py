"""Which contacts a step is solved for, and which it turns out to have needed.

All contacts within the alarm distance are known, but few of them touch within the step. It is
solved for those that are about to; if another one would close, it joins and the step is solved
again. A contact left out satisfies its law with no force, so the solution is that of all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numba import njit

from limpet.contact.contacts import EDGE_EDGE, Contacts, contact_keys
from limpet.contact.detect import Collider, closing_speeds, detect
from limpet.contact.edges import kept_rows

Array = np.ndarray

OVERLAP = 5e-6  # [m] a vertex deeper than this after a step was missed by detection
CROSSING = 2e-5  # [m] and edges deeper than this have come to cross within the step
SOON = 3e-5  # [m] contacts that come this near if nothing accelerates are solved for from the start
CLOSED = 1e-13  # [m] of overlap in the linear prediction that is round-off


@njit(cache=True)
def _speeds(first_a, vertices_a, weights_a, first_b, vertices_b, weights_b, normal, v) -> Array:
    """(k,) How fast each gap opens, for v (n, 3) of all vertices."""
    out = np.zeros(len(normal))
    for c in range(len(normal)):
        for j in range(3):
            a, b = v[first_a[c] + vertices_a[c, j]], v[first_b[c] + vertices_b[c, j]]
            for i in range(3):
                out[c] += normal[c, i] * (weights_a[c, j] * a[i] - weights_b[c, j] * b[i])
    return out


@dataclass(frozen=True)
class ContactSet:
    """The pairs of bodies that may touch, and how near counts."""

    colliders: Sequence[Collider]
    pairs: Sequence[tuple[int, int]]
    movable: Array  # (bodies,) bool
    offset: Array  # (bodies + 1,) where each body's vertices begin
    alarm: float  # [m]
    every: bool = False  # solve for all contacts within the alarm distance from the start

    def find(
        self, where: list[Array], velocities: list[Array], h: float, reach: float | None = None
    ) -> Contacts:
        """The contacts within the alarm distance.

        What moves fast comes from further away within a step; `reach` [m] looks that far, and also
        at vertices that do not face the other body.
        """
        if reach is None:
            alarm = [self.alarm + h * s for s in closing_speeds(velocities, self.pairs)]
        else:
            alarm = [self.alarm + reach] * len(self.pairs)
        return detect(self.colliders, where, self.pairs, alarm, facing=reach is None)

    def filtered(self, contacts: Contacts) -> Contacts:
        """The contacts that can carry a force: at least one of the two bodies gives way."""
        moves = self.movable[contacts.body_a] | self.movable[contacts.body_b]
        return contacts if moves.all() else contacts.take(moves)

    def gaps_after(self, contacts: Contacts, v: Array, h: float) -> Array:
        """(k,) [m] once all vertices have moved by h v."""
        return contacts.gap + h * self._opening(contacts, v)

    def predicted(self, contacts: Contacts, v: Array, h: float) -> Array:
        """(k,) bool: whether a contact touches within h, or nearly, if the velocities stay."""
        if self.every:
            return np.ones(len(contacts), bool)
        return ~(np.minimum(contacts.gap, self.gaps_after(contacts, v, h)) >= SOON)  # nor a NaN

    def violated(self, contacts: Contacts, solved: Array, v: Array, h: float) -> Array:
        """(k,) bool: contacts to be solved for as well, as one of them would close with v."""
        gaps = self.gaps_after(contacts, v, h)
        if not np.any(gaps[~solved] < -CLOSED):
            return np.zeros(len(contacts), bool)
        return ~solved & (gaps < SOON)

    def missed(self, known: Contacts, after: Contacts) -> bool:
        """Whether a vertex that made no contact before the step is inside a body after it."""
        deep = after.gap < -OVERLAP
        if not deep.any():
            return False
        vertices = after.take(deep & (after.kind != EDGE_EDGE))
        return not self.among(vertices, known).all()

    def crossed(self, known: Contacts, after: Contacts, x: Array) -> Contacts:
        """Edges that came to cross within the step, as they meet after it, with their gap at x."""
        deep = after.take((after.kind == EDGE_EDGE) & (after.gap < -CROSSING))
        if len(deep) == 0:
            return deep
        new = deep.take(~self.among(deep, known))
        return replace(new, gap=self._opening(new, x))

    def among(self, contacts: Contacts, others: Contacts) -> Array:
        """(k,) bool: whether each contact is one of the others, too."""
        return np.isin(contact_keys(contacts, self.offset), contact_keys(others, self.offset))

    def with_more(self, contacts: Contacts, others: Contacts) -> Contacts:
        """The contacts, and those of the others that they lack."""
        if len(others) == 0:
            return contacts
        return Contacts.join([contacts, others.take(~self.among(others, contacts))])

    def still_crossing(self, last: Contacts, x: Array) -> Contacts:
        """The pairs of edges among `last`, where they meet now."""
        parts, offset = [Contacts.none()], self.offset
        for a, b in self.pairs if len(last) else ():
            own = last.take((last.body_a == a) & (last.body_b == b))
            if len(own) == 0:
                continue
            rows = kept_rows(
                x[offset[a] : offset[a + 1]], self.colliders[a].shape,
                x[offset[b] : offset[b + 1]], self.colliders[b].shape,
                own.vertices_a[:, :2], own.vertices_b[:, :2], self.alarm,
            )  # fmt: skip
            parts.append(Contacts.of_rows(a, b, *rows))
        return Contacts.join(parts)

    def _opening(self, c: Contacts, v: Array) -> Array:
        """normal . (v of the point on a less v of the point on b), (k,)."""
        return _speeds(
            self.offset[c.body_a], c.vertices_a, c.weights_a,
            self.offset[c.body_b], c.vertices_b, c.weights_b, c.normal, v,
        )  # fmt: skip
