"""What a soft body is made of, and how it is discretised."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from limpet.errors import LimpetError, require_positive, suggest
from limpet.fem.elements.corotational import ROTATIONS

LAWS = ("corotational", "neo-hookean", "linear")


@dataclass(frozen=True)
class Material:
    """Isotropic elastic material with Rayleigh damping.

    `law`: "corotational" (linear in the rotated frame; the default), "neo-hookean" (rubber that is
    stretched far), or "linear" (small turns only: volume grows when it swings).
    """

    young: float  # [Pa] Young's modulus E
    poisson: float  # Poisson's ratio, above -1 and at most 0.5
    mass_damping: float = 0.0  # a [1/s]
    stiffness_damping: float = 2e-3  # b [s]
    law: str = "corotational"  # or "neo-hookean", "linear"

    def __post_init__(self) -> None:
        require_positive("material young", self.young, " Pa", "4e6 is a soft silicone")
        if not (-1.0 < self.poisson <= 0.5):
            raise LimpetError(
                f"material poisson = {self.poisson:g}: expected above -1 and at most 0.5 "
                "(0.45 to 0.499 for rubber; 0.5 needs element iicr11 or iicr21)"
            )
        for label in ("mass_damping", "stiffness_damping"):
            if not (0.0 <= getattr(self, label) < np.inf):
                raise LimpetError(
                    f"material {label} = {getattr(self, label):g}: expected 0 or more"
                )
        _one_of("material law", self.law, LAWS)


@dataclass(frozen=True)
class Fem:
    """How a soft body is turned into equations. The defaults are right for nearly all.

    `element` None: chosen by mesh and material. `rotation`: "polar", or "gram-schmidt" (M). `mass`:
    "lumped", or "consistent" (M eq 17). `deviatoric`: "implicit", or "explicit" (M 3.4), for mixed
    elements: cheaper and only stable at small time steps, without stiffness damping in shear.
    `stabilisation` of iicr11's pressures; 0 is M's own form, which stiffens towards nu = 0.5.
    `reuse`: the matrix of a step is kept until some cell has turned or stretched by more than this
    since it was made; 0 makes it anew in every step. Forces are always those of the moment.
    """

    element: str | None = None  # tet4, tet10, hex8, hex20, hex20r, hex20p, iicr10, iicr11, iicr21
    rotation: str = "polar"  # or "gram-schmidt"
    mass: str = "lumped"  # or "consistent"
    deviatoric: str = "implicit"  # or "explicit"
    stabilisation: float = 1.0  # share of Dohrmann and Bochev's
    reuse: float = 0.008  # change of the deformation gradient, at most

    def __post_init__(self) -> None:
        _one_of("rotation", self.rotation, [r for r in ROTATIONS if r != "none"])
        _one_of("mass", self.mass, ("lumped", "consistent"))
        _one_of("deviatoric", self.deviatoric, ("implicit", "explicit"))
        if not 0.0 <= self.stabilisation < np.inf:
            raise LimpetError(f"stabilisation = {self.stabilisation:g}: expected 0 or more")
        if not 0.0 <= self.reuse <= 0.1:
            raise LimpetError(f"reuse = {self.reuse:g}: expected 0 to 0.1 (0.1: 6 degrees)")


def _one_of(label: str, value: str, known: object) -> None:
    if value not in known:  # type: ignore[operator]
        raise LimpetError(f"{label} = '{value}'{suggest(value, known)}")  # type: ignore[arg-type]
