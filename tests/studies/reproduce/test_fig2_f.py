"""F figure 2: Laplace's equation against a round ring, and the study's statements."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.studies.reproduce.fig2_f import CORE, box_corners, press, prism, run, solve


def test_the_extent_of_a_round_ring_is_logarithmic() -> None:
    """log(R/r) / log(R/core), better by four at each halving of the cells."""
    worst = []
    for n in (24, 48, 96):
        plane = solve(np.full(n, 1.0), CORE, n // 6)
        radius = np.linalg.norm(plane.points, axis=1)
        worst.append(np.abs(plane.extent - np.log(1.0 / radius) / np.log(1.0 / CORE)).max())
    assert worst[-1] < 1e-3
    assert worst[1] < 0.3 * worst[0] + 1e-12 and worst[2] < 0.3 * worst[1] + 1e-12


def test_a_box_outside_feels_nothing_and_one_on_the_axis_is_pushed_along_it() -> None:
    field = prism(solve(np.full(60, 0.8)))
    force, surface = press(field, np.array([1.5, 0.0]))
    assert len(surface) == 0 and not force.any()
    at = np.array([0.0, 0.8]) @ np.array([[np.cos(0.5), np.sin(0.5)], [-np.sin(0.5), np.cos(0.5)]])
    force, surface = press(field, at)  # a side of the box is square to the line to the centre
    assert len(surface)
    assert force / np.linalg.norm(force) == pytest.approx(at / np.linalg.norm(at), abs=1e-2)
    assert np.linalg.norm(box_corners(at).mean(axis=0)) == pytest.approx(0.8)


def test_what_f_says_of_it_holds(tmp_path) -> None:
    result = run(lambda *_: None)
    assert result.ok
    for name, draw in result.figures.items():
        draw(tmp_path / name)
        assert (tmp_path / name).stat().st_size > 10_000
