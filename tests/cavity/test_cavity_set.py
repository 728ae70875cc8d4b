"""The air of cavities that split, merge and open: its heat, its pressure, its chamber."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from limpet.cavity.cavity_set import CavitySet
from limpet.cavity.find.union_search import detect
from limpet.cavity.gas.atmosphere import Atmosphere
from limpet.cavity.gas.exchange import AirExchange
from limpet.cavity.gas.ledger import AirLedger
from limpet.cavity.gas.limit import ElasticEnergy
from limpet.cavity.gas.network import GasNetwork
from limpet.cavity.gas.piping import piping
from limpet.cavity.gas.transfer import transfer_air
from limpet.cavity.seal.boundary import SealBoundary
from limpet.cavity.search import CavitySearch
from limpet.dynamics.constraint_set import Control
from limpet.geometry.bvh import build_tree

AIR = Atmosphere(exponent=1.4)
SEALING, H = 1e-4, 0.01


@pytest.fixture(scope="module")
def bellows(kit):
    return kit.bellows()


def cavity_set(scene, x, air=AIR, exchange=None, elastic=None):
    """The set over two surfaces at x; its contacts are handed to `trial`."""
    parts = [x[scene.part(b)] for b in range(2)]
    trees = [build_tree(p, s.triangles) for p, s in zip(parts, scene.surfaces)]
    search = CavitySearch(
        scene.surface, trees, np.zeros(2), SEALING, SealBoundary.OUTER, 0.005, True, air
    )
    energy = np.zeros((2, 2)) if elastic is None else elastic
    return CavitySet(
        search, None, GasNetwork((), piping(()), (), air), [None, None],
        exchange or AirExchange(), lambda: energy, ["one", "other"],
    )  # fmt: skip


def found(scene, x, book, air=AIR, otherwise=None, elastic=None):
    """The ledger after a search at x."""
    cavities = cavity_set(scene, x, air, otherwise, elastic)
    return cavities.trial(book, x, scene.contacts(x), 0.0, H, Control(np.zeros_like(x)))[0]


def suction(cavity, ratio):
    """The cavity expanded by `ratio`: another pressure, the same air."""
    volume = ratio * cavity.gas.volume_at(cavity.pressure)
    return replace(cavity, pressure=cavity.gas.pressure_in(volume))


def test_new_air_is_that_of_outside(bellows):
    scene, whole, _ = bellows
    (cavity,) = found(scene, whole, AirLedger()).cavities
    assert cavity.gas.constant == AIR.constant
    assert cavity.gas.pressure_in(cavity.volume) == pytest.approx(AIR.pressure, rel=1e-12)
    assert cavity.p_max == AIR.pressure


def test_a_merge_keeps_air_energy_and_what_the_chambers_hold(bellows):
    scene, whole, split = bellows
    book = found(scene, split, AirLedger())
    assert len(book.cavities) == 2
    one, two = book.cavities
    parts = (replace(suction(one, 2.0), stored=1e-6), replace(suction(two, 1.1), stored=3e-6))
    book = replace(book, cavities=parts, created=book.created + 4e-6)
    after = found(scene, whole, book, otherwise=AirExchange(chamber=[(0.0, 1.0)]))
    (cavity,) = after.cavities
    energy = sum(c.air * c.gas.temperature_at(c.pressure) for c in parts)
    assert cavity.air == pytest.approx(sum(c.air for c in parts) + 4e-6, rel=1e-12)
    assert cavity.stored == pytest.approx(0.0, abs=1e-18)
    assert after.error <= 1e-12
    # without a chamber to give it back the energy is that of the parts
    parts = tuple(replace(c, stored=0.0) for c in parts)
    (cavity,) = found(scene, whole, replace(book, cavities=parts)).cavities
    mixed = cavity.air * cavity.gas.temperature_at(cavity.gas.pressure_in(cavity.volume))
    assert mixed == pytest.approx(energy, rel=1e-9)


def test_a_cavity_that_opens_takes_its_chamber_along(bellows):
    scene, whole, _ = bellows
    book = found(scene, whole, AirLedger())
    (cavity,) = book.cavities
    book = replace(book, cavities=(replace(cavity, stored=2e-6),), created=book.created + 2e-6)
    away = whole.copy()
    away[scene.part(0)] += [0.0, 0.0, 0.01]
    gone = found(scene, away, book)
    assert gone.cavities == ()
    assert gone.released == pytest.approx(book.created, rel=1e-12)
    assert gone.error <= 1e-12


def test_a_split_keeps_pressure_and_constant_and_shares_the_chamber(bellows):
    scene, whole, split = bellows
    book = found(scene, whole, AirLedger())
    before = replace(suction(book.cavities[0], 1.5), stored=1e-6)
    book = replace(book, cavities=(before,), created=book.created + 1e-6)
    # as new cavities they are two: a known one stays whole when its middle touches
    parts = detect(scene.surface, split, scene.contacts(split), SEALING)
    after = transfer_air(
        book, book.cavities, parts.cavities, split, scene.contacts(split), scene.surface, SEALING,
        Atmosphere(),
    )  # fmt: skip
    assert len(after.cavities) == 2
    for c in after.cavities:
        assert c.pressure == before.pressure
        assert c.gas.constant == before.gas.constant
        assert c.stored / c.air == pytest.approx(1e-6 / before.air, rel=1e-12)
    assert after.error <= 1e-12


def test_energy_counts_the_soft_bodies_round_the_cavity(bellows):
    scene, whole, _ = bellows
    air = Atmosphere(limit=ElasticEnergy(share=0.5))
    elastic = np.array([[3e-3, 1e-6], [0.0, 0.0]])  # J, m^3; the block is rigid
    (cavity,) = found(scene, whole, AirLedger(), air, elastic=elastic).cavities
    assert cavity.p_max == pytest.approx(air.pressure + 0.5 * 3e3, rel=1e-12)
