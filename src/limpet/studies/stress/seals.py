"""Seals and releases of a run against the oracle."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from limpet.studies.stress.invariants import Finding
from limpet.studies.stress.oracle import Facets, Leak, widest_leak
from limpet.studies.stress.recipe import Call, Recipe
from limpet.studies.stress.trace import Surfaces, Trace

MARGIN = 0.2  # of the sealing distance: beyond it a seal or release is false
COVERED = ("hole", "groove")  # parts with openings that the classifier covers (docs/classifier.md)
AT_RANDOM = 1  # steps that are judged beside those in which a seal closes or opens
MOST = 4  # steps of a world that are judged


def sealing_distance(recipe: Recipe) -> float:
    """[m] within which a ring of the recipe encloses air."""
    given = recipe.settings.arguments
    seal = given.get("seal")
    if isinstance(seal, Call):
        return float(seal.arguments.get("reach", 3e-4))  # type: ignore[arg-type]
    return float(given.get("sealing_distance", 5e-5))  # type: ignore[arg-type]


def covers_openings(recipe: Recipe) -> bool:
    """Whether air may leave through the other body, where the classifier is not to see it."""
    by_classes = recipe.settings.arguments.get("cavities") == "classifier"
    return by_classes and any(part.name in COVERED for part in recipe.parts)


def check_seals(trace: Trace, rng: np.random.Generator) -> Iterator[Finding]:
    """False seals and releases, at the steps at which the cup's air comes or goes and at some more.

    The simulation decides on its seals where a step begins, which is where the last one ended.
    """
    if covers_openings(trace.recipe):
        return
    distance = sealing_distance(trace.recipe)
    for k in steps_to_judge(trace, rng):
        leak = leak_of(trace.steps[k - 1].positions, trace.surfaces, distance)
        if leak is None:
            continue
        trace.judged += 1
        sealed = trace.steps[k].sealed
        beyond = (leak.width - leak.slack) / distance
        within = (leak.width + leak.slack) / distance
        text = f"widest leak {1e6 * leak.width:.3g} um, facets +-{1e6 * leak.slack:.2g} um, "
        text += f"sealing distance {1e6 * distance:.3g} um, step {k + 1}"
        if sealed and beyond > 1.0 + MARGIN:
            yield Finding("false seal", k + 1, beyond, text)
        elif not sealed and within < 1.0 - MARGIN:
            yield Finding("false release", k + 1, within, text)


def steps_to_judge(trace: Trace, rng: np.random.Generator) -> list[int]:
    """Indices from 1 on."""
    steps = trace.steps
    usable = [k for k in range(1, len(steps)) if not steps[k].divided]
    changes = [k for k in usable if steps[k].sealed != steps[k - 1].sealed]
    around = [k for c in changes for k in (c, c - 1) if k in usable]
    some = rng.permutation(usable)[:AT_RANDOM].astype(int).tolist()
    return sorted(dict.fromkeys([*around, *some]))[:MOST]


def leak_of(positions: np.ndarray, surfaces: Surfaces, distance: float) -> Leak | None:
    bodies = [
        Facets(positions[first : first + count], triangles)
        for first, count, triangles in surfaces.bodies
    ]
    cup = surfaces.cup
    return widest_leak(bodies, cup, surfaces.inside, surfaces.outside, distance)
