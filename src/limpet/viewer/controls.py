"""Controls of the page: the parameters of the scene, and those that can change during a run."""

from __future__ import annotations

from typing import Any, get_args

from pydantic import BaseModel

from limpet.engine.simulation import Simulation
from limpet.errors import LimpetError
from limpet.scenes.parameters import RunParameters
from limpet.scenes.registry import unit_of
from limpet.units import DIMENSIONS, show

# not on the page; use --set
HIDDEN = ("tilt", "shift", "seal_boundary", "sealing_distance", "reach", "roughness", "wavelength")
LEAK_SCALE = 2e-5  # [mol/s] end of the slider: fills a cup in about a second


def fields_of(parameters: RunParameters) -> list[dict[str, Any]]:
    """Each parameter with its value, a convenient unit and the range of its slider."""
    out = []
    for name, info in type(parameters).model_fields.items():
        value = getattr(parameters, name)
        if name in HIDDEN or isinstance(value, (tuple, list, dict, BaseModel)):
            continue
        entry: dict[str, Any] = {"name": name, "note": info.description or "", "value": value}
        si = unit_of(type(parameters), name)
        choices = [c for c in get_args(info.annotation) if isinstance(c, str)]
        if isinstance(value, bool):
            entry["kind"] = "switch"
        elif choices:
            entry |= {"kind": "choice", "choices": choices}
        elif isinstance(value, (int, float)):
            unit, size = _readable(value or _size(info.default), si)
            entry |= {
                "kind": "number", "unit": unit, "size": size, "whole": isinstance(value, int),
                "range": _range(value / size, _bounds(info.metadata), size),
            }  # fmt: skip
        else:
            entry |= {"kind": "text", "value": "" if value is None else value}
        out.append(entry)
    return out


def live_of(simulation: Simulation) -> list[dict[str, Any]]:
    """The parameters that can change during a run."""
    out = [
        {
            "name": "leak", "note": "air that leaks into the cavities", "unit": "umol/s",
            "size": 1e-6, "value": simulation.world.leak, "range": [0.0, LEAK_SCALE / 1e-6],
        }
    ]  # fmt: skip
    if simulation.vacuum is not None:
        out.append(
            {
                "name": "vacuum", "note": "vacuum of the lines, below the atmosphere",
                "unit": "kPa", "size": 1e3, "value": simulation.vacuum,
                "range": [0.1, simulation.world.atmosphere.pressure / 1e3],
            }
        )  # fmt: skip
    return out


def set_live(simulation: Simulation, name: str, value: float) -> None:
    if name == "leak":
        simulation.set_leak(value)
    elif name == "vacuum":
        simulation.set_vacuum(value)
    else:
        raise LimpetError(f"'{name}' cannot be changed during a run")


def _size(default: object) -> float:
    return float(default) if isinstance(default, (int, float)) else 0.0


def _readable(value: float, si: str) -> tuple[str, float]:
    """The unit in which `show` displays the value, and its factor to SI."""
    if not si:
        return "", 1.0
    unit = show(value, si).split(" ", 1)[1]
    return unit, DIMENSIONS[si].units[unit]


def _bounds(metadata: list[Any]) -> tuple[float, float]:
    """Lower and upper bound of the model, in SI."""
    low, high = -float("inf"), float("inf")
    for mark in metadata:
        for one in (mark, *getattr(mark, "metadata", ())):
            low = max(low, *(float(getattr(one, k)) for k in ("ge", "gt") if hasattr(one, k)), low)
            high = min(
                high, *(float(getattr(one, k)) for k in ("le", "lt") if hasattr(one, k)), high
            )
    return low, high


def _range(value: float, bounds: tuple[float, float], size: float) -> list[float]:
    """Range of the slider: a third to three times the value, within the bounds."""
    low, high = bounds[0] / size, bounds[1] / size
    if value == 0.0:
        return [max(low, -1.0 if low < 0.0 else 0.0), min(high, 1.0)]
    ends = sorted((value / 3.0, value * 3.0))
    return [max(ends[0], low), min(ends[1], high)]
