"""The smallest gap along an edge, however narrow what comes near it is."""

from __future__ import annotations

import numpy as np
import pytest

from limpet import shapes
from limpet.contact.collider import Collider, collider
from limpet.contact.gap_samples import least_gaps
from limpet.geometry.shape import RigidShape
from limpet.geometry.surface import surface_topology

REACH, FINE = 5e-4, 1e-6  # [m]


def ready(shape: RigidShape, x: np.ndarray) -> Collider:
    return collider(surface_topology(shape.triangles, len(x)), x)


@pytest.mark.parametrize("place", [-6e-3, -1.3e-3, 0.0, 2.9e-3, 6.4e-3])
@pytest.mark.parametrize("width", [2e-5, 1e-3])
def test_a_blade_under_an_edge(place: float, width: float) -> None:
    beam, blade = shapes.box(14e-3, 2e-3, 2e-3), shapes.box(width, 20e-3, 5e-3)
    gap = 3e-5
    x = beam.points + np.array([0.0, 0.0, 2e-3])  # its lower face at z = 0
    y = blade.points + np.array([place, 0.0, -gap])  # its upper face is at z = 0 to begin with
    one, two = ready(beam, x), ready(blade, y)
    along = np.flatnonzero(np.ptp(x[one.surface.edges], axis=1) @ [1.0, 1e9, 1e9] == 14e-3)
    below = along[x[one.surface.edges[along, 0], 2] < 1e-9]
    assert len(below) == 2
    found = least_gaps(x, one.shape, below, y, two.shape, REACH, FINE)
    np.testing.assert_allclose(found, gap, rtol=0, atol=2 * FINE)


def test_beyond_reach_there_is_no_gap() -> None:
    beam, blade = shapes.box(14e-3, 2e-3, 2e-3), shapes.box(1e-3, 20e-3, 5e-3)
    x, y = beam.points + np.array([0.0, 0.0, 2e-3]), blade.points - np.array([0.0, 0.0, 1e-3])
    one, two = ready(beam, x), ready(blade, y)
    found = least_gaps(x, one.shape, np.arange(6), y, two.shape, REACH, FINE)
    assert np.isinf(found).all()
