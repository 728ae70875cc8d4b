"""What can be seen of a simulation: places, forces, shapes, and what a picture is drawn from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from limpet.cavity.cavity_set import CavitySet
from limpet.cavity.gas.ledger import AirLedger, Cavity
from limpet.cavity.mesh import JoinedSurface
from limpet.cavity.mesh import positions as cavity_positions
from limpet.contact.collider import Collider
from limpet.contact.contacts import Contacts
from limpet.errors import LimpetError, suggest
from limpet.fem.soft_body import SoftBody
from limpet.geometry.shape import RigidShape
from limpet.model.world import World
from limpet.particles.body import ParticleBody
from limpet.particles.coupling import ParticleCoupling
from limpet.pressure_field.patch_set import ContactPatches, PatchSet
from limpet.pressure_field.patches import QuadraturePoints
from limpet.pressure_field.surface import ContactSurface, joined_triangles
from limpet.report import SectionFrame
from limpet.rigid.rigid_body import RigidBody

Array = np.ndarray
Present = SoftBody | RigidBody | ParticleBody


@dataclass(frozen=True)
class Snapshot:
    """What can be seen of a moment, by the vertices of all collision surfaces joined."""

    positions: Array  # (n, 3) [m]
    surface: JoinedSurface  # topology of the surfaces
    contacts: Contacts  # that the last step was solved for
    forces: Array  # (k, 3) [N] of these, on their first body
    contact_points: Array  # (k, 3) [m]
    patches: QuadraturePoints  # of pressure fields, where they were
    patch_forces: Array  # (m, 3) [N] on their first body
    near: Contacts  # within the alarm distance now
    cavities: tuple[Cavity, ...]  # each with its mesh, air and pressure
    surfaces: tuple[ContactSurface, ...]  # on which pressure fields met as the last step began
    particle_contacts: tuple[
        Array, Array
    ]  # (m, 3) [m] where particle bodies press, (m, 3) [N] on the first

    @property
    def other_forces(self) -> tuple[Array, Array]:
        """(m, 3) [m], (m, 3) [N]: where bodies press otherwise than by `contacts`."""
        points, forces = self.particle_contacts
        return np.vstack([self.patches.point, points]), np.vstack([self.patch_forces, forces])


class Observation(ABC):
    """The part of a Simulation that is looked at."""

    world: World
    time: float  # [s]
    bodies: list[Present]
    first_point: Array  # (bodies + 1,) where each body's vertices begin
    _own: list[SoftBody | RigidBody]
    _guests: ParticleCoupling
    _colliders: list[Collider]
    _cavities: CavitySet
    _fields: PatchSet
    _air: AirLedger
    _contacts: Contacts
    _forces: Array
    _met: ContactPatches
    _patch_forces: Array
    _ahead: tuple[Array, Contacts] | None

    @abstractmethod
    def _detect(self, reach: float | None = None) -> tuple[Array, Contacts]:
        """Surface positions and the contacts there."""

    @property
    def explicit_only(self) -> bool:
        """Whether all bodies are swept: there is no air to be trapped."""
        return self._guests.alone

    @property
    def fem_nodes(self) -> int:
        """Nodes of the soft bodies."""
        return sum(len(b.x) for b in self.bodies if isinstance(b, SoftBody))

    @property
    def collision_nodes(self) -> int:
        """Surface vertices of the bodies that can touch."""
        solid = [self.world.specs[b.name].collides for b in self._own] + [True] * len(self._guests)
        surfaces = [c.surface for c, collides in zip(self._colliders, solid) if collides]
        return sum(int(np.count_nonzero(np.diff(s.vertex_start))) for s in surfaces)

    def probes(self) -> dict[str, float]:
        """What World.watch asked for, now: places [m], volumes as a share of that at rest."""
        bodies = {b.name: b for b in self.bodies}
        values: list[float] = []
        soft: dict[str, SoftBody] = {}
        for region in self.world.probes.values():
            body = bodies[region.body]
            if isinstance(body, SoftBody):
                assert region.name is not None
                values += (
                    body.node_positions()[body.shape.region(region.name)].mean(axis=0).tolist()
                )
                soft[body.name] = body
            else:
                values += body.centre.tolist()
        values += [b.fem.volume_of(b.x) / b.fem.volume for b in soft.values()]
        return dict(zip(self.world.probe_columns(), values))

    def shape(self, name: str) -> RigidShape:
        """The surface of a body as it is now: for shapes.save_mesh, or to compare (hausdorff)."""
        if name not in self.world.specs:
            raise LimpetError(f"there is no body '{name}'{suggest(name, self.world.specs)}")
        bodies = self.section_frame("").bodies
        x, triangles = next((x, t) for own, x, t in bodies if own == name)
        return RigidShape(name, x.copy(), triangles)

    def snapshot(self) -> Snapshot:
        """Where everything is now: arrays of the simulation itself, to be read and not kept."""
        if self._ahead is None:
            self._ahead = self._detect()
        x, near = self._ahead
        c = self._contacts
        carried = x[self.first_point[c.body_a][:, None] + c.vertices_a]
        return Snapshot(
            positions=x, surface=self._cavities.surface, contacts=c, near=near, forces=self._forces,
            contact_points=np.einsum("kj,kji->ki", c.weights_a, carried),
            cavities=self._air.cavities,
            patches=self._met.patches, patch_forces=self._patch_forces,
            surfaces=self._met.surfaces, particle_contacts=self._guests.engine.pressing(),
        )  # fmt: skip

    def section_frame(self, label: str) -> SectionFrame:
        """What a section through the scene is drawn from: surfaces, contact forces, the cavity."""
        bodies: list[tuple[str, Array, Array]] = []
        for body in self.bodies:
            if isinstance(body, SoftBody):
                visual = body.visual
                bodies.append((body.name, visual.positions(body.x), visual.triangles))
            else:
                bodies.append((body.name, body.positions(), body.triangles))
        now = self.snapshot()
        x, (points, forces) = now.positions, now.other_forces
        largest = max(self._air.cavities, key=lambda t: t.volume, default=None)
        none = np.zeros((0, 3))
        return SectionFrame(
            label=label, time=self.time, bodies=bodies,
            contacts=np.vstack([now.contact_points, points]),
            forces=np.vstack([now.forces, forces]),
            cavity_points=cavity_positions(largest.mesh, x) if largest else none,
            cavity_triangles=largest.mesh.triangles if largest else none.astype(np.int32),
            pressure=largest.pressure if largest else self.world.atmosphere.pressure,
            cavities=tuple(
                (cavity_positions(t.mesh, x), t.mesh.triangles, t.pressure)
                for t in self._air.cavities
            ),
            soft=frozenset(b.name for b in self.bodies if isinstance(b, SoftBody | ParticleBody)),
            fixed=frozenset(b.name for b in self.bodies if not b.movable and b.motion is None),
            patches=joined_triangles(now.surfaces) if self._fields.pairs else None,
            whole=self.explicit_only,
        )  # fmt: skip
