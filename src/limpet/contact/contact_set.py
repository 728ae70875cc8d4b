"""Contacts as a constraint set: an active set that only grows within a step.

All contacts within the alarm distance are known, but few of them touch within the step. It is
solved for those that are about to; a contact that would close joins and the step is solved again.
A contact left out satisfies its law with no force, so the solution is that of all of them. A
contact that nobody knew of at x is found at the end of the step and joins as well; one that ends
deep, as its surfaces turn, is linearised anew there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from limpet.contact import law
from limpet.contact.collider import Collider
from limpet.contact.contacts import EDGE_EDGE, Contacts
from limpet.contact.detect import closing_speeds, detect, refit_trees
from limpet.contact.edges import kept_rows
from limpet.contact.limits import DEFAULT_LIMITS, ContactLimits
from limpet.contact.rows import contact_forces, contact_frames, contact_rows, opening_speeds
from limpet.dynamics.constraint_set import DATA, ConstraintSet, RowBlock, StepContext
from limpet.linalg.rows import Rows
from limpet.linalg.threads import ALONE, Threads

Array = np.ndarray

CLOSED = 1e-13  # [m] of overlap in the linear prediction that is round-off
NO_CONTACTS = Contacts.none()


class ContactSet(ConstraintSet):
    """Signorini contacts with Coulomb friction between all surfaces that may touch."""

    name, phase = "contacts", "collision"
    collides = True

    def __init__(
        self,
        colliders: Sequence[Collider],
        pairs: Sequence[tuple[int, int]],
        movable: Array,  # (surfaces,) bool
        first: Array,  # (surfaces + 1,) where each surface's points begin
        alarm: float,  # [m]
        friction: Array,  # (surfaces, surfaces)
        use_all: bool = False,  # solve for all contacts within the alarm distance from the start
        restitution: Array | None = None,  # (surfaces, surfaces); None: there is none
        prescribed: Array | None = None,  # (N,) bool: points that no force moves; None: no such
        staggered: Array | None = None,  # (surfaces,) bool: bodies that take turns with contacts
        limits: ContactLimits = DEFAULT_LIMITS,
        threads: Threads = ALONE,
    ) -> None:
        self.colliders, self.pairs, self._first = colliders, pairs, first
        self._movable, self._alarm, self._friction = movable, alarm, friction
        self._use_all, self._restitution = use_all, restitution
        self._staggered = np.zeros(len(colliders), bool) if staggered is None else staggered
        self._prescribed = prescribed if prescribed is not None and prescribed.any() else None
        self.limits, self._threads = limits, threads
        self._immobile = any(not (movable[a] or movable[b]) for a, b in pairs)
        self._near: Contacts | None = None  # within the alarm distance, at the positions now
        self._near_within = 0.0  # [s] and in the way of a step of this length
        self._stale = False  # the trees do not stand at these positions
        self._edges = Contacts.none()  # pairs of edges that carried a force
        self.contacts = Contacts.none()  # that the last step was solved for
        self._frames, self._multipliers = np.zeros((0, 3, 3)), np.zeros(0)
        self._known, self._active = Contacts.none(), np.zeros(0, bool)
        self._searched = 0.0  # [m] how far the step has looked for missed contacts
        self._deepest = NO_CONTACTS  # at which the last step ended, if it is deeper than it may be

    def near(self, now: StepContext) -> Contacts:
        """All contacts within the alarm distance at x."""
        if self._near is None or now.h > self._near_within:
            self._near, self._near_within = self.find(now.x, now.v, now.h), now.h
        elif self._stale:
            refit_trees(self.colliders, self._split(now.x), self.pairs)
        self._stale = False
        return self._near

    def update(self, now: StepContext) -> None:
        self._now, self._searched = now, 0.0
        self._known = self.filtered(self.near(now))
        if len(self._edges.gap):
            self._known = self._known.with_more(self.still_crossing(self._edges, now.x))
        self._active = self.predicted(self._known, now.v, now.h)

    def rows(self) -> RowBlock:
        c = self.contacts = self._known if self._active.all() else self._known.take(self._active)
        self._frames = contact_frames(c.normal)
        return self._block(c, self._frames, c.gap / self._now.h)  # P eq 4 decides on gap/h + H v

    def _block(self, c: Contacts, frames: Array, normal_bias: Array) -> RowBlock:
        k = len(c.gap)
        jacobian = Rows(
            *contact_rows(
                self._first[c.surface_a], c.vertices_a, c.weights_a,
                self._first[c.surface_b], c.vertices_b, c.weights_b, frames,
            )
        )  # fmt: skip
        bias, data = np.zeros(3 * k), np.zeros((k, DATA))
        bias[::3] = normal_bias
        data[:, 0] = self._friction[c.surface_a, c.surface_b]
        return RowBlock(
            jacobian, bias, np.zeros(3 * k), np.full(k, law.KIND, np.int32),
            3 * np.arange(k + 1, dtype=np.int32), data, c.key, frames,
        )  # fmt: skip

    def impacts(
        self, multipliers: Array, v_before: Array, v_after: Array
    ) -> tuple[Array, RowBlock]:
        """Rows of the contacts that the step has closed, on the velocities at its end.

        Newton's law of restitution: they part with a share of the speed with which they met. As
        each had its gap to go, that is the speed at which they touched, not as the step began.
        """
        closed = multipliers[::3] > 0.0
        c = self.contacts.take(closed)
        bias = np.zeros(len(c.gap))
        if self._restitution is not None:
            speed = self._opening(c, v_before)
            faster = (self._opening(c, v_after) - speed) / self._now.h  # [m/s^2]
            met = speed * speed - 2.0 * faster * np.maximum(c.gap, 0.0)
            share = self._restitution[c.surface_a, c.surface_b]
            bias = np.where(speed < 0.0, -share * np.sqrt(np.maximum(met, 0.0)), 0.0)
        return np.flatnonzero(np.repeat(closed, 3)), self._block(c, self._frames[closed], bias)

    def activate(self, v: Array) -> bool:
        violated = self.violated(self._known, self._active, v, self._now.h)
        if not violated.any():
            return False
        self._active = self._active | violated
        return True

    def recheck(self, x_after: Array, v_after: Array) -> bool:
        """Look for contacts at the end of the step; they are the next step's, too.

        The trees then stand there.
        """
        now, known = self._now, self._known
        self._ahead = self.find(x_after, v_after, now.h)
        self._stale = True  # at now.x, where the step begins anew if it is made in parts
        after = self.filtered(self._ahead)
        moved = 2.0 * float(np.linalg.norm(x_after - now.x, axis=1).max())
        missed = moved > self._searched and self._missed(known, after)
        again = self._too_deep(known, after, now.x, x_after)
        if not (missed or len(again.gap)):
            return False
        known = again.with_more(known)
        if missed:  # something came from afar: look further
            self._searched = 1.5 * moved
            known = self.filtered(self.find(now.x, now.v, now.h, self._searched)).with_more(known)
            refit_trees(self.colliders, self._split(x_after), self.pairs)
        needed = known.among(Contacts.join([self.contacts, again]))
        self._known, self._active = known, needed | self.predicted(known, now.v, now.h)
        return True

    def accept(self, multipliers: Array, rates: Array) -> None:
        self._multipliers = multipliers
        pressed = (multipliers[::3] > 0.0) & (self.contacts.kind == EDGE_EDGE)
        self._edges = self.contacts.take(pressed) if pressed.any() else NO_CONTACTS
        self._near, self._near_within = self._ahead, self._now.h
        self._stale = False  # the trees stand where the step has ended
        self._deepest = self._find_deepest()

    def _find_deepest(self) -> Contacts:
        """Where bodies that forces can part overlap most, if they are deep; or none."""
        near, limit = self._near, -self.limits.deep
        if near is None or not (near.gap < limit).any():
            return NO_CONTACTS
        deep = self.filtered(near.take(near.gap < limit))
        return deep.take(slice(i := int(deep.gap.argmin()), i + 1)) if len(deep) else NO_CONTACTS

    @property
    def ahead(self) -> Contacts:
        """All within the alarm distance at the end of the step, as it was last rechecked."""
        return self._ahead

    def normal_forces(self) -> Array:
        """(k,) [N] of `contacts`."""
        return self._multipliers[::3]

    def forces(self) -> Array:
        """(k, 3) [N] of `contacts`, on their first surfaces."""
        return contact_forces(self._frames, self._multipliers)

    def report(self) -> tuple[int, int, float]:
        """Contacts that the last step was solved for, those that carry a force, and the largest
        penetration [m] now.
        """
        gap = self.contacts.gap if self._near is None else self._near.gap
        deepest = max(0.0, -float(gap.min(initial=0.0)))
        return len(self.contacts.gap), int((self._multipliers[::3] > 0.0).sum()), deepest

    @property
    def overlap(self) -> float:
        """[m] of bodies that forces can part, as the last step has left them; 0: not deep."""
        return -float(self._deepest.gap.min(initial=0.0))

    def deepest(self, x: Array) -> tuple[Array, int, int]:
        """Where (3,) [m] `overlap` is, and the two surfaces; x (N, 3): where all points are now."""
        worst = self._deepest
        place = worst.points(x, self._first)[0]
        return place, int(worst.surface_a[0]), int(worst.surface_b[0])

    def undetermined(self) -> list[tuple[int, int, float]]:
        """Pairs of surfaces that overlap but that no force moves, and how deep [m]."""
        c = self._near
        if c is None or not self._immobile:
            return []
        deep = ~(self._movable[c.surface_a] | self._movable[c.surface_b]) & (
            c.gap < -self.limits.missed
        )
        found: dict[tuple[int, int], float] = {}
        for a, b, gap in zip(c.surface_a[deep].tolist(), c.surface_b[deep].tolist(), c.gap[deep]):
            found[a, b] = max(found.get((a, b), 0.0), -float(gap))
        return [(a, b, depth) for (a, b), depth in found.items()]

    def get_state(self) -> dict[str, object]:
        return {"near": self._near, "near_within": self._near_within, "edges": self._edges}

    def set_state(self, state: Mapping[str, object]) -> None:
        near, edges = state["near"], state["edges"]
        within = state.get("near_within", 0.0)  # a file of an older version: search anew
        assert isinstance(edges, Contacts) and (near is None or isinstance(near, Contacts))
        assert isinstance(within, float)
        self._near, self._near_within, self._edges, self._stale = near, within, edges, True
        self._deepest = self._find_deepest()
        self.contacts, self._multipliers = Contacts.none(), np.zeros(0)
        self._frames = np.zeros((0, 3, 3))

    def find(self, x: Array, v: Array, h: float, reach: float | None = None) -> Contacts:
        """The contacts within the alarm distance, and the trees refitted at x.

        What moves fast comes from further away within a step, and what is deep is not to be lost;
        `reach` [m] looks that far, and also at vertices that do not face the other surface.
        """
        at, pairs = self._split(x), self.pairs
        if reach is not None:
            return detect(self.colliders, at, pairs, [self._alarm + reach] * len(pairs), False)
        near, speeds = self._alarm + 2.0 * self.overlap, closing_speeds(self._split(v), pairs)
        # of a body with itself only what is near each other counts, not how fast it deforms
        alarm = [near if a == b else near + h * s for (a, b), s in zip(pairs, speeds)]
        ways, threads = self._split(h * v), self._threads
        return detect(self.colliders, at, pairs, alarm, ways=ways, threads=threads)

    def _split(self, of_points: Array) -> list[Array]:
        return np.split(of_points, self._first[1:-1])

    def filtered(self, contacts: Contacts) -> Contacts:
        """The contacts that can carry a force: at least one of the two points moves."""
        moves = self._moves(contacts.surface_a, contacts.vertices_a, contacts.weights_a)
        moves |= self._moves(contacts.surface_b, contacts.vertices_b, contacts.weights_b)
        return contacts if moves.all() else contacts.take(moves)

    def _moves(self, surface: Array, vertices: Array, weights: Array) -> Array:
        """(k,) bool: whether forces move a point of these surfaces."""
        moves = self._movable[surface]
        if self._prescribed is None:
            return moves
        follows = self._prescribed[self._first[surface][:, None] + vertices] | (weights == 0.0)
        return moves & ~follows.all(axis=1)

    def predicted(self, contacts: Contacts, v: Array, h: float) -> Array:
        """(k,) bool: whether a contact touches within h, or nearly, if the velocities stay."""
        if self._use_all:
            return np.ones(len(contacts.gap), bool)
        return ~(
            np.minimum(contacts.gap, self._gaps_after(contacts, v, h)) >= self.limits.near
        )  # nor a NaN

    def violated(self, contacts: Contacts, active: Array, v: Array, h: float) -> Array:
        """(k,) bool: inactive contacts that are to join, as one of them would close with v."""
        gaps = self._gaps_after(contacts, v, h)
        if not np.any(gaps[~active] < -CLOSED):
            return np.zeros(len(contacts.gap), bool)
        return ~active & (gaps < self.limits.near)

    def _missed(self, known: Contacts, after: Contacts) -> bool:
        """Whether a vertex that made no contact before the step is inside a body after it."""
        deep = after.gap < -self.limits.missed
        if not deep.any():
            return False
        return not after.take(deep & (after.kind != EDGE_EDGE)).among(known).all()

    def _too_deep(self, known: Contacts, after: Contacts, x: Array, x_after: Array) -> Contacts:
        """Contacts that end too deep, as they meet after the step, with their gap at x: edges that
        came to cross within it, and all whose surfaces turned or slid far.
        """
        crossing = (after.kind == EDGE_EDGE) & (after.gap < -self.limits.crossing)
        # bodies that take turns with the contacts come out in later turns
        in_turns = self._staggered[after.surface_a] | self._staggered[after.surface_b]
        deep = (after.gap < -self.limits.deep) & ~in_turns
        if not (crossing.any() or deep.any()):
            return NO_CONTACTS
        again = after.take(deep | (crossing & ~after.among(known)))
        return replace(again, gap=again.gap - self._opening(again, x_after - x))

    def still_crossing(self, last: Contacts, x: Array) -> Contacts:
        """The pairs of edges among `last`, where they meet now."""
        parts, first = [NO_CONTACTS], self._first
        for a, b in self.pairs:
            pair = (last.surface_a == a) & (last.surface_b == b)
            if not pair.any():
                continue
            own = last.take(pair)
            rows = kept_rows(
                x[first[a] : first[a + 1]], self.colliders[a].shape,
                x[first[b] : first[b + 1]], self.colliders[b].shape,
                own.vertices_a[:, :2], own.vertices_b[:, :2], self._alarm,
            )  # fmt: skip
            parts.append(Contacts.of_rows(a, b, *rows, first))
        return Contacts.join(parts)

    def _gaps_after(self, contacts: Contacts, v: Array, h: float) -> Array:
        """(k,) [m] once all points have moved by h v."""
        return contacts.gap + h * self._opening(contacts, v)

    def _opening(self, c: Contacts, v: Array) -> Array:
        """normal . (v of the point on a less v of the point on b), (k,)."""
        return opening_speeds(
            self._first[c.surface_a], c.vertices_a, c.weights_a,
            self._first[c.surface_b], c.vertices_b, c.weights_b, c.normal, v,
        )  # fmt: skip
