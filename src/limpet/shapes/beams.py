"""Solids from a grid of bricks with six tetrahedra each: spine, hinge, cantilever.

The defaults give about the node counts of M table 1. Metres, z up.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from limpet.errors import LimpetError, require_positive
from limpet.geometry.cells import mesh_of
from limpet.geometry.shape import Array, SoftShape, boundary
from limpet.meshing.bricks import brick_tets, bricks
from limpet.meshing.grids import quadratic_tets, structured
from limpet.meshing.tetrahedra import solid


def spine(
    length: float = 0.19,  # [m] along x
    width: float = 0.05,  # [m] along y
    height: float = 0.03,  # [m] along z
    vertebrae: int = 7,  # number of vertebrae
    order: int = 2,  # 1: tet4 cells, 2: tet10 cells
) -> SoftShape:
    """M's soft robot: a backbone along x with transverse vertebrae; regions left and right.

    The defaults are the large one; the small one is 9.5 x 2.5 x 1.5 cm.
    """
    if vertebrae < 2:
        raise LimpetError(f"spine vertebrae = {vertebrae}: expected 2 or more")
    filled = np.zeros((4 * vertebrae - 2, 6, 3), dtype=bool)
    filled[np.arange(len(filled)) % 4 < 2] = True  # two bricks with a vertebra, two without
    filled[:, 2:4, :2] = True
    lines = _lines("spine", (length, width, height), filled.shape)
    return _brick_solid(filled, lines, "spine", order)


def hinge(
    length: float = 0.082,  # [m] along x
    width: float = 0.06,  # [m] along y
    height: float = 0.01,  # [m] along z
    flexure: tuple[float, float] = (0.022, 0.002),  # [m] length, thickness
    order: int = 2,  # 1: tet4 cells, 2: tet10 cells
) -> SoftShape:
    """Two plates connected by a flexure at the bottom; regions left and right."""
    filled = np.ones((23, 12, 2), dtype=bool)
    filled[6:17, :, 1] = False
    _, y, _ = _lines("hinge", (length, width, height), filled.shape)
    bend, thin = flexure
    if not (0.0 < bend < length and 0.0 < thin < height):
        raise LimpetError(
            f"hinge flexure = {flexure}: expected a length below {length:g} m and a thickness "
            f"below {height:g} m"
        )
    x = np.concatenate(
        [
            np.linspace(-length / 2.0, -bend / 2.0, 7)[:-1],
            np.linspace(-bend / 2.0, bend / 2.0, 12),
            np.linspace(bend / 2.0, length / 2.0, 7)[1:],
        ]
    )
    return _brick_solid(filled, (x, y, np.array([0.0, thin, height])), "hinge", order)


def cantilever(
    length: float = 0.1,  # [m] along x
    width: float = 0.01,  # [m] along y
    height: float = 0.01,  # [m] along z
    divisions: tuple[int, int, int] = (8, 2, 2),  # bricks along x, y, z
    element: str | None = None,
    mirrored: bool = True,  # mirrored diagonals of the bricks; else parallel ones
) -> SoftShape:
    """A beam along x from the origin, of bricks or of six tets per brick; tet10 by default.

    Regions: held, tip.
    """
    if min(divisions) < 1:
        raise LimpetError(f"cantilever divisions = {divisions}: expected three numbers from 1 up")
    for label, value in (("length", length), ("width", width), ("height", height)):
        require_positive(f"cantilever {label}", value, " m")
    kind = mesh_of(element, "tet10", "cantilever")
    points, cells = structured("hex8" if kind.startswith("tet") else kind, divisions)
    points = (points - [0.0, 0.5, 0.5]) * [length, width, height]
    if kind.startswith("tet"):
        cells = brick_tets(cells, np.argwhere(np.ones(divisions)), mirrored)
    if kind == "tet10":
        points, cells = quadratic_tets(points, cells)
    skin = boundary({kind: cells})
    shape = SoftShape("cantilever", points, {kind: cells}, skin, skin, element=element)
    return _with_ends(shape, "held", "tip")


def _brick_solid(filled: Array, lines: tuple[Array, ...], name: str, order: int) -> SoftShape:
    points, cells, place = bricks(filled, lines)
    return _with_ends(solid(points, brick_tets(cells, place), name, order), "left", "right")


def _lines(name: str, sizes: tuple[float, ...], counts: tuple[int, ...]) -> tuple[Array, ...]:
    """Uniform grid lines, centred in x and y, from z = 0."""
    for label, value in zip(("length", "width", "height"), sizes):
        require_positive(f"{name} {label}", value, " m")
    return tuple(
        np.linspace(-s / 2.0 if axis < 2 else 0.0, s / 2.0 if axis < 2 else s, n + 1)
        for axis, (s, n) in enumerate(zip(sizes, counts))
    )


def _with_ends(shape: SoftShape, low: str, high: str) -> SoftShape:
    x = shape.points[:, 0]
    ends = {low: np.flatnonzero(x == x.min()), high: np.flatnonzero(x == x.max())}
    return replace(shape, regions=ends)
