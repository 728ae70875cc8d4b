"""Time of a pressure-field query as the meshes get finer.

A query computes one contact surface: from two poses to polygons with area, centroid, pressure and
both gradients. `benchmarks/pressure_field/timing.py` times the same queries in turns with Drake.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from time import thread_time
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from limpet.pressure_field.fields import HalfSpace
from limpet.pressure_field.surface import Pose, contact_surface
from limpet.record.table import Cell, Progress, Result, Table, Ticker
from limpet.studies.bench.test_objects import (
    Box,
    Sphere,
    TestObject,
    build_field,
    rigid_mug,
    soft_mug,
)

ROUNDS = 21  # of all queries in turn
ROUND_TIME = 0.004  # [s] for which one query is repeated in a round
BOX = Box((0.1, 0.12, 0.08), 2e7)
AT_ORIGIN: Pose = (np.eye(3), np.zeros(3))


def pose(rotation: tuple[float, float, float], origin: tuple[float, float, float]) -> Pose:
    return Rotation.from_rotvec(rotation).as_matrix(), np.array(origin)


def _sphere_and_box(edge: float) -> tuple[TestObject, TestObject]:
    return Sphere(0.05, edge, 1e7), BOX


def _mug_and_box(vertices: int) -> tuple[TestObject, TestObject]:
    return soft_mug(vertices, 1e6), BOX


def _rigid_mug_and_box(vertices: int) -> tuple[TestObject, TestObject]:
    return rigid_mug(vertices), BOX


def _two_mugs() -> tuple[TestObject, TestObject]:
    return soft_mug(600, 1e6), soft_mug(600, 2e6)


@dataclass(frozen=True)
class QueryRow:
    name: str
    fineness: str
    build: Callable[[], tuple[TestObject, TestObject]]
    pose: Pose  # of the first; the second stands at the origin


ON_TOP = pose((0.3, 0.2, 0.1), (0.003, 0.004, 0.085))
TILTED = pose((0.1, 0.2, 0.3), (0.02, 0.01, 0.036))
THROUGH = pose((0.4, 0.8, 0.3), (0.04, 0.03, 0.04))
SPHERE_EDGES = (0.02, 0.01, 0.005, 0.0025, 0.00125)  # [m]
MUG_VERTICES = (600, 1500, 4000)
ROWS = (
    *(
        QueryRow("sphere-box", f"edge {1e3 * e:g} mm", partial(_sphere_and_box, e), ON_TOP)
        for e in SPHERE_EDGES
    ),
    *(
        QueryRow("mug-box", f"{n} vertices", partial(_mug_and_box, n), TILTED)
        for n in (*MUG_VERTICES, 12000)
    ),
    *(
        QueryRow("rigid mug-box", f"{n} vertices", partial(_rigid_mug_and_box, n), TILTED)
        for n in MUG_VERTICES
    ),
    QueryRow("mug-mug", "600 vertices", _two_mugs, THROUGH),
)

COLUMNS = ("pair", "mesh of the first", "its cells", "polygons", "Limpet [ms]")


def run(progress: Progress) -> Result:
    """Time every pair."""
    tick = Ticker(progress, len(ROWS), "pressure-field")
    rows: list[tuple[Cell, ...]] = []
    for row in ROWS:
        a, b = map(build_field, row.build())
        surface = contact_surface(a, row.pose, b, AT_ORIGIN)
        (ms,) = least_times([lambda: contact_surface(a, row.pose, b, AT_ORIGIN)])  # noqa: B023
        count = 0 if isinstance(a, HalfSpace) else len(a.cells)
        rows.append((row.name, row.fineness, count, len(surface), ms))
        tick()
    title = "pressure-field: time of a query"
    return Result((Table(title, COLUMNS, tuple(rows), notes(rows)),))


def least_times(queries: Sequence[Callable[[], object]]) -> list[float]:
    """[ms] The least thread time of each query over the rounds; the queries take turns."""
    repeats = []
    for query in queries:
        query()
        begin = thread_time()
        query()
        repeats.append(max(1, int(ROUND_TIME / max(thread_time() - begin, 1e-6))))
    least = [np.inf] * len(queries)
    for _ in range(ROUNDS):
        for k, query in enumerate(queries):
            begin = thread_time()
            for _ in range(repeats[k]):
                query()
            least[k] = min(least[k], 1e3 * (thread_time() - begin) / repeats[k])
    return least


def notes(rows: Sequence[tuple[Any, ...]]) -> tuple[str, ...]:
    """How the times were taken, and the power of the polygon count with which they grow."""
    times: dict[str, list[tuple[float, float]]] = {}
    for name, _, _, polygons, ms, *_ in rows:
        times.setdefault(name, []).append((polygons, ms))
    exponents = [f"{_exponent(t):.2f} ({name})" for name, t in times.items() if len(t) > 1]
    return (
        f"least thread time over {ROUNDS} rounds, one thread",
        f"exponent p of time ~ polygons^p: {', '.join(exponents)}",
    )


def _exponent(points: list[tuple[float, float]]) -> float:
    """The slope of log(time) over log(polygons)."""
    polygons, ms = np.log(np.array(points, dtype=float)).T
    return float(np.polyfit(polygons, ms, 1)[0])
