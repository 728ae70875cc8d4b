"""What the page may say: small JSON objects, each checked before the simulation hears of it."""

from __future__ import annotations

import json
import math
from typing import Any

WORDS = {"ack", "play", "pause", "reset"}  # that need nothing more
SHORT = 200  # characters of a name or value
MOST = 200  # parameters


class MalformedError(Exception):
    """A message that no page of ours sends."""


def read_command(text: str) -> dict[str, Any]:
    """The command in a message, with nothing in it but what that command has."""
    try:
        given = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise MalformedError("expected JSON") from None
    if not isinstance(given, dict) or not isinstance(given.get("do"), str):
        raise MalformedError("expected an object with 'do'")
    what = given["do"]
    if what in WORDS:
        return {"do": what}
    if what == "step":
        return {"do": what, "count": _whole(given.get("count", 1))}
    if what == "speed":
        return {"do": what, "value": _number(given.get("value"), 0.0)}
    if what == "colour":
        return {"do": what, "name": _name(given.get("name"))}
    if what == "live":
        return {"do": what, "name": _name(given.get("name")), "value": _number(given.get("value"))}
    if what == "pull":
        force = given.get("force")
        if not isinstance(force, list) or len(force) != 3:
            raise MalformedError("expected a force of three numbers")
        return {
            "do": what,
            "body": _name(given.get("body")),
            "vertex": _whole(given.get("vertex")),
            "force": [_number(f) for f in force],
        }
    if what == "parameters":
        return {"do": what, "values": _values(given.get("values"))}
    raise MalformedError("expected a known command")


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def _number(value: object, least: float = -math.inf) -> float:
    right = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not right or not least <= float(value) or not abs(float(value)) < 1e300:  # type: ignore
        raise MalformedError("expected a number")
    return float(value)  # type: ignore[arg-type]


def _whole(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**31:
        raise MalformedError("expected a whole number")
    return value


def _name(value: object) -> str:
    if not isinstance(value, str) or len(value) > SHORT:
        raise MalformedError("expected a name")
    return value


def _values(values: object) -> dict[str, object]:
    if not isinstance(values, dict) or len(values) > MOST:
        raise MalformedError("expected parameters")
    out: dict[str, object] = {}
    for key, value in values.items():
        if not isinstance(value, (str, int, float, bool)) or len(str(value)) > SHORT:
            raise MalformedError("expected plain values")
        out[_name(key)] = value
    return out
