"""The exact stiffness: with what compression takes from it, the derivative of the forces."""

import numpy as np
import pytest

from limpet.fem.elements import ELEMENTS
from limpet.fem.elements.compression import subtract_compression

from .kit import bent_cell, difference, random_state
from .meshes import SIZE

STEP = 1e-4 * SIZE
OWN_PRESSURE = [name for name, e in ELEMENTS.items() if not e.shared_pressure]


def compression(patch, x):
    """(3 n, 3 n) what the kernel adds to the stiffness of one cell."""
    k = len(x)
    slots = np.arange(k * k, dtype=np.int32).reshape(1, k, k)
    values = np.zeros((k * k, 3, 3))
    subtract_compression(patch.block, x, slots, patch.mu, patch.lam, values, 1.0)
    blocks = values.reshape(k, k, 3, 3) * np.tril(np.ones((k, k)))[:, :, None, None]
    lower = blocks.transpose(0, 2, 1, 3).reshape(3 * k, 3 * k)
    below = (blocks * (1.0 - np.eye(k))[:, :, None, None]).transpose(0, 2, 1, 3)
    return lower + below.reshape(3 * k, 3 * k).T


@pytest.mark.parametrize("name", OWN_PRESSURE)
@pytest.mark.parametrize("stretch", [(0.6, 0.8, 0.9), (0.7, 1.1, 1.3), (1.1, 1.2, 1.3)])
def test_it_is_the_derivative_of_the_force_in_compression_too(name, stretch):
    rng = np.random.default_rng(3)
    patch = bent_cell(name, rng, "polar")
    x = random_state(rng, patch, list(stretch))
    exact = -difference(lambda y: patch.force(y, None).ravel(), x, STEP)
    k = patch.stiffness(x) + compression(patch, x)
    np.testing.assert_allclose(k, exact, rtol=0, atol=1e-8 * np.abs(exact).max())
