"""M figures 1, 2 and 8: a spine hangs by one end or by both, towards nu = 0.5.

Linear tetrahedra (CR) lock, altogether in figure 8; M's elements do not. M gives the moduli, and
the size of the small robot, but not how figures 1 and 2 are held (here by one end), no displacement
and nothing of the cables that actuate it: what can be compared is who moves farther.
"""

from __future__ import annotations

import warnings
from functools import partial
from pathlib import Path

import numpy as np

from limpet.fem.elements.choose import LockingWarning
from limpet.fem.soft_body import SoftBody
from limpet.fem.statics import static_equilibrium
from limpet.record.plots import new_figure
from limpet.record.table import Cell, Progress, Result, Table
from limpet.scenes.registry import load

Array = np.ndarray

POISSON = (0.25, 0.49, 0.49999)
ELEMENTS = ("tet4", "iicr11", "tet10", "iicr21")
LOCKED = 0.25  # of iicr21's sag: as good as stiff
SAME = 0.05  # by which a sag may change from nu = 0.49 on

# M figures 1 and 2: Poisson's ratio, size [m]; E = 262 kPa
FIGURES: dict[str, dict[str, object]] = {
    "figure 1": {"poisson": 0.49},
    "figure 2": {"poisson": 0.499, "length": 0.095, "width": 0.025, "height": 0.015},
}

Outline = tuple[Array, Array]  # points (n, 3) of the skin, triangles


def run(progress: Progress) -> Result:
    """The sag of each element at each Poisson's ratio, at rest."""
    sag: dict[str, list[float]] = {}
    skins: dict[str, Outline] = {}
    for k, element in enumerate(ELEMENTS):
        progress(k, len(ELEMENTS), f"spine: {element}")
        found = [hang(element, poisson) for poisson in POISSON]
        sag[element] = [s for s, _ in found]
        skins[element] = found[-1][1]
    progress(len(ELEMENTS), len(ELEMENTS), "spine")
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (element, *(1e3 * s for s in sag[element])) for element in ELEMENTS
    )
    claims: list[tuple[Cell, ...]] = []
    for element in ("iicr11", "iicr21"):
        change = sag[element][-1] / sag[element][1] - 1.0
        claims.append(
            (f"{element}: from nu = 0.49 to 0.49999", 100.0 * change, abs(change) <= SAME)
        )
    share = sag["tet4"][-1] / sag["iicr21"][-1]
    claims.append(("tet4 locks: its sag, of iicr21's", 100.0 * share, share < LOCKED))
    hung: list[tuple[Cell, ...]] = []
    for name, changes in FIGURES.items():
        cr, own = (hang(e, held="one", **changes)[0] for e in ("tet4", "iicr11"))
        hung.append((name, 1e3 * cr, 1e3 * own, own / cr, own > cr))
    tables = (
        Table(
            "spine: sag of its middle [mm]", ("element", *(f"nu = {n:g}" for n in POISSON)), rows
        ),
        Table("spine: claims", ("claim", "[%]", "holds"), tuple(claims)),
        Table(
            "spine: held by one end, drop of the other",
            ("M", "CR [mm]", "IICR11 [mm]", "ratio", "M: a wider range of motion"), tuple(hung),
        ),
    )  # fmt: skip
    ok = all(bool(c[-1]) for c in (*claims, *hung))
    return Result(tables, ok, {"spine.png": partial(_draw, skins)})


def hang(element: str, poisson: object, **changes: object) -> tuple[float, Outline]:
    """[m] sag at rest (nan if no rest was found), and the skin there.

    That of the middle, or of the free end if one end is held.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LockingWarning)  # that is what is shown
        scene = load("spine", {"element": element, "poisson": poisson, **changes})
        simulation = scene.simulation()
    probe = "tip_z" if changes.get("held") == "one" else "middle_z"
    before = simulation.probes()[probe]
    (body,) = simulation.bodies
    assert isinstance(body, SoftBody)
    done = static_equilibrium(body, scene.world.gravity)
    sag = before - simulation.probes()[probe] if done.converged else float("nan")
    return sag, (body.visual.positions(body.x), body.visual.triangles)


def _draw(skins: dict[str, Outline], path: Path) -> None:
    figure = new_figure(8.0, 1.6 * len(skins))
    for axis, (element, (points, triangles)) in zip(
        figure.subplots(len(skins), 1, sharex=True), skins.items()
    ):
        axis.triplot(1e3 * points[:, 0], 1e3 * points[:, 2], triangles, lw=0.3, color="#1f5fa8")
        axis.set_aspect("equal")
        axis.set_ylim(-12.0, 35.0)
        axis.set_title(f"{element}, nu = {POISSON[-1]:g}", fontsize=9)
        axis.set_ylabel("z [mm]")
    axis.set_xlabel("x [mm]")
    figure.savefig(path, dpi=120)
