"""Nodes on primitives between two solves, against what detection says of them."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.contact.contacts import VERTEX_FACE, Contacts
from limpet.contact.primitive_pairs import Kinematics
from limpet.contact.primitives import ball, block, half_space, round_bar, vertices_near
from limpet.geometry.rotation import rotation_matrix
from limpet.particles.point_pairs import CollisionSurfaces, contact_pairs
from limpet.particles.sliding import BodyPrimitives, slide

PRIMITIVES = [ball(0.3), half_space(0.05), round_bar(0.2, 0.3), block(0.4, 0.3, 0.2)]

SURFACES = CollisionSurfaces(
    np.zeros(2, np.int32), np.array([-1, 0], np.int32), np.zeros(2), np.zeros((2, 2))
)


def pairs_of(nodes, gap, normal, x, centre):
    """Nodes at x on the rigid body 0."""
    k, a = len(nodes), np.repeat(np.asarray(nodes, np.int32)[:, None], 3, axis=1)
    contacts = Contacts(
        np.zeros(k, np.int32), np.ones(k, np.int32), a, np.tile([1.0, 0.0, 0.0], (k, 1)),
        np.zeros((k, 3), np.int32), np.zeros((k, 3)), gap, normal,
        np.full(k, VERTEX_FACE, np.int8), np.arange(k),
    )  # fmt: skip
    start, still = np.array([0, len(x), len(x) + 1]), np.zeros((len(x) + 1, 3))
    centres = np.concatenate([np.zeros((1, 3)), centre])
    at = Kinematics(
        start, np.concatenate([x, centre]), still, centres, np.zeros((2, 3, 3)), np.zeros((2, 6))
    )
    return contact_pairs(contacts, SURFACES, at)[0]


@pytest.mark.parametrize("shape", PRIMITIVES)
def test_gap_normal_and_arm_are_those_of_where_the_node_is_now(shape):
    rng = np.random.default_rng(3)
    before, x = rng.normal(size=(2, 40, 3))
    centre, turn = rng.normal(size=(1, 3)), rotation_matrix(rng.normal(size=3), 0.7)[None]
    thickness = rng.uniform(0.0, 0.01, 40)
    still = np.zeros((40, 3)), shape, centre[0], turn[0], np.zeros(6), 0.0, np.inf, 0.0
    nodes, gap, normal, _ = vertices_near(before, *still)
    pairs = pairs_of(nodes, gap, normal, before, centre)
    p = rng.normal(size=(40, 3))
    world = np.einsum("ki,kij->kj", p, pairs.frame)

    slide(pairs, p, x, centre, turn, BodyPrimitives.of([shape], thickness))

    _, gap, normal, _ = vertices_near(x, *still)
    assert np.allclose(pairs.gap[:, 0], gap - thickness, rtol=0.0, atol=1e-14)
    assert np.allclose(pairs.frame[:, 0], normal, rtol=0.0, atol=1e-14)
    assert np.allclose(pairs.frame @ pairs.frame.transpose(0, 2, 1), np.eye(3), atol=1e-14)
    assert np.allclose(pairs.arm[:, 1], x - centre, rtol=0.0, atol=1e-14)
    assert np.allclose(np.einsum("ki,kij->kj", p, pairs.frame), world, rtol=0.0, atol=1e-14)


def test_what_is_no_node_on_a_primitive_is_left_alone():
    x = np.zeros((1, 3))
    pairs = pairs_of([0], np.array([0.1]), np.array([[0.0, 0.0, 1.0]]), x, x)
    p = np.ones((1, 3))
    slide(pairs, p, x + 1.0, x, np.eye(3)[None], BodyPrimitives.of([None], np.zeros(1)))
    assert pairs.gap[0, 0] == 0.1 and np.all(p == 1.0) and np.all(pairs.arm == 0.0)
