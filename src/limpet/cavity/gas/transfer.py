"""Whose air is whose after cavities were found anew: split, merged, new, gone or only missed."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import replace

import numpy as np

from limpet.cavity.find.tracking import AirShare, add_air, annexed, links
from limpet.cavity.gas.atmosphere import Atmosphere, Gas, mixed
from limpet.cavity.gas.ledger import AirLedger, Cavity
from limpet.cavity.mesh import CavityMesh, JoinedSurface, volume
from limpet.cavity.seal.leak_paths import seal_gaps
from limpet.contact.contacts import Contacts

Array = np.ndarray

PATIENCE = 1  # detections in a row that may miss a cavity before its air is given up
DOUBT = 1.2  # sealing distances: a leak path that is wider all along is open


def transfer_air(
    ledger: AirLedger, old: Sequence[Cavity], found: Sequence[CavityMesh], x: Array,
    contacts: Contacts, surface: JoinedSurface, sealing_distance: float, around: Atmosphere,
    staggered: Container[int] = (), bare_gap: Callable[[CavityMesh], float] = lambda _: -np.inf,
) -> AirLedger:  # fmt: skip
    """The ledger without `old` and with the cavities found, which have the air of those that they
    share room with. What was only missed now keeps its mesh.

    staggered: surfaces whose gaps are not known well enough to say that a ring is open. bare_gap:
    the seal gap [m] of a cavity whose ring no vertex graph closes; -inf: it is not known.
    """
    link = links([c.mesh for c in old], found, x)
    ringed = np.array([len(c.mesh.seal_line) > 0 for c in old], dtype=bool)
    bare = np.array([len(m.seal_line) == 0 for m in found], dtype=bool)
    # a ring that has come apart is no cavity, even where folded walls still enclose a void
    keep = ~(bare & link[ringed].any(axis=0))
    new = [m for m, ok in zip(found, keep) if ok]
    link = link[:, keep]
    # a wide leak path is open beyond doubt; else wait a step
    lost = [i for i, c in enumerate(old) if not link[i].any() and c.missing < PATIENCE]
    gaps = seal_gaps(surface, contacts, sealing_distance, [old[i].mesh for i in lost])
    gaps = [gap if ringed[i] else bare_gap(old[i].mesh) for i, gap in zip(lost, gaps)]
    known = [not any(b in staggered for b in old[i].mesh.body.tolist()) for i in lost]
    widest = np.where(known, DOUBT * sealing_distance, np.inf)
    waiting = [i for i, gap, most in zip(lost, gaps, widest) if gap < most]
    meshes = [*new, *(old[i].mesh for i in waiting)]
    stays = np.zeros((len(old), len(waiting)), dtype=bool)
    stays[waiting, np.arange(len(waiting))] = True
    link = np.hstack([link, stays])
    volumes = np.array([max(volume(m, x), 0.0) for m in meshes])
    gained = annexed([c.mesh for c in old], meshes, link, x, sealing_distance)
    outside = np.where(link.any(axis=0), gained, volumes)  # [m^3] open to the air until now
    created = around.pressure * outside / around.rt
    air = AirShare(
        np.array([c.id for c in old], dtype=np.int64),
        np.array([c.air for c in old], dtype=float),
        ledger.next_id,
    )
    after, shares = add_air(air, link, volumes, created)
    stored = np.array([c.stored for c in old])
    missing = {old[i].id: old[i].missing + 1 for i in waiting}
    cavities = []
    for j, mesh in enumerate(meshes):
        gas, pressure = _inherited(
            old, link[:, j], shares.share[:, j], volumes[j], created[j], around
        )
        number = int(after.id[j])
        cavities.append(
            Cavity(
                id=number, mesh=mesh, gas=replace(gas, amount=float(after.amount[j])),
                pressure=pressure, stored=float(shares.share[:, j] @ stored),
                missing=missing.get(number, 0),
            )
        )  # fmt: skip
    return replace(
        ledger, cavities=tuple(cavities), next_id=after.next_id,
        created=ledger.created + float(shares.created.sum()),
        released=ledger.released + float(shares.released.sum() + stored[shares.lost].sum()),
    )  # fmt: skip


def _inherited(
    old: Sequence[Cavity], link: Array, share: Array, volume: float, created: float,
    around: Atmosphere,
) -> tuple[Gas, float]:  # fmt: skip
    """The air that a cavity has from the old ones and from outside, and its pressure."""
    parts = [
        (replace(old[i].gas, amount=float(share[i] * old[i].air)), old[i].pressure)
        for i in np.flatnonzero(link).tolist()
    ]
    if created > 0.0 or not parts:
        fresh = Gas(created, around.constant, around.exponent)
        parts.append((fresh, around.pressure))
    return mixed(parts, volume)
