"""Which new cavity is which old one, and where the air goes (P 4.3).

Air is neither made nor lost by remeshing: a cavity that is found again keeps its air, cavities that
merge add theirs, one that splits shares it by volume. Only a cavity that opens lets air go, and
only one that closes traps new air; if it closes round an old pocket, the pocket's air comes on top.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from limpet.cavity.mesh import CavityMesh, areas, centre, common_air, contains, volume

Array = np.ndarray


@dataclass(frozen=True)
class AirShare:
    """The air of each cavity, in the order of the cavity meshes."""

    id: Array  # (c,) int64, stays with a cavity for its life
    amount: Array  # (c,) n [mol]
    next_id: int  # ids below this have been given


@dataclass(frozen=True)
class Ledger:
    """What one tracking did to the air: sum(after) = sum(before) + created - released."""

    share: Array  # (old, new), the part of each old cavity's air that each new one received
    created: Array  # (new,) [mol], air newly trapped
    released: Array  # (old,) [mol], air of cavities that vanished
    error: float  # [mol], what the balance misses by rounding

    @property
    def lost(self) -> Array:
        """The old cavities (by index) that vanished."""
        return np.flatnonzero(~self.share.any(axis=1))


def links(old: Sequence[CavityMesh], new: Sequence[CavityMesh], x: Array) -> Array:
    """Which new cavities each old one lives on in, (old, new) bool.

    They share interior vertices of the body that carries them. Where an old and a new cavity have
    none to share (another body carries it now), P's rule decides: the nearest centre, if the old
    centre lies in the new cavity.
    """
    link = common_air(old, new, len(x))
    for i in np.flatnonzero(~link.any(axis=1)).tolist():
        middle = centre(old[i], x)
        orphans = [j for j in range(len(new)) if not link[:, j].any()]
        if orphans:
            far = [float(np.linalg.norm(centre(new[j], x) - middle)) for j in orphans]
            nearest = orphans[int(np.argmin(far))]
            link[i, nearest] = contains(new[nearest], x, middle)
    return link


def annexed(
    old: Sequence[CavityMesh], new: Sequence[CavityMesh], link: Array, x: Array, thickness: float,
) -> Array:  # fmt: skip
    """The volume (new,) [m^3] of each new cavity that no old one had, where that is most of it.

    It was outside a moment ago: a ring has closed round a pocket that was known. Remeshing a cavity
    changes its volume by far less. Walls within `thickness` [m] of each other hold no volume.
    """
    before = np.array([max(volume(mesh, x), 0.0) for mesh in old])
    now = np.array([max(volume(mesh, x), 0.0) for mesh in new])
    more = now - link.T.astype(float) @ before
    thin = np.array([0.5 * thickness * areas(mesh, x)[0] for mesh in new])
    return np.where(link.any(axis=0) & (more > 0.5 * now) & (more > thin), more, 0.0)


def add_air(air: AirShare, link: Array, volumes: Array, created: Array) -> tuple[AirShare, Ledger]:
    """Distribute the air along the links, and add what each new cavity (new,) [mol] traps now."""
    weight = link * np.maximum(volumes, 0.0)
    flat = link.any(axis=1) & (weight.sum(axis=1) <= 0.0)
    weight[flat] = link[flat]  # nothing but flattened cavities to share between: equal parts
    total = weight.sum(axis=1, keepdims=True)
    share = np.divide(weight, total, out=np.zeros_like(weight), where=total > 0.0)
    flow = share * air.amount[:, None]
    released = np.where(link.any(axis=1), 0.0, air.amount)
    amount = flow.sum(axis=0) + created
    error = float(amount.sum() - (air.amount.sum() + created.sum() - released.sum()))
    number, next_id = _name(air, link, flow)
    return AirShare(number, amount, next_id), Ledger(share, created, released, error)


def _name(air: AirShare, link: Array, flow: Array) -> tuple[Array, int]:
    """Ids of the new cavities: that of the old one most of whose air came here, each only once."""
    number = np.full(link.shape[1], -1, dtype=np.int64)
    taken = np.zeros(link.shape[0], dtype=bool)
    rows, columns = np.nonzero(link)
    for e in np.argsort(-flow[rows, columns], kind="stable"):
        i, j = rows[e], columns[e]
        if number[j] < 0 and not taken[i]:
            number[j] = air.id[i]
            taken[i] = True
    fresh = np.flatnonzero(number < 0)
    number[fresh] = air.next_id + np.arange(len(fresh))
    return number, air.next_id + len(fresh)
