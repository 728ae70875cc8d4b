"""What all particle bodies share: lumped masses, a surface, a prescribed motion, a state.

A model says one thing: what its internal forces do to the velocities within a step
(`_internal_velocities`). All the rest stands here once. Every particle is a vertex of the collision
surface, those within a volume belong to no triangle; so rows over vertices are rows over particles,
and A is the mass (C eq 18).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from limpet.compiled import njit
from limpet.dynamics.body import Body, BodyReport, momentum_residual
from limpet.dynamics.motion import HOLD, Motion
from limpet.errors import LimpetError, MeshError, require_positive
from limpet.geometry.surface import Surface, bare_surface, surface_topology
from limpet.linalg.reduced_compliance import ReducedCompliance, sparse_rows
from limpet.linalg.rows import Rows
from limpet.particles.meshes import ParticleMesh

Array = np.ndarray

GRIP = 0.05  # of its mass that a force on one of its points acts on


@njit(cache=True)
def pushed(v: Array, force: Array, mass: Array, h: float) -> Array:
    """v + h f/m, (n, 3)."""
    out = np.empty_like(v)
    for i in range(len(v)):
        s = h / mass[i]
        for d in range(3):
            out[i, d] = v[i, d] + s * force[i, d]
    return out


@njit(cache=True)
def falling(v: Array, gravity: Array, h: float) -> Array:
    """v + h g, (n, 3)."""
    out = np.empty_like(v)
    for i in range(len(v)):
        for d in range(3):
            out[i, d] = v[i, d] + h * gravity[d]
    return out


@njit(cache=True)
def _kinetic(v: Array, mass: Array) -> float:
    """[J] of particles with velocities v (n, 3) and masses (n,)."""
    total = 0.0
    for i in range(len(v)):
        total += mass[i] * (v[i, 0] ** 2 + v[i, 1] ** 2 + v[i, 2] ** 2)
    return 0.5 * total


@njit(cache=True)
def _drawn(v: Array, arrive: Array, goal: Array, rate: float) -> Array:
    """v + rate (goal - arrive), (n, 3)."""
    out = np.empty_like(v)
    for i in range(len(v)):
        for d in range(3):
            out[i, d] = v[i, d] + rate * (goal[i, d] - arrive[i, d])
    return out


def lumped_compliance(rows: Rows, mobility: Array) -> ReducedCompliance:
    """Of rows over particles with these mobilities (n,) [1/kg]."""
    used = np.unique(rows.point)
    place = np.zeros(len(mobility), np.int32)
    place[used] = np.arange(len(used))
    none = np.full(len(rows.start) - 1, -1, np.int32)
    b = sparse_rows(rows.start, rows.point, rows.vector, place, none)
    return ReducedCompliance(*b, np.diag(np.repeat(mobility[used], 3)))


class ParticleBody(Body):
    """Integrated explicitly; the drag is implicit: v' = (...)/(1 + h a)."""

    movable = deformable = True
    stable_step = np.inf  # [s] the longest at which the model is stable; models by goals always are
    mobility: Array  # (n,) [1/kg] velocity per impulse in the last step; 0 where driven
    proxy = False  # it stands for a body of another solver
    drag: float  # share of a velocity that the last step's drag leaves: C's 1 - gamma (eq 2)

    def __init__(
        self, name: str, mesh: ParticleMesh, mass: float, mass_damping: float = 0.0,
        driven: Array | None = None, motion: Motion | None = None, uniform_mass: bool = False,
    ) -> None:  # fmt: skip
        """`mass` [kg] is spread by area or volume, or (`uniform_mass`) equally to all.

        `driven` (d,): particles moved by `motion`.
        """
        self.name, self.mesh = name, mesh
        self.mass = require_positive(f"mass of '{name}'", mass, " kg")
        if not 0.0 <= mass_damping < np.inf:
            raise LimpetError(
                f"mass_damping of '{name}' = {mass_damping:g} 1/s: expected 0 or more"
            )
        self.mass_damping = mass_damping
        n = len(mesh.points)
        self.node_mass = self.mass * (np.full(n, 1.0 / n) if uniform_mass else mesh.shares())
        self.n_points = len(mesh.points)
        self.triangles = mesh.triangles
        self.driven = _known_nodes(name, driven, self.n_points)
        self.motion = motion or HOLD
        self._path: Motion = self.motion
        self.inverse_mass = 1.0 / self.node_mass  # zero where driven
        self.inverse_mass[self.driven] = 0.0
        self.x = mesh.points.copy()
        self.v = np.zeros_like(self.x)
        self._free = self._before = self._impulse = np.zeros_like(self.x)
        self._gravity, self.drag = np.zeros(3), 1.0
        self.mobility = self.inverse_mass
        self.n_dof = 3 * self.n_points

    @abstractmethod
    def _internal_velocities(self, h: float, v: Array) -> Array:
        """The velocities (n, 3) after a step of the body's own forces, from those without them."""

    @property
    def is_sheet(self) -> bool:
        """Whether it encloses no volume of cells: cloth, rope, bag."""
        return not self.mesh.closed

    @cached_property
    def surfaces(self) -> Mapping[str, Surface]:  # type: ignore[override]
        """Of what encloses a volume its topology, of a sheet its triangles alone."""
        try:
            return {self.name: surface_topology(self.triangles, self.n_points)}
        except MeshError:
            return {self.name: bare_surface(self.triangles, self.n_points)}

    def positions(self) -> Array:
        return self.x.copy()

    def points_after(self, h: float) -> tuple[Array, Array]:
        return self.x + h * self.v, self.v

    def velocities(self) -> Array:
        return self.v.copy()

    @property
    def centre(self) -> Array:
        """(3,) [m] of mass."""
        return self.node_mass @ self.x / self.mass

    def compute_free_velocity(
        self, h: float, gravity: Array, time: float, applied: Array | None = None
    ) -> Array:
        if h > self.stable_step:
            raise LimpetError(
                f"time step h = {h:g} s: explicit body '{self.name}' is stable up to "
                f"{self.stable_step:.3g} s; lower h, take more substeps, soften it or add mass"
            )
        self._gravity, self._before = np.asarray(gravity, float), self.v
        self.drag = 1.0 / (1.0 + h * self.mass_damping)
        self.mobility = self.drag * self.inverse_mass
        v = self._internal_velocities(h, falling(self.v, self._gravity, h))
        if self.mass_damping > 0.0:
            v *= self.drag
        if len(self.driven):
            target = self._path.place(self.mesh.points[self.driven], time + h)
            v[self.driven] = (target - self.x[self.driven]) / h
        self._free = self.v = v
        self._impulse = np.zeros_like(v)
        if applied is not None and applied.any():
            self.apply_impulse(h * applied)
        return self.v

    def compliance(self, rows: Rows) -> Sequence[tuple[Array, ReducedCompliance]]:
        return [(np.arange(len(rows.start) - 1), lumped_compliance(rows, self.mobility))]

    def apply_impulse(self, impulse: Array) -> Array:
        self._impulse = impulse
        self.v = self._free + self.mobility[:, None] * impulse
        return self.v

    def set_velocity(self, v: Array, impulse: Array | None) -> None:
        """After `apply_impulse`: the velocities (n, 3); `impulse` if its drive is to know."""
        self.v = v.copy()
        if impulse is not None:
            self._impulse = self._impulse + impulse

    def advance(self, h: float) -> None:
        self.x = self.x + h * self.v

    def region_position(self, region: str | None) -> Array:
        return self.centre

    def grip(self, point: int) -> tuple[Array, Array]:
        """A twentieth of its mass round the point: a single particle is too light to be pulled."""
        at = self.mesh.points
        near = np.argsort(((at - at[point]) ** 2).sum(axis=1), kind="stable")
        mass = self.node_mass[near]
        count = int(np.searchsorted(np.cumsum(mass), GRIP * self.mass)) + 1
        return near[:count], mass[:count] / mass[:count].sum()

    def checked_nodes(self, nodes: Array | Sequence[float]) -> Array:
        """Numbers of its nodes, of any shape."""
        nodes = np.asarray(nodes)
        if nodes.dtype.kind not in "iu" or (
            nodes.size and (nodes.min() < 0 or nodes.max() >= self.n_points)
        ):
            raise LimpetError(
                f"nodes {nodes.ravel()[:6].tolist()} of '{self.name}': expected whole numbers "
                f"from 0 to {self.n_points - 1}"
            )
        return nodes

    def anchor_points(self, at: Array | Sequence[float]) -> tuple[Array, Array]:
        """(k, 3) [m] positions of the nodes `at`, and their numbers (k,)."""
        nodes = np.atleast_1d(self.checked_nodes(at))
        return self.x[nodes], nodes

    def momentum(self) -> Array:
        return self.node_mass @ self.v

    def angular_momentum(self) -> Array:
        """(3,) [kg m^2/s] about the origin."""
        return np.cross(self.x, self.node_mass[:, None] * self.v).sum(axis=0)

    def kinetic_energy(self) -> float:
        """[J]"""
        return _kinetic(self.v, self.node_mass)

    def elastic_energy(self) -> float:
        """[J], zero at rest; models by goals have none."""
        return 0.0

    def stored_energy(self, h: float) -> float:
        """[J] that its own forces can turn into motion within a step h, at least."""
        return self.elastic_energy()

    def reaction(self, h: float) -> Array:
        """By the balance of momentum: what neither gravity nor impulses nor drag account for."""
        if len(self.driven) == 0:
            return np.zeros(6)
        m = self.node_mass[:, None]
        unmet = m * (self.v / self.drag - self._before - h * self._gravity) - self._impulse
        centre = self.x[self.driven].mean(axis=0)
        moment = np.cross(self.x - centre, unmet).sum(axis=0)
        return np.concatenate([unmet.sum(axis=0), moment]) / h

    def report(self, h: float, gravity: Array, force: Array) -> BodyReport:
        """The reaction of prescribed nodes is what is left of the momentum balance, so no residual
        is known then.
        """
        if len(self.driven):
            return BodyReport({self.name: self.reaction(h)}, None)
        before, after, none = self.node_mass @ self._before, self.momentum(), np.zeros(6)
        return BodyReport({}, momentum_residual(self, before, after, none, h, gravity, force))

    def get_state(self) -> dict[str, Array]:
        return {"x": self.x.copy(), "v": self.v.copy()}

    def set_state(self, state: Mapping[str, Array]) -> None:
        self.x, self.v = state["x"].copy(), state["v"].copy()


class GoalPositionBody(ParticleBody):
    """Models that say where the particles would rather be, made into velocities (C eq 1-3).

    With x* = x + h v of the velocities without the model (C eq 1) and its goals g at x*,
    v' = v + k (g - x*)/h. That is C eq 2, its gamma being the drag of all particle bodies, and C
    eq 3 with k = 1 - gamma: there gamma weighs v against (g - x)/h, and softens. External forces
    enter once, through x* and v; C eq 38 would add them to eq 3 a second time.
    """

    def __init__(
        self, name: str, mesh: ParticleMesh, mass: float, stiffness: float = 1.0,
        mass_damping: float = 0.0, driven: Array | None = None, motion: Motion | None = None,
        uniform_mass: bool = False,
    ) -> None:  # fmt: skip
        """`stiffness` k: the share of the way to its goal that a particle goes in a step."""
        super().__init__(name, mesh, mass, mass_damping, driven, motion, uniform_mass)
        if not 0.0 < stiffness <= 1.0:
            raise LimpetError(
                f"stiffness of '{name}' = {stiffness:g}: expected above 0 and at most 1, "
                "the share of the way to the goal in a step"
            )
        self.stiffness = stiffness

    @abstractmethod
    def goals(self, x: Array) -> Array:
        """(n, 3) [m] where particles that would arrive at x ought to be."""

    def stored_energy(self, h: float) -> float:
        """That of the velocities by which its particles would go to their goals."""
        way = self.stiffness * (self.goals(self.x) - self.x) / h
        return 0.5 * float(self.node_mass @ (way**2).sum(axis=1))

    def _internal_velocities(self, h: float, v: Array) -> Array:
        arrive = self.x + h * v
        return _drawn(v, arrive, self.goals(arrive), self.stiffness / h)


def _known_nodes(name: str, nodes: Array | None, n: int) -> Array:
    known = np.zeros(0, np.int64) if nodes is None else np.atleast_1d(np.asarray(nodes, np.int64))
    if len(known) and (known.min() < 0 or known.max() >= n):
        raise LimpetError(
            f"driven nodes of '{name}': {int(known.min())} to {int(known.max())} named, "
            f"there are {n} from 0 up"
        )
    return known
