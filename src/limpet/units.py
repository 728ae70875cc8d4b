"""Numbers with units: read ``"4 mm"`` as 0.004, show 1.2e-5 m as ``"0.012 mm"``; SI inside.

The annotated types (Length, Mass, ...) let a pydantic model accept a plain SI number or a string
with a unit. `explain` turns a validation error of pydantic into a single line.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, Field, GetCoreSchemaHandler, ValidationError
from pydantic_core import CoreSchema, core_schema

from limpet.errors import LimpetError, suggest


@dataclass(frozen=True)
class Dimension:
    """A physical dimension: its name, its units, and the units used for display."""

    name: str
    units: dict[str, float]  # unit -> factor to the SI unit
    shown: tuple[str, ...]  # largest first; a value is shown in the first that makes it >= 1
    zero: dict[str, float] | None = None  # unit -> SI value of its zero point, if not 0


DARCY = 9.869233e-13  # [m^2]

DIMENSIONS: dict[str, Dimension] = {
    "m": Dimension(
        "a length", {"m": 1, "mm": 1e-3, "cm": 1e-2, "um": 1e-6, "in": 0.0254}, ("m", "mm")
    ),
    "m^2": Dimension(
        "an area or a permeability",
        {"m^2": 1, "cm^2": 1e-4, "mm^2": 1e-6, "D": DARCY, "mD": 1e-3 * DARCY},
        ("m^2", "mm^2"),
    ),
    "m^3": Dimension(
        "a volume", {"m^3": 1, "cm^3": 1e-6, "mm^3": 1e-9, "l": 1e-3, "ml": 1e-6}, ("m^3", "mm^3")
    ),
    "kg": Dimension("a mass", {"kg": 1, "g": 1e-3}, ("kg", "g")),
    "s": Dimension("a time", {"s": 1, "ms": 1e-3}, ("s", "ms")),
    "Pa": Dimension(
        "a pressure",
        {"Pa": 1, "kPa": 1e3, "MPa": 1e6, "GPa": 1e9, "bar": 1e5, "mbar": 1e2},
        ("GPa", "MPa", "kPa", "Pa"),
    ),
    "N": Dimension("a force", {"N": 1, "mN": 1e-3}, ("N", "mN")),
    "rad": Dimension("an angle", {"rad": 1, "deg": math.pi / 180}, ("deg",)),
    "m/s": Dimension("a speed", {"m/s": 1, "mm/s": 1e-3}, ("m/s", "mm/s")),
    "m^3/s": Dimension(
        "a volume flow",
        {"m^3/s": 1, "l/s": 1e-3, "l/min": 1e-3 / 60, "ml/s": 1e-6, "m^3/h": 1 / 3600},
        ("l/min",),
    ),
    "m/s^2": Dimension("an acceleration", {"m/s^2": 1}, ("m/s^2",)),
    "m/s^3": Dimension("a jerk", {"m/s^3": 1}, ("m/s^3",)),
    "mol": Dimension("an amount", {"mol": 1, "mmol": 1e-3, "umol": 1e-6}, ("mol", "mmol", "umol")),
    "mol/s": Dimension(
        "an amount rate", {"mol/s": 1, "umol/s": 1e-6, "mol/min": 1 / 60}, ("mol/s", "umol/s")
    ),
    "kg/m^3": Dimension("a density", {"kg/m^3": 1, "g/cm^3": 1e3}, ("kg/m^3",)),
    "K": Dimension("a temperature", {"K": 1, "degC": 1}, ("K",), zero={"degC": 273.15}),
}

LARGEST = 1e30  # of any number that is given, in SI units
LONGEST = 100  # characters of a quantity
_NUMBER = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(\S*)\s*", re.ASCII)
_SPELLINGS = str.maketrans({"µ": "u", "μ": "u", "³": "^3", "²": "^2", "°": "deg"})


def quantity(value: object, si: str, field: str = "value") -> float:
    """`value` in the unit `si`: from a string such as ``"4 mm"``, or from a plain SI number."""
    try:
        return _read(value, si)
    except ValueError as problem:
        raise LimpetError(f"{field} = {_shown(value)}: {problem}") from None


def within(field: str, value: object, si: str, low: float, high: float) -> float:
    """A quantity from `low` to `high` (SI): what lies beyond has mostly lost its unit."""
    number = quantity(value, si, field)
    if not low <= number <= high:
        raise LimpetError(
            f"{field} = {_shown(value)}: expected {show(low, si)} to {show(high, si)}; plain "
            f"numbers are in {si}, strings may have units ({', '.join(DIMENSIONS[si].units)})"
        )
    return number


def show(value: float, si: str, digits: int = 4) -> str:
    """`value` (SI) as a string with a convenient unit; `quantity` reads it back."""
    dimension = DIMENSIONS[si]
    sizes = {unit: dimension.units[unit] for unit in dimension.shown}
    if not value:
        return f"0 {si}"
    fallback = dimension.shown[-1]
    # Half a unit in the last digit: 999.96 mm rounds to 1 m, not to "1000 mm".
    rounded = abs(value) * (1 + 0.5 * 10.0**-digits)
    unit = next((unit for unit, size in sizes.items() if rounded >= size), fallback)
    return f"{value / sizes[unit]:.{digits}g} {unit}"


def _read(value: object, si: str) -> float:
    """The number in SI units; a ValueError states only what was expected."""
    dimension = DIMENSIONS[si]
    expected = f"expected {dimension.name} ({', '.join(dimension.units)})"
    if isinstance(value, str):
        match = _NUMBER.fullmatch(value) if len(value) <= LONGEST else None
        if match is None:
            raise ValueError(expected)
        number, unit = float(match[1]), match[2].translate(_SPELLINGS) or si
        if unit not in dimension.units:
            raise ValueError(expected)
        zero = (dimension.zero or {}).get(unit, 0.0)
        result = number * dimension.units[unit] + zero
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        result = bounded(value)
    else:
        raise ValueError(expected)
    if not abs(result) <= LARGEST:
        raise ValueError(f"{expected} with a finite value up to {LARGEST:g}")
    return result


def bounded(value: float) -> float:
    """A number as a float; infinite if it is too large for one, as an int may be."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def check_numbers(values: object, key: str = "") -> None:
    """Raise LimpetError where a number in tables and lists is beyond LARGEST."""
    if isinstance(values, BaseModel | Mapping):
        for name, value in values.items() if isinstance(values, Mapping) else values:
            check_numbers(value, f"{key}.{name}" if key else str(name))
    elif isinstance(values, list | tuple):
        for value in values:
            check_numbers(value, key)
    elif isinstance(values, int | float) and not abs(bounded(values)) <= LARGEST:
        raise LimpetError(f"{key} = {bounded(values):g}: expected a number up to {LARGEST:g}")


@dataclass(frozen=True)
class Quantity:
    """Marks a pydantic field as a quantity in the SI unit `si`."""

    si: str

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_before_validator_function(
            lambda value: _read(value, self.si), handler(source)
        )


T = TypeVar("T")
Positive = Annotated[T, Field(gt=0)]  # young: Positive[Pressure] = 4e6
NotNegative = Annotated[T, Field(ge=0)]

Length = Annotated[float, Quantity("m")]
Volume = Annotated[float, Quantity("m^3")]
Mass = Annotated[float, Quantity("kg")]
Time = Annotated[float, Quantity("s")]
Pressure = Annotated[float, Quantity("Pa")]
Force = Annotated[float, Quantity("N")]
Angle = Annotated[float, Quantity("rad")]
Speed = Annotated[float, Quantity("m/s")]
VolumeRate = Annotated[float, Quantity("m^3/s")]
Acceleration = Annotated[float, Quantity("m/s^2")]
Jerk = Annotated[float, Quantity("m/s^3")]
Amount = Annotated[float, Quantity("mol")]
AmountRate = Annotated[float, Quantity("mol/s")]
Density = Annotated[float, Quantity("kg/m^3")]
Temperature = Annotated[float, Quantity("K")]


def explain(
    error: ValidationError, given: Mapping[str, object] | None = None, known: Iterable[str] = ()
) -> LimpetError:
    """One message for all wrong fields: the key, the value as `given`, and what was expected."""
    lines = [_explain_one(dict(problem), given or {}, known) for problem in error.errors()]
    return LimpetError("; ".join(dict.fromkeys(lines)))


def _explain_one(problem: dict, given: Mapping[str, object], known: Iterable[str]) -> str:
    path = [str(part) for part in problem["loc"]]
    key = ".".join(path)
    if problem["type"] == "extra_forbidden":
        return f"{key}: unknown parameter{suggest(key, known)}"
    if problem["type"] == "missing":
        return f"{key}: expected a value, but none was given"
    expected = str(problem["msg"]).removeprefix("Value error, ")
    expected = expected.replace("Input should be a valid", "expected a valid")
    expected = re.sub(
        r"^Input should be (greater|less) than", r"expected a number \1 than", expected
    )
    expected = expected.replace("Input should be", "expected")
    if not path:
        return expected
    value = given.get(path[0], problem["input"]) if len(path) == 1 else problem["input"]
    return f"{key} = {_shown(value)}: {expected}"


def _shown(value: object) -> str:
    """A value as it was given; of a number of thousands of digits Python makes no text."""
    try:
        return repr(value)
    except (ValueError, RecursionError):
        return "a number or list that is too long"
