"""Newton's method on the whole step: forces linearised where it begins, then where it ends."""

from __future__ import annotations

import numpy as np

from limpet.dynamics.motion import Motion
from limpet.dynamics.relinearisation import ONCE, Relinearisation
from limpet.errors import DivergedError
from limpet.fem.material import Fem, Material
from limpet.fem.nodal_body import NodalBody
from limpet.fem.surface_map import held_times
from limpet.fem.tangent import MadeAt, Tangent
from limpet.geometry.face_patches import FacePatches
from limpet.geometry.shape import Array, SoftShape
from limpet.geometry.surface import Surface
from limpet.linalg import block_cholesky as chol

FAR = 0.02  # change of a cell's deformation gradient, at most, that is predicted
ASTRAY = 0.1  # and that is corrected
LOST = 1.0  # and with which the linear model says nothing
FOLLOWED = 0.05  # and in a step of a body that keeps energy
GROWTH = 1.5  # of the corrections: wrinkles grow, but what grows faster does not converge
UNDAMPED = 0.01  # of the tolerance, for bodies in which errors are not damped, but add up
UNSETTLED = 10.0  # times the tolerance: beyond it a step counts as not converged
SLOW = 0.2  # of the last correction: the matrix is made anew
UNBOUNDED = 1 << 30
SETTLING = 40  # iterations of Newton's method for a body that only its carriers move
ARMIJO, SMALLEST, ROUNDING = 1e-4, 1e-4, 1e-13


class LinearisedBody(NodalBody):
    """The equations of its step, which are solved without constraints, and linearised anew."""

    settled = 0.0

    def __init__(
        self, name: str, shape: SoftShape, material: Material, mass: float,
        driven: Array | None, motion: Motion | None, fem: Fem | None, anchors: Array | None,
        surface: Surface | None, field_nodes: Array | None, faces: FacePatches | None,
        relinearisation: Relinearisation, theta: float,
    ) -> None:  # fmt: skip
        super().__init__(
            name, shape, material, mass, driven, motion, fem, anchors, surface, field_nodes, faces
        )
        self.theta = theta
        explicit = fem is not None and fem.deviatoric == "explicit"  # forces are those at x
        self.relinearisation = ONCE if explicit else relinearisation
        undamped = theta < 1.0 and material.stiffness_damping == 0.0
        self._tolerance = self.relinearisation.tolerance * (UNDAMPED if undamped else 1.0)
        self.staggered = UNBOUNDED if self.relinearisation.most > 1 else 0  # it counts them itself
        self.u = self.v  # of the last step
        self._start_v = self.v  # v as the step began
        # By unknown: a node's three velocities, or one change of pressure and two zeros.
        unknowns = len(self.x) + len(self.p)
        self._free = self._y = np.zeros((unknowns, 3))  # without constraints; with them
        self._guess = np.zeros((unknowns, 3))  # where the step is linearised
        self._tangent: Tangent | None = None
        self._recalled: tuple[MadeAt, Array] | None = None  # of a state: a tangent yet to be made
        self._known = np.zeros((unknowns, 3))  # velocities of held nodes
        self._left, self._corrected = 0, np.inf  # linearisations yet; the last correction [m]
        self._stale = False  # the matrix, as corrections shrink slowly with it
        self._h = 0.0  # [s]
        self._inertia = np.zeros_like(self.x)  # [N s] what the right-hand side has without x+
        self._right = np.zeros((unknowns, 3))  # right-hand side of the last step
        self._unmet = np.zeros((unknowns, 3))  # impulses of the constraints
        self._momentum_before = np.zeros(3)

    @property
    def tangent(self) -> Tangent:
        """The matrix of the last compute_free_velocity."""
        assert self._tangent is not None, "compute_free_velocity comes first"
        return self._tangent

    def compute_free_velocity(
        self, h: float, gravity: Array, time: float, applied: Array | None = None
    ) -> Array:
        d, self._momentum_before, self._h = self.fem, self.momentum(), h
        self._start_v, self._unmet = self.v, np.zeros_like(self._y)
        known = np.zeros_like(self._y)
        ahead_of = d.free_unknowns - d.n_free  # the held nodes come last in both countings
        if self.motion is not None:
            target = self.motion.place(d.rest[self._driven], time + h)
            known[self._driven + ahead_of] = (target - self.x[self._driven]) / h
        for carrier, nodes, at in self._attached:  # the drift of finite rotations is closed, too
            gap = carrier.positions()[at] - self.x[nodes]
            known[nodes + ahead_of] = gap / h + carrier.velocities()[at]
        self._left, self._corrected = self.relinearisation.most - 1, np.inf
        self._stale = False
        self._inertia = d.mass_times(self.v) / self.theta + h * d.node_mass[:, None] * gravity
        if self.theta < 1.0:
            self._inertia += (1.0 - self.theta) * h * d.loads(self.x, self.p, h).force
        self._known, self._guess = known, self._predicted(known)
        self._right = self._linearised(self._guess, self.x + h * self.u)
        self._solve_free()
        if applied is not None and applied.any():
            return self.apply_impulse(h * applied)
        return self.velocities()

    def _solve_free(self) -> None:
        """A^-1 of the right-hand side, the velocities of held nodes being known."""
        blocks, a = self.fem.driven_blocks, self.tangent
        own = self._right - held_times(*blocks, a.values, self._known)
        self._free = self._known + self._solve(own)
        self.take_free()

    def take_free(self) -> None:
        """The velocities without constraints, and with the carriers' free velocities."""
        self._unmet = np.zeros_like(self._free)
        self._take(self._free)

    def _solve(self, right: Array) -> Array:
        """A^-1 of a right-hand side (u, 3)."""
        return self.tangent.solve(right)

    def predicted(self, h: float) -> Array:
        return self._on_points(self.x + h * self._guess[self.fem.nodes_at])

    def _predicted(self, known: Array) -> Array:
        """(u, 3) velocities that lead about where the step ends: those of the last one.

        They are halved while cells would turn or stretch far with them; zero: where it begins.
        """
        guess = np.zeros_like(self._y)
        if self.relinearisation.most == 1 or self._settles:
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

        There, at c = x + h y, it is M v/theta + h (theta f(c) + (1 - theta) f(x) + M g), with
        theta h K (c - x) added; theta h^2 K is the share s = theta h/(theta h + b) of what A has
        beside the mass. A is made anew unless that of an earlier step serves at the positions
        `ahead` (n, 3) [m]; None: A stays.
        """
        d, h = self.fem, self._h
        moved = y[d.nodes_at]
        x, p = self.x + h * moved, self.p + y[d.pressure_unknown, 0]
        if ahead is not None and not self._serves(ahead):
            self._tangent = self._make_tangent(MadeAt(x, p, h))
            loads = self._tangent.loads
        else:
            loads = d.loads(x, p, h)
        right = np.zeros_like(y)
        right[d.nodes_at] = self._inertia + self.theta * h * loads.force
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

    def _serves(self, ahead: Array) -> bool:
        """Whether the matrix that there is, or was when the state was saved, may stand for that at
        the positions `ahead` (n, 3) [m].
        """
        recalled, self._recalled = self._recalled, None
        if recalled is not None:
            if not recalled[0].serves(self.fem, ahead, self.p, self._h):
                return False
            self._make_recalled(*recalled)
            return True
        old = self._tangent
        return old is not None and old.at.serves(self.fem, ahead, self.p, self._h)

    def _make_recalled(self, at: MadeAt, half_solved: Array) -> None:
        """Make a tangent as it was when the state was saved."""
        self._tangent = self._make_tangent(at)

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

        None: it ends where it was linearised, to the tolerance.
        """
        if self._judged(self._y - self._guess):
            return None
        return self._linearised(self._y) - self._right

    def _judged(self, change: Array) -> bool:
        """Whether the step may end where it does, as it would change by `change` (u, 3) [m/s]."""
        left = self._h * _largest(change[self.fem.nodes_at])
        self.relinearisation_residual, self.converged = left, left <= UNSETTLED * self._tolerance
        return left <= self._tolerance

    def worth(self, change: Array) -> bool:
        """Whether a change (u, 3) of all unknowns is more than the tolerance, but not more than
        Newton's method can be trusted with.
        """
        if self._judged(change) or self._left <= 0:
            return False
        if self._settles:
            return True
        largest, moved = self.relinearisation_residual, self._h * change[self.fem.nodes_at]
        if largest > GROWTH * self._corrected or self.fem.changed(moved, ASTRAY):
            return False
        self._stale, self._corrected = largest > SLOW * self._corrected, largest
        return True

    def correct(self) -> None:
        """Linearise where the step now ends; the velocities are without constraints then."""
        if self._stale:
            self.forget()
        self._left, self._guess = self._left - 1, self._settled() if self._settles else self._y
        self._right = self._linearised(self._guess, self.x + self._h * self.v)
        self._solve_free()

    @property
    def _settles(self) -> bool:
        """Whether it is solved to the end for the motion of its carriers, as nothing else moves it.

        A slender spring is so much stiffer along its wire than as a whole that a linear model of it
        serves for a few degrees only, but what it does to its carriers hardly changes.
        """
        most = self.relinearisation.most
        alone = len(self._carriers) > 0 and not self._unmet.any()
        return most > 1 and alone and self.fem.can_be_exact

    def _settled(self) -> Array:
        """(u, 3) velocities with which the true forces balance, those of held nodes as they are.

        Newton's method on the potential of the step; what does not lower it is halved.
        """
        y, h, n = self._y, self._h, self.fem.free_unknowns
        lowest, right = self._potential(y)
        for _ in range(SETTLING):
            self._tangent = self._make_tangent(MadeAt(self.x + h * y, self.p, h))
            change = self.tangent.solve(right)
            size, slope = 1.0, float(np.vdot(right[:n], change[:n]))
            while size > SMALLEST:
                trial, unbalanced = self._potential(y + size * change)
                if trial <= lowest - ARMIJO * size * slope + ROUNDING * abs(lowest):
                    break
                size *= 0.5
            y, lowest, right = y + size * change, trial, unbalanced
            if size == 1.0 and h * _largest(change) <= 0.1 * self._tolerance:
                break
        return y

    def _potential(self, y: Array) -> tuple[float, Array]:
        """[J] whose derivative by y is the balance of the step, and the loads (u, 3) beyond it."""
        d, h, theta = self.fem, self._h, self.theta
        x = self.x + h * y
        inertia = (1.0 / theta + h * self.mass_damping) * d.mass_times(y)
        energy = np.vdot(0.5 * inertia - self._inertia, y) + theta * d.energy(x, self.p)
        return float(energy), self._inertia + theta * h * d.loads(x, self.p, h).force - inertia

    def deforms_far(self, h: float) -> bool:
        if self.theta == 1.0 or self.relinearisation.most == 1:
            return False
        return self.fem.changed(h * self.v, FOLLOWED)

    @property
    def astray(self) -> bool:
        if self.relinearisation.most == 1:
            return False
        return self.fem.changed(self._h * (self._y - self._guess)[self.fem.nodes_at], LOST)

    def forget(self) -> None:
        """Make the matrix anew in the next step, however little has changed."""
        self._tangent = self._recalled = None

    def _make_tangent(self, at: MadeAt) -> Tangent:
        old, self._tangent = self._tangent, None
        try:
            exact = self.relinearisation.most > 1 and self.fem.can_be_exact
            return Tangent(self.fem, at, old, self.theta, exact)
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


def _largest(v: Array) -> float:
    """Length of the longest of (n, 3): that of a component would depend on the axes."""
    return float(np.sqrt(np.einsum("ij,ij->i", v, v).max()))
