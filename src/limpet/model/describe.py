"""A world in words: what `repr` and notebooks show of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Protocol

import numpy as np

from limpet.model.specs import Connection, RigidSpec, SoftSpec
from limpet.units import show

COLUMNS = ("body", "kind", "size", "mass", "motion", "vacuum line")


class Described(Protocol):
    """The part of a World that is described."""

    specs: dict[str, SoftSpec | RigidSpec]
    connections: dict[str, Connection]

    @property
    def motions(self) -> Mapping[str, object]: ...


def rows(world: Described) -> list[tuple[str, ...]]:
    """A row of each body, as COLUMNS say."""
    return [
        (
            spec.name, _kind(spec), _size(spec.surface()[0]), show(spec.mass, "kg"),
            _motion(world, spec), _line(world.connections.get(spec.name)),
        )
        for spec in world.specs.values()
    ]  # fmt: skip


def text(world: Described) -> str:
    """The bodies in a table, one line each."""
    table = [COLUMNS, *rows(world)]
    if len(table) == 1:
        return "World without bodies"
    widths = [max(len(row[k]) for row in table) for k in range(len(COLUMNS))]
    lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths)).rstrip() for row in table]
    return "\n".join(["World", *(f"  {line}" for line in lines)])


def html(world: Described) -> str:
    """The same for notebooks."""
    return html_table(COLUMNS, rows(world))


def html_table(head: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """An HTML table; what it holds is escaped."""

    def line(cells: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(c)}</{tag}>" for c in cells) + "</tr>"

    return f"<table>{line(head, 'th')}{''.join(line(row, 'td') for row in body)}</table>"


def _kind(spec: SoftSpec | RigidSpec) -> str:
    if isinstance(spec, SoftSpec):
        return f"{spec.shape.name}, soft, {len(spec.shape.points)} nodes"
    return f"{spec.shape.name}, rigid"


def _size(points: np.ndarray) -> str:
    across = 1e3 * (points.max(axis=0) - points.min(axis=0))
    return " x ".join(f"{a:.4g}" for a in across) + " mm"


def _motion(world: Described, spec: SoftSpec | RigidSpec) -> str:
    if isinstance(spec, RigidSpec) and spec.fixed:
        return "fixed"
    if spec.name in world.motions:
        return "prescribed"
    return "free"


def _line(connection: Connection | None) -> str:
    return "" if connection is None else type(connection.source).__name__.removesuffix("Spec")
