"""history.png: pressure, volume, air and reaction force over time, as in Bernardin et al. 2023 (P).

If no air was trapped, only the probes are plotted.
"""

from __future__ import annotations

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from limpet.record.history import Row, column, unit_of_column
from limpet.record.summary import Summary

ATMOSPHERE = 101.325  # [kPa]

# column, axis label, factor from SI to its unit, colour
CURVES = (
    ("pressure", "pressure [kPa]", 1e-3, "#1f5fa8"),
    ("volume", "volume [mm³ = µL]", 1e9, "#2a8a57"),
    ("air", "air [µmol]", 1e6, "#8a4fa3"),
    ("reaction", "reaction force [N]", 1.0, "#b8431f"),
)


def new_figure(width: float, height: float) -> Figure:
    """A figure that needs no display. Sizes in inches."""
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def plot_history(rows: list[Row], summary: Summary, path: Path) -> None:
    """Plot the curves over time; mark peak and release if there is suction."""
    suction = summary.min_pressure is not None or not summary.probes
    names = [name for name in summary.probes if unit_of_column(name) != "yes"]
    probes = [(name, _label(name), 1.0, "#1f5fa8") for name in names]
    curves = (*(CURVES if suction else ()), *probes)
    figure = new_figure(8.0, 2.2 * len(curves))
    axes = figure.subplots(len(curves), 1, sharex=True, squeeze=False)[:, 0].tolist()
    time = column(rows, "time")
    for axis, (name, label, scale, colour) in zip(axes, curves):
        axis.plot(time, scale * column(rows, name), color=colour, lw=1.6)
        axis.set_ylabel(label)
        axis.grid(alpha=0.25)
        axis.spines[["top", "right"]].set_visible(False)
    axes[-1].set_xlabel("time [s]")
    if suction:
        _mark_suction(axes, summary)
    figure.suptitle(f"{summary.scene}: {summary.steps} steps of {1e3 * summary.h:g} ms")
    figure.savefig(path, dpi=120)


def _label(name: str) -> str:
    return f"{name} [{unit_of_column(name) or 'relative to rest'}]"


def _mark_suction(axes: list[Axes], summary: Summary) -> None:
    axes[0].axhline(ATMOSPHERE, color="0.6", lw=0.8, ls=":")
    axes[len(CURVES) - 1].axhline(0.0, color="0.6", lw=0.8)
    if summary.peak_time is not None and summary.peak_pull_force is not None:
        _mark(axes, summary.peak_time, f"peak {summary.peak_pull_force:.1f} N", "right")
    if summary.release_time is not None:
        _mark(axes, summary.release_time, f"release {summary.release_time:.2f} s", "left")


def _mark(axes: list[Axes], time: float, text: str, side: str) -> None:
    """A vertical line through all axes, labelled above the first one on the given side."""
    for axis in axes:
        axis.axvline(time, color="0.35", lw=0.9, ls="--")
    axes[0].annotate(
        text, (time, 1.0), xycoords=("data", "axes fraction"),
        xytext=(-4 if side == "right" else 4, 3), textcoords="offset points", ha=side, va="bottom",
        fontsize=9,
    )  # fmt: skip
