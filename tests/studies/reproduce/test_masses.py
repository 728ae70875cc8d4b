"""The study of masses in small: what counts as lifted."""

from __future__ import annotations

import pytest

from limpet.studies.reproduce.masses import CASES, LoadCase, lift

QUICK = {"push_time": "0.2 s", "hold": "0.05 s", "speed": "20 mm/s"}


def test_the_papers_cases() -> None:
    assert [(c.mass, c.cups, c.lifts) for c in CASES] == [
        (1.25, 1, True), (2.5, 1, True), (5.0, 1, False), (5.0, 2, True),
    ]  # fmt: skip


def test_a_cube_that_hangs_is_lifted() -> None:
    result = lift(LoadCase(0.5, 1, True), rise="5 mm", duration="0.7 s", **QUICK)
    assert result.lifted and result.converged
    assert result.force[-1] == pytest.approx(0.52 * 9.81, rel=0.01)


def test_a_cube_that_still_stands_is_not() -> None:
    result = lift(LoadCase(5.0, 1, False), duration="0.5 s", **QUICK)
    assert result.pressure is not None and not result.lifted
