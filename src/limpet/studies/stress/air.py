"""Random air: lines, pumps, leaks and what surrounds a world."""

from __future__ import annotations

from dataclasses import replace

from limpet.studies.stress.objects import Random, log_uniform
from limpet.studies.stress.recipe import Call, Recipe


def with_air(rng: Random, recipe: Recipe, r: float) -> Recipe:
    """In about half of the worlds a line on the cup; leaks and other atmospheres in some."""
    duration = recipe.h * recipe.steps
    air: dict[str, object] = {}
    if rng.random() < 0.15:
        air["pressure"] = log_uniform(rng, 3e4, 3e5)
    if rng.random() < 0.15:
        air["overpressure"] = log_uniform(rng, 1e2, 2e4)
    room = r**3  # [m^3] of the order of a cup's volume
    cup = recipe.part("cup")
    choice = rng.random()
    around = float(air.get("pressure", 101325.0))  # type: ignore[arg-type]
    deepest = float(rng.uniform(0.02, 0.9)) * around
    if choice < 0.25:
        points = ((0.0, 0.0), (duration * float(rng.uniform(0.1, 0.8)), deepest))
        vacuum = deepest if rng.random() < 0.3 else points
        cup = replace(cup, line={"source": Call("Regulator", {"vacuum": vacuum})})
    elif choice < 0.5:
        flow = log_uniform(rng, 0.3, 30.0) * room / duration
        pump = Call("Pump", {"free_flow": flow, "end_vacuum": max(deepest, 1e3)})
        line = {"source": pump, **_elements(rng, room, duration, around)}
        cup = replace(cup, line=line)
    elif rng.random() < 0.3:
        air["exponent"] = float(rng.choice([1.2, 1.4]))
    if rng.random() < 0.15:
        amount = around * room / (8.314 * 293.0)  # [mol]
        given = {"conductance": log_uniform(rng, 1e-3, 1.0) * amount / (around * duration)}
        if rng.random() < 0.5:
            given["traction"] = log_uniform(rng, 1e3, 1e5)
        cup = replace(cup, exchange=Call("AirExchange", given))
    leak = 0.0
    if rng.random() < 0.15:
        leak = log_uniform(rng, 1e-3, 0.3) * around * room / (8.314 * 293.0 * duration)
    return replace(recipe.with_part(cup), atmosphere=Call("Atmosphere", air), leak=leak)


def _elements(rng: Random, room: float, duration: float, around: float) -> dict[str, Call]:
    found = {}
    if rng.random() < 0.5:
        given: dict[str, object] = {"volume": log_uniform(rng, 0.1, 10.0) * room}
        if rng.random() < 0.5:
            given["conductance"] = log_uniform(rng, 0.3, 30.0) * room / (2437.0 * duration)
        found["line"] = Call("Restriction", given)
    if rng.random() < 0.4:
        change = duration * float(rng.uniform(0.3, 0.9))
        state = str(rng.choice(["closed", "vent"]))
        found["valve"] = Call("Valve", {"schedule": ((0.0, "open"), (change, state))})
    return found
