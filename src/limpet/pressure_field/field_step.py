"""How far a step of bodies with pressure fields has come."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from limpet.pressure_field.islands import (
    Island,
    IslandTerms,
    StepLoads,
    StepPotential,
    join_terms,
)

Array = np.ndarray


@dataclass(frozen=True)
class FieldStep:
    """How far a step has come."""

    potential: StepPotential  # with the free velocities under the impulses last given
    applied: Array  # (n_points, 3) [N] by the user
    terms: IslandTerms  # the last iterate, over all velocities
    residual: float  # 1 or less: converged
    iterations: int
    impulse: Array  # (n_points, 3) [N s] last given
    fresh: bool  # at the last iterate, so that the bodies move accordingly
    by_fields: Array  # (n_points, 3) [N s] of the fields, on the markers
    change: Array  # (n,) Newton step from the last iterate
    whole: Island  # all velocities, and the pairs that may touch
    loads: StepLoads  # of these pairs


def first_minimum(potential: StepPotential, applied: Array) -> FieldStep:
    """Island by island, without rows of the sets."""
    velocity, residual, iterations = potential.free.copy(), 0.0, 0
    which, soft = [np.zeros(0, int)], [np.zeros(0, int)]
    parts, found, islands = [], [], potential.islands()
    for island in islands:
        minimum, own = potential.minimum(island)
        parts.append(own)
        found.append(minimum.terms)
        velocity[island.columns] = minimum.terms.velocity
        residual = max(residual, minimum.residual)
        iterations = max(iterations, minimum.iterations)
        which.append(island.which)
        soft.append(island.soft)
    whole = replace(potential.whole(), which=np.concatenate(which), soft=np.concatenate(soft))
    loads = StepLoads.join(parts)
    if len(whole.soft):
        terms = potential.objective(whole, loads).evaluate(velocity)
    else:
        terms = join_terms(whole, velocity, islands, found)
    terms = potential.with_friction_stiffness(whole, loads, terms)
    return FieldStep(
        potential, applied, terms, residual, iterations, np.zeros_like(applied), False,
        np.zeros_like(applied), np.zeros(potential.layout.size), whole, loads,
    )  # fmt: skip
