"""Numbers with units: read, refused with one clear line, shown so that they read back."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from limpet.errors import LimpetError
from limpet.units import DIMENSIONS, Length, Positive, Pressure, explain, quantity, show


@pytest.mark.parametrize(
    ("text", "si", "value"),
    [
        ("4 mm", "m", 0.004),
        ("4mm", "m", 0.004),
        ("  1e-3 m ", "m", 0.001),
        ("2 in", "m", 0.0508),
        ("5 µm", "m", 5e-6),
        (".5 cm", "m", 0.005),
        ("0.25", "m", 0.25),
        (3, "m", 3.0),
        ("20 g", "kg", 0.020),
        ("10 ms", "s", 0.010),
        ("-20 kPa", "Pa", -20e3),
        ("4 MPa", "Pa", 4e6),
        ("1.5 bar", "Pa", 1.5e5),
        ("3 mbar", "Pa", 300.0),
        ("7 mN", "N", 0.007),
        ("180 deg", "rad", math.pi),
        ("40 mm/s", "m/s", 0.040),
        ("6 mol/min", "mol/s", 0.1),
        ("1.1 g/cm³", "kg/m^3", 1100.0),
        ("20 degC", "K", 293.15),
        ("20 °C", "K", 293.15),
    ],
)
def test_reads(text, si, value):
    assert quantity(text, si) == pytest.approx(value, rel=1e-14)


@pytest.mark.parametrize(
    "text", ["4 kg", "mm", "", "four mm", "4 m m", "nan m", "inf", "4 MM", "1e999 m"]
)
def test_refuses_texts_that_are_no_length(text):
    with pytest.raises(LimpetError) as caught:
        quantity(text, "m", field="height")
    line = str(caught.value)
    assert line.startswith(f"height = {text!r}: expected a length (m, mm, cm, um, in)")
    assert "\n" not in line


@pytest.mark.parametrize("value", [float("nan"), float("inf"), True, None, [1.0]])
def test_refuses_values_that_are_no_finite_number(value):
    with pytest.raises(LimpetError, match="expected a length"):
        quantity(value, "m")


@pytest.mark.parametrize(
    ("value", "si", "text"),
    [
        (1.2e-5, "m", "0.012 mm"),
        (0.035, "m", "35 mm"),
        (0.99999, "m", "1 m"),
        (0.0, "m", "0 m"),
        (101325.0, "Pa", "101.3 kPa"),
        (-20e3, "Pa", "-20 kPa"),
        (4e6, "Pa", "4 MPa"),
        (58.84, "N", "58.84 N"),
        (0.01, "s", "10 ms"),
        (math.pi / 2, "rad", "90 deg"),
        (1.5e-5, "mol", "15 umol"),
    ],
)
def test_shows(value, si, text):
    assert show(value, si) == text


@given(st.sampled_from(sorted(DIMENSIONS)), st.floats(1e-9, 1e9), st.booleans())
def test_what_is_shown_reads_back(si, size, negative):
    value = -size if negative else size
    assert quantity(show(value, si, digits=12), si) == pytest.approx(value, rel=1e-10)


class Cup(BaseModel):
    height: Positive[Length] = 0.015
    young: Pressure = 4e6
    wall: Length | None = None


def explained(**given_values):
    with pytest.raises(ValidationError) as caught:
        Cup.model_validate(given_values)
    return str(explain(caught.value, given_values, Cup.model_fields))


def test_fields_take_texts_and_numbers():
    cup = Cup.model_validate({"height": "12 mm", "young": 2e6, "wall": "1 mm"})
    assert (cup.height, cup.young, cup.wall) == (0.012, 2e6, 0.001)


def test_a_wrong_field_is_one_line_with_key_value_and_expectation():
    assert explained(height="4 kg") == "height = '4 kg': expected a length (m, mm, cm, um, in)"
    assert explained(height="-4 mm") == "height = '-4 mm': expected a number greater than 0"
    assert explained(young=[1]).startswith("young = [1]: expected a pressure (Pa, kPa,")


def test_two_wrong_fields_stay_one_line():
    line = explained(height="x", young="y")
    assert line.count("expected") == 2
    assert "\n" not in line
