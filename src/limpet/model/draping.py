"""What sheets of particles need to touch the bodies of a world."""

from __future__ import annotations

from collections.abc import Sequence

from limpet.dynamics.body import Body
from limpet.fem.soft_body import SoftBody
from limpet.model.world import World
from limpet.particles.coupling import CoupledParticles
from limpet.particles.draped import DrapedBodies
from limpet.particles.surface_proxy import RigidProxy, SoftProxy, SurfaceProxy
from limpet.rigid.rigid_body import RigidBody


def draped_hosts(world: World) -> dict[str, list[str]]:
    """The bodies that sheets may touch, and the names of these sheets."""
    table, model = world.contact_table, world.particles
    open_ones = [b for b in model.soft if len(b.surfaces[b.name].edges) == 0]
    sheets = [b.name for b in open_ones if model.collides(b.name)]
    hosts = {
        spec.name: [name for name in sheets if not table.excluded(spec.name, name)]
        for spec in world.specs.values()
        if spec.collides
    }
    return {host: touching for host, touching in hosts.items() if touching}


def proxy_of(body: SoftBody | RigidBody) -> SurfaceProxy:
    if isinstance(body, RigidBody):
        return RigidProxy(body)
    triangles = body.surfaces[body.name].triangles
    return SoftProxy(body.name, body.positions(), triangles, body.mass)


def with_sheets(
    bodies: Sequence[Body], body_of: Sequence[int], particles: CoupledParticles,
    hosts: Sequence[int],
) -> tuple[list[Body], list[int]]:  # fmt: skip
    """The particles and what their sheets touch as one, the bodies then, and each member's."""
    inside = sorted({body_of[i] for i in hosts})
    numbers = [i for k in inside for i, body in enumerate(body_of) if body == k]
    draped = DrapedBodies([bodies[k] for k in inside], particles, numbers)
    kept = [k for k in range(len(bodies)) if k not in inside]
    number = {k: i for i, k in enumerate(kept)}
    joined = [number.get(k, len(kept)) for k in body_of] + [len(kept)] * len(particles.members)
    return [*(bodies[k] for k in kept), draped], joined
