"""P_max, what a seal holds before air blows out under the lip, in P 3.6's three ways."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from limpet.errors import LimpetError, require_positive


@dataclass(frozen=True)
class Seal:
    """What is known of a cavity's seal at the start of a step."""

    gap: float  # [m] the largest over leak paths of the smallest gap
    traction: float  # [Pa] the least over leak paths of the largest contact traction
    total: float  # [Pa] the least over leak paths of the sum of the vertices' tractions
    energy: float = 0.0  # [J/m^3] elastic energy of the soft bodies round the cavity by volume
    force: float = 0.0  # F [N] with which the contact ring is pressed on
    area: float = 0.0  # A [m^2] on which the cavity's pressure pushes against that force
    overpressure: float = 0.0  # p = P - P_atm [Pa] in the cavity while the ring bore that
    conductance: float = 0.0  # G [mol/(s Pa)] of the gap round the cavity (RingGap.conductance)
    closed: bool = True  # whether the ring touches all round, but for what its mesh cannot follow


class Limit(Protocol):
    """A rule for P_max - P_atm [Pa]."""

    def overpressure_of(self, seal: Seal) -> float: ...


@dataclass(frozen=True)
class ConstantLimit:
    """The same for every cavity, at all times: P's choice."""

    overpressure: float = 0.0  # [Pa]

    def __post_init__(self) -> None:
        if not 0.0 <= self.overpressure < float("inf"):
            raise LimpetError(f"overpressure = {self.overpressure:g} Pa: expected 0 or more")

    def overpressure_of(self, seal: Seal) -> float:
        return self.overpressure


@dataclass(frozen=True)
class TractionPath:
    """What the contact bears along the leak path where it bears least.

    Air lifts a lip where it pushes harder than the lip does: the limit is the largest traction on
    the path, and the path is the one where that is least. P adds the tractions of the vertices on
    the path (`total=True`); their number, and so the limit, grows as the mesh is refined.

    Known is the traction c of the last step, at the pressure p it had. More pressure takes load off
    the ring, p' A + F' = p A + F, and tractions fall as the load does, c' = c F'/F. The limit is
    where p' = c'. To take p' = c makes air blow out in every other step.
    """

    total: bool = False  # add the tractions on the path, as P does

    def overpressure_of(self, seal: Seal) -> float:
        c = seal.total if self.total else seal.traction
        if c <= 0.0 or c == float("inf"):
            return max(c, 0.0)
        clamped = seal.force + seal.overpressure * seal.area
        return max(c * clamped / (seal.force + c * seal.area), 0.0)


@dataclass(frozen=True)
class ElasticEnergy:
    """A share of the elastic energy density of the soft bodies round the cavity."""

    share: float = 1.0  # of the energy density, above 0

    def __post_init__(self) -> None:
        require_positive("share of the elastic energy", self.share)

    def overpressure_of(self, seal: Seal) -> float:
        return self.share * seal.energy
