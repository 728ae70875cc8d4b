"""A cup lifts a mug out of a foam box: air, points and pressure fields in one world."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.geometry.rotation import rotation_matrix
from limpet.scenes.mug_lift import LINING, RADIUS

from .runs import GRAVITY, run

DEPTH, FOAM, MU, SQUEEZE = 0.05, 4e5, 0.3, 3e-4
MUG, CUP = 0.3, 0.02  # [kg]


@pytest.fixture(scope="module")
def lifted():
    return run("mug-lift", h="20 ms", sectors=8, segments=5, speed="60 mm/s", duration="2.2 s")


def rub(height: np.ndarray) -> np.ndarray:
    """(n,) [N] that friction holds a mug back with which has been raised by `height` [m].

    Each wall presses on the edge between two facets: the pressure over the overlap of the edge, in
    a foam whose pressure rises evenly to its middle.
    """
    (x, y, _) = rotation_matrix(np.array([0.0, 0.0, 1.0]), 2.0 * np.pi / 48) @ [0.0, RADIUS, 0.0]
    section = SQUEEZE**2 * abs(x) / (RADIUS - y)  # [m^2] of the triangle that is in the foam
    force = FOAM / (0.5 * LINING) * section * np.clip(DEPTH - height, 0.0, None)
    return 2.0 * MU * force


def test_every_step_is_solved_with_both_kinds_of_contact(lifted) -> None:
    assert all(r.converged for r in lifted.reports)
    assert max(r.air_error for r in lifted.reports) <= 1e-9
    assert max(r.momentum_residual for r in lifted.reports) <= 1e-6
    both = [r for r in lifted.reports if r.patches and r.active_contacts and r.cavities]
    assert len(both) > 40


def test_the_walls_rub_by_what_is_between_them(lifted) -> None:
    height = lifted.probes("mug_z") - lifted.probes("mug_z")[0]
    sliding = (height > 5e-3) & (height < 0.04) & (lifted.time < 1.5)
    assert sliding.sum() > 20
    held = np.array([r.patches[0].force[2] for r in np.array(lifted.reports)[sliding]])
    np.testing.assert_allclose(-held, rub(height[sliding]), atol=0.02 * rub(np.zeros(1))[0])
    pull = lifted.force[sliding]
    np.testing.assert_allclose(pull, (MUG + CUP) * GRAVITY - held, rtol=0.05)


def test_it_hangs_free_in_the_end_and_only_the_cup_held_air(lifted) -> None:
    last = lifted.reports[-1]
    assert not last.patches
    assert lifted.probes("mug_z")[-1] - lifted.probes("mug_z")[0] > DEPTH + 5e-3
    assert lifted.force[-10:] == pytest.approx((MUG + CUP) * GRAVITY, rel=0.02)
    assert max(len(r.cavities) for r in lifted.reports) == 1
    (cavity,) = last.cavities
    assert cavity.pressure < 97e3
