"""A soft body's equations: unknowns numbered once, forces and matrix assembled each step.

An unknown is a node (three velocities) or a shared pressure of a mixed element (one). Unknowns are
numbered in elimination order, the driven nodes, whose velocity is prescribed, at the end; nodes are
numbered as they appear there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
from scipy import sparse

from limpet.compiled import njit
from limpet.errors import LimpetError, MeshError
from limpet.fem.cell_parts import CellPart, divide
from limpet.fem.elements import mooney_rivlin, neo_hookean
from limpet.fem.elements.block import cell_block, changed, deformed_volume
from limpet.fem.elements.choose import choose
from limpet.fem.elements.compression import subtract_compression
from limpet.fem.elements.corotational import NONE, POLAR, ROTATIONS, assemble, energy, lame
from limpet.fem.elements.mixed import assemble_mixed, pressure_compliance
from limpet.fem.material import RUBBER_LAWS, Fem, Material
from limpet.geometry.cells import CELLS
from limpet.geometry.shape import Array, SoftShape, check_points
from limpet.linalg import symbolic
from limpet.linalg.threads import ALONE, Threads

# Least compliance of a shared pressure in the matrix, of that of shear. At nu = 0.5 there is none,
# and a pressure might meet a zero pivot; less than this costs digits (1e-8: forces balance to 1e-8
# only). As the unknowns are changes of pressure, what is solved in the end is not touched: where
# the pressure changes by mu in a step, the volume is off by 1e-6 there, and by nothing at rest.
LEAST_COMPLIANCE = 1e-6


@dataclass(frozen=True)
class Loads:
    """What the deformed cells do to their nodes, and excess volumes."""

    force: Array  # (n, 3) [N]
    excess: Array  # (pressures,) [m^3] phi - C p, scaled as its row of the matrix


class Discretisation:
    """Cells, numbering, pattern and masses of a soft body."""

    threads: Threads = ALONE  # that share the work of a step

    def __init__(
        self, name: str, shape: SoftShape, material: Material, fem: Fem, mass: float, driven: Array
    ) -> None:
        points = _check(name, shape)
        n = len(points)
        elements = choose(
            name, shape.cells, material.poisson, fem.element or shape.element,
            rubber=material.law in RUBBER_LAWS,
        )  # fmt: skip
        mixed = any(e.shared_pressure for e in elements.values())
        if material.law in RUBBER_LAWS and mixed:
            raise LimpetError(
                f"material law = '{material.law}' of '{name}': pressures shared between cells are "
                "for the corotational law; use element tet10, hex8 or hex20"
            )
        if fem.deviatoric == "explicit" and any(e.pressure is None for e in elements.values()):
            raise LimpetError(
                f"deviatoric = 'explicit' of '{name}': expected a mixed element (iicr10, iicr11, "
                "iicr21, hex8, hex20p), whose volume stays implicit"
            )
        self.material, self.fem = material, fem
        self.mu, self.lam = lame(material.young, material.poisson)
        self.bulk = self.lam + 2.0 / 3.0 * self.mu
        self.rotation = NONE if material.law == "linear" else ROTATIONS[fem.rotation]

        # numbering: nodes 0 to n-1 and pressures from n up, as given; then in elimination order
        corners = np.unique(
            np.concatenate(
                [c[:, :4].ravel() for k, c in shape.cells.items() if elements[k].shared_pressure]
                or [np.zeros(0, np.int32)]
            )
        )
        pressure_of = np.full(n, -1, np.int32)
        pressure_of[corners] = n + np.arange(len(corners))
        joint = [
            np.hstack([c, pressure_of[c[:, :4]]]) if elements[k].shared_pressure else c
            for k, c in shape.cells.items()
        ]
        total = n + len(corners)
        is_driven = np.zeros(total, bool)
        is_driven[driven] = True
        if is_driven[:n].all():
            raise LimpetError(
                f"'{name}': all nodes are driven or attached; make it a rigid body instead"
            )
        order = _elimination(joint, is_driven, _late(shape))
        number = np.empty(total, np.int32)
        number[order] = np.arange(total, dtype=np.int32)
        self.order = order[order < n]  # order[new] = node of the shape
        self.node_unknown = np.flatnonzero(order < n).astype(np.int32)
        self.pressure_unknown = np.flatnonzero(order >= n).astype(np.int32)
        # the same for arrays by unknown; without pressures all of it, which needs no gathering
        self.nodes_at = self.node_unknown if len(corners) else slice(None)
        self.n_free = n - int(is_driven.sum())  # nodes
        self.free_unknowns = self.n_free + len(corners)
        new = np.empty(n, np.int32)
        new[self.order] = np.arange(n, dtype=np.int32)
        self.new = new  # new[node of the shape]
        self.rest = np.ascontiguousarray(points[self.order])
        self.blocks = [
            cell_block(elements[kind], self.rest, new[cells], _stiffness(name, shape, kind, mixed))
            for kind, cells in shape.cells.items()
        ]

        unknowns = [number[c] for c in joint]
        self.pattern = symbolic.block_pattern(total, *_pairs(unknowns))
        slots = [_cell_slots(self.pattern, c) for c in unknowns]
        place = np.full(total, -1, np.int32)
        place[self.pressure_unknown] = np.arange(len(corners))
        self.pressure_cells = [
            np.ascontiguousarray(place[u[:, b.cells.shape[1] :]])
            for u, b in zip(unknowns, self.blocks)
        ]
        least = max(0.0, LEAST_COMPLIANCE / self.mu - 1.0 / self.bulk)
        self._compliance = [
            pressure_compliance(b, self.mu, self.bulk, fem.stabilisation) for b in self.blocks
        ]
        pivot = [c + least * b.pressure_mass for c, b in zip(self._compliance, self.blocks)]
        kinds = map(CellPart, self.blocks, slots, self.pressure_cells, self._compliance, pivot)
        self._cells = divide(list(kinds), len(self.pattern.rows))
        is_pressure = np.zeros(total, bool)
        is_pressure[self.pressure_unknown] = True
        free = is_pressure[: self.free_unknowns]
        self.symbolic = symbolic.analyse(
            self.pattern, self.free_unknowns, np.where(free, 1, 3), free
        )
        # where the free unknowns stand in an (unknowns, 3) array
        wanted = np.ones((self.free_unknowns, 3), bool)
        wanted[free, 1:] = False
        self.entries = np.flatnonzero(wanted) if len(corners) else slice(None)

        column = np.repeat(np.arange(total, dtype=np.int32), np.diff(self.pattern.start))
        held = np.flatnonzero(self.pattern.rows >= self.free_unknowns)
        self.driven_blocks = (held, self.pattern.rows[held], column[held])
        self.all_blocks = (np.arange(len(column)), self.pattern.rows, column)
        self._values = np.empty((len(self.pattern.rows) + self._cells.extra, 3, 3))
        self.volume = sum(b.volume for b in self.blocks)
        self._set_mass(mass / self.volume)

    def _set_mass(self, density: float) -> None:
        """Node masses, and the mass matrix as blocks of the pattern."""
        n = len(self.rest)
        if self.fem.mass == "lumped":
            self.mass_matrix = None
            self.node_mass = np.zeros(n)
            for b in self.blocks:
                np.add.at(self.node_mass, b.cells, density * b.lumped)
            self._mass_slots, self._mass_values = (
                self.pattern.start[self.node_unknown], self.node_mass
            )  # fmt: skip
            return
        i, j = _pairs([b.cells for b in self.blocks])
        entries = density * np.concatenate([b.mass.ravel() for b in self.blocks])
        self.mass_matrix = sparse.csr_array(sparse.coo_array((entries, (i, j)), shape=(n, n)))
        self.node_mass = self.mass_matrix.sum(axis=1)  # its row sums, which carry the momentum
        lower = sparse.coo_array(sparse.tril(self.mass_matrix))
        rows, columns = self.node_unknown[lower.row], self.node_unknown[lower.col]
        self._mass_slots = symbolic.pattern_slots(self.pattern, rows, columns)
        self._mass_values = lower.data

    def mass_times(self, v: Array) -> Array:
        """M v, (n, 3)."""
        if self.mass_matrix is None:
            return self.node_mass[:, None] * v
        return self.mass_matrix @ v

    def loads(self, x: Array, p: Array, h: float) -> Loads:
        """The right-hand side of a step."""
        return self._add_cells(x, p, h, np.empty((0, 3, 3)))

    def assemble(
        self, x: Array, p: Array, h: float, theta: float = 1.0, exact: bool = False
    ) -> tuple[Array, Loads]:
        """A = (1/theta + h a) M + (h b + theta h^2) K.

        With h B and -C of the pressures (mixed.py), for backward Euler.

        exact: K may be indefinite where cells are compressed, if it `can_be_exact`. In blocks of
        the pattern (blocks, 3, 3): always the same array, written over.
        """
        values = self._values  # a fresh array of that size costs more than to clear this one
        values[:] = 0.0
        loads = self._add_cells(x, p, h, values, theta, exact)
        self._cells.add_shared(values)
        inertia = 1.0 / theta + h * self.material.mass_damping
        _add_mass(values, self._mass_slots, self._mass_values, inertia)
        return values[: len(self.pattern.rows)], loads

    @cached_property
    def can_be_exact(self) -> bool:
        """Whether the exact derivative of the forces is known, and K does not damp as well.

        Damping by an indefinite K would feed what buckles.
        """
        plain = not any(b.element.shared_pressure for b in self.blocks)
        corotational = self.material.law == "corotational" and self.rotation == POLAR
        implicit = self.fem.deviatoric == "implicit"
        return plain and corotational and implicit and self.material.stiffness_damping == 0.0

    def changed(self, u: Array, limit: float) -> bool:
        """Whether moving the nodes by u (n, 3) turns or stretches a cell by more than `limit`."""
        return any(changed(b, u, limit) for b in self.blocks)

    def _add_cells(
        self, x: Array, p: Array, h: float, values: Array, theta: float = 1.0, exact: bool = False
    ) -> Loads:
        parts = self._cells.parts
        force, excess = np.zeros((len(parts), *x.shape)), np.zeros((len(parts), len(p)))
        tasks = [
            partial(self._add_part, part, x, p, h, theta, exact, f, e, values)
            for part, f, e in zip(parts, force, excess)
        ]
        self.threads.run(tasks)
        # Damping works on the pressure too: C p = phi + (h + b) B v. Scaled by h/(h + b) the matrix
        # is symmetric again.
        scale = h / (h + self.material.stiffness_damping)
        return Loads(force.sum(axis=0), scale * excess.sum(axis=0))

    def _add_part(
        self, part: CellPart, x: Array, p: Array, h: float, theta: float, exact: bool,
        force: Array, excess: Array, values: Array,
    ) -> None:  # fmt: skip
        """Add what some cells do; no two parts write to the same block."""
        b, slots, m, mu, lam = part.block, part.slots, self.material, self.mu, self.lam
        implicit = self.fem.deviatoric == "implicit"
        factor = h * m.stiffness_damping + theta * h * h
        if b.element.shared_pressure:
            assemble_mixed(
                b, x, p, part.pressure_cells, slots, mu, part.compliance, part.pivot, force,
                excess, values, factor=factor, coupling=h,
                pivot_factor=h / (h + m.stiffness_damping), rotation=self.rotation,
                implicit=implicit,
            )  # fmt: skip
        elif m.law == "neo-hookean":
            neo_hookean.assemble(b, x, slots, mu, lam, force, values, factor=factor)
        elif m.constants is not None:
            mooney_rivlin.assemble(
                b, x, slots, m.constants, self.bulk, force, values, factor=factor
            )  # fmt: skip
        else:
            assemble(
                b, x, slots, mu, lam, force, values,
                factor=factor, rotation=self.rotation, implicit=implicit,
            )  # fmt: skip
        if exact:
            subtract_compression(b, x, slots, mu, lam, values, theta * h * h)

    def energy(self, x: Array, p: Array) -> float:
        """Elastic energy [J]. Shared pressures store p C p / 2, and the cells what shear does."""
        total = 0.0
        for b, own, c in zip(self.blocks, self.pressure_cells, self._compliance):
            if b.element.shared_pressure:
                bare = replace(
                    b, pressure_shape=b.pressure_shape[:, :0], pressure_root=b.pressure_root[:, :0]
                )
                total += energy(bare, x, self.mu, -2.0 / 3.0 * self.mu, rotation=self.rotation)
                total += 0.5 * float(np.einsum("mi,mij,mj->", p[own], c, p[own], optimize=True))
            elif self.material.law == "neo-hookean":
                total += neo_hookean.energy(b, x, self.mu, self.lam)
            elif self.material.constants is not None:
                total += mooney_rivlin.energy(b, x, self.material.constants, self.bulk)
            else:
                total += energy(b, x, self.mu, self.lam, rotation=self.rotation)
        return total

    def volume_of(self, x: Array) -> float:
        """[m^3] of the deformed cells."""
        return sum(deformed_volume(b, x) for b in self.blocks)


@njit(cache=True)
def _add_mass(values: Array, slots: Array, masses: Array, factor: float) -> None:
    for s in range(len(slots)):
        for d in range(3):
            values[slots[s], d, d] += factor * masses[s]


def _check(name: str, shape: SoftShape) -> Array:
    """The mesh's points, if its cells name each of them and no others."""
    points = check_points(shape.points, f"mesh of '{name}'")
    n = len(points)
    used = np.zeros(n, bool)
    for kind, cells in shape.cells.items():
        size = len(CELLS[kind].nodes) if kind in CELLS else cells.shape[-1]
        if cells.ndim != 2 or cells.shape[1] != size:
            raise MeshError(
                f"mesh of '{name}' has cells '{kind}' of shape {cells.shape}: expected (m, {size})"
            )
        if len(cells) and (cells.min() < 0 or cells.max() >= n):
            raise MeshError(
                f"mesh of '{name}' has cells that name nodes {int(cells.min())} to "
                f"{int(cells.max())}, there are {n} from 0 up"
            )
        used[cells] = True
    if not used.all():
        raise MeshError(f"mesh of '{name}' has {int((~used).sum())} nodes in no cell: remove them")
    return points


def _stiffness(name: str, shape: SoftShape, kind: str, mixed: bool) -> Array | None:
    """(m,) of the cells of a kind, relative to the material."""
    given = shape.stiffness.get(kind)
    if given is None:
        return None
    factor = np.asarray(given, float)
    if factor.shape != (len(shape.cells[kind]),) or not np.all(factor > 0.0):
        raise MeshError(
            f"mesh of '{name}': stiffness of its cells '{kind}': expected {len(shape.cells[kind])} "
            "numbers above 0, one for each"
        )
    if mixed:
        raise LimpetError(
            f"element of '{name}': a pressure that cells share cannot change with their stiffness; "
            "use element tet10, hex8, hex20 or hex20p"
        )
    return factor


def _late(shape: SoftShape) -> Array:
    """Nodes to eliminate last: where contacts are expected.

    That makes the compliance cheaper and the factor dearer: 0.7 ms less a step for a cup of tet4,
    0.9 ms more for one of hex20.
    """
    none = np.zeros(0, np.int32)
    return shape.regions.get("rim", none) if set(shape.cells) == {"tet4"} else none


def _pairs(cells: list[Array]) -> tuple[Array, Array]:
    """All pairs (i, j) that share a cell."""
    i = np.concatenate([np.repeat(c, c.shape[1], axis=1).ravel() for c in cells])
    j = np.concatenate([np.tile(c, (1, c.shape[1])).ravel() for c in cells])
    return i, j


def _elimination(cells: list[Array], driven: Array, late: Array) -> Array:
    """Free unknowns in a fill-reducing order, `late` ones at its end, then the driven ones."""
    free = np.flatnonzero(~driven)
    local = np.full(len(driven), -1, np.int32)
    local[free] = np.arange(len(free), dtype=np.int32)
    i, j = _pairs(cells)
    both = (local[i] >= 0) & (local[j] >= 0)
    last = local[late][local[late] >= 0]
    order = symbolic.elimination_order(len(free), local[i][both], local[j][both], last)
    return np.concatenate([free[order], np.flatnonzero(driven)]).astype(np.int32)


def _cell_slots(pattern: symbolic.BlockPattern, cells: Array) -> Array:
    i, j = np.broadcast_arrays(cells[:, :, None], cells[:, None, :])
    slots = symbolic.pattern_slots(pattern, i.ravel(), j.ravel()).reshape(i.shape)
    return np.ascontiguousarray(np.where(i >= j, slots, -1 - slots).astype(np.int32))
