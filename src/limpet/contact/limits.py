"""Lengths by which contact is judged: shares of the gap that is closed to air."""

from __future__ import annotations

from dataclasses import dataclass

LARGEST = 5e-5  # [m] of the sealing distances they scale with: beyond it overlap would be seen


@dataclass(frozen=True)
class ContactLimits:
    """[m]; a cup of a tenth of the size, with a tenth of the sealing distance, has a tenth."""

    missed: float  # a vertex deeper than this after a step was missed by detection
    crossing: float  # and edges deeper than this have come to cross within the step
    deep: float  # and all that are deeper than this are linearised anew where they end
    near: float  # contacts predicted to come this near are solved for from the start

    @classmethod
    def of(cls, sealing_distance: float) -> ContactLimits:
        d = min(sealing_distance, LARGEST)
        return cls(missed=0.1 * d, crossing=0.4 * d, deep=0.8 * d, near=0.6 * d)


DEFAULT_LIMITS = ContactLimits.of(LARGEST)
