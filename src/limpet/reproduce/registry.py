"""The tables and figures of the papers by name; each module is imported only when it is run."""

from __future__ import annotations

from limpet.record.table import Study

STUDIES: dict[str, Study] = {
    "robustness": Study(
        "limpet.reproduce.robustness", "the peak force is a property of the cup, not of the solver"
    ),
}
