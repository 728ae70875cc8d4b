"""scene.toml of a run folder: the scene with all its parameters."""

from __future__ import annotations

import json

from pydantic import BaseModel

from limpet.scenes.registry import Scene, unit_of
from limpet.units import show


def scene_toml(scene: Scene) -> str:
    """The resolved scene in SI units, readable by ``limpet run``; comments show other units."""
    lines = [f"# {scene.summary}", _scene_line(scene), "", "[parameters]"]
    tables: dict[str, BaseModel] = {}
    for name, value in scene.parameters:
        if isinstance(value, BaseModel):
            tables[name] = value
        else:
            lines.append(_line(scene.parameters, name))
    for name, table in tables.items():
        given = [key for key, value in table if value is not None]
        lines += ["", f"[parameters.{name}]", *(_line(table, key) for key in given)]
    return "\n".join(lines) + "\n"


def _scene_line(scene: Scene) -> str:
    if scene.file == "":
        return "# recorded by lp.run: run its script again"
    return f"scene = {json.dumps(scene.file or scene.name)}"


def _line(model: BaseModel, name: str) -> str:
    items = getattr(model, name)
    if isinstance(items, list) and items and isinstance(items[0], BaseModel):
        return f"{name} = [{', '.join(_inline(item) for item in items)}]"
    value, unit = model.model_dump(mode="json", include={name})[name], unit_of(type(model), name)
    if value is None:  # TOML has no null
        return f"# {name} is not set"
    comment = ""
    if isinstance(value, float) and unit and (shown := show(value, unit)) != f"{value:g} {unit}":
        comment = f"  # {shown}"
    return f"{name} = {_toml(_with_unit(value, unit) if unit else value)}{comment}"


def _inline(model: BaseModel) -> str:
    """A table within a line; what is not set is left out."""
    keys = [key for key, value in model if value is not None]
    return "{ " + ", ".join(_line(model, key).partition("  # ")[0] for key in keys) + " }"


def _with_unit(value: object, unit: str) -> object:
    """A quantity with all digits and its unit."""
    if isinstance(value, (list, tuple)):
        return [_with_unit(item, unit) for item in value]
    return f"{value!r} {unit}"


def _toml(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(k)} = {_toml(v)}" for k, v in value.items()) + " }"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return json.dumps(value, allow_nan=False)  # numbers and booleans as in JSON
