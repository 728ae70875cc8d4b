"""Shared by the hanging bodies of Frâncu et al. 2019 (M): silicone, element, volume."""

from __future__ import annotations

from pydantic import Field

from limpet.fem.material import Fem, Material
from limpet.geometry.cells import mesh_of
from limpet.geometry.shape import SoftShape
from limpet.geometry.surface import volume
from limpet.scenes.registry import SceneParameters
from limpet.units import Density, Positive, Pressure, Time


class SolidParameters(SceneParameters):
    """Material and element of the hanging bodies of M."""

    h: Time = 0.016
    young: Positive[Pressure] = Field(262e3, description="Young's modulus")
    poisson: float = Field(0.49, gt=-1.0, le=0.5, description="Poisson's ratio")
    density: Positive[Density] = Field(1100.0, description="density")
    damping: Time = Field(2e-3, ge=0.0, description="stiffness damping b of Rayleigh's a M + b K")
    law: str = Field(
        "corotational", description="corotational, neo-hookean, mooney-rivlin or linear"
    )
    c01: Pressure = Field(0.0, description="constant of mooney-rivlin; c10 follows from young")
    c20: Pressure = Field(0.0, description="constant of mooney-rivlin")
    c30: Pressure = Field(0.0, description="constant of mooney-rivlin")
    element: str | None = Field(None, description="element; chosen by the material if not given")
    stabilisation: float = Field(
        1.0, ge=0.0, description="pressure stabilisation of iicr11; 0: as in M"
    )

    def fem(self) -> Fem:
        return Fem(element=self.element, stabilisation=self.stabilisation)

    def material(self) -> Material:
        return Material(
            self.young, self.poisson, stiffness_damping=self.damping, law=self.law, c01=self.c01,
            c20=self.c20, c30=self.c30,
        )  # fmt: skip


def order_of(element: str | None) -> int:
    """1 for linear tetrahedra, 2 for quadratic ones, the default."""
    return 1 if mesh_of(element, "tet10", "scene") == "tet4" else 2


def solid_volume(shape: SoftShape) -> float:
    """[m^3] within the skin of a straight-sided mesh."""
    skin = shape.visual
    return volume(skin.positions(shape.points), skin.triangles)
