"""What a user builds: bodies, prescribed motions, gravity and air. Nothing moves here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from limpet.cavity.gas.atmosphere import Atmosphere
from limpet.cavity.gas.exchange import AirExchange
from limpet.cavity.gas.line_elements import Element, Reservoir, elements_of
from limpet.cavity.gas.vacuum_line import Source, Valve
from limpet.dynamics.motion import HOLD, Motion
from limpet.errors import LimpetError, require_positive, suggest
from limpet.fem.material import Fem, Material
from limpet.geometry.shape import Array, RigidShape, SoftShape, check_points
from limpet.geometry.smooth import CREASE
from limpet.model import describe, lines
from limpet.model.contact_table import ContactTable
from limpet.model.specs import (
    INTEGRATORS,
    Connection,
    JointSpec,
    ManifoldSpec,
    Named,
    Region,
    RigidSpec,
    SoftSpec,
    Spec,
)
from limpet.particles.body import ParticleBody
from limpet.particles.model import ParticleModel
from limpet.pressure_field.catalogue import FieldShape
from limpet.pressure_field.soft_field import FieldLayer, soft_field
from limpet.rigid.actuators import Actuator, actuator
from limpet.rigid.rigid_body import RigidBody

Vector = Sequence[float] | Array


class World:
    """Bodies and what acts on them. Lengths in m, masses in kg, pressures in Pa, time in s.

    gravity (3,) [m/s^2]; friction: Coulomb's coefficient between all bodies, unless set_friction
    says otherwise for a pair; atmosphere: the air around and how trapped air answers; leak [mol/s]
    into every sealed cavity (P eq 15), unless a body has its own air exchange.
    """

    def __init__(
        self, gravity: Vector = (0.0, 0.0, -9.81), friction: float = 0.5,
        atmosphere: Atmosphere | None = None, leak: float = 0.0,
    ) -> None:  # fmt: skip
        self.gravity = np.asarray(gravity, dtype=float)
        if self.gravity.shape != (3,) or not np.all(np.isfinite(self.gravity)):
            raise LimpetError(f"gravity = {gravity}: expected three finite numbers [m/s^2]")
        self.atmosphere = atmosphere or Atmosphere()
        if not 0.0 <= leak < np.inf:
            raise LimpetError(f"leak = {leak:g} mol/s: expected 0 or more")
        self.leak = leak  # n_leak into every sealed cavity (P eq 15)
        self.specs: dict[str, Spec] = {}
        self.motions: dict[str, tuple[Region, Motion]] = {}  # by body
        self.actuators: dict[str, Actuator] = {}  # by body
        self.air_exchanges: dict[str, AirExchange] = {}  # by body
        self.connections: dict[str, Connection] = {}  # by body
        self.manifolds: dict[str, ManifoldSpec] = {}
        self.probes: dict[str, Region] = {}
        self.joints: list[JointSpec] = []
        self.contact_table = ContactTable(self.specs, friction)
        self.particles = ParticleModel(self.contact_table.friction)

    def __repr__(self) -> str:
        return describe.text(self)

    def _repr_html_(self) -> str:
        return describe.html(self)

    def add_soft(
        self, shape: SoftShape, material: Material, mass: float, *, name: str | None = None,
        position: Vector = (0.0, 0.0, 0.0), rotation: Array | None = None, fem: Fem | None = None,
        collides: bool = True, field: FieldLayer | None = None, crease: float = CREASE,
        integrator: str | None = None, self_contact: bool = True,
    ) -> SoftSpec:  # fmt: skip
        """A soft body; `mass` [kg] is spread evenly over its volume.

        It is turned by `rotation` (3, 3) about the origin of its shape, then put at `position`
        (3,) [m]. `name`: that of the shape if not given, with a number if that is taken. `fem`
        names an element and how it is used; by default mesh and material choose it. Without
        `collides` it touches nothing. `field`: a pressure field under its surface
        (`limpet.fields.layer`), by which it touches other bodies that have one, see `set_contact`.
        `crease` [rad]: contact takes the surface for smooth where faces turn by less, and for a
        ridge where they turn by more; 0: all facets are real.
        `integrator`: "midpoint", which keeps energy, by default for a material without damping, or
        "backward-euler", which damps what the time step does not resolve.
        `self_contact`: whether its surface touches itself where it folds; such contacts carry
        forces, but close no air off.
        """
        name = self._new_name(name, shape.name)
        check_points(shape.points, f"mesh of '{name}'")
        require_positive(f"mass of '{name}'", mass, " kg")
        placed = replace(shape, points=_place(shape.points, position, rotation))
        bound = None if field is None else soft_field(placed, field, name)
        _check_integrator(name, integrator)
        spec = SoftSpec(
            name, placed, material, mass, fem or Fem(), collides, bound, _crease(name, crease),
            integrator, self_contact,
        )  # fmt: skip
        if integrator == "midpoint" and (why := spec.backward_only):
            raise LimpetError(f"integrator = 'midpoint' of '{name}': {why}; leave it out")
        self.specs[name] = spec
        return spec

    def add_rigid(
        self, shape: RigidShape, mass: float, *, name: str | None = None,
        position: Vector = (0.0, 0.0, 0.0), rotation: Array | None = None, fixed: bool = False,
        collides: bool = True, crease: float = CREASE, integrator: str | None = None,
    ) -> RigidSpec:  # fmt: skip
        """A rigid body, free to move, or `fixed` in the world; without `collides` only seen.

        `mass` [kg] is spread evenly over its volume; name, position, rotation and crease as in
        add_soft.
        Two shapes of `limpet.fields` touch by their pressure fields, see `set_contact`.
        `integrator`: "midpoint", by which it falls as in theory at any time step, or
        "backward-euler", the default without restitution or attached bodies that keep energy.
        """
        name = self._new_name(name, shape.name)
        check_points(shape.points, f"mesh of '{name}'")
        require_positive(f"mass of '{name}'", mass, " kg")
        placed = replace(shape, points=_place(shape.points, position, rotation))
        field = shape.field if isinstance(shape, FieldShape) else None
        rotation = np.eye(3) if rotation is None else np.asarray(rotation, dtype=float)
        pose = rotation, np.asarray(position, dtype=float)
        _check_integrator(name, integrator)
        spec = RigidSpec(
            name, placed, mass, fixed, collides, field, pose, _crease(name, crease), integrator
        )
        self.specs[name] = spec
        return spec

    def prescribe_motion(self, target: Region | RigidSpec, motion: Motion) -> None:
        """Move a region of a soft body, or a whole rigid body, along `motion` (limpet.motion.path).

        Its reaction is in every report: StepReport.reactions, by the body's name.
        """
        if isinstance(target, SoftSpec):
            regions = ", ".join(target.shape.regions)
            raise LimpetError(
                f"prescribe_motion on '{target.name}': name a region of a soft body, as in "
                f"{target.name}['top']; it has: {regions}"
            )
        if not isinstance(target, (Region, RigidSpec)) or not isinstance(motion, Motion):
            raise LimpetError(
                "prescribe_motion: expected a region or a rigid body of this world, and a motion"
            )
        region = target.whole if isinstance(target, RigidSpec) else target
        if region.body not in self.specs:
            raise LimpetError(
                f"prescribe_motion on '{region.body}'{suggest(region.body, self.specs)}"
            )
        spec = self.specs[region.body]
        if isinstance(spec, RigidSpec) != (region.name is None):
            raise LimpetError(
                f"prescribe_motion on '{region.body}': the target is of another world"
            )
        self._check_motion("prescribe_motion", spec, motion)
        self.motions[region.body] = (region, motion)

    def _check_motion(self, what: str, spec: Spec, motion: Motion) -> None:
        """It is the only one of the body, and begins where the body stands."""
        if isinstance(spec, RigidSpec) and spec.fixed:
            raise LimpetError(f"{what} on '{spec.name}': it is fixed; add it without fixed=True")
        if spec.name in self.motions:
            raise LimpetError(
                f"'{spec.name}' has a prescribed motion already: join the two motions"
            )
        if spec.name in self.actuators:
            raise LimpetError(f"'{spec.name}' has an actuator already: give that the motion")
        points = spec.shape.points
        away = float(np.abs(motion.place(points, 0.0) - points).max())
        if away > 1e-9:
            raise LimpetError(
                f"{what} on '{spec.name}': the motion starts {away:g} m away from "
                "where the body stands; begin the path with (0, 0)"
            )

    def fix(self, target: Region | RigidSpec) -> None:
        """Keep a region of a soft body, or a rigid body, where it is."""
        self.prescribe_motion(target, HOLD)

    def actuate(
        self, body: RigidSpec, axis: Vector, *, motion: Motion = HOLD, stiffness: float = 0.0,
        damping: float = 0.0, force: float | Sequence[tuple[float, float]] = 0.0,
        max_force: float | None = None,
    ) -> None:  # fmt: skip
        """Drive a rigid body along `axis` (3,) by a force; in all else it follows `motion`.

        The axis turns with the motion. Along it, a spring of `stiffness` [N/m] and a damper
        [N s/m] pull the body to where the motion would have it, and `force` [N] pushes: a number,
        or (time [s], force [N]) pairs with straight lines in between. All together exert at most
        `max_force` [N] in either direction. Without a spring the body is driven by force alone.
        Gravity acts on the body. `Simulation.set_drive_force` changes the force of a run;
        StepReport.reactions has what drive and guide exert on the body.
        """
        if not isinstance(body, RigidSpec) or not isinstance(motion, Motion):
            raise LimpetError("actuate: expected a rigid body of this world, and a motion")
        if self.specs.get(body.name) is not body:
            raise LimpetError(f"actuate '{body.name}': it is not a body of this world")
        self._check_motion("actuate", body, motion)
        self.actuators[body.name] = actuator(
            body.name, axis, motion, stiffness, damping, force, max_force
        )

    def attach(self, region: Region, rigid: RigidSpec) -> None:
        """Fix a region of a soft body to a rigid one: its nodes keep their place on it.

        The two bodies make no contact with each other.
        """
        if not isinstance(region, Region) or region.name is None:
            raise LimpetError('attach: expected a region of a soft body, as cup["top"]')
        self._known("attach", region.body, rigid)
        spec = self.specs[region.body]
        assert isinstance(spec, SoftSpec)
        if region.body in self.motions and self.motions[region.body][0].name == region.name:
            raise LimpetError(
                f"attach '{region.body}': its region '{region.name}' has a prescribed motion"
            )
        nodes = spec.shape.region(region.name)
        joint = JointSpec(region.body, rigid.name, nodes, spec.shape.points[nodes], hinge=False)
        self.joints.append(joint)
        self.exclude_contact(spec, rigid)

    def joint(
        self, one: RigidSpec, other: RigidSpec, at: Vector, axis: Vector | None = None
    ) -> None:
        """Join two rigid bodies at a point [m]: a ball joint, with an `axis` a hinge about it.

        The two bodies make no contact with each other.
        """
        self._known("joint", one.name if isinstance(one, RigidSpec) else "", other)
        points = np.atleast_2d(np.asarray(at, dtype=float))
        if axis is not None:
            along = np.asarray(axis, dtype=float)
            if along.shape != (3,) or not 0.0 < float(np.linalg.norm(along)) < np.inf:
                raise LimpetError(f"joint axis = {axis}: expected three numbers, not all 0")
            size = float(np.ptp(np.concatenate([one.shape.points, other.shape.points]), 0).max())
            points = np.concatenate([points, points + along * size / np.linalg.norm(along)])
        if points.shape != (1 if axis is None else 2, 3) or not np.all(np.isfinite(points)):
            raise LimpetError(f"joint at = {at}: expected three finite numbers [m]")
        self.joints.append(JointSpec(one.name, other.name, None, points, axis is not None))
        self.exclude_contact(one, other)

    def _known(self, what: str, one: str, other: object) -> None:
        if one not in self.specs or not isinstance(other, RigidSpec):
            raise LimpetError(f"{what}: expected two bodies of this world, the second rigid")
        if other.name not in self.specs or one == other.name:
            raise LimpetError(
                f"{what} '{one}' to '{other.name}': expected two bodies of this world"
            )
        if all(self._prescribed(name) for name in (one, other.name)):
            raise LimpetError(
                f"{what} '{one}' to '{other.name}': neither can move, so there is nothing to hold"
            )

    def _prescribed(self, name: str) -> bool:
        spec = self.specs[name]
        return isinstance(spec, RigidSpec) and (spec.fixed or name in self.motions)

    def exclude_contact(self, one: Named, other: Named) -> None:
        """Let two bodies pass through each other: no contact, no cavity between them."""
        self.contact_table.exclude_contact(one.name, other.name)

    def set_friction(self, one: Named, other: Named, mu: float) -> None:
        """Coulomb's coefficient `mu` of one pair of bodies, instead of the world's."""
        self.contact_table.friction.set(one.name, other.name, mu)

    def set_restitution(self, one: Spec, other: Spec, e: float) -> None:
        """The coefficient of restitution of two bodies that touch by points: 0 to 1, 0 if not set.

        After an impact the points that meet part with `e` times the speed with which they met.
        """
        self.contact_table.restitution.set(one.name, other.name, e)

    def set_contact(self, one: Spec, other: Spec, model: str, dissipation: float = 0.0) -> None:
        """How two bodies touch: by "points" of their surfaces, or by their "pressure fields".

        dissipation [s]: of pressure fields (F eq 3), by how much their pressure rises with the
        rate of the extent.
        """
        self.contact_table.set_contact(one, other, model, dissipation)

    def set_air_exchange(self, body: Spec, exchange: AirExchange) -> None:
        """How every cavity with a wall on `body` leaks or is fed, instead of the world's leak.

        Of two bodies round one cavity that both have one, the one that carries the contact ring
        counts (the soft one; of two alike the one added first); if that has none, the first added.
        """
        if not isinstance(body, (SoftSpec, RigidSpec)) or not isinstance(exchange, AirExchange):
            raise LimpetError("set_air_exchange: expected a body of this world, and an AirExchange")
        if self.specs.get(body.name) is not body:
            raise LimpetError(f"set_air_exchange on '{body.name}': it is not a body of this world")
        if body.name in self.air_exchanges:
            raise LimpetError(
                f"'{body.name}' has an air exchange already: join the two in one AirExchange"
            )
        self.air_exchanges[body.name] = exchange

    def add_manifold(
        self, source: Source, *, volume: float | str = 0.0,
        line: Element | Sequence[Element] | None = None, valve: Valve | None = None,
        switch: float | str | None = None, name: str = "manifold",
    ) -> ManifoldSpec:  # fmt: skip
        """One source for several cups: `connect` each of them to the manifold that is returned.

        volume [m^3]: of the manifold, a reservoir included. line: what leads from it to the source,
        an element or several in that order; valve: before the source. switch [Pa]: of its sensor,
        half the source's deepest vacuum if not given.
        """
        if name in self.manifolds or name in self.specs:
            raise LimpetError(f"add_manifold '{name}': that name is taken")
        elements = (Reservoir(volume), *elements_of(line))
        spec = lines.manifold(self, name, source, elements, valve, switch)
        self.manifolds[name] = spec
        return spec

    def connect(
        self, body: Spec, source: Source | ManifoldSpec, *,
        line: Element | Sequence[Element] | None = None, valve: Valve | None = None,
        port: Vector | None = None, switch: float | str | None = None,
    ) -> None:  # fmt: skip
        """Put a vacuum line on `body`: a Regulator, a Pump or an Ejector, or a manifold with one.

        line: what leads from the cup to the source, an element (Hose, Restriction, Orifice,
        Reservoir, CheckValve, FlowCheck) or several in that order; valve: before the source. port
        [m]: where it enters, as a point on the body's surface; the cavity there is on the line.
        Without one it is the largest with a wall on the body. switch [Pa]: the vacuum from which on
        the sensor says that a part is present, half the source's deepest if not given. Of two lines
        on one cavity the one that was connected first counts.
        """
        if not isinstance(body, (SoftSpec, RigidSpec)) or not lines.is_source(source):
            raise LimpetError(
                "connect: expected a body of this world, and a Regulator, a Pump, an Ejector or a "
                "manifold"
            )
        if self.specs.get(body.name) is not body:
            raise LimpetError(f"connect on '{body.name}': it is not a body of this world")
        if body.name in self.connections:
            raise LimpetError(f"'{body.name}' is on a line already")
        made = lines.connection(self, body.name, source, elements_of(line), valve, port, switch)
        self.connections[body.name] = made

    def sensor_names(self) -> list[str]:
        """The vacuum sensors in the order of the reports: of the lines, then of the manifolds."""
        return [*self.connections, *self.manifolds]

    def add_probe(self, name: str, target: Region | RigidSpec | ParticleBody | RigidBody) -> None:
        """Report a region's mean position in each step as name_x, name_y, name_z [m].

        Of a rigid or particle body it is the centre of mass. With a region comes the volume of its
        body, as a share of that at rest: body_volume.
        """
        if isinstance(target, (RigidSpec, ParticleBody, RigidBody)):
            target = Region(target.name, None)
        if not isinstance(target, Region):
            raise LimpetError(
                f"add_probe '{name}': expected a rigid body or a region, as beam[\"tip\"]"
            )
        particles = [body.name for body in self.particles.bodies]
        if target.body not in (*self.specs, *particles):
            near = suggest(target.body, [*self.specs, *particles])
            raise LimpetError(f"add_probe '{name}': there is no body '{target.body}'{near}")
        if not name.isidentifier():
            raise LimpetError(f"add_probe '{name}': expected a name of letters, digits and _")
        if name in self.probes:
            raise LimpetError(f"add_probe '{name}': that name is taken")
        self.probes[name] = target

    def probe_columns(self) -> list[str]:
        """The names of the probes' columns, in the order of the reports."""
        places = [f"{name}_{axis}" for name in self.probes for axis in "xyz"]
        regions = self.probes.values()
        bodies = dict.fromkeys(region.body for region in regions if region.name is not None)
        return places + [f"{body.replace(' ', '_')}_volume" for body in bodies]

    def held_bodies(self) -> list[str]:
        """The soft bodies that a prescribed motion or an attachment holds."""
        attached = {joint.one for joint in self.joints if joint.nodes is not None}
        soft = [name for name, spec in self.specs.items() if isinstance(spec, SoftSpec)]
        return [name for name in soft if name in self.motions or name in attached]

    def _new_name(self, name: str | None, kind: str) -> str:
        if name is None:
            name = kind
            count = 2
            while name in self.specs:
                name = f"{kind} {count}"
                count += 1
        if name in self.specs:
            raise LimpetError(f"name = '{name}': the world has a body of that name already")
        return name


def _crease(name: str, angle: float) -> float:
    if not 0.0 <= angle <= np.pi:
        raise LimpetError(
            f"crease of '{name}' = {angle:g} rad: expected 0 (all facets are real) to pi; "
            f"{CREASE:.2f} rad, 30 degrees, is the default"
        )
    return float(angle)


def _check_integrator(name: str, integrator: str | None) -> None:
    if integrator is not None and integrator not in INTEGRATORS:
        near = suggest(integrator, INTEGRATORS)
        raise LimpetError(f"integrator = '{integrator}' of '{name}'{near}")


def _place(points: Array, position: Vector, rotation: Array | None) -> Array:
    where = np.asarray(position, dtype=float)
    if where.shape != (3,) or not np.all(np.isfinite(where)):
        raise LimpetError(f"position = {position}: expected three finite numbers [m]")
    rotation = np.eye(3) if rotation is None else np.asarray(rotation, dtype=float)
    if rotation.shape != (3, 3) or not np.allclose(rotation @ rotation.T, np.eye(3), atol=1e-9):
        raise LimpetError("rotation: expected a rotation matrix, 3 x 3 and orthogonal")
    return np.ascontiguousarray(points @ rotation.T + where)
