"""Rigid parts with round surfaces: sphere, cone, capsule, and any surface of revolution.

Contact takes them for smooth where their facets turn by less than the crease angle (30 degrees), so
that about 24 facets around are enough for most purposes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from limpet.errors import LimpetError, require_positive
from limpet.geometry.shape import Array, RigidShape
from limpet.geometry.surface import volume
from limpet.meshing.strips import strip

FACETS = 32  # around the axis


def revolved(
    section: Sequence[Sequence[float]] | Array, *, facets: int = FACETS, closed: bool = False,
    name: str = "revolved",
) -> RigidShape:  # fmt: skip
    """The surface of revolution about z of a section: points (r, z) [m].

    They run from one end of the axis to the other (r = 0 there, or a flat end), or, if `closed`,
    once around a section off the axis: a circle makes a torus. `facets`: around the axis.
    """
    if facets < 6:
        raise LimpetError(f"{name} facets = {facets}: expected 6 or more")
    line = np.asarray(section, dtype=float)
    least = 3 if closed else 2
    if line.ndim != 2 or line.shape[1] != 2 or len(line) < least or not np.isfinite(line).all():
        raise LimpetError(f"{name} section: expected {least} points (r, z) or more, all finite")
    if (line[:, 0] < 0.0).any() or (line[1 if not closed else 0 : -1, 0] == 0.0).any():
        raise LimpetError(f"{name} section: expected r above 0, and r = 0 at its two ends at most")
    if not closed:  # flat ends
        ends = [[0.0, line[0, 1]]] if line[0, 0] > 0.0 else []
        last = [[0.0, line[-1, 1]]] if line[-1, 0] > 0.0 else []
        line = np.concatenate([*map(np.atleast_2d, ends), line, *map(np.atleast_2d, last)])
    points, triangles = _revolve(line, facets, closed)
    if volume(points, triangles) < 0.0:
        triangles = np.ascontiguousarray(triangles[:, ::-1])
    return RigidShape(name, points, triangles)


def sphere(radius: float, *, facets: int = FACETS) -> RigidShape:
    """A ball about the origin: radius [m]; `facets` around and half as many from pole to pole."""
    require_positive("sphere radius", radius, " m")
    angle = np.linspace(-0.5 * np.pi, 0.5 * np.pi, max(facets // 2, 3) + 1)
    line = radius * np.column_stack([np.cos(angle), np.sin(angle)])
    line[[0, -1], 0] = 0.0
    return revolved(line, facets=facets, name="sphere")


def cone(radius: float, height: float, *, top: float = 0.0, facets: int = FACETS) -> RigidShape:
    """A cone on z = 0, its axis along z: radius below, `top` above (0: a point), height [m]."""
    require_positive("cone radius", radius, " m")
    require_positive("cone height", height, " m")
    if not 0.0 <= top < np.inf:
        raise LimpetError(f"cone top = {top:g} m: expected 0 or more")
    return revolved([(radius, 0.0), (top, height)], facets=facets, name="cone")


def capsule(radius: float, length: float, *, facets: int = FACETS) -> RigidShape:
    """A cylinder about z with round ends, about the origin: radius, length between ends [m]."""
    require_positive("capsule radius", radius, " m")
    require_positive("capsule length", length, " m")
    angle = np.linspace(0.0, 0.5 * np.pi, max(facets // 4, 2) + 1)
    end = radius * np.column_stack([np.cos(angle), np.sin(angle)])
    end[-1, 0] = 0.0
    upper = end + np.array([0.0, 0.5 * length])
    return revolved(
        np.concatenate([upper[::-1] * [1.0, -1.0], upper]), facets=facets, name="capsule"
    )


def _revolve(line: Array, facets: int, closed: bool) -> tuple[Array, Array]:
    steps = np.arange(float(facets))
    angle = 2.0 * np.pi * steps / facets
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    points: list[Array] = []
    loops: list[list[int]] = []
    for r, z in line:
        first = sum(map(len, points))
        points.append(
            np.column_stack([r * circle, np.full(facets, z)]) if r > 0.0 else np.array([[0, 0, z]])
        )
        loops.append(list(range(first, first + len(points[-1]))))
    triangles: list[tuple[int, int, int]] = []
    following = [*loops[1:], loops[0]] if closed else loops[1:]
    for one, two in zip(loops, following):
        if len(one) == 1:
            triangles += [(one[0], two[(a + 1) % facets], two[a]) for a in range(facets)]
        elif len(two) == 1:
            triangles += [(two[0], one[a], one[(a + 1) % facets]) for a in range(facets)]
        else:
            triangles += strip(one, steps, two, steps, facets)
    return np.concatenate(points), np.array(triangles, dtype=np.int32)
