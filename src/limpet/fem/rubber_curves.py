"""Tests of rubber on paper: the nominal stress of a law that keeps its volume, and what it tells.

Three tests pull a specimen of principal stretches l, and t by t or t by 1 across it:

    uniaxial     l, 1/sqrt(l), 1/sqrt(l)     P = 2 (l - l^-2) (W' + c01/l)
    equibiaxial  l, l, 1/l^2                 P = 2 (l - l^-5) (W' + c01 l^2)
    planar       l, 1, 1/l                   P = 2 (l - l^-3) (W' + c01)

with W' = c10 + 2 c20 (I1 - 3) + 3 c30 (I1 - 3)^2. P, force by the area at rest, is linear in the
constants, so that linear least squares find them from a measured curve (`fit_rubber`).
"""

from __future__ import annotations

import warnings

import numpy as np

from limpet.errors import LimpetError, suggest

Array = np.ndarray
Constants = tuple[float, float, float, float]  # c10, c01, c20, c30 [Pa]

NAMES = ("c10", "c01", "c20", "c30")
# How far the stress should rise in each test. Pressing to 0.3 is the same as equibiaxial 1.83.
RANGES = {"uniaxial": (0.3, 4.0), "equibiaxial": (0.5, 2.0), "planar": (0.3, 4.0)}
NEEDED = (0.8, 1.25)  # where it must rise


class UnstableRubberWarning(UserWarning):
    """The stress of a rubber falls where it is stretched further."""


def basis(stretch: Array, test: str = "uniaxial") -> Array:
    """(n, 4) nominal stress by each of c10, c01, c20, c30 at the stretches (n,)."""
    l = np.asarray(stretch, float)
    if test == "uniaxial":
        i1, pull, second = l**2 + 2.0 / l, l - l**-2, 1.0 / l
    elif test == "equibiaxial":
        i1, pull, second = 2.0 * l**2 + l**-4, l - l**-5, l**2
    elif test == "planar":
        i1, pull, second = l**2 + 1.0 + l**-2, l - l**-3, np.ones_like(l)
    else:
        raise LimpetError(f"test = '{test}'{suggest(test, RANGES)}")
    d = i1 - 3.0
    return 2.0 * pull[:, None] * np.stack([np.ones_like(l), second, 2.0 * d, 3.0 * d**2], axis=1)


def nominal_stress(stretch: Array, constants: Constants, test: str = "uniaxial") -> Array:
    """(n,) [Pa] force by area at rest of an incompressible specimen at the stretches (n,)."""
    return basis(np.asarray(stretch, float), test) @ np.array(constants)


def stable_range(constants: Constants, test: str) -> tuple[float, float]:
    """The stretches, out of RANGES, between which the nominal stress rises."""
    low, high = RANGES[test]
    stretch = np.geomspace(low, high, 401)
    rises = np.diff(nominal_stress(stretch, constants, test)) > 0.0
    middle = 0.5 * (stretch[1:] + stretch[:-1])
    falls = middle[~rises]
    below, above = falls[falls < 1.0], falls[falls >= 1.0]
    return float(below.max(initial=low)), float(above.min(initial=high))


def check_stable(constants: Constants) -> None:
    """Refuse constants whose stress falls near rest; warn of those where it falls further off."""
    given = ", ".join(f"{n} = {c:.4g}" for n, c in zip(NAMES, constants) if c != 0.0)
    found = {test: stable_range(constants, test) for test in RANGES}
    for test, (least, most) in found.items():
        if least > NEEDED[0] or most < NEEDED[1]:
            raise LimpetError(
                f"rubber constants {given} Pa: the stress falls at {test} stretch "
                f"{least if least > NEEDED[0] else most:.2f}; expected constants with which it "
                f"rises, at least from {NEEDED[0]:g} to {NEEDED[1]:g}"
            )
    falls = [f"{t} stretches below {a:.2f}" for t, (a, _) in found.items() if a > RANGES[t][0]]
    falls += [f"{t} stretches above {b:.2f}" for t, (_, b) in found.items() if b < RANGES[t][1]]
    if falls:
        warnings.warn(
            f"rubber constants {given} Pa: the stress falls at {', '.join(falls)}, where a body "
            "gives way; fit them to a wider range",
            UnstableRubberWarning,
            stacklevel=5,
        )
