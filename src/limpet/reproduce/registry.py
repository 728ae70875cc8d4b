"""The tables and figures of the papers by name; each module is imported only when it is run."""

from __future__ import annotations

from limpet.record.table import Study

STUDIES: dict[str, Study] = {
    "robustness": Study(
        "limpet.reproduce.robustness", "the peak force is a property of the cup, not of the solver"
    ),
    "curved": Study(
        "limpet.reproduce.curved", "how curved a block the cup still lifts (P figure 10)"
    ),
    "table3": Study(
        "limpet.reproduce.table3", "pull-off force on cylinders, beside P table 3 (long)"
    ),
    "bunny": Study(
        "limpet.reproduce.bunny", "volume and tail of a swinging bunny (M figures 5, 6)"
    ),
    "spine": Study("limpet.reproduce.spine", "a spine hung by its ends locks or sags (M figure 8)"),
    "locking": Study(
        "limpet.reproduce.locking",
        "which element to trust: a beam and a cup (M figures 7, 9)",
    ),
}
