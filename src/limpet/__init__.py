"""Limpet simulates suction: soft cups that trap air, seal, hold, slide, leak and let go.

    import limpet as lp

Names are loaded when first used, so that the command line answers at once.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from limpet import particles as particles
    from limpet import shapes as shapes
    from limpet.cavity.gas.atmosphere import Atmosphere
    from limpet.cavity.gas.exchange import AirExchange
    from limpet.cavity.gas.limit import ConstantLimit, ElasticEnergy, TractionPath
    from limpet.cavity.gas.line_elements import (
        CheckValve,
        FlowCheck,
        Hose,
        Orifice,
        Reservoir,
        Restriction,
    )
    from limpet.cavity.gas.vacuum_line import Ejector, Pump, Regulator, Valve
    from limpet.cavity.seal.boundary import SealBoundary
    from limpet.cavity.seal.leaky import LeakySeal
    from limpet.dynamics import motion
    from limpet.dynamics.relinearisation import Relinearisation
    from limpet.engine.simulation import Simulation, State
    from limpet.errors import LimpetError
    from limpet.fem.material import Fem, Material
    from limpet.fem.rubbers import Rubber, fit_rubber, rubber, young_of_shore
    from limpet.geometry.hausdorff import hausdorff
    from limpet.model.settings import Settings
    from limpet.model.world import World
    from limpet.pressure_field import catalogue as fields
    from limpet.record.any_world import run
    from limpet.shapes import catalogue as cups
    from limpet.solver.gauss_seidel import GaussSeidelSettings
    from limpet.solver.newton import NewtonSettings
    from limpet.viewer.any_world import view

_NAMES = {
    "Atmosphere": "limpet.cavity.gas.atmosphere",
    "AirExchange": "limpet.cavity.gas.exchange",
    "CheckValve": "limpet.cavity.gas.line_elements",
    "ConstantLimit": "limpet.cavity.gas.limit",
    "Ejector": "limpet.cavity.gas.vacuum_line",
    "ElasticEnergy": "limpet.cavity.gas.limit",
    "LeakySeal": "limpet.cavity.seal.leaky",
    "LimpetError": "limpet.errors",
    "Fem": "limpet.fem.material",
    "FlowCheck": "limpet.cavity.gas.line_elements",
    "Hose": "limpet.cavity.gas.line_elements",
    "Material": "limpet.fem.material",
    "NewtonSettings": "limpet.solver.newton",
    "Orifice": "limpet.cavity.gas.line_elements",
    "Pump": "limpet.cavity.gas.vacuum_line",
    "Regulator": "limpet.cavity.gas.vacuum_line",
    "Reservoir": "limpet.cavity.gas.line_elements",
    "Restriction": "limpet.cavity.gas.line_elements",
    "SealBoundary": "limpet.cavity.seal.boundary",
    "Relinearisation": "limpet.dynamics.relinearisation",
    "Rubber": "limpet.fem.rubbers",
    "Settings": "limpet.model.settings",
    "Simulation": "limpet.engine.simulation",
    "State": "limpet.engine.simulation",
    "GaussSeidelSettings": "limpet.solver.gauss_seidel",
    "TractionPath": "limpet.cavity.gas.limit",
    "Valve": "limpet.cavity.gas.vacuum_line",
    "World": "limpet.model.world",
    "fit_rubber": "limpet.fem.rubbers",
    "hausdorff": "limpet.geometry.hausdorff",
    "rubber": "limpet.fem.rubbers",
    "run": "limpet.record.any_world",
    "view": "limpet.viewer.any_world",
    "young_of_shore": "limpet.fem.rubbers",
}
_MODULES = {
    "cups": "limpet.shapes.catalogue",
    "fields": "limpet.pressure_field.catalogue",
    "motion": "limpet.dynamics.motion",
    "shapes": "limpet.shapes",
    "particles": "limpet.particles",
}

__all__ = [
    "AirExchange", "Atmosphere", "CheckValve", "ConstantLimit", "Ejector", "ElasticEnergy", "Fem",
    "FlowCheck", "GaussSeidelSettings", "Hose", "LeakySeal", "LimpetError", "Material",
    "NewtonSettings", "Orifice", "Pump", "Regulator", "Relinearisation", "Reservoir", "Restriction",
    "Rubber", "SealBoundary", "Settings", "Simulation", "State", "TractionPath", "Valve", "World",
    "cups", "fields", "fit_rubber", "hausdorff", "motion", "particles", "rubber", "run", "shapes",
    "view", "young_of_shore",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(_MODULES[name])
    if name in _NAMES:
        return getattr(importlib.import_module(_NAMES[name]), name)
    raise AttributeError(f"module 'limpet' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
