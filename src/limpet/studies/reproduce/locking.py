"""Which element to trust: a cantilever (M figures 7 and 9) and a pushed cup, from nu = 0.25 to 0.5.

Locking is a body that answers too stiffly because its element cannot bend, or cannot deform at all
without a change of volume. Curves of pressure and air hide it; sag and force do not.
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
class Form:
    """An element as it is used."""

    element: str
    stabilisation: float = 1.0

    @property
    def label(self) -> str:
        return self.element if self.stabilisation else f"{self.element}, as in M"

    def can(self, poisson: float) -> bool:
        return poisson < 0.5 or self.element in ("iicr11", "iicr21")

    def fem(self) -> Fem:
        return Fem(element=self.element, stabilisation=self.stabilisation)


FORMS = (
    Form("tet4"), Form("iicr10"), Form("iicr11", 0.0), Form("iicr11"), Form("hex8"), Form("tet10"),
    Form("iicr21"), Form("hex20"), Form("hex20r"), Form("hex20p"),
)  # fmt: skip
DEFAULTS = (Form("hex20p"), Form("iicr21"), Form("tet10"))


@dataclass(frozen=True)
class Bar:
    """A beam of M: 10 x 1 x 1 cm (figure 7) or 4 x 1 x 1 cm (figure 9)."""

    length: float
    young: float

    def elastica(self, poisson: float) -> float:
        """[m] sag of the beam with shear."""
        beam = Beam(self.length, 0.01, 0.01, self.young, poisson)
        return bend(beam, DENSITY * GRAVITY * 1e-4).sag

    def sag(
        self, form: Form, divisions: tuple[int, int, int], poisson: float, mirrored: bool = False
    ) -> float:
        """[m] of the tip at rest; nan if no rest was found.

        Bricks are cut into tets along diagonals that are all alike, as in the peers' meshes, or
        mirrored from brick to brick: then they lock later.
        """
        shape = cantilever(self.length, 0.01, 0.01, divisions, form.element, mirrored)
        mass = DENSITY * self.length * 1e-4
        held = shape.region("held")
        body = SoftBody("beam", shape, Material(self.young, poisson), mass, held, HOLD, form.fem())
        if not static_equilibrium(body, np.array([0.0, 0.0, -GRAVITY])).converged:
            return float("nan")
        tip = shape.region("tip")
        return float((shape.points - body.node_positions())[tip, 2].mean())


LONG, SHORT = Bar(0.10, 262e3), Bar(0.04, 66e3)


def push_force(form: Form, nodes: int, poisson: float) -> float:
    """[N] on the plate with the cup pressed down by DEPTH and come to rest, without friction."""
    # as good as no air: its pressure would add to the force while the cup settles
    world = World(gravity=(0.0, 0.0, 0.0), friction=0.0, atmosphere=Atmosphere(pressure=1e-3))
    soft = world.add_soft(
        cup(element=form.element, nodes=nodes), Material(4e6, poisson), 0.02,
        name="cup", position=(0.0, 0.0, 0.5e-3), fem=form.fem(),
    )  # fmt: skip
    world.add_rigid(box(0.06, 0.06, 0.03), 1.0, fixed=True)
    world.prescribe_motion(soft["top"], path([(0.0, 0.0), (0.4, -0.5e-3 - DEPTH)]))
    *_, last = Simulation(world, h=0.01).run(0.7)
    return -float(last.reactions["cup"][2])


def run(progress: Progress) -> Result:
    """The tables; what is claimed of them decides `ok`."""
    tick = Ticker(progress, (2 * len(FORMS) + len(DEFAULTS) + 1) * len(POISSON), "locking")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LockingWarning)  # that is what is shown
        found = CupResponse(
            beam={f: _row(partial(LONG.sag, f, MESH), f, tick) for f in FORMS},
            fine={f: _row(partial(LONG.sag, f, FINE), f, tick) for f in DEFAULTS},
            elastica=[LONG.elastica(n) for n in POISSON],
            linear={n: LONG.sag(Form("iicr11"), FINER_LINEAR, n) for n in (0.45, 0.4999)},
            figure_9=_figure_9(),
            push={f: _row(partial(push_force, f, CUP_NODES), f, tick) for f in FORMS},
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
        Table("locking: what is claimed", ("claim", "worst [%]", "allowed [%]", "holds"), claims),
        Table(
            "locking: the same bars on coarser or other meshes, not claimed",
            ("comparison", "worst [%]"), _not_claimed(found),
            (
                "the meshes of the claims were chosen after looking; the solid's clamp also holds",
                "the width of its section, which the beam ignores",
            ),
        ),
    )  # fmt: skip
    ok = all(bool(c[-1]) for c in claims)
    return Result(tables, ok, {"locking.png": partial(_draw, found)})


@dataclass(frozen=True)
class CupResponse:
    """All figures: rows over POISSON."""

    beam: dict[Form, list[float]]  # [m]
    fine: dict[Form, list[float]]  # [m] with the default elements, refined once
    elastica: list[float]  # [m]
    linear: dict[float, float]  # [m] many linear tets, by nu
    figure_9: dict[str, float]  # [m]
    push: dict[Form, list[float]]  # [N]
    fine_push: list[float]  # [N]


def _labelled(rows: dict[Form, list[float]]) -> dict[str, list[float]]:
    return {form.label: row for form, row in rows.items()}


def _row(value: Callable[[float], float], form: Form, tick: Ticker) -> list[float]:
    out = []
    for poisson in POISSON:
        out.append(value(poisson) if form.can(poisson) else float("nan"))
        tick()
    return out


MANY = (40, 10, 10)  # 24 000 tets
NINE = (("tet4", MANY), ("tet10", MESH), ("iicr21", MESH), ("tet4", MESH))


def _figure_9() -> dict[str, float]:
    """[m]; nu = 0.25."""
    return {
        _nine(element, divisions, mirrored): SHORT.sag(Form(element), divisions, 0.25, mirrored)
        for mirrored in (True, False)
        for element, divisions in NINE
    } | {"elastica with shear": SHORT.elastica(0.25)}


def _nine(element: str, divisions: tuple[int, int, int], mirrored: bool = True) -> str:
    tets = 6 * int(np.prod(divisions))
    return f"{element}, {tets} tets, {'mirrored' if mirrored else 'parallel'} diagonals"


def _default(rows: dict[Form, list[float]], kind: str, reference: list[float]) -> float:
    """Largest departure from a reference of what a mesh of that kind gets by default."""
    off = [0.0]
    for i, poisson in enumerate(POISSON):
        form = Form(default_element([kind], poisson))
        if form in rows and form.can(poisson):
            off.append(rows[form][i] / reference[i] - 1.0)
    return max(off, key=abs)


def _quadratic(found: CupResponse, mirrored: bool) -> float:
    """Worst of the quadratic meshes of figure 9, against many linear tets."""
    many = found.figure_9[_nine("tet4", MANY, mirrored)]
    off = [found.figure_9[_nine(e, MESH, mirrored)] / many - 1.0 for e in ("tet10", "iicr21")]
    return max(off, key=abs)


def _not_claimed(found: CupResponse) -> tuple[tuple[Cell, ...], ...]:
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


def _claims(found: CupResponse) -> tuple[tuple[Cell, ...], ...]:
    stiff, at = POISSON.index(0.4999), POISSON.index(0.45)
    true = found.fine[Form("iicr21")]

    def trend(element: str) -> float:
        row = found.beam[Form(element)]
        return row[stiff] / row[at] - 1.0

    hexes, tets, many = "hexahedra by default", "tetrahedra by default", "iicr11, 48 x 8 x 8 bricks"
    iicr21 = found.beam[Form("iicr21")]
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


def _draw(found: CupResponse, path: Path) -> None:
    figure = new_figure(11.0, 5.0)
    left, right = figure.subplots(1, 2)
    place = np.arange(len(POISSON))
    for form in FORMS:
        # iicr10 is tet4 in other words: dashed, so that both are seen
        style = "--" if form.element == "iicr10" else "-"
        left.plot(
            place, 1e3 * np.array(found.beam[form]), style, marker="o", ms=3, label=form.label
        )
        right.semilogy(place, found.push[form], style, marker="o", ms=3)
    left.plot(place, 1e3 * np.array(found.elastica), "k--", label="elastica with shear")
    left.plot(place, 1e3 * np.array(found.fine[Form("iicr21")]), "k:", label="refined")
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
