"""A step as a row: forces along the drive, several cavities, no NaN, exact to read back."""

import math
from dataclasses import replace

import numpy as np
import pytest

from limpet.errors import DivergedError
from limpet.record.history import (
    COLUMNS,
    column,
    csv_line,
    cup_columns,
    cups_of,
    flatten,
    unit_of_column,
    up_direction,
    vacuum_columns,
)  # fmt: skip
from limpet.report import VacuumSensorReport

from .kit import read_history

UP = np.array([0.0, 0.0, 1.0])


def test_up_is_against_gravity():
    assert up_direction((0, 0, -9.81)) == pytest.approx([0, 0, 1])
    assert up_direction((3.0, 0.0, 4.0)) == pytest.approx([-0.6, 0, -0.8])
    assert up_direction((0, 0, 0)) == pytest.approx([0, 0, 1])


def test_reaction_is_the_sum_of_the_prescribed_motions_along_up_without_cups(kit):
    drives = {"a": np.array([9.0, 0, 3.0, 1, 1, 1]), "b": np.array([0, 9.0, 4.0, 1, 1, 1])}
    assert flatten(kit.report(reactions=drives, cups={}), UP)["reaction"] == 7.0
    assert flatten(kit.report(reactions=drives, cups={}), -UP)["reaction"] == -7.0
    assert flatten(kit.report(reactions={}, cups={}), UP)["reaction"] == 0.0


def test_reaction_is_what_holds_the_cups_whatever_drives_the_arm(kit):
    drives = {"link": np.array([9.0, 0, 93.8, 1, 1, 1])}
    row = flatten(kit.report(force=3.0, pressure=50e3, volume=1e-7, reactions=drives), UP)
    assert (row["reaction"], row["cup_hold_force"], row["cup_cavity_pressure"]) == (3.0, 3.0, 50e3)
    assert list(row)[-2:] == cup_columns(["cup"])
    assert cups_of(row) == ["cup"]


def test_several_cavities_lowest_pressure_summed_air(kit):
    one = kit.report(pressure=50e3, volume=100e-9).cavities[0]
    two = kit.report(pressure=80e3, volume=300e-9).cavities[0]
    row = flatten(kit.report(cavities=(one, two)), UP)
    assert (row["cavities"], row["pressure"]) == (2, 50e3)
    assert row["volume"] == pytest.approx(400e-9)
    assert row["air"] == pytest.approx(one.air + two.air)


def test_the_place_is_that_of_the_seal_nearest_to_opening(kit):
    one, two = (kit.report(pressure=50e3, volume=1e-9).cavities[0] for _ in range(2))
    one = replace(one, seal_gap=2e-5, bottleneck=(1.0, 2.0, 3.0))
    two = replace(two, seal_gap=1e-5, bottleneck=(4.0, 5.0, 6.0))
    bare = replace(two, seal_gap=-math.inf, bottleneck=(math.nan,) * 3)
    row = flatten(kit.report(cavities=(two, one, bare)), UP)
    assert [row[k] for k in ("seal_gap", "seal_x", "seal_y", "seal_z")] == [2e-5, 1.0, 2.0, 3.0]
    row = flatten(kit.report(cavities=(bare,)), UP)
    assert [row[k] for k in ("seal_gap", "seal_x", "seal_y", "seal_z")] == [None] * 4


def test_without_a_cavity_cells_are_empty(kit):
    row = flatten(kit.report(), UP)
    assert row["pressure"] is row["volume"] is row["air"] is row["seal_gap"] is None
    cells = csv_line(row).strip().split(",")
    assert len(cells) == len(COLUMNS) + len(cup_columns(["cup"]))
    assert cells[COLUMNS.index("pressure")] == ""


@pytest.mark.parametrize("bad", [math.nan, math.inf])
@pytest.mark.parametrize("name", ["residual", "momentum_residual", "max_penetration"])
def test_a_number_that_is_not_finite_is_divergence(kit, name, bad):
    with pytest.raises(DivergedError, match=f"{name} became {bad} at step 3"):
        flatten(kit.report(3, **{name: bad}), UP)


def test_a_nan_in_a_cavity_or_a_drive_is_divergence(kit):
    with pytest.raises(DivergedError, match="pressure became nan"):
        flatten(kit.report(pressure=math.nan, volume=1e-9), UP)
    with pytest.raises(DivergedError, match="reaction became nan"):
        flatten(kit.report(force=math.nan), UP)


def test_what_is_written_reads_back_exactly(kit, story, tmp_path):
    awkward = kit.report(
        11, force=np.float64(0.1) * 3, residual=np.float64(1 / 3), rows=np.int64(5)
    )
    rows = [flatten(report, UP) for report in [*story, awkward]]
    path = tmp_path / "history.csv"
    names = (*COLUMNS, *cup_columns(["cup"]))
    path.write_text(",".join(names) + "\n" + "".join(map(csv_line, rows)))
    assert read_history(path) == rows
    assert np.isnan(column(rows, "pressure")[0])
    assert column(rows, "pressure")[1] == 101e3


def test_the_sensors_of_vacuum_lines_have_columns(kit):
    line = VacuumSensorReport(vacuum=6e3, flow=None, sealed=True, present=True)
    row = flatten(kit.report(vacuum_sensors={"left cup": line}), UP)
    names = vacuum_columns(["left cup"])
    assert list(row)[-6:-2] == names
    assert [row[name] for name in names] == [6e3, None, 1, 1]
    assert [unit_of_column(name) for name in names] == ["Pa", "m^3/s", "yes", "yes"]
    assert [unit_of_column(name) for name in ("top_z", "cup_volume")] == ["m", ""]
