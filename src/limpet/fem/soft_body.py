"""Soft bodies: finite elements under semi-implicit backward Euler (P eq 1).

With stiffness K and Rayleigh damping a M + b K, P eq 1 reads, for the new velocity v+,

    A v+ = M v + h (f(x) + M g),    A = (1 + h a) M + (h b + h^2) K.

Undamped bodies take the trapezoidal rule instead, theta = 1/2: x+ = x + h u, v+ = v + (u - v)/theta
and forces theta f(x+) + (1 - theta) f(x), so A = (1/theta + h a) M + (h b + theta h^2) K. Forces at
the ends and not in the middle, as halfway through a large rotation all cells are shortened.

The velocity of driven nodes is prescribed; what is left over in their rows is the drive's force.
A mixed element adds its pressures to the unknowns (elements/mixed.py); the matrix is then a saddle
point, and its factor has signs. Nothing else changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from limpet.dynamics.body import BodyReport, momentum_residual
from limpet.dynamics.motion import Motion
from limpet.dynamics.relinearisation import ONCE, Relinearisation
from limpet.fem.linearised_body import LinearisedBody
from limpet.fem.material import Fem, Material
from limpet.fem.point_compliance import PointCompliance
from limpet.fem.surface_map import held_columns, held_times, rows_times_modes, spread
from limpet.fem.tangent import MadeAt
from limpet.geometry.face_patches import FacePatches
from limpet.geometry.shape import Array, SoftShape
from limpet.geometry.surface import Surface
from limpet.linalg.reduced_compliance import ReducedCompliance
from limpet.linalg.rows import Rows
from limpet.linalg.threads import ALONE, Threads


class SoftBody(LinearisedBody):
    """A finite-element body, built from a shape that is placed in the world."""

    def __init__(
        self, name: str, shape: SoftShape, material: Material, mass: float,
        driven: Array | None = None, motion: Motion | None = None, fem: Fem | None = None,
        anchors: Array | None = None, surface: Surface | None = None,
        field_nodes: Array | None = None, faces: FacePatches | None = None,
        relinearisation: Relinearisation = ONCE, theta: float = 1.0, threads: Threads = ALONE,
    ) -> None:  # fmt: skip
        """`anchors` (k,): nodes attached to other bodies (see `attach`); each has a marker point
        behind the surface's, as has each of the `field_nodes` (m,), which carry a pressure field:
        these come first, then those of the curved `faces` that may bound a cavity. surface:
        topology of the surface and its markers, if it is known.
        """
        super().__init__(
            name, shape, material, mass, driven, motion, fem, anchors, surface, field_nodes, faces,
            relinearisation, theta,
        )  # fmt: skip
        self.fem.threads = threads
        self._compliance = PointCompliance(self.fem, self.collision)
        self._kick: Array | None = None  # (n, 3) what impacts add to v+
        self._held_impact = np.zeros((self.n_held, 3))  # [N s] of them on held nodes
        # Of the step: N (u, 3, m), how all unknowns follow the velocities of its movable carriers
        # (Craig-Bampton constraint modes), and N^T A N (m, m), their condensed mass.
        self.constraint_modes = np.zeros((*self._y.shape, 0))
        self.condensed_mass = np.zeros((0, 0))

    def compute_free_velocity(
        self, h: float, gravity: Array, time: float, applied: Array | None = None
    ) -> Array:
        self._kick, self._held_impact = None, np.zeros((self.n_held, 3))
        return super().compute_free_velocity(h, gravity, time, applied)

    def compliance(self, rows: Rows) -> Sequence[tuple[Array, ReducedCompliance]]:
        return [(np.arange(len(rows)), self._compliance.of_step(self.tangent, rows))]

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

    # Impacts

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
        return [(np.arange(len(rows)), self._compliance.of_impact(rows))]

    def apply_impact(self, impulse: Array) -> None:
        b, on_nodes, n = self.collision, np.zeros_like(self.v), self.fem.n_free
        spread(b.start, b.nodes, b.weights, impulse, on_nodes)
        self._held_impact = on_nodes[n:].copy()
        on_nodes[n:] = 0.0
        self._kick = on_nodes / self.fem.node_mass[:, None]

    # Attachments

    def _solve(self, right: Array) -> Array:
        return self._solve_with_modes(right) if self._carriers else self.tangent.solve(right)

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
        given = (given - self._right - self._unmet)[d.free_unknowns :] - self._held_impact
        if self.theta < 1.0:  # A has M (u - v)/theta, but driven nodes go on with u
            jump = (self.v - self._start_v)[self._driven] * (1.0 / self.theta - 1.0)
            given[self._driven - d.n_free] -= d.node_mass[self._driven, None] * jump
        return given

    # The end of the step

    def stop(self) -> None:
        """Take its velocity away, also that of the last step, by which the next is predicted."""
        self.v = self.u = np.zeros_like(self.v)

    def advance(self, h: float) -> None:
        self.u, self.v = self.v, self._velocity_after()
        self.x = self.x + h * self.u
        self.p = self.p + self._y[self.fem.pressure_unknown, 0]

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
        if self._recalled is not None:
            at, half_solved = self._recalled
        else:
            made = self._tangent
            none = np.full_like(self.x, np.nan), np.full_like(self.p, np.nan), np.nan
            at = made.at if made else MadeAt(*none)
            half_solved = self._compliance.known(made)
        return {
            "x": self.x.copy(), "v": self.v.copy(), "u": self.u.copy(), "p": self.p.copy(),
            "tangent_x": at.x, "tangent_p": at.p, "tangent_h": np.array(at.h),
            "half_solved": half_solved,
        }  # fmt: skip

    def set_state(self, state: Mapping[str, Array]) -> None:
        self.x, self.v, self.p = state["x"].copy(), state["v"].copy(), state["p"].copy()
        self.u = state["u"].copy()
        at = MadeAt(state["tangent_x"], state["tangent_p"], float(state["tangent_h"]))
        self._recalled = None if np.isnan(at.h) else (at, state["half_solved"])
        if self._recalled is None:
            self.forget()

    def _make_recalled(self, at: MadeAt, half_solved: Array) -> None:
        if self._tangent is None or not self._tangent.at.same(at):
            self._tangent = self._make_tangent(at)
        self._compliance.recall(self._tangent, half_solved)


def _flat(by_unknown: Array) -> Array:
    """(u, 3, m) as (3 u, m)."""
    return by_unknown.reshape(3 * len(by_unknown), by_unknown.shape[2])
