"""Scenes by name: what there is, what each can be told, and how one is built.

The catalogue names the module of each scene, so that listing them imports none of the simulation.
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
    """What every scene can be told; a scene adds its own. Unknown keys are refused."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, validate_default=True
    )

    h: Time = 0.01
    duration: Time
    sealing_distance: Length = Field(5e-5, gt=0.0, description="gaps below this are closed to air")
    seal_boundary: str = Field("outer", description="where in the contact ring the pressure ends")
    cavities: str = Field("union", description="how cavities are found: union or classifier")

    # Here and not in the types of the fields, because a scene restates `duration` with its default.
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
    expect: str  # what must happen

    def simulation(self, **settings: Any) -> Simulation:
        """The scene, ready to step; `settings` are those of limpet.Settings."""
        from limpet.engine.simulation import Simulation
        from limpet.model.settings import Settings

        told = self.parameters
        own = {
            "sealing_distance": told.sealing_distance,
            "seal_boundary": told.seal_boundary,
            "cavities": told.cavities,
        }
        return Simulation(self.world, h=self.h, settings=Settings(**{**own, **settings}))


@dataclass(frozen=True)
class SceneEntry:
    """A scene that can be loaded: its line in the list, and the module that registers it."""

    name: str
    module: str
    summary: str


@dataclass(frozen=True)
class _Recipe:
    """What the decorator has registered."""

    summary: str
    parameters: type[SceneParameters]
    build: Callable[[Any], World]
    expect: str


_CATALOGUE = {
    entry.name: entry
    for entry in (
        SceneEntry(
            "ground",
            "limpet.scenes.ground",
            "a cup is pushed on the ground, sticks, is pulled and lets go",
        ),
        SceneEntry(
            "lift",
            "limpet.scenes.lift",
            "a cup lifts a rigid block, or lets go when it is too heavy",
        ),
        SceneEntry("soft-cube", "limpet.scenes.soft_cube", "a cup lifts a highly compliant cube"),
        SceneEntry("bunny", "limpet.scenes.bunny", "a cup lifts a rigid bunny by its back"),
        SceneEntry(
            "masses", "limpet.scenes.masses", "one cup or two lift heavy cubes, if they can"
        ),
        SceneEntry(
            "shapes",
            "limpet.scenes.shapes",
            "a plunger, an octopus sucker or a shop cup lifts a block by its top",
        ),
        SceneEntry(
            "low-friction",
            "limpet.scenes.low_friction",
            "a slippery cube is lifted off-centre, slides to a corner and drops",
        ),
        SceneEntry(
            "pick-and-place",
            "limpet.scenes.pick_and_place",
            "a cup on an arm picks an apple and leaves it in a box by pushing it on the wall",
        ),
        SceneEntry(
            "tentacle",
            "limpet.scenes.tentacle",
            "an octopus arm falls gently on a can, some suckers seal, and it lifts the can",
        ),
        SceneEntry(
            "toy",
            "limpet.scenes.toy",
            "a head on a spring is pushed until its cup sticks; air leaks in and it jumps",
        ),
        SceneEntry(
            "curved",
            "limpet.scenes.curved",
            "a cup lifts a block with a convex or concave top, if it can seal on it",
        ),
        SceneEntry(
            "active-a20",
            "limpet.scenes.active",
            "a silicone cup on a vacuum line is pulled off a plate (A, Dragon Skin 20)",
        ),
        SceneEntry(
            "active-a30",
            "limpet.scenes.active",
            "the same cup of a harder silicone (A, Dragon Skin 30)",
        ),
        SceneEntry(
            "cantilever",
            "limpet.scenes.cantilever",
            "a beam held at one end bends under its own weight",
        ),
        SceneEntry(
            "cube-halves",
            "limpet.scenes.cube_halves",
            "two halves of a jelly cube are pressed together, then the lower one hangs",
        ),
        SceneEntry(
            "air-tunnel",
            "limpet.scenes.air_tunnel",
            "a tunnel joins two holes in a soft cube: it is lifted only if both are covered",
        ),
        SceneEntry(
            "bunny-swing", "limpet.scenes.bunny_swing", "a bunny hangs by an ear and swings"
        ),
        SceneEntry("spine", "limpet.scenes.spine", "a silicone spine hangs by its two ends"),
        SceneEntry(
            "mug-lift",
            "limpet.scenes.mug_lift",
            "a cup lifts a mug out of a foam box whose walls hold it by pressure fields",
        ),
        SceneEntry(
            "pencil",
            "limpet.scenes.pencil",
            "a pencil in a pinch turns when the pads loosen and stops when they tighten",
        ),
        SceneEntry("ball", "limpet.scenes.ball", "a ball bounces on the floor"),
        SceneEntry(
            "boxes", "limpet.scenes.boxes", "boxes drop on each other and come to rest as a stack"
        ),
        SceneEntry(
            "bolt",
            "limpet.scenes.bolt",
            "a wrench turns a bolt, and its thread takes it into a nut",
        ),
        SceneEntry(
            "mug-grip", "limpet.scenes.grips", "two jaws squeeze a mug, lift it and shake it"
        ),
        SceneEntry("spoon", "limpet.scenes.grips", "two boxes hold a spoon and shake it"),
        SceneEntry(
            "cloth", "limpet.scenes.draped", "a cloth falls on a sphere and comes to rest in folds"
        ),
        SceneEntry(
            "jelly",
            "limpet.scenes.jellies",
            "four jellies, each by another model, carry a bar of chocolate on a dish",
        ),
        SceneEntry(
            "rope",
            "limpet.scenes.rope",
            "two weights hang on a rope over a wheel, which its friction spins",
        ),
        SceneEntry(
            "cup-lifts-jelly",
            "limpet.scenes.gel",
            "a cup is pressed on a block of jelly, sucks its top in and lifts it",
        ),
        SceneEntry(
            "cup-lifts-bag",
            "limpet.scenes.gel",
            "a cup lifts a bag of gel by its inextensible skin",
        ),
        SceneEntry("chopsticks", "limpet.scenes.grips", "two sticks hold a soft ball and shake it"),
    )
}
_RECIPES: dict[str, _Recipe] = {}

P = TypeVar("P", bound=SceneParameters)


def scene(
    name: str, summary: str, parameters: type[P], *, expect: str = ""
) -> Callable[[Callable[[P], World]], Callable[[P], World]]:
    """Register ``build(parameters) -> World``; `expect` is what must happen, else its docstring."""

    def register(build: Callable[[P], World]) -> Callable[[P], World]:
        _RECIPES[name] = _Recipe(summary, parameters, build, expect or inspect.getdoc(build) or "")
        _CATALOGUE.setdefault(name, SceneEntry(name, build.__module__, summary))
        return build

    return register


def scenes() -> dict[str, SceneEntry]:
    """Every scene by name, in the order of the list."""
    return dict(_CATALOGUE)


def get(name: str) -> SceneEntry:
    """The entry called `name`; a name that is not there is answered with the nearest."""
    if name not in _CATALOGUE:
        raise LimpetError(f"scene '{name}': there is no such scene{suggest(name, _CATALOGUE)}")
    return _CATALOGUE[name]


def parameters_of(name: str) -> dict[str, str]:
    """What the scene `name` can be told: each parameter's default, with its unit, and meaning."""
    model = _recipe(name).parameters
    lines = {}
    for key, info in model.model_fields.items():
        unit, default = unit_of(model, key), info.default
        shown = show(default, unit) if unit and isinstance(default, float) else str(default)
        lines[key] = f"{shown:12} {info.description or ''}".rstrip()
    return lines


def load(name: str, overrides: Mapping[str, object] | None = None) -> Scene:
    """Build the scene `name` with some parameters changed: texts with units, or plain SI values."""
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
    """A scene file (see scene_file.py): the scene's name, the parameters."""
    from limpet.scenes.scene_file import read

    return read(path)


def model_of(name: str) -> type[SceneParameters]:
    """The parameters of the scene `name`."""
    return _recipe(name).parameters


def nested_model(model: type[BaseModel], name: str) -> type[BaseModel] | None:
    """The model of a parameter that is a table of its own."""
    annotation = model.model_fields[name].annotation
    parts = (annotation, *getattr(annotation, "__args__", ()))
    return next((p for p in parts if isinstance(p, type) and issubclass(p, BaseModel)), None)


def known_names(model: type[BaseModel]) -> list[str]:
    """Every parameter, those of tables as ``table.name``."""
    inner = {name: nested_model(model, name) for name in model.model_fields}
    return [*inner, *(f"{name}.{key}" for name, m in inner.items() if m for key in m.model_fields)]


def unit_of(parameters: type[BaseModel], name: str) -> str:
    """The SI unit of the parameter `name`, empty if it is no quantity."""
    info = parameters.model_fields[name]
    marks = [*info.metadata, *_marks(info.annotation)]
    return next((mark.si for mark in marks if isinstance(mark, Quantity)), "")


def _marks(annotation: Any) -> list[object]:
    """What the parts of ``Length | None`` or ``tuple[Length, ...]`` are annotated with."""
    own = list(getattr(annotation, "__metadata__", ()))
    return own + [mark for part in getattr(annotation, "__args__", ()) for mark in _marks(part)]


def _recipe(name: str) -> _Recipe:
    entry = get(name)
    if name not in _RECIPES:
        importlib.import_module(entry.module)
    return _RECIPES[name]
