"""Matrix-free projected Gauss-Seidel (C algorithm 1): impulses go straight into the velocities.

No W is formed: a row reads the velocities of its nodes and rigid bodies, its law gives a new
impulse, and the change is added to them at once. One kernel per kind of row, so that no row pays
for another's generality; the laws are `contact.law`, `held` and `limited`. Rigid bodies among
themselves and all rows with nodes are swept in turn (staggered, C 3), in the order given: the
same input gives the same bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from limpet.compiled import inner, njit
from limpet.particles.rows import BendRows, DistanceRows
from limpet.particles.sweep_lines import (
    STEADY,
    apply_bending_impulses,
    apply_distance_impulses,
    limit_tension,
    stretches,
    sweep_bends,
    sweep_distances,
    sweep_ends,
)
from limpet.particles.sweep_points import (
    AT_REST,
    PointConstraints,
    Velocities,
    apply_point_impulses,
    apply_reactions,
    deepest_penetration,
    sweep_points,
    sweep_rigid,
)

Array = np.ndarray


NOTHING = 1e-30  # [N s]
ROUGHLY = 1e-5  # [m/s] as for AT_REST, where rows with nodes leave far more than that
DEEP = 5e-4  # [m] that a contact among nodes may be deeper than it ought: sheets pass through


class ConstraintRows(NamedTuple):
    """All rows of a step; each kind has its multipliers in `Impulses`."""

    rigid_held: PointConstraints
    rigid_contacts: PointConstraints
    distances: DistanceRows
    bends: BendRows
    held: PointConstraints
    contacts: PointConstraints


class Impulses(NamedTuple):
    """[N s], by the kinds of `ConstraintRows`; the guess when the sweeps begin."""

    rigid_held: Array  # (k, 3)
    rigid_contacts: Array  # (k, 3)
    distances: Array  # (k,)
    bends: Array  # (k,) [N s], or [N m s] of angles
    held: Array  # (k, 3)
    contacts: Array  # (k, 3)


@dataclass(frozen=True)
class SweepResult:
    """How the sweeps went."""

    sweeps: int
    change: Array  # (sweeps,) [m/s] largest change of any row's velocity in each sweep
    rms: Array  # (sweeps,) [N] root mean square of delta lambda, as C figure 1


@njit(cache=True)
def decay(q: Array, share: float) -> None:
    """Leave a share of the impulses (k,), in place; what is all but gone becomes zero.

    Numbers that fade for ever end up denormal, and a processor takes a hundred times as long.
    """
    for c in range(len(q)):
        q[c] = share * q[c] if abs(q[c]) > NOTHING else 0.0


@njit(cache=True, error_model="numpy")
def warm_start(rows: ConstraintRows, p: Impulses, on: Velocities) -> None:
    """Give the velocities what the guess p amounts to (C eq 36, 37)."""
    apply_point_impulses(rows.rigid_held.pairs, p.rigid_held, on)
    apply_point_impulses(rows.rigid_contacts.pairs, p.rigid_contacts, on)
    apply_point_impulses(rows.held.pairs, p.held, on)
    apply_point_impulses(rows.contacts.pairs, p.contacts, on)
    apply_distance_impulses(rows.distances, p.distances, on.v, on.inverse_mass)
    apply_bending_impulses(rows.bends, p.bends, on.v, on.inverse_mass)


@njit(cache=True, error_model="numpy")
def begin(
    rows: ConstraintRows, p: Impulses, on: Velocities, h: float, share: float, ends: bool
) -> None:
    """Start from a share of the impulses p, in place on both.

    Rigid bodies among themselves start from all. Directions change from step to step: with all of
    the old impulses, rows that two sweeps leave unsolved would gain energy (C 4.6).
    """
    decay(p.distances, share)
    decay(p.bends, share)
    decay(p.held.reshape(-1), share)
    decay(p.contacts.reshape(-1), share)
    warm_start(rows, p, on)
    if not ends:
        limit_tension(rows.distances, p.distances, h, on.v, on.inverse_mass)


@njit(cache=True)
def bounded(on: Velocities, most: float) -> bool:
    """Whether no velocity is larger, or NaN."""
    within = True
    for u in on.v.ravel():
        within &= abs(u) <= most
    for u in on.rigid_v.ravel():
        within &= abs(u) <= most
    return within


def reactions(rows: ConstraintRows, p: Impulses, nodes: int, bodies: int) -> tuple[Array, Array]:
    """J^T p: impulses on the nodes (n, 3) [N s] and on the rigid bodies (b, 6) [N s, N m s]."""
    unit = Velocities(
        np.zeros((nodes, 3)), np.ones(nodes), np.zeros((bodies, 6)), np.ones(bodies),
        np.repeat(np.eye(3)[None], bodies, axis=0),
    )  # fmt: skip
    warm_start(rows, p, unit)
    return unit.v, unit.rigid_v


@njit(cache=True)
def rigid_reactions(rows: ConstraintRows, p: Impulses, bodies: int) -> Array:
    """As `reactions`, on the rigid bodies alone: rows of nodes alone do not reach them."""
    out = np.zeros((bodies, 6))
    apply_reactions(rows.rigid_held.pairs, p.rigid_held, out)
    apply_reactions(rows.rigid_contacts.pairs, p.rigid_contacts, out)
    apply_reactions(rows.held.pairs, p.held, out)
    apply_reactions(rows.contacts.pairs, p.contacts, out)
    return out


@inner(error_model="numpy")
def _limit_growth(rows: DistanceRows, p: Array, guess: Array, h: float, on: Velocities) -> None:
    """As `limit_tension`, for what the tension has grown by since `begin`."""
    lightest, taut = 0.0, False
    for w in on.inverse_mass:
        lightest = max(lightest, w)
    for c in range(len(p)):
        guess[c] = p[c] - guess[c]
        taut |= -h * guess[c] * lightest > STEADY * rows.length[c]
    if taut:
        limit_tension(rows, guess, h, on.v, on.inverse_mass)


def sweep(
    rows: ConstraintRows, p: Impulses, on: Velocities, h: float, count: int, rigid: int = 1,
    tolerance: float = 0.0, most: int = 0, stretch: float = 0.1, ends: bool = False,
) -> SweepResult:  # fmt: skip
    """Up to `count` sweeps, in place on p and on the velocities, which hold p's share already.

    Each is up to `rigid` sweeps over the rows among rigid bodies, which are few and must hold a
    tower up, and one over all others. They end when no row changes a velocity by more than
    `tolerance` [m/s]. Up to `most` go on while an inextensible edge would end up off by more than
    the share `stretch` of its length, or nodes too DEEP in faces. `ends`: edges pull along their
    directions at the end of the solve, else at its start.
    """
    size = max(1, sum(q.size for q in p))
    change, rms = _sweeps(rows, p, on, h, count, rigid, tolerance, most, stretch, size, ends)
    return SweepResult(len(change), change, rms)


@njit(cache=True, error_model="numpy")
def _sweeps(
    rows: ConstraintRows, p: Impulses, on: Velocities, h: float, count: int, rigid: int,
    tolerance: float, most: int, stretch: float, size: int, ends: bool,
) -> tuple[Array, Array]:  # fmt: skip
    """As `sweep`; `size`: of all impulses, for their mean."""
    limit = max(count, most)
    nodes = len(p.distances) + len(p.bends) + len(p.held) + len(p.contacts) > 0
    change, rms = np.empty(limit), np.empty(limit)
    done = 0
    guess = p.distances.copy()
    for k in range(limit):
        if k >= count and not (
            stretches(rows.distances, p.distances, h, on.v, stretch)
            or deepest_penetration(rows.contacts, on, h) > DEEP
        ):
            break
        m0, s0 = sweep_rigid(
            rows.rigid_held, p.rigid_held, rows.rigid_contacts, p.rigid_contacts, on, rigid,
            ROUGHLY if nodes else AT_REST,
        )  # fmt: skip
        if ends:
            m1, s1 = sweep_ends(rows.distances, p.distances, h, on.v, on.inverse_mass)
        else:
            m1, s1 = sweep_distances(rows.distances, p.distances, h, on.v, on.inverse_mass)
        m2, s2 = sweep_bends(rows.bends, p.bends, on.v, on.inverse_mass)
        m3, s3 = sweep_points(rows.held, p.held, False, on, False)
        m4, s4 = sweep_points(rows.contacts, p.contacts, True, on, False)
        change[k] = max(m0, m1, m2, m3, m4)
        rms[k] = np.sqrt((s0 + s1 + s2 + s3 + s4) / size) / h
        done = k + 1
        if change[k] <= tolerance:
            break
    if not ends:
        _limit_growth(rows.distances, p.distances, guess, h, on)
    return change[:done], rms[:done]
