"""The runs of the outcome table: scenes of Bernardin et al. 2023 (P), with what P shows of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from limpet.errors import LimpetError, suggest

LIFTED = 1e-3  # [m] what has risen by more is in the air
FINER = {"nodes": 816}  # of the cup: the second mesh of P figure 9


@dataclass(frozen=True)
class OutcomeCase:
    """A scene with parameters, the finer mesh, and the outcome in P."""

    name: str
    scene: str
    expected: str  # "holds", "lets go" or "never holds"
    parameters: Mapping[str, object] = field(default_factory=dict)
    fine: Mapping[str, object] = field(default_factory=lambda: FINER)
    lifted: str = ""  # column [m] that must have risen at the end if the cup holds
    jump: str = ""  # column [m] whose greatest rise is the jump
    # columns [m] and the range in which they must be at the end
    place: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    # Why the outcome may differ between steps and meshes, with the margin; empty: it may not.
    edge: str = ""

    def overrides(self, mesh: str, h: float) -> dict[str, object]:
        """The parameters of one run."""
        return {**self.parameters, **(self.fine if mesh == "fine" else {}), "h": h}


def _curved(surface: str, radius: str, expected: str) -> OutcomeCase:
    return OutcomeCase(
        f"curved {surface} {radius}", "curved", expected,
        {"surface": surface, "radius": radius}, {"sectors": 28, "segments": 5}, lifted="block_z",
    )  # fmt: skip


def _masses(mass: str, cups: int, expected: str) -> OutcomeCase:
    words = "one cup" if cups == 1 else "two cups"
    return OutcomeCase(
        f"masses {mass} {words}", "masses", expected, {"block_mass": mass, "cups": cups},
        lifted="cube_z",
    )  # fmt: skip


CASES = (
    OutcomeCase("ground", "ground", "lets go"),
    OutcomeCase(
        "soft-cube", "soft-cube", "holds", fine={**FINER, "divisions": 6}, lifted="cube_bottom_z"
    ),
    OutcomeCase("bunny", "bunny", "holds", fine={**FINER, "vertices": 600}, lifted="bunny_z"),
    OutcomeCase("toy", "toy", "lets go", fine={**FINER, "per_turn": 12}, jump="base_z"),
    OutcomeCase(
        "pick-and-place", "pick-and-place", "lets go", fine={**FINER, "facet": "2.5 mm"},
        place={"apple_x": (0.0, 0.13), "apple_y": (0.11, 0.24), "apple_z": (0.0, 0.05)},
    ),
    OutcomeCase("tentacle", "tentacle", "holds", fine={"rim_vertices": 5}, lifted="can_z"),
    OutcomeCase(
        "cube-halves", "cube-halves", "holds", fine={"sectors": 16, "divisions": (6, 6, 3)},
        lifted="lower_z",
    ),
    _curved("convex", "80 mm", "holds"),
    _curved("concave", "80 mm", "holds"),
    _curved("convex", "15 mm", "never holds"),
    _curved("concave", "30 mm", "never holds"),
    *(
        OutcomeCase(
            f"shapes {shape}", "shapes", "holds", {"shape": shape}, {"nodes": 1000}, lifted="cube_z"
        )
        for shape in ("plunger", "octopus", "shop")
    ),
    *(
        OutcomeCase(f"air-tunnel {setup}", "air-tunnel", outcome, {"setup": setup}, lifted="cube_z")
        for setup, outcome in (("one", "never holds"), ("both", "holds"), ("two", "holds"))
    ),
    _masses("1.25 kg", 1, "holds"),
    _masses("2.5 kg", 1, "holds"),
    _masses("5 kg", 1, "lets go"),
    _masses("5 kg", 2, "holds"),
    OutcomeCase("low-friction", "low-friction", "lets go"),
)  # fmt: skip


def chosen_cases(names: tuple[str, ...]) -> tuple[OutcomeCase, ...]:
    """The cases of these names or scenes; all if there are none."""
    known = {*(c.name for c in CASES), *(c.scene for c in CASES)}
    for name in names:
        if name not in known:
            raise LimpetError(f"scenes = '{name}': not in the outcome table{suggest(name, known)}")
    return tuple(c for c in CASES if not names or c.name in names or c.scene in names)
