"""A frame: the visible state of a simulation for the live page, the replay and animations.

The surfaces are the collision surfaces, so colours, contacts and cavities use the same vertices.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from limpet.cavity.drawn import drawn_triangles
from limpet.cavity.find.classify import (
    CLASS_NAMES,
    IN_CONTACT,
    INNER_BORDER,
    OUTER_BORDER,
    STRICTLY_INSIDE,
    STRICTLY_OUTSIDE,
)
from limpet.cavity.mesh import positions as cavity_positions
from limpet.cavity.seal.leak_paths import vertex_areas, vertex_loads
from limpet.cavity.seal.proximity import vertex_proximity
from limpet.pressure_field.surface import joined_triangles
from limpet.record.history import flatten, up_direction
from limpet.report import StepReport

if TYPE_CHECKING:
    from limpet.engine.observation import Snapshot
    from limpet.engine.simulation import Simulation

Array = np.ndarray

NO_TRIANGLES = np.zeros((0, 3), np.int32)
LEAST_PATCH = 100.0  # [Pa] smallest upper end of the colour range of contact surfaces


@dataclass(frozen=True)
class Colour:
    """A field by which surfaces are coloured."""

    name: str
    title: str
    unit: str
    least: float  # smallest upper end of the colour range, above rounding errors
    note: str
    classes: tuple[tuple[str, str], ...] = ()  # name and colour of the values 1, 2, ...


# The colours of A figure 2, in the order of the numbers.
CLASS_COLOURS = {
    IN_CONTACT: "#d0342c",
    STRICTLY_INSIDE: "#3a9d4a",
    INNER_BORDER: "#2f62c9",
    STRICTLY_OUTSIDE: "#ecc52f",
    OUTER_BORDER: "#9a3fb5",
}


COLOURS = {
    c.name: c
    for c in (
        Colour(
            "pressure",
            "contact pressure",
            "Pa",
            100.0,
            "normal contact force per area of the vertex",
        ),
        Colour("stress", "von Mises stress", "Pa", 100.0, "mean over the cells of each node"),
        Colour("displacement", "displacement", "m", 1e-6, "from the initial position"),
        Colour(
            "gap", "gap", "m", 1e-6, "to the other body; not coloured beyond the search distance"
        ),
        Colour(
            "class",
            "contact class",
            "",
            float(len(CLASS_NAMES)),
            "of the vertices of soft bodies, by the classifier of Bernardin et al. 2019",
            tuple((CLASS_NAMES[k], CLASS_COLOURS[k]) for k in sorted(CLASS_NAMES)),
        ),
    )
}

# Columns of the history that the page shows; NaN where there is no value.
FIGURES = ("pressure", "volume", "air", "reaction", "residual", "active_contacts")


@dataclass(frozen=True)
class FrameHeader:
    """The constant part of all frames: the bodies, joined in the order of the vertices."""

    names: tuple[str, ...]
    kinds: tuple[str, ...]  # soft, rigid, prescribed or fixed
    offset: Array  # (bodies + 1,) first vertex of each
    triangles: tuple[Array, ...]  # (m, 3) int32 of each, in its own numbering
    rest: Array  # (n, 3) [m] at the start
    up: Array  # (3,) against gravity
    ambient: float  # [Pa]
    reach: float  # [m] largest gap that is known
    whole: bool = False  # the scene is not cut open
    pull: float = 5.0  # [N/cm] initial stiffness of a pull with the mouse

    def as_json(self) -> dict[str, Any]:
        """The header for the page, without the initial positions."""
        return {
            "bodies": [
                {
                    "name": name,
                    "kind": kind,
                    "first": int(self.offset[i]),
                    "count": int(self.offset[i + 1] - self.offset[i]),
                    "triangles": self.triangles[i].ravel().tolist(),
                }
                for i, (name, kind) in enumerate(zip(self.names, self.kinds))
            ],
            "colours": [vars(c) for c in COLOURS.values()],
            "figures": list(FIGURES),
            "up": self.up.tolist(),
            "ambient": self.ambient,
            "reach": self.reach,
            "least_patch": LEAST_PATCH,
            "whole": self.whole,
            "pull": self.pull,
        }


@dataclass(frozen=True)
class AirFrame:
    """The surface and pressure of one cavity."""

    points: Array  # (c, 3) float32 [m]
    triangles: Array  # (t, 3) int32
    pressure: float  # [Pa]


@dataclass(frozen=True)
class PatchFrame:
    """All contact surfaces of pressure fields as one mesh, at the start of the last step."""

    points: Array  # (v, 3) float32 [m]
    pressure: Array  # (v,) float32 [Pa]
    triangles: Array  # (t, 3) int32

    @staticmethod
    def none() -> PatchFrame:
        return PatchFrame(np.zeros((0, 3), np.float32), np.zeros(0, np.float32), NO_TRIANGLES)


@dataclass(frozen=True)
class Frame:
    """The state at one step."""

    step: int
    time: float  # [s]
    positions: Array  # (n, 3) float32 [m]
    contact_points: Array  # (k, 3) float32 [m], of contacts that carry a force
    contact_forces: Array  # (k, 3) float32 [N] on the first body
    cavities: tuple[AirFrame, ...]
    figures: Array  # (len(FIGURES),)
    fields: dict[str, Array] = field(default_factory=dict)  # (n,) float32, NaN: not coloured
    patch: PatchFrame = field(default_factory=PatchFrame.none)


def frame_header(simulation: Simulation) -> FrameHeader:
    """The header of a simulation before its first step."""
    now, world = simulation.snapshot(), simulation.world
    return FrameHeader(
        names=tuple(b.name for b in simulation.bodies),
        kinds=tuple(_kind(simulation, i) for i in range(len(simulation.bodies))),
        offset=simulation.model.points.first.copy(),
        triangles=tuple(np.ascontiguousarray(t, np.int32) for t in now.surface.own_triangles),
        rest=now.positions.copy(),
        up=up_direction(world.gravity),
        ambient=world.atmosphere.pressure,
        reach=max(simulation.settings.alarm, 1.2 * simulation.settings.cavity_distance),
        whole=simulation.particles_only,
        pull=_pull(simulation),
    )


def _pull(simulation: Simulation) -> float:
    """[N/cm]; a swept body dragged by its own length is pulled with half its weight."""
    if not simulation.particles_only:
        return 5.0
    soft = [b for b in simulation.bodies if b.deformable]
    lengths = [0.5 * 9.81 * b.mass / (100.0 * np.ptp(b.positions(), axis=0).max()) for b in soft]
    return float(f"{min(lengths):.1g}") if lengths else 5.0


def _kind(simulation: Simulation, i: int) -> str:
    body = simulation.bodies[i]
    if body.deformable:
        return "soft"
    if body.movable:
        return "rigid"
    return "prescribed" if body.motion is not None else "fixed"


def capture_frame(
    simulation: Simulation,
    header: FrameHeader,
    report: StepReport | None,
    colours: Iterable[str] = (),
) -> Frame:
    """The present state with the fields in `colours`; `report` is that of the last step."""
    now = simulation.snapshot()
    pressed = np.einsum("ki,ki->k", now.forces, now.contacts.normal)
    carrying = pressed > 0.0
    points, forces = now.other_forces
    air = tuple(
        AirFrame(
            cavity_positions(c.mesh, now.positions).astype(np.float32),
            drawn_triangles(c.mesh).astype(np.int32),
            c.pressure,
        )
        for c in now.cavities
    )
    return Frame(
        step=simulation.steps, time=simulation.time, positions=now.positions.astype(np.float32),
        contact_points=np.vstack([now.contact_points[carrying], points]).astype(np.float32),
        contact_forces=np.vstack([now.forces[carrying], forces]).astype(np.float32), cavities=air,
        figures=_figures(report, header.up),
        fields={name: _field(name, simulation, header, now, pressed) for name in colours},
        patch=_patch(now),
    )  # fmt: skip


def _patch(now: Snapshot) -> PatchFrame:
    points, pressure, triangles = joined_triangles(now.surfaces)
    return PatchFrame(points.astype(np.float32), pressure.astype(np.float32), triangles)


def _figures(report: StepReport | None, up: Array) -> Array:
    if report is None:
        return np.full(len(FIGURES), np.nan)
    row = flatten(report, up)
    return np.array([np.nan if (x := row[name]) is None else x for name in FIGURES], float)


def _field(
    name: str, simulation: Simulation, header: FrameHeader, now: Snapshot, pressed: Array
) -> Array:
    """(n,) float32. Rigid bodies are coloured by displacement only, because their triangles may be
    too coarse to resolve a contact."""
    if name == "displacement":
        d = now.positions - header.rest
        return np.sqrt(np.einsum("ni,ni->n", d, d)).astype(np.float32)
    x, offset = now.positions, simulation.model.points.first
    if name == "pressure":
        c = now.contacts
        load = vertex_loads(
            offset[c.surface_a], c.vertices_a, c.weights_a,
            offset[c.surface_b], c.vertices_b, c.weights_b, pressed, len(x),
        )  # fmt: skip
        area = np.zeros(len(x))
        for i, body in enumerate(simulation.bodies):
            if body.n_nodes:
                mine = slice(offset[i], offset[i + 1])
                area[mine] = vertex_areas(now.surface.own_triangles[i], x[mine])
        values = np.divide(load, area, out=np.zeros(len(x)), where=area > 0.0)
    elif name == "gap":
        gap = vertex_proximity(now.near, now.surface).gap
        values = np.where(gap <= header.reach, gap, np.nan)
    elif name == "class" and simulation.model.cavities is not None:
        values = simulation.model.cavities.classes(now.near, x).astype(float)
    else:
        values = np.full(len(x), np.nan)
    out = np.full(len(x), np.nan, np.float32)
    for i, body in enumerate(simulation.bodies):
        if body.n_nodes:
            mine = slice(offset[i], offset[i + 1])
            out[mine] = body.surface_stress() if name == "stress" else values[mine]
    return out
