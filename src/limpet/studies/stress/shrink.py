"""A failing world made small: what it does not need to fail is taken away."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from time import process_time

from limpet.errors import LimpetError
from limpet.studies.stress.recipe import UPRIGHT, Call, Part, Path, Recipe

Fails = Callable[[Recipe], bool]

LEAST = {"sectors": 6, "segments": 3, "facets": 8, "sides": 8}  # of meshes


def shrink(recipe: Recipe, fails: Fails, seconds: float) -> Recipe:
    """The smallest recipe found in that computing time that still fails."""
    until = process_time() + seconds
    shrunk = True
    while shrunk and process_time() < until:
        shrunk = False
        for smaller in simpler(recipe):
            if process_time() > until:
                break
            if _fails(smaller, fails):
                recipe, shrunk = smaller, True
                break
    return recipe


def _fails(recipe: Recipe, fails: Fails) -> bool:
    try:
        return fails(recipe)
    except LimpetError:  # it cannot even be built
        return False


def simpler(recipe: Recipe) -> Iterator[Recipe]:
    """Recipes with one thing less, those that make a run shorter first."""
    if recipe.steps > 2:
        yield replace(recipe, steps=recipe.steps // 2)
        yield replace(recipe, steps=recipe.steps - max(1, recipe.steps // 8))
    for part in recipe.parts:
        if part.name != "cup":
            yield _without(recipe, part.name)
    if recipe.pushes:
        yield replace(recipe, pushes=())
    if recipe.leak:
        yield replace(recipe, leak=0.0)
    for key in recipe.settings.arguments:
        yield replace(recipe, settings=_less(recipe.settings, key))
    for key in recipe.atmosphere.arguments:
        yield replace(recipe, atmosphere=_less(recipe.atmosphere, key))
    for part in recipe.parts:
        for smaller in _simpler_part(part):
            yield recipe.with_part(smaller)
    if any(recipe.gravity):
        yield replace(recipe, gravity=(0.0, 0.0, 0.0))
    if recipe.friction:
        yield replace(recipe, friction=0.0)


def _without(recipe: Recipe, name: str) -> Recipe:
    left = tuple(p for p in recipe.parts if p.name != name)
    freed = tuple(
        replace(p, carrier=None, motion=Path(((0.0, (0.0, 0.0, 0.0)),))) if p.carrier == name else p
        for p in left
    )
    return replace(recipe, parts=freed, pushes=tuple(p for p in recipe.pushes if p.body != name))


def _less(call: Call, key: str) -> Call:
    return Call(call.function, {k: v for k, v in call.arguments.items() if k != key})


def _simpler_part(part: Part) -> Iterator[Part]:
    if part.line:
        yield replace(part, line={})
        for key in part.line:
            if key != "source":
                yield replace(part, line={k: v for k, v in part.line.items() if k != key})
    if part.exchange is not None:
        yield replace(part, exchange=None)
    if part.material is None and not part.fixed and part.motion is None:
        yield replace(part, fixed=True)
    if part.material is not None:
        for key in part.material.arguments:
            if key not in ("young", "poisson"):
                yield replace(part, material=_less(part.material, key))
    if part.rotation != UPRIGHT and part.name == "cup":
        yield replace(part, rotation=UPRIGHT)
    if isinstance(part.motion, Path) and len(part.motion.stations) > 2:
        yield replace(part, motion=Path(part.motion.stations[:-1]))
    yield from _coarser(part)


def _coarser(part: Part) -> Iterator[Part]:
    given = dict(part.shape.arguments)
    for key, least in LEAST.items():
        count = given.get(key)
        if isinstance(count, int) and count > least:
            fewer = max(least, 2 * (count // 4))
            yield replace(part, shape=Call(part.shape.function, {**given, key: fewer}))
    if "imperfection" in given:
        yield replace(part, shape=_less(part.shape, "imperfection"))
    cells = given.get("divisions")
    if isinstance(cells, tuple) and max(cells) > 1:
        half = tuple(max(1, c // 2) for c in cells)
        yield replace(part, shape=Call(part.shape.function, {**given, "divisions": half}))
