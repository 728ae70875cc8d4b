"""Binary frames for the live page, which follow a header in JSON.

A frame is one little-endian buffer. Its sections follow each other, all a multiple of four bytes:

    uint32  magic, epoch, step, flags, numbers of vertices, contacts, cavities, cavity points,
            cavity triangles, index of the colour, numbers of patch points, patch triangles
    float64 time [s], real-time factor, then the values of FIGURES
    float32 positions (vertices, 3), colour (vertices)
    float32 contact points (contacts, 3), contact forces (contacts, 3)
    per cavity: float32 pressure, uint32 points, uint32 triangles, 0
    float32 cavity points (.., 3), uint32 cavity triangles (.., 3), numbered within each cavity
    float32 patch points (.., 3), patch pressures (..), uint32 patch triangles (.., 3)

`epoch` counts the simulations: it changes, together with the header, when the parameters change.
"""

from __future__ import annotations

import numpy as np

from limpet.record.frame import COLOURS, Frame

Array = np.ndarray

MAGIC = 0x54504D4C  # "LMPT"
PLAYING, ENDED = 1, 2  # flags


def pack(frame: Frame, colour: str, *, epoch: int, flags: int, factor: float) -> bytes:
    """Pack a frame with the field `colour`; `factor` is simulated time over real time."""
    air = frame.cavities
    points = sum(len(a.points) for a in air)
    triangles = sum(len(a.triangles) for a in air)
    counts = len(frame.positions), len(frame.contact_points), len(air), points, triangles
    table = np.zeros((len(air), 4), "<u4")
    for row, a in zip(table, air):
        row[0] = np.float32(a.pressure).view("<u4")
        row[1], row[2] = len(a.points), len(a.triangles)
    values = frame.fields.get(colour)
    if values is None:
        values = np.full(len(frame.positions), np.nan, np.float32)
    patch, which = frame.patch, list(COLOURS).index(colour)
    of_patch = len(patch.points), len(patch.triangles)
    parts = (
        np.array([MAGIC, epoch, frame.step, flags, *counts, which, *of_patch], "<u4"),
        np.array([frame.time, factor, *frame.figures], "<f8"),
        frame.positions.astype("<f4", copy=False), values.astype("<f4", copy=False),
        frame.contact_points.astype("<f4", copy=False),
        frame.contact_forces.astype("<f4", copy=False), table,
        *(a.points.astype("<f4", copy=False) for a in air),
        *(a.triangles.astype("<u4", copy=False) for a in air),
        patch.points.astype("<f4", copy=False), patch.pressure.astype("<f4", copy=False),
        patch.triangles.astype("<u4", copy=False),
    )  # fmt: skip
    return b"".join(np.ascontiguousarray(p).data.cast("B") for p in parts if p.size)
