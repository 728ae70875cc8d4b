"""The drawings of docs/architecture.md: the step and the packages. Called by docs/pictures.py."""

from __future__ import annotations

from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

INK, QUIET, LINE = "#1c2b30", "#5b6b70", "#0b6b7a"
FILL = {"bodies": "#f3dcc5", "air": "#cfe3f5", "contact": "#e3e6dc", "solve": "#dcefe9"}

# name, what it does, package, source in the papers, colour
STEP = (
    ("free velocity", "every body integrates itself without constraints:  v_free", "fem/, rigid/",
     "P eq 1", "bodies"),
    ("update contacts", "contacts at x, found at the end of the last step; active set", "contact/",
     "not at the free positions of P algorithm 1", "contact"),
    ("update cavities", "search where it is due, else the mesh moves along;  V, H_p, n", "cavity/",
     "P 4, eq 15; A III-B", "air"),
    ("rows", "H = [contacts; cavities; joints],   u = H v_free + bias",
     "solver/layout.py", "P eq 2, 4", "contact"),
    ("assemble", "W = sum over bodies of  h H A⁻¹ Hᵀ;  joints eliminated",
     "solver/", "P eq 7, 10", "bodies"),
    ("solve", "contact, friction and gas laws together, to 1e-10:  λ, P", "solver/newton.py",
     "P algorithm 2, by Newton; A III-C", "solve"),
    ("apply impulse", "v = v_free + h A⁻¹ Hᵀ λ", "fem/, rigid/", "P eq 3", "bodies"),
    ("recheck", "contacts at the candidate positions x + h v", "contact/", "P algorithm 1",
     "contact"),
    ("advance, accept", "x = x + h v;  sets commit, air mass balance closed;  StepReport",
     "engine/", "P eq 13, 14", "air"),
)  # fmt: skip

# lowest first, as tests/test_imports.py has them
PACKAGES = (
    ("errors, units, report, clock", "base: user errors, quantities with units, reports, timing"),
    ("geometry, linalg", "kernels and records: surfaces, trees, unions; block Cholesky, rows"),
    ("storage", "files that are whole at any moment, locks, records as trees"),
    ("meshing", "grids, Netgen, CAD and mesh files, checks, repair"),
    ("shapes", "the catalogue: cups, boxes, rigid objects, solids"),
    ("dynamics", "contracts: Body, ConstraintSet, rows, warm start; motions"),
    ("contact", "broad and narrow phase, contact set, contact law"),
    ("fem", "elements, materials, soft bodies, attachments, statics"),
    ("rigid", "rigid bodies, joints, arm kinematics"),
    ("particles", "cloth, rope, jelly: particle system, sweeps, staggered coupling"),
    ("cavity", "search, seals, gas laws, gas network, cavity set"),
    ("pressure_field", "pressure fields, contact surfaces, potential of a step"),
    ("solver", "dispatch of laws, row layout, Newton, Gauss-Seidel, the loop"),
    ("model", "World, specifications, settings, factory"),
    ("engine", "Simulation, State, observation: the step"),
    ("scenes", "one file per scene, a registry by name"),
    ("record", "the run folder: history, summary, frames, plots"),
    ("viewer", "the page; shows a simulation that another process steps"),
    ("studies", "benchmarks, and tables and figures of the papers"),
    ("cli", "the commands"),
)


def draw_step(path: Path) -> None:
    """One step, top to bottom, with the two ways back."""
    high, apart = 0.78, 1.12
    figure, axis = _page(10.0, 8.4, (-0.3, 14.2), (-len(STEP) * apart + 0.15, 0.6))
    left, right = 2.5, 9.3
    for k, (name, how, package, source, colour) in enumerate(STEP):
        y = -k * apart
        _box(axis, left, y - high / 2, right - left, high, FILL[colour])
        axis.text(left + 0.2, y + 0.12, name, weight="bold", color=INK, size=11, va="center")
        axis.text(left + 0.2, y - 0.18, how, color=INK, size=9.5, va="center")
        axis.text(
            left - 0.2, y, package, color=QUIET, size=9, ha="right", va="center", family="monospace"
        )
        axis.text(right - 0.2, y + 0.12, source, color=QUIET, size=8.5, ha="right", va="center")
        if k:
            _arrow(axis, (5.9, y + apart - high / 2), (5.9, y + high / 2))
    rows, correct, advance = -3 * apart, -6 * apart, -7 * apart
    _back(axis, right, correct, rows - 0.16, 0.4, "a contact left out\nwould close:\nit joins")
    _back(
        axis,
        right,
        advance,
        rows + 0.16,
        2.4,
        "a collision was\nmissed: look further\nand solve again",
    )
    last = -(len(STEP) - 1) * apart - high / 2
    axis.text(5.9, last - 0.28, "the next step", color=QUIET, size=9, ha="center", va="center")
    _save(figure, path)


def draw_packages(path: Path) -> None:
    """The packages, lowest first: each imports only from those below it."""
    high = 0.72
    figure, axis = _page(8.6, 6.6, (-0.9, 10.2), (-0.5, len(PACKAGES) * 0.8 - 0.3))
    for k, (name, what) in enumerate(PACKAGES):
        y = k * 0.8
        colour = FILL["solve"] if name == "engine" else "#f2f5f5"
        _box(axis, 0.0, y - high / 2, 10.0, high, colour)
        axis.text(0.2, y, name, color=INK, size=9.5, va="center", family="monospace")
        axis.text(3.9, y, what, color=QUIET, size=9, va="center")
    _arrow(axis, (-0.45, 0.8 * (len(PACKAGES) - 1)), (-0.45, 0.0))
    axis.text(-0.72, 0.4 * (len(PACKAGES) - 1), "imports from", color=QUIET, size=9, rotation=90,
              va="center", ha="center")  # fmt: skip
    _save(figure, path)


def _page(
    width: float, height: float, x: tuple[float, float], y: tuple[float, float]
) -> tuple[Figure, Axes]:
    figure = Figure((width, height), facecolor="white")
    axis = figure.add_axes((0, 0, 1, 1), xlim=x, ylim=y)
    axis.axis("off")
    return figure, axis


def _box(axis: Axes, x: float, y: float, width: float, height: float, colour: str) -> None:
    style = "round,pad=0,rounding_size=0.08"
    axis.add_patch(FancyBboxPatch((x, y), width, height, style, fc=colour, ec="#9fb0b0", lw=0.8))


def _arrow(axis: Axes, begin: tuple[float, float], end: tuple[float, float]) -> None:
    look = {"arrowstyle": "-|>", "mutation_scale": 12, "color": LINE, "lw": 1.4}
    axis.add_patch(FancyArrowPatch(begin, end, shrinkA=0, shrinkB=0, **look))


def _back(axis: Axes, x: float, low: float, high: float, out: float, why: str) -> None:
    """An arrow from the right side of one box back to that of an earlier one."""
    axis.plot([x, x + out, x + out], [low, low, high], color=LINE, lw=1.4, ls=(0, (4, 2)))
    _arrow(axis, (x + out, high), (x, high))
    axis.text(x + out + 0.12, (low + high) / 2, why, color=LINE, size=9, va="center")


def _save(figure: Figure, path: Path) -> None:
    """The same drawing gives the same file."""
    with matplotlib.rc_context({"svg.hashsalt": path.name}):
        FigureCanvasSVG(figure).print_svg(path, metadata={"Date": None})
