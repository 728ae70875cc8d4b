"""One seed: its world run, checked, and run again in other ways."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field

import numpy as np

from limpet.studies.parallel import code_digest
from limpet.studies.stress.compare import mirror, random_turn, same_bits, same_forces
from limpet.studies.stress.invariants import Finding, check
from limpet.studies.stress.recipe import Recipe
from limpet.studies.stress.seals import check_seals
from limpet.studies.stress.trace import Trace, run
from limpet.studies.stress.worlds import USUAL, Size, world_of

AGAIN = ("repeated", "restored", "turned", "mirrored", "moved")
DIED = "crash (process)"  # of a world that took its process with it
SHARE = 0.25  # of the seeds that each of these is tried on
JUDGED = 0.5  # of the seeds whose seals are judged by the oracle
FARTHEST = 0.3  # [m] about as far as a world is moved


@dataclass(frozen=True)
class Outcome:
    """What came of one seed."""

    seed: int
    code: str  # digest of the code
    bodies: str
    steps: int  # that were made
    planned: int
    with_air: int  # steps with trapped air
    nodes: int
    seconds: float  # [s] of computing, of the first run
    stopped: str  # the error of a step that was stopped
    tried: tuple[str, ...]  # of AGAIN
    judged: int  # steps whose seal was judged
    rejected: int  # worlds of the seed that were not taken
    findings: tuple[Finding, ...] = field(default=())

    def as_record(self) -> dict[str, object]:
        record = asdict(self)
        for finding in record["findings"]:
            finding["value"] = repr(finding["value"])  # JSON has no inf and nan
        return record

    @staticmethod
    def of_record(values: dict[str, object]) -> Outcome:
        found = values["findings"]
        assert isinstance(found, list | tuple)
        made = tuple(Finding(**{**f, "value": float(f["value"])}) for f in found)
        tried: tuple[str, ...] = tuple(values["tried"])  # type: ignore[arg-type]
        return Outcome(**{**values, "findings": made, "tried": tried})  # type: ignore[arg-type]


def digest() -> str:
    return code_digest("stress")[:12]


def examine(seed: int, everything: bool = False, size: Size = USUAL) -> Outcome:
    """Run the world of a seed and check all; `everything`: also what is tried on a share only."""
    drawn = world_of(seed, size)
    base, tried = run(drawn.recipe), chosen(seed, everything)
    found = check(base)
    if base.slow or base.crash:
        tried = ()
    for name in tried:
        found += again(base, name, seed)
    if everything or chance(seed, "judged") < JUDGED:
        found += check_seals(base, chooser(seed, "judged"))
    return Outcome(
        seed, digest(), ", ".join(p.name for p in drawn.recipe.parts), len(base.steps),
        drawn.recipe.steps, sum(bool(s.report.cavities) for s in base.steps), base.nodes,
        base.seconds, base.error, tried, base.judged, len(drawn.rejected), tuple(found),
    )  # fmt: skip


def crashed(seed: int, how: str) -> Outcome:
    """Of a world whose process has died."""
    drawn = world_of(seed)
    bodies = ", ".join(p.name for p in drawn.recipe.parts)
    found = Finding(DIED, 0, 0.0, f"its process was {how}", 1)
    return Outcome(
        seed, digest(), bodies, 0, drawn.recipe.steps, 0, 0, 0.0, "", (), 0, len(drawn.rejected),
        (found,),
    )  # fmt: skip


def chosen(seed: int, everything: bool) -> tuple[str, ...]:
    return tuple(name for name in AGAIN if everything or chance(seed, name) < SHARE)


def chance(seed: int, name: str) -> float:
    return float(chooser(seed, name).random())


def chooser(seed: int, name: str) -> np.random.Generator:
    """Random numbers of a seed for one purpose."""
    return np.random.default_rng([seed, *name.encode()])


def again(base: Trace, name: str, seed: int) -> Iterator[Finding]:
    """The world in another way, compared with the first run."""
    rng, recipe = chooser(seed, name), base.recipe
    if name == "repeated":
        return same_bits(base, run(recipe), name)
    if name == "restored":
        at = int(rng.integers(1, max(len(base.steps), 2)))
        return same_bits(base, run(recipe, restore_at=at), name)
    still = np.zeros(3)
    if name == "turned":
        return same_forces(base, random_turn(rng), still, name)
    if name == "mirrored":
        return same_forces(base, mirror(rng), still, name)
    return same_forces(base, np.eye(3), FARTHEST * rng.normal(size=3), name)


def finds(recipe: Recipe, name: str, seed: int, limit: float) -> Finding | None:
    """Whether a recipe fails an invariant, and how: for shrinking."""
    base = run(recipe, limit=limit)
    found = list(check(base))
    kind = name.split(" (")[0]
    if kind in AGAIN and not (base.slow or base.crash):
        found += again(base, kind, seed)
    elif kind.startswith("false"):
        found += check_seals(base, chooser(seed, "judged"))
    return next((f for f in found if f.name.split(" (")[0] == kind), None)
