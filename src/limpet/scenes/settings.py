"""Settings of the command line: ``--set KEY=VALUE``."""

from __future__ import annotations

import tomllib

from limpet.errors import LimpetError


def parse_settings(texts: list[str]) -> dict[str, object]:
    """Parse ``key=value`` pairs; a value in brackets is a list, as in TOML."""
    settings: dict[str, object] = {}
    for text in texts:
        key, equals, value = (part.strip() for part in text.partition("="))
        if not (key and equals and value):
            raise LimpetError(f"--set {text}: expected KEY=VALUE, such as --set friction=0.5")
        settings[key] = value
        if value.startswith("["):
            try:
                settings[key] = tomllib.loads(f"value = {value}")["value"]
            except (ValueError, RecursionError):  # no TOML, too many digits or brackets
                raise LimpetError(f"--set {text}: expected a list such as [1, 2, 3]") from None
    return settings
