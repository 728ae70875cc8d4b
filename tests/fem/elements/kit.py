"""What the tests of all elements share: laws, states, and the answers of a patch of cells."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import splu

from limpet.fem.elements import ELEMENTS, FAMILIES, corotational, mooney_rivlin, neo_hookean
from limpet.fem.elements.block import cell_block
from limpet.fem.elements.corotational import ROTATIONS, lame
from limpet.fem.elements.mixed import assemble_mixed, pressure_compliance
from limpet.fem.material import Material

from .meshes import SIZE

YOUNG, POISSON = 1e6, 0.4

# A law is a rotation of the corotational one (none: linear elasticity), or one of rubber.
RUBBER = ("neo-hookean", "mooney-rivlin")
LAWS = ("polar", "gram-schmidt", "none", *RUBBER)
# Those whose forces derive from an energy; those that do not see a rotation of the whole body.
WITH_ENERGY = ("polar", "none", *RUBBER)
OBJECTIVE = ("polar", "gram-schmidt", *RUBBER)
# c01, c20 and c30 of Mooney's and Rivlin's law over the shear modulus: it softens, then stiffens
SHARES = (0.1, -0.01, 0.003)


def has_law(name, law):
    """Pressures shared between cells are for the corotational law."""
    return not (law in RUBBER and ELEMENTS[name].shared_pressure)


def with_laws(laws):
    """Run a test for every element under each of the laws that it knows."""
    cases = [(name, law) for name in ELEMENTS for law in laws if has_law(name, law)]
    return pytest.mark.parametrize(("name", "law"), cases, ids=["-".join(c) for c in cases])


def constants_of(mu):
    """c10, c01, c20 and c30 [Pa] of a shear modulus."""
    c01, c20, c30 = (mu * share for share in SHARES)
    return 0.5 * mu - c01, c01, c20, c30


def material_of(law, young, poisson, **more):
    """The material under one of LAWS."""
    names = {"polar": "corotational", "gram-schmidt": "corotational", "none": "linear"}
    if law == "mooney-rivlin":
        more |= dict(zip(("c01", "c20", "c30"), constants_of(lame(young, poisson)[0])[1:]))
    return Material(young, poisson, law=names.get(law, law), **more)


every_element = pytest.mark.parametrize("name", list(ELEMENTS))


def family_of(element):
    """What a user calls the element: wedges go by the name of their hexahedra."""
    return next(n for n, f in FAMILIES.items() if f.get(element.cell.name) is element)


@dataclass(frozen=True)
class Answer:
    """Forces and excess volumes of a state, and the matrix [[K, B^T], [B, -C]] of both."""

    force: np.ndarray  # (n, 3)
    excess: np.ndarray  # (pressures,)
    matrix: sparse.csc_array  # (3 n + pressures,) squared


class Patch:
    """Cells of one element under one law."""

    def __init__(
        self, element, rest, cells, law="polar", young=YOUNG, poisson=POISSON, stabilisation=1.0
    ):
        self.element, self.rest, self.cells, self.law = element, rest, cells, law
        self.block = cell_block(element, rest, cells)
        self.without_pressure = cell_block(replace(element, pressure=None), rest, cells)
        self.mu, self.lam = lame(young, poisson)
        self.bulk = self.lam + 2.0 / 3.0 * self.mu
        self.constants = constants_of(self.mu)
        corners = np.unique(cells[:, :4]) if element.shared_pressure else np.zeros(0, int)
        self.corners = corners  # nodes that carry a pressure
        number = np.full(len(rest), -1, np.int32)
        number[corners] = np.arange(len(corners), dtype=np.int32)
        self.pressure_cells = np.ascontiguousarray(number[cells[:, :4]])
        self.compliance = pressure_compliance(self.block, self.mu, self.bulk, stabilisation)

    @property
    def rotation(self):
        return ROTATIONS[self.law]

    def zero_pressure(self):
        return np.zeros(len(self.corners))

    def force(self, x, p=None):
        return self._assemble(x, p)[0]

    def _assemble(self, x, p=None, transposed=False, implicit=True):
        """(force, excess, values (m, k + c, k + c, 3, 3)); only a lower triangle of blocks."""
        b = self.block
        m, _, k, _ = b.gradients.shape
        size = k + (4 if self.element.shared_pressure else 0)
        slots = np.arange(m * size * size, dtype=np.int32).reshape(m, size, size)
        force, values = np.zeros((len(x), 3)), np.zeros((slots.size, 3, 3))
        p = self.zero_pressure() if p is None else p
        excess = np.zeros(len(p))
        given = -1 - slots if transposed else slots
        if self.element.shared_pressure:
            assemble_mixed(
                b, x, p, self.pressure_cells, given, self.mu, self.compliance, self.compliance,
                force, excess, values, rotation=self.rotation, implicit=implicit,
            )  # fmt: skip
        elif self.law == "neo-hookean":
            neo_hookean.assemble(b, x, given, self.mu, self.lam, force, values)
        elif self.law == "mooney-rivlin":
            mooney_rivlin.assemble(b, x, given, self.constants, self.bulk, force, values)
        else:
            corotational.assemble(
                b, x, given, self.mu, self.lam, force, values,
                rotation=self.rotation, implicit=implicit,
            )  # fmt: skip
        values = values[slots]
        return force, excess, values.swapaxes(-1, -2) if transposed else values

    def answer(self, x, p=None, **how):
        force, excess, values = self._assemble(x, p, **how)
        n, (m, k) = len(x), self.cells.shape
        c = values.shape[1] - k
        cell = np.zeros((m, 3 * k + c, 3 * k + c))
        lower = np.tril(np.ones((k + c, k + c)))
        by_node = values * lower[:, :, None, None]
        cell[:, : 3 * k, : 3 * k] = (
            by_node[:, :k, :k].transpose(0, 1, 3, 2, 4).reshape(m, 3 * k, 3 * k)
        )
        cell[:, 3 * k :, : 3 * k] = by_node[:, k:, :k, 0].reshape(m, c, 3 * k)
        cell[:, 3 * k :, 3 * k :] = by_node[:, k:, k:, 0, 0]
        block = np.concatenate([np.repeat(np.arange(k), 3), np.arange(k, k + c)])
        cell += np.swapaxes(cell, 1, 2) * (block[:, None] < block)
        unknown = np.hstack(
            [
                (3 * self.cells[:, :, None] + np.arange(3)).reshape(m, -1),
                3 * n + self.pressure_cells[:, :c],
            ]
        )
        i, j = np.broadcast_arrays(unknown[:, :, None], unknown[:, None, :])
        size = 3 * n + len(excess)
        matrix = sparse.coo_array((cell.ravel(), (i.ravel(), j.ravel())), shape=(size, size))
        return Answer(force, excess, matrix.tocsc())

    def stiffness(self, x, p=None, **how):
        """Dense K (3 n, 3 n) alone."""
        n = 3 * len(x)
        return self.answer(x, p, **how).matrix.toarray()[:n, :n]

    def pressures(self, x):
        """The shared pressures that answer x: C p = phi."""
        n = len(self.corners)
        c = np.zeros((n, n))
        if n:
            own = self.pressure_cells
            np.add.at(c, (own[:, :, None], own[:, None, :]), self.compliance)
        return np.linalg.solve(c, self._assemble(x)[1])

    def energy(self, x):
        """[J]; with shared pressures, of their answer to x."""
        if self.law == "neo-hookean":
            return neo_hookean.energy(self.block, x, self.mu, self.lam)
        if self.law == "mooney-rivlin":
            return mooney_rivlin.energy(self.block, x, self.constants, self.bulk)
        if not self.element.shared_pressure:
            return corotational.energy(self.block, x, self.mu, self.lam, rotation=self.rotation)
        shear = corotational.energy(
            self.without_pressure, x, self.mu, -2.0 / 3.0 * self.mu, rotation=self.rotation
        )
        return shear + 0.5 * self._assemble(x)[1] @ self.pressures(x)

    def solve(self, x, free, load=0.0, steps=1, p=None):
        """Newton steps from x with only the `free` nodes (n,) let go: (x, p)."""
        p = self.zero_pressure() if p is None else p
        wanted = np.concatenate([np.repeat(free, 3), np.ones(len(p), bool)])
        for _ in range(steps):
            answer = self.answer(x, p)
            right = np.concatenate([(answer.force + load).ravel(), -answer.excess])
            change = np.zeros(len(right))
            at = np.flatnonzero(wanted)
            change[at] = splu(answer.matrix[at][:, at].tocsc()).solve(right[at])
            x = x + change[: 3 * len(x)].reshape(-1, 3)
            p = p + change[3 * len(x) :]
        return x, p


def bent_cell(name, rng, law="polar", bend=0.05):
    """One cell, sheared and stretched, its nodes moved off their places."""
    element = ELEMENTS[name]
    nodes = element.cell.nodes
    shape = np.eye(3) + 0.2 * rng.uniform(-1, 1, size=(3, 3))
    rest = SIZE * (nodes + bend * rng.uniform(-1, 1, size=nodes.shape)) @ shape.T
    return Patch(element, rest, np.arange(len(rest), dtype=np.int32)[None], law)


def turn(rng):
    """A random rotation matrix."""
    q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return q * np.linalg.det(q)


def random_state(rng, patch, stretches, noise=1e-3):
    """Positions under principal `stretches` along random axes, a rotation, and a little noise."""
    a, b = turn(rng), turn(rng)
    if patch.law == "none":
        a = np.eye(3)
    f = a @ b @ np.diag(stretches) @ b.T
    return patch.rest @ f.T + noise * SIZE * rng.uniform(-1, 1, size=patch.rest.shape)


def difference(function, x, step):
    """Fourth-order central differences of function(x) by every coordinate, (..., 3 n)."""
    columns = []
    for i in np.ndindex(*x.shape):
        d = np.zeros_like(x)
        d[i] = step
        near, far = function(x + d) - function(x - d), function(x + 2 * d) - function(x - 2 * d)
        columns.append((8.0 * near - far) / (12.0 * step))
    return np.stack(columns, axis=-1)
