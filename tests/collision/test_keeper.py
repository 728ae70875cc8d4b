"""A step is solved for the contacts that are about to touch; the answer is that of all of them."""

from __future__ import annotations

import numpy as np
import pytest

import limpet as lp
from limpet.collision.keeper import ContactKeeper
from limpet.scenes.registry import load


def run(every: bool) -> list[lp.StepReport]:
    changes = {"push_time": "0.2 s", "hold": "0.1 s", "h": "20 ms", "sectors": 10, "segments": 4}
    scene = load("lift", changes)
    return list(scene.simulation(every_contact=every).run(1.0))


def test_fewer_rows_and_the_same_motion() -> None:
    few, all_ = run(False), run(True)
    assert sum(r.rows for r in few) < sum(r.rows for r in all_)
    for one, other in zip(few, all_):
        np.testing.assert_allclose(one.drives["cup"], other.drives["cup"], atol=1e-7)
        assert one.touching == other.touching


def test_contacts_that_nobody_expected_join_within_the_step(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    expected = run(False)
    none = lambda self, contacts, v, h: np.zeros(len(contacts), bool)  # noqa: E731
    monkeypatch.setattr(ContactKeeper, "soon", none)
    for one, other in zip(run(False), expected):
        np.testing.assert_allclose(one.drives["cup"], other.drives["cup"], atol=1e-7)
