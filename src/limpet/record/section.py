"""section.png: the r-z section of the bodies with contact forces and cavity pressure."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.patches import PathPatch
from matplotlib.path import Path as Outline

from limpet.record.plots import ATMOSPHERE, new_figure
from limpet.report import SectionFrame

Array = np.ndarray

MM = 1e3
HALF_SECTOR = np.pi / 8  # [rad] contacts within this angle are drawn in the plane
BODY_COLOURS = ("#c9d6e3", "#d8d2c4", "#d5e0cf", "#e0d0da")
ARROW = 0.16  # length of the longest force arrow, relative to the panel width
PRESSURE = Normalize(0.0, ATMOSPHERE)  # [kPa]
PRESSURE_MAP = "viridis"
TITLES = {
    "rest": "at rest",
    "hold": "at hold, least volume",
    "peak": "at the peak of the pull",
}


def cut(points: Array, triangles: Array) -> list[Array]:
    """Intersection of a closed surface with the plane y = 0: loops (k, 2) of x and z [m].

    Every intersection point lies on an edge, and every cut triangle joins two points, so the loops
    follow from the topology. Meshes of revolution have vertices in the plane, so the plane is
    shifted slightly to miss all vertices.
    """
    if len(triangles) == 0:
        return []
    y = points[:, 1]
    y = y - 1e-7 * (float(np.ptp(points)) or 1.0)
    below = y < 0.0
    crossing = triangles[below[triangles].any(axis=1) & ~below[triangles].all(axis=1)]
    links: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for triangle in crossing.tolist():
        ends = [
            (min(i, j), max(i, j))
            for i, j in zip(triangle, triangle[1:] + triangle[:1])
            if below[i] != below[j]
        ]
        links.setdefault(ends[0], []).append(ends[1])
        links.setdefault(ends[1], []).append(ends[0])
    loops = []
    while links:
        start = here = next(iter(links))
        loop = []
        while here in links:
            loop.append(here)
            ahead = [edge for edge in links.pop(here) if edge in links]
            here = ahead[0] if ahead else start
        i, j = np.array(loop).T
        t = (y[i] / (y[i] - y[j]))[:, None]
        loops.append(((1.0 - t) * points[i] + t * points[j])[:, [0, 2]])
    return loops


def near_plane(points: Array, vectors: Array) -> tuple[Array, Array]:
    """Contacts within HALF_SECTOR of the plane: (r, z) with r signed by x, and their forces."""
    r = np.hypot(points[:, 0], points[:, 1])
    near = np.abs(points[:, 1]) <= np.sin(HALF_SECTOR) * np.maximum(r, 1e-12)
    p, f, r = points[near], vectors[near], r[near]
    sign = np.where(p[:, 0] < 0.0, -1.0, 1.0)
    outward = p[:, :2] / np.maximum(r, 1e-12)[:, None]
    radial = np.einsum("ij,ij->i", f[:, :2], outward)
    return np.stack([sign * r, p[:, 2]], axis=1), np.stack([sign * radial, f[:, 2]], axis=1)


def plot_sections(frames: list[SectionFrame], path: Path) -> None:
    """Draw one panel per frame, stacked; the cup at rest is dashed for comparison."""
    loops = [{name: cut(x, t) for name, x, t in frame.bodies} for frame in frames]
    cup = _smallest(loops[0])
    view = _view([each[cup] for each in loops])
    panel = 8.0 * (view[3] - view[2]) / (view[1] - view[0])
    figure = new_figure(9.2, len(frames) * (panel + 0.6))
    axes = figure.subplots(len(frames), 1, squeeze=False)[:, 0]
    largest = max(float(np.linalg.norm(f.forces, axis=1).max(initial=0.0)) for f in frames)
    for axis, frame, shapes in zip(axes, frames, loops):
        for k, outline in enumerate(shapes.values()):
            colour = BODY_COLOURS[k % len(BODY_COLOURS)]
            _fill(axis, outline, facecolor=colour, edgecolor="0.3", lw=0.9)
        if frame is not frames[0]:
            _fill(axis, loops[0][cup], facecolor="none", edgecolor="0.55", lw=0.8, ls="--")
        _cavity(axis, frame)
        _forces(axis, frame, largest, ARROW * (view[1] - view[0]))
        axis.set(xlim=view[:2], ylim=view[2:], aspect="equal", ylabel="z [mm]")
        axis.set_title(
            f"{TITLES.get(frame.label, frame.label)}, t = {frame.time:.2f} s", loc="left"
        )
    axes[-1].set_xlabel("r [mm]")
    if any(len(frame.cavity_triangles) for frame in frames):
        bar = figure.colorbar(ScalarMappable(PRESSURE, PRESSURE_MAP), ax=axes, fraction=0.03)
        bar.set_label("cavity pressure [kPa]")
    figure.savefig(path, dpi=130, bbox_inches="tight")


def _cavity(axis: Axes, frame: SectionFrame) -> None:
    loops = cut(frame.cavity_points, frame.cavity_triangles)
    if not loops:
        return
    kilopascal = 1e-3 * frame.pressure
    colour = colormaps[PRESSURE_MAP](float(PRESSURE(kilopascal)))
    _fill(axis, loops, facecolor=colour, edgecolor=colour, lw=1.2, zorder=3)
    axis.set_title(f"P = {kilopascal:.1f} kPa", loc="right")


def _forces(axis: Axes, frame: SectionFrame, largest: float, length: float) -> None:
    """Arrows that end at the contacts; `largest` [N] is drawn `length` [mm] long."""
    points, forces = near_plane(frame.contacts, frame.forces)
    pressing = np.linalg.norm(forces, axis=1) > 1e-3 * largest
    if not np.any(pressing):
        return
    p, f = MM * points[pressing], forces[pressing] * (length / largest)
    axis.quiver(
        *p.T,
        *f.T,
        angles="xy",
        scale_units="xy",
        scale=1.0,
        width=0.0028,
        pivot="tip",
        color="#c0261c",
        zorder=4,
    )
    top = float(np.linalg.norm(forces, axis=1).max())
    axis.annotate(
        f"contact forces, longest {top:.2g} N",
        (0.99, 0.95),
        xycoords="axes fraction",
        ha="right",
        va="top",
        color="#c0261c",
        fontsize=9,
    )


def _fill(axis: Axes, loops: list[Array], **style: object) -> None:
    """Fill closed loops in mm; loops inside loops are holes."""
    if not loops:
        return
    closed = [Outline(MM * np.vstack([loop, loop[:1]]), closed=True) for loop in loops]
    axis.add_patch(PathPatch(Outline.make_compound_path(*closed), **style))


def _smallest(shapes: dict[str, list[Array]]) -> str:
    """Name of the narrowest body in the section, which is the cup; the view is cropped to it."""
    width = {name: np.ptp(np.vstack(loops)[:, 0]) for name, loops in shapes.items() if loops}
    return min(width, key=lambda name: width[name])


def _view(outlines: list[list[Array]]) -> tuple[float, float, float, float]:
    """Left, right, bottom, top [mm] of the outlines, with a margin."""
    corners = MM * np.vstack([loop for loops in outlines for loop in loops])
    (left, bottom), (right, top) = corners.min(axis=0), corners.max(axis=0)
    margin = 0.08 * (right - left)
    below = (1.2 * ARROW) * (right - left)  # for the arrows
    return left - margin, right + margin, bottom - below, top + margin
