"""Table 3 in small: what the table says of given pulls, and a push that stops short."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from limpet.studies.reproduce import table3
from limpet.studies.reproduce.table3 import MEASURED, CylinderPull, Trial


def made_up(peak: dict[float, float]):
    """Pulls with the given peaks [N] by radius [mm]."""

    def pull(trial: Trial) -> CylinderPull:
        top = peak[round(1e3 * trial.radius, 1)]
        force = np.array([-5.0, 0.5 * top, top, 0.1])
        return CylinderPull(trial, np.arange(4.0), force, 5.0, 2e-5, 3e-8, 8e3, 0, 4)

    return pull


def quiet(done: float, total: float, text: str) -> None:
    pass


def test_measured_forces_are_on_the_mark() -> None:
    dry = {radius: values[1] for radius, values in MEASURED.items()}
    result = table3.run(quiet, made_up(dry))
    assert result.ok
    for row in result.tables[0].as_dict()["rows"]:
        assert row["from dry [%]"] == pytest.approx(0.0, abs=1e-9)
        assert row["from wet [%]"] < 0.0


def test_a_force_too_far_off_at_any_radius_fails_the_claim() -> None:
    dry = {radius: values[1] for radius, values in MEASURED.items()}
    assert not table3.run(quiet, made_up({**dry, 20.0: 26.0})).ok
    assert not table3.run(quiet, made_up({**dry, 20.0: 0.2})).ok  # never sealed
    assert not table3.run(quiet, made_up({**dry, 25.0: 27.0})).ok  # so does one that is predicted
    assert table3.run(quiet, made_up({**dry, 25.0: 26.0})).ok


def test_a_force_that_follows_the_mesh_fails_the_claim() -> None:
    dry = {radius: values[1] for radius, values in MEASURED.items()}
    even = made_up(dry)

    def pull(trial: Trial) -> CylinderPull:
        p = even(trial)
        finer = trial.radius == 25e-3 and trial.sectors == table3.FINE.sectors
        return replace(p, force=1.04 * p.force) if finer else p

    assert not table3.run(quiet, pull).ok
    assert table3.run(quiet, even).ok


def test_the_tube_is_a_cylinder_within_a_quarter_of_the_sealing_distance() -> None:
    for radius in MEASURED:
        trial = Trial(radius=1e-3 * radius)
        tube = table3.tube_of(trial)
        top = np.hypot(tube.points[:, 0], tube.points[:, 2] + trial.radius)
        x = np.unique(tube.points[np.abs(top - trial.radius) < 1e-12, 0])
        x = x[np.abs(x) < trial.cup.radius]
        assert len(x) > 10
        half = 0.5 * np.diff(np.arcsin(x / trial.radius))
        sagitta = trial.radius * (1.0 - np.cos(half))
        assert 0.0 < sagitta.max() <= 0.25 * trial.sealing_distance


def test_a_push_that_stops_short_never_seals_on_20_mm() -> None:
    trial = replace(table3.COARSE, radius=20e-3, beyond=-3e-3, speed=20e-3)
    pull = table3.pull_off(trial)
    assert pull.peak is None
    assert pull.push > 0.5  # [N] it was pressed on
    assert pull.unsolved == 0
