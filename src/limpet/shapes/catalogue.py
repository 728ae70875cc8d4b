"""Cups of a maker's catalogue by their diameter: `limpet.cups`.

    cup = lp.cups.bellows(0.030, folds=1.5)

All dimensions are in proportion to the diameter of the lip, as stated at each design. They are
typical of makers' drawings, and the drawing of none. All but the oval and the foam ring have a bore
in the middle, which the gripper's fitting fills.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from limpet.errors import LimpetError, suggest
from limpet.geometry.shape import Array, SoftShape
from limpet.meshing.section.outline import Corner, Part
from limpet.shapes.section import cup_from_section
from limpet.shapes.section_mesh import MeshedSection, Outline, mesh_section

SMALLEST, LARGEST = 5e-3, 100e-3  # [m]


@dataclass(frozen=True)
class CupDesign:
    """A cup of the catalogue, by its diameter."""

    name: str
    summary: str  # its proportions, in diameters
    outline: Callable[[float], Outline]  # by diameter [m]
    stroke: float  # diameters: how far it can be pushed until its inside meets the part or itself
    straight: float = 0.0  # diameters: straight sides of an oval, whose width is the diameter

    def section(self, diameter: float, nodes: int | None = None) -> MeshedSection:
        """The section, meshed in the plane."""
        sides = (self.straight * diameter, 0.0)
        return mesh_section(self.outline(_checked(diameter)), nodes, straight=sides)

    def shape(self, diameter: float, nodes: int | None = None) -> SoftShape:
        """The cup, `diameter` [m] wide, with about `nodes` nodes."""
        return cup_from_section(
            self.outline(_checked(diameter)), nodes=nodes, straight=self.straight * diameter
        )


def _checked(diameter: float) -> float:
    if not SMALLEST <= diameter <= LARGEST:
        raise LimpetError(f"cup diameter = {diameter:g} m: expected {SMALLEST:g} to {LARGEST:g} m")
    return diameter


def _scaled(size: float, corners: Sequence[Corner | tuple[float, float]]) -> list[Corner]:
    """Corners given in diameters."""
    out = []
    for c in corners:
        c = c if isinstance(c, Corner) else Corner(*c)
        arc = None if c.through is None else (size * c.through[0], size * c.through[1])
        out.append(Corner(size * c.r, size * c.z, size * c.fillet, arc, c.edge))
    return out


# collar and bore that all round cups but the foam ring have, in diameters
BORE, COLLAR = 0.06, 0.15


def _collar(top: float) -> list[Corner]:
    """The corners of a collar from its outer edge to the bore, which the fitting fills."""
    return [Corner(COLLAR, top), Corner(BORE, top, edge="port")]


def _flat(size: float) -> Outline:
    return _scaled(
        size,
        [
            Corner(BORE, 0.11, through=(0.30, 0.075)), (0.49, 0.0), (0.5, 0.02),
            Corner(0.24, 0.15), Corner(COLLAR, 0.17, fillet=0.02), *_collar(0.40),
        ],
    )  # fmt: skip


def _flat_cleats(size: float) -> Outline:
    return _scaled(
        size,
        [
            (BORE, 0.12), (0.16, 0.115), (0.16, 0.04), (0.20, 0.04), (0.20, 0.11), (0.28, 0.095),
            (0.28, 0.03), (0.32, 0.03), (0.32, 0.085), Corner(0.40, 0.06), (0.49, 0.0),
            (0.5, 0.02), Corner(0.40, 0.10), Corner(0.24, 0.165), Corner(COLLAR, 0.18, fillet=0.02),
            *_collar(0.42),
        ],
    )  # fmt: skip


def _bell(size: float) -> Outline:
    return _scaled(
        size,
        [
            Corner(BORE, 0.30, through=(0.34, 0.20)), (0.46, 0.0),
            Corner(0.5, 0.0, through=(0.39, 0.23)), (COLLAR, 0.37),
            *_collar(0.58),
        ],
    )  # fmt: skip


# of bellows: a fold, its depth, thicknesses, smaller radius of round folds, fillet at the collar
PITCH, DEPTH, WALL, PLATE, ROUND, NECK = 0.28, 0.15, 0.045, 0.08, 0.018, 0.04


def _bellows(size: float, folds: float) -> Outline:
    """A zigzag wall under a plate with a collar; its thickness is the same in the round folds."""
    count = round(2.0 * folds)
    outside = 0.5 - 0.35 * WALL
    z = 0.5 * PITCH * np.arange(count + 1)
    inward = np.arange(count + 1) % 2 == 1
    inner, outer = _offset(np.column_stack([np.where(inward, outside - DEPTH, outside), z]))
    top = float(z[-1])
    inner[-1, 1] = outer[-1, 1] = top
    small, large = ROUND, ROUND + WALL
    out_, in_ = np.where(inward, small, large), np.where(inward, large, small)
    bends = range(1, count)
    collar, up = COLLAR + 0.04, top + PLATE
    return _scaled(
        size,
        [
            tuple(outer[0]), *(Corner(outer[k, 0], outer[k, 1], out_[k]) for k in bends),
            tuple(outer[-1]), (float(outer[-1, 0]), up),
            Corner(collar, up, fillet=NECK), Corner(collar, up + 0.2),
            Corner(BORE, up + 0.2, edge="port"), (BORE, top), tuple(inner[-1]),
            *(Corner(inner[k, 0], inner[k, 1], in_[k]) for k in bends[::-1]), tuple(inner[0]),
        ],
    )  # fmt: skip


def _offset(line: Array) -> tuple[Array, Array]:
    """The two faces of a wall round its middle line, with mitred corners."""
    d = np.diff(line, axis=0)
    d /= np.linalg.norm(d, axis=1)[:, None]
    normal = np.column_stack([-d[:, 1], d[:, 0]])
    both = np.concatenate([normal[:1], normal]) + np.concatenate([normal, normal[-1:]])
    out = WALL * both / np.sum(both * both, axis=1)[:, None]
    return line + out, line - out


def _foam_ring(size: float) -> Outline:
    ring = _scaled(size, [(0.34, 0.0), (0.5, 0.0), (0.5, 0.2), (0.34, 0.2)])
    plate = _scaled(size, [(0.0, 0.2), (0.5, 0.2), (0.5, 0.26), (0.0, 0.26)])
    return [Part(ring, "foam"), Part(plate, "held", 1000.0)]


def _oval(size: float) -> Outline:
    return _scaled(
        size,
        [
            Corner(0.0, 0.16, through=(0.30, 0.11)), (0.47, 0.0), (0.5, 0.03), Corner(0.25, 0.22),
            (0.25, 0.40), (0.0, 0.40),
        ],
    )  # fmt: skip


_SOLID = WALL / (DEPTH / np.hypot(DEPTH, 0.5 * PITCH))  # height of a wall of a fold
DESIGNS: dict[str, CupDesign] = {
    d.name: d
    for d in (
        CupDesign(
            "flat", "0.40 high, 0.11 deep, lip 0.02 thick, collar 0.30 wide, bore 0.12", _flat, 0.11
        ),
        CupDesign(
            "flat-cleats", "as flat, 0.42 high, 0.12 deep, two cleats 0.04 wide", _flat_cleats, 0.03
        ),
        CupDesign(
            "bell", "0.58 high, 0.30 deep, wall 0.04 to 0.07, collar 0.30 wide, bore 0.12",
            _bell, 0.3,
        ),
        CupDesign(
            "bellows-1.5", "0.70 high, round folds 0.28 high and 0.15 deep, wall 0.045, bore 0.12",
            lambda size: _bellows(size, 1.5), 1.5 * PITCH - 3.0 * _SOLID,
        ),
        CupDesign(
            "bellows-2.5", "0.98 high, round folds 0.28 high and 0.15 deep, wall 0.045, bore 0.12",
            lambda size: _bellows(size, 2.5), 2.5 * PITCH - 5.0 * _SOLID,
        ),
        CupDesign(
            "oval", "three times as long as wide; of the width: 0.40 high, 0.16 deep",
            _oval, 0.16, 2.0,
        ),
        CupDesign(
            "foam-ring", "ring 0.16 wide and 0.20 high under a rigid plate; use a foam's modulus",
            _foam_ring, 0.14,
        ),
    )
}  # fmt: skip


def design(name: str) -> CupDesign:
    """A design of the catalogue."""
    if name not in DESIGNS:
        raise LimpetError(f"cup = '{name}'{suggest(name, DESIGNS)}")
    return DESIGNS[name]


def flat(diameter: float, *, cleats: bool = False, nodes: int | None = None) -> SoftShape:
    """A flat cup, for smooth and even parts; `cleats` keep thin sheets from being drawn in."""
    return design("flat-cleats" if cleats else "flat").shape(diameter, nodes)


def bell(diameter: float, *, nodes: int | None = None) -> SoftShape:
    """A deep cup, for curved parts."""
    return design("bell").shape(diameter, nodes)


def bellows(diameter: float, *, folds: float = 1.5, nodes: int | None = None) -> SoftShape:
    """A bellows cup with 1.5 or 2.5 folds, for parts of different height."""
    return design(f"bellows-{folds:g}").shape(diameter, nodes)


def oval(width: float, *, nodes: int | None = None) -> SoftShape:
    """An oval cup, three times as long (along x) as wide, for narrow parts."""
    return design("oval").shape(width, nodes)


def foam_ring(diameter: float, *, nodes: int | None = None) -> SoftShape:
    """A ring of foam under a rigid plate, for rough parts."""
    return design("foam-ring").shape(diameter, nodes)
