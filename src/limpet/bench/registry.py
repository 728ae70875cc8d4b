"""The benchmarks by name; each module is imported only when it is run."""

from __future__ import annotations

from limpet.record.table import Study

BENCHMARKS: dict[str, Study] = {
    "ground": Study("limpet.bench.ground", "time by phase of the ground scene, beside P table 1"),
    "rows": Study("limpet.bench.rows", "time by phase as the contact rows grow, beside P table 2"),
    "table-m": Study("limpet.bench.table_m", "time of mixed and other tets, beside M table 1"),
}
