"""scene.png: the scene in three dimensions, cut open, at a few times side by side.

A vertical plane cuts the near side away. The rest is drawn with a depth buffer. The cut faces are
in front of everything else, so they are filled last; cavities are coloured by their pressure.
"""

from __future__ import annotations

from collections.abc import Iterable
from io import BytesIO
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.patches import PathPatch
from matplotlib.path import Path as Outline
from PIL import Image

from limpet.record.plots import ATMOSPHERE, new_figure
from limpet.record.render import LINE, Plane, View, colour_of, is_closed, render
from limpet.report import SectionFrame

Array = np.ndarray

MM = 1e3
WIDTH = 12.0  # [inch] at most
HEIGHT = {1: 4.6, 2: 6.6}  # [inch] at most, by the number of rows
SCALE = 0.8  # [inch] width of the colour bar
DPI = 100
COLOURS = 200  # palette of the file, which is a third of the size of a full-colour file
SUPERSAMPLING = 2  # pixels drawn per pixel of the file, for smooth edges
MARGIN = 0.06  # around the bodies in focus, relative to their larger side
PRESSURE_TOLERANCE = 500.0  # [Pa]
PRESSURE = Normalize(0.0, ATMOSPHERE)  # [kPa]
AIR = LinearSegmentedColormap.from_list("air", ["#08285e", "#2d74c4", "#b9dcff"])


def select_frames(frames: list[SectionFrame], times: Iterable[float] = ()) -> list[SectionFrame]:
    """The first frame, that of the lowest pressure (or the middle one), the last, and `times` [s].

    Of all frames within PRESSURE_TOLERANCE of the lowest pressure the first one is taken.
    """
    lowest = np.array([min((p for *_, p in frame.cavities), default=np.inf) for frame in frames])
    trapped = np.isfinite(lowest).any()
    at_lowest = int(np.argmax(lowest <= lowest.min() + PRESSURE_TOLERANCE))
    stamps = np.array([frame.time for frame in frames])
    chosen = {0, at_lowest if trapped else len(frames) // 2, len(frames) - 1}
    chosen |= {int(np.abs(stamps - t).argmin()) for t in times}
    return [frames[k] for k in sorted(chosen)]


def draw_scene(frames: list[SectionFrame], path: Path, view: View | None = None) -> None:
    """Draw one panel per frame, in one or two rows, all at the same scale."""
    view = view or View(opened=None if frames[0].whole else View.opened)
    left, right, bottom, top = window = _window(frames, view)
    across, high = right - left, top - bottom
    rows, columns, panel = _layout(len(frames), high / across)
    size = panel * high / across
    figure = new_figure(panel * columns + SCALE, rows * (size + 0.3))
    figure.set_layout_engine("constrained", w_pad=0.02, h_pad=0.02, wspace=0.03, hspace=0.0)
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    pixels = max(2, round(SUPERSAMPLING * DPI * panel)), max(2, round(SUPERSAMPLING * DPI * size))
    for axis, frame in zip(axes, frames):
        _panel(axis, frame, view, window, pixels)
    for axis in axes[len(frames) :]:
        axis.set_axis_off()
    _length_scale(axes[0], MM * left, MM * bottom, MM * across)
    if not frames[0].whole:
        bar = figure.colorbar(ScalarMappable(PRESSURE, AIR), ax=axes, fraction=0.02, pad=0.01)
        bar.set_label("pressure of trapped air [kPa]", fontsize=8)
        bar.ax.tick_params(labelsize=8)
    file = BytesIO()
    figure.savefig(file, dpi=DPI)
    small = Image.open(file).convert("RGB").quantize(COLOURS)
    small.save(path, format="PNG", optimize=True)


def _layout(count: int, aspect: float) -> tuple[int, int, float]:
    """Rows, columns and panel width [inch]; two rows if that makes the panels larger."""
    tried = []
    for rows in (1, 2) if count > 4 else (1,):
        columns = -(-count // rows)
        panel = min((WIDTH - SCALE) / columns, HEIGHT[rows] / rows / aspect)
        tried.append((panel, -rows, columns))
    panel, rows, columns = max(tried)
    return -rows, columns, panel


def plane_of(frame: SectionFrame, view: View) -> Plane | None:
    """The plane through the centre of the soft bodies in focus, or of all if none is soft."""
    if view.opened is None:
        return None
    shown = [(n, x) for n, x, _ in frame.bodies if not view.focus or n in view.focus]
    soft = [x for n, x in shown if n in frame.soft] or [x for _, x in shown]
    points = np.vstack(soft)
    angle = np.radians(view.opened)
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    return Plane(middle, np.array([np.cos(angle), np.sin(angle), 0.0]))


def _window(frames: list[SectionFrame], view: View) -> tuple[float, float, float, float]:
    """Left, right, bottom, top [m] in the image, of the bodies in focus in all frames."""
    points = np.vstack(
        [
            x
            for frame in frames
            for name, x, _ in frame.bodies
            if (name in view.focus if view.focus else name not in frame.fixed)
        ]
        or [x for frame in frames for _, x, _ in frame.bodies]
    )
    flat = view.project(points)[:, :2]
    low, high = flat.min(axis=0), flat.max(axis=0)
    margin = MARGIN * float((high - low).max())
    return low[0] - margin, high[0] + margin, low[1] - margin, high[1] + margin


def _panel(
    axis: Axes, frame: SectionFrame, view: View, window: tuple[float, float, float, float],
    pixels: tuple[int, int],
) -> None:  # fmt: skip
    plane = plane_of(frame, view)
    extent = (MM * window[0], MM * window[1], MM * window[2], MM * window[3])
    image = render(frame, view, plane, window, pixels)
    axis.imshow(image, origin="lower", extent=extent, interpolation="antialiased")
    if plane is not None:
        for name, points, triangles in frame.bodies:
            if not is_closed(triangles):
                continue  # the section of a sheet is a line without area
            faces = plane.loops(points, triangles)
            _fill(axis, faces, view, facecolor=colour_of(frame, name), edgecolor=LINE, lw=0.8)
        for points, triangles, pressure in frame.cavities:
            blue = AIR(float(PRESSURE(1e-3 * pressure)))
            _fill(axis, plane.loops(points, triangles), view, facecolor=blue, edgecolor=blue, lw=1)
    axis.set(xlim=extent[:2], ylim=extent[2:])
    axis.set_axis_off()
    axis.set_title(f"{frame.time:.2f} s", loc="left", fontsize=10)
    if frame.cavities:
        lowest = 1e-3 * min(pressure for *_, pressure in frame.cavities)
        axis.text(
            0.94, 1.015, f"{lowest:.1f} kPa", transform=axis.transAxes,
            ha="right", va="bottom", fontsize=10, color="#1d55a0",
        )  # fmt: skip


def _fill(axis: Axes, loops: list[Array], view: View, **style: object) -> None:
    """Fill loops [m]; loops inside loops are holes."""
    flat = [view.project(loop)[:, :2] for loop in loops if len(loop) > 2]
    if not flat:
        return
    rings = []
    for k, loop in enumerate(flat):
        depth = sum(Outline(o).contains_point(loop[0]) for j, o in enumerate(flat) if j != k)
        x, y = loop.T
        ahead = np.dot(x, np.roll(y, -1)) > np.dot(y, np.roll(x, -1))
        ring = loop if ahead == (depth % 2 == 0) else loop[::-1]
        rings.append(Outline(MM * np.vstack([ring, ring[:1]]), closed=True))
    axis.add_patch(PathPatch(Outline.make_compound_path(*rings), **style))


def _length_scale(axis: Axes, left: float, bottom: float, across: float) -> None:
    """Draw a scale bar of 1, 2 or 5 times a power of ten [mm], at most a third of the panel."""
    power = 10.0 ** np.floor(np.log10(across / 3.0))
    length = max(power * k for k in (1, 2, 5) if power * k <= across / 3.0)
    x, y = left + 0.05 * across, bottom + 0.05 * across
    axis.plot([x, x + length], [y, y], color="k", lw=2.5, solid_capstyle="butt")
    axis.annotate(
        f"{length:g} mm", (x + length / 2, y), xytext=(0, 3), textcoords="offset points",
        ha="center", fontsize=8,
    )  # fmt: skip
