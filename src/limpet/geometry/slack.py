"""What a mesh leaves open: the gap of a lip of finite elements on a curved surface."""

from __future__ import annotations

import numpy as np

# A lip of radius r whose element edges are parabolas with their nodes on a cylinder of curvature k
# gapes by k l^3 / (85 r) between them if the cylinder is wide, k l^3 / (60 r) if it is as narrow as
# the lip: the height of the cylinder along the lip has a third derivative of 2 k / r.
PARABOLA = 1.0 / 60.0


def lip_slack(
    length: float, curvature: float, lip_radius: float | None = None, order: int = 2
) -> float:
    """[m] the largest gap of a lip in contact that is due to its mesh.

    length [m]: of an element along the lip. curvature [1/m]: of the target along the lip, convex or
    concave; 0 for a plane. lip_radius [m]: of the lip seen along its axis; None: a lip of any form,
    bounded by half an element as a chord. order: 2 for quadratic elements, 1 for linear ones, whose
    edges are chords.
    """
    bend = abs(curvature)
    if order == 1:
        return bend * length**2 / 8.0
    chord = bend * length**2 / 32.0
    return chord if lip_radius is None else min(chord, PARABOLA * bend * length**3 / lip_radius)


def lip_sectors(
    lip_radius: float, part_radius: float, within: float = 1.25e-5, order: int = 2
) -> int:
    """The least number of sectors of a cup whose lip leaves at most `within` [m] open on a part.

    lip_radius and part_radius [m]: of the lip, and the least one of the part. By default a quarter
    of the default sealing distance.
    """
    sectors = 6
    while lip_slack(2.0 * np.pi * lip_radius / sectors, 1.0 / part_radius, lip_radius, order) > (
        within
    ):
        sectors += 2
    return sectors
