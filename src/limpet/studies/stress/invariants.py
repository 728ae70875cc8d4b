"""What must hold in every world: small checks on the trace of a run.

Each gives the worst case as a Finding, or nothing. Tolerances stand here, once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from limpet.report import SLIVER
from limpet.studies.stress.recipe import Call
from limpet.studies.stress.trace import Step, Trace

Array = np.ndarray

RESIDUAL = 1e-9  # of the laws, in a step that is called converged
PENETRATION = 5e-5  # [m]
WALL_OVERLAP = 2.1e-5  # [m] on average, of walls that meet: what contact leaves at edges
AIR = 1e-9  # relative, of all air that was ever trapped
GAS_LAW = 1e-6  # |P V - n R T| / (n R T)
BALANCE = 1e-6  # of the forces on the body
ENERGY = 0.02  # created, of the energy that was exchanged
LOOSE = 1.2  # sealing distances: a seal gap that is kept beyond it
SLOW_STEP = 5.0  # [s] of computing


@dataclass(frozen=True)
class Finding:
    """An invariant that does not hold, at its worst."""

    name: str  # of the invariant
    step: int  # the first at which it does not hold, from 1; 0: it is of the whole run
    value: float
    text: str
    count: int = 1  # steps at which it does not hold


def check(trace: Trace) -> list[Finding]:
    """All invariants of one run."""
    return [finding for rule in RULES for finding in rule(trace)]


def _worst(
    name: str, trace: Trace, value: Callable[[Step], float], limit: float, text: str,
    above: bool = True,
) -> Iterator[Finding]:  # fmt: skip
    """The worst step of those beyond the limit; NaN is beyond every limit."""
    values = [value(s) for s in trace.steps]
    bad = [(k, v) for k, v in enumerate(values) if not (v <= limit if above else v >= limit)]
    if bad:
        sign = 1.0 if above else -1.0
        at, worst = max(bad, key=lambda kv: math.inf if math.isnan(kv[1]) else sign * kv[1])
        shown = text.format(worst)
        first = bad[0][0] + 1
        yield Finding(name, first, worst, f"{shown} at step {at + 1}, first at {first}", len(bad))


def _crash(trace: Trace) -> Iterator[Finding]:
    if trace.crash:
        text = trace.crash.strip().splitlines()
        yield Finding("crash", len(trace.steps) + 1, 1.0, " | ".join(text[-3:]))


def _slow(trace: Trace) -> Iterator[Finding]:
    if trace.slow:
        done = len(trace.steps)
        text = f"{trace.seconds:.0f} s for {done} of {trace.recipe.steps} steps"
        yield Finding("slow", done, trace.seconds, text)
    yield from _worst("slow", trace, lambda s: s.seconds, SLOW_STEP, "{:.1f} s")


def _unconverged(trace: Trace) -> Iterator[Finding]:
    bad = [k for k, s in enumerate(trace.steps) if not s.report.converged]
    if bad:
        worst = max(trace.steps[k].report.residual for k in bad)
        unsettled = max(trace.steps[k].report.relinearisation_residual for k in bad)
        text = f"{len(bad)} steps, residual {worst:.2g}, {unsettled:.2g} m, first at {bad[0] + 1}"
        yield Finding("unconverged", bad[0] + 1, worst, text, len(bad))


def _called_converged(trace: Trace) -> Iterator[Finding]:
    """A step that says it converged, and does not satisfy its laws."""

    def residual(s: Step) -> float:
        return s.report.residual if s.report.converged else 0.0

    yield from _worst("called converged", trace, residual, RESIDUAL, "residual {:.2g}")


def _penetration(trace: Trace) -> Iterator[Finding]:
    yield from _worst(
        "penetration", trace, lambda s: 1e3 * s.report.max_penetration, 1e3 * PENETRATION,
        "{:.3g} mm",
    )  # fmt: skip


def _volume(trace: Trace) -> Iterator[Finding]:
    """Walls that meet overlap by no more than contact leaves: below that there is no volume."""

    def overlap(s: Step) -> float:
        return 1e3 * max((c.wall_overlap for c in s.report.cavities), default=0.0)

    yield from _worst(
        "volume", trace, overlap, 1e3 * WALL_OVERLAP, "walls overlap by {:.3g} mm on average"
    )


def _air(trace: Trace) -> Iterator[Finding]:
    """Air held = created + leaked - vented - released - taken, in every step."""

    def error(s: Step) -> float:
        a = s.air
        if not a:
            return 0.0
        left = a["vented"] + a["released"] + a["taken"]
        scale = a["created"] + abs(a["leaked"])
        miss = abs(a["held"] - (a["created"] + a["leaked"] - left))
        return max(miss / scale if scale > 0.0 else 0.0, s.report.air_error)

    yield from _worst("air", trace, error, AIR, "{:.2g} relative")


def _gas_law(trace: Trace) -> Iterator[Finding]:
    """P V = n R T where the temperature is kept, and no pressure below 0 or above P_max."""
    kept = trace.recipe.atmosphere.arguments.get("exponent", 1.0) == 1.0

    def miss(s: Step) -> float:
        worst = 0.0
        for c in s.report.cavities:
            if c.pressure < -1e-6:
                return math.inf
            if c.air <= SLIVER:
                continue
            n_rt = c.air * 8.314462618 * 293.15
            worst = max(worst, abs(c.pressure * c.volume / n_rt - 1.0) if kept else c.gas_residual)
        return worst

    yield from _worst("gas law", trace, miss, GAS_LAW, "{:.2g} relative")


def _balance(trace: Trace) -> Iterator[Finding]:
    """Momentum of every body against the forces on it."""

    def miss(s: Step) -> float:
        told = s.report.momentum_residual or 0.0
        return max(s.balance, told) / s.force_scale if s.report.converged else 0.0

    yield from _worst("balance", trace, miss, BALANCE, "{:.2g} of the forces")


def _energy(trace: Trace) -> Iterator[Finding]:
    """It does not rise by more than what prescribed motions put in."""
    known = []
    for s in trace.steps:  # up to the first step whose energy or work is not known
        if s.energy is None or s.divided:
            break
        known.append(s)
    if len(known) < 2:
        return
    total = np.array([s.energy for s in known])
    work = np.array([s.work for s in known])
    gained = np.diff(total) - work[1:]
    balance = np.concatenate([[0.0], np.cumsum(gained)])
    rise = balance - np.minimum.accumulate(balance)  # since its least
    scale = float(np.abs(work).sum() + np.ptp(total))
    if scale <= 1e-9:
        return
    at = int(rise.argmax())
    if rise[at] > ENERGY * scale:
        text = f"{rise[at]:.2g} J from nowhere, of {scale:.2g} J exchanged, up to step {at + 1}"
        yield Finding("energy", at + 1, float(rise[at] / scale), text)


def _kept_open(trace: Trace) -> Iterator[Finding]:
    """Suction in a step whose own seal gap is beyond the sealing distance, with a binary seal."""
    given = trace.recipe.settings.arguments
    if isinstance(given.get("seal"), Call):
        return
    distance = float(given.get("sealing_distance", 5e-5))  # type: ignore[arg-type]

    def gap(s: Step) -> float:
        gaps = [c.seal_gap for c in s.report.cavities if c.air > SLIVER]
        return max(gaps, default=0.0) / distance

    yield from _worst("kept open", trace, gap, LOOSE, "seal gap {:.3g} sealing distances")


RULES: tuple[Callable[[Trace], Iterator[Finding]], ...] = (
    _crash, _slow, _unconverged, _called_converged, _penetration, _volume, _air, _gas_law,
    _balance, _energy, _kept_open,
)  # fmt: skip
