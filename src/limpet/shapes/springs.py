"""Coil springs: hexahedra swept along the wire, with the round wire embedded in them."""

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
    radius: float = 0.012,  # [m] of the coil, to the centre of the wire
    wire: float = 0.002,  # [m] diameter of the wire
    pitch: float = 0.008,  # [m] per turn
    turns: float = 4.0,  # number of active turns
    *,
    ends: float = 0.5,  # flat turns at each end
    per_turn: int | None = None,  # cells per turn; 8 for hex20, 16 for hex8 by default
    element: str | None = None,
    sides: int = 6,  # facets of the collision surface around the wire
) -> SoftShape:
    """A coil spring around z, from z = 0, with one cell across the wire; hex20 by default.

    The square section of the cells is as stiff as the embedded round wire: the axial stiffness is
    that of a helical spring, G d^4 / (8 D^3 turns). Regions: bottom, top (the flat ends).
    """
    kind = hexahedra(element, "hex20", "coil spring")
    for label, value in (("radius", radius), ("wire", wire), ("pitch", pitch), ("turns", turns)):
        require_positive(f"coil spring {label}", value)
    if per_turn is None:
        per_turn = 8 if kind == "hex20" else 16
    if per_turn < 4 or sides < 3:
        raise LimpetError(
            f"coil spring per_turn = {per_turn}, sides = {sides}: expected 4 cells per turn and 3 "
            "sides or more"
        )
    if not 0.0 < ends < 1.0:
        raise LimpetError(f"coil spring ends = {ends:g}: expected a number between 0 and 1")
    if radius < wire:
        raise LimpetError(f"coil spring radius = {radius:g} m: expected at least wire = {wire:g} m")
    if turns + ends > 1.0 and pitch * (1.0 - ends) < 1.05 * wire:
        raise LimpetError(
            f"coil spring pitch = {pitch:g} m: its coils touch its flat ends; expected more than "
            f"{1.05 * wire / (1.0 - ends):.3g} m"
        )
    flat = max(round(ends * per_turn), 1)
    between = max(round(turns * per_turn), 2)
    # (cells,) boundaries of the cells along the wire, in turns: flat, rising, flat
    along = np.concatenate(
        [
            np.linspace(0.0, ends, flat + 1),
            ends + np.linspace(0.0, turns, between + 1)[1:],
            ends + turns + np.linspace(0.0, ends, flat + 1)[1:],
        ]
    )

    def place(cell: Array, across: Array) -> Array:
        """Points at the fractional `cell` (n,) along the wire; `across` is (up, out) in wires."""
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
        """The surface of the wire: rings of `corners` vertices at stations in cells."""
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
        "coil spring", points, {kind: cells}, round_wire(ends_of_cells, sides),
        round_wire(smooth, max(12, sides)), regions, element,
    )  # fmt: skip


def _tube_triangles(rings: int, corners: int) -> Array:
    """Triangles of a closed tube, outward if the corners of a ring run from (up) to (out)."""
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
