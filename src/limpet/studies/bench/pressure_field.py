"""Time of a pressure-field query as contacts get finer, in turn with Drake where that is there.

A query is one contact surface: from two poses to polygons with area, centroid, pressure and both
gradients. Both get the same meshes, fields and poses, one thread, and take turns. Whether they find
the same is judged; no time is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from time import thread_time
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from limpet.pressure_field.fields import FieldGeometry, HalfSpace
from limpet.pressure_field.surface import ContactSurface, Pose, contact_surface
from limpet.record.table import Cell, Progress, Result, Table, Ticker
from limpet.studies.bench import drake
from limpet.studies.bench.test_objects import Ball, Brick, Thing, own_body, rigid_mug, soft_mug

Array = np.ndarray

SAME = 1e-10  # of area and force, relative to Drake's
ROUNDS = 21  # in which the two take turns
SPELL = 0.004  # [s] of one of them at a stretch
BRICK = Brick((0.1, 0.12, 0.08), 2e7)
HERE: Pose = (np.eye(3), np.zeros(3))


def _pose(turn: tuple[float, float, float], place: tuple[float, float, float]) -> Pose:
    return Rotation.from_rotvec(turn).as_matrix(), np.array(place)


def _ball_and_brick(edge: float) -> tuple[Thing, Thing]:
    return Ball(0.05, edge, 1e7), BRICK


def _mug_and_brick(vertices: int) -> tuple[Thing, Thing]:
    return soft_mug(vertices, 1e6), BRICK


def _rigid_mug_and_brick(vertices: int) -> tuple[Thing, Thing]:
    return rigid_mug(vertices), BRICK


def _two_mugs() -> tuple[Thing, Thing]:
    return soft_mug(600, 1e6), soft_mug(600, 2e6)


@dataclass(frozen=True)
class QueryRow:
    name: str
    fineness: str
    build: Callable[[], tuple[Thing, Thing]]
    pose: Pose  # of the first; the second stands at the origin


ON_TOP = _pose((0.3, 0.2, 0.1), (0.003, 0.004, 0.085))
TILTED = _pose((0.1, 0.2, 0.3), (0.02, 0.01, 0.036))
THROUGH = _pose((0.4, 0.8, 0.3), (0.04, 0.03, 0.04))
BALL_EDGES = (0.02, 0.01, 0.005, 0.0025, 0.00125)  # [m]
MUG_VERTICES = (600, 1500, 4000)
ROWS = (
    *(
        QueryRow("sphere-box", f"edge {1e3 * e:g} mm", partial(_ball_and_brick, e), ON_TOP)
        for e in BALL_EDGES
    ),
    *(
        QueryRow("mug-box", f"{n} vertices", partial(_mug_and_brick, n), TILTED)
        for n in (*MUG_VERTICES, 12000)
    ),
    *(
        QueryRow("rigid mug-box", f"{n} vertices", partial(_rigid_mug_and_brick, n), TILTED)
        for n in MUG_VERTICES
    ),
    QueryRow("mug-mug", "600 vertices", _two_mugs, THROUGH),
)
# TARGETS.md: Drake 1.45 on a machine like ours, faces: ms
TARGETS = {
    "sphere-box": "71: 0.24, 151: 0.37, 422: 1.16, 1299: 4.1",
    "mug-box": "685: 2.7, 1917: 5.6, 7118: 51",
}


def run(progress: Progress) -> Result:
    """Time every pair."""
    peer = drake.available()
    tick = Ticker(progress, len(ROWS), "pressure-field")
    rows: list[tuple[Cell, ...]] = []
    for row in ROWS:
        one, two = row.build()
        pair = drake.DrakePair(one, two) if peer else None
        a, b = (pair.body(0), pair.body(1)) if pair else (own_body(one), own_body(two))
        ours, theirs = times(a, b, row.pose, pair)
        surface = contact_surface(a, row.pose, b, HERE)
        count = 0 if isinstance(a, HalfSpace) else len(a.cells)
        cells: tuple[Cell, ...] = (row.name, row.fineness, count, len(surface), ours)
        if pair:
            found = pair.contact(row.pose)
            same = agree(drake.as_drake(surface, a, b), *found)
            cells += (found[0], theirs, theirs / ours, same)
        rows.append(cells)
        tick()
    columns: tuple[str, ...] = ("pair", "mesh of the first", "its cells", "faces", "ours [ms]")
    if peer:
        columns += ("Drake's faces", "Drake [ms]", "times as fast", "same surface")
    return _result(columns, rows, peer)


def agree(surface: ContactSurface, faces: int, area: float, force: Array) -> bool:
    """Whether a surface, without what Drake leaves out, has Drake's faces, area and force."""
    own_area = np.linalg.norm(surface.area, axis=1).sum()
    off = np.linalg.norm(surface.pressure @ surface.area - force)
    return bool(
        len(surface) == faces
        and abs(own_area - area) <= SAME * area
        and off <= SAME * np.linalg.norm(force)
    )


def times(
    a: FieldGeometry, b: FieldGeometry, pose: Pose, pair: drake.DrakePair | None
) -> tuple[float, float]:
    """[ms] least time of a query over the rounds, of ours and of Drake's (nan without it)."""
    queries: list[Callable[[], Any]] = [lambda: contact_surface(a, pose, b, HERE)]
    if pair is not None:
        ready = pair.place(pose)
        queries.append(lambda: ready.ComputeContactSurfaces(pair.polygons))
    often, least = [], [np.inf, np.nan]
    for query in queries:
        query()
        begin = thread_time()
        query()
        often.append(max(1, int(SPELL / max(thread_time() - begin, 1e-6))))
    for _ in range(ROUNDS):
        for k, query in enumerate(queries):
            begin = thread_time()
            for _ in range(often[k]):
                query()
            least[k] = float(np.fmin(least[k], 1e3 * (thread_time() - begin) / often[k]))
    return least[0], least[1]


def _result(columns: tuple[str, ...], rows: list[tuple[Cell, ...]], peer: bool) -> Result:
    growth = ", ".join(
        f"{_growth([(r[3], r[4]) for r in rows if r[0] == name]):.2f} ({name})"
        for name in dict.fromkeys(r[0] for r in rows)
        if sum(r[0] == name for r in rows) > 1
    )
    notes = [
        f"least time over {ROUNDS} rounds of the thread's own time, one thread",
        f"time grows as faces to the power {growth}",
        *(f"TARGETS.md, Drake's ms at faces, {name}: {text}" for name, text in TARGETS.items()),
    ]
    if peer:
        notes += [
            "Drake in turn with ours, on the same meshes and fields; its faces are fewer where it "
            "leaves out those that face away from a gradient",
            f"same surface: as many faces without those, area and force within {SAME:g}",
        ]
    else:
        notes += ["Drake is not installed here (pip install drake): ours alone, on meshes of ours"]
    table = Table("pressure-field: time of a query", columns, tuple(rows), tuple(notes))
    return Result((table,), ok=all(r[8] for r in rows) if peer else True)


def _growth(points: list[tuple[Any, Any]]) -> float:
    """The power of the faces that the time grows with."""
    faces, ms = np.log(np.array(points, dtype=float)).T
    return float(np.polyfit(faces, ms, 1)[0])
