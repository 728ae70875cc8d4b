"""Coil springs: hexahedra swept along the wire, the round wire embedded in them."""

from __future__ import annotations

import numpy as np

from limpet.errors import LimpetError, require_positive
from limpet.geometry.shape import Array, Binding, SoftShape
from limpet.meshing.embedded import embed, hexahedra
from limpet.meshing.grids import structured

# A round wire of diameter d and a square one of this side have the same second moments of area, in
# bending and (one cell across a section keeps it plane) in torsion; their areas differ by 2 %.
SQUARE = (3.0 * np.pi / 16.0) ** 0.25


def coil_spring(
    radius: float = 0.012,  # [m] of the coil, to the middle of the wire
    wire: float = 0.002,  # [m] diameter
    pitch: float = 0.008,  # [m] a turn
    turns: float = 4.0,  # active ones, between the ends
    *,
    ends: float = 0.5,  # turns that lie flat at each end
    per_turn: int | None = None,  # cells; 8 of hex20, 16 of hex8
    element: str | None = None,
    sides: int = 6,  # of the collision surface round the wire
) -> SoftShape:
    """A coil spring about z that stands on z = 0, one cell across its wire; hex20 unless told.

    The cells' square section is as stiff as the round wire, which is embedded in them: its axial
    stiffness is the helical spring's G d^4 / (8 D^3 turns). Regions: bottom, top (the flat ends,
    which are there to be held).
    """
    kind = hexahedra(element, "hex20", "coil spring")
    for label, value in (("radius", radius), ("wire", wire), ("pitch", pitch), ("turns", turns)):
        require_positive(f"coil spring {label}", value)
    if per_turn is None:
        per_turn = 8 if kind == "hex20" else 16
    if per_turn < 4 or sides < 3:
        raise LimpetError(
            f"coil spring per_turn = {per_turn}, sides = {sides}: expected 4 cells a turn and 3 "
            "sides or more"
        )
    if not 0.0 < ends < 1.0:
        raise LimpetError(f"coil spring ends = {ends:g}: expected part of a turn, between 0 and 1")
    if radius < wire:
        raise LimpetError(f"coil spring radius = {radius:g} m: expected at least wire = {wire:g} m")
    if turns + ends > 1.0 and pitch * (1.0 - ends) < 1.05 * wire:
        raise LimpetError(
            f"coil spring pitch = {pitch:g} m: its coils touch its flat ends; expected more than "
            f"{1.05 * wire / (1.0 - ends):.3g} m"
        )
    flat = max(round(ends * per_turn), 1)
    between = max(round(turns * per_turn), 2)
    # (cells,) edges of the cells along the wire, in turns: flat, rising, flat
    along = np.concatenate(
        [
            np.linspace(0.0, ends, flat + 1),
            ends + np.linspace(0.0, turns, between + 1)[1:],
            ends + turns + np.linspace(0.0, ends, flat + 1)[1:],
        ]
    )

    def place(cell: Array, across: Array) -> Array:
        """Points at `cell` (n,) along the wire, a share of a cell included; (up, out) in wires."""
        turn = np.interp(cell, np.arange(len(along)), along)
        angle = 2.0 * np.pi * turn
        r = radius + wire * across[:, 1]
        z = pitch * np.clip(turn - ends, 0.0, turns) + wire * (0.5 + across[:, 0])
        return np.stack([r * np.cos(angle), r * np.sin(angle), z], axis=1)

    n = len(along) - 1
    unit, cells = structured(kind, (n, 1, 1))  # along, up, out: right-handed
    points = place(unit[:, 0] * n, SQUARE * (unit[:, 1:] - 0.5))
    at = np.round(2.0 * n * unit[:, 0]).astype(int)  # in half cells
    regions = {
        "bottom": np.flatnonzero(at <= 2 * flat),
        "top": np.flatnonzero(at >= 2 * (n - flat)),
    }

    def round_wire(stations: Array, corners: int) -> Binding:
        """The wire's surface, rings of so many corners at stations counted in cells."""
        angle = 2.0 * np.pi * (np.arange(corners) + 0.5) / corners
        cell = np.minimum(stations.astype(int), n - 1)
        ring = np.stack([np.cos(angle), np.sin(angle)], axis=1) / SQUARE  # the half side is 1
        ring = np.concatenate([np.tile(ring, (len(stations), 1)), np.zeros((2, 2))])
        where = np.append(np.repeat(np.arange(len(stations)), corners), [0, len(stations) - 1])
        xi = np.column_stack([2.0 * (stations - cell)[where] - 1.0, ring])
        return embed(kind, cells, cell[where], xi, _tube_triangles(len(stations), corners))

    ends_of_cells = np.arange(n + 1.0)
    smooth = np.arange(2 * n + 1) / 2.0 if kind == "hex20" else ends_of_cells
    return SoftShape(
        "coil spring",
        points,
        {kind: cells},
        round_wire(ends_of_cells, sides),
        round_wire(smooth, max(12, sides)),
        regions,
        element,
    )


def _tube_triangles(rings: int, corners: int) -> Array:
    """A tube of rings, outward when their corners turn from (up) to (out); two caps at the end."""
    number = np.arange(rings * corners).reshape(rings, corners)
    a, b = number[:-1], np.roll(number[:-1], -1, axis=1)
    d, c = number[1:], np.roll(number[1:], -1, axis=1)
    quads = np.stack([np.stack([a, b, c], -1), np.stack([a, c, d], -1)]).reshape(-1, 3)
    first, last = number[0], number[-1]
    start, end = np.full(corners, rings * corners), np.full(corners, rings * corners + 1)
    caps = [
        np.stack([start, np.roll(first, -1), first], axis=1),
        np.stack([end, last, np.roll(last, -1)], axis=1),
    ]
    return np.concatenate([quads, *caps])
