"""Locking of elements: a cantilever (Frâncu et al. 2019, M, figures 7, 9) and a pushed cup.

A locking element is too stiff because it cannot bend, or cannot deform without a change of volume.
Curves of pressure and air do not show it; sag and force do.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from limpet.cavity.gas.atmosphere import Atmosphere
from limpet.dynamics.motion import HOLD, path
from limpet.engine.simulation import Simulation
from limpet.fem.elements.choose import LockingWarning, default_element
from limpet.fem.material import Fem, Material
from limpet.fem.soft_body import SoftBody
from limpet.fem.statics import static_equilibrium
from limpet.model.world import World
from limpet.record.plots import new_figure
from limpet.record.table import Cell, Progress, Result, Table, Ticker
from limpet.shapes.beams import cantilever
from limpet.shapes.boxes import box
from limpet.shapes.cups import cup
from limpet.studies.reproduce.elastica import Beam, bend

POISSON = (0.25, 0.45, 0.49, 0.499, 0.4999, 0.5)
DENSITY, GRAVITY = 1100.0, 9.81
MESH, FINE, FINER_LINEAR = (8, 2, 2), (16, 4, 4), (48, 8, 8)
CUP_NODES, FINE_CUP = 434, 1500
DEPTH = 3e-3  # [m] of the push, after the lip touches
CALCULIX = {0.45: 0.8066, 0.49: 0.8410}  # [N] at 3 mm, frictionless: benchmarks/cup_reference


@dataclass(frozen=True)
class ElementCase:
    """An element and its stabilisation."""

    element: str
    stabilisation: float = 1.0

    @property
    def label(self) -> str:
        return self.element if self.stabilisation else f"{self.element}, as in M"

    def can(self, poisson: float) -> bool:
        return poisson < 0.5 or self.element in ("iicr11", "iicr21")

    def fem(self) -> Fem:
        return Fem(element=self.element, stabilisation=self.stabilisation)


ELEMENT_CASES = (
    *map(ElementCase, ("tet4", "iicr10")),
    ElementCase("iicr11", 0.0),
    *map(ElementCase, ("iicr11", "hex8", "tet10", "iicr21", "hex20", "hex20r", "hex20p")),
)
DEFAULTS = tuple(map(ElementCase, ("hex20p", "iicr21", "tet10")))


@dataclass(frozen=True)
class Bar:
    """A beam of M: 10 x 1 x 1 cm (figure 7) or 4 x 1 x 1 cm (figure 9)."""

    length: float
    young: float

    def elastica(self, poisson: float) -> float:
        """[m] Sag of the beam theory with shear."""
        beam = Beam(self.length, 0.01, 0.01, self.young, poisson)
        return bend(beam, DENSITY * GRAVITY * 1e-4).sag

    def sag(
        self, case: ElementCase, divisions: tuple[int, int, int], poisson: float,
        mirrored: bool = False,
    ) -> float:  # fmt: skip
        """[m] Sag of the tip at rest; NaN if there is no solution.

        The bricks are cut into tetrahedra along parallel diagonals, or along diagonals mirrored
        from brick to brick, which lock later.
        """
        shape = cantilever(self.length, 0.01, 0.01, divisions, case.element, mirrored)
        mass = DENSITY * self.length * 1e-4
        held = shape.region("held")
        body = SoftBody("beam", shape, Material(self.young, poisson), mass, held, HOLD, case.fem())
        if not static_equilibrium(body, np.array([0.0, 0.0, -GRAVITY])).converged:
            return float("nan")
        tip = shape.region("tip")
        return float((shape.points - body.node_positions())[tip, 2].mean())


LONG, SHORT = Bar(0.10, 262e3), Bar(0.04, 66e3)


def push_force(case: ElementCase, nodes: int, poisson: float) -> float:
    """[N] Force on the plate with the cup at rest, pushed by DEPTH, without friction."""
    # almost no air, whose pressure would add to the force
    world = World(gravity=(0.0, 0.0, 0.0), friction=0.0, atmosphere=Atmosphere(pressure=1e-3))
    soft = world.add_soft(
        cup(element=case.element, nodes=nodes), Material(4e6, poisson), 0.02,
        name="cup", position=(0.0, 0.0, 0.5e-3), fem=case.fem(),
    )  # fmt: skip
    world.add_rigid(box(0.06, 0.06, 0.03), 1.0, fixed=True)
    world.prescribe_motion(soft["top"], path([(0.0, 0.0), (0.4, -0.5e-3 - DEPTH)]))
    *_, last = Simulation(world, h=0.01).run(0.7)
    return -float(last.reactions["cup"][2])


def run(progress: Progress) -> Result:
    """The tables; the claims decide `ok`."""
    tick = Ticker(progress, (2 * len(ELEMENT_CASES) + len(DEFAULTS) + 1) * len(POISSON), "locking")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LockingWarning)  # that is what is shown
        found = LockingResults(
            beam={f: _row(partial(LONG.sag, f, MESH), f, tick) for f in ELEMENT_CASES},
            fine={f: _row(partial(LONG.sag, f, FINE), f, tick) for f in DEFAULTS},
            elastica=[LONG.elastica(n) for n in POISSON],
            linear={n: LONG.sag(ElementCase("iicr11"), FINER_LINEAR, n) for n in (0.45, 0.4999)},
            figure_9=_figure_9(),
            push={f: _row(partial(push_force, f, CUP_NODES), f, tick) for f in ELEMENT_CASES},
            fine_push=_row(partial(push_force, DEFAULTS[0], FINE_CUP), DEFAULTS[0], tick),
        )
    claims = _claims(found)
    fine = {f"{f.label}, 16 x 4 x 4 bricks": v for f, v in found.fine.items()}
    reference = {
        f"hex20p, {FINE_CUP} nodes": found.fine_push,
        "CalculiX, axisymmetric": [CALCULIX.get(n, float("nan")) for n in POISSON],
    }
    tables = (
        _table(
            "locking: sag of the 10 x 1 x 1 cm cantilever, 192 tets or 32 hexes [mm]", 1e3,
            {**_labelled(found.beam), **fine, "elastica with shear": found.elastica},
        ),
        Table(
            "M figure 9: sag of the 4 x 1 x 1 cm cantilever, nu = 0.25", ("mesh", "sag [mm]"),
            tuple((k, 1e3 * v) for k, v in found.figure_9.items()),
        ),
        _table(
            f"locking: push force of the cup at {1e3 * DEPTH:g} mm, about {CUP_NODES} nodes [N]",
            1.0, {**_labelled(found.push), **reference},
        ),
        Table("locking: claims", ("claim", "worst [%]", "allowed [%]", "holds"), claims),
        Table(
            "locking: the same bars on coarser or other meshes, not claimed",
            ("comparison", "worst [%]"), _not_claimed(found),
            (
                "the meshes of the claims were chosen after the results; the solid's clamp also",
                "prevents lateral contraction, which beam theory ignores",
            ),
        ),
    )  # fmt: skip
    ok = all(bool(c[-1]) for c in claims)
    return Result(tables, ok, {"locking.png": partial(_draw, found)})


@dataclass(frozen=True)
class LockingResults:
    """All figures: rows over POISSON."""

    beam: dict[ElementCase, list[float]]  # [m]
    fine: dict[ElementCase, list[float]]  # [m] with the default elements, refined once
    elastica: list[float]  # [m]
    linear: dict[float, float]  # [m] many linear tets, by nu
    figure_9: dict[str, float]  # [m]
    push: dict[ElementCase, list[float]]  # [N]
    fine_push: list[float]  # [N]


def _labelled(rows: dict[ElementCase, list[float]]) -> dict[str, list[float]]:
    return {case.label: row for case, row in rows.items()}


def _row(value: Callable[[float], float], case: ElementCase, tick: Ticker) -> list[float]:
    out = []
    for poisson in POISSON:
        out.append(value(poisson) if case.can(poisson) else float("nan"))
        tick()
    return out


MANY = (40, 10, 10)  # 24 000 tets
NINE = (("tet4", MANY), ("tet10", MESH), ("iicr21", MESH), ("tet4", MESH))


def _figure_9() -> dict[str, float]:
    """[m]; nu = 0.25."""
    return {
        _nine(element, divisions, mirrored): SHORT.sag(
            ElementCase(element), divisions, 0.25, mirrored
        )
        for mirrored in (True, False)
        for element, divisions in NINE
    } | {"elastica with shear": SHORT.elastica(0.25)}


def _nine(element: str, divisions: tuple[int, int, int], mirrored: bool = True) -> str:
    tets = 6 * int(np.prod(divisions))
    return f"{element}, {tets} tets, {'mirrored' if mirrored else 'parallel'} diagonals"


def _default(rows: dict[ElementCase, list[float]], kind: str, reference: list[float]) -> float:
    """Largest departure from a reference of what a mesh of that kind gets by default."""
    off = [0.0]
    for i, poisson in enumerate(POISSON):
        case = ElementCase(default_element([kind], poisson))
        if case in rows and case.can(poisson):
            off.append(rows[case][i] / reference[i] - 1.0)
    return max(off, key=abs)


def _quadratic(found: LockingResults, mirrored: bool) -> float:
    """Worst of the quadratic meshes of figure 9, against many linear tets."""
    many = found.figure_9[_nine("tet4", MANY, mirrored)]
    off = [found.figure_9[_nine(e, MESH, mirrored)] / many - 1.0 for e in ("tet10", "iicr21")]
    return max(off, key=abs)


def _not_claimed(found: LockingResults) -> tuple[tuple[Cell, ...], ...]:
    rows = {
        "hexahedra by default, 32 cells: as the elastica": _default(
            found.beam, "hex20", found.elastica
        ),
        "tetrahedra by default, 192 cells: as the elastica": _default(
            found.beam, "tet10", found.elastica
        ),
        "figure 9 with parallel diagonals": _quadratic(found, False),
    }
    return tuple((text, 100.0 * x) for text, x in rows.items())


def _claims(found: LockingResults) -> tuple[tuple[Cell, ...], ...]:
    stiff, at = POISSON.index(0.4999), POISSON.index(0.45)
    true = found.fine[ElementCase("iicr21")]

    def trend(element: str) -> float:
        row = found.beam[ElementCase(element)]
        return row[stiff] / row[at] - 1.0

    hexes, tets, many = "hexahedra by default", "tetrahedra by default", "iicr11, 48 x 8 x 8 bricks"
    iicr21 = found.beam[ElementCase("iicr21")]
    claims: tuple[tuple[str, float, float], ...] = (
        ("iicr11: sag at nu = 0.4999 as at 0.45", trend("iicr11"), 0.05),
        ("iicr21: sag at nu = 0.4999 as at 0.45", trend("iicr21"), 0.05),
        ("iicr21: sag at nu = 0.4999 as refined", iicr21[stiff] / true[stiff] - 1.0, 0.05),
        (f"{many}: at nu = 0.45 as iicr21 refined", found.linear[0.45] / true[at] - 1.0, 0.05),
        (f"{many}: at nu = 0.4999", found.linear[0.4999] / true[stiff] - 1.0, 0.05),
        (f"{hexes}: as iicr21 refined, all nu", _default(found.beam, "hex20", true), 0.03),
        (f"{tets}: as iicr21 refined, all nu", _default(found.beam, "tet10", true), 0.03),
        (f"{hexes}, refined: as the elastica", _default(found.fine, "hex20", found.elastica), 0.03),
        (f"{tets}, refined: as the elastica", _default(found.fine, "tet10", found.elastica), 0.03),
        ("figure 9, mirrored: 192 quadratic tets as 24 000 linear", _quadratic(found, True), 0.03),
    )
    return tuple((text, 100.0 * x, 100.0 * most, abs(x) <= most) for text, x, most in claims)


def _table(title: str, scale: float, rows: dict[str, list[float]]) -> Table:
    columns = ("element", *(f"nu = {n:g}" for n in POISSON))
    cells: tuple[tuple[Cell, ...], ...] = tuple(
        (label, *(scale * v for v in values)) for label, values in rows.items()
    )
    return Table(title, columns, cells)


def _draw(found: LockingResults, path: Path) -> None:
    figure = new_figure(11.0, 5.0)
    left, right = figure.subplots(1, 2)
    place = np.arange(len(POISSON))
    for case in ELEMENT_CASES:
        # iicr10 equals tet4: dashed, so that both are visible
        style = "--" if case.element == "iicr10" else "-"
        left.plot(
            place, 1e3 * np.array(found.beam[case]), style, marker="o", ms=3, label=case.label
        )
        right.semilogy(place, found.push[case], style, marker="o", ms=3)
    left.plot(place, 1e3 * np.array(found.elastica), "k--", label="elastica with shear")
    left.plot(place, 1e3 * np.array(found.fine[ElementCase("iicr21")]), "k:", label="refined")
    right.semilogy(place, found.fine_push, "k:", label="refined")
    known = [POISSON.index(n) for n in CALCULIX]
    right.plot(known, list(CALCULIX.values()), "kx", label="CalculiX")
    left.set_ylabel("sag of the cantilever [mm]")
    right.set_ylabel("push force of the cup [N]")
    for axis in (left, right):
        axis.set_xticks(place, [f"{n:g}" for n in POISSON])
        axis.set_xlabel("Poisson's ratio")
        axis.grid(alpha=0.25)
        axis.spines[["top", "right"]].set_visible(False)
    figure.legend(
        *left.get_legend_handles_labels(), loc="outside lower center", ncols=6, fontsize=8
    )
    figure.savefig(path, dpi=120)
