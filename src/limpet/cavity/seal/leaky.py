"""The leaky seal: a cavity exists within reach of its ring, and air flows through the gap there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from limpet.cavity.gas.gap_flow import RingGap
from limpet.cavity.mesh import CavityMesh, JoinedSurface
from limpet.cavity.seal.proximity import TOUCHING, VertexProximity
from limpet.cavity.seal.ring_conductance import BLOCKED, GAP, INSIDE, OUTSIDE, ring_gap
from limpet.cavity.seal.roughness import critical_gap
from limpet.errors import LimpetError, require_positive, suggest
from limpet.geometry.bvh import Tree, closest_points

Array = np.ndarray

TIGHT = 1e-8  # [m] what passes a lower gap takes hours to fill a cup: it is round-off of contact
FAR = 0.02  # [m] a vertex that stands further off the other body leaves the flow free
MOST_REACH = 1e-2  # [m]
MOST_SLACK = 5e-5  # [m] that a mesh may need; beyond it the mesh is too coarse for its target


class SealModel(StrEnum):
    """What a ring that is nearly closed does."""

    BINARY = "binary"  # P: closed to air below the sealing distance, else there is no cavity
    LEAKY = "leaky"  # a cavity within reach; air flows through the gap round it


@dataclass(frozen=True)
class LeakySeal:
    """The leaky seal; `Settings(seal="leaky")` has these defaults.

    The gap that air passes is h = u_c + max(g - slack, 0), g being the distance of the surfaces and
    u_c the gap that roughness leaves in contact (`roughness.critical_gap`).
    """

    reach: float = 3e-4  # [m] a ring that is nearer encloses a cavity
    roughness: float = 0.0  # [m] rms of both surfaces together; 0: tight where they touch
    wavelength: float = 1e-3  # [m] the longest of the roughness
    slack: float | None = None  # [m] gap made by the mesh alone; None: from the ring's normals

    def __post_init__(self) -> None:
        if not 0.0 < self.reach <= MOST_REACH:
            raise LimpetError(
                f"seal reach = {self.reach:g} m: expected above 0 and at most {MOST_REACH:g} m, "
                "beyond which a cup has no inside; 3e-4 is the default"
            )
        require_positive("seal wavelength", self.wavelength, " m", "the longest of the roughness")
        for name in ("roughness", "slack"):
            value = getattr(self, name)
            if value is not None and not 0.0 <= value < self.reach:
                raise LimpetError(
                    f"seal {name} = {value:g} m: expected 0 or more, and less than the reach, "
                    f"{self.reach:g} m"
                )


def seal_model(value: object) -> LeakySeal | SealModel:
    """The leaky seal that a name or a record stands for, or SealModel.BINARY."""
    if isinstance(value, LeakySeal):
        return value
    if value not in list(SealModel):
        raise LimpetError(
            f"seal = '{value}'{suggest(str(value), list(SealModel))}; or give a LeakySeal"
        )
    return LeakySeal() if value == SealModel.LEAKY else SealModel.BINARY


@dataclass(frozen=True)
class RingSurroundings:
    """What the rings of all cavities have in common at the start of a step."""

    surface: JoinedSurface
    trees: Sequence[Tree]  # of the bodies, fitted to x
    x: Array  # (N, 3) [m]
    near: VertexProximity
    slack: Array  # (N,) [m]
    rough: Array  # (N,) [m] u_c
    meshes: Sequence[CavityMesh]  # of all cavities


def surroundings(
    seal: LeakySeal, surface: JoinedSurface, trees: Sequence[Tree], x: Array,
    near: VertexProximity, meshes: Sequence[CavityMesh], load: Array, area: Array,
    compliance: Array,
) -> RingSurroundings:  # fmt: skip
    """load (N,) [N] and area (N,) [m^2] of the vertices; compliance: (1 - nu^2)/E [1/Pa] of each
    surface, 0 if rigid.
    """
    slack = np.full(len(x), seal.slack or 0.0)
    if seal.slack is None and meshes:
        slack = chord_slack(surface, x, near, seal.reach)
    rough = np.zeros(len(x))
    if seal.roughness > 0.0 and meshes:
        soft = compliance[surface.body] + compliance[surface.body[near.face[:, 0]]]
        pressure = contact_pressure(surface, near, load, area)
        modulus = 1.0 / np.maximum(soft, 1e-15)
        rough = critical_gap(pressure, modulus, seal.roughness, seal.wavelength)
    return RingSurroundings(surface, trees, x, near, slack, rough, meshes)


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


def leaky_ring(seal: LeakySeal, around: RingSurroundings, mesh: CavityMesh, slip: float) -> RingGap:
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
    _measure(around, mesh, unknown, gap, seal.reach)  # amid flat faces there are no contacts
    role = _roles(around, mesh, gap >= seal.reach)
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
