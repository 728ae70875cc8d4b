"""How a ring that is nearly closed seals: binary, or leaky with three numbers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from limpet.errors import LimpetError, require_positive, suggest

MOST_REACH = 1e-2  # [m]


class SealModel(StrEnum):
    """What a ring that is nearly closed does."""

    BINARY = "binary"  # P: closed to air below the sealing distance, else there is no cavity
    LEAKY = "leaky"  # a cavity within reach; air flows through the gap round it


@dataclass(frozen=True)
class LeakySeal:
    """The leaky seal; `Settings(seal="leaky")` has these defaults.

    The gap that air passes is h = u_c + max(g - slack, 0), g being the distance of the surfaces and
    u_c the gap that roughness leaves in contact (`roughness.critical_gap`).
    """

    reach: float = 3e-4  # [m] a ring that is nearer encloses a cavity
    roughness: float = 0.0  # [m] rms of both surfaces together; 0: tight where they touch
    wavelength: float = 1e-3  # [m] the longest of the roughness
    slack: float | None = None  # [m] gap made by the mesh alone; None: from the ring's normals

    def __post_init__(self) -> None:
        if not 0.0 < self.reach <= MOST_REACH:
            raise LimpetError(
                f"seal reach = {self.reach:g} m: expected above 0 and at most {MOST_REACH:g} m, "
                "beyond which a cup has no inside; 3e-4 is the default"
            )
        require_positive("seal wavelength", self.wavelength, " m", "the longest of the roughness")
        for name in ("roughness", "slack"):
            value = getattr(self, name)
            if value is not None and not 0.0 <= value < self.reach:
                raise LimpetError(
                    f"seal {name} = {value:g} m: expected 0 or more, and less than the reach, "
                    f"{self.reach:g} m"
                )


def seal_model(value: object) -> LeakySeal | SealModel:
    """The leaky seal that a name or a record stands for, or SealModel.BINARY."""
    if isinstance(value, LeakySeal):
        return value
    if value not in list(SealModel):
        raise LimpetError(f"seal = '{value}'{suggest(str(value), list(SealModel))}")
    return LeakySeal() if value == SealModel.LEAKY else SealModel.BINARY
