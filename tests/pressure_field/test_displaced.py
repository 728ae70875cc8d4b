"""The forces of fields that deform against their energy, and against the surface's traction."""

from __future__ import annotations

import numpy as np
import pytest

import limpet as lp
from limpet.pressure_field.displaced import ConvexCells, convex_cells, displaced, placed
from limpet.pressure_field.fields import PressureField, pressure_field
from limpet.pressure_field.patch_terms import patch_terms
from limpet.pressure_field.soft_field import FieldLayer, soft_field
from limpet.pressure_field.surface import contact_surface

from .energy import energy
from .kit import HERE, pose

MODULUS = 1e5


def slab(element: str, seed: int = 0) -> PressureField:
    """The field of a soft box, every node of it out of place."""
    shape = lp.shapes.soft_box(0.06, 0.05, 0.03, (3, 2, 2), element=element)
    field = soft_field(shape, FieldLayer(MODULUS), "slab")
    rng = np.random.default_rng(seed)
    nodes = shape.points[field.nodes] + 4e-4 * rng.normal(size=(len(field.nodes), 3))
    return pressure_field((field.binding @ nodes, field.tets, field.pressure / MODULUS), MODULUS)


OTHERS = {
    "rigid floor": (lp.fields.floor().field, pose((np.pi, 0.0, 0.0), (0.0, 0.0, -0.003))),
    "rigid box": (
        lp.fields.rigid(lp.shapes.box(0.02, 0.03, 0.02)).field,
        pose((0.3, 0.2, 0.1), (0.004, 0.003, 0.0135)),
    ),
    "ball": (
        lp.fields.sphere(0.02, 5e4, edge=0.01).field, pose((0.1, 0.7, 0.2), (0.004, 0.0, 0.014))
    ),
}  # fmt: skip


def both(a: PressureField, x: np.ndarray, other, at, modulus=None):
    """Forces on the vertices of a at x, and the energy of both fields."""
    modulus = modulus or min(MODULUS, getattr(other, "modulus", np.inf))
    force, total = displaced(x, a.tets, a.pressure, modulus, placed(convex_cells(other), at))
    if isinstance(other, PressureField):
        moved = pressure_field((x, a.tets, a.pressure / MODULUS), MODULUS)
        world = other.points @ at[0].T + at[1]
        mine = displaced(world, other.tets, other.pressure, modulus, convex_cells(moved))[1]
        return force, float(total.sum() + mine.sum())
    return force, float(total.sum())


@pytest.mark.parametrize("element", ["tet4", "hex8", "tet10", "hex20"])
@pytest.mark.parametrize("name", OTHERS)
def test_forces_are_less_the_gradient_of_the_energy(name, element):
    a, (other, at) = slab(element), OTHERS[name]
    force, total = both(a, a.points, other, at)
    assert total > 0.0
    rng = np.random.default_rng(1)
    way = rng.normal(size=a.points.shape)
    eps = 1e-7
    ends = [both(a, a.points + s * eps * way, other, at)[1] for s in (1.0, -1.0)]
    slope = (ends[1] - ends[0]) / (2.0 * eps)
    assert np.sum(force * way) == pytest.approx(slope, rel=3e-6)


@pytest.mark.parametrize("name", OTHERS)
def test_the_energy_is_that_of_rigid_bodies(name):
    """Against the integral over faces, which knows no locking: that fades with the modulus."""
    a, (other, at) = slab("tet4"), OTHERS[name]
    plain = energy(a, HERE, other, at)
    assert both(a, a.points, other, at, 1e11)[1] == pytest.approx(plain, rel=1e-6)


@pytest.mark.parametrize("name", OTHERS)
def test_force_and_moment_are_those_of_the_surface(name):
    a, (other, at) = slab("hex8"), OTHERS[name]
    force, _ = both(a, a.points, other, at)
    s = contact_surface(a, HERE, other, at)
    modulus = min(MODULUS, getattr(other, "modulus", np.inf))
    wrench, *_ = patch_terms(
        s.area, s.centroid, s.pressure, s.gradient_a, s.gradient_b, s.start, s.corners,
        s.corner_pressure, np.zeros(3), modulus,
    )  # fmt: skip
    found = np.concatenate([force.sum(axis=0), np.cross(a.points, force).sum(axis=0)])
    scale = np.abs(wrench[:3]).max()
    np.testing.assert_allclose(found, wrench, atol=1e-9 * scale)


def test_one_tetrahedron_by_hand():
    """A rigid plane cuts off its base: the gradient times the volume between."""
    corners = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, -1]])
    tets, pressure = np.array([[0, 2, 1, 3]], np.int32), np.array([0.0, 0.0, 0.0, MODULUS])
    depth = 0.01
    plane = ConvexCells(
        np.array([[[0.0, 0.0, -1.0, depth]]]), np.full((1, 4), np.inf), np.ones(1),
        np.array([[-np.inf] * 3 + [np.inf] * 3]),
    )  # fmt: skip
    force, _ = displaced(corners, tets, pressure, MODULUS, plane)
    volume = (1.0 - (1.0 - depth) ** 3) / 6.0
    np.testing.assert_allclose(force.sum(axis=0), [0.0, 0.0, -MODULUS * volume], rtol=1e-4)
