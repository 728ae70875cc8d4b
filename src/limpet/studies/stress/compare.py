"""The same world again: repeated, restored from a file, turned, mirrored or moved as a whole."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from limpet.geometry.rotation import rotation_matrix
from limpet.studies.stress.invariants import Finding
from limpet.studies.stress.recipe import transformed
from limpet.studies.stress.trace import Trace, run

Array = np.ndarray

SAME = 1e-6  # of the largest force, between a world and the same one in another place
NUDGE = 1e-12  # [rad] of a turn that only rounding notices: what it changes depends on no axes
SUDDEN = 1e-9  # below this in the step before, the forces have jumped: another discrete choice
AMPLIFIED = 0.1 * SAME  # what that turn changes at least where rounding errors grow and grow
AS_FAR = 0.1  # of the way by which a turned world is off: the nudge moves it by as much
GROWN = 1e-9  # [m] if that is as long as this: 1e-17 is rounding


def same_bits(base: Trace, other: Trace, name: str) -> Iterator[Finding]:
    """Bit for bit, with the same end."""
    for k, (a, b) in enumerate(zip(base.steps, other.steps)):
        if a.bits != b.bits:
            yield Finding(name, k + 1, 1.0, f"other bits from step {k + 1} on")
            return
    if (len(base.steps), base.error) != (len(other.steps), other.error) and not (
        base.slow or other.slow
    ):
        text = f"ends after {len(other.steps)} instead of {len(base.steps)} steps"
        yield Finding(name, len(other.steps), 1.0, f"{text}: {other.error or base.error}")


def differences(base: Trace, other: Trace, turn: Array) -> Array:
    """(steps,) of the forces on all bodies, relative to the largest sum of forces on one of them.

    Contact and air may press hard against each other, with next to nothing left over.
    """
    n = min(len(base.steps), len(other.steps))
    if n == 0:
        return np.zeros(0)
    one = np.array([s.forces for s in base.steps[:n]])
    two = np.array([s.forces for s in other.steps[:n]]) @ turn  # turned back
    largest = max(s.force_scale for s in base.steps[:n])
    return np.abs(one - two).max(axis=(1, 2)) / largest


def drifts(base: Trace, other: Trace, turn: Array, shift: Array) -> Array:
    """(steps,) [m] by which a point of the turned world is off where it should be, at most."""
    pairs = zip(base.steps, other.steps)
    return np.array(
        [np.abs((b.positions - shift) @ turn - a.positions).max(initial=0.0) for a, b in pairs]
    )


def same_forces(base: Trace, turn: Array, shift: Array, name: str) -> Iterator[Finding]:
    """The forces of the world turned and moved; what differs is told from chaos by a nudge."""
    other = run(transformed(base.recipe, turn, shift))
    off = differences(base, other, turn)
    beyond = np.flatnonzero(~(off <= SAME))
    if len(beyond) == 0:
        ends = len(other.steps), other.error[:0]
        if ends[0] != len(base.steps) and not (base.slow or other.slow):
            text = f"ends after {ends[0]} instead of {len(base.steps)} steps"
            yield Finding(name, ends[0], 1.0, f"{text}: {other.error or base.error}")
        return
    first, worst = int(beyond[0]), float(np.nanmax(off))
    little = rotation_matrix(np.array([1.0, 2.0, 3.0]), NUDGE)
    # of the world as it is turned: along the axes many products are exact, and a nudge stays so
    again = run(transformed(base.recipe, little @ turn, shift))
    nudged = differences(other, again, little)
    ways = (
        drifts(base, other, turn, shift),
        drifts(other, again, little, shift - little @ shift),
    )
    before = float(off[first - 1]) if first else 0.0
    way = "suddenly" if before < SUDDEN else f"slowly ({before:.1g} before)"
    by_rounding, cause = explained(off, nudged, *ways)
    kind = f"{name} (rounding)" if by_rounding else name
    text = f"{worst:.2g} of the largest force, {way} from step {first + 1} on; {cause}"
    yield Finding(kind, first + 1, worst, text, len(beyond))


def explained(
    off: Array, nudged: Array, way: Array | None = None, nudged_way: Array | None = None
) -> tuple[bool, str]:
    """Whether rounding errors make the differences `off` of a turned world, and how that shows.

    nudged: those of the same world after a turn that only rounding notices. Where both grow
    from step to step, as with a ball on a summit, they need not be as large as each other. What
    the nudge changes later on tells nothing of a difference that was there before.

    way, nudged_way [m]: by how far points are off, if that is known. Where a cup buckles without
    touching, forces feel it steps later, the one way or the other.
    """
    first = int(np.flatnonzero(~(off <= SAME))[0])
    shaken = np.flatnonzero(~(nudged <= SAME))
    if len(shaken) and shaken[0] <= first:
        return True, f"a turn of {NUDGE:g} differs from {shaken[0] + 1} on"
    grown = np.flatnonzero(nudged[: first + 1] > AMPLIFIED)
    slowly = first > 0 and off[first - 1] >= SUDDEN
    if len(grown) and slowly:
        return True, f"what a turn of {NUDGE:g} changes grows, to {nudged[grown[-1]]:.1g} there"
    if slowly and way is not None and nudged_way is not None and len(nudged_way) > first:
        far = float(nudged_way[first])
        if far > max(GROWN, AS_FAR * way[first]):
            return True, f"a turn of {NUDGE:g} moves points by {far:.1g} m there"
    if len(shaken):
        return False, f"a turn of {NUDGE:g} differs only from {shaken[0] + 1} on"
    return False, f"a turn of {NUDGE:g} changes nothing"


def random_turn(rng: np.random.Generator) -> Array:
    axis = rng.normal(size=3)
    return rotation_matrix(axis, float(rng.uniform(0.3, np.pi)))


def mirror(rng: np.random.Generator) -> Array:
    """Through a random plane."""
    n = rng.normal(size=3)
    n /= np.linalg.norm(n)
    return np.eye(3) - 2.0 * np.outer(n, n)
