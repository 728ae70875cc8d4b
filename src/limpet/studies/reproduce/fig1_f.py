"""F figure 1: the contact surface of a sphere and a half space, for three relative compliances.

With the extents 1 - r/R in the sphere (r from its centre) and depth over thickness in the half
space, equal pressure is r = R (1 + k z), k = (E/H of the half space) / (E of the sphere), z <= 0: a
conic turned about the axis, from the plane, if the sphere is much the softer, to the sphere itself.
Its force is the integral of the pressure over the circle in which sphere and plane meet.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from mpl_toolkits.mplot3d.art3d import Poly3DCollection

from limpet.pressure_field import primitives
from limpet.pressure_field.fields import half_space, pressure_field
from limpet.pressure_field.surface import ContactSurface, contact_surface
from limpet.pressure_field.wrench import wrench
from limpet.record.plots import new_figure
from limpet.record.table import Progress, Result, Table

Array = np.ndarray

RADIUS, DEPTH, THICKNESS = 1.0, 0.4, 1.0  # [m] ball, overlap on the axis, layer of the half space
MODULUS = 1e6  # [Pa] of the half space
RATIOS = (10.0, 1.0, 0.1)  # sphere's modulus by the half space's
EDGE = 0.05  # [m] of the sphere's facets
ALLOWED = 0.01  # of force, area and place, against the closed form: what facets leave


@dataclass(frozen=True)
class Contact:
    """A surface, and what the closed form says."""

    ratio: float
    surface: ContactSurface
    force: float  # [N]
    area: float  # [m^2]
    largest: float  # [Pa]
    off: float  # [m] of its points from the conic, at most
    exact_force: float
    exact_area: float
    exact_largest: float

    def wrong(self) -> float:
        """Largest relative departure; places by the depth."""
        pairs = (
            (self.force, self.exact_force),
            (self.area, self.exact_area),
            (self.largest, self.exact_largest),
        )
        return max(self.off / DEPTH, *(abs(a / b - 1.0) for a, b in pairs))


def profile(ratio: float, radius: Array) -> Array:
    """(n,) [m] height z of the surface at distance `radius` from the axis."""
    k, up = 1.0 / (ratio * THICKNESS), RADIUS - DEPTH  # the centre is at z = up
    # r^2 + (z - up)^2 = R^2 (1 + k z)^2: the root that is 0 on the rim, where r^2 + up^2 = R^2
    a, b, c = 1.0 - (RADIUS * k) ** 2, up + RADIUS**2 * k, radius**2 + up**2 - RADIUS**2
    return c / (b + np.sqrt(np.maximum(b * b - a * c, 0.0)))


def press(ratio: float, edge: float = EDGE) -> Contact:
    """The sphere `ratio` times as stiff as the half space, DEPTH into it."""
    ball = pressure_field(primitives.sphere(RADIUS, edge), ratio * MODULUS, name="sphere")
    ground = half_space((0.0, 0.0, 1.0), 0.0, MODULUS, THICKNESS)
    above = np.array([0.0, 0.0, RADIUS - DEPTH])
    surface = contact_surface(ball, (np.eye(3), above), ground, (np.eye(3), np.zeros(3)))
    rim = np.sqrt(RADIUS**2 - (RADIUS - DEPTH) ** 2)
    r = np.linspace(0.0, rim, 4001)
    z = profile(ratio, r)
    pressure = -z * MODULUS / THICKNESS
    at = np.hypot(surface.corners[:, 0], surface.corners[:, 1])
    inside = at <= rim
    return Contact(
        ratio,
        surface,
        force=float(wrench(surface, np.zeros(3)).force[2]),
        area=float(np.linalg.norm(surface.area, axis=1).sum()),
        largest=float(surface.corner_pressure.max()),
        off=float(np.abs(surface.corners[inside, 2] - profile(ratio, at[inside])).max()),
        exact_force=float(np.trapezoid(2.0 * np.pi * r * pressure, r)),
        exact_area=float(np.sum(np.pi * (r[1:] + r[:-1]) * np.hypot(np.diff(r), np.diff(z)))),
        exact_largest=float(pressure[0]),
    )


def run(progress: Progress) -> Result:
    """Three surfaces, each beside its closed form."""
    found = []
    for k, ratio in enumerate(RATIOS):
        progress(k, len(RATIOS), "fig1-f")
        found.append(press(ratio))
    progress(len(RATIOS), len(RATIOS), "fig1-f")
    rows = tuple(
        (
            c.ratio, len(c.surface), 1e3 * float(c.surface.corners[:, 2].min()),
            c.area, c.exact_area, 1e-3 * c.largest, 1e-3 * c.exact_largest,
            1e-3 * c.force, 1e-3 * c.exact_force, 100.0 * c.wrong(), c.wrong() <= ALLOWED,
        )
        for c in found
    )  # fmt: skip
    table = Table(
        f"F figure 1: a sphere of {RADIUS:g} m, {DEPTH:g} m into a half space of "
        f"{1e-6 * MODULUS:g} MPa at {THICKNESS:g} m",
        (
            "sphere by half space", "polygons", "lowest point [mm]", "area [m^2]", "exact area",
            "largest pressure [kPa]", "exact pressure",
            "force [kN]", "exact force", "worst [%]", "holds",
        ),
        rows,
        ("worst: area, pressure, force, and the surface's place by the depth of the overlap",),
    )  # fmt: skip
    ok = all(c.wrong() <= ALLOWED for c in found)
    return Result((table,), ok, {"fig1-f.png": partial(_draw, found)})


def _draw(found: list[Contact], path: Path) -> None:
    figure = new_figure(12.0, 5.5)
    rim = float(np.sqrt(RADIUS**2 - (RADIUS - DEPTH) ** 2))
    for k, contact in enumerate(found):
        solid: Any = figure.add_subplot(2, 3, k + 1, projection="3d")
        _draw_surface(solid, contact, rim)
        figure.colorbar(solid.collections[0], ax=solid, shrink=0.6, label="pressure [kPa]")
        solid.set_title(f"sphere {contact.ratio:g} times as stiff", fontsize=10)
        axis = figure.add_subplot(2, 3, k + 4)
        turn = np.linspace(0.0, 2.0 * np.pi, 200)
        axis.plot(RADIUS * np.sin(turn), RADIUS - DEPTH - RADIUS * np.cos(turn), color="0.6", lw=1)
        axis.axhline(0.0, color="0.6", lw=1)
        r = np.linspace(-rim, rim, 101)
        axis.plot(r, profile(contact.ratio, np.abs(r)), "k-", lw=1, label="closed form")
        near = contact.surface.centroid[np.abs(contact.surface.centroid[:, 1]) < EDGE]
        axis.plot(near[:, 0], near[:, 2], ".", color="#b8431f", ms=3, label="polygons")
        axis.set(aspect="equal", xlim=(-1.1, 1.1), ylim=(-0.6, 0.7), xlabel="x [m]", ylabel="z [m]")
        axis.legend(fontsize=8, loc="upper center")
    figure.savefig(path, dpi=120)


def _draw_surface(axis: Any, contact: Contact, rim: float) -> None:
    """Lighter is higher, as in F."""
    points, pressure, triangles = contact.surface.triangles()
    patch = Poly3DCollection(points[triangles], cmap="gray", linewidths=0.0)
    patch.set_array(1e-3 * pressure[triangles].mean(axis=1))
    axis.add_collection3d(patch)
    axis.set(
        xlim=(-rim, rim), ylim=(-rim, rim), zlim=(-DEPTH, 0.0), box_aspect=(2 * rim, 2 * rim, DEPTH)
    )
    axis.view_init(35.0, -60.0)
    axis.tick_params(labelsize=7)
