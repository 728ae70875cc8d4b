"""How long the next step is: up to `stride` times h where nothing happens.

Backward Euler ends a step of length s at x + s v', the trapezoidal rule at x + s (v + v') / 2. The
difference, s |v' - v| / 2 at the point where it is largest, estimates the error of a step. A longer
step is made again with half its length if the error is too large, if it does not converge as a
whole, or if a cavity appears or ends in it: seals close and open within h.
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray

SHARE = 0.2  # of the sealing distance: the error that the length of steps is chosen for
ACCEPTED = 2.0  # times that a step may have
FASTEST = 2.0  # by which steps get longer


def step_error(v: Array, after: Array, length: float) -> float:
    """[m] of a step of a length [s] from velocities (n, 3) to those after it."""
    d = after - v
    return 0.5 * length * float(np.sqrt(np.einsum("ij,ij->i", d, d).max(initial=0.0)))


def next_stride(made: int, error: float, tolerance: float, most: int) -> int:
    """How many h the step after one of `made` h and an error [m] should have."""
    grown = made * min(FASTEST, np.sqrt(tolerance / max(error, 1e-300)))
    return max(1, min(most, int(grown)))
