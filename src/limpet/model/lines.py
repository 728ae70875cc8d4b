"""Vacuum lines and manifolds as a user gives them, checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from limpet.cavity.gas.atmosphere import Atmosphere
from limpet.cavity.gas.line_elements import Element, resists
from limpet.cavity.gas.vacuum_line import SOURCES, Regulator, Source, Valve
from limpet.errors import LimpetError, require_positive
from limpet.geometry.shape import Array
from limpet.model.specs import Connection, ManifoldSpec
from limpet.units import quantity


class Lines(Protocol):
    """What is known of the lines of a world."""

    atmosphere: Atmosphere
    connections: dict[str, Connection]
    manifolds: dict[str, ManifoldSpec]


def is_source(given: object) -> bool:
    """Whether a cup can be connected to it."""
    return isinstance(given, (*SOURCES, ManifoldSpec))


def manifold(
    world: Lines, name: str, source: Source, elements: tuple[Element, ...], valve: Valve | None,
    switch: float | str | None,
) -> ManifoldSpec:  # fmt: skip
    """A manifold with a source of its own."""
    label = f"add_manifold '{name}'"
    if not isinstance(source, SOURCES):
        raise LimpetError(f"{label}: expected a Regulator, a Pump or an Ejector")
    if _served(world, source):
        raise LimpetError(f"{label}: its source serves another line; make one for each")
    _check_air(label, source, elements, world.atmosphere)
    return ManifoldSpec(name, source, elements, valve or Valve(), _switch(switch, source))


def connection(
    world: Lines, body: str, source: Source | ManifoldSpec, elements: tuple[Element, ...],
    valve: Valve | None, port: Sequence[float] | Array | None, switch: float | str | None,
) -> Connection:  # fmt: skip
    """The line of a body to a source or a manifold."""
    label = f"connect on '{body}'"
    if isinstance(source, ManifoldSpec):
        _check_branch(label, source, elements, valve, world.manifolds)
    elif (other := _served(world, source)) and not isinstance(source, Regulator):
        raise LimpetError(
            f"{label}: this {type(source).__name__} serves '{other}' already; one source for "
            "several cups is add_manifold(source), and connect each cup to that"
        )
    _check_air(label, source, elements, world.atmosphere)
    level = _switch(switch, source)
    where = None if port is None else np.asarray(port, dtype=float)
    if where is not None and (where.shape != (3,) or not np.all(np.isfinite(where))):
        raise LimpetError(f"connect port = {port}: expected three finite numbers [m]")
    return Connection(source, elements, valve or Valve(), level, where)


def _check_branch(
    label: str, source: ManifoldSpec, elements: Sequence[Element], valve: Valve | None,
    known: Mapping[str, ManifoldSpec],
) -> None:  # fmt: skip
    if known.get(source.name) is not source:
        raise LimpetError(f"{label}: '{source.name}' is not a manifold of this world")
    if valve is not None:
        raise LimpetError(f"{label}: the valve of a manifold is that of its source")
    if not any(resists(e) for e in elements):
        raise LimpetError(
            f"{label}: its line to '{source.name}' has no resistance; expected a Hose, a "
            'Restriction or an Orifice in it, as line=lp.Hose("0.3 m", "4 mm")'
        )


def _served(world: Lines, source: object) -> str | None:
    """The line that a source is on already: the same object, not one that is equal."""
    known = [(name, c.source) for name, c in world.connections.items()]
    known += [(name, m.source) for name, m in world.manifolds.items()]
    return next((name for name, own in known if own is source), None)


def _check_air(
    label: str, source: Source | ManifoldSpec, elements: Sequence[Element], air: Atmosphere
) -> None:
    """Refuse what the atmosphere does not allow."""
    deepest = float(source.end_vacuum)
    if deepest > air.pressure:
        raise LimpetError(
            f"{label}: vacuum = {deepest:g} Pa is below absolute zero pressure; expected at "
            f"most that of the atmosphere, {air.pressure:g} Pa"
        )
    filled = any(resists(e) or float(e.volume) > 0.0 for e in elements)
    bare = isinstance(source, Regulator) and not filled
    if air.exponent != 1.0 and not bare:
        raise LimpetError(
            f"{label}: the air has exponent = {air.exponent:g}; pumps and hoses need 1 (air "
            "takes the temperature of its pipes), a bare Regulator not"
        )


def _switch(given: float | str | None, source: Source | ManifoldSpec) -> float:
    """[Pa] the switching point of a sensor."""
    if given is None:
        return 0.5 * float(source.end_vacuum)
    return require_positive("switch", quantity(given, "Pa", "switch"), " Pa")
