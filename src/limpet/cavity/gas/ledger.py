"""The air mass balance: the air of each cavity, and where all air came from and went."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from limpet.cavity.gas.atmosphere import Gas
from limpet.cavity.gas.cavity_flow import CavityFlow
from limpet.cavity.gas.limit import Seal
from limpet.cavity.gas.network import NetworkState
from limpet.cavity.mesh import CavityMesh
from limpet.report import NOWHERE, Place

Array = np.ndarray


@dataclass(frozen=True)
class Cavity:
    """One cavity: its mesh and its air, and what the current step needs to know of it."""

    id: int
    mesh: CavityMesh
    gas: Gas  # its n [mol], and how it answers a change of volume
    pressure: float  # P [Pa] absolute, of the last step
    stored: float = 0.0  # [mol] in the chamber above it (AirExchange.chamber)
    volume: float = 0.0  # V [m^3] at x
    gradient: Array = field(default_factory=lambda: np.zeros((0, 3)))  # H_p at mesh.support [m^2]
    leaked: float = 0.0  # [mol] in this step
    seal: Seal = field(default_factory=lambda: Seal(0.0, 0.0, 0.0))
    p_max: float = np.inf  # [Pa] in this step
    bottleneck: Place = NOWHERE  # [m] see CavityReport
    missing: int = 0  # detections in a row that did not find it
    parts: int = 1  # into which contact cut it when it was last meshed, by its vertex graph
    flow: CavityFlow | None = None  # in this step, if it is on a line or its ring leaks

    @property
    def air(self) -> float:
        """n [mol]"""
        return self.gas.amount

    @property
    def imposed(self) -> float | None:
        """P [Pa] that a regulator holds in this step; None: its pressure follows from its air."""
        return None if self.flow is None else self.flow.to_line.target


@dataclass(frozen=True)
class AirLedger:
    """All trapped air, and where it came from and went since the start [mol]."""

    cavities: tuple[Cavity, ...] = ()
    next_id: int = 0
    created: float = 0.0
    leaked: float = 0.0
    vented: float = 0.0
    released: float = 0.0
    taken: float = 0.0  # by pumps, regulators and vents
    lines: NetworkState | None = None  # None: there are no vacuum lines
    pattern: Array = field(default_factory=lambda: np.zeros(0, np.int8))  # see contact_pattern
    load: Array = field(default_factory=lambda: np.zeros(0))  # (N,) [N] normal, of the last step

    @property
    def air_of_lines(self) -> float:
        """[mol] in the vacuum lines."""
        return 0.0 if self.lines is None else float(self.lines.air.sum())

    @property
    def error(self) -> float:
        """Relative error of the air mass balance, over all air that was ever trapped."""
        held = sum(c.air + c.stored for c in self.cavities) + self.air_of_lines
        came = self.created + self.leaked
        scale = self.created + abs(self.leaked)
        left = self.vented + self.released + self.taken
        return abs(held - (came - left)) / scale if scale > 0.0 else 0.0
