"""Summary of a run: the content of summary.json and the output of ``limpet run --json``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from statistics import fmean, median
from typing import Any, Literal

from limpet.clock import PHASES
from limpet.record.history import COLUMNS, Row, cup_columns, cups_of

# "running" as long as the run goes on, "killed" if its process ended without a word
RunStatus = Literal["running", "finished", "interrupted", "diverged", "failed", "killed"]

COMPILING = 20.0  # steps this many times slower than the median compiled kernels: not counted


@dataclass(frozen=True)
class Span:
    """Range and last value of a probe."""

    least: float
    most: float
    last: float


@dataclass(frozen=True)
class ParticleSummary:
    """How particle bodies fared."""

    max_stretch: float  # |l/L - 1| of the worst inextensible edge
    last_stretch: float  # at the end
    max_inverted: int  # tetrahedra inside out
    last_inverted: int
    max_kinetic_energy: float  # [J]
    last_kinetic_energy: float  # [J] at the end
    last_elastic_energy: float | None  # [J] when it was last taken; None if the run was too short
    gravity_work: float  # [J] given by gravity
    drive_work: float  # [J] of prescribed motions, applied forces and other bodies


@dataclass(frozen=True)
class CupSummary:
    """How a cup fared: a soft body that a prescribed motion or an attachment holds."""

    peak_pull_force: float | None  # [N] that held it while it trapped air; None: it never pulled
    peak_time: float | None  # [s]
    push_force: float  # [N] the largest that pressed it on something, which drives the air out
    min_pressure: float | None  # [Pa] None: it never trapped air
    seals: int  # how often it began to trap air; more than once: it let go and sealed again
    release_time: float | None  # [s] when it let go for the last time; None: never, or not yet


@dataclass(frozen=True)
class Summary:
    """SI units, times by phase in milliseconds; None (null in JSON) where there is no value."""

    scene: str
    h: float  # [s]
    steps: int
    fem_nodes: int  # of the soft bodies
    collision_nodes: int  # surface vertices of all bodies that can collide
    mean_rows: float  # constraint rows, over the steps that have any
    ms_per_step: float
    ms_by_phase: dict[str, float]  # [ms] per step
    peak_pull_force: float | None  # [N] of the cup that pulled hardest; None if none ever pulled
    release_time: float | None  # [s] when the last of the cups let go; None while one holds
    min_pressure: float | None  # [Pa] None if no air was ever trapped
    max_penetration: float  # [m]
    max_gas_residual: float  # |P V^k - K| / K
    max_air_error: float  # relative error of the amount of air
    max_residual: float  # of the solver
    max_relinearisation_residual: float  # [m] nodes would yet move with the true forces
    converged_steps: int
    peak_time: float | None  # [s] of the peak pull
    duration: float  # [s] simulated
    ended: RunStatus
    ended_step: int
    why: str | None  # why it ended early
    probes: dict[str, Span]  # by column
    cups: dict[str, CupSummary]  # by the names of their columns; those that ever trapped air
    particles: ParticleSummary | None  # None if there are no particle bodies
    parameters: dict[str, Any] = field(default_factory=dict)  # of the scene, in SI units

    @staticmethod
    def from_dict(told: dict[str, Any]) -> Summary:
        """The summary in a summary.json."""
        particles = told["particles"] and ParticleSummary(**told["particles"])
        cups = {name: CupSummary(**cup) for name, cup in told["cups"].items()}
        probes = {name: Span(**span) for name, span in told["probes"].items()}
        return Summary(**{**told, "probes": probes, "cups": cups, "particles": particles})

    def to_json(self) -> str:
        """Strict JSON: a NaN would raise here rather than reach a file."""
        return json.dumps(asdict(self), indent=2, allow_nan=False)


def summarise(
    scene: str, h: float, rows: list[Row], *, fem_nodes: int, collision_nodes: int,
    ended: RunStatus = "finished", why: str | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> Summary:  # fmt: skip
    """Summarise the steps in `rows`, which may be empty."""
    cups = _cups(rows)
    best = max(cups.values(), key=lambda c: c.peak_pull_force or 0.0, default=None)
    releases = [c.release_time for c in cups.values()]
    by_phase = _mean_phases(rows)
    pressures = [p for row in rows if (p := row["pressure"]) is not None]
    return Summary(
        scene=scene, h=h, steps=len(rows), fem_nodes=fem_nodes, collision_nodes=collision_nodes,
        mean_rows=fmean([n for row in rows if (n := row["rows"])] or [0.0]),
        ms_per_step=sum(by_phase.values()), ms_by_phase=by_phase,
        peak_pull_force=best.peak_pull_force if best else None,
        release_time=None if None in releases else max((r for r in releases if r), default=None),
        min_pressure=min(pressures, default=None),
        max_penetration=_largest(rows, "max_penetration"),
        max_gas_residual=_largest(rows, "gas_residual"), max_air_error=_largest(rows, "air_error"),
        max_residual=_largest(rows, "residual"),
        max_relinearisation_residual=_largest(rows, "relinearisation_residual"),
        converged_steps=sum(1 for row in rows if row["converged"]),
        peak_time=best.peak_time if best else None,
        duration=_value(rows[-1], "time") if rows else 0.0, ended=ended,
        ended_step=int(_value(rows[-1], "step")) if rows else 0, why=why, probes=_spans(rows),
        cups=cups, particles=_particles(rows), parameters=dict(parameters or {}),
    )  # fmt: skip


def _spans(rows: list[Row]) -> dict[str, Span]:
    columns = list(rows[0]) if rows else []
    of_cups = cup_columns(cups_of(columns))
    names = [name for name in columns if name not in COLUMNS and name not in of_cups]
    curves = {name: [_value(row, name) for row in rows] for name in names}
    return {name: Span(min(c), max(c), c[-1]) for name, c in curves.items()}


def _particles(rows: list[Row]) -> ParticleSummary | None:
    if not rows or rows[-1]["stretch"] is None:
        return None
    last = rows[-1]
    elastic = [e for row in rows if (e := row["elastic_energy"]) is not None]
    return ParticleSummary(
        max_stretch=_largest(rows, "stretch"), last_stretch=_value(last, "stretch"),
        max_inverted=int(_largest(rows, "inverted")), last_inverted=int(_value(last, "inverted")),
        max_kinetic_energy=_largest(rows, "kinetic_energy"),
        last_kinetic_energy=_value(last, "kinetic_energy"),
        last_elastic_energy=elastic[-1] if elastic else None,
        gravity_work=_value(last, "gravity_work"), drive_work=_value(last, "drive_work"),
    )  # fmt: skip


def _cups(rows: list[Row]) -> dict[str, CupSummary]:
    """The cups that ever trapped air. Its end counts, not a force: a cup may slide off under load.

    A force without air is none of suction, so the jerk with which a motion begins is no peak.
    """
    found = {}
    for name in cups_of(rows[0] if rows else ()):
        force, pressure = cup_columns([name])
        sealed = [row[pressure] is not None for row in rows]
        if not any(sealed):
            continue
        own = [row for row, air in zip(rows, sealed) if air]
        best = max(own, key=lambda row: _value(row, force))
        pulled = _value(best, force) > 0.0
        opened = [i for i in range(1, len(rows)) if sealed[i - 1] and not sealed[i]]
        found[name] = CupSummary(
            peak_pull_force=_value(best, force) if pulled else None,
            peak_time=_value(best, "time") if pulled else None,
            push_force=max(
                (-_value(row, force) for row in rows if row["active_contacts"]), default=0.0
            ),
            min_pressure=min(_value(row, pressure) for row in own),
            seals=sum(now and not before for before, now in pairwise([False, *sealed])),
            release_time=_value(rows[opened[-1]], "time") if opened and not sealed[-1] else None,
        )
    return found


def _mean_phases(rows: list[Row]) -> dict[str, float]:
    """Mean time by phase [ms], without the steps that compiled kernels."""
    if not rows:
        return dict.fromkeys(PHASES, 0.0)
    totals = [sum(_value(row, f"ms_{phase}") for phase in PHASES) for row in rows]
    limit = COMPILING * median(totals)
    timed = [row for row, total in zip(rows, totals) if total <= limit]
    return {phase: fmean(_value(row, f"ms_{phase}") for row in timed) for phase in PHASES}


def _largest(rows: list[Row], name: str) -> float:
    return max((abs(_value(row, name)) for row in rows), default=0.0)


def _value(row: Row, name: str) -> float:
    value = row[name]
    return 0.0 if value is None else float(value)
