"""Soft bodies: corotational finite elements under semi-implicit backward Euler (P eq 1).

With stiffness K and Rayleigh damping a M + b K, P eq 1 reads, for the new velocity v+,

    A v+ = M v + h (f(x) + M g),    A = (1 + h a) M + (h b + h^2) K.

Nodes are renumbered once: free nodes in elimination order, then the driven ones, whose velocity is
prescribed; what is left over in their rows is the drive's force.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from limpet.bodies.contract import Rows
from limpet.bodies.motion import Motion
from limpet.bodies.surface_map import (
    bound_points,
    carrying_nodes,
    free_entries,
    row_compliance,
    spread,
    vertex_compliance,
)
from limpet.elements import ELEMENTS
from limpet.elements.corotational import assemble, cell_block, energy, lame
from limpet.errors import DivergedError, LimpetError, MeshError, require_positive
from limpet.geometry.shapes import Array, Binding, SoftShape, check_points
from limpet.linalg import block_cholesky as chol
from limpet.linalg import symbolic

DENSE_ROW = 12  # rows with more vertices than this (a cavity's pressure) are half-solved directly


@dataclass(frozen=True)
class Material:
    """Isotropic elastic material with Rayleigh damping."""

    young: float  # [Pa]
    poisson: float
    mass_damping: float = 0.0  # a [1/s]
    stiffness_damping: float = 2e-3  # b [s]

    def __post_init__(self) -> None:
        require_positive("material young", self.young, " Pa", "4e6 is a soft silicone")
        if not (-1.0 < self.poisson < 0.5):
            raise LimpetError(
                f"material poisson = {self.poisson:g}: expected above -1 and below 0.5 "
                "(0.45 to 0.49 for rubber)"
            )
        for label in ("mass_damping", "stiffness_damping"):
            if not (0.0 <= getattr(self, label) < np.inf):
                raise LimpetError(
                    f"material {label} = {getattr(self, label):g}: expected 0 or more"
                )


@njit(cache=True)
def _driven_times(slots: Array, rows: Array, columns: Array, values: Array, v: Array) -> Array:
    """A v by those blocks of the symmetric A that couple to driven nodes, (n, 3).

    Complete at the driven nodes; at the free ones it is what the driven ones do to them.
    """
    out = np.zeros_like(v)
    for k in range(len(slots)):
        i, j, b = rows[k], columns[k], values[slots[k]]
        for d in range(3):
            out[i, d] += b[d, 0] * v[j, 0] + b[d, 1] * v[j, 1] + b[d, 2] * v[j, 2]
        if i != j:
            for d in range(3):
                out[j, d] += b[0, d] * v[i, 0] + b[1, d] * v[i, 1] + b[2, d] * v[i, 2]
    return out


@njit(cache=True)
def _system(
    values: Array, start: Array, mass: Array, stiffness_factor: float, mass_factor: float
) -> None:
    """values <- mass_factor M + stiffness_factor K, in place."""
    for s in range(len(values)):
        for i in range(3):
            for j in range(3):
                values[s, i, j] *= stiffness_factor
    for j in range(len(mass)):
        for d in range(3):
            values[start[j], d, d] += mass_factor * mass[j]


class SoftBody:
    """A soft body behind the body contract, built from a shape that is placed in the world."""

    movable = True

    def __init__(
        self, name: str, shape: SoftShape, material: Material, mass: float,
        driven: Array | None = None, motion: Motion | None = None,
    ) -> None:  # fmt: skip
        require_positive(f"mass of '{name}'", mass, " kg")
        points = check_points(shape.points, f"mesh of '{name}'")
        n = len(points)
        for kind, cells in shape.cells.items():
            if kind not in ELEMENTS:
                raise MeshError(
                    f"mesh of '{name}' has cells '{kind}': known are {', '.join(ELEMENTS)}"
                )
            if len(cells) and (cells.min() < 0 or cells.max() >= n):
                raise MeshError(
                    f"mesh of '{name}' has cells that name nodes {int(cells.min())} to "
                    f"{int(cells.max())}, there are {n} from 0 up"
                )
        used = np.zeros(n, bool)
        for cells in shape.cells.values():
            used[cells] = True
        if not used.all():
            raise MeshError(
                f"mesh of '{name}' has {int((~used).sum())} nodes in no cell: remove them"
            )
        is_driven = np.zeros(n, bool)
        if driven is not None:
            is_driven[driven] = True
        if is_driven.all():
            raise LimpetError(f"'{name}': all nodes are driven; make it a rigid body instead")

        self.name, self.mass, self.motion, self.material, self.shape = (
            name,
            mass,
            motion,
            material,
            shape,
        )
        self.mass_damping = material.mass_damping
        # Where contacts are expected. Eliminated last, these nodes make the compliance cheaper and
        # the factor dearer: 0.7 ms less a step for a cup of tets, 0.9 ms more for one of hex20.
        rim = shape.regions.get("rim", np.zeros(0, np.int32))
        if set(shape.cells) != {"tet4"}:
            rim = rim[:0]
        self.order = _elimination(shape.cells, is_driven, rim)  # order[new] = node of the shape
        new = np.empty(n, np.int32)
        new[self.order] = np.arange(n, dtype=np.int32)
        self.n_free = int((~is_driven).sum())
        self.rest = np.ascontiguousarray(points[self.order])
        self.blocks = [
            cell_block(ELEMENTS[kind], self.rest, new[cells]) for kind, cells in shape.cells.items()
        ]
        i = np.concatenate(
            [np.repeat(b.cells, b.cells.shape[1], axis=1).ravel() for b in self.blocks]
        )
        j = np.concatenate([np.tile(b.cells, (1, b.cells.shape[1])).ravel() for b in self.blocks])
        self.pattern = symbolic.block_pattern(n, i, j)
        self.slots = [_cell_slots(self.pattern, b.cells) for b in self.blocks]
        self.symbolic = symbolic.analyse(self.pattern, self.n_free)
        column = np.repeat(np.arange(n, dtype=np.int32), np.diff(self.pattern.start))
        held = np.flatnonzero(self.pattern.rows >= self.n_free)
        self._driven_blocks = (held, self.pattern.rows[held], column[held])
        share = np.zeros(n)
        for b in self.blocks:
            np.add.at(share, b.cells, b.lumped)
        self.volume = float(share.sum())
        self.node_mass = share * (mass / self.volume)
        self.mu, self.lam = lame(material.young, material.poisson)
        self.collision, self.visual = _renumber(shape.collision, new), _renumber(shape.visual, new)
        self.n_surface = self.collision.n_vertices
        first_node = np.minimum.reduceat(self.collision.nodes, self.collision.start[:-1])
        self._vertex_order = np.argsort(first_node, kind="stable")

        self.x = self.rest.copy()
        self.v = np.zeros((n, 3))
        self._values = np.empty((len(self.pattern.rows), 3, 3))
        self._free = self.v  # velocity without constraints
        self._right = np.zeros((n, 3))  # M v + h (f + M g) of the last step
        self._unmet = np.zeros((n, 3))  # impulses of the constraints on the nodes

    def surface_positions(self) -> Array:
        return bound_points(
            self.collision.start, self.collision.nodes, self.collision.weights, self.x
        )

    def surface_velocities(self) -> Array:
        return bound_points(
            self.collision.start, self.collision.nodes, self.collision.weights, self.v
        )

    def positions(self) -> Array:
        """Node positions in the shape's own numbering."""
        out = np.empty_like(self.x)
        out[self.order] = self.x
        return out

    def elastic_energy(self) -> float:
        return sum(
            energy(self.x, b.cells, b.gradients, b.weights, self.mu, self.lam) for b in self.blocks
        )

    def free_velocity(self, h: float, gravity: Array, time: float) -> None:
        n, values = self.n_free, self._values
        force = np.zeros_like(self.x)
        values[:] = 0.0
        for b, slots in zip(self.blocks, self.slots):
            assemble(
                self.x,
                b.cells,
                b.gradients,
                b.weights,
                b.laplace,
                slots,
                self.mu,
                self.lam,
                force,
                values,
            )
        m, a = self.node_mass, self.material.mass_damping
        _system(
            values, self.pattern.start, m, h * self.material.stiffness_damping + h * h, 1.0 + h * a
        )
        try:
            self.factor = chol.factorise(self.symbolic, values)
        except chol.NotPositiveError as error:
            node = int(self.order[error.node])
            raise DivergedError(
                f"'{self.name}': stiffness is not positive at node {node}; "
                "lower the time step, or check the mesh there"
            ) from None
        right = m[:, None] * self.v + h * (force + m[:, None] * gravity)
        known = np.zeros_like(self.v)
        if self.motion is not None:
            target = self.motion.place(self.rest[n:], time + h)
            known[n:] = (target - self.x[n:]) / h
        carried = _driven_times(*self._driven_blocks, values, known)
        self.v = known
        self.v[:n] = chol.solve(self.factor, (right - carried)[:n])
        self._free, self._right = self.v, right
        self._unmet = np.zeros_like(right)

    def compliance(self, rows: Rows) -> Array:
        """By way of the touched vertices, or of the nodes that carry them if these are fewer.

        So a finer collision mesh does not make the half-solves dearer. A cavity's row, which
        touches most of the underside, is half-solved as it is.
        """
        b, n = self.collision, self.n_free
        count = np.diff(rows.start)
        dense = np.flatnonzero(count > DENSE_ROW)
        touched = np.zeros(self.n_surface, bool)
        touched[rows.vertex[np.repeat(count <= DENSE_ROW, count)]] = True
        extra = np.zeros((len(dense), n, 3))
        for e, r in enumerate(dense):  # one a cavity
            own = slice(rows.start[r], rows.start[r + 1])
            force = np.zeros((self.n_surface, 3))
            np.add.at(force, rows.vertex[own], rows.vector[own])
            on_nodes = np.zeros_like(self.v)
            spread(b.start, b.nodes, b.weights, force, on_nodes)
            extra[e] = on_nodes[:n]
        vertices = self._vertex_order[touched[self._vertex_order]]
        place = np.zeros(self.n_surface, np.int32)
        place[vertices] = np.arange(len(vertices))
        nodes = np.flatnonzero(carrying_nodes(touched, b.start, b.nodes, n))
        if len(vertices) <= len(nodes):
            points = free_entries(vertices, b.start, b.nodes, b.weights, n)
            by_vertex = chol.compliance(self.factor, *points, extra)
        else:
            start, ones = np.arange(len(nodes) + 1), np.ones(len(nodes))
            by_node = chol.compliance(self.factor, start, nodes, ones, extra)
            column = np.full(len(self.x), -1, np.int32)
            column[nodes] = 3 * np.arange(len(nodes))
            by_vertex = vertex_compliance(
                vertices, b.start, b.nodes, b.weights, column, by_node, len(dense)
            )
        extra_column = np.full(len(rows), -1, np.int32)
        extra_column[dense] = 3 * len(vertices) + np.arange(len(dense))
        return row_compliance(rows.start, rows.vertex, rows.vector, place, extra_column, by_vertex)

    def apply(self, impulse: Array) -> None:
        n = self.n_free
        b = self.collision
        self._unmet = np.zeros_like(self.v)
        spread(b.start, b.nodes, b.weights, impulse, self._unmet)
        self.v = self._free.copy()
        self.v[:n] += chol.solve(self.factor, self._unmet[:n])

    def advance(self, h: float) -> None:
        self.x = self.x + h * self.v

    def momentum(self) -> Array:
        return self.node_mass @ self.v

    def drive_force(self, h: float) -> Array:
        n = self.n_free
        if n == len(self.x):
            return np.zeros(6)
        held = _driven_times(*self._driven_blocks, self._values, self.v)
        force = (held - self._right - self._unmet)[n:] / h
        centre = self.x[n:].mean(axis=0)
        moment = np.cross(self.x[n:] - centre, force).sum(axis=0)
        return np.concatenate([force.sum(axis=0), moment])

    def get_state(self) -> dict[str, Array]:
        return {"x": self.x.copy(), "v": self.v.copy()}

    def set_state(self, state: dict[str, Array]) -> None:
        self.x, self.v = state["x"].copy(), state["v"].copy()


def _elimination(cells: dict[str, Array], driven: Array, rim: Array) -> Array:
    """Free nodes in a fill-reducing order, those of the rim at its end, then the driven ones."""
    free = np.flatnonzero(~driven)
    local = np.full(len(driven), -1, np.int32)
    local[free] = np.arange(len(free), dtype=np.int32)
    i = np.concatenate([np.repeat(c, c.shape[1], axis=1).ravel() for c in cells.values()])
    j = np.concatenate([np.tile(c, (1, c.shape[1])).ravel() for c in cells.values()])
    both = (local[i] >= 0) & (local[j] >= 0)
    late = local[rim][local[rim] >= 0]
    order = symbolic.elimination_order(len(free), local[i][both], local[j][both], late)
    return np.concatenate([free[order], np.flatnonzero(driven)]).astype(np.int32)


def _cell_slots(pattern: symbolic.BlockPattern, cells: Array) -> Array:
    i, j = np.broadcast_arrays(cells[:, :, None], cells[:, None, :])
    slots = symbolic.pattern_slots(pattern, i.ravel(), j.ravel()).reshape(i.shape)
    return np.ascontiguousarray(np.where(i >= j, slots, -1 - slots).astype(np.int32))


def _renumber(binding: Binding, new: Array) -> Binding:
    return Binding(binding.triangles, binding.start, new[binding.nodes], binding.weights)
