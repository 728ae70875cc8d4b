"""The benchmarks by name; each module is imported only when it is run."""

from __future__ import annotations

from limpet.record.table import Study

BENCHMARKS: dict[str, Study] = {
    "ground": Study("limpet.bench.ground", "time by phase of the ground scene, beside P table 1"),
    "table1": Study("limpet.bench.table1", "time by phase of P's scenes, beside its table 1"),
    "table2": Study("limpet.bench.table2", "time as the collision mesh grows, beside P table 2"),
    "active": Study("limpet.bench.active", "time by phase in active suction, beside A III-D"),
    "view": Study("limpet.bench.view", "what a frame of the live page costs, by colour"),
    "pressure-field": Study(
        "limpet.bench.pressure_field", "time of a pressure-field query, in turn with Drake (F)"
    ),
    "constrained": Study(
        "limpet.bench.constrained", "time of jelly, cloth and many constraints, beside C 5"
    ),
    "table-m": Study("limpet.bench.table_m", "time of mixed and other tets, beside M table 1"),
}
