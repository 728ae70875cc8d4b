"""F figure 3: tractions of the three models, and work on a loop."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.studies.reproduce.fig3_f import (
    BLADE,
    K,
    Model,
    closed_form,
    loop,
    net_work,
    outline,
    run,
)

UPRIGHT = np.array([0.3, -0.2, 0.0])


def test_an_upright_keel_displaces_its_weight() -> None:
    """Two triangles of depth 0.2 and width 0.2/s: Archimedes, and the springs of either area."""
    for slope in (0.5, 1.0):
        volume = 0.2 * 0.2 / slope
        for model, factor in zip(Model, (1.0, np.hypot(1.0, slope), 1.0)):
            force = closed_form(outline(slope), UPRIGHT, model)
            assert force == pytest.approx([0.0, factor * K * volume, 0.0], abs=1e-9 * K)


def test_the_work_of_springs_on_points_of_the_keel_is_zero_on_a_loop() -> None:
    """Each is anchored at its point, so they have an energy: the bed of springs has none."""
    poses, rates = loop(0.8)
    work = {
        model: net_work(np.array([closed_form(BLADE, p, model) for p in poses]), rates)
        for model in Model
    }
    assert work[Model.HYDROSTATICS] < 1e-9 and work[Model.SURFACE] < 1e-9
    assert work[Model.LAYER] == pytest.approx(0.125, abs=0.001)


def test_the_loop_is_closed_and_its_steps_are_its_derivatives() -> None:
    poses, rates = loop(0.4, 4000)
    after = np.roll(poses, -1, axis=0)
    middle = 0.5 * (rates + np.roll(rates, -1, axis=0))
    np.testing.assert_allclose(after - poses, middle, atol=1e-8)


def test_what_f_says_of_it_holds(tmp_path) -> None:
    result = run(lambda *_: None)
    assert result.ok
    for name, draw in result.figures.items():
        draw(tmp_path / name)
        assert (tmp_path / name).stat().st_size > 10_000
