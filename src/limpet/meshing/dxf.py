"""Sections from DXF drawings (ezdxf): closed outlines of lines, arcs and polylines.

x of the drawing is r, y is z. Entities on layers called held, port or lip name their edges. An
outline that is open only along the axis, x = 0, is closed there.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from limpet.errors import LimpetError
from limpet.meshing.files import UNITS, PathLike
from limpet.meshing.section.outline import Corner
from limpet.meshing.tetrahedra import require_package

Array = np.ndarray

NAMES = ("held", "port", "lip")  # layers that name edges
INSUNITS = {1: 0.0254, 4: 1e-3, 5: 1e-2, 6: 1.0}  # [m] of DXF's codes for in, mm, cm and m
JOIN = 1e-5  # of the extent: ends nearer than this are one
MANY = 5000  # edges
FLATNESS = 1e-4  # of the extent: how far the polyline of a spline may lie off it
WHOLE = "limpet[dxf]"


@dataclass(frozen=True)
class Edge:
    """A straight edge, or an arc through a point."""

    start: Array
    end: Array
    through: Array | None
    name: str | None

    def reversed(self) -> Edge:
        return Edge(self.end, self.start, self.through, self.name)


def outline_from_dxf(path: PathLike, unit: str | None = None) -> list[Corner]:
    """The outline of a half section [m] in a DXF drawing, for `cup_from_section`.

    unit: mm, cm, m or in; that of the drawing if not given.
    """
    file = Path(path)
    label = f"drawing '{file}'"
    drawing = _read(file, label)
    scale = _scale(drawing, unit, label)
    edges: list[Edge] = []
    for entity in drawing.modelspace():
        edges += _edges(entity)
        if len(edges) > MANY:
            raise LimpetError(f"{label} has more than {MANY} edges: keep only the half section")
    if not edges:
        raise LimpetError(f"{label} has no lines, arcs or polylines in its model space")
    loop = _joined(edges, scale, label)
    return [
        Corner(
            float(scale * e.start[0]), float(scale * e.start[1]), edge=e.name,
            through=None if e.through is None
            else (float(scale * e.through[0]), float(scale * e.through[1])),
        )
        for e in loop
    ]  # fmt: skip


def _read(file: Path, label: str) -> Any:
    require_package("ezdxf", WHOLE, "reading a DXF drawing")
    import ezdxf

    try:
        return ezdxf.readfile(file)
    except (OSError, ezdxf.DXFError, ValueError) as problem:
        # ezdxf raises an OSError without a number for a file that is no drawing
        if isinstance(problem, OSError) and problem.strerror:
            raise LimpetError(f"{label}: cannot be read ({problem.strerror})") from None
        raise LimpetError(f"{label}: is not a DXF drawing, or is damaged") from None


def _scale(drawing: Any, unit: str | None, label: str) -> float:
    """[m] of a unit of the drawing."""
    if unit is not None:
        if unit not in UNITS:
            raise LimpetError(f"{label}: unit = '{unit}': expected {', '.join(UNITS)}")
        return float(UNITS[unit])
    code = int(drawing.header.get("$INSUNITS", 0))
    if code not in INSUNITS:
        raise LimpetError(f'{label} does not say its unit: give unit, as "mm"')
    return INSUNITS[code]


def _edges(entity: Any) -> list[Edge]:
    kind, layer = entity.dxftype(), str(entity.dxf.layer).lower()
    name = layer if layer in NAMES else None
    if kind == "LINE":
        return [Edge(_xy(entity.dxf.start), _xy(entity.dxf.end), None, name)]
    if kind == "ARC":
        low, high = np.radians([entity.dxf.start_angle, entity.dxf.end_angle])
        turn = (high - low) % (2.0 * np.pi)
        angles = low + turn * np.array([0.0, 0.5, 1.0])
        rim = entity.dxf.radius * np.column_stack([np.cos(angles), np.sin(angles)])
        a, m, b = _xy(entity.dxf.center) + rim
        return [Edge(a, b, m, name)]
    if kind == "LWPOLYLINE":
        points = [(np.array([x, y]), bulge) for x, y, bulge in entity.get_points("xyb")]
        return _polyline(points, bool(entity.closed), name)
    if kind == "POLYLINE":
        points = [(_xy(v.dxf.location), v.dxf.bulge) for v in entity.vertices]
        return _polyline(points, bool(entity.is_closed), name)
    if kind == "SPLINE":
        extent = float(np.ptp([_xy(p) for p in entity.control_points], axis=0).max())
        line = [(_xy(p), 0.0) for p in entity.flattening(FLATNESS * extent)]
        return _polyline(line, False, name)
    return []


def _xy(point: Any) -> Array:
    return np.array([point[0], point[1]], dtype=float)


def _polyline(points: list[tuple[Array, float]], closed: bool, name: str | None) -> list[Edge]:
    """Edges of a polyline; a bulge is the tangent of a quarter of an arc's angle, to the right."""
    ends = [*points[1:], points[0]] if closed else points[1:]
    out = []
    for (a, bulge), (b, _) in zip(points, ends):
        d = b - a
        middle = 0.5 * (a + b) + 0.5 * bulge * np.array([d[1], -d[0]])
        if float(np.abs(d).max()) > 0.0:
            out.append(Edge(a, b, middle if abs(bulge) > 1e-9 else None, name))
    return out


def _joined(edges: list[Edge], scale: float, label: str) -> list[Edge]:
    """The edges end to end, in one closed loop."""
    places = np.array([p for e in edges for p in (e.start, e.end)])
    near = JOIN * float(np.ptp(places, axis=0).max())
    left = list(edges)
    run = [left.pop(0)]
    for _ in range(2):  # forwards, then backwards from the start
        while left and np.linalg.norm(run[-1].end - run[0].start) > near:
            tip = run[-1].end
            k, flipped = _next(left, tip, near)
            if k < 0:
                break
            found = left.pop(k)
            run.append(found.reversed() if flipped else found)
        if np.linalg.norm(run[-1].end - run[0].start) <= near:
            break
        run = [e.reversed() for e in run[::-1]]
    if left:
        raise LimpetError(
            f"{label} has edges that do not belong to one outline, as one from "
            f"{_shown(left[0].start, scale)}: keep only the closed half section"
        )
    start, end = run[0].start, run[-1].end
    if np.linalg.norm(end - start) > near:
        if max(abs(start[0]), abs(end[0])) > near:
            raise LimpetError(
                f"{label}: the outline is open between {_shown(end, scale)} and "
                f"{_shown(start, scale)}; close it"
            )
        run.append(Edge(end, start, None, None))
    return [_on_axis(e, near) for e in run]


def _next(left: list[Edge], tip: Array, near: float) -> tuple[int, bool]:
    """The edge that continues at a point, and whether it has to be turned round; -1 if none."""
    for k, e in enumerate(left):
        if np.linalg.norm(e.start - tip) <= near:
            return k, False
        if np.linalg.norm(e.end - tip) <= near:
            return k, True
    return -1, False


def _on_axis(e: Edge, near: float) -> Edge:
    """Its start moved onto the axis if it is as near as ends have to be."""
    start = e.start * [0.0, 1.0] if abs(e.start[0]) <= near else e.start
    return Edge(start, e.end, e.through, e.name)


def _shown(point: Array, scale: float) -> str:
    return f"({1e3 * scale * point[0]:.4g}, {1e3 * scale * point[1]:.4g}) mm"
