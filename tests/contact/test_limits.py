"""Contact is judged on the scale of the sealing distance, but never more loosely than it was."""

from __future__ import annotations

from dataclasses import astuple

import numpy as np
import pytest

from limpet.contact.limits import DEFAULT_LIMITS, ContactLimits


@pytest.mark.parametrize("scale", (1.0, 1e-1, 1e-3))
def test_small_cups_have_small_limits(scale: float) -> None:
    limits = ContactLimits.of(scale * 5e-5)
    np.testing.assert_allclose(astuple(limits), scale * np.array(astuple(DEFAULT_LIMITS)))


@pytest.mark.parametrize("sealing_distance", (1e-4, 5e-2))
def test_wide_seals_do_not_allow_deep_contacts(sealing_distance: float) -> None:
    assert ContactLimits.of(sealing_distance) == DEFAULT_LIMITS
