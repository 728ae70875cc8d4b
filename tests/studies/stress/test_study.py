"""The command: findings, the folder that it continues from, and the report."""

import signal
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from limpet.studies.stress import study
from limpet.studies.stress import trace as trace_module
from limpet.studies.stress.compare import explained
from limpet.studies.stress.examine import Outcome, digest, examine
from limpet.studies.stress.invariants import Finding, check
from limpet.studies.stress.report import by_name, report, to_shrink
from limpet.studies.stress.trace import Deadline, TooSlowError, run
from limpet.studies.stress.worlds import SMALL, world_of

FOUND = Finding("volume", 3, -1.5, "-1.5 mm^3 at step 3", 2)


def silent(done: float, total: float, text: str) -> None:
    pass


def outcome(seed: int, *findings: Finding, stopped: str = "") -> Outcome:
    tried = ("turned",) if seed % 2 else ()
    return Outcome(seed, digest(), "box, cup", 20, 20, 9, 300, 1.0, stopped, tried, 2, 0, findings)


def test_outcomes_are_kept_as_they_are() -> None:
    odd = outcome(1, FOUND, replace(FOUND, name="gas law", value=float("inf")))
    assert Outcome.of_record(odd.as_record()) == odd


def test_continues_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    def counted(left: Sequence[int], jobs: int, everything: bool) -> Iterator[Outcome]:
        for seed in left:
            calls.append(seed)
            yield outcome(seed)

    monkeypatch.setattr(study, "_examined", counted)
    study.collect(range(3), 1, silent, tmp_path, False)
    with (tmp_path / study.KEPT).open("a") as file:
        file.write('\n{"seed": 3, "cut o')
    done = study.collect(range(1, 5), 1, silent, tmp_path, False)
    assert [o.seed for o in done] == [1, 2, 3, 4]
    assert calls == [0, 1, 2, 3, 4]


def test_report_counts_and_judges(tmp_path: Path) -> None:
    good = [outcome(k) for k in range(10)]
    assert report(good, silent, None).ok
    bad = report([*good, outcome(10, FOUND)], silent, None)
    assert not bad.ok
    claims = {row[0]: row[1:] for row in bad.tables[1].rows}
    assert claims["no cavity has a negative volume"] == (2, 1, False)
    assert all(row[-1] for name, row in claims.items() if name != "no cavity has a negative volume")
    stopped = [outcome(k, stopped="diverged") for k in range(10)]
    assert not report(stopped, silent, None).ok
    turned = Finding("turned", 1, 1e-3, "0.001 of the largest force")
    assert not report([*good, outcome(11, turned)], silent, None).ok
    shaken = replace(turned, name="turned (rounding)")
    assert report([*good, outcome(11, shaken)], silent, None).ok
    bad.save(tmp_path)
    assert "-1.5 mm^3" in (tmp_path / "report.md").read_text()
    assert "-1.5 mm^3" in (tmp_path / "worlds.csv").read_text()


def test_one_failure_of_each_kind_is_shrunk_first() -> None:
    other = replace(FOUND, name="air")
    cases = by_name([outcome(1, FOUND), outcome(2, FOUND), outcome(3, FOUND, other)])
    assert [(o.seed, f.name) for o, f in to_shrink(cases)] == [
        (1, "volume"), (3, "air"), (2, "volume"), (3, "volume")
    ]  # fmt: skip


def test_time_limit_ends_a_run_in_the_middle_of_a_step() -> None:
    deadline = Deadline(0.05)
    with pytest.raises(TooSlowError):
        while True:
            deadline()
    trace = run(world_of(8, SMALL).recipe, limit=1e-3)
    assert trace.slow
    assert [f.name for f in check(trace)] == ["slow"]


def test_time_limit_comes_from_no_signal(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is raised by the clock of the step, never while compiled code runs."""

    def refuse(*_: object) -> None:
        raise AssertionError("a signal can fall into compiled code")

    monkeypatch.setattr(signal, "signal", refuse)
    monkeypatch.setattr(signal, "setitimer", refuse)
    trace = run(world_of(8, SMALL).recipe, limit=0.0)
    assert (trace.slow, trace.crash) == (True, "")


def test_an_exception_after_the_time_limit_is_a_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(trace_module, "_surfaces", fails)
    trace = run(world_of(8, SMALL).recipe, limit=1e-9)
    assert not trace.slow
    assert [f.name for f in check(trace)] == ["crash"]


def test_rounding_explains_differences_that_grow_as_those_of_a_nudge() -> None:
    growing = 1e-14 * 1.25 ** np.arange(80)
    still, sudden = np.full(80, 1e-14), np.where(np.arange(80) < 50, 1e-13, 3e-6)
    assert explained(5.0 * growing, growing)[0]
    assert explained(sudden, np.where(np.arange(80) < 50, 1e-14, 2e-6))[0]
    assert not explained(sudden, np.where(np.arange(80) < 51, 1e-14, 2e-6))[0]  # it comes too late
    assert not explained(50.0 * growing, growing)[0]  # nor is it enough
    assert not explained(5.0 * growing, still)[0]
    assert not explained(sudden, still)[0]
    assert not explained(sudden, growing)[0]  # what grows is not what jumps


def test_rounding_explains_what_moves_as_far_by_a_nudge() -> None:
    """A cup that buckles: its points move before its forces change."""
    growing, still = 1e-14 * 1.25 ** np.arange(90), np.full(90, 1e-14)
    sudden = np.where(np.arange(90) < 50, 1e-13, 3e-6)
    assert growing[84] > 1e-6 > growing[82]
    assert explained(growing, still, 1e2 * growing, 30.0 * growing)[0]
    assert not explained(growing, still, 1e2 * growing, 5.0 * growing)[0]  # not as far
    assert not explained(growing, still, still, still)[0]  # it has not grown
    assert not explained(sudden, still, 1e2 * growing, 30.0 * growing)[0]  # it jumps


def test_faults_are_found() -> None:
    """Traces with one value changed: every check can fail."""
    trace = run(world_of(25, SMALL).recipe)
    assert [f.name for f in check(trace) if f.name != "slow"] == []
    last = trace.steps[-1]
    (cavity, *_) = last.report.cavities

    def with_report(**changed: object) -> list[str]:
        trace.steps[-1] = replace(last, report=replace(last.report, **changed))  # type: ignore[arg-type]
        return [f.name for f in check(trace) if f.name != "slow"]

    def with_cavity(**changed: object) -> list[str]:
        return with_report(cavities=(replace(cavity, **changed),))  # type: ignore[arg-type]

    assert with_report(converged=False) == ["unconverged"]
    assert with_report(residual=1e-6) == ["called converged"]
    assert with_report(residual=float("nan")) == ["called converged"]
    assert with_report(max_penetration=6e-5) == ["penetration"]
    assert with_report(air_error=2e-9) == ["air"]
    assert with_report(momentum_residual=2e-6 * last.force_scale) == ["balance"]
    assert with_cavity(volume=1.001 * cavity.volume) == ["gas law"]
    assert with_cavity(wall_overlap=3e-5) == ["volume"]
    assert with_cavity(seal_gap=7e-5) == ["kept open"]
    trace.steps[-1] = replace(last, air={**last.air, "held": 1.001 * last.air["held"]})
    assert [f.name for f in check(trace) if f.name != "slow"] == ["air"]


def test_worlds_are_examined_alike() -> None:
    one, two = examine(22, size=SMALL), examine(22, size=SMALL)
    assert replace(one, seconds=0.0) == replace(two, seconds=0.0)
