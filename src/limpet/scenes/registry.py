"""Scenes by name: the catalogue, the parameters of each scene, and how a scene is built.

The catalogue names the module of each scene, so that listing the scenes imports no solver.
"""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError

from limpet.errors import LimpetError, suggest
from limpet.scenes.parameters import RunParameters
from limpet.scenes.parameters import SceneParameters as SceneParameters
from limpet.units import Quantity, check_numbers, explain, show

if TYPE_CHECKING:
    from limpet.engine.simulation import Simulation
    from limpet.model.settings import Settings
    from limpet.model.world import World


@dataclass(frozen=True)
class Scene:
    """A scene that is ready to run."""

    name: str
    summary: str
    parameters: RunParameters
    world: World
    h: float  # [s]
    duration: float  # [s]
    expect: str  # expected outcome
    settings: Settings | None = None  # of a world built in Python; else by the parameters
    file: str | None = None  # that builds it, if it is not of the catalogue; "" if unknown

    def simulation(self, **settings: Any) -> Simulation:
        """A new simulation of the scene; `settings` are those of limpet.Settings."""
        from limpet.engine.simulation import Simulation
        from limpet.model.settings import Settings

        if self.settings is None:
            made = Settings(**{**self._by_parameters(), **settings})
        else:
            made = replace(self.settings, **settings)
        return Simulation(self.world, h=self.h, settings=made)

    def changed(self, overrides: Mapping[str, object]) -> Scene:
        """The same world with another time step or duration."""
        p = checked_parameters(type(self.parameters), {**dict(self.parameters), **overrides})
        return replace(self, parameters=p, h=p.h, duration=p.duration)

    def _by_parameters(self) -> dict[str, Any]:
        from limpet.cavity.seal.leaky import LeakySeal, SealModel

        names = (
            "stride", "threads", "sealing_distance", "seal_boundary", "cavities", "cavity_faces",
            "pressure_increments",
        )  # fmt: skip
        p = self.parameters
        assert isinstance(p, SceneParameters)
        own: dict[str, Any] = {n: getattr(p, n) for n in names if hasattr(p, n)}
        own["seal"] = p.seal
        if p.seal == SealModel.LEAKY:
            own["seal"] = LeakySeal(p.reach, p.roughness, p.wavelength)
        return own


@dataclass(frozen=True)
class SceneEntry:
    """A scene of the catalogue, and the module that registers it."""

    name: str
    module: str
    summary: str


@dataclass(frozen=True)
class Recipe:
    """What `@scene` registers, or a file of Python holds."""

    summary: str
    parameters: type[RunParameters]
    build: Callable[[Any], World | Simulation]
    expect: str
    file: str | None = None


_RECIPES: dict[str, Recipe] = {}
_ADDED: dict[str, SceneEntry] = {}  # scenes outside of this package

P = TypeVar("P", bound=SceneParameters)
R = TypeVar("R", bound=RunParameters)


def scene(
    name: str, parameters: type[P], *, summary: str = "", expect: str = ""
) -> Callable[[Callable[[P], World]], Callable[[P], World]]:
    """Register ``build(parameters) -> World``; `expect` is the expected outcome.

    In a file of this package name and summary are plain strings: they are listed unimported.
    """

    def register(build: Callable[[P], World]) -> Callable[[P], World]:
        if name not in _catalogue():
            _ADDED[name] = SceneEntry(name, build.__module__, summary)
        outcome = expect or inspect.getdoc(build) or ""
        _RECIPES[name] = Recipe(summary, parameters, build, outcome)
        return build

    return register


@cache
def _catalogue() -> dict[str, SceneEntry]:
    """The scenes of this package by name, read from the decorators in its files."""
    found = {}
    for file in sorted(Path(__file__).parent.glob("*.py")):
        text = file.read_text(encoding="utf-8")
        if "\n@scene(" not in text:
            continue
        for node in ast.parse(text).body:
            for call in getattr(node, "decorator_list", []):
                if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "scene":
                    name = ast.literal_eval(call.args[0])
                    told = {k.arg: k.value for k in call.keywords}
                    summary = ast.literal_eval(told["summary"])
                    found[name] = SceneEntry(name, f"limpet.scenes.{file.stem}", summary)
    return found


def scenes() -> dict[str, SceneEntry]:
    """All scenes by name."""
    return {**_catalogue(), **_ADDED}


def get(name: str) -> SceneEntry:
    """The entry called `name`; an unknown name raises an error that suggests the nearest."""
    known = scenes()
    if name not in known:
        raise LimpetError(f"scene '{name}': unknown scene{suggest(name, known)}")
    return known[name]


def parameters_of(name: str) -> dict[str, str]:
    """The parameters of the scene `name`: default value with unit, and description."""
    model = _recipe(name).parameters
    lines = {}
    for key, info in model.model_fields.items():
        unit, default = unit_of(model, key), info.default
        shown = show(default, unit) if unit and isinstance(default, float) else str(default)
        lines[key] = f"{shown:12} {info.description or ''}".rstrip()
    return lines


def parameter_table(name: str) -> dict[str, dict[str, Any]]:
    """As `parameters_of`, for programs: default in SI units, unit, text and range of each."""
    model = _recipe(name).parameters
    schema = model.model_json_schema()["properties"]
    limits = {
        "minimum": "at_least", "exclusiveMinimum": "above", "maximum": "at_most",
        "exclusiveMaximum": "below", "enum": "one_of",
    }  # fmt: skip
    table = {}
    for key, info in model.model_fields.items():
        ranges = [schema[key], *schema[key].get("anyOf", [])]
        table[key] = {
            "value": None if info.is_required() else schema[key].get("default"),
            "unit": unit_of(model, key), "text": info.description or "",
            **{limits[k]: v for part in ranges for k, v in part.items() if k in limits},
        }  # fmt: skip
    return table


def read_parameters(name: str, overrides: Mapping[str, object] | None = None) -> RunParameters:
    """Parameters of the scene `name`; `overrides` are strings with units or plain SI values."""
    return checked_parameters(_recipe(name).parameters, dict(overrides or {}))


def checked_parameters(model: type[R], changed: dict[str, object]) -> R:
    """Parameters by a model; a wrong one is an error that says what was expected."""
    try:
        parameters = model.model_validate(changed)
    except ValidationError as error:
        raise explain(error, changed, known_names(model)) from None
    check_numbers(parameters)
    return parameters


def load(name: str, overrides: Mapping[str, object] | None = None) -> Scene:
    """Build the scene `name` with `overrides` of its parameters; a file of Python if it ends so."""
    recipe, parameters = _recipe(name), read_parameters(name, overrides)
    made = recipe.build(parameters)
    if recipe.file is not None:
        return _of_file(Path(recipe.file), recipe, parameters, made)
    return Scene(
        name=name, summary=recipe.summary, parameters=parameters, world=_world(made),
        h=parameters.h, duration=parameters.duration, expect=recipe.expect,
    )  # fmt: skip


def _of_file(
    path: Path, recipe: Recipe, parameters: RunParameters, made: World | Simulation
) -> Scene:
    """The scene that a file of Python has built; a Simulation brings its settings and its h."""
    from limpet.engine.simulation import Simulation
    from limpet.model.settings import Settings

    settings = Settings()
    if isinstance(made, Simulation):
        settings = made.settings
        if "h" not in parameters.model_fields_set:
            parameters = parameters.model_copy(update={"h": made.h})
    return Scene(
        path.stem, recipe.summary, parameters, _world(made), parameters.h, parameters.duration,
        recipe.expect, settings, recipe.file,
    )  # fmt: skip


def _world(made: World | Simulation) -> World:
    from limpet.engine.simulation import Simulation

    return made.world if isinstance(made, Simulation) else made


def read_scene_file(path: Path) -> tuple[str, dict[str, object]]:
    """Name and parameters of a scene file (see scene_file.py)."""
    from limpet.scenes.scene_file import read

    return read(path)


def model_of(name: str) -> type[RunParameters]:
    """The parameter model of the scene `name`."""
    return _recipe(name).parameters


def nested_model(model: type[BaseModel], name: str) -> type[BaseModel] | None:
    """The model of a parameter that is a table."""
    annotation = model.model_fields[name].annotation
    parts = (annotation, *getattr(annotation, "__args__", ()))
    return next((p for p in parts if isinstance(p, type) and issubclass(p, BaseModel)), None)


def list_model(model: type[BaseModel], name: str) -> type[BaseModel] | None:
    """The model of the items of a parameter that is a list of tables."""
    annotation = model.model_fields[name].annotation
    parts = (annotation, *getattr(annotation, "__args__", ()))
    items = [item for p in parts if getattr(p, "__origin__", None) is list for item in p.__args__]
    return next((p for p in items if isinstance(p, type) and issubclass(p, BaseModel)), None)


def known_names(model: type[BaseModel]) -> list[str]:
    """All parameter names; those in tables as ``table.name``."""
    inner = {name: nested_model(model, name) for name in model.model_fields}
    return [*inner, *(f"{name}.{key}" for name, m in inner.items() if m for key in m.model_fields)]


def unit_of(parameters: type[BaseModel], name: str) -> str:
    """The SI unit of the parameter `name`, empty if it is not a quantity."""
    info = parameters.model_fields[name]
    marks = [*info.metadata, *_marks(info.annotation)]
    return next((mark.si for mark in marks if isinstance(mark, Quantity)), "")


def _marks(annotation: Any) -> list[object]:
    """The annotations within ``Length | None`` or ``tuple[Length, ...]``."""
    own = list(getattr(annotation, "__metadata__", ()))
    return own + [mark for part in getattr(annotation, "__args__", ()) for mark in _marks(part)]


def _recipe(name: str) -> Recipe:
    if name not in _RECIPES and name.endswith(".py"):
        from limpet.scenes.python_file import read_python

        _RECIPES[name] = read_python(Path(name))
    elif name not in _RECIPES:
        importlib.import_module(get(name).module)
    return _RECIPES[name]
