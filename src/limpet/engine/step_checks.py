"""What a step must not end with: errors with their place and advice, and warnings."""

from __future__ import annotations

import warnings

from limpet.errors import DivergedError, OverlapError, UndeterminedForceWarning
from limpet.model.factory import SimulationModel
from limpet.solver.constraint_solver import StepSolution


def refuse_unresolved(
    model: SimulationModel, solution: StepSolution, limit: float, when: str, parts: int
) -> None:
    """Of bodies that are to move by more than `limit` [m] yet."""
    left = solution.relinearisation_residual
    if solution.converged or not model.divisible or not left > limit:
        return
    worst = max(model.bodies, key=lambda body: body.relinearisation_residual)
    raise DivergedError(
        f"{when}: '{worst.name}' moves too fast to be resolved even in {parts} parts of a step; "
        "lower the time step, or give it damping"
    )


def refuse_overlap(model: SimulationModel, solution: StepSolution, limit: float, when: str) -> None:
    """Of bodies that contact should have kept apart: what follows is no physics. limit [m]"""
    contacts, members = model.contacts, model.members
    if contacts is None or solution.after is None or not contacts.overlap > limit:
        return
    place, a, b = contacts.deepest(solution.after[0])
    at = ", ".join(f"{1e3 * c:.4g}" for c in place)
    raise OverlapError(
        f"{when}: '{members[a].name}' and '{members[b].name}' overlap by "
        f"{1e3 * contacts.overlap:.3g} mm at ({at}) mm; lower the time step, or move them more "
        "slowly"
    )


def warn_of_undetermined_forces(
    model: SimulationModel, warned: set[tuple[int, int]], time: float
) -> None:
    """Once for each pair of which a motion is prescribed; `warned` has those that were told."""
    contacts, members = model.contacts, model.members
    for a, b, depth in contacts.undetermined() if contacts else ():
        moved = any(members[i].motion is not None for i in (a, b))
        if moved and (a, b) not in warned:
            warned.add((a, b))
            names = f"'{members[a].name}' and '{members[b].name}'"
            warnings.warn(
                f"{names} overlap by {1e3 * depth:.2g} mm at {time:.4g} s, and both motions are "
                "prescribed: point contact gives no force between them; give one a pressure field "
                "(limpet.fields)",
                UndeterminedForceWarning,
                stacklevel=5,
            )
