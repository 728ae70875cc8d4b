"""Rigid bodies on which a cup seals: cropped cylinder, trough, rod, plates with hole or groove.

All of them are prisms. The axes of the cylinders are along y. A curved surface consists of flat
facets whose edges lie on it, so the error of a facet is its sagitta, chord^2 / 8 radius. Contact
takes the surface for smooth where facets turn by less than the crease angle.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from manifold3d import triangulate

from limpet.errors import LimpetError, require_positive
from limpet.geometry.shape import RigidShape

Array = np.ndarray

SAGITTA = 5e-6  # [m] largest error of the facets
COARSER = 25.0  # times that where there is no contact


def cropped_cylinder(
    radius: float, length: float, width: float, height: float, *, sagitta: float = SAGITTA,
    fine: float | None = None,
) -> RigidShape:  # fmt: skip
    """A block with a cylindrical convex top; its highest line is along y at z = 0.

    `length` along y, `width` along x, `height` from that line to the flat bottom [m]. The error of
    the facets is at most `sagitta` [m] within |x| < `fine` [m], the region of contact (everywhere
    if not given).
    """
    x, drop = _mantle("cropped_cylinder", radius, length, width, height, sagitta, fine)
    if not height > drop.max():
        raise LimpetError(
            f"cropped_cylinder height = {height:g} m: expected more than {drop.max():g} m, "
            "the height of its curved top; increase it or make the block narrower"
        )
    return _block("cropped cylinder", x, -drop, -height, length)


def trough(
    radius: float, length: float, width: float, height: float, *, sagitta: float = SAGITTA,
    fine: float | None = None,
) -> RigidShape:  # fmt: skip
    """A block with a cylindrical concave top; its lowest line is along y at z = 0.

    `height` [m] is that of the block below this line; see `cropped_cylinder` for the others.
    """
    x, rise = _mantle("trough", radius, length, width, height, sagitta, fine)
    return _block("trough", x, rise, -height, length)


def rod(
    radius: float, length: float, *, sagitta: float = SAGITTA, facets: int | None = None
) -> RigidShape:
    """A cylinder along y with its highest line at z = 0: radius and length [m].

    The error of its facets is at most `sagitta` [m], or there are as many `facets` as given.
    """
    require_positive("rod radius", radius, " m")
    require_positive("rod length", length, " m")
    require_positive("rod sagitta", sagitta, " m")
    if facets is not None and facets < 3:
        raise LimpetError(f"rod facets = {facets}: expected 3 or more")
    count = facets or max(8, _facets(2.0 * np.pi, radius, sagitta))
    angle = 0.5 * np.pi + 2.0 * np.pi * np.arange(count) / count
    ring = radius * np.column_stack([np.cos(angle), np.sin(angle) - 1.0])
    return RigidShape("rod", *_along_y([ring], length))


def plate_with_hole(
    radius: float, edge: float, thickness: float, *, sagitta: float = SAGITTA
) -> RigidShape:
    """A square plate, its top at z = 0, with a round hole through its middle.

    radius of the hole, edge and thickness of the plate [m]; `sagitta` as for `rod`.
    """
    for label, value in (("radius", radius), ("edge", edge), ("thickness", thickness)):
        require_positive(f"plate_with_hole {label}", value, " m")
    require_positive("plate_with_hole sagitta", sagitta, " m")
    if not 2.0 * radius < edge:
        raise LimpetError(
            f"plate_with_hole radius = {radius:g} m: expected less than half the edge {edge:g} m"
        )
    count = max(8, _facets(2.0 * np.pi, radius, sagitta))
    angle = -2.0 * np.pi * np.arange(count) / count  # clockwise: a hole
    hole = radius * np.column_stack([np.cos(angle), np.sin(angle)])
    square = 0.5 * edge * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    points, triangles = _prism([square, hole], -thickness, 0.0)
    return RigidShape("plate with hole", points, triangles)


def plate_with_groove(depth: float, width: float, edge: float, thickness: float) -> RigidShape:
    """A square plate, its top at z = 0, with a straight groove along y through its middle.

    depth and width of the groove, edge and thickness of the plate [m].
    """
    for label, value in (
        ("depth", depth),
        ("width", width),
        ("edge", edge),
        ("thickness", thickness),
    ):
        require_positive(f"plate_with_groove {label}", value, " m")
    if not width < edge or not depth < thickness:
        raise LimpetError(
            f"plate_with_groove width = {width:g} m, depth = {depth:g} m: expected less than the "
            f"plate's edge {edge:g} m and thickness {thickness:g} m"
        )
    a, b = 0.5 * edge, 0.5 * width
    section = np.array(
        [
            [-a, -thickness], [a, -thickness], [a, 0.0],
            [b, 0.0], [b, -depth], [-b, -depth], [-b, 0.0], [-a, 0.0],
        ]
    )  # fmt: skip
    return RigidShape("plate with groove", *_along_y([section], edge))


def _mantle(
    name: str, radius: float, length: float, width: float, height: float, sagitta: float,
    fine: float | None,
) -> tuple[Array, Array]:  # fmt: skip
    """Increasing x (n,) of the edges of the facets, and their distance from z = 0."""
    sizes = {"radius": radius, "length": length, "width": width, "height": height}
    for label, value in {**sizes, "sagitta": sagitta}.items():
        require_positive(f"{name} {label}", value, " m")
    if not width < 2.0 * radius:
        raise LimpetError(
            f"{name} width = {width:g} m: expected less than the diameter "
            f"{2 * radius:g} m; make the block narrower or the radius larger"
        )
    if not sagitta < radius:
        raise LimpetError(f"{name} sagitta = {sagitta:g} m: expected less than its radius")
    end = np.arcsin(0.5 * width / radius)
    inner = end
    if fine is not None:
        require_positive(f"{name} fine", fine, " m")
        inner = np.arcsin(min(fine / radius, 1.0))
    if inner > 0.99 * end:  # avoids slivers at the edge
        inner = end
    n = max(1, _facets(inner, radius, sagitta))
    half = np.linspace(0.0, inner, n + 1)
    if inner < end:
        m = max(1, _facets(end - inner, radius, COARSER * sagitta))
        half = np.concatenate([half, np.linspace(inner, end, m + 1)[1:]])
    angle = np.concatenate([-half[:0:-1], half])
    return radius * np.sin(angle), radius * (1.0 - np.cos(angle))


def _facets(angle: float, radius: float, sagitta: float) -> int:
    """Number of facets of an arc; the sagitta is radius (1 - cos(half the angle of a facet))."""
    return int(np.ceil(angle / (2.0 * np.arccos(1.0 - min(sagitta / radius, 1.0)))))


def _block(name: str, x: Array, z: Array, bottom: float, length: float) -> RigidShape:
    """A block between the line z(x) and a flat bottom."""
    top = np.column_stack([x, z])[::-1]
    section = np.vstack([[[x[0], bottom], [x[-1], bottom]], top])
    return RigidShape(name, *_along_y([section], length))


def _along_y(section: Sequence[Array], length: float) -> tuple[Array, Array]:
    """Sweep loops of (x, z) along y, centred on y = 0."""
    points, triangles = _prism(section, -0.5 * length, 0.5 * length)
    return np.ascontiguousarray(points * [1.0, 1.0, -1.0])[:, [0, 2, 1]], triangles


def _prism(loops: Sequence[Array], low: float, high: float) -> tuple[Array, Array]:
    """Points (n, 3) and outward triangles (m, 3) of a section swept from w = low to w = high.

    loops: (k, 2) corners each, counter-clockwise; holes clockwise.
    """
    flat = np.concatenate(loops)
    n = len(flat)
    points = np.vstack([np.column_stack([flat, np.full(n, w)]) for w in (low, high)])
    cap = np.asarray(triangulate([np.ascontiguousarray(loop) for loop in loops]))
    triangles = [cap[:, ::-1], cap + n]
    first = 0
    for loop in loops:
        a = first + np.arange(len(loop))
        b = np.roll(a, -1)
        triangles += [np.column_stack([a, b, b + n]), np.column_stack([a, b + n, a + n])]
        first += len(loop)
    return points, np.concatenate(triangles).astype(np.int32)
