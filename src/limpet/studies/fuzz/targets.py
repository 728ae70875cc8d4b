"""What reads the inputs: the same functions that the commands and the page call."""

from __future__ import annotations

import os
import traceback
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from limpet.errors import LimpetError
from limpet.meshing.check_file import check_file
from limpet.meshing.files import load_mesh
from limpet.scenes.registry import load, read_scene_file
from limpet.scenes.settings import parse_settings
from limpet.studies.fuzz import seeds
from limpet.studies.fuzz.mutate import mutated

LONGEST_MESSAGE = 2100  # characters
SMALL = {"sectors": 6, "segments": 3}


@dataclass(frozen=True)
class Input:
    kind: str
    content: bytes

    @property
    def file_name(self) -> str:
        endings = {"scene": "toml", "set": "txt", "message": "json"}
        return f"input.{endings.get(self.kind, self.kind.split()[0])}"


@dataclass(frozen=True)
class Outcome:
    """How an input was taken: "accepted", "refused", or what must not be."""

    verdict: str
    text: str = ""  # the message, or the traceback

    @property
    def failed(self) -> bool:
        return self.verdict not in ("accepted", "refused")

    @property
    def last_line(self) -> str:
        return (self.text.strip().splitlines() or [""])[-1]


def make_input(seed: int, index: int) -> Input:
    """The same input for the same numbers, in every process."""
    rng = np.random.default_rng([seed, index])
    draw = rng.random()
    if draw < 0.25:
        kind, content = "scene", seeds.pick(rng, seeds.SCENES).encode()
    elif draw < 0.40:
        scene, text = seeds.setting(rng).split(" ", 1)
        # half of them as they are, wrong by their value only
        changed = text.encode() if rng.random() < 0.5 else mutated(text.encode(), rng)
        return Input("set", f"{scene} ".encode() + changed)
    elif draw < 0.60:
        kind, content = "message", seeds.pick(rng, seeds.MESSAGES).encode()
    else:
        found = seeds.meshes() if draw < 0.99 else seeds.other_meshes()
        kind = list(found)[int(rng.integers(len(found)))]
        content = found[kind]
    return Input(kind, mutated(content, rng))


def judge(given: Input, folder: Path) -> Outcome:
    """Hand the input to its reader, and look at what comes back."""
    try:
        message = _take(given, folder)
    except Exception:
        return Outcome("traceback", traceback.format_exc())
    if message is None:
        return Outcome("accepted")
    if not message.strip() or len(message.splitlines()) != 1 or len(message) > LONGEST_MESSAGE:
        return Outcome("not one line", message[:1000])
    return Outcome("refused", message)


def _take(given: Input, folder: Path) -> str | None:
    """None, or the message with which the input is refused."""
    from limpet.viewer.commands import MalformedError, read_command

    try:
        if given.kind == "message":
            text = given.content.decode("utf-8", "replace")
            return _obeyed(read_command(text))
        if given.kind == "set":
            text = os.fsdecode(given.content.replace(b"\0", b""))  # arguments have no zero bytes
            scene, _, setting = text.partition(" ")
            load(scene, parse_settings([setting]))
            return None
        path = folder / given.file_name
        path.write_bytes(given.content)
        if given.kind == "scene":
            (folder / "common.toml").write_text(seeds.COMMON)
            (folder / "block.stl").write_bytes(seeds.meshes()["stl binary"])
            load(*read_scene_file(path))
        else:
            check_file(path, "mm")
            load_mesh(path, "mm")
    except (LimpetError, MalformedError) as problem:
        return str(problem)
    return None


def _obeyed(command: dict[str, Any]) -> str | None:
    """What the simulation behind the page answers, if it refuses a command."""
    worker, answers = _worker()
    answers.clear()
    worker._execute(command)
    return next((a["text"] for a in answers if a["type"] == "problem"), None)


@cache
def _worker() -> tuple[Any, list[dict[str, Any]]]:
    from limpet.viewer.worker import Worker

    answers: list[dict[str, Any]] = []

    class Answers(Worker):
        def _send(self, message: dict[str, Any]) -> None:
            answers.append(message)

    return Answers(None, "ground", SMALL), answers  # type: ignore[arg-type]
