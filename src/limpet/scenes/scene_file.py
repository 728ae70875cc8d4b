"""Scene files: TOML with the name of a scene, its parameters, a custom cup, and includes.

include = "common.toml"    # or a list of files; keys of this file override theirs
scene = "lift"             # or a file of Python, relative to this file

[parameters]
block_mass = "250 g"

[cup]
mesh = "mycup.stl"         # relative to this file
unit = "mm"

[part], [vacuum] and [[motion]] belong to the scene "gripper", whose cups are [[cup]].
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from limpet.errors import LimpetError, suggest
from limpet.scenes.registry import list_model, model_of, nested_model, unit_of
from limpet.units import DIMENSIONS, LARGEST, bounded

TABLES = ("cup", "part", "vacuum", "motion")  # parameters that stand at the top
KEYS = ("include", "scene", "parameters", *TABLES)
MAX_BYTES = 1_000_000
MAX_INCLUDES = 20  # of one file by the next
Table = dict[str, Any]


def read(path: Path) -> tuple[str, Table]:
    """The scene's name and its parameters, includes and paths resolved, units required."""
    content = _merged(path, ())
    name = content.get("scene")
    if not isinstance(name, str):
        raise LimpetError(
            f"scene file '{path}': expected a line such as scene = \"ground\"; a run of lp.run "
            "has none: run its script"
        )
    parameters = content.get("parameters", {})
    for key in (k for k in TABLES if k in content):
        if key in parameters:
            raise LimpetError(
                f"scene file '{path}': has both [{key}] and parameters.{key}; remove one"
            )
        parameters = {**parameters, key: content[key]}
    _check_units(path, model_of(name), parameters, "")
    return name, parameters


def _merged(path: Path, above: tuple[Path, ...]) -> Table:
    """The content of a file merged over that of its includes."""
    if "\0" in str(path):
        raise LimpetError(f"scene file '{path}': a file name has no zero bytes")
    here = path.resolve()
    if len(above) > MAX_INCLUDES:
        raise LimpetError(f"scene file '{path}': is included by {len(above)} files, one by one")
    if here in above:
        chain = " -> ".join(f"'{p.name}'" for p in (*above[above.index(here) :], here))
        raise LimpetError(f"scene file '{path}': circular include {chain}; remove one")
    content = _parsed(path)
    included = content.pop("include", [])
    names = [included] if isinstance(included, str) else included
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise LimpetError(
            f"scene file '{path}': include = {included!r}: expected a file name or a list of them"
        )
    out: Table = {}
    for name in names:
        out = _over(out, _merged(path.parent / name, (*above, here)))
    return _over(out, content)


def _parsed(path: Path) -> Table:
    """The tables of one file, with absolute paths."""
    try:
        if (size := path.stat().st_size) > MAX_BYTES:
            raise LimpetError(
                f"scene file '{path}' has {size / 1e6:.1f} MB: expected {MAX_BYTES / 1e6:g} MB or "
                "less; put a mesh into its own file, named by mesh"
            )
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as problem:
        raise LimpetError(f"scene file '{path}': cannot be read ({problem.strerror})") from None
    except UnicodeDecodeError:
        raise LimpetError(f"scene file '{path}': is not TOML (not a text file)") from None
    except tomllib.TOMLDecodeError as problem:
        raise LimpetError(f"scene file '{path}': is not TOML ({problem})") from None
    except ValueError:  # of a number of thousands of digits
        raise LimpetError(f"scene file '{path}': has a number with too many digits") from None
    except RecursionError:
        raise LimpetError(f"scene file '{path}': is nested too deeply") from None
    for key in content:
        if key not in KEYS:
            raise LimpetError(f"scene file '{path}': unknown key '{key}'{suggest(key, KEYS)}")
    if isinstance(scene := content.get("scene"), str) and scene.endswith(".py"):
        _resolve(content, path.parent, ("scene",))
    for key in ("parameters", *TABLES):
        for table in _tables(content.get(key, {})):
            if not isinstance(table, dict):
                raise LimpetError(f"scene file '{path}': {key} = {table!r}: expected a table")
            _resolve(table, path.parent, ("mesh", "dxf") if key != "parameters" else ())
    if not isinstance(content.get("parameters", {}), dict):
        raise LimpetError(f"scene file '{path}': [[parameters]]: expected one table, [parameters]")
    parameters = content.get("parameters", {})
    _resolve(parameters, path.parent, (key for key in parameters if key.endswith("_mesh")))
    if isinstance(cup := parameters.get("cup"), dict):
        _resolve(cup, path.parent, ("mesh", "dxf"))
    return content


def _tables(value: object) -> list[object]:
    """A table, or the tables of [[...]]."""
    return value if isinstance(value, list) and value else [value]


def _resolve(table: Table, folder: Path, keys: Iterable[str]) -> None:
    for key in list(keys):
        if isinstance(table.get(key), str):
            table[key] = str((folder / table[key]).absolute())


def _over(below: Table, above: Table) -> Table:
    """Merge tables key by key; `above` takes precedence."""
    out = dict(below)
    for key, value in above.items():
        old = out.get(key)
        out[key] = _over(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return out


def _check_units(path: Path, model: type[BaseModel], values: Table, prefix: str) -> None:
    """Refuse a quantity without a unit, because 4 may mean millimetres; zero is allowed."""
    for key, value in values.items():
        if key not in model.model_fields:
            continue  # reported by the model
        inner = nested_model(model, key)
        if inner is not None and isinstance(value, dict):
            _check_units(path, inner, value, f"{prefix}{key}.")
        if (row := list_model(model, key)) is not None and isinstance(value, list):
            for k, item in enumerate(value, 1):
                _check_item(path, row, item, f"{prefix}{key}[{k}]")
        unit = unit_of(model, key)
        if unit and (bare := _bare(value)) is not None:
            raise LimpetError(
                f"scene file '{path}': {prefix}{key} = {bare!r}: has no unit; expected "
                f'{DIMENSIONS[unit].name} such as "{bare!r} {DIMENSIONS[unit].shown[-1]}"'
            )


def _check_item(path: Path, model: type[BaseModel], item: object, label: str) -> None:
    """An item of a list of tables; one that is a list in short has only lengths."""
    if isinstance(item, dict):
        _check_units(path, model, item, f"{label}.")
    elif (bare := _bare(item)) is not None:
        raise LimpetError(
            f"scene file '{path}': {label} = {bare!r}: has no unit; expected a length such as "
            f'"{bare!r} mm"'
        )


def _bare(value: object) -> float | None:
    """The first number without a unit, except 0 and NaN, which is reported later."""
    if isinstance(value, list):
        return next((found for item in value if (found := _bare(item)) is not None), None)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value if value != 0 and abs(bounded(value)) <= LARGEST else None
    return None
