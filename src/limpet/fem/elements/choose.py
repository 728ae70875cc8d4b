"""The element for a mesh and a material, and warnings about unsuitable elements."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

from limpet.errors import LimpetError, MeshError, suggest
from limpet.fem.elements import FAMILIES
from limpet.fem.elements.element import Element

LOCKS_ABOVE = 0.4  # Poisson's ratio above which linear tetrahedra lock severely


class LockingWarning(UserWarning):
    """The chosen element is known to be far too stiff for the material."""


def default_element(kinds: Iterable[str], poisson: float, *, rubber: bool = False) -> str:
    """The default element for a mesh of these cell kinds.

    A `rubber` law is not available with shared pressures.
    """
    kinds = set(kinds)
    shared = poisson > LOCKS_ABOVE and not rubber
    if kinds == {"tet4"}:
        return "iicr11" if shared else "tet4"
    if kinds == {"tet10"}:
        return "iicr21" if shared else "tet10"
    return "hex8" if "hex8" in kinds or "wedge6" in kinds else "hex20p"


def choose(
    body: str, kinds: Iterable[str], poisson: float, name: str | None, *, rubber: bool = False
) -> dict[str, Element]:
    """The element of each cell kind in the mesh of `body`; `name` is the user's choice."""
    kinds = list(kinds)
    known = {kind for family in FAMILIES.values() for kind in family}
    for kind in kinds:
        if kind not in known:
            raise MeshError(f"mesh of '{body}' has cells '{kind}': expected {_list(known, 'or')}")
    if name is None:
        name = default_element(kinds, poisson, rubber=rubber)
    if name not in FAMILIES:
        raise LimpetError(f"element = '{name}' of '{body}'{suggest(name, FAMILIES)}")
    family = FAMILIES[name]
    if not set(kinds) <= set(family):
        fit = [n for n, f in FAMILIES.items() if set(kinds) <= set(f)]
        use = f"use {_list(fit, 'or')}" if fit else "no element has all these cells"
        raise MeshError(
            f"element = '{name}' of '{body}' is made of {_list(family)} cells, "
            f"its mesh has {_list(kinds)}: {use}"
        )
    elements = {kind: family[kind] for kind in kinds}
    if poisson == 0.5 and not all(e.shared_pressure for e in elements.values()):
        raise LimpetError(
            f"poisson = 0.5 of '{body}': element '{name}' cannot be fully incompressible; "
            "use iicr21 (a mesh of tet10) or iicr11 (of tet4), or poisson = 0.499"
        )
    if name in ("tet4", "iicr10") and poisson > LOCKS_ABOVE:
        warnings.warn(
            f"element '{name}' of '{body}' locks at poisson = {poisson:g}: its forces are "
            "far too high; use hex20p or tet10, or iicr11 on the same mesh",
            LockingWarning,
            stacklevel=2,
        )
    return elements


def _list(names: Iterable[str], last: str = "and") -> str:
    *head, tail = sorted(names)
    return f"{', '.join(head)} {last} {tail}" if head else tail
