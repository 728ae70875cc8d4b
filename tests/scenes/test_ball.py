"""A ball bounces; our step takes energy from it in proportion to the time step."""

from __future__ import annotations

import numpy as np
import pytest

from .runs import GRAVITY, Run, run

DROP, RADIUS = 0.1, 0.03


def kept(bounced: Run) -> float:
    """The share of the height, which is that of the energy, after the first bounce."""
    touching = np.array([len(r.patches) > 0 for r in bounced.reports])
    first = int(touching.argmax())
    left = first + int((~touching[first:]).argmax())
    assert 0 < first < left
    assert all(r.converged for r in bounced.reports)
    return float((bounced.probes("ball_z")[left:].max() - RADIUS) / DROP)


def test_what_the_step_takes_falls_with_it() -> None:
    loss = [-np.log(kept(run("ball", h=h, duration="0.3 s"))) for h in ("1 ms", "0.5 ms")]
    assert 0.2 < loss[1] < 0.35
    assert loss[0] / loss[1] == pytest.approx(2.0, rel=0.06)


def test_dissipation_takes_more() -> None:
    told = {"h": "1 ms", "duration": "0.3 s"}
    shares = [kept(run("ball", dissipation=d, **told)) for d in ("0 s", "5 ms", "10 ms")]
    assert 1.0 > shares[0] > shares[1] + 0.05 > shares[2] + 0.1


def test_it_comes_to_rest_on_its_weight() -> None:
    rested = run("ball", h="2 ms", dissipation="0.05 s", duration="1 s")
    (patch,) = rested.reports[-1].patches
    assert patch.force[2] == pytest.approx(0.1 * GRAVITY, rel=1e-3)
    assert np.ptp(rested.probes("ball_z")[-20:]) < 1e-6
