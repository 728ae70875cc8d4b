"""From a World to what a simulation steps: the only place that knows the kinds of bodies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from limpet.cavity.cavity_set import CavitySet
from limpet.cavity.gas.exchange import AirExchange
from limpet.cavity.gas.limit import ElasticEnergy
from limpet.cavity.gas.network import GasNetwork, Port
from limpet.cavity.mesh import CavityFaces, JoinedSurface, join_surfaces
from limpet.cavity.seal.leaky import LeakySeal
from limpet.cavity.seal.leaky_rings import LeakyRings
from limpet.cavity.search import CavitySearch, Finder
from limpet.clock import Clock
from limpet.contact.collider import Collider, collider
from limpet.contact.contact_set import ContactSet
from limpet.dynamics.body import Body, CondensedBody
from limpet.dynamics.constraint_set import ConstraintSet, PointMap
from limpet.dynamics.relinearisation import ONCE
from limpet.errors import LimpetError, suggest
from limpet.fem.attachments import AttachedBodies, Attachment
from limpet.fem.soft_body import SoftBody
from limpet.geometry.shape import face_patches
from limpet.geometry.surface import Surface, with_points
from limpet.meshing.check import check_apart, check_surface, has_hollow
from limpet.model.draping import draped_hosts, proxy_of, with_sheets
from limpet.model.settings import Settings
from limpet.model.specs import AnchorPoints, RigidSpec, SoftSpec
from limpet.model.world import World
from limpet.particles.coupling import CoupledParticles
from limpet.particles.system import ParticleSystem
from limpet.pressure_field.condensed_soft import CondensedSoft
from limpet.pressure_field.field_bodies import FieldBodies
from limpet.pressure_field.field_contacts import FieldPair
from limpet.pressure_field.soft_field import SoftField
from limpet.pressure_field.soft_members import SoftMember
from limpet.rigid.actuators import ActuatedBody, DriveSet, GuideSet
from limpet.rigid.joints import Joints, JointSet
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
    theta = _thetas(world, staggered)
    once = set(world.specs) if staggered else set()  # linearised: other solvers iterate on them
    own, surfaces, joints, attachments = _implicit_bodies(world, settings, once, theta)
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
    bodies, body_of = _attached(own, attachments)
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
        )
        for s, m in zip(surfaces, members)
    ]
    order = sorted(range(len(members)), key=lambda i: not soft[i])  # soft bodies come first
    may_touch = partial(_may_touch, world, particles, members)
    pairs = [(a, b) for k, a in enumerate(order) for b in order[k + 1 :] if may_touch(a, b)]

    joined = join_surfaces(surfaces, [m.curved_faces for m in members])
    contacts = cavities = None
    sets: list[ConstraintSet] = []
    if pairs or world.connections:
        alarm = max(settings.alarm, 1.2 * settings.cavity_distance)
        movable = np.array([m.movable for m in members])
        contacts = ContactSet(
            colliders, pairs, movable, points.first, alarm, friction, settings.use_all_contacts,
            restitution if restitution.any() else None,
        )  # fmt: skip
        sets.append(contacts)
    if contacts is not None:
        cavities = _cavity_set(world, settings, members, points, joined, colliders, contacts)
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


def _implicit_bodies(
    world: World, settings: Settings, once: Set[str], theta: Mapping[str, float]
) -> tuple[list[SoftBody | RigidBody], list[Surface], Joints, list[Attachment]]:
    """The bodies of the world's specifications, their surfaces, and what joins them.

    Markers stand behind the vertices of each body's surface.
    """
    bodies: list[SoftBody | RigidBody] = []
    surfaces: list[Surface] = []
    placed: list[tuple[str, Array, Array]] = []
    anchors = AnchorPoints(world.joints)
    for spec in world.specs.values():
        region, motion = world.motions.get(spec.name, (None, None))
        points, triangles = spec.surface()
        surface = check_surface(points, triangles, f"surface of '{spec.name}'")
        placed.append((spec.name, points, surface.triangles))
        if isinstance(spec, SoftSpec):
            nodes = spec.shape.region(region.name) if region and region.name else None
            anchors.check_apart(spec.name, nodes)
            carrying = None if spec.field is None else spec.field.nodes
            faces = None
            if settings.cavity_faces is CavityFaces.CURVED:
                faces = face_patches(spec.shape.cells, spec.shape.collision)
            marked = 0 if carrying is None else len(carrying)
            marked += 0 if faces is None else len(faces.used_nodes())
            surface = with_points(surface, anchors.count(spec.name) + marked)
            bodies.append(
                SoftBody(
                    spec.name, spec.shape, spec.material, spec.mass, nodes, motion, spec.fem,
                    anchors.nodes(spec.name), surface, carrying, faces,
                    ONCE if spec.name in once else settings.relinearisation, theta[spec.name],
                )
            )  # fmt: skip
        else:
            framed = spec.field is not None or spec.name in world.actuators
            surface = with_points(surface, anchors.count(spec.name) + 4 * framed)
            bodies.append(
                RigidBody(
                    spec.name, spec.shape, spec.mass, spec.fixed, motion,
                    anchors.points(spec.name), framed, surface, theta[spec.name],
                )
            )  # fmt: skip
        surfaces.append(surface)
    check_apart(placed, world.contact_table.by_points)
    _check_lines(world, placed)
    return bodies, surfaces, *anchors.place([b.name for b in bodies], surfaces)


def _thetas(world: World, staggered: bool) -> dict[str, float]:
    """By body: 1/2, the implicit midpoint rule, which keeps energy, or 1, backward Euler.

    Bodies that are attached to each other have one rule. Where other solvers share the step, and
    with joints and actuators, all have backward Euler.
    """
    names = list(world.specs)
    joined = any(t.nodes is None for t in world.joints) or len(world.actuators) > 0
    if staggered or joined:
        for one in names:
            if world.specs[one].integrator == "midpoint":
                raise LimpetError(
                    f"integrator = 'midpoint' of '{one}': not with joints, actuators, particle "
                    "bodies or pressure fields in the same world; leave it out"
                )
            for other in names:
                if world.contact_table.restitution.between(one, other) > 0.0:
                    raise LimpetError(
                        f"restitution of '{one}' and '{other}': not with joints, actuators, "
                        "particle bodies or pressure fields in the same world; leave it out"
                    )
        return dict.fromkeys(names, 1.0)
    group = {n: n for n in names}
    for t in world.joints:
        old, new = group[t.other], group[t.one]
        group = {n: new if g == old else g for n, g in group.items()}
    bounces = {
        one
        for one, spec in world.specs.items()
        if isinstance(spec, RigidSpec) and spec.integrator is None
        and any(world.contact_table.restitution.between(one, n) > 0.0 for n in names)
    }  # fmt: skip
    keeps = {group[n] for n, spec in world.specs.items() if spec.midpoint or n in bounces}
    return {n: 0.5 if group[n] in keeps else 1.0 for n in names}


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


def _attached(
    own: Sequence[SoftBody | RigidBody], attachments: Sequence[Attachment]
) -> tuple[list[Body], list[int]]:
    """The bodies with those that are attached to each other as one, and each member's body."""
    group = list(range(len(own)))
    for a in attachments:
        low, high = sorted((group[a.soft], group[a.carrier]))
        group = [low if g == high else g for g in group]
    bodies: list[Body] = []
    number = {g: k for k, g in enumerate(dict.fromkeys(group))}
    for g in number:
        which = [i for i, name in enumerate(group) if name == g]
        if len(which) == 1:
            bodies.append(own[which[0]])
            continue
        place = {i: k for k, i in enumerate(which)}
        its = [
            replace(a, soft=place[a.soft], carrier=place[a.carrier])
            for a in attachments
            if group[a.soft] == g
        ]
        parts = [own[i] for i in which]
        soft = {k: b for k, b in enumerate(parts) if isinstance(b, SoftBody)}
        carriers = {k: b for k, b in enumerate(parts) if isinstance(b, RigidBody)}
        bodies.append(AttachedBodies(parts, soft, carriers, its))
    return bodies, [number[g] for g in group]


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


def _cavity_set(
    world: World, settings: Settings, members: Sequence[Body], points: PointMap,
    surface: JoinedSurface, colliders: Sequence[Collider], contacts: ContactSet,
) -> CavitySet:  # fmt: skip
    soft = np.array([m.deformable for m in members], float)
    search = CavitySearch(
        surface, [c.shape.tree for c in colliders], soft, settings.cavity_distance,
        settings.seal_boundary, settings.remesh_threshold, settings.search_every_step,
        world.atmosphere, settings.cavities, _inner_region(settings.inner_region, members, points),
        [c.shape for c in colliders],
    )  # fmt: skip
    network = GasNetwork(_ports(world, settings, members, points), world.atmosphere)
    exchanges = [world.air_exchanges.get(m.name) for m in members]
    leaky = None
    if isinstance(settings.seal, LeakySeal):
        compliance = _compliance(world, members)
        leaky = LeakyRings(settings.seal, surface, search.trees, compliance, world.atmosphere)
    return CavitySet(
        search, contacts, network, exchanges, AirExchange(leak=world.leak),
        partial(_elastic, world, members), points.names,
        leaky, settings.pressure_increments,
    )  # fmt: skip


def _compliance(world: World, members: Sequence[Body]) -> Array:
    """(surfaces,) (1 - nu^2)/E [1/Pa] of the soft bodies, 0 for all others."""
    out = np.zeros(len(members))
    for i, m in enumerate(members):
        spec = world.specs.get(m.name)
        if isinstance(spec, SoftSpec):
            out[i] = (1.0 - spec.material.poisson**2) / spec.material.young
    return out


def _elastic(world: World, members: Sequence[Body]) -> Array:
    """(surfaces, 2) energy [J] and volume [m^3] of the soft bodies, if a limit asks for them."""
    out = np.zeros((len(members), 2))
    if isinstance(world.atmosphere.limit, ElasticEnergy):
        for i, m in enumerate(members):
            if isinstance(m, SoftBody):
                out[i] = m.elastic_energy(), m.fem.volume
    return out


def _ports(
    world: World, settings: Settings, members: Sequence[Body], points: PointMap
) -> list[Port]:
    """The vacuum lines, each with the vertex nearest to where it enters.

    The classifier looks at the cup alone and covers the hole that a line comes from (A III-B):
    there a line is on the largest cavity of its body.
    """
    ports = []
    for name, c in world.connections.items():
        i, vertex = points.names.index(name), -1
        if c.port is not None and settings.cavities is not Finder.CLASSIFIER:
            (surface,) = members[i].surfaces.values()
            able, faces = np.unique(surface.triangles), members[i].curved_faces
            if faces is not None:  # what bounds a cavity then
                able = faces.used_nodes()
            away = np.linalg.norm(members[i].positions()[able] - c.port, axis=1)
            vertex = int(points.first[i] + able[away.argmin()])
        ports.append(Port(name, i, vertex, c.source, c.hose, c.valve, c.switch))
    return ports


def _inner_region(name: str | None, members: Sequence[Body], points: PointMap) -> Array | None:
    """(N,) bool: the vertices of the soft bodies' regions of that name."""
    if name is None:
        return None
    inner = np.zeros(len(points), dtype=bool)
    known: set[str] = set()
    for i, m in enumerate(members):
        if isinstance(m, SoftBody):
            known |= set(m.shape.regions)
            if name in m.shape.regions:
                vertices = m.shape.collision.vertices_of(m.shape.regions[name])
                inner[points.first[i] + vertices] = True
    if not inner.any():
        raise LimpetError(f"inner_region = '{name}': no soft body has it{suggest(name, known)}")
    return inner


def _check_lines(world: World, placed: Sequence[tuple[str, Array, Array]]) -> None:
    """Refuse a vacuum line on a body round which no air can be trapped."""
    hollow = [name for name, x, t in placed if world.connections and has_hollow(x, t)]
    may_touch = world.contact_table.may_touch
    for name in world.connections:
        if not any(name == other or may_touch(name, other) for other in hollow):
            raise LimpetError(
                f"connect on '{name}': neither it nor what it can touch has an inner surface "
                "to hold a vacuum; connect a cup, or what a cup stands on"
            )


def _collision_nodes(world: World, members: Sequence[Body], colliders: Sequence[Collider]) -> int:
    """Surface vertices of the bodies that can touch; of particle bodies all."""
    count = 0
    for m, c in zip(members, colliders):
        if m.name not in world.specs or world.specs[m.name].collides:
            count += int(np.count_nonzero(np.diff(c.surface.vertex_start)))
    return count
