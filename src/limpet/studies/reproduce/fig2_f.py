"""F figure 2: the pressure field of a plane figure by Laplace's equation, and a rigid box in it.

The extent solves Laplace's equation (F eq 4) between the outline, where it is 0, and a round core,
where it is 1, on linear triangles. The figure is a prism for the contact surface. The energy that
the force is compared with is the integral of the pressure over the box, on a grid of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from matplotlib.tri import LinearTriInterpolator, Triangulation
from scipy.sparse import coo_matrix
from scipy.sparse.linalg import spsolve

from limpet.pressure_field.fields import PressureField, pressure_field
from limpet.pressure_field.surface import ContactSurface, contact_surface
from limpet.pressure_field.wrench import wrench
from limpet.record.plots import new_figure
from limpet.record.table import Progress, Result, Table
from limpet.studies.reproduce.prisms import prism_tets, rigid_prism

Array = np.ndarray

AROUND, ACROSS = 180, 30  # cells of the mesh
CORE = 0.25  # [m] radius
MODULUS = 1e6  # [Pa]
WIDE = 0.1  # [m] of the prism
BOX = 0.5, 0.3  # [m] sides
PLACE, TURN = (0.48, 0.5), 0.5  # [m], [rad] of the box
GRID = 800  # points along each side of the box, for the energy
MOVE = 2e-3  # [m] for its derivative
ALLOWED = 1e-3  # of the force, against the derivative of the energy
PERPENDICULAR = 1e-9  # [rad]
ARROWS = 0.03  # [m] apart, at least
HERE = (np.eye(3), np.zeros(3))


def outline(angle: Array) -> Array:
    """(n,) [m] radius of the figure: lobes and bays."""
    return 0.8 + 0.2 * np.cos(3.0 * angle) + 0.08 * np.sin(5.0 * angle)


@dataclass(frozen=True)
class PlaneField:
    """An extent on triangles."""

    points: Array  # (n, 2) [m] x and z
    triangles: Array  # (m, 3)
    extent: Array  # (n,)
    free: Array  # (n,) bool: solved for


def ring_mesh(outer: Array, core: float, across: int) -> tuple[Array, Array]:
    """Points (n, 2) and triangles between a circle and radii (k,) at equal angles, layer by layer.

    The layers are those of equal extent if both are circles.
    """
    k = len(outer)
    angle = 2.0 * np.pi * np.arange(k) / k
    share = np.linspace(0.0, 1.0, across + 1)[:, None]
    radius = core * (outer[None, :] / core) ** share
    points = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=2).reshape(-1, 2)
    i, j = np.meshgrid(np.arange(across), np.arange(k), indexing="ij")
    a, b = (i * k + j).ravel(), (i * k + (j + 1) % k).ravel()
    return points, np.concatenate(
        [np.stack([a, a + k, b + k], axis=1), np.stack([a, b + k, b], axis=1)]
    )


def solve(outer: Array, core: float = CORE, across: int = ACROSS) -> PlaneField:
    """Laplace's equation: 1 on the core, 0 on the outline."""
    points, triangles = ring_mesh(outer, core, across)
    n, k = len(points), len(outer)
    corners = points[triangles]
    edges = np.roll(corners, -1, axis=1) - np.roll(corners, -2, axis=1)  # opposite to each corner
    one, two = edges[:, 0], edges[:, 1]
    area = 0.5 * np.abs(one[:, 0] * two[:, 1] - one[:, 1] * two[:, 0])
    local = np.einsum("mai,mbi->mab", edges, edges) / (4.0 * area[:, None, None])
    rows, columns = np.repeat(triangles, 3, axis=1).ravel(), np.tile(triangles, 3).ravel()
    matrix = coo_matrix((local.ravel(), (rows, columns)), shape=(n, n)).tocsr()
    extent, free = np.zeros(n), np.ones(n, bool)
    extent[:k], free[:k], free[-k:] = 1.0, False, False
    extent[free] = spsolve(matrix[free][:, free].tocsc(), -(matrix[free] @ extent))
    return PlaneField(points, triangles, extent, free)


def prism(plane: PlaneField) -> PressureField:
    """The field between y = 0 and WIDE, the same all the way."""
    points = np.concatenate([np.insert(plane.points, 1, y, axis=1) for y in (0.0, WIDE)])
    tets = prism_tets(plane.triangles, len(plane.points))
    corners = points[tets]
    volume = np.einsum(
        "mi,mi->m", corners[:, 1] - corners[:, 0],
        np.cross(corners[:, 2] - corners[:, 0], corners[:, 3] - corners[:, 0]),
    )  # fmt: skip
    tets[volume < 0.0] = tets[volume < 0.0][:, [1, 0, 2, 3]]
    return pressure_field((points, tets, np.tile(plane.extent, 2)), MODULUS, name="figure")


def box_corners(place: Array) -> Array:
    """(4, 2) [m] counter-clockwise."""
    c, s = np.cos(TURN), np.sin(TURN)
    half = 0.5 * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * BOX
    return half @ np.array([[c, s], [-s, c]]) + place


def press(field: PressureField, place: Array) -> tuple[Array, ContactSurface]:
    """(2,) [N] force on the box along x and z; the contact surface."""
    box = rigid_prism(box_corners(place), -WIDE, 2.0 * WIDE, "box")
    surface = contact_surface(box, HERE, field, HERE)
    return wrench(surface, np.zeros(3)).force[[0, 2]], surface


def energy(plane: PlaneField, place: Array) -> float:
    """[J] F eq 1: pressure over the part of the figure that a rigid box displaces."""
    x = (np.arange(GRID) + 0.5) / GRID - 0.5
    c, s = np.cos(TURN), np.sin(TURN)
    u, v = np.meshgrid(BOX[0] * x, BOX[1] * x)
    at = np.stack([c * u - s * v, s * u + c * v], axis=-1) + place
    mesh = Triangulation(plane.points[:, 0], plane.points[:, 1], plane.triangles)
    value = LinearTriInterpolator(mesh, plane.extent)(at[..., 0], at[..., 1])
    return float(MODULUS * WIDE * value.filled(0.0).mean() * BOX[0] * BOX[1])


@dataclass(frozen=True)
class Pressed:
    """The box in the figure."""

    plane: PlaneField
    surface: ContactSurface
    force: Array  # (2,) [N]
    slope: Array  # (2,) [N] less the derivative of the energy
    outside: int  # vertices whose extent is not between those of their neighbours
    tilted: float  # [rad] largest angle between a traction and the normal of a side of the box


def run_box() -> Pressed:
    plane = solve(outline(2.0 * np.pi * np.arange(AROUND) / AROUND))
    force, surface = press(prism(plane), np.array(PLACE))
    moves = MOVE * np.eye(2)
    slope = [energy(plane, PLACE - m) - energy(plane, PLACE + m) for m in moves]
    low, high = np.full(len(plane.points), np.inf), np.full(len(plane.points), -np.inf)
    for a, b in ((0, 1), (1, 2), (2, 0), (1, 0), (2, 1), (0, 2)):
        value = plane.extent[plane.triangles[:, b]]
        np.minimum.at(low, plane.triangles[:, a], value)
        np.maximum.at(high, plane.triangles[:, a], value)
    inside = (low < plane.extent) & (plane.extent < high)
    area = surface.area[np.abs(surface.area[:, 1]) < 1e-12]
    sides = np.roll(box_corners(np.zeros(2)), -1, axis=0) - box_corners(np.zeros(2))
    normals = np.stack([-sides[:, 1], sides[:, 0]], axis=1) / np.linalg.norm(sides, axis=1)[:, None]
    along = area[:, [0, 2]] / np.linalg.norm(area, axis=1)[:, None]
    cross = along[:, :1] * normals[:, 1] - along[:, 1:] * normals[:, 0]
    tilted = np.where(along @ normals.T > 0.0, np.abs(cross), np.inf).min(axis=1).max()
    return Pressed(
        plane, surface, force, np.array(slope) / (2.0 * MOVE),
        int((~inside & plane.free).sum()), float(tilted),
    )  # fmt: skip


def run(progress: Progress) -> Result:
    """The figure, and what F says of it."""
    progress(0, 1, "fig2-f")
    found = run_box()
    progress(1, 1, "fig2-f")
    off = float(np.linalg.norm(found.force - found.slope) / np.linalg.norm(found.slope))
    away = float(found.force @ PLACE / np.linalg.norm(found.force) / np.linalg.norm(PLACE))
    surface = found.surface
    said = (
        (
            "zero on the surface, one at the core, increasing with depth (III-2, VI-A2)",
            f"{found.outside} of {int(found.plane.free.sum())} vertices are an extremum",
            found.outside == 0,
        ),
        (
            "the contact surface is the boundary of the rigid box (IV), and the stress is normal",
            f"tractions within {found.tilted:.1e} rad of the normals of its sides",
            found.tilted < PERPENDICULAR,
        ),
        (
            "the wrench tends to separate the bodies (III-4)",
            f"the force points away from the core, {np.degrees(np.arccos(away)):.0f} degrees off "
            "the line to the box",
            away > 0.5,
        ),
        (
            "the force has the energy of eq 1 (III-6)",
            f"{np.linalg.norm(found.force):.0f} N, less the derivative of the energy: "
            f"{off:.0e} of it off",
            off < ALLOWED,
        ),
    )
    claims = Table("F figure 2: a rigid box in a plane figure", ("F", "Limpet", "holds"), said)
    numbers = Table(
        "The contact",
        ("polygons", "largest pressure [kPa]", "force x [N]", "force z [N]", "-dU/dx", "-dU/dz"),
        (
            (
                len(surface), 1e-3 * float(surface.corner_pressure.max()),
                *found.force.tolist(), *found.slope.tolist(),
            ),
        ),
    )  # fmt: skip
    ok = all(holds for _, _, holds in said)
    return Result((numbers, claims), ok, {"fig2-f.png": partial(_draw, found)})


def _draw(found: Pressed, path: Path) -> None:
    figure = new_figure(6.5, 6.0)
    axis = figure.add_subplot()
    plane, surface = found.plane, found.surface
    mesh = Triangulation(plane.points[:, 0], plane.points[:, 1], plane.triangles)
    lines = axis.tricontour(mesh, plane.extent, levels=np.linspace(0.1, 0.9, 9), cmap="gray")
    figure.colorbar(lines, ax=axis, shrink=0.7, label="penetration extent")
    edge = np.append(np.arange(AROUND), 0) - AROUND
    axis.plot(*plane.points[edge].T, color="0.2", lw=1.5)
    axis.fill(*plane.points[:AROUND].T, color="0.4", lw=0)
    corners = box_corners(np.array(PLACE))
    axis.fill(*corners.T, facecolor="none", edgecolor="#2f6db5", lw=2, zorder=3)
    size = np.linalg.norm(surface.area, axis=1)
    shown: list[int] = []
    for i in np.flatnonzero((np.abs(surface.area[:, 1]) < 1e-12) & (size > 0.0)).tolist():
        apart = surface.centroid[shown] - surface.centroid[i]
        if (np.hypot(apart[:, 0], apart[:, 2]) > ARROWS).all():
            shown.append(i)
    at = surface.centroid[shown][:, [0, 2]]
    push = surface.area[shown][:, [0, 2]] / size[shown, None] * surface.pressure[shown, None]
    push *= 0.25 / surface.corner_pressure.max()
    axis.quiver(
        *(at - push).T, *push.T, color="#d1791f", angles="xy", scale_units="xy", scale=1.0,
        width=0.003, zorder=3,
    )  # fmt: skip
    net = 0.4 * found.force / np.linalg.norm(found.force)
    axis.quiver(*PLACE, *net, color="#2e8b3d", angles="xy", scale_units="xy", scale=1.0, width=0.01)
    axis.set(aspect="equal", xlabel="x [m]", ylabel="z [m]", xlim=(-1.1, 1.25), ylim=(-1.1, 1.25))
    figure.savefig(path, dpi=120)
