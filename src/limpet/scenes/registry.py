"""Scenes by name: the catalogue, the parameters of each scene, and how a scene is built.

The catalogue names the module of each scene, so that listing the scenes imports no solver.
"""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from limpet.errors import LimpetError, suggest
from limpet.units import Length, Quantity, Time, check_numbers, explain, show

if TYPE_CHECKING:
    from limpet.engine.simulation import Simulation
    from limpet.model.world import World

MOST_STEPS = 1e9  # of a run


class SceneParameters(BaseModel):
    """The parameters of every scene; a scene adds its own. Unknown keys are refused."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, validate_default=True
    )

    h: Time = 0.01
    duration: Time
    stride: int = Field(
        1, ge=1, le=1000, description="steps may be up to so many h long if little happens"
    )
    threads: int = Field(1, ge=1, le=256, description="threads that share the work of a step")
    sealing_distance: Length = Field(5e-5, gt=0.0, description="gaps below this are airtight")
    seal: str = Field("binary", description="binary, or leaky: air flows through the gap")
    reach: Length = Field(3e-4, gt=0.0, description="leaky: a ring within this has a cavity")
    roughness: Length = Field(0.0, ge=0.0, description="leaky: rms; 0 is tight where it touches")
    wavelength: Length = Field(1e-3, gt=0.0, description="leaky: longest of the roughness")
    seal_boundary: str = Field("outer", description="where in the contact ring the pressure drops")
    cavities: str = Field("union", description="how cavities are found: union or classifier")
    cavity_faces: str = Field("flat", description="what bounds cavities: flat or curved faces")

    # A validator, because a scene declares `duration` again with its own default.
    @field_validator("h", "duration")
    @classmethod
    def _above_zero(cls, value: float) -> float:
        if value <= 0.0:
            raise ValueError("expected a time above 0 (s, ms)")
        return value

    @model_validator(mode="after")
    def _at_least_one_step(self) -> SceneParameters:
        if self.duration < self.h:
            raise ValueError(
                f"duration = {show(self.duration, 's')}: expected at least one step, "
                f"h = {show(self.h, 's')}"
            )
        if self.duration > MOST_STEPS * self.h:
            raise ValueError(
                f"h = {show(self.h, 's')}: expected at most {MOST_STEPS:g} steps in duration = "
                f"{show(self.duration, 's')}"
            )
        return self


@dataclass(frozen=True)
class Scene:
    """A scene that is ready to run."""

    name: str
    summary: str
    parameters: SceneParameters
    world: World
    h: float  # [s]
    duration: float  # [s]
    expect: str  # expected outcome

    def simulation(self, **settings: Any) -> Simulation:
        """A new simulation of the scene; `settings` are those of limpet.Settings."""
        from limpet.cavity.seal.leaky import LeakySeal, SealModel
        from limpet.engine.simulation import Simulation
        from limpet.model.settings import Settings

        names = (
            "stride", "threads", "sealing_distance", "seal_boundary", "cavities", "cavity_faces",
            "pressure_increments",
        )  # fmt: skip
        p = self.parameters
        own: dict[str, Any] = {n: getattr(p, n) for n in names if hasattr(p, n)}
        own["seal"] = p.seal
        if p.seal == SealModel.LEAKY:
            own["seal"] = LeakySeal(p.reach, p.roughness, p.wavelength)
        return Simulation(self.world, h=self.h, settings=Settings(**{**own, **settings}))


@dataclass(frozen=True)
class SceneEntry:
    """A scene of the catalogue, and the module that registers it."""

    name: str
    module: str
    summary: str


@dataclass(frozen=True)
class _Recipe:
    """What `@scene` registers."""

    summary: str
    parameters: type[SceneParameters]
    build: Callable[[Any], World]
    expect: str


_RECIPES: dict[str, _Recipe] = {}
_ADDED: dict[str, SceneEntry] = {}  # scenes outside of this package

P = TypeVar("P", bound=SceneParameters)


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
        _RECIPES[name] = _Recipe(summary, parameters, build, outcome)
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


def read_parameters(name: str, overrides: Mapping[str, object] | None = None) -> SceneParameters:
    """Parameters of the scene `name`; `overrides` are strings with units or plain SI values."""
    model, changed = _recipe(name).parameters, dict(overrides or {})
    try:
        parameters = model.model_validate(changed)
    except ValidationError as error:
        raise explain(error, changed, known_names(model)) from None
    check_numbers(parameters)
    return parameters


def load(name: str, overrides: Mapping[str, object] | None = None) -> Scene:
    """Build the scene `name` with `overrides` of its parameters."""
    recipe, parameters = _recipe(name), read_parameters(name, overrides)
    return Scene(
        name=name, summary=recipe.summary, parameters=parameters, world=recipe.build(parameters),
        h=parameters.h, duration=parameters.duration, expect=recipe.expect,
    )  # fmt: skip


def read_scene_file(path: Path) -> tuple[str, dict[str, object]]:
    """Name and parameters of a scene file (see scene_file.py)."""
    from limpet.scenes.scene_file import read

    return read(path)


def model_of(name: str) -> type[SceneParameters]:
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


def _recipe(name: str) -> _Recipe:
    entry = get(name)
    if name not in _RECIPES:
        importlib.import_module(entry.module)
    return _RECIPES[name]
