"""The same small-strain problems assembled by scikit-fem.

Cells are distorted, and scikit-fem is given our integration points where those are not exact: on a
straight tetrahedron they are, and so are those of hex8 on a parallelepiped; Irons' 14 points of
hex20 are not (exact to degree 5, of a product of degree 6). It has no 15-node wedge.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import spsolve

from limpet.fem.elements import ELEMENTS

from .kit import Patch
from .meshes import corners_of, mesh, midsides

fem = pytest.importorskip("skfem")
from skfem.helpers import ddot, div, eye, sym_grad, trace  # noqa: E402

NAMES = [name for name in ELEMENTS if not name.startswith("wedge15")]
# iicr11 once more without its stabilisation, as in M
CASES = [(name, 0.499 if ELEMENTS[name].pressure else 0.3) for name in NAMES]
CASES += [("iicr11 of M", 0.499), ("tet10", 0.499), ("iicr21", 0.3)]
EXACT = ["tet4", "tet10", "hex8"]  # by scikit-fem's own rule, on parallel faces
DIVISIONS = (2, 1, 2)
YOUNG = 2.0
PULL = np.array([0.3, -0.2, 1.0])  # body force

TWINS = {
    "tet4": (fem.MeshTet, fem.ElementTetP1()),
    "tet10": (fem.MeshTet, fem.ElementTetP2()),
    "hex8": (fem.MeshHex, fem.ElementHex1()),
    "hex20": (fem.MeshHex, fem.ElementHexS2()),
    "wedge6": (fem.MeshWedge1, fem.ElementWedge1()),
}


def sheared(x):
    return x @ np.array([[1.0, 0.2, 0.1], [0.0, 0.9, -0.1], [0.1, 0.0, 1.2]]).T


def shaken(x):
    """Sheared, and every corner moved."""
    rng = np.random.default_rng(1)
    return sheared(x + 0.06 * rng.uniform(-1, 1, size=x.shape))


class Twin:
    """scikit-fem's mesh and bases for the cells of a patch."""

    def __init__(self, patch, own_rule, stabilisation):
        self.patch = patch
        self.stabilisation = stabilisation if patch.element.name == "iicr11" else 0.0
        element, cells = patch.element, patch.cells
        make, form = TWINS[element.cell.name]
        corners = corners_of(element.cell)
        self.low = element.cell.nodes[:corners].min(axis=0)
        self.span = np.ptp(element.cell.nodes[:corners], axis=0)
        ours = (element.cell.nodes[:corners] - self.low) / self.span
        order = [int(np.argmin(np.abs(ours - p).sum(axis=1))) for p in form.refdom.p.T]
        count = int(cells[:, :corners].max()) + 1  # corners come first
        self.mesh = make(patch.rest[:count].T, cells[:, order].T.astype(np.int64))
        self.rule = {"quadrature": self.quadrature(element.points, element.weights)}
        if own_rule:
            self.rule = {"intorder": 4}
        self.basis = fem.Basis(self.mesh, fem.ElementVector(form), **self.rule)
        self.dof = np.empty((len(patch.rest), 3), int)  # scikit-fem's number of each unknown
        self.dof[:count] = self.basis.nodal_dofs.T
        between = midsides(element.cell)
        if len(between):
            ends = np.sort(cells[:, between].reshape(-1, 2), axis=1)
            node = {tuple(pair): n for pair, n in zip(ends.tolist(), cells[:, corners:].ravel())}
            edges = np.sort(self.mesh.edges.T, axis=1).tolist()
            self.dof[[node[tuple(pair)] for pair in edges]] = self.basis.edge_dofs.T
        self.value = self._values()

    def quadrature(self, points, weights):
        """A rule of ours on scikit-fem's reference cell."""
        return ((points - self.low) / self.span).T, weights / self.span.prod()

    def _values(self):
        """Matrix (3 n, 3 n) from our coefficients to values at the nodes."""
        cells, shape = self.patch.cells, self.patch.element.shape(self.patch.element.cell.nodes)
        n, k = len(self.patch.rest), cells.shape[1]
        matrix = sparse.lil_array((n, n))
        for cell in cells:
            for a in range(k):
                matrix[cell[a], cell] = shape[a]
        return sparse.kron(matrix, np.eye(3)).tocsr()

    def ours(self, matrix):
        """A matrix over scikit-fem's unknowns, over our coefficients."""
        at = self.dof.ravel()
        return self.value.T @ matrix.tocsr()[at][:, at] @ self.value

    def rows(self, matrix):
        """The same where only the columns are displacements."""
        return matrix.tocsr()[:, self.dof.ravel()] @ self.value

    def stiffness(self, mu, lam):
        @fem.BilinearForm
        def elastic(u, v, _):
            strain = sym_grad(u)
            return ddot(2.0 * mu * strain + lam * eye(trace(strain), 3), sym_grad(v))

        return self.ours(elastic.assemble(self.basis))

    def own_pressures(self, bulk):
        """K B^T C^-1 B of pressures inside each cell, cell by cell."""
        shape = self.patch.block.pressure_shape
        if "quadrature" not in self.rule:  # constant
            shape = np.ones((1, 1))
        total = 0.0
        for e in range(len(self.patch.cells)):
            one = fem.Basis(self.mesh, self.basis.elem, elements=[e], **self.rule)
            rows = [fem.LinearForm(lambda v, _, n=n: n * div(v)).assemble(one) for n in shape.T]
            c = [
                [fem.Functional(lambda w, n=n * m: n + 0.0 * w.x[0]).assemble(one) for n in shape.T]
                for m in shape.T
            ]
            b = self.rows(sparse.csr_array(np.stack(rows)))
            total = total + bulk * b.T @ sparse.csr_array(np.linalg.inv(c)) @ b
        return total

    def saddle_point(self, mu, bulk):
        """[[K, B^T], [B, -C]] with pressures at the corners."""
        pressure = self.basis.with_element(fem.ElementTetP1())
        volume = fem.BilinearForm(lambda u, q, _: div(u) * q).assemble(self.basis, pressure)
        product = fem.BilinearForm(lambda p, q, _: p * q)
        fine = fem.Basis(self.mesh, fem.ElementTetP1(), intorder=2)
        coarse = fine.with_element(fem.ElementTetP0())
        mass = product.assemble(fine)
        # Dohrmann and Bochev: what is left after the projection on constants in each cell
        mean = product.assemble(fine, coarse)
        inverse = sparse.diags_array(1.0 / product.assemble(coarse).diagonal())
        c = mass / bulk + self.stabilisation / mu * (mass - mean.T @ inverse @ mean)
        at = pressure.nodal_dofs[0][self.patch.corners]
        b, c = self.rows(volume)[at], c.tocsr()[at][:, at]
        k = self.stiffness(mu, -2.0 / 3.0 * mu)
        return sparse.block_array([[k, b.T], [b, -c]], format="csr")

    def matrix(self):
        """All of the patch's small-strain matrix."""
        p = self.patch
        if p.element.shared_pressure:
            return self.saddle_point(p.mu, p.bulk)
        if p.element.pressure is None:
            return self.stiffness(p.mu, p.lam)
        return self.stiffness(p.mu, -2.0 / 3.0 * p.mu) + self.own_pressures(p.bulk)

    def load(self):
        """Of a body force, on our coefficients; integrated as our masses are."""
        element = self.patch.element
        rule = self.quadrature(element.mass_points, element.mass_weights)
        basis = fem.Basis(self.mesh, self.basis.elem, quadrature=rule)
        form = fem.LinearForm(lambda v, _: sum(f * v[i] for i, f in enumerate(PULL)))
        return self.value.T @ form.assemble(basis)[self.dof.ravel()]


def pair(name, poisson, own_rule=False, stabilisation=1.0):
    element = ELEMENTS[name]
    points, cells = mesh(element, DIVISIONS, sheared if own_rule else shaken)
    patch = Patch(element, points, cells, "none", YOUNG, poisson, stabilisation)
    return patch, Twin(patch, own_rule, stabilisation)


def largest_difference(one, other):
    """Relative to the largest; 0 of nothing."""
    return np.abs(one - other).max(initial=0.0) / np.abs(other).max(initial=1e-300)


def compare_matrix(patch, twin):
    """Both applied to a random vector."""
    ours, theirs = patch.answer(patch.rest).matrix, twin.matrix()
    v = np.random.default_rng(2).normal(size=ours.shape[1])
    return theirs, largest_difference(ours @ v, theirs @ v)


@pytest.mark.parametrize("name", EXACT)
def test_same_matrix_by_its_own_rule(name):
    assert compare_matrix(*pair(name, 0.3, own_rule=True))[1] < 1e-11


@pytest.mark.parametrize(("name", "poisson"), CASES)
def test_same_matrix_and_same_displacements_and_pressures_of_a_clamped_body(name, poisson):
    patch, twin = pair(name.split()[0], poisson, stabilisation=0.0 if "of M" in name else 1.0)
    matrix, difference = compare_matrix(patch, twin)
    assert difference < 1e-11
    free = mesh(patch.element, DIVISIONS)[0][:, 2] > 1e-9
    load = np.zeros_like(patch.rest)
    np.add.at(load, patch.cells, patch.block.mass.sum(axis=2)[..., None] * PULL)
    their_load = twin.load()
    assert largest_difference(load.ravel(), their_load) < 1e-12
    x, p = patch.solve(patch.rest, free, load)
    at = np.flatnonzero(np.concatenate([np.repeat(free, 3), np.ones(len(p), bool)]))
    right = np.concatenate([their_load, np.zeros(len(p))])
    y = np.zeros(len(right))
    y[at] = spsolve(matrix.tocsr()[at][:, at].tocsc(), right[at])
    assert np.ptp(y[: x.size]) > 0.01  # it bends
    assert largest_difference((x - patch.rest).ravel(), y[: x.size]) < 1e-10
    assert largest_difference(p, y[x.size :]) < 1e-9
