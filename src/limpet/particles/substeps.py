"""How many solves a step of particle bodies needs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from limpet.particles.body import ParticleBody
from limpet.particles.distances import Distances, edge_rotation_rate, transverse_frequency

Array = np.ndarray

LOADED, SLACK = 2.0 / 3.0, 1.0 / 3.0  # of the stretch allowed: a sheet takes more, or fewer solves
MORE, LESS = 1.5, 0.9  # times as many as in the last step
SWING_PER_SUBSTEP = 2.0  # [rad] of the fastest chain in a solve: beyond, loads pass on too slowly
ROTATED = 0.3  # [rad] rotation of an edge in a solve: beyond, it cannot be held along its direction


def solves_needed(
    soft: Sequence[ParticleBody], distances: Distances, tension: Array | None, h: float
) -> float:
    """What explicit bodies, fast edges and taut chains ask for.

    tension (k,) [N] of the edges in the last step, if there was one. A chain of tension T swings
    across at about sqrt(4 T/m L).
    """
    needed = max((h / b.stable_step for b in soft), default=0.0)
    if len(distances.rest):
        v = np.concatenate([b.v for b in soft])
        needed = max(needed, h * edge_rotation_rate(v, distances) / ROTATED)
        if tension is not None:
            mass = np.concatenate([b.inverse_mass for b in soft])
            swing = transverse_frequency(tension, distances, mass)
            needed = max(needed, h * swing / SWING_PER_SUBSTEP)
    return needed


def by_load(last: int, stretch: float) -> float:
    """From `last`, with which a taut sheet was left with that stretch, over what is allowed.

    What a solve leaves of a load falls with the square of its time.
    """
    return last * (MORE if stretch > LOADED else LESS if stretch < SLACK else 1.0)
