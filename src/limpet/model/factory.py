"""From a World to what a simulation steps: here and in bodies.py the kinds of bodies are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from limpet.cavity.cavity_set import CavitySet
from limpet.cavity.mesh import JoinedSurface, join_surfaces
from limpet.clock import Clock
from limpet.contact.collider import Collider, collider
from limpet.contact.contact_set import ContactSet
from limpet.contact.limits import ContactLimits
from limpet.contact.self_contact import touching_itself
from limpet.dynamics.body import Body, CondensedBody
from limpet.dynamics.constraint_set import ConstraintSet, PointMap
from limpet.errors import LimpetError
from limpet.fem.attachments import AttachedBodies
from limpet.fem.soft_body import SoftBody
from limpet.linalg.threads import Threads
from limpet.model.air import cavity_set
from limpet.model.bodies import attached_bodies, given_corners, implicit_bodies, thetas
from limpet.model.draping import draped_hosts, proxy_of, with_sheets
from limpet.model.settings import Settings
from limpet.model.specs import SoftSpec
from limpet.model.world import World
from limpet.particles.coupling import CoupledParticles
from limpet.particles.system import ParticleSystem
from limpet.pressure_field.condensed_soft import CondensedSoft
from limpet.pressure_field.field_bodies import FieldBodies
from limpet.pressure_field.field_contacts import FieldPair
from limpet.pressure_field.soft_field import SoftField
from limpet.pressure_field.soft_members import SoftMember
from limpet.rigid.actuators import ActuatedBody, DriveSet, GuideSet
from limpet.rigid.joints import JointSet
from limpet.rigid.rigid_body import RigidBody
from limpet.solver.constraint_solver import ConstraintSolver

Array = np.ndarray


@dataclass(frozen=True)
class SimulationModel:
    """Bodies and constraint sets, ready to step."""

    bodies: Sequence[Body]  # attached bodies are one, particle bodies are one
    members: Sequence[Body]  # all named bodies, each with one surface, in the order of surfaces
    points: PointMap
    surface: JoinedSurface  # of all members
    sets: Sequence[ConstraintSet]  # contacts, cavities, joints; those that there are
    contacts: ContactSet | None
    fields: FieldBodies | None
    cavities: CavitySet | None
    particles: CoupledParticles | None
    solver: ConstraintSolver
    collision_nodes: int  # surface vertices of the members that can touch

    @property
    def divisible(self) -> bool:
        """Whether a step that does not converge can be made in halves."""
        return (self.fields is not None or self.solver.relinearises) and self.particles is None


def build(world: World, h: float, settings: Settings, clock: Clock) -> SimulationModel:
    """Raises LimpetError where the world cannot be simulated."""
    draped = draped_hosts(world)
    field_pairs = world.contact_table.field_pairs(list(world.specs))
    staggered = bool(field_pairs or world.particles.bodies)
    theta = thetas(world, staggered)
    once = set(world.specs) if staggered else set()  # linearised: other solvers iterate on them
    threads = Threads(settings.threads)
    own, surfaces, facets, joints, attachments = implicit_bodies(
        world, settings, once, theta, threads
    )
    particles = _particles(world, h, clock, own, draped)
    members: list[Body] = [*own, *(particles.members if particles else ())]
    if not members:
        raise LimpetError("the world is empty: add a body first")
    names = [m.name for m in members]
    if len(set(names)) < len(names):
        twice = next(n for n in names if names.count(n) > 1)
        raise LimpetError(f"two bodies are called '{twice}': give each its own name")
    if particles:
        surfaces = [*surfaces, *particles.surfaces.values()]
    bodies, body_of = attached_bodies(own, attachments)
    friction = world.contact_table.friction.matrix(names)
    restitution = world.contact_table.restitution.matrix(names)
    fields = None
    if field_pairs:
        fields, bodies, body_of = _with_fields(own, bodies, body_of, field_pairs, friction)
    if particles and draped:
        bodies, body_of = with_sheets(bodies, body_of, particles, [names.index(n) for n in draped])
    elif particles:
        body_of += [len(bodies)] * len(particles.members)
        bodies.append(particles)
    sizes = np.array([m.n_points for m in members])
    points = PointMap.of(tuple(names), sizes, np.array(body_of), len(bodies))

    soft = np.array([m.deformable for m in members])
    colliders = [
        collider(
            s,
            m.positions(),
            not (m.deformable or settings.keep_flat_vertices),
            crease=world.specs[m.name].crease if m.name in world.specs else 0.0,
            deforms=m.deformable,
            corners=given_corners(world, m.name),
            facets=facets.get(m.name),
        )
        for s, m in zip(surfaces, members)
    ]
    folds = _self_contacts(world, members, {i for p in field_pairs for i in (p.a, p.b)})
    for i in folds:
        colliders[i] = touching_itself(colliders[i], members[i].positions())
    order = sorted(range(len(members)), key=lambda i: not soft[i])  # soft bodies come first
    may_touch = partial(_may_touch, world, particles, members)
    pairs = [(a, b) for k, a in enumerate(order) for b in order[k + 1 :] if may_touch(a, b)]

    joined = join_surfaces(surfaces, [m.curved_faces for m in members])
    contacts = cavities = None
    sets: list[ConstraintSet] = []
    if pairs or folds or world.connections:
        alarm = max(settings.alarm, 1.2 * settings.cavity_distance)
        movable = np.array([m.movable for m in members])
        in_turns = np.arange(len(members)) >= len(own)  # particle bodies
        contacts = ContactSet(
            colliders, [*pairs, *((i, i) for i in sorted(folds))], movable, points.first, alarm,
            friction, settings.use_all_contacts,
            restitution if restitution.any() else None,
            np.concatenate([m.held_points() for m in members]),
            in_turns, ContactLimits.of(settings.sealing_distance), threads,
        )  # fmt: skip
        sets.append(contacts)
    if contacts is not None and (pairs or world.connections):
        cavities = cavity_set(
            world, settings, members, points, joined, colliders, contacts, in_turns
        )
        sets.append(cavities)
    if actuated := _actuated(world, own, points):
        sets += [DriveSet(actuated), GuideSet(actuated)]
    if len(joints):
        sets.append(JointSet(joints))
    solver = ConstraintSolver(
        points, settings.solver, settings.regularisation, settings.warm_start, clock,
        contacts is not None
        and (min(theta.values(), default=1.0) < 1.0 or bool(restitution.any())),
        settings.relinearisation.most > 1 and any(s not in once for s in world.specs),
    )  # fmt: skip
    return SimulationModel(
        bodies, members, points, joined, sets, contacts, fields, cavities, particles, solver,
        _collision_nodes(world, members, colliders),
    )  # fmt: skip


def _self_contacts(world: World, members: Sequence[Body], by_fields: set[int]) -> set[int]:
    """The members whose surface may touch itself: soft ones without a pressure field."""
    specs = ((i, world.specs.get(m.name)) for i, m in enumerate(members))
    return {
        i
        for i, s in specs
        if isinstance(s, SoftSpec) and s.self_contact and i not in by_fields
        if world.contact_table.may_touch(s.name, s.name)
    }


def _actuated(
    world: World, own: Sequence[SoftBody | RigidBody], points: PointMap
) -> list[ActuatedBody]:
    bodies = []
    for name, actuator in world.actuators.items():
        i = points.names.index(name)
        body = own[i]
        assert isinstance(body, RigidBody)
        markers = points.first[i] + body.frame + np.arange(4)
        bodies.append(ActuatedBody(name, actuator, markers, body.extent, body.rest_centre))
    return bodies


def _particles(
    world: World, h: float, clock: Clock, own: Sequence[SoftBody | RigidBody],
    draped: Mapping[str, Sequence[str]],
) -> CoupledParticles | None:  # fmt: skip
    if not world.particles.bodies:
        return None
    model = world.particles.copy()
    for body in own:
        if body.name in draped:
            model.add_proxy(proxy_of(body), draped[body.name])
    system = ParticleSystem(model, h, world.gravity)
    return CoupledParticles(system, clock, alone=not world.specs or len(draped) > 0)


def _with_fields(
    own: Sequence[SoftBody | RigidBody], bodies: Sequence[Body], body_of: Sequence[int],
    pairs: Sequence[FieldPair], friction: Array,
) -> tuple[FieldBodies, list[Body], list[int]]:  # fmt: skip
    """All bodies that touch by pressure fields as one, the bodies then, and each member's body."""
    used = {i: f for p in pairs for i, f in ((p.a, p.field_a), (p.b, p.field_b))}
    framed = {i: m for i, m in enumerate(own) if i in used and isinstance(m, RigidBody)}
    soft = {}
    for i, f in used.items():
        member = own[i]
        if isinstance(member, SoftBody) and isinstance(f, SoftField):
            soft[i] = SoftMember(member, f)
    inside = sorted({body_of[i] for i in used})
    numbers = [i for k in inside for i, body in enumerate(body_of) if body == k]
    pressed = {body_of[i] for i in soft}
    condensed: list[CondensedBody] = []
    for k in inside:
        body = bodies[k]
        assert isinstance(body, RigidBody | SoftBody | AttachedBodies)
        if isinstance(body, RigidBody) or (isinstance(body, AttachedBodies) and k not in pressed):
            condensed.append(body)
        else:
            condensed.append(CondensedSoft(body))
    rough = [replace(p, friction=float(friction[p.a, p.b])) for p in pairs]
    fields = FieldBodies(condensed, numbers, framed, soft, rough)
    kept = [k for k in range(len(bodies)) if k not in inside]
    number = {k: i for i, k in enumerate(kept)}
    joined = [number.get(k, len(kept)) for k in body_of]
    return fields, [*(bodies[k] for k in kept), fields], joined


def _may_touch(
    world: World, particles: CoupledParticles | None, members: Sequence[Body], a: int, b: int
) -> bool:
    """Whether two bodies touch by the points of their surfaces; particle bodies among themselves
    are solved by sweeps.
    """
    table, one, other = world.contact_table, members[a].name, members[b].name
    known = [name in world.specs for name in (one, other)]
    if all(known):
        return table.by_points(one, other)
    if not any(known):
        return False
    host, particle = (a, b) if known[0] else (b, a)
    if not world.specs[members[host].name].collides or table.excluded(one, other):
        return False
    if not (members[host].movable or members[particle].movable):
        return False
    assert particles is not None
    name = members[particle].name
    if not world.particles.collides(name):
        return False
    if len(particles.surfaces[name].edges) == 0:
        return False  # sheets touch by proxies
    if particles.system.proxies:
        other = particles.system.proxies[0].name
        raise LimpetError(
            f"'{name}' may touch '{members[host].name}', and a sheet '{other}': in one world "
            "either sheets or closed bodies of World.particles can touch bodies of the world "
            "itself; use World.exclude_contact"
        )
    return True


def _collision_nodes(world: World, members: Sequence[Body], colliders: Sequence[Collider]) -> int:
    """Surface vertices of the bodies that can touch; of particle bodies all."""
    count = 0
    for m, c in zip(members, colliders):
        if m.name not in world.specs or world.specs[m.name].collides:
            count += int(np.count_nonzero(np.diff(c.surface.vertex_start)))
    return count
