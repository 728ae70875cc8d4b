"""What a soft body is made of, and how it is discretised."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from limpet.errors import LimpetError, require_positive, suggest
from limpet.fem.elements.corotational import ROTATIONS
from limpet.fem.rubber_curves import Constants, check_stable

RUBBER_LAWS = ("neo-hookean", "mooney-rivlin")
LAWS = ("corotational", *RUBBER_LAWS, "linear")
SOFTEST = 100.0  # [Pa] shear modulus; below it constants are likely to be in MPa


@dataclass(frozen=True)
class Material:
    """Isotropic elastic material with Rayleigh damping.

    `law`: "corotational" (linear in the rotated frame; the default), "neo-hookean" (rubber that is
    stretched far), "mooney-rivlin" (rubber that stiffens: made by `mooney_rivlin` or `yeoh`), or
    "linear" (small turns only: volume grows when it swings).
    """

    young: float  # [Pa] Young's modulus E
    poisson: float  # Poisson's ratio, above -1 and at most 0.5
    mass_damping: float = 0.0  # a [1/s]
    stiffness_damping: float = 2e-3  # b [s]
    law: str = "corotational"  # or "neo-hookean", "mooney-rivlin", "linear"
    c01: float = 0.0  # [Pa] constants of "mooney-rivlin"; c10 = young/(4 (1 + poisson)) - c01
    c20: float = 0.0  # [Pa]
    c30: float = 0.0  # [Pa]

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
        self._check_constants()

    def _check_constants(self) -> None:
        given = [n for n in ("c01", "c20", "c30") if getattr(self, n) != 0.0]
        for n in given:
            if not np.isfinite(getattr(self, n)):
                raise LimpetError(f"material {n} = {getattr(self, n):g} Pa: expected a number")
        if self.law != "mooney-rivlin":
            if given:
                raise LimpetError(
                    f"material {given[0]} = {getattr(self, given[0]):g} Pa: law '{self.law}' has "
                    "no such constant; use law = 'mooney-rivlin'"
                )
            return
        if not given:
            raise LimpetError(
                "material law = 'mooney-rivlin': expected c01, c20 or c30 [Pa] (c10 follows from "
                "young), or Material.mooney_rivlin or .yeoh; with none of them use 'neo-hookean'"
            )
        check_stable(self._four())

    def _four(self) -> Constants:
        return 0.25 * self.young / (1.0 + self.poisson) - self.c01, self.c01, self.c20, self.c30

    @property
    def constants(self) -> Constants | None:
        """(c10, c01, c20, c30) [Pa] of the law "mooney-rivlin", else None."""
        return self._four() if self.law == "mooney-rivlin" else None

    @classmethod
    def mooney_rivlin(
        cls, c10: float, c01: float, c20: float = 0.0, c30: float = 0.0, *, poisson: float = 0.49,
        mass_damping: float = 0.0, stiffness_damping: float = 2e-3,
    ) -> Material:  # fmt: skip
        """Rubber by the constants [Pa] of its data sheet: Young's modulus follows from them.

        psi = c10 (I1 - 3) + c01 (I2 - 3) + c20 (I1 - 3)^2 + c30 (I1 - 3)^3 for stretches that keep
        the volume; E = 4 (1 + nu) (c10 + c01), about 6 (c10 + c01).
        """
        half = c10 + c01
        if not SOFTEST <= 2.0 * half < np.inf:
            raise LimpetError(
                f"c10 + c01 = {half:g} Pa: expected {0.5 * SOFTEST:g} or more, half the shear "
                "modulus (0.5 MPa is 5e5)"
            )
        return cls(
            4.0 * (1.0 + poisson) * half, poisson, mass_damping, stiffness_damping,
            "mooney-rivlin", c01, c20, c30,
        )  # fmt: skip

    @classmethod
    def yeoh(
        cls, c10: float, c20: float, c30: float, *, poisson: float = 0.49,
        mass_damping: float = 0.0, stiffness_damping: float = 2e-3,
    ) -> Material:  # fmt: skip
        """Rubber by the three constants [Pa] of Yeoh: `mooney_rivlin` with c01 = 0."""
        return cls.mooney_rivlin(
            c10, 0.0, c20, c30, poisson=poisson, mass_damping=mass_damping,
            stiffness_damping=stiffness_damping,
        )  # fmt: skip


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
