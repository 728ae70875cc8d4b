"""The air of a world: what its cavity set is made from."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from limpet.cavity.cavity_set import CavitySet
from limpet.cavity.gas.exchange import AirExchange
from limpet.cavity.gas.limit import ElasticEnergy
from limpet.cavity.gas.network import GasNetwork, Port
from limpet.cavity.gas.piping import Line, Trunk, piping
from limpet.cavity.mesh import JoinedSurface
from limpet.cavity.seal.leaky import LeakySeal
from limpet.cavity.seal.leaky_rings import LeakyRings
from limpet.cavity.search import CavitySearch, Finder
from limpet.contact.collider import Collider
from limpet.contact.contact_set import ContactSet
from limpet.dynamics.body import Body
from limpet.dynamics.constraint_set import PointMap
from limpet.errors import LimpetError, suggest
from limpet.fem.soft_body import SoftBody
from limpet.geometry.bvh import Tree, closest_points
from limpet.meshing.check import has_hollow
from limpet.model.settings import Settings
from limpet.model.specs import Connection, ManifoldSpec, SoftSpec
from limpet.model.world import World
from limpet.units import show

Array = np.ndarray

OFF_SURFACE = 2e-3  # [m] by which a port may miss the facets of its body
INNER_REGIONS = {"underside", "port", "lip"}


def cavity_set(
    world: World, settings: Settings, members: Sequence[Body], points: PointMap,
    surface: JoinedSurface, colliders: Sequence[Collider], contacts: ContactSet, staggered: Array,
) -> CavitySet:  # fmt: skip
    soft = np.array([m.deformable for m in members], float)
    search = CavitySearch(
        surface, [c.shape.tree for c in colliders], soft, settings.cavity_distance,
        settings.seal_boundary, settings.remesh_threshold, settings.search_every_step,
        world.atmosphere, settings.cavities, _inner_region(settings.inner_region, members, points),
        [c.shape for c in colliders], frozenset(np.flatnonzero(staggered).tolist()),
    )  # fmt: skip
    _check_ports(world, members, surface, search.trees)
    network = _network(world, _ports(world, settings, members, points))
    exchanges = [world.air_exchanges.get(m.name) for m in members]
    leaky = None
    if isinstance(settings.seal, LeakySeal):
        compliance = _compliance(world, members)
        leaky = LeakyRings(settings.seal, surface, search.trees, compliance, world.atmosphere)
    return CavitySet(
        search, contacts, network, exchanges, AirExchange(leak=world.leak),
        partial(_elastic, world, members), points.names,
        leaky, settings.pressure_increments, contacts.limits.crossing,
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


def _check_ports(
    world: World, members: Sequence[Body], surface: JoinedSurface, trees: Sequence[Tree]
) -> None:
    """Refuse ports that are not on their body, or on the outside of a cup."""
    for i, m in enumerate(members):
        c = world.connections.get(m.name)
        if c is None or c.port is None:
            continue
        x = np.ascontiguousarray(m.positions()[: np.diff(surface.offset)[i]])
        at = np.array([c.port])
        (face,), _, (distance,) = closest_points(trees[i], x, surface.own_triangles[i], at, np.inf)
        where = f"connect on '{m.name}': port = ({', '.join(f'{v:g}' for v in c.port)}) m"
        if distance > OFF_SURFACE:
            raise LimpetError(
                f"{where} is {show(float(distance), 'm', 3)} from its surface; expected a point on "
                "its inner surface, in the coordinates of the world"
            )
        inside = _inner_vertices(m)
        if inside is not None and not inside[surface.own_triangles[i][face]].any():
            raise LimpetError(
                f"{where} is on the outside of the cup, where no cavity can be; expected a point "
                "on its inner surface, or none for the largest cavity"
            )


def _inner_vertices(body: Body) -> Array | None:
    """(n,) bool: the collision vertices on the inner surface of a cup; None: it is not known."""
    if not isinstance(body, SoftBody) or "underside" not in body.shape.regions:
        return None
    inner = np.zeros(body.n_points, dtype=bool)
    for name in INNER_REGIONS & body.shape.regions.keys():
        inner[body.shape.collision.vertices_of(body.shape.regions[name])] = True
    return inner


def _network(world: World, ports: Sequence[Port]) -> GasNetwork:
    """The graph of the vacuum lines and manifolds."""
    manifolds = list(world.manifolds.values())
    trunks = [Trunk(m.name, m.line, m.source, m.valve, m.switch) for m in manifolds]
    lines = [_line(c, manifolds) for c in world.connections.values()]
    return GasNetwork(ports, piping(lines, trunks), trunks, world.atmosphere)


def _line(c: Connection, manifolds: Sequence[ManifoldSpec]) -> Line:
    if isinstance(c.source, ManifoldSpec):
        number = next(i for i, m in enumerate(manifolds) if m is c.source)
        return Line(c.line, manifold=number)
    return Line(c.line, c.source, c.valve)


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
        ports.append(Port(name, i, vertex, c.switch))
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


def check_lines(world: World, placed: Sequence[tuple[str, Array, Array]]) -> None:
    """Refuse a vacuum line on a body round which no air can be trapped."""
    hollow = [name for name, x, t in placed if world.connections and has_hollow(x, t)]
    served = {
        c.source.name for c in world.connections.values() if isinstance(c.source, ManifoldSpec)
    }
    for name in world.manifolds:
        if name not in served:
            raise LimpetError(f"manifold '{name}': no cup is connected to it; expected one or more")
    may_touch = world.contact_table.may_touch
    for name in world.connections:
        if not any(name == other or may_touch(name, other) for other in hollow):
            raise LimpetError(
                f"connect on '{name}': neither it nor what it can touch has an inner surface "
                "to hold a vacuum; connect a cup, or what a cup stands on"
            )
