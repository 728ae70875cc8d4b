"""Limpet simulates suction: soft cups that trap air, seal, hold, slide, leak and let go.

    import limpet as lp

Names are loaded when first used, so that the command line answers at once.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from limpet import swept
    from limpet.bodies import motion
    from limpet.bodies.material import Fem, Material
    from limpet.cavity.breath import Breath
    from limpet.cavity.gas import Atmosphere
    from limpet.cavity.limit import ConstantLimit, ElasticEnergy, TractionPath
    from limpet.cavity.line import Line, Pump, Regulator, Valve
    from limpet.cavity.ring import Ring
    from limpet.errors import LimpetError
    from limpet.geometry import catalogue as shapes
    from limpet.geometry.hausdorff import hausdorff
    from limpet.pressure_field import catalogue as fields
    from limpet.settings import Settings
    from limpet.simulation import Simulation, State
    from limpet.solver.gauss_seidel import SweepSettings
    from limpet.solver.newton import NewtonSettings
    from limpet.world import World

_NAMES = {
    "Atmosphere": "limpet.cavity.gas",
    "Breath": "limpet.cavity.breath",
    "ConstantLimit": "limpet.cavity.limit",
    "ElasticEnergy": "limpet.cavity.limit",
    "LimpetError": "limpet.errors",
    "Fem": "limpet.bodies.material",
    "Line": "limpet.cavity.line",
    "Material": "limpet.bodies.material",
    "NewtonSettings": "limpet.solver.newton",
    "Pump": "limpet.cavity.line",
    "Regulator": "limpet.cavity.line",
    "Ring": "limpet.cavity.ring",
    "Settings": "limpet.settings",
    "Simulation": "limpet.simulation",
    "State": "limpet.simulation",
    "SweepSettings": "limpet.solver.gauss_seidel",
    "TractionPath": "limpet.cavity.limit",
    "Valve": "limpet.cavity.line",
    "World": "limpet.world",
    "hausdorff": "limpet.geometry.hausdorff",
}
_MODULES = {
    "fields": "limpet.pressure_field.catalogue",
    "motion": "limpet.bodies.motion",
    "shapes": "limpet.geometry.catalogue",
    "swept": "limpet.swept",
}

__all__ = [
    "Atmosphere",
    "Breath",
    "ConstantLimit",
    "ElasticEnergy",
    "Fem",
    "LimpetError",
    "Line",
    "Material",
    "NewtonSettings",
    "Pump",
    "Regulator",
    "Ring",
    "Settings",
    "Simulation",
    "State",
    "SweepSettings",
    "TractionPath",
    "Valve",
    "World",
    "fields",
    "hausdorff",
    "motion",
    "shapes",
    "swept",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(_MODULES[name])
    if name in _NAMES:
        return getattr(importlib.import_module(_NAMES[name]), name)
    raise AttributeError(f"module 'limpet' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
