"""The gap round cavities with leaky seals: what it lets through, with slack and roughness."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from limpet.cavity.gas.atmosphere import Atmosphere
from limpet.cavity.gas.gap_flow import RingGap, slip_length
from limpet.cavity.gas.ledger import Cavity
from limpet.cavity.gas.limit import Seal
from limpet.cavity.mesh import CavityMesh, JoinedSurface
from limpet.cavity.seal.leak_paths import vertex_areas
from limpet.cavity.seal.leaky import LeakySeal
from limpet.cavity.seal.proximity import TOUCHING, VertexProximity
from limpet.cavity.seal.ring_conductance import BLOCKED, GAP, INSIDE, OUTSIDE, ring_gap
from limpet.cavity.seal.roughness import critical_gap
from limpet.geometry.bvh import Tree, closest_points

Array = np.ndarray

TIGHT = 1e-8  # [m] what passes a lower gap takes hours to fill a cup: it is round-off of contact
FAR = 0.02  # [m] a vertex that stands further off the other body leaves the flow free
MOST_SLACK = 5e-5  # [m] that a mesh may need; beyond it the mesh is too coarse for its target


@dataclass(frozen=True)
class LeakyRings:
    """What the leaky rings of a world have in common."""

    seal: LeakySeal
    surface: JoinedSurface
    trees: Sequence[Tree]  # of the bodies, fitted to x
    compliance: Array  # (surfaces,) (1 - nu^2)/E [1/Pa], 0 if rigid
    atmosphere: Atmosphere

    def leaking(
        self, cavities: Sequence[Cavity], seals: Sequence[Seal],
        paths: Sequence[tuple[float, int]], load: Array, x: Array, near: VertexProximity,
    ) -> list[Seal]:  # fmt: skip
        """The seals with what their gaps let through, at the gap now and the last pressure.

        The gap is that of the start of the step: with the gap at its end a step has several
        solutions, and seals what should stay open. paths: seal gap and bottleneck of each cavity;
        load (N,) [N]: of the vertices, in the last step.
        """
        seal, air = self.seal, self.atmosphere
        slack = np.full(len(x), seal.slack or 0.0)
        if seal.slack is None:
            slack = chord_slack(self.surface, x, near, seal.reach)
        rough = self._rough(load, x, near) if seal.roughness > 0.0 else np.zeros(len(x))
        meshes = [c.mesh for c in cavities]
        around = RingSurroundings(self.surface, self.trees, x, near, slack, rough, meshes)
        out = []
        for c, known, (gap, vertex) in zip(cavities, seals, paths):
            ring = RingGap()
            if vertex >= 0 and (gap >= TIGHT or seal.roughness > 0.0):
                slip = slip_length(0.5 * (air.pressure + min(c.pressure, air.pressure)), air.rt)
                ring = ring_of(c.mesh, around, seal.reach, slip)
            closed = ring.shape == 0.0 or bool(gap - slack[vertex] < TOUCHING)
            conductance = ring.conductance(c.pressure, air.pressure, air.rt)
            out.append(replace(known, conductance=conductance, closed=closed))
        return out

    def _rough(self, load: Array, x: Array, near: VertexProximity) -> Array:
        """(N,) [m] u_c."""
        body, seal = self.surface.body, self.seal
        soft = self.compliance[body] + self.compliance[body[near.face[:, 0]]]
        area = vertex_areas(self.surface.triangles, x)
        pressure = contact_pressure(self.surface, near, load, area)
        modulus = 1.0 / np.maximum(soft, 1e-15)
        return critical_gap(pressure, modulus, seal.roughness, seal.wavelength)


@dataclass(frozen=True)
class RingSurroundings:
    """Where the rings of all cavities are at the start of a step."""

    surface: JoinedSurface
    trees: Sequence[Tree]  # of the bodies, fitted to x
    x: Array  # (N, 3) [m]
    near: VertexProximity
    slack: Array  # (N,) [m]
    rough: Array  # (N,) [m] u_c
    meshes: Sequence[CavityMesh]  # of all cavities


def chord_slack(surface: JoinedSurface, x: Array, near: VertexProximity, reach: float) -> Array:
    """(N,) [m] how far the ring's chords may hold its vertices off a curved surface.

    An edge of the length l between vertices whose contact normals differ by the angle a spans an
    arc of the sagitta a l/8. A vertex has the largest of its own edges and of its neighbours': the
    normals of a faceted target turn by leaps. Nothing on a plane, where all are the same.
    """
    start, end = np.repeat(np.arange(len(x)), np.diff(surface.vertex_start)), surface.neighbours
    both = (near.gap[start] < reach) & (near.gap[end] < reach)
    start, end = start[both], end[both]
    angle = np.linalg.norm(near.away[start] - near.away[end], axis=1)
    sagitta = angle * np.linalg.norm(x[start] - x[end], axis=1) / 8.0
    slack = np.zeros(len(x))
    np.maximum.at(slack, start, np.where(sagitta > TIGHT, sagitta, 0.0))
    spread = slack.copy()
    np.maximum.at(spread, start, slack[end])
    return np.minimum(spread, MOST_SLACK)


def contact_pressure(
    surface: JoinedSurface, near: VertexProximity, load: Array, area: Array
) -> Array:
    """(N,) [Pa] at every vertex that touches: load by area, of it and its neighbours that touch.

    A mesh shares the load of a ring unevenly among vertices next to each other.
    """
    touching = near.gap < TOUCHING
    start, end = np.repeat(np.arange(len(load)), np.diff(surface.vertex_start)), surface.neighbours
    pair = touching[start] & touching[end]
    force, around = np.maximum(load, 0.0) * touching, area * touching
    force = force + np.bincount(start[pair], force[end[pair]], len(load))
    around = around + np.bincount(start[pair], around[end[pair]], len(load))
    return np.divide(force, around, out=np.zeros(len(load)), where=around > 0.0)


def ring_of(mesh: CavityMesh, around: RingSurroundings, reach: float, slip: float) -> RingGap:
    """What the gap round a cavity lets through; nothing where no vertex graph closes its ring.

    slip [m]: the slip length of the air.
    """
    surface = around.surface
    if len(mesh.rings) == 0:
        return RingGap()
    carried = np.concatenate(
        [surface.triangles[slice(*surface.face_offset[b : b + 2])] for b in mesh.carriers]
    )
    gap = around.near.gap.copy()
    unknown = np.isinf(gap)
    _measure(around, mesh, unknown, gap, reach)  # amid flat faces there are no contacts
    role = _roles(around, mesh, gap >= reach)
    beside = np.zeros(len(gap), dtype=bool)
    beside[carried[(role[carried] == GAP).any(axis=1)]] = True
    _measure(around, mesh, beside & np.isinf(gap), gap, FAR)
    height = around.rough + np.maximum(np.minimum(gap, FAR) - around.slack, 0.0)
    height[(role == GAP) & (height < TIGHT)] = 0.0
    return ring_gap(around.x, carried, role, height, slip)


def _roles(around: RingSurroundings, mesh: CavityMesh, free: Array) -> Array:
    """(N,) what each vertex is for the air of this cavity; free (N,) bool: beyond reach."""
    surface, near = around.surface, around.near
    role = np.where(free, OUTSIDE, GAP).astype(np.int8)
    for other in around.meshes:
        if other is not mesh:
            role[other.interior] = BLOCKED  # what passes from cavity to cavity is not seen
    role[mesh.seal_line] = GAP
    inside = mesh.interior[free[mesh.interior]]
    role[mesh.interior] = GAP
    role[inside if len(inside) else mesh.core] = INSIDE
    # under a ring that another body bears there is no path (see `divide`)
    other_body = surface.body[near.face[:, 0]]
    for bearer, follower in mesh.rings:
        role[(surface.body == follower) & ~free & (other_body == bearer)] = BLOCKED
    return role


def _measure(
    around: RingSurroundings, mesh: CavityMesh, wanted: Array, gap: Array, within: float
) -> None:
    """Put the distance of the wanted vertices from the other body into `gap` (in place)."""
    surface, x = around.surface, around.x
    for bearer, other in mesh.rings:
        own = np.flatnonzero(wanted & (surface.body == bearer))
        part = slice(*surface.offset[other : other + 2])
        _, _, distance = closest_points(
            around.trees[other], x[part], surface.own_triangles[other], x[own], within
        )
        gap[own] = np.minimum(gap[own], distance)
