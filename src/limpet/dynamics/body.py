"""The body contract: what the step asks of soft, rigid, attached and particle bodies alike."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from limpet.dynamics.motion import Motion
from limpet.geometry.face_patches import FacePatches
from limpet.geometry.surface import Surface
from limpet.linalg.reduced_compliance import ReducedCompliance
from limpet.linalg.rows import Rows
from limpet.report import ParticleReport

Array = np.ndarray
State = Mapping[str, Array]

COUPLED = 1e-4  # [m/s] by which a staggered body may yet change its velocities


@dataclass(frozen=True)
class OwnSolve:
    """What a body that solves constraints of its own says of the last step."""

    rows: int
    contacts: int
    active_contacts: int
    sweeps: int
    residual: float  # as of `StepReport`
    converged: bool
    max_penetration: float  # [m] >= 0
    particles: ParticleReport | None = None
    crossings: int = 0  # edges through triangles, of sheets that collide with sheets


@dataclass(frozen=True)
class BodyReport:
    """What a body says of the last step."""

    # (6,) [N, N m] that each prescribed motion or fixture exerted, by name
    wrenches: Mapping[str, Array]
    # [N] change of momentum less all forces, at worst; NaN: it diverged; None: not known
    momentum_residual: float | None
    own: OwnSolve | None = None
    # (3,) [N] that prescribed motions and attachments exert on soft bodies that they hold, by name
    held: Mapping[str, Array] = field(default_factory=dict)


class Body(ABC):
    """Generalised velocities behind any number of points.

    The points are the vertices of its surfaces, one surface after the other, each with markers
    (joint anchors, the frame of a pressure field) behind its vertices.
    """

    name: str
    mass: float  # [kg]
    mass_damping: float = 0.0  # [1/s] drag on its momentum
    # Velocities u of a step: x+ = x + h u and v+ = v + (u - v)/theta. Backward Euler: 1, u = v+.
    theta: float = 1.0
    movable: bool  # impulses change its velocity
    deformable: bool  # its surfaces change their shape
    # iterations, at most, of a coupling with what a body solves itself, in `relinearise`
    staggered: int = 0
    settled: float = COUPLED  # [m/s] a change in `relinearise` that needs no other iteration
    converged: bool = True  # what it solves itself
    # [m] by which a node would yet move with the true forces at the end of the step, at most
    relinearisation_residual: float = 0.0
    surfaces: Mapping[str, Surface]  # collision surfaces by name; their vertices are the points
    n_points: int
    n_dof: int  # generalised velocities: 3 a node, 6 of a rigid body, n of an articulated one

    @property
    def members(self) -> Sequence[Body]:
        """The bodies that it is made of, in the order of its surfaces."""
        return (self,)

    @abstractmethod
    def positions(self) -> Array:
        """(n_points, 3) [m], world frame."""

    @abstractmethod
    def velocities(self) -> Array:
        """(n_points, 3) [m/s] of the velocity last computed."""

    @abstractmethod
    def compute_free_velocity(
        self, h: float, gravity: Array, time: float, applied: Array | None = None
    ) -> Array:
        """Integrate the velocity over h without constraints (P eq 1): (n_points, 3) [m/s].

        applied (n_points, 3) [N]: forces of the user on the points.
        """

    def held_points(self) -> Array:
        """(n,) bool: points that no force moves, as their motion is prescribed."""
        return np.zeros(self.n_points, bool)

    def predicted(self, h: float) -> Array:
        """(n_points, 3) [m] where the sets linearise first; after `compute_free_velocity`."""
        return self.positions()

    @abstractmethod
    def compliance(self, rows: Rows) -> Sequence[tuple[Array, ReducedCompliance]]:
        """H A^-1 H^T of rows over its points (P eq 7, 10): parts B S B^T with their row numbers."""

    @abstractmethod
    def apply_impulse(self, impulse: Array) -> Array:
        """v <- free velocity + A^-1 J^T impulse (P eq 3): (n_points, 3) [m/s].

        impulse (n_points, 3) [N s].
        """

    def relinearise(self, impulse: Array) -> float:
        """Staggered coupling: solve what the body holds inside under the impulses of the others.

        Returns how much the velocities of loaded points changed [m/s]. Only if `staggered`.
        """
        return 0.0

    def deforms_far(self, h: float) -> bool:
        """Whether it deforms more within the step than one with contacts can follow accurately."""
        return False

    @property
    def astray(self) -> bool:
        """Whether its candidate lies so far from where its forces were linearised that it says
        nothing about the step.
        """
        return False

    def impact_compliance(self, rows: Rows) -> Sequence[tuple[Array, ReducedCompliance]]:
        """H M^-1 H^T of rows over its points, as `compliance`: what impulses do to v+ alone."""
        raise NotImplementedError

    def apply_impact(self, impulse: Array) -> None:
        """Change v+ by M^-1 J^T impulse (n_points, 3) [N s]; where the step ends stays."""
        raise NotImplementedError

    @abstractmethod
    def points_after(self, h: float) -> tuple[Array, Array]:
        """Positions and velocities (n_points, 3) to which `advance` would lead; commits nothing."""

    @abstractmethod
    def advance(self, h: float) -> None:
        """x <- x + h v."""

    @abstractmethod
    def report(self, h: float, gravity: Array, force: Array) -> BodyReport:
        """Of the step that was just made; force (n_points, 3) [N] of constraints and user."""

    def elastic_energy(self) -> float:
        """[J], zero at rest."""
        return 0.0

    # Curved element faces under the triangles of its surface, over its points; None: it is flat
    curved_faces: FacePatches | None = None

    # What observers ask of a body with one surface

    n_nodes: int = 0  # of its finite elements
    motion: Motion | None = None  # prescribed

    def visual_surface(self) -> tuple[Array, Array]:
        """Points (n, 3) [m] and triangles (m, 3) to be drawn."""
        (surface,) = self.surfaces.values()
        return self.positions(), surface.triangles

    def region_position(self, region: str | None) -> Array:
        """(3,) [m] mean of a region's nodes, or the centre of mass; here of all points."""
        return self.positions().mean(axis=0)

    def volume_ratio(self) -> float | None:
        """Volume over that at rest; None: it does not change."""
        return None

    def surface_stress(self) -> Array | None:
        """(n_points,) [Pa]; None: nothing is known of it."""
        return None

    def grip(self, point: int) -> tuple[Array, Array]:
        """The points that a force on one of them acts on, and their shares of it."""
        return np.array([point]), np.ones(1)

    @abstractmethod
    def get_state(self) -> dict[str, Array]:
        """All that the next step depends on; nothing later changes these arrays."""

    @abstractmethod
    def set_state(self, state: State) -> None: ...


class Carrier(Protocol):
    """A body that others can be attached to: few generalised velocities, a dense mass matrix."""

    name: str
    movable: bool
    n_dof: int

    def positions(self) -> Array: ...

    def velocities(self) -> Array: ...

    def velocity(self) -> Array:
        """(n,) generalised."""
        ...

    def set_velocity(self, velocity: Array, total: Array | None = None) -> None:
        """After `apply_impulse`: the velocity (n,); `total` impulse if its motion is to know."""
        ...

    def mass_matrix(self) -> Array:
        """(n, n)"""
        ...

    def point_jacobian(self, points: Array) -> Array:
        """(t, 3, n): how some of its points follow its velocity."""
        ...

    def rows_times(self, rows: Rows) -> Array:
        """(r, n): rows over its points as rows over its velocity."""
        ...

    def generalised_impulse(self, impulse: Array) -> Array:
        """(n,) of impulses (n_points, 3) [N s] on its points."""
        ...


class CondensedBody(Protocol):
    """A body all of whose points follow few generalised velocities, and parts of their own.

    Rigid bodies, and carriers with what is attached to them.
    """

    @property
    def n_condensed(self) -> int: ...

    @property
    def members(self) -> Sequence[Body]: ...

    def condensed_columns(self, member: Body) -> int | None:
        """Where the velocities of a member begin; None: its motion is prescribed."""
        ...

    def condensed_mass(self) -> Array:
        """(n, n), after `compute_free_velocity`."""
        ...

    def condensed_mobility(self) -> Array:
        """(n, n) its inverse."""
        ...

    def condensed_velocity(self) -> Array:
        """(n,)"""
        ...

    def split_compliance(
        self, rows: Rows
    ) -> tuple[Sequence[tuple[Array, ReducedCompliance]], Array]:
        """The compliance of rows with these velocities held, and the rows over them (r, n)."""
        ...

    def compute_free_velocity(self, h: float, gravity: Array, time: float) -> Array: ...

    def apply_impulse(self, impulse: Array) -> Array: ...

    def report(self, h: float, gravity: Array, force: Array) -> BodyReport: ...


def momentum_residual(
    body: Body, before: Array, after: Array, wrench: Array, h: float, gravity: Array, force: Array
) -> float:
    """[N] of one body: (after - before)/h + drag - weight - forces - wrench, at worst."""
    during = before + body.theta * (after - before)
    inertia = (after - before) / h + body.mass_damping * during
    return float(np.abs(inertia - body.mass * gravity - force.sum(axis=0) - wrench[:3]).max())
