"""What many random worlds have shown: counts, worst cases, scripts and pictures of failures."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from limpet.record.table import Cell, Progress, Result, Table, show_cell
from limpet.studies.stress.examine import AGAIN, DIED, Outcome
from limpet.studies.stress.failures import Failure, shrunk_failure
from limpet.studies.stress.invariants import Finding

ROUNDING = " (rounding)"  # a world that a rounding error changes as much
STOPPED = 0.002  # of all steps, at most, are stopped with an error
SAME = 0.98  # of the turned and mirrored worlds have the same forces
NONE = {
    "crash": "no crash",
    DIED: "no process has died",
    "called converged": "no step is called converged that is not",
    "unconverged": "every step converges, or stops with an error",
    "air": "air is kept",
    "volume": "no cavity has a negative volume",
    "penetration": "bodies do not overlap",
    "gas law": "P V = n R T",
    "balance": "momentum follows from the forces",
    "energy": "no energy is created",
    "kept open": "no suction beyond the sealing distance",
    "false seal": "no false seal",
    "false release": "no false release",
    "repeated": "the same bits when repeated",
    "restored": "the same bits when restored",
}
SHRUNK = 10  # failures that are shrunk and drawn, one of each kind first

Cases = dict[str, list[tuple[Outcome, Finding]]]


def report(outcomes: Sequence[Outcome], progress: Progress, folder: Path | None) -> Result:
    """Tables; with a folder also a CSV file, a page, and scripts and pictures of failures."""
    cases = by_name(outcomes)
    claims, ok = _claims(outcomes, cases)
    tables = (_overview(outcomes), claims, _worst(cases), _seeds(outcomes))
    files: dict[str, Callable[[Path], None]] = {"worlds.csv": partial(_write_csv, outcomes)}
    if folder is not None:
        chosen = to_shrink(cases)
        for k, (outcome, finding) in enumerate(chosen):
            progress(k, len(chosen), f"stress: shrinking seed {outcome.seed}, {finding.name}")
            failure = shrunk_failure(outcome.seed, finding)
            files |= failure_files(failure)
    files["report.md"] = partial(_write_page, tables, sorted(files))
    return Result(tables, ok, files)


def by_name(outcomes: Sequence[Outcome]) -> Cases:
    """The findings of all seeds, by invariant."""
    cases: Cases = {}
    for outcome in outcomes:
        for finding in outcome.findings:
            cases.setdefault(finding.name, []).append((outcome, finding))
    return cases


def to_shrink(cases: Cases) -> list[tuple[Outcome, Finding]]:
    """The quickest failure of each kind, then the next of each."""
    # what takes a whole process with it cannot be shrunk in this one
    alive = [found for name, found in cases.items() if name != DIED]
    queues = [sorted(found, key=lambda of: of[0].seconds) for found in alive]
    rounds = [q[k] for k in range(SHRUNK) for q in queues if k < len(q)]
    return rounds[:SHRUNK]


def failure_files(failure: Failure) -> dict[str, Callable[[Path], None]]:
    def write(path: Path) -> None:
        path.write_text(failure.script, encoding="utf-8")

    label = f"seed-{failure.seed}-{failure.finding.name.replace(' ', '-').replace('(', '')}"
    label = label.replace(")", "")
    return {f"{label}.py": write, f"{label}.png": failure.draw}


def _overview(outcomes: Sequence[Outcome]) -> Table:
    steps, made = sum(o.planned for o in outcomes), sum(o.steps for o in outcomes)
    stopped = sum(bool(o.stopped) for o in outcomes)
    rows: list[tuple[Cell, ...]] = [
        ("worlds", len(outcomes)),
        ("worlds without findings", sum(not o.findings for o in outcomes)),
        ("worlds that were rejected before", sum(o.rejected for o in outcomes)),
        ("worlds that trapped air", sum(o.with_air > 0 for o in outcomes)),
        ("steps", made),
        ("steps that were planned", steps),
        ("steps that were stopped with an error", stopped),
        ("steps whose seal was judged", sum(o.judged for o in outcomes)),
        ("computing of the first runs [s]", round(sum(o.seconds for o in outcomes), 1)),
    ]
    rows += [(f"worlds {name}", sum(name in o.tried for o in outcomes)) for name in AGAIN]
    return Table("stress: what was run", ("", "number"), tuple(rows))


def _claims(outcomes: Sequence[Outcome], cases: Cases) -> tuple[Table, bool]:
    """What must hold, and whether it does."""
    rows: list[tuple[Cell, ...]] = []
    for name in NONE:
        found = cases.get(name, [])
        rows.append((NONE[name], sum(f.count for _, f in found), len(found), not found))
    stops = sum(bool(o.stopped) for o in outcomes)
    steps = max(sum(o.steps for o in outcomes), 1)
    within = stops <= STOPPED * steps
    rows.append((f"at most {STOPPED:.1%} of the steps stopped", stops, stops, within))
    for name in ("turned", "mirrored", "moved"):
        tried = sum(name in o.tried for o in outcomes)
        other = len(cases.get(name, []))
        shaken = len(cases.get(name + ROUNDING, []))
        same = other + shaken <= (1.0 - SAME) * tried or other == 0
        text = f"{SAME:.0%} of the worlds {name} have the same forces, or rounding explains it"
        rows.append((text, shaken, other, same))
    ok = all(bool(row[-1]) for row in rows)
    notes = (
        f"Of the worlds {', '.join(AGAIN[2:])}: in 'steps' stand those in which a turn by a "
        "rounding error changes the forces, too; in 'worlds' the others.",
    )
    return Table("stress: claims", ("claim", "steps", "worlds", "holds"), tuple(rows), notes), ok


def _worst(cases: Cases) -> Table:
    rows = []
    for name, found in sorted(cases.items()):
        outcome, finding = max(found, key=lambda of: of[1].value)
        rows.append((name, len(found), outcome.seed, outcome.bodies, finding.text))
    return Table(
        "stress: worst cases", ("invariant", "worlds", "seed", "bodies", "worst"), tuple(rows)
    )


def _seeds(outcomes: Sequence[Outcome]) -> Table:
    rows = tuple(
        (o.seed, o.bodies, f.name, f.step, f.count, f.text) for o in outcomes for f in o.findings
    )
    return Table(
        "stress: all findings", ("seed", "bodies", "invariant", "step", "steps", "text"), rows,
        ("One of them: limpet stress --scenes 1 --seed SEED --all",),
    )  # fmt: skip


def _write_csv(outcomes: Sequence[Outcome], path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(
            ["seed", "bodies", "nodes", "steps", "planned", "with_air", "seconds", "tried",
             "judged", "stopped", "findings"]
        )  # fmt: skip
        for o in outcomes:
            found = "; ".join(f"{f.name}: {f.text}" for f in o.findings)
            writer.writerow(
                [o.seed, o.bodies, o.nodes, o.steps, o.planned, o.with_air, o.seconds,
                 " ".join(o.tried), o.judged, o.stopped, found]
            )  # fmt: skip


def _write_page(tables: Sequence[Table], files: Sequence[str], path: Path) -> None:
    lines = ["# Random worlds"]
    for table in tables:
        lines += ["", f"## {table.title}", "", _row(table.columns)]
        lines.append(_row(["---"] * len(table.columns)))
        lines += [_row([show_cell(cell) for cell in row]) for row in table.rows]
        lines += ["", *table.notes]
    lines += ["", "## Failures, shrunk", ""]
    for name in files:
        if name.endswith(".png"):
            stem = name.removesuffix(".png")
            lines += [f"{stem}: [script]({stem}.py)", "", f"![{stem}]({name})", ""]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "/") for cell in cells) + " |"
