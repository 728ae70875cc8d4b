"""Soft bodies: finite elements under semi-implicit backward Euler (P eq 1).

With stiffness K and Rayleigh damping a M + b K, P eq 1 reads, for the new velocity v+,

    A v+ = M v + h (f(x) + M g),    A = (1 + h a) M + (h b + h^2) K.

Undamped bodies take the implicit midpoint rule instead, theta = 1/2: backward Euler for theta h
leads to u, then x+ = x + h u and v+ = v + (u - v)/theta. It is solved for impulses of the whole
step, so all terms are over theta: A = (1/theta + h a) M + (h b + theta h^2) K.

The velocity of driven nodes is prescribed; what is left over in their rows is the drive's force.
A mixed element adds its pressures to the unknowns (elements/mixed.py); the matrix is then a saddle
point, and its factor has signs. Nothing else changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from limpet.dynamics.body import Body, BodyReport, Carrier, momentum_residual
from limpet.dynamics.motion import Motion
from limpet.dynamics.relinearisation import ONCE, Relinearisation
from limpet.errors import DivergedError, require_positive
from limpet.fem.discretisation import Discretisation
from limpet.fem.elements.stress import von_mises
from limpet.fem.material import Fem, Material
from limpet.fem.surface_map import (
    bound_points,
    carrying_nodes,
    held_columns,
    held_times,
    renumbered,
    rows_times_modes,
    spread,
    vertex_compliance,
    with_markers,
)
from limpet.fem.tangent import BoundPoints, Tangent
from limpet.geometry.face_patches import FacePatches
from limpet.geometry.shape import Array, SoftShape
from limpet.geometry.surface import Surface, surface_topology
from limpet.linalg import block_cholesky as chol
from limpet.linalg.reduced_compliance import ReducedCompliance, sparse_rows
from limpet.linalg.rows import Rows

FAR = 0.02  # change of a cell's deformation gradient, at most, that is predicted
ASTRAY = 0.1  # and that is corrected
GROWTH = 1.5  # of the corrections: wrinkles grow, but what grows faster does not converge
UNDAMPED = 0.01  # of the tolerance, for bodies in which errors are not damped, but add up
UNBOUNDED = 1 << 30
DENSE_ROW = 12  # rows with more vertices than this (a cavity's pressure) are half-solved directly


class SoftBody(Body):
    """A finite-element body, built from a shape that is placed in the world."""

    movable = deformable = True
    settled = 0.0

    def __init__(
        self, name: str, shape: SoftShape, material: Material, mass: float,
        driven: Array | None = None, motion: Motion | None = None, fem: Fem | None = None,
        anchors: Array | None = None, surface: Surface | None = None,
        field_nodes: Array | None = None, faces: FacePatches | None = None,
        relinearisation: Relinearisation = ONCE, theta: float = 1.0,
    ) -> None:  # fmt: skip
        """`anchors` (k,): nodes attached to other bodies (see `attach`); each has a marker point
        behind the surface's, as has each of the `field_nodes` (m,), which carry a pressure field:
        these come first, then those of the curved `faces` that may bound a cavity. surface:
        topology of the surface and its markers, if it is known.
        """
        require_positive(f"mass of '{name}'", mass, " kg")
        none = np.zeros(0, np.int32)
        driven, anchors = none if driven is None else driven, none if anchors is None else anchors
        held = np.concatenate([driven, anchors])
        self.name, self.mass, self.motion, self.shape = name, mass, motion, shape
        self.mass_damping, self.theta = material.mass_damping, theta
        explicit = fem is not None and fem.deviatoric == "explicit"  # forces are those at x
        self.relinearisation = ONCE if explicit else relinearisation
        self._tolerance = self.relinearisation.tolerance * (1.0 if theta == 1.0 else UNDAMPED)
        self.staggered = UNBOUNDED if self.relinearisation.most > 1 else 0  # it counts them itself
        self.fem = d = Discretisation(name, shape, material, fem or Fem(), mass, held)
        self.field_markers = shape.collision.n_vertices  # the first of them
        marked = with_markers(shape.collision, none if field_nodes is None else field_nodes)
        if faces is not None:
            used = faces.used_nodes()
            place = marked.n_vertices + np.searchsorted(used, faces.nodes)
            self.curved_faces = replace(faces, nodes=place.astype(np.int32))
            marked = with_markers(marked, used)
        self.collision = c = renumbered(with_markers(marked, anchors), d.new)
        self.visual = renumbered(shape.visual, d.new)
        self.n_points = self.collision.n_vertices
        self._surface = surface
        first_node = np.minimum.reduceat(c.nodes, c.start[:-1])
        vertex_order = np.argsort(first_node, kind="stable")
        self._vertices = BoundPoints(vertex_order, c.start, c.nodes, c.weights)
        node, ones = np.arange(d.n_free + 1), np.ones(d.n_free)
        self._nodes = BoundPoints(node[:-1], node, node[:-1], ones)

        self.x = d.rest.copy()
        self.v = np.zeros_like(self.x)
        self.u = self.v  # of the last step
        self._kick: Array | None = None  # (n, 3) what impacts add to v+
        self._held_impact = np.zeros((len(self.x) - d.n_free, 3))  # [N s] of them on held nodes
        self._start_v = self.v  # v as the step began
        self.p = np.zeros(len(d.pressure_unknown))  # [Pa] shared pressures of mixed elements
        # By unknown: a node's three velocities, or one change of pressure and two zeros.
        unknowns = len(self.x) + len(self.p)
        self._free = self._y = np.zeros((unknowns, 3))  # without constraints; with them
        self._guess = np.zeros((unknowns, 3))  # where the step is linearised
        self._tangent: Tangent | None = None
        self._known = np.zeros((unknowns, 3))  # velocities of held nodes
        self._left, self._corrected = 0, np.inf  # linearisations yet; the last correction [m]
        self._h, self._inertia = 0.0, np.zeros_like(self.x)  # [s]; (n, 3) M v + h M g
        self._right = np.zeros((unknowns, 3))  # right-hand side of the last step
        self._unmet = np.zeros((unknowns, 3))  # impulses of the constraints
        self._driven = np.unique(d.new[driven])
        self._attached: list[tuple[Carrier, Array, Array]] = []
        self._carriers: list[Carrier] = []  # those of them that move
        # Of the step: N (u, 3, m), how all unknowns follow the velocities of its movable carriers
        # (Craig-Bampton constraint modes), and N^T A N (m, m), their condensed mass.
        self._momentum_before = np.zeros(3)
        self.constraint_modes, self.condensed_mass = np.zeros((unknowns, 3, 0)), np.zeros((0, 0))

    @cached_property
    def surfaces(self) -> Mapping[str, Surface]:  # type: ignore[override]
        known = self._surface or surface_topology(self.collision.triangles, self.n_points)
        return {self.name: known}

    @property
    def n_dof(self) -> int:  # type: ignore[override]
        return 3 * len(self.x)

    @property
    def n_nodes(self) -> int:  # type: ignore[override]
        return len(self.x)

    @property
    def n_held(self) -> int:
        """Nodes whose velocity is given by a prescribed motion or by a carrier."""
        return len(self.x) - self.fem.n_free

    def held(self, nodes: Array) -> Array:
        """Nodes of the shape, counted among the held ones."""
        return self.fem.new[nodes] - self.fem.n_free

    def attach(self, carrier: Carrier, nodes: Array, points: Array) -> None:
        """Nodes of the shape keep their place at points of a carrier from now on.

        The carrier's free velocity must be computed first.
        """
        self._attached.append((carrier, self.fem.new[nodes], points))
        if carrier.movable and carrier not in self._carriers:
            self._carriers.append(carrier)

    @property
    def tangent(self) -> Tangent:
        """The matrix of the last compute_free_velocity."""
        assert self._tangent is not None, "compute_free_velocity comes first"
        return self._tangent

    def positions(self) -> Array:
        return self._on_points(self.x)

    def velocities(self) -> Array:
        return self._on_points(self.v)

    def points_after(self, h: float) -> tuple[Array, Array]:
        return self._on_points(self.x + h * self.v), self._on_points(self._velocity_after())

    def _velocity_after(self) -> Array:
        """(n, 3) v+ of the nodes; driven ones have no other velocity than u."""
        if self.theta == 1.0 and self._kick is None:
            return self.v
        after = self._start_v + (self.v - self._start_v) / self.theta
        after[self._driven] = self.v[self._driven]
        return after if self._kick is None else after + self._kick

    def impact_compliance(self, rows: Rows) -> Sequence[tuple[Array, ReducedCompliance]]:
        b, points = self.collision, np.unique(rows.point)
        index = np.concatenate([np.arange(b.start[i], b.start[i + 1]) for i in points])
        ride = np.zeros((len(points), self.fem.n_free))  # of the points on the free nodes
        at = np.repeat(np.arange(len(points)), np.diff(b.start)[points])
        free = b.nodes[index] < self.fem.n_free
        np.add.at(ride, (at[free], b.nodes[index][free]), b.weights[index][free])
        s = (ride / self.fem.node_mass[: self.fem.n_free]) @ ride.T
        place, none = np.zeros(self.n_points, np.int32), np.full(len(rows), -1, np.int32)
        place[points] = np.arange(len(points))
        b_rows = sparse_rows(rows.start, rows.point, rows.vector, place, none)
        return [(np.arange(len(rows)), ReducedCompliance(*b_rows, np.kron(s, np.eye(3))))]

    def apply_impact(self, impulse: Array) -> None:
        b, on_nodes, n = self.collision, np.zeros_like(self.v), self.fem.n_free
        spread(b.start, b.nodes, b.weights, impulse, on_nodes)
        self._held_impact = on_nodes[n:].copy()
        on_nodes[n:] = 0.0
        self._kick = on_nodes / self.fem.node_mass[:, None]

    def _on_points(self, of_nodes: Array) -> Array:
        b = self.collision
        return bound_points(b.start, b.nodes, b.weights, of_nodes)

    def node_positions(self) -> Array:
        """Node positions in the shape's own numbering."""
        out = np.empty_like(self.x)
        out[self.fem.order] = self.x
        return out

    def compute_free_velocity(
        self, h: float, gravity: Array, time: float, applied: Array | None = None
    ) -> Array:
        d, self._momentum_before, self._h = self.fem, self.momentum(), h
        self._start_v, self._kick = self.v, None
        self._held_impact = np.zeros((self.n_held, 3))
        known = np.zeros_like(self._y)
        ahead_of = d.free_unknowns - d.n_free  # the held nodes come last in both countings
        if self.motion is not None:
            target = self.motion.place(d.rest[self._driven], time + h)
            known[self._driven + ahead_of] = (target - self.x[self._driven]) / h
        for carrier, nodes, at in self._attached:  # the drift of finite rotations is closed, too
            gap = carrier.positions()[at] - self.x[nodes]
            known[nodes + ahead_of] = gap / h + carrier.velocities()[at]
        self._left, self._corrected = self.relinearisation.most - 1, np.inf
        self._inertia = d.mass_times(self.v) / self.theta + h * d.node_mass[:, None] * gravity
        self._known, self._guess = known, self._predicted(known)
        self._right = self._linearised(self._guess, self.x + self.theta * h * self.u)
        self._solve_free()
        if applied is not None and applied.any():
            return self.apply_impulse(h * applied)
        return self.velocities()

    def _solve_free(self) -> None:
        """A^-1 of the right-hand side, the velocities of held nodes being known."""
        blocks, a = self.fem.driven_blocks, self.tangent
        own = self._right - held_times(*blocks, a.values, self._known)
        solve = self._solve_with_modes if self._carriers else a.solve
        self._free = self._known + solve(own)
        self.take_free()

    def take_free(self) -> None:
        """The velocities without constraints, and with the carriers' free velocities."""
        self._unmet = np.zeros_like(self._free)
        self._take(self._free)

    def predicted(self, h: float) -> Array:
        return self._on_points(self.x + h * self._guess[self.fem.nodes_at])

    def _predicted(self, known: Array) -> Array:
        """(u, 3) velocities that lead about where the step ends: those of the last one.

        They are halved while cells would turn or stretch far with them; zero: where it begins.
        """
        guess = np.zeros_like(self._y)
        if self.relinearisation.most == 1:
            return guess
        v = self.u.copy()
        v[self._driven] = known[self._driven + len(known) - len(v)]
        for share in (1.0, 0.5, 0.25):
            if not self.fem.changed(share * self._h * v, FAR):
                guess[self.fem.nodes_at] = share * v
                break
        return guess

    def _linearised(self, y: Array, ahead: Array | None = None) -> Array:
        """The right-hand side (u, 3) of A v+ = ..., with the forces linearised where y leads.

        There, at c = x + theta h y, it is M v/theta + h (f(c) + K (c - x) + M g), and theta h^2 K
        is the share s = theta h/(theta h + b) of what A has beside the mass. A is made anew unless
        that of an earlier step serves at the positions `ahead` (n, 3) [m]; None: A stays.
        """
        d, h = self.fem, self._h
        moved = y[d.nodes_at]
        x, p = self.x + self.theta * h * moved, self.p + y[d.pressure_unknown, 0]
        old = self._tangent
        if ahead is not None and (old is None or not old.serves(ahead, self.p, h)):
            self._tangent = self._make_tangent(x, p, h)
            loads = self._tangent.loads
        else:
            loads = d.loads(x, p, h)
        right = np.zeros_like(y)
        right[d.nodes_at] = self._inertia + h * loads.force
        right[d.pressure_unknown, 0] = -loads.excess
        if y.any():
            within = self.theta * h
            s = within / (within + d.material.stiffness_damping)
            scaled = y.copy()
            scaled[d.nodes_at] = s * moved
            right += held_times(*d.all_blocks, self.tangent.values, scaled)
            share = s * (1.0 / self.theta + h * d.material.mass_damping)
            right[d.nodes_at] -= share * d.mass_times(moved)
        return right

    def relinearise(self, impulse: Array) -> float:
        """Newton's method on the whole step, with the matrix kept: the forces where it now ends.

        Returns the change [m/s] at worst; none if no node would move by more than the tolerance.
        """
        if (defect := self.defect()) is None:
            return 0.0
        change = self.tangent.solve(defect)
        if not self.worth(change):
            return 0.0
        self.correct()
        return _largest(change[self.fem.nodes_at])

    def defect(self) -> Array | None:
        """(u, 3) [N s] of the true forces where the step now ends beyond the linear model's.

        None: it ends where it was linearised, to the tolerance, or may not be linearised again.
        """
        moved = _largest((self._y - self._guess)[self.fem.nodes_at])
        self.converged = self._h * moved <= self._tolerance
        if self.converged or self._left == 0:
            return None
        return self._linearised(self._y) - self._right

    def worth(self, change: Array) -> bool:
        """Whether a change (u, 3) of all unknowns is more than the tolerance, but not more than
        Newton's method can be trusted with.
        """
        moved = self._h * change[self.fem.nodes_at]
        largest = _largest(moved)
        self.converged = largest <= self._tolerance
        if self.converged or largest > GROWTH * self._corrected or self.fem.changed(moved, ASTRAY):
            return False
        self._corrected = largest
        return True

    def correct(self) -> None:
        """Linearise where the step now ends; the velocities are without constraints then."""
        self._left, self._guess = self._left - 1, self._y
        self._right = self._linearised(self._y, self.x + self.theta * self._h * self.v)
        self._solve_free()

    def _solve_with_modes(self, right: Array) -> Array:
        """A^-1 of a right-hand side, and with it the constraint modes and the condensed mass."""
        ends = np.cumsum([0, *(c.n_dof for c in self._carriers)])
        m = int(ends[-1])
        held = np.zeros((self.n_held, 3, m))
        for carrier, nodes, at in self._attached:
            if carrier.movable:
                k = self._carriers.index(carrier)
                own = slice(ends[k], ends[k + 1])
                held[nodes - self.fem.n_free, :, own] = carrier.point_jacobian(at)
        pushed = np.zeros((*right.shape, m))
        held_columns(*self.fem.driven_blocks, self.tangent.values, held, pushed)
        y = self.tangent.solve_many(np.concatenate([pushed, right[:, :, None]], axis=2))
        self.constraint_modes = -y[:, :, :m]
        self.constraint_modes[self.fem.free_unknowns :] = held
        self.condensed_mass = _flat(self.constraint_modes).T @ _flat(pushed)
        return y[:, :, m]

    def forget(self) -> None:
        """Make the matrix anew in the next step, however little has changed."""
        self._tangent = None

    def _make_tangent(self, x: Array, p: Array, h: float) -> Tangent:
        old, self._tangent = self._tangent, None
        try:
            return Tangent(self.fem, x, p, h, old, self.theta)
        except chol.NotPositiveError as error:
            raise DivergedError(
                f"'{self.name}': stiffness is not positive at node {self._node(error.node)}; "
                "lower the time step, or check the mesh there"
            ) from None

    def _take(self, y: Array) -> None:
        self._y, self.v = y, y[self.fem.nodes_at]

    def _node(self, unknown: int) -> int:
        """The shape's node at an unknown, or next to it where that is a pressure."""
        at = int(np.searchsorted(self.fem.node_unknown, unknown))
        return int(self.fem.order[min(at, len(self.x) - 1)])

    def compliance(self, rows: Rows) -> Sequence[tuple[Array, ReducedCompliance]]:
        """By way of the touched vertices, or of the nodes that carry them if these are fewer.

        So a finer collision mesh does not make the half-solves dearer. A cavity's row, which
        touches most of the underside, is half-solved as it is.
        """
        b, d, n = self.collision, self.fem, self.fem.n_free
        count = np.diff(rows.start)
        dense = np.flatnonzero(count > DENSE_ROW)
        touched = np.zeros(self.n_points, bool)
        touched[rows.point[np.repeat(count <= DENSE_ROW, count)]] = True
        extra = np.zeros((len(dense), d.symbolic.size))
        for e, r in enumerate(dense):  # one a cavity
            own = slice(rows.start[r], rows.start[r + 1])
            force = np.zeros((self.n_points, 3))
            np.add.at(force, rows.point[own], rows.vector[own])
            on_nodes = np.zeros_like(self.v)
            spread(b.start, b.nodes, b.weights, force, on_nodes)
            by_unknown = np.zeros_like(self._y)
            by_unknown[d.nodes_at] = on_nodes
            extra[e] = by_unknown[: d.free_unknowns].reshape(-1)[d.entries]
        ranks = np.flatnonzero(touched[self._vertices.order])
        nodes = np.flatnonzero(carrying_nodes(touched, b.start, b.nodes, n))
        if len(ranks) <= len(nodes):
            by_vertex = self.tangent.compliance(self._vertices, ranks, extra)
        else:
            by_node = self.tangent.compliance(self._nodes, nodes, extra)
            column = np.full(len(self.x), -1, np.int32)
            column[nodes] = 3 * np.arange(len(nodes))
            by_vertex = vertex_compliance(
                self._vertices.order[ranks], b.start, b.nodes, b.weights, column, by_node,
                len(dense),
            )  # fmt: skip
        place = np.zeros(self.n_points, np.int32)
        place[self._vertices.order[ranks]] = np.arange(len(ranks))
        extra_column = np.full(len(count), -1, np.int32)
        extra_column[dense] = 3 * len(ranks) + np.arange(len(dense))
        b_rows = sparse_rows(rows.start, rows.point, rows.vector, place, extra_column)
        return [(np.arange(len(count)), ReducedCompliance(*b_rows, by_vertex))]

    def apply_impulse(self, impulse: Array) -> Array:
        b = self.collision
        on_nodes = np.zeros_like(self.v)
        spread(b.start, b.nodes, b.weights, impulse, on_nodes)
        self._unmet = np.zeros_like(self._free)
        self._unmet[self.fem.nodes_at] = on_nodes
        if impulse.any():
            self._take(self._free + self.tangent.solve(self._unmet))
        else:
            self._take(self._free)
        return self.velocities()

    def rows_times(self, rows: Rows) -> Array:
        """(r, m) over the modes."""
        b, by_node = self.collision, self.constraint_modes[self.fem.nodes_at]
        return rows_times_modes(
            rows.start, rows.point, rows.vector, b.start, b.nodes, b.weights, by_node
        )

    def modal_impulse(self) -> Array:
        """(m,) [N s] what the impulses of `apply_impulse` do along the modes."""
        return self.modal_load(self._unmet)

    def modal_load(self, load: Array) -> Array:
        """(m,) [N s] what a load (u, 3) on all unknowns does along the modes."""
        return load.ravel() @ _flat(self.constraint_modes)

    def carried(self, moved: Array) -> Array:
        """(u, 3) how all unknowns follow the twists (m,) of its carriers."""
        return (_flat(self.constraint_modes) @ moved).reshape(self._y.shape)

    def condensed_load(self) -> Array:
        """(m,) [N s, N m s] what the held nodes do to their carriers."""
        return -self.held_impulse().ravel() @ _flat(self.constraint_modes[self.fem.free_unknowns :])

    def follow(self, moved: Array) -> None:
        """After `apply_impulse`: the twists of its carriers change by `moved` (m,)."""
        self._take(self._y + self.carried(moved))

    def held_impulse(self) -> Array:
        """(n_held, 3) [N s] that the held nodes were given over the step."""
        d = self.fem
        given = held_times(*d.driven_blocks, self.tangent.values, self._y)
        return (given - self._right - self._unmet)[d.free_unknowns :] - self._held_impact

    def stop(self) -> None:
        """Take its velocity away, also that of the last step, by which the next is predicted."""
        self.v = self.u = np.zeros_like(self.v)

    def advance(self, h: float) -> None:
        self.u, self.v = self.v, self._velocity_after()
        self.x = self.x + h * self.u
        self.p = self.p + self._y[self.fem.pressure_unknown, 0]

    def elastic_energy(self) -> float:
        return self.fem.energy(self.x, self.p)

    def visual_surface(self) -> tuple[Array, Array]:
        return self.visual.positions(self.x), self.visual.triangles

    def region_position(self, region: str | None) -> Array:
        assert region is not None, "a soft body is probed by a region"
        return self.node_positions()[self.shape.region(region)].mean(axis=0)

    def volume_ratio(self) -> float | None:
        return self.fem.volume_of(self.x) / self.fem.volume

    def surface_stress(self) -> Array | None:
        """(n_points,) [Pa] von Mises stress, from the cells round each node."""
        d = self.fem
        at_nodes = von_mises(d.blocks, self.x, d.mu, d.lam, d.rotation, d.material.law)
        return self._on_points(np.repeat(at_nodes[:, None], 3, axis=1))[:, 0]

    def momentum(self) -> Array:
        return self.fem.node_mass @ self.v

    def reaction(self, h: float) -> Array:
        """(6,) [N, N m] the wrench that its prescribed motion exerted over the last step."""
        return self._driven_wrench(self.held_impulse(), h)

    def _driven_wrench(self, held: Array, h: float) -> Array:
        if len(self._driven) == 0:
            return np.zeros(6)
        force = held[self._driven - self.fem.n_free] / h
        x = self.x[self._driven]
        moment = np.cross(x - x.mean(axis=0), force).sum(axis=0)
        return np.concatenate([force.sum(axis=0), moment])

    def report(self, h: float, gravity: Array, force: Array) -> BodyReport:
        after, given = self.momentum(), self.held_impulse()
        wrench = self._driven_wrench(given, h)
        left = momentum_residual(self, self._momentum_before, after, wrench, h, gravity, force)
        held = {self.name: given.sum(axis=0) / h} if self.n_held else {}
        return BodyReport({} if self.motion is None else {self.name: wrench}, left, held=held)

    def get_state(self) -> dict[str, Array]:
        made = self._tangent
        return {
            "x": self.x.copy(), "v": self.v.copy(), "u": self.u.copy(), "p": self.p.copy(),
            "tangent_x": made.x if made else np.full_like(self.x, np.nan),
            "tangent_p": made.p if made else np.full_like(self.p, np.nan),
            "tangent_h": np.array(made.h if made else np.nan),
        }  # fmt: skip

    def set_state(self, state: Mapping[str, Array]) -> None:
        self.x, self.v, self.p = state["x"].copy(), state["v"].copy(), state["p"].copy()
        self.u = state["u"].copy()
        at = state["tangent_x"], state["tangent_p"], float(state["tangent_h"])
        if np.isnan(at[2]):
            self._tangent = None
        elif self._tangent is None or not self._tangent.is_of(*at):
            self._tangent = self._make_tangent(*at)


def _largest(v: Array) -> float:
    return float(np.abs(v).max())


def _flat(by_unknown: Array) -> Array:
    """(u, 3, m) as (3 u, m)."""
    return by_unknown.reshape(3 * len(by_unknown), by_unknown.shape[2])
