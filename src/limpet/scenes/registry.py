"""Scenes by name: the catalogue, the parameters of each scene, and how a scene is built.

The catalogue names the module of each scene, so that listing the scenes imports no solver.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from limpet.errors import LimpetError, suggest
from limpet.units import Length, Quantity, Time, explain, show

if TYPE_CHECKING:
    from limpet.engine.simulation import Simulation
    from limpet.model.world import World


class SceneParameters(BaseModel):
    """The parameters of every scene; a scene adds its own. Unknown keys are refused."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, validate_default=True
    )

    h: Time = 0.01
    duration: Time
    sealing_distance: Length = Field(5e-5, gt=0.0, description="gaps below this are airtight")
    seal_boundary: str = Field("outer", description="where in the contact ring the pressure drops")
    cavities: str = Field("union", description="how cavities are found: union or classifier")

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
        from limpet.engine.simulation import Simulation
        from limpet.model.settings import Settings

        names = ("sealing_distance", "seal_boundary", "cavities")
        own = {name: getattr(self.parameters, name) for name in names}
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


_CATALOGUE = {
    name: SceneEntry(name, f"limpet.scenes.{module}", summary)
    for name, module, summary in (
        ("ground", "ground", "a cup is pushed on the ground, sticks, is pulled and lets go"),
        ("lift", "lift", "a cup lifts a rigid block, or lets go if it is too heavy"),
        ("soft-cube", "soft_cube", "a cup lifts a highly compliant cube"),
        ("bunny", "bunny", "a cup lifts a rigid bunny by its back"),
        ("masses", "masses", "one cup or two cups lift heavy cubes, up to their limit"),
        ("shapes", "shapes",
         "a plunger, an octopus sucker or a commercial cup lifts a block by its top"),
        ("low-friction", "low_friction",
         "a slippery cube is lifted off-centre, slides to a corner and drops"),
        ("pick-and-place", "pick_and_place",
         "a cup on an arm picks an apple and releases it in a box by pushing it against the wall"),
        ("tentacle", "tentacle",
         "an octopus arm sinks onto a can, some suckers seal, and it lifts the can"),
        ("toy", "toy",
         "a head on a spring is pushed until its cup sticks; air leaks in and it jumps"),
        ("curved", "curved", "a cup lifts a block with a convex or concave top, if it seals"),
        ("active-a20", "active",
         "a silicone cup on a vacuum line is pulled off a plate (A, Dragon Skin 20)"),
        ("active-a30", "active", "the same cup of a stiffer silicone (A, Dragon Skin 30)"),
        ("cantilever", "cantilever", "a beam clamped at one end bends under its own weight"),
        ("cube-halves", "cube_halves",
         "two halves of a jelly cube are pressed together and hold by suction"),
        ("air-tunnel", "air_tunnel",
         "a tunnel connects two holes in a soft cube, which is lifted only if both are covered"),
        ("bunny-swing", "bunny_swing", "a bunny hangs by an ear and swings"),
        ("spine", "spine", "a silicone spine hangs by its two ends"),
        ("mug-lift", "mug_lift",
         "a cup lifts a mug out of a foam box that holds it by pressure-field contact"),
        ("pencil", "pencil",
         "a pencil in a pinch grasp rotates when the pads loosen and stops when they tighten"),
        ("ball", "ball", "a ball bounces on the floor"),
        ("boxes", "boxes", "boxes fall on each other and come to rest as a stack"),
        ("bolt", "bolt", "a wrench turns a bolt, which screws into a nut"),
        ("mug-grip", "grips", "two jaws squeeze a mug, lift it and shake it"),
        ("spoon", "grips", "two boxes hold a spoon and shake it"),
        ("cloth", "cloth", "a cloth falls on a sphere and comes to rest in folds"),
        ("jelly", "jellies",
         "four jellies, each with a different model, carry a bar of chocolate on a dish"),
        ("rope", "rope", "two weights hang on a rope over a wheel, which turns by friction"),
        ("cup-lifts-jelly", "gel", "a cup is pressed on a block of jelly and lifts it"),
        ("cup-lifts-bag", "gel", "a cup lifts a bag of gel by its inextensible skin"),
        ("chopsticks", "grips", "two sticks hold a soft ball and shake it"),
    )
}  # fmt: skip
_RECIPES: dict[str, _Recipe] = {}

P = TypeVar("P", bound=SceneParameters)


def scene(
    name: str, parameters: type[P], *, summary: str = "", expect: str = ""
) -> Callable[[Callable[[P], World]], Callable[[P], World]]:
    """Register ``build(parameters) -> World``; `expect` is the expected outcome.

    `summary` is for scenes outside the catalogue.
    """

    def register(build: Callable[[P], World]) -> Callable[[P], World]:
        entry = _CATALOGUE.setdefault(name, SceneEntry(name, build.__module__, summary))
        outcome = expect or inspect.getdoc(build) or ""
        _RECIPES[name] = _Recipe(summary or entry.summary, parameters, build, outcome)
        return build

    return register


def scenes() -> dict[str, SceneEntry]:
    """All scenes by name, in the order of the catalogue."""
    return dict(_CATALOGUE)


def get(name: str) -> SceneEntry:
    """The entry called `name`; an unknown name raises an error that suggests the nearest."""
    if name not in _CATALOGUE:
        raise LimpetError(f"scene '{name}': unknown scene{suggest(name, _CATALOGUE)}")
    return _CATALOGUE[name]


def parameters_of(name: str) -> dict[str, str]:
    """The parameters of the scene `name`: default value with unit, and description."""
    model = _recipe(name).parameters
    lines = {}
    for key, info in model.model_fields.items():
        unit, default = unit_of(model, key), info.default
        shown = show(default, unit) if unit and isinstance(default, float) else str(default)
        lines[key] = f"{shown:12} {info.description or ''}".rstrip()
    return lines


def load(name: str, overrides: Mapping[str, object] | None = None) -> Scene:
    """Build the scene `name`; `overrides` are strings with units or plain SI values."""
    recipe, changed = _recipe(name), dict(overrides or {})
    try:
        parameters = recipe.parameters.model_validate(changed)
    except ValidationError as error:
        raise explain(error, changed, known_names(recipe.parameters)) from None
    return Scene(
        name=name,
        summary=recipe.summary,
        parameters=parameters,
        world=recipe.build(parameters),
        h=parameters.h,
        duration=parameters.duration,
        expect=recipe.expect,
    )


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
