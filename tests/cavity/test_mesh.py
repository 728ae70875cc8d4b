"""The cavity mesh rides on the bodies: volume, gradient, bridges."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.cavity.find.union_search import detect
from limpet.cavity.mesh import (
    areas,
    centre,
    contains,
    needs_remesh,
    positions,
    volume,
    volume_and_gradient,
)
from limpet.cavity.seal.boundary import SealBoundary


@pytest.fixture(params=[SealBoundary.OUTER, SealBoundary.INNER, SealBoundary.MIDDLE, 0.3])
def case(kit, request):
    scene = kit.scene(kit.cup(), kit.block(6))
    (mesh,) = detect(scene.surface, scene.x, scene.contacts(), 1e-4, request.param).cavities
    return kit, scene, mesh


def test_the_gradient_is_the_slope_of_the_volume(case):
    kit, scene, mesh = case
    rng = np.random.default_rng(1)
    x = scene.x + rng.normal(scale=2e-4, size=scene.x.shape)  # soft bodies, deformed
    g = kit.gradient(mesh, x)
    for _ in range(10):
        d = rng.normal(size=x.shape)
        d /= np.linalg.norm(d)
        e = 1e-5
        slope = (volume(mesh, x + e * d) - volume(mesh, x - e * d)) / (2 * e)
        assert slope == pytest.approx((g * d).sum(), rel=1e-6, abs=1e-10)


def test_a_rigid_motion_of_all_bodies_changes_no_volume(case):
    kit, scene, mesh = case
    rng = np.random.default_rng(2)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    turn *= np.linalg.det(turn)
    x = scene.x @ turn.T + [0.3, 0.2, -0.1]
    assert volume(mesh, x) == pytest.approx(volume(mesh, scene.x), rel=1e-11)
    g = kit.gradient(mesh, x)
    assert np.allclose(g.sum(axis=0), 0.0, atol=1e-16)
    assert np.allclose(np.cross(x, g).sum(axis=0), 0.0, atol=1e-15)


def test_lifting_the_cup_adds_area_times_height(case):
    kit, scene, mesh = case
    area = kit.gradient(mesh, scene.x)[scene.part(0)].sum(axis=0)[2]
    x = scene.moved(0, (0, 0, 2e-4))
    assert volume(mesh, x) == pytest.approx(volume(mesh, scene.x) + 2e-4 * area, rel=1e-12)
    assert area >= kit.polygon(0.015) * (1 - 1e-12)
    whole, bridging = areas(mesh, x)
    assert bridging > 0.9 * 2e-4 * 2 * np.pi * 0.015
    assert whole > bridging


def test_sliding_opens_the_bridge_and_asks_for_a_new_mesh(case):
    _, scene, mesh = case
    assert not needs_remesh(mesh, scene.x)
    assert not needs_remesh(mesh, scene.moved(0, (1e-5, 0, 0)))
    assert needs_remesh(mesh, scene.moved(0, (3e-3, 0, 0)))
    assert needs_remesh(mesh, scene.moved(0, (0, 0, 1e-3)), limit=0.01)


def test_the_support_carries_each_vertex_with_weights_that_add_up(case):
    _, scene, mesh = case
    assert np.allclose(mesh.weights.sum(axis=1), 1.0, atol=1e-14)
    assert (mesh.weights >= 0.0).all()
    assert np.array_equal(mesh.support[mesh.slot], mesh.vertices)
    assert np.array_equal(mesh.support, np.unique(mesh.vertices))
    assert (scene.surface.body[mesh.vertices] == mesh.body[:, None]).all()
    plain = np.einsum("vi,vik->vk", mesh.weights, scene.x[mesh.vertices])
    assert np.allclose(positions(mesh, scene.x), plain, atol=1e-16)


def test_the_dense_sum_agrees_with_plain_numpy(case):
    _, scene, mesh = case
    y = positions(mesh, scene.x)
    a, b, c = (y[mesh.triangles[:, k]] for k in range(3))
    six = mesh.share * np.einsum("ij,ij->i", a, np.cross(b, c))
    assert volume_and_gradient(mesh, scene.x)[0] == pytest.approx(six.sum() / 6, rel=1e-10)


def test_inside_and_outside(case):
    _, scene, mesh = case
    assert contains(mesh, scene.x, np.array([0.0, 0.0, 0.004]))
    assert contains(mesh, scene.x, centre(mesh, scene.x))
    assert not contains(mesh, scene.x, np.array([0.0, 0.0, 0.009]))
    assert not contains(mesh, scene.x, np.array([0.0, 0.0, -0.001]))
