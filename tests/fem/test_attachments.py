"""Soft bodies on carriers: the compliance of rows is what impulses along them do."""

from __future__ import annotations

import numpy as np
import pytest

import limpet as lp
from limpet.dynamics.body import Body
from limpet.linalg.reduced_compliance import join
from limpet.linalg.rows import Rows

H = 0.01


def two_cups_on_a_weight() -> Body:
    world = lp.World()
    weight = world.add_rigid(lp.shapes.box(0.06, 0.03, 0.01), mass=0.3, position=(0, 0, 0.025))
    for name, x in (("left", -0.02), ("right", 0.02)):
        shape = lp.shapes.soft_box(0.01, 0.01, 0.015, (1, 1, 2), "hex20")
        soft = world.add_soft(
            shape,
            lp.Material(young=2e5, poisson=0.3),
            mass=0.002,
            name=name,
            position=(x, 0, 0.015),
        )
        world.attach(soft["top"], weight)
    sim = lp.Simulation(world, h=H)
    (body,) = sim.model.bodies
    body.compute_free_velocity(H, world.gravity, 0.0)
    return body


def random_rows(rng: np.random.Generator, points: np.ndarray, counts: list[int]) -> Rows:
    """Each over so many of the points."""
    chosen = [rng.choice(points, size=k, replace=False) for k in counts]
    start = np.cumsum([0, *counts]).astype(np.int32)
    return Rows(start, np.concatenate(chosen).astype(np.int32), rng.normal(size=(start[-1], 3)))


@pytest.mark.parametrize("counts", [[1] * 6, [3] * 8, [1, 4, 40, 60, 3, 50]])
def test_rows_over_a_body_and_its_carrier(counts: list[int]) -> None:
    """A cavity's row acts on the cup and, where that is one of its walls, on what carries it."""
    body = two_cups_on_a_weight()
    rows = random_rows(np.random.default_rng(len(counts)), np.arange(body.n_points), counts)
    w = join(list(body.compliance(rows)), len(rows), 1.0).dense()
    free = rows.times(body.apply_impulse(np.zeros((body.n_points, 3))))
    expected = np.empty_like(w)
    for k in range(len(rows)):
        impulse = rows.transpose_times(np.eye(len(rows))[k], body.n_points)
        expected[:, k] = rows.times(body.apply_impulse(impulse)) - free
    np.testing.assert_allclose(w, expected, rtol=0, atol=1e-9 * np.abs(expected).max())
