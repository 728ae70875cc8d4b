"""What the live page is sent: a header once, as JSON, then binary frames.

A frame is one little-endian buffer. Sections follow each other, all a multiple of four bytes:

    uint32  magic, epoch, step, flags, numbers of vertices, contacts, cavities, their points and
            triangles, which of the header's colours, numbers of points and triangles of patches
    float64 time [s], real-time factor, then the figures of FIGURES
    float32 positions (vertices, 3), colour (vertices)
    float32 contact points (contacts, 3), contact forces (contacts, 3)
    per cavity: float32 pressure, uint32 points, uint32 triangles, 0
    float32 cavity points (.., 3), uint32 cavity triangles (.., 3), by their own cavity's points
    float32 patch points (.., 3), pressures at them, uint32 patch triangles (.., 3): the surfaces on
            which pressure fields meet

`epoch` counts the simulations: it changes when the parameters do, and with it the header.
"""

from __future__ import annotations

import numpy as np

from limpet.record.frame import COLOURS, Frame

Array = np.ndarray

MAGIC = 0x54504D4C  # "LMPT"
PLAYING, ENDED = 1, 2  # flags


def pack(moment: Frame, colour: str, *, epoch: int, flags: int, factor: float) -> bytes:
    """The frame of a moment, coloured by its field `colour`; factor: simulated by real time."""
    air = moment.cavities
    points = sum(len(a.points) for a in air)
    triangles = sum(len(a.triangles) for a in air)
    counts = len(moment.positions), len(moment.contact_points), len(air), points, triangles
    table = np.zeros((len(air), 4), "<u4")
    for row, a in zip(table, air):
        row[0] = np.float32(a.pressure).view("<u4")
        row[1], row[2] = len(a.points), len(a.triangles)
    values = moment.fields.get(colour)
    if values is None:
        values = np.full(len(moment.positions), np.nan, np.float32)
    patch, which = moment.patch, list(COLOURS).index(colour)
    of_patch = len(patch.points), len(patch.triangles)
    parts = (
        np.array([MAGIC, epoch, moment.step, flags, *counts, which, *of_patch], "<u4"),
        np.array([moment.time, factor, *moment.figures], "<f8"),
        moment.positions.astype("<f4", copy=False),
        values.astype("<f4", copy=False),
        moment.contact_points.astype("<f4", copy=False),
        moment.contact_forces.astype("<f4", copy=False),
        table,
        *(a.points.astype("<f4", copy=False) for a in air),
        *(a.triangles.astype("<u4", copy=False) for a in air),
        patch.points.astype("<f4", copy=False),
        patch.pressure.astype("<f4", copy=False),
        patch.triangles.astype("<u4", copy=False),
    )
    return b"".join(np.ascontiguousarray(p).data.cast("B") for p in parts if p.size)
