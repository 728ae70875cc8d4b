"""Bolts and nuts; the radius of a thread is a periodic function along a helix."""

from __future__ import annotations

import numpy as np
from manifold3d import Manifold, Mesh64

from limpet.errors import LimpetError, require_positive
from limpet.geometry.shape import RigidShape
from limpet.geometry.union import arrays

DEPTH = 0.6  # of the pitch, from crest to root, as in metric threads
FINEST = 0.02  # least pitch over diameter: a nut of three pitches is a sheet below it
MOST_SIDES = 240
PER_PITCH = 8  # rows of facets per pitch


def bolt(
    diameter: float = 0.012,  # [m] over the crests
    pitch: float = 3e-3,  # [m] advance per revolution; right-handed
    length: float = 0.03,  # [m] of the thread
    head: tuple[float, float] = (0.014, 0.008),  # [m] width and height of the square head
    sides: int = 24,
) -> RigidShape:
    """A bolt along z: the lower face of its head is at z = 0, the thread is below."""
    _check("bolt", diameter, pitch, length, sides)
    width, height = (require_positive("bolt head", size, " m") for size in head)
    block = Manifold.cube((width, width, height)).translate((-width / 2, -width / 2, 0.0))
    return RigidShape("bolt", *arrays(_rod(0.5 * diameter, pitch, -length, 1e-4, sides) + block))


def nut(
    diameter: float = 0.012,  # [m] over the crests of its bolt
    pitch: float = 3e-3,  # [m]
    height: float = 0.01,  # [m]
    width: float = 0.02,  # [m] between two opposite faces
    clearance: float = 1e-4,  # [m] radial clearance to the thread of the bolt
    sides: int = 24,
) -> RigidShape:
    """A nut along z between z = 0 and -height; a bolt at the same position fits its thread."""
    _check("nut", diameter, pitch, height, sides)
    require_positive("nut clearance", clearance, " m")
    radius = 0.5 * diameter + clearance
    if not 2.0 * radius < width < np.inf:
        raise LimpetError(
            f"nut width = {width:g} m: expected more than the diameter {2 * radius:g} m"
        )
    outside = Manifold.cylinder(height, width / np.sqrt(3.0), width / np.sqrt(3.0), 6)
    hole = _rod(radius, pitch, -height - pitch, pitch, sides)
    return RigidShape("nut", *arrays(outside.translate((0.0, 0.0, -height)) - hole))


def _rod(radius: float, pitch: float, low: float, high: float, sides: int) -> Manifold:
    """A threaded rod between two heights, `radius` over the crests.

    The facets are at the same heights and angles for all ends, so that the threads of a bolt and
    its nut match.
    """
    row = pitch / PER_PITCH
    inner = np.arange(np.floor(low / row) + 1, np.ceil(high / row))
    z = np.array([low, *(row * inner), high])
    angle = 2.0 * np.pi * np.arange(sides) / sides
    wave = np.cos(2.0 * np.pi * z[:, None] / pitch - angle)
    r = radius - 0.5 * DEPTH * pitch * (1.0 - wave)
    points = np.stack([r * np.cos(angle), r * np.sin(angle), np.repeat(z[:, None], sides, 1)], 2)
    number = np.arange(len(z) * sides).reshape(len(z), sides)
    a, d = number[:-1], number[1:]
    b, c = np.roll(a, -1, axis=1), np.roll(d, -1, axis=1)
    mantle = [np.stack(t, axis=2).reshape(-1, 3) for t in ((a, b, c), (a, c, d))]
    first, last, end = number[0], number[-1], len(z) * sides
    below = np.stack([np.full(sides, end), np.roll(first, -1), first], axis=1)
    above = np.stack([np.full(sides, end + 1), last, np.roll(last, -1)], axis=1)
    x = np.vstack([points.reshape(-1, 3), [[0.0, 0.0, low], [0.0, 0.0, high]]])
    return Manifold(Mesh64(x, np.vstack([*mantle, below, above]).astype(np.uint64)))


def _check(name: str, diameter: float, pitch: float, length: float, sides: int) -> None:
    sizes = (("diameter", diameter), ("pitch", pitch), ("length", length))
    for label, value in sizes:
        require_positive(f"{name} {label}", value, " m")
    if not DEPTH * pitch < 0.4 * diameter:
        raise LimpetError(
            f"{name} pitch = {pitch:g} m: expected below {0.4 * diameter / DEPTH:.3g} m, or the "
            "thread leaves no core"
        )
    if pitch < FINEST * diameter:
        raise LimpetError(
            f"{name} pitch = {pitch:g} m: expected at least {FINEST * diameter:.3g} m, "
            f"{FINEST:g} of the diameter; finer threads have too many facets"
        )
    if not 8 <= sides <= MOST_SIDES:
        raise LimpetError(f"{name} sides = {sides}: expected 8 to {MOST_SIDES}")
