"""Scenes that a file of Python builds: ``limpet run gripper.py``, ``limpet view gripper.py``.

The file holds a World or a Simulation called `world` or `simulation`, or a function `build` that
returns one; the arguments of `build`, which have defaults, are the scene's parameters. `duration`
and `h` [s] are those of the run. The file is read under a name of its own: what is guarded by
``if __name__ == "__main__"`` does not run.
"""

from __future__ import annotations

import inspect
import runpy
import sys
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, get_type_hints

from pydantic import PydanticSchemaGenerationError, create_model

from limpet.engine.simulation import Simulation
from limpet.errors import LimpetError
from limpet.model.world import World
from limpet.scenes.parameters import RunParameters
from limpet.scenes.registry import Recipe
from limpet.units import Time

DURATION = 1.0  # [s] if the file does not say
RUN_NAME = "limpet_scene"
NAMES = ("build", "simulation", "world")  # what is looked for, in this order


def read_python(path: Path) -> Recipe:
    """What the file builds, and its parameters."""
    if not path.is_file():
        raise LimpetError(f"scene '{path}': there is no such file")
    content = _guarded(path, lambda: _executed(path))
    name = next((n for n in NAMES if n in content), None)
    if name is None:
        raise LimpetError(
            f"scene '{path}': expected a World called world, a Simulation called simulation, or a "
            "function build() that returns one"
        )
    given, summary = content[name], (content.get("__doc__") or "").strip().partition("\n")[0]
    model = _parameters(path, content, given if name == "build" else None)

    def build(parameters: RunParameters) -> World | Simulation:
        if name != "build":
            return _checked(path, name, given)
        own = {k: v for k, v in parameters if k not in RunParameters.model_fields}
        return _checked(path, "build()", _guarded(path, lambda: given(**own)))

    return Recipe(summary or f"built by {path.name}", model, build, "", str(path.resolve()))


def _executed(path: Path) -> dict[str, Any]:
    """The names that the file defines; it may import its neighbours."""
    folder = str(path.resolve().parent)
    sys.path.insert(0, folder)
    try:
        return runpy.run_path(str(path), run_name=RUN_NAME)
    finally:
        sys.path.remove(folder)


def _guarded(path: Path, call: Callable[[], Any]) -> Any:
    """What the file's code returns; where it fails, the line of the file and why."""
    try:
        return call()
    except LimpetError as problem:
        raise LimpetError(f"scene '{path}'{_line(path, problem)}: {problem}") from None
    except SyntaxError as problem:
        raise LimpetError(f"scene '{path}', line {problem.lineno}: {problem.msg}") from None
    except Exception as problem:
        what = f"{type(problem).__name__}: {problem}"
        raise LimpetError(f"scene '{path}'{_line(path, problem)}: {what}") from problem


def _line(path: Path, problem: BaseException) -> str:
    """Where in the file an error comes from."""
    frames = traceback.extract_tb(problem.__traceback__)
    lines = [f.lineno for f in frames if f.filename == str(path)]
    return f", line {lines[-1]}" if lines else ""


def _checked(path: Path, name: str, made: object) -> World | Simulation:
    if isinstance(made, (World, Simulation)):
        return made
    raise LimpetError(
        f"scene '{path}': {name} is {_article(type(made).__name__)}; expected a World or a "
        "Simulation"
    )


def _article(word: str) -> str:
    return f"an {word}" if word[:1].lower() in "aeiou" else f"a {word}"


def _parameters(
    path: Path, content: Mapping[str, Any], build: Callable[..., Any] | None
) -> type[RunParameters]:
    """The model of the run's parameters and the arguments of `build`."""
    fields: dict[str, Any] = {
        "h": (Time, content.get("h", 0.01)),
        "duration": (Time, content.get("duration", DURATION)),
    }
    if build is not None:
        if not callable(build):
            raise LimpetError(f"scene '{path}': build is {build!r}; expected a function")
        hints = _guarded(path, lambda: get_type_hints(build, include_extras=True))
        for name, argument in inspect.signature(build).parameters.items():
            if argument.default is argument.empty or name in RunParameters.model_fields:
                why = "has no default" if argument.default is argument.empty else "is the run's"
                raise LimpetError(
                    f"scene '{path}': argument {name} of build() {why}; expected arguments with "
                    "defaults, other than h and duration"
                )
            fields[name] = (hints.get(name, type(argument.default)), argument.default)
    try:
        return create_model("FileParameters", __base__=RunParameters, **fields)
    except PydanticSchemaGenerationError:
        raise LimpetError(
            f"scene '{path}': the arguments of build() must be numbers, strings or quantities of "
            "limpet.units"
        ) from None
