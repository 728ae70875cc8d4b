"""Commands of the page: small JSON objects, validated before they reach the simulation."""

from __future__ import annotations

import json
import math
from typing import Any

PLAIN_COMMANDS = {"ack", "play", "pause", "reset"}  # without arguments
MAX_LENGTH = 200  # characters of a name or value
MAX_PARAMETERS = 200
MAX_NUMBER = 1e15


class MalformedError(Exception):
    """A message that Limpet's page does not send."""


def read_command(text: str) -> dict[str, Any]:
    """The command in a message, reduced to the arguments of that command."""
    try:
        given = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise MalformedError("expected JSON") from None
    if not isinstance(given, dict) or not isinstance(given.get("do"), str):
        raise MalformedError("expected an object with 'do'")
    name = given["do"]
    if name in PLAIN_COMMANDS:
        return {"do": name}
    if name == "step":
        return {"do": name, "count": _whole(given.get("count", 1))}
    if name == "speed":
        return {"do": name, "value": _number(given.get("value"), 0.0)}
    if name == "colour":
        return {"do": name, "name": _name(given.get("name"))}
    if name == "live":
        return {"do": name, "name": _name(given.get("name")), "value": _number(given.get("value"))}
    if name == "pull":
        force = given.get("force")
        if not isinstance(force, list) or len(force) != 3:
            raise MalformedError("expected a force of three numbers")
        return {
            "do": name,
            "body": _name(given.get("body")),
            "vertex": _whole(given.get("vertex")),
            "force": [_number(f) for f in force],
        }
    if name == "parameters":
        return {"do": name, "values": _values(given.get("values"))}
    raise MalformedError("expected a known command")


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def _number(value: object, least: float = -math.inf) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise MalformedError("expected a number")
    if not max(least, -MAX_NUMBER) <= value <= MAX_NUMBER:
        raise MalformedError(f"expected a number up to {MAX_NUMBER:g}")
    return float(value)


def _plain_number(value: object) -> float | int:
    """As `_number`, but a whole number stays one."""
    number = _number(value)
    return value if isinstance(value, int) else number


def _whole(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**31:
        raise MalformedError("expected a whole number")
    return value


def _name(value: object) -> str:
    if not isinstance(value, str) or len(value) > MAX_LENGTH:
        raise MalformedError("expected a name")
    return value


def _values(values: object) -> dict[str, object]:
    if not isinstance(values, dict) or len(values) > MAX_PARAMETERS:
        raise MalformedError("expected parameters")
    out: dict[str, object] = {}
    for key, value in values.items():
        if isinstance(value, str):
            out[_name(key)] = _name(value)
        else:
            out[_name(key)] = value if isinstance(value, bool) else _plain_number(value)
    return out
