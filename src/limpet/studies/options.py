"""What can be set of a study with ``--set``: models that are read with one clear line on errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from limpet.units import explain


class StudyOptions(BaseModel):
    """The options of a study."""

    model_config = ConfigDict(frozen=True, extra="forbid")


Options = TypeVar("Options", bound=StudyOptions)


def _listed(value: object) -> object:
    """``"20 ms, 10 ms"`` as a list."""
    return [part.strip() for part in value.split(",")] if isinstance(value, str) else value


LISTED = BeforeValidator(_listed)


def read_options(kind: type[Options], settings: Mapping[str, object]) -> Options:
    try:
        return kind.model_validate(dict(settings))
    except ValidationError as error:
        raise explain(error, settings, kind.model_fields) from None
