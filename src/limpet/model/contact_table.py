"""What two bodies of a world are to each other: whether they touch, how, and how rough they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

import numpy as np

from limpet.contact.friction import FrictionTable, RestitutionTable
from limpet.errors import LimpetError, suggest
from limpet.model.specs import RigidSpec, SoftSpec, Spec
from limpet.pressure_field.field_contacts import ORIGIN, FieldPair
from limpet.pressure_field.fields import is_compliant
from limpet.pressure_field.soft_field import SoftField
from limpet.pressure_field.surface import Pose


class ContactModel(StrEnum):
    """How two bodies touch."""

    POINTS = "points"  # of their surfaces
    FIELDS = "pressure fields"


class ContactTable:
    """Of all pairs of bodies, by name; what nobody has said of a pair follows from the bodies."""

    def __init__(self, specs: Mapping[str, Spec], friction: float) -> None:
        self._specs = specs
        self.friction = FrictionTable(friction)
        self.restitution = RestitutionTable()
        self._excluded: set[frozenset[str]] = set()
        self._model: dict[frozenset[str], tuple[ContactModel, float]] = {}

    def exclude_contact(self, one: str, other: str) -> None:
        self._excluded.add(frozenset((one, other)))

    def excluded(self, one: str, other: str) -> bool:
        """Whether two bodies pass through each other."""
        return frozenset((one, other)) in self._excluded

    def may_touch(self, one: str, other: str) -> bool:
        """Whether two bodies have anything to do with each other."""
        solid = self._specs[one].collides and self._specs[other].collides
        return solid and not self.excluded(one, other)

    def set_contact(self, one: Spec, other: Spec, model: str, dissipation: float) -> None:
        if model not in list(ContactModel):
            raise LimpetError(f"contact model = '{model}'{suggest(model, ContactModel)}")
        if model == ContactModel.FIELDS:
            for spec in (one, other):
                if getattr(spec, "field", None) is None:
                    raise LimpetError(
                        f"contact of '{one.name}' and '{other.name}': '{spec.name}' has no "
                        f"pressure field; {_remedy(spec)}"
                    )
        if not 0.0 <= dissipation < np.inf:
            raise LimpetError(f"dissipation = {dissipation:g} s: expected 0 or more")
        self._model[frozenset((one.name, other.name))] = ContactModel(model), dissipation

    def by_points(self, one: str, other: str) -> bool:
        """Whether two bodies meet with the points of their surfaces."""
        return self.may_touch(one, other) and self.by_fields(one, other) is None

    def by_fields(self, one: str, other: str) -> tuple[Spec, Spec] | None:
        """The two, if they meet with their pressure fields."""
        a, b = self._specs[one], self._specs[other]
        if a.field is None or b.field is None or not self.may_touch(one, other):
            return None
        model, _ = self._model.get(frozenset((one, other)), (None, 0.0))
        if model is None:
            compliant = any(isinstance(f, SoftField) or is_compliant(f) for f in (a.field, b.field))
            model = ContactModel.FIELDS if compliant else ContactModel.POINTS
        return (a, b) if model is ContactModel.FIELDS else None

    def field_pairs(self, names: Sequence[str]) -> list[FieldPair]:
        """The pairs of bodies that meet with their pressure fields, by number."""
        pairs = []
        for i, one in enumerate(names):
            for j in range(i + 1, len(names)):
                if (found := self.by_fields(one, names[j])) is not None:
                    a, b = found
                    assert a.field is not None and b.field is not None
                    _, dissipation = self._model.get(frozenset((one, names[j])), ("", 0.0))
                    pairs.append(
                        FieldPair(
                            i, j, a.field, b.field, dissipation, (one, names[j]),
                            _pose(a), _pose(b),
                        )
                    )  # fmt: skip
        return pairs


def _remedy(spec: object) -> str:
    """How a body gets a pressure field."""
    if isinstance(spec, RigidSpec):
        return "make it with limpet.fields"
    if isinstance(spec, SoftSpec):
        return "add it with field=limpet.fields.layer(...)"
    return "particle bodies cannot have one; use add_soft or add_rigid"


def _pose(spec: Spec) -> Pose:
    """Of the frame of its field at the beginning; that of a soft body is the world's."""
    return spec.field_pose if isinstance(spec, RigidSpec) else ORIGIN
