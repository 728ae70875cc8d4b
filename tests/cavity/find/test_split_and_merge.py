"""Cavities that split, merge, flatten and come back while bodies move: no air is made or lost."""

from __future__ import annotations

import numpy as np
import pytest

import limpet as lp
from limpet.cavity.find.union_search import detect
from limpet.cavity.gas.atmosphere import Gas
from limpet.cavity.gas.ledger import AirLedger, Cavity
from limpet.cavity.mesh import volume
from limpet.cavity.seal.boundary import SealBoundary
from limpet.cavity.search import CavitySearch
from limpet.engine.simulation import Simulation
from limpet.geometry.bvh import build_tree
from limpet.geometry.shape import SoftShape, boundary
from limpet.meshing.bricks import bricks
from limpet.model.settings import Settings

MM = 1e-3
RTOL = 1e-9


def soft_bricks(name, filled, lines, raised) -> SoftShape:
    """A solid of bricks whose lowest nodes are raised by raised(x, y) [m]; its top is driven."""
    points, cells, _ = bricks(filled, lines)
    low, top = points[:, 2] == lines[2][0], points[:, 2] == lines[2][-1]
    points[low, 2] += raised(points[low, 0], points[low, 1])
    skin = boundary({"hex8": cells})
    return SoftShape(
        name, points, {"hex8": cells}, skin, skin, {"top": np.flatnonzero(top)}, "hex8"
    )


def two_chambers() -> SoftShape:
    """A pad with two chambers of different size, the rib between them 0.2 mm short of the rim."""
    filled = np.ones((8, 5, 3), dtype=bool)
    filled[1:4, 1:4, :2] = filled[5:7, 1:4, :2] = False
    x = np.array([-13, -11, -8, -5, -2, 0, 3.5, 7, 9]) * MM
    y = np.array([-8, -6, -2, 2, 6, 8]) * MM
    return soft_bricks(
        "pad", filled, (x, y, np.array([0, 2, 4, 7]) * MM),
        lambda x, y: 0.2 * MM * ((x > -2.1 * MM) & (x < 0.1 * MM) & (np.abs(y) < 5.9 * MM)),
    )  # fmt: skip


def dimpled() -> SoftShape:
    """A plug with a hollow 0.2 mm deep in its underside."""
    x = np.array([-8, -5, -2.5, 0, 2.5, 5, 8]) * MM
    return soft_bricks(
        "plug", np.ones((6, 6, 2), dtype=bool), (x, x, np.array([0, 2, 5]) * MM),
        lambda x, y: 0.2 * MM * (np.maximum(np.abs(x), np.abs(y)) < 4.9 * MM),
    )  # fmt: skip


def pressed(shape, stations, overpressure=0.0, settings=None):
    """Reports of a soft body whose top is moved over a fixed plate; (time [s], height [mm])."""
    world = lp.World(friction=0.3, atmosphere=lp.Atmosphere(overpressure=overpressure))
    body = world.add_soft(
        shape, lp.Material(1e6, 0.3), 0.003, name="body", position=(0.0, 0.0, 0.02 * MM)
    )
    world.add_rigid(lp.shapes.box(0.06, 0.06, 0.01), 1.0, name="plate", fixed=True)
    world.prescribe_motion(body["top"], lp.motion.path([(t, z * MM) for t, z in stations]))
    reports = list(Simulation(world, settings=settings).run(stations[-1][0]))
    assert all(r.converged for r in reports)
    assert max(r.air_error for r in reports) <= RTOL
    assert max(c.gas_residual for r in reports for c in r.cavities if c.air > 0.0) <= RTOL
    return reports


def test_a_rib_pressed_on_the_plate_splits_the_cavity_and_lets_it_merge_again():
    stations = [(0.0, 0.0), (0.1, -0.1)]
    for k in range(3):
        start = 0.1 + 0.25 * k
        stations += [
            (start + 0.1, -0.5), (start + 0.13, -0.5), (start + 0.23, -0.1), (start + 0.25, -0.1),
        ]  # fmt: skip
    reports = pressed(two_chambers(), stations, overpressure=50e3)
    sealed = [r for r in reports if r.time > 0.05]
    counts = [len(r.cavities) for r in sealed]
    changes = np.flatnonzero(np.diff(counts))
    assert set(counts) == {1, 2}
    assert len(changes) == 6  # apart and together again, three times
    # Nothing is vented at this overpressure, so the sum stays what was trapped at first.
    air = np.array([sum(c.air for c in r.cavities) for r in sealed])
    assert np.ptp(air) <= RTOL * air[0]
    for i in changes[::2]:
        whole, parts = sealed[i].cavities[0], sealed[i + 1].cavities
        # Shared by volume: both parts start with the pressure that the whole had.
        assert [c.pressure for c in parts] == pytest.approx([whole.pressure] * 2, rel=0.02)
        assert parts[0].air / parts[1].air == pytest.approx(9.0 / 7.0, rel=0.05)  # chambers' sizes
        assert parts[0].id == whole.id  # the larger one keeps the name
        assert parts[1].id > whole.id
    for i in changes[1::2]:
        assert sealed[i + 1].cavities[0].id == sealed[i].cavities[0].id
    # Apart, the two have their own pressures.
    apart = [[c.pressure for c in r.cavities] for r in sealed if len(r.cavities) == 2]
    assert max(abs(one - other) for one, other in apart) > 50.0


@pytest.mark.parametrize("every_step", [False, True])
def test_a_cavity_flattened_to_nothing_keeps_its_pull_and_comes_back(every_step):
    stations = [
        (0.0, 0.0), (0.1, -0.6), (0.2, 0.1), (0.22, 0.1), (0.32, -0.6), (0.34, -0.6), (0.45, 1.0),
    ]  # fmt: skip
    reports = pressed(dimpled(), stations, settings=Settings(search_every_step=every_step))
    pull = np.array([r.reactions["body"][2] for r in reports])
    held = [r for r in reports if r.cavities]
    assert {c.id for r in held for c in r.cavities} == {0}
    assert min(r.cavities[0].volume for r in held) < 1e-12  # [m^3], pressed flat
    # Raised by 0.1 mm it stays flat, and holds by vacuum alone.
    at = min(reports, key=lambda r: abs(r.time - 0.22))
    assert at.cavities[0].volume < 1e-12
    assert at.cavities[0].pressure < 20e3
    assert at.reactions["body"][2] > 8.0
    # Pulled off in the end, it first gets a volume again, then lets go.
    assert max(r.cavities[0].volume for r in held if r.time > 0.34) > 2e-9
    assert pull[-30:].max() > 15.0
    assert not reports[-1].cavities
    assert abs(pull[-1]) < 0.5


def test_a_cavity_that_closes_round_a_pocket_traps_air_and_adds_the_pockets(kit):
    # Of a dimple that is split by a ridge only one half is known: the other one was open till now.
    scene, _, y = kit.bellows()
    left, _ = detect(scene.surface, y, scene.contacts(y), 1e-4).cavities
    trees = [build_tree(scene.x[scene.part(b)], s.triangles) for b, s in enumerate(scene.surfaces)]
    air = lp.Atmosphere()
    master = np.array([1.0, 0.0])
    search = CavitySearch(scene.surface, trees, master, 1e-4, SealBoundary.OUTER, 0.005, False, air)
    for pocket in (1e-7, 5e-5):  # [mol]
        gas = Gas(pocket, air.constant, air.exponent)
        known = Cavity(id=7, mesh=left, gas=gas, pressure=air.pressure)
        book = AirLedger(cavities=(known,), next_id=8, created=pocket)
        near = search.proximity(scene.contacts(), scene.x)
        after, _ = search.update(book, scene.x, scene.contacts(), near)
        (c,) = after.cavities
        new = volume(c.mesh, scene.x) - volume(left, scene.x)
        assert new > 0.5 * volume(c.mesh, scene.x)
        assert c.air == pytest.approx(pocket + air.pressure * new / air.rt, rel=1e-12)
        assert after.error <= 1e-12
        assert c.id == 7
