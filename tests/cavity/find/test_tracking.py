"""Air is carried through remeshing, merging and splitting, to the last bit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from limpet.cavity.find.tracking import AirShare, add_air, links
from limpet.cavity.find.union_search import detect
from limpet.cavity.gas.atmosphere import GAS_CONSTANT
from limpet.cavity.mesh import volume

ATMOSPHERE, ROOM = 101325.0, 293.15  # [Pa], [K]
NO_AIR = AirShare(np.empty(0, dtype=np.int64), np.empty(0), 0)


def carry_air(before, link, volumes, trapped):
    """What a cavity without predecessor traps is new air."""
    return add_air(before, link, volumes, np.where(link.any(axis=0), 0.0, trapped))


def follow(old, before, new, x):
    """Carry the air from old cavities to new ones at x; what closes now traps that of the room."""
    volumes = np.array([volume(mesh, x) for mesh in new])
    trapped = ATMOSPHERE * np.maximum(volumes, 0.0) / (GAS_CONSTANT * ROOM)
    return carry_air(before, links(old, new, x), volumes, trapped)


def air(*amounts):
    return AirShare(np.arange(len(amounts)), np.array(amounts, dtype=float), len(amounts))


@st.composite
def histories(draw):
    old, new = draw(st.integers(0, 5)), draw(st.integers(0, 5))
    amount = draw(st.lists(st.floats(0.0, 1e-2, allow_subnormal=False), min_size=old, max_size=old))
    volumes = draw(st.lists(st.floats(-1e-9, 1e-3), min_size=new, max_size=new))
    link = draw(st.lists(st.booleans(), min_size=old * new, max_size=old * new))
    return amount, np.array(volumes), np.array(link, dtype=bool).reshape(old, new)


@given(histories())
def test_air_is_conserved_whatever_merges_and_splits(history):
    amount, volumes, link = history
    before = air(*amount)
    trapped = np.maximum(volumes, 0.0) * 41.0
    after, ledger = carry_air(before, link, volumes, trapped)
    total = before.amount.sum() + ledger.created.sum() - ledger.released.sum()
    scale = before.amount.sum() + ledger.created.sum()
    assert after.amount.sum() == pytest.approx(total, rel=1e-12, abs=1e-12 * scale)
    assert abs(ledger.error) <= 1e-12 * scale
    assert (after.amount >= 0.0).all()
    assert len(set(after.id)) == len(after.id)
    assert (after.id < after.next_id).all()
    assert after.next_id >= before.next_id
    # New ids are new, old ids stay with a cavity they are linked to.
    for j, number in enumerate(after.id):
        assert number >= before.next_id or link[number, j]
    assert np.array_equal(ledger.lost, np.flatnonzero(~link.any(axis=1)))


def test_merging_adds_and_the_larger_share_names():
    link = np.array([[True], [True]])
    after, ledger = carry_air(air(1e-5, 3e-4), link, np.array([1e-6]), np.array([9.0]))
    assert after.amount == pytest.approx([3.1e-4])
    assert after.id.tolist() == [1]
    assert ledger.created.sum() == ledger.released.sum() == 0.0


def test_splitting_shares_by_volume():
    link = np.array([[True, True]])
    after, _ = carry_air(air(4e-4), link, np.array([3e-6, 1e-6]), np.zeros(2))
    assert after.amount == pytest.approx([3e-4, 1e-4])
    assert after.id.tolist() == [0, 1]


def test_a_flattened_split_shares_equally():
    after, _ = carry_air(air(4e-4), np.array([[True, True]]), np.array([-1e-9, 0.0]), np.zeros(2))
    assert after.amount == pytest.approx([2e-4, 2e-4])


def test_a_new_cavity_traps_air_and_keeps_it_through_remeshing(kit):
    scene = kit.scene(kit.cup(), kit.block(5))
    first = detect(scene.surface, scene.x, scene.contacts(), 1e-4).cavities
    start, ledger = follow((), NO_AIR, first, scene.x)
    expected = ATMOSPHERE * volume(first[0], scene.x) / (GAS_CONSTANT * ROOM)
    assert start.amount == pytest.approx([expected])
    assert ledger.created == pytest.approx([expected])
    # Squeeze the dome: the volume shrinks, the air stays.
    x = scene.x.copy()
    x[:33, 2] *= 0.6
    second = detect(scene.surface, x, scene.contacts(x), 1e-4, previous=first).cavities
    assert volume(second[0], x) < 0.8 * volume(first[0], scene.x)
    after, ledger = follow(first, start, second, x)
    assert after.amount == pytest.approx(start.amount, rel=1e-15)
    assert after.id.tolist() == start.id.tolist()
    # Lift it off: all of it is released.
    gone, ledger = follow(second, after, (), x)
    assert len(gone.amount) == 0
    assert ledger.released == pytest.approx(after.amount)
    assert ledger.lost.tolist() == [0]
    assert gone.next_id == 1


def test_meshes_that_split_and_merge_carry_their_air(kit):
    scene, whole, split = kit.bellows()
    one = detect(scene.surface, whole, scene.contacts(whole), 1e-4).cavities
    two = detect(scene.surface, split, scene.contacts(split), 1e-4).cavities
    assert (len(one), len(two)) == (1, 2)
    assert links(one, two, split).tolist() == [[True, True]]
    start, _ = follow((), NO_AIR, one, whole)
    parts, ledger = follow(one, start, two, split)
    assert parts.amount == pytest.approx(start.amount.sum() / 2, rel=1e-6)
    assert abs(ledger.error) < 1e-12 * start.amount.sum()
    merged, _ = follow(two, parts, one, whole)
    assert merged.amount == pytest.approx(start.amount, rel=1e-14)
    assert merged.id[0] in parts.id


def test_a_known_cavity_stays_whole_when_its_middle_touches(kit):
    scene, whole, split = kit.bellows()
    one = detect(scene.surface, whole, scene.contacts(whole), 1e-4).cavities
    still = detect(scene.surface, split, scene.contacts(split), 1e-4, previous=one)
    assert len(still.cavities) == 1
    assert still.unions == 1


def test_two_known_cavities_that_meet_become_one(kit):
    scene, whole, split = kit.bellows()
    two = detect(scene.surface, split, scene.contacts(split), 1e-4).cavities
    merged = detect(scene.surface, whole, scene.contacts(whole), 1e-4, previous=two)
    assert len(merged.cavities) == 1
    assert merged.lost == ()
    assert links(two, merged.cavities, whole).all()


def test_without_common_vertices_the_centre_decides(kit):
    scene = kit.scene(kit.cup(), kit.block(20))
    cup = detect(scene.surface, scene.x, scene.contacts(), 1e-4).cavities
    (mesh,) = cup
    # The same cavity as the block would carry it.
    block = np.flatnonzero(np.hypot(scene.x[:, 0], scene.x[:, 1]) < 0.01)
    block = block[(block >= scene.surface.offset[1]) & (scene.x[block, 2] == 0.0)]
    seen_by_block = replace(mesh, rings=np.array([[1, 0]]), interior=block, core=block)
    assert links([seen_by_block], cup, scene.x).all()
    # Elsewhere: nothing is shared and the old centre is not inside.
    corner = np.full_like(mesh.vertices, scene.surface.offset[1])
    assert not links([replace(seen_by_block, vertices=corner)], cup, scene.x).any()
