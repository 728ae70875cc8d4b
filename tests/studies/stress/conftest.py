from __future__ import annotations

import pytest

from limpet.studies.stress import trace


@pytest.fixture(autouse=True)
def time_to_compile(monkeypatch: pytest.MonkeyPatch) -> None:
    """How long a world takes says nothing while its kernels are compiled."""
    monkeypatch.setattr(trace, "WORLD_LIMIT", 600.0)
