"""C's cloth and jellies, smaller: they come to rest as they should."""

from __future__ import annotations

import numpy as np

from limpet.particles.meshes import grid_edges
from limpet.scenes.cloth import cloth_system
from limpet.scenes.jellies import jelly_system


def test_a_cloth_comes_to_rest_draped_over_the_sphere():
    n, radius = 20, 0.25
    world = cloth_system(n, radius=radius)
    (sheet,) = world.soft
    edges = grid_edges(sheet.mesh, (n, n))
    for report in world.run(6.0):
        assert report.rows >= 2 * n * (n + 1)
        length = np.linalg.norm(sheet.x[edges[:, 1]] - sheet.x[edges[:, 0]], axis=1)
        assert np.abs(length * n - 1.0).max() < 0.15  # also as its corners whip round the sphere
    assert np.abs(length * n - 1.0).max() < 0.02
    out = np.linalg.norm(sheet.x, axis=1) - radius
    assert out.min() > -1e-3  # no node in the sphere
    assert (out < 3e-3).sum() > 40  # it lies on it
    assert sheet.x[:, 2].min() < -0.1  # and hangs over its sides
    assert np.sqrt(2.0 * sheet.kinetic_energy() / sheet.mass) < 0.01
    height = sheet.node_mass @ sheet.x[:, 2] / sheet.mass
    assert height < radius


def test_four_jellies_carry_the_bar():
    world = jelly_system(divisions=(4, 5))
    bar, dish = world.rigid[2], world.rigid[1]
    start = bar.centre[2]
    for _ in world.run(2.0):
        pass
    assert start - 0.024 < bar.centre[2] < start  # it has sunk in a little, and no more
    assert np.abs(bar.v).max() < 2e-3
    assert abs(dish.centre[2] - dish.rest_centre[2]) < 6e-4
    for body in world.soft:
        assert 0.1 < body.x[:, 2].max() < 0.123, body.name
        assert body.kinetic_energy() < 1e-6 * body.mass / 0.1, body.name
    # what they pass on to the dish is their weight and the bar's
    _, contacts = world.contacts
    on_dish = world._surfaces.rigid[contacts.surface_b] == 1
    force = world._impulses.contacts[on_dish, 0].sum() / world._last_h
    weight = 9.81 * (bar.mass + sum(b.mass for b in world.soft))
    assert abs(force - weight) < 0.02 * weight
