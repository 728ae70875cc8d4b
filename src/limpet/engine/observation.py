"""What can be seen of a simulation: positions, forces, shapes, and what a picture is drawn from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from limpet.cavity.drawn import drawn_triangles
from limpet.cavity.gas.ledger import Cavity
from limpet.cavity.mesh import JoinedSurface
from limpet.cavity.mesh import positions as cavity_positions
from limpet.contact.contacts import Contacts
from limpet.dynamics.body import BodyReport, OwnSolve
from limpet.dynamics.constraint_set import StepContext
from limpet.model.factory import SimulationModel
from limpet.model.world import World
from limpet.pressure_field.surface import ContactSurface, joined_triangles
from limpet.report import (
    SLIVER,
    CavityReport,
    CupReport,
    SectionFrame,
    StepReport,
    VacuumSensorReport,
)

if TYPE_CHECKING:
    from limpet.engine.simulation import Simulation

Array = np.ndarray
NO_VECTORS = np.zeros((0, 3))


@dataclass(frozen=True)
class Snapshot:
    """What can be seen at one time, by the points of all collision surfaces joined."""

    positions: Array  # (n, 3) [m]
    surface: JoinedSurface  # topology of the surfaces
    contacts: Contacts  # that the last step was solved for
    forces: Array  # (k, 3) [N] of these, on their first body
    contact_points: Array  # (k, 3) [m]
    # (m, 3) [m] where pressure fields press, (m, 3) [N] on the first of each two
    field_contacts: tuple[Array, Array]
    near: Contacts  # within the alarm distance now
    cavities: tuple[Cavity, ...]  # each with its mesh, air and pressure
    surfaces: tuple[ContactSurface, ...]  # on which pressure fields meet
    # (m, 3) [m] where particle bodies press, (m, 3) [N] on the first of each two
    particle_contacts: tuple[Array, Array]

    @property
    def other_forces(self) -> tuple[Array, Array]:
        """(m, 3) [m], (m, 3) [N]: where bodies press otherwise than by `contacts`."""
        points, forces = self.particle_contacts
        others, other_forces = self.field_contacts
        return np.vstack([others, points]), np.vstack([other_forces, forces])


def snapshot(model: SimulationModel, now: StepContext) -> Snapshot:
    """Arrays of the simulation itself, to be read and not kept."""
    near, contacts, forces, points = Contacts.none(), Contacts.none(), NO_VECTORS, NO_VECTORS
    if model.contacts is not None:
        contacts, forces = model.contacts.contacts, model.contacts.forces()
        near = model.contacts.near(now).between_bodies()
        points = contacts.points(now.x, model.points.first)
    fields = model.fields.pressing() if model.fields else (NO_VECTORS, NO_VECTORS)
    pressing = model.particles.system.pressing() if model.particles else (NO_VECTORS, NO_VECTORS)
    return Snapshot(
        positions=now.x, surface=model.surface, contacts=contacts, forces=forces,
        contact_points=points, field_contacts=fields, near=near,
        cavities=model.cavities.ledger.cavities if model.cavities else (),
        surfaces=model.fields.contact_surfaces() if model.fields else (),
        particle_contacts=pressing,
    )  # fmt: skip


def probes(world: World, model: SimulationModel) -> dict[str, float]:
    """Positions [m] of the world's probes, and the volumes of probed soft bodies."""
    values: list[float] = []
    volumes: dict[str, float] = {}
    for region in world.probes.values():
        body = model.members[model.points.names.index(region.body)]
        values += body.region_position(region.name).tolist()
        if body.name not in volumes and (ratio := body.volume_ratio()) is not None:
            volumes[body.name] = ratio
    return dict(zip(world.probe_columns(), [*values, *volumes.values()]))


def cups(
    model: SimulationModel, bodies: Sequence[BodyReport], cavities: Sequence[CavityReport]
) -> dict[str, CupReport]:
    """The soft bodies that are held, with the lowest pressure of the air that they trap."""
    held = {name: force for report in bodies for name, force in report.held.items()}
    found = {}
    for name in (m.name for m in model.members if m.name in held):
        own = [c.pressure for c in cavities if name in c.bodies and not c.air <= SLIVER]
        found[name] = CupReport(held[name], min(own, default=None))
    return found


def section_frame(simulation: Simulation, label: str) -> SectionFrame:
    """What a section through the scene is drawn from: surfaces, contact forces, cavities."""
    model, now = simulation.model, simulation.snapshot()
    points, forces = now.other_forces
    air = [
        (cavity_positions(c.mesh, now.positions), drawn_triangles(c.mesh), c) for c in now.cavities
    ]
    largest = max(air, key=lambda one: one[2].volume, default=None)
    none = NO_VECTORS, NO_VECTORS.astype(np.int32)
    members = model.members
    return SectionFrame(
        label=label, time=simulation.time,
        bodies=[(m.name, *m.visual_surface()) for m in members],
        contacts=np.vstack([now.contact_points, points]),
        forces=np.vstack([now.forces, forces]),
        cavity_points=largest[0] if largest else none[0],
        cavity_triangles=largest[1] if largest else none[1],
        pressure=largest[2].pressure if largest else simulation.world.atmosphere.pressure,
        cavities=tuple((x, triangles, c.pressure) for x, triangles, c in air),
        soft=frozenset(m.name for m in members if m.deformable),
        fixed=frozenset(m.name for m in members if not m.movable and m.motion is None),
        patches=joined_triangles(now.surfaces) if model.fields else None,
        whole=simulation.particles_only,
    )  # fmt: skip


def whole_step(parts: Sequence[tuple[CavityReport, ...]]) -> tuple[CavityReport, ...]:
    """The cavities after the last part of a step, with what leaked and left in all its parts."""
    if len(parts) < 2:
        return parts[0] if parts else ()
    found = []
    for last in parts[-1]:
        same = [c for part in parts for c in part if c.id == last.id]
        vented, leaked = sum(c.vented for c in same), sum(c.leaked for c in same)
        found.append(replace(last, vented=vented, leaked=leaked))
    return tuple(found)


def mean_flows(
    parts: Sequence[tuple[float, Mapping[str, VacuumSensorReport]]],
) -> dict[str, VacuumSensorReport]:
    """The sensors after the last part of a step, with the flows averaged over its parts, h each."""
    if len(parts) < 2:
        return dict(parts[0][1]) if parts else {}
    whole, found = sum(h for h, _ in parts), {}
    for name, last in parts[-1][1].items():
        flows = [(h, sensors[name].flow) for h, sensors in parts]
        mean = None
        if all(flow is not None for _, flow in flows):
            mean = sum(h * (flow or 0.0) for h, flow in flows) / whole
        found[name] = replace(last, flow=mean)
    return found


def with_own_solve(report: StepReport, own: OwnSolve) -> StepReport:
    """A step's report, with what a body that solves constraints of its own did."""
    return replace(
        report, rows=report.rows + own.rows, contacts=report.contacts + own.contacts,
        active_contacts=report.active_contacts + own.active_contacts,
        sweeps=report.sweeps + own.sweeps, converged=report.converged and own.converged,
        max_penetration=max(report.max_penetration, own.max_penetration),
        residual=max(report.residual, own.residual), particles=own.particles or report.particles,
        crossings=report.crossings + own.crossings,
    )  # fmt: skip
