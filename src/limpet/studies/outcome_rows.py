"""One run of the outcome table, and the file that keeps finished runs."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from time import process_time

from limpet.errors import DivergedError
from limpet.record.history import Row, column
from limpet.report import SLIVER, StepReport
from limpet.scenes.registry import Scene, SceneParameters, load
from limpet.studies.outcome_cases import LIFTED, OutcomeCase
from limpet.studies.parallel import add_lines, code_digest, read_lines
from limpet.studies.reproduce.trace import Trace, trace

NEVER = "never holds"
KEPT = "rows.jsonl"  # one finished run per line


@dataclass(frozen=True)
class Outcome:
    """What came of one case on one mesh at one time step."""

    case: str
    mesh: str  # "default" or "fine"
    h: float  # [s]
    outcome: str  # "holds", "lets go", "never holds", or what else happened
    peak: float | None  # [N] of the cup that pulled hardest
    release: float | None  # [s] when the last cup let go
    seals: int  # how often cups began to trap air
    jump: float | None  # [m]
    margin: float | None  # [m] least distance of the seal gap from the sealing distance, see below
    unconverged: int  # steps
    steps: int
    nodes: int  # of the soft bodies
    seconds: float  # [s] of computing time
    code: str  # fingerprint of the code and the parameters

    @property
    def key(self) -> tuple[str, str, float, str]:
        return self.case, self.mesh, self.h, self.code


def run_case(case: OutcomeCase, mesh: str, h: float, on_step: Callable[[float], None]) -> Outcome:
    """Run one case to its end; a run that diverges is an outcome, too."""
    scene, before = load(case.scene, case.overrides(mesh, h)), process_time()
    code = fingerprint(case, mesh, h)
    gaps: list[float | None] = []
    try:
        result = trace(scene, on_step, on_report=lambda report: gaps.append(widest_gap(report)))
    except DivergedError as problem:
        return Outcome(
            case.name, mesh, h, f"diverged: {problem}", None, None, 0, None, None, 0, 0, 0,
            process_time() - before, code,
        )  # fmt: skip
    summary, outcome = result.summary, judge(case, result)
    return Outcome(
        case.name, mesh, h, outcome,
        peak=summary.peak_pull_force,
        release=None if outcome == NEVER else summary.release_time,
        seals=sum(cup.seals for cup in summary.cups.values()),
        jump=_risen(result.rows, case.jump, max) if case.jump else None,
        margin=seal_margin(result, gaps, _sealing_distance(scene)),
        unconverged=summary.steps - summary.converged_steps, steps=summary.steps,
        nodes=summary.fem_nodes, seconds=process_time() - before, code=code,
    )  # fmt: skip


def judge(case: OutcomeCase, run: Trace) -> str:
    """The outcome in words."""
    if all(cup.peak_pull_force is None for cup in run.summary.cups.values()):
        return NEVER  # no cup was ever pulled while it trapped air
    if run.summary.release_time is not None:
        ends = {name: float(run[name][-1]) for name in case.place}
        inside = all(low < ends[name] < high for name, (low, high) in case.place.items())
        return "lets go" if inside else "lets go elsewhere"
    lifted = not case.lifted or _risen(run.rows, case.lifted, lambda values: values[-1]) > LIFTED
    return "holds" if lifted else "holds, not lifted"


def widest_gap(report: StepReport) -> float | None:
    """[m] The largest seal gap of the air under a cup; None: no such air, or no leak path."""
    own = [c for c in report.cavities if c.air > SLIVER and set(c.bodies) & set(report.cups)]
    return max((c.seal_gap for c in own if math.isfinite(c.seal_gap)), default=None)


def seal_margin(run: Trace, gaps: Sequence[float | None], sealing_distance: float) -> float | None:
    """[m] The least from the hardest push to the end; None if it lets go or has no leak path.

    While a cup comes down its gap passes the sealing distance, so what was before says nothing.
    """
    if run.summary.release_time is not None or not run.summary.cups:
        return None
    pressed = min(range(len(run.rows)), key=lambda i: run.rows[i]["reaction"] or 0.0)
    known = [gap for gap in gaps[pressed:] if gap is not None]
    return sealing_distance - max(known) if known else None


def _risen(rows: list[Row], name: str, pick: Callable[[list[float]], float]) -> float:
    values = column(rows, name).tolist()
    return pick(values) - values[0]


def fingerprint(case: OutcomeCase, mesh: str, h: float) -> str:
    """Of the code and the parameters: a kept run of other code is not used."""
    text = json.dumps([code_digest(), case.scene, case.overrides(mesh, h)], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def read_kept(folder: Path | None) -> dict[tuple[str, str, float, str], Outcome]:
    """The runs that an earlier call has finished."""
    names = {f.name for f in fields(Outcome)}
    kept = {}
    for values in read_lines(folder, KEPT):
        if set(values) == names:
            outcome = Outcome(**values)  # type: ignore[arg-type]
            kept[outcome.key] = outcome
    return kept


def keep(folder: Path | None, outcomes: Iterable[Outcome]) -> None:
    """Add finished runs to the file."""
    add_lines(folder, KEPT, [asdict(o) for o in outcomes])


def _sealing_distance(scene: Scene) -> float:
    assert isinstance(scene.parameters, SceneParameters)
    return scene.parameters.sealing_distance
