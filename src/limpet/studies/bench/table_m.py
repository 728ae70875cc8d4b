"""M table 1: time per frame of CR, IICR11 and IICR10 on seven meshes of the paper's sizes.

M hung its meshes up and stepped them at 16 ms. Ours come near its counts of tetrahedra and nodes:
the bunny is the bunny, for dragon, cow, spine, torus and hinge shapes of our own stand in.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from threadpoolctl import ThreadpoolController

from limpet.dynamics.motion import HOLD
from limpet.fem.elements.choose import LockingWarning
from limpet.fem.material import Fem, Material
from limpet.fem.soft_body import SoftBody
from limpet.geometry.shape import SoftShape
from limpet.meshing.tetrahedra import tet_volumes
from limpet.record.table import Cell, Progress, Result, Table, Ticker
from limpet.shapes.beams import hinge, spine
from limpet.shapes.solids import bunny, quadruped, serpent, torus

FRAME = 0.016  # [s]
FRAMES, REPEATS = 25, 3
SILICONE = Material(young=262e3, poisson=0.49)
DENSITY = 1100.0  # [kg/m^3]
GRAVITY = np.array([0.0, 0.0, -9.81])
ELEMENTS = {"CR": "tet4", "IICR11": "iicr11", "IICR10": "iicr10"}
TARGET = 2.0  # times as fast as M's


@dataclass(frozen=True)
class ElementRow:
    """One of M's meshes, and ours in its place."""

    name: str
    stand_in: str
    tets: int
    nodes: int
    ms: tuple[float, float, float]  # CR, IICR11, IICR10
    build: Callable[[], SoftShape]
    held: tuple[str, ...]  # regions


# M table 1 (Xeon W-2133)
ROWS = (
    ElementRow("Bunny", "bunny", 749, 280, (8, 10, 15), lambda: bunny(order=1), ("ear",)),
    ElementRow("Dragon", "serpent", 834, 343, (11, 14, 18), lambda: serpent(order=1), ("head",)),
    ElementRow("Cow", "quadruped", 972, 334, (11, 15, 20), lambda: quadruped(order=1), ("head",)),
    ElementRow(
        "Spine", "spine", 1778, 649, (40, 43, 69), lambda: spine(order=1), ("left", "right")
    ),
    ElementRow("TorusLow", "torus", 1934, 513, (27, 39, 60), lambda: torus(order=1), ("side",)),
    ElementRow("Hinge", "hinge", 2429, 826, (70, 75, 122), lambda: hinge(order=1), ("left",)),
    ElementRow(
        "TorusHigh",
        "torus",
        2823,
        908,
        (83, 106, 162),
        lambda: torus(nodes=908, inner=0.95, order=1),
        ("side",),
    ),
)


def run(progress: Progress) -> Result:
    """Time a frame of each mesh with each element."""
    tick = Ticker(progress, len(ROWS) * len(ELEMENTS) * REPEATS, "table-m")
    rows: list[tuple[Cell, ...]] = []
    sizes, ours = [], []
    for row in ROWS:
        shape = row.build()
        ms = _median_ms(shape, row.held, tick)
        sizes.append(len(shape.points))
        ours.append(ms)
        figures = [f for m, own in zip(row.ms, ms) for f in (float(m), own, m / own)]
        rows.append((row.name, row.stand_in, len(shape.cells["tet4"]), len(shape.points), *figures))
    ratio = np.array([r.ms for r in ROWS]) / np.array(ours)
    growth = {
        "Limpet": _growth(np.array(sizes), np.array(ours)),
        "M's": _growth(np.array([r.nodes for r in ROWS]), np.array([r.ms for r in ROWS])),
    }
    columns = ["mesh of M", "Limpet", "tets", "nodes"]
    for name in ELEMENTS:
        columns += [f"{name}: M [ms]", f"{name} [ms]", f"{name}: speed-up"]
    notes = (
        f"a frame is one step of {FRAME * 1e3:g} ms; median over {FRAMES} frames and {REPEATS} "
        "repeats in turn, one thread; M's machine is a Xeon W-2133",
        *(
            f"{who} time grows as nodes to the power "
            + ", ".join(f"{p:.2f} ({name})" for p, name in zip(powers, ELEMENTS))
            for who, powers in growth.items()
        ),
        f"least ratio {ratio.min():.1f}; target {TARGET:g} in every row",
    )
    table = Table("table-m: time per frame", tuple(columns), tuple(rows), notes)
    return Result((table,), ok=bool(ratio.min() >= TARGET))


def _median_ms(shape: SoftShape, held: tuple[str, ...], tick: Ticker) -> list[float]:
    """[ms] a frame with each element, the elements taking turns."""
    nodes = np.concatenate([shape.region(r) for r in held])
    times: dict[str, list[float]] = {name: [] for name in ELEMENTS}
    for _ in range(REPEATS):
        for name, element in ELEMENTS.items():
            times[name] += _frames(_body(shape, nodes, element))
            tick()
    return [1e3 * float(np.median(t)) for t in times.values()]


def _body(shape: SoftShape, nodes: np.ndarray, element: str) -> SoftBody:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LockingWarning)  # that they lock is known and shown
        mass = DENSITY * float(tet_volumes(shape.points, shape.cells["tet4"]).sum())
        return SoftBody("body", shape, SILICONE, mass, nodes, HOLD, Fem(element=element))


def _frames(body: SoftBody) -> list[float]:
    """[s] of each frame, after a first one that may compile."""
    out = []
    with ThreadpoolController().limit(limits=1):
        for frame in range(FRAMES + 1):
            start = time.perf_counter()
            body.compute_free_velocity(FRAME, GRAVITY, frame * FRAME)
            body.advance(FRAME)
            out.append(time.perf_counter() - start)
    return out[1:]


def _growth(nodes: np.ndarray, ms: np.ndarray) -> list[float]:
    """The power of the node count that each column of times grows with."""
    return [float(np.polyfit(np.log(nodes), np.log(column), 1)[0]) for column in ms.T]
