"""Edges that come to cross within a step, which no contact before it foresaw."""

from __future__ import annotations

from dataclasses import replace

from limpet.contact.contact_set import ContactSet
from limpet.contact.contacts import Contacts
from limpet.contact.limits import DEFAULT_LIMITS, ContactLimits
from limpet.scenes.registry import load


def deepest() -> float:
    """[m] of a cup pressed on a narrow prism, whose real edges its lip slides over."""
    scene = load("curved", {"radius": "15 mm", "h": "20 ms", "duration": "0.5 s"})
    specs = scene.world.specs
    specs.update({name: replace(spec, crease=0.0) for name, spec in specs.items()})
    return max(r.max_penetration for r in scene.simulation().run(0.5))


def test_crossing_edges_are_parted_in_the_step_they_meet(monkeypatch) -> None:
    assert deepest() < 2.5e-5
    # as if nobody looked, nor remembered
    blind = replace(DEFAULT_LIMITS, crossing=1.0, deep=1.0)
    monkeypatch.setattr(ContactLimits, "of", lambda sealing_distance: blind)
    monkeypatch.setattr(ContactSet, "still_crossing", lambda self, last, x: Contacts.none())
    assert deepest() > 5e-5
