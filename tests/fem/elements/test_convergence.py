"""Under refinement every element comes nearer to a known field at the order of its polynomials.

Small strains; the field is a sum of plane waves, whose body force is known. Near nu = 0.5 its
compressive part shrinks with 1/K, such that pressures stay of the order of the shear stress.
"""

from __future__ import annotations

import numpy as np
import pytest

from limpet.fem.elements import ELEMENTS

from .kit import Patch
from .meshes import coefficients, is_quadratic, mesh, on_boundary

YOUNG = 1.0
WAVES = np.array([[1.4, 0.6, -0.8], [-0.5, 1.2, 1.1], [0.9, -1.3, 0.7]])  # k
ALONG = np.array([0.7, -0.5, 0.6])  # amplitude along k
ACROSS = np.cross(WAVES, [[1.0, 0.0, 0.5], [0.0, 1.0, -0.5], [0.3, 0.2, 1.0]])  # and across
PHASE = np.array([0.3, 1.1, -0.6])


class Field:
    """u = sum of A sin(k x + phase), with its body force and its pressure K div u."""

    def __init__(self, mu, lam):
        self.mu, self.lam, self.bulk = mu, lam, lam + 2.0 / 3.0 * mu
        self.amplitude = ACROSS + (mu / (mu + lam) * ALONG)[:, None] * WAVES
        self.stretch = np.einsum("wi,wi->w", self.amplitude, WAVES)

    def __call__(self, x):
        return np.sin(x @ WAVES.T + PHASE) @ self.amplitude

    def body_force(self, x):
        """-div sigma = -mu laplace u - (lambda + mu) grad div u."""
        square = np.einsum("wi,wi->w", WAVES, WAVES)
        each = self.mu * square[:, None] * self.amplitude
        each += (self.lam + self.mu) * self.stretch[:, None] * WAVES
        return np.sin(x @ WAVES.T + PHASE) @ each

    def pressure(self, x):
        return self.bulk * np.cos(x @ WAVES.T + PHASE) @ self.stretch


def bulge(x):
    """A smooth map of the cube: cells are distorted, and near-parallel as they become small."""
    s = np.sin(np.pi * x)
    return x + 0.06 * (s[:, [1]] * s[:, [2]] * [1, 0, 0] + s[:, [0]] * s[:, [2]] * [0, -1, 1])


def errors(name, divisions, poisson):
    """L2 errors of displacements and of shared pressures."""
    element = ELEMENTS[name]
    points, cells = mesh(element, (divisions,) * 3, bulge)
    patch = Patch(element, points, cells, "none", YOUNG, poisson)
    field = Field(patch.mu, patch.lam)
    shape, slope = element.shape(element.mass_points), element.gradient(element.mass_points)
    rest = points[cells]
    weights = element.mass_weights * np.linalg.det(np.einsum("mki,qkj->mqij", rest, slope))
    at = np.einsum("qk,mki->mqi", shape, rest)
    load = np.zeros_like(points)
    np.add.at(load, cells, np.einsum("mq,qk,mqi->mki", weights, shape, field.body_force(at)))
    unit = mesh(element, (divisions,) * 3)[0]
    outer = on_boundary(unit)
    start = points + np.where(outer[:, None], coefficients(element, points, cells, field), 0.0)
    x, p = patch.solve(start, ~outer, load)
    u = np.einsum("qk,mki->mqi", shape, (x - points)[cells])
    error = np.sqrt(np.sum(weights[..., None] * (u - field(at)) ** 2))
    if not len(p):
        return error, 0.0
    got = np.einsum(
        "qc,mc->mq", element.pressure.shape(element.mass_points), p[patch.pressure_cells]
    )
    return error, np.sqrt(np.sum(weights * (got - field.pressure(at)) ** 2))


NEARLY_INCOMPRESSIBLE = ("iicr11", "iicr21", "hex8", "hex20p")


def orders(name, poisson):
    """Orders of the errors of displacements and of shared pressures (None: there are none)."""
    coarse, fine = (3, 5) if is_quadratic(ELEMENTS[name]) else (4, 8)
    one, two = errors(name, coarse, poisson), errors(name, fine, poisson)
    return [np.log(a / b) / np.log(fine / coarse) if b else None for a, b in zip(one, two)]


@pytest.mark.parametrize("name", list(ELEMENTS))
def test_displacements_converge_at_their_order(name):
    order, _ = orders(name, 0.3)
    assert order > (2.8 if is_quadratic(ELEMENTS[name]) else 1.85)


@pytest.mark.parametrize("name", NEARLY_INCOMPRESSIBLE)
def test_mixed_elements_converge_nearly_incompressible(name):
    quadratic = is_quadratic(ELEMENTS[name])
    order, of_pressure = orders(name, 0.4999)
    assert order > (2.8 if quadratic else 1.85)
    if of_pressure is not None:
        assert of_pressure > (1.7 if quadratic else 1.0)
