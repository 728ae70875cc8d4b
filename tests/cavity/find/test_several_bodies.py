"""Cavities that more than two bodies close: a cup on a ring on a plate, a tunnel under two cups."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from manifold3d import Manifold

import limpet as lp
from limpet.cavity.find.trigger import groups
from limpet.cavity.find.union_search import Fate, detect
from limpet.cavity.gas.ledger import AirLedger
from limpet.cavity.mesh import volume, volume_and_gradient
from limpet.cavity.seal.boundary import SealBoundary
from limpet.cavity.seal.leak_paths import seal_gaps
from limpet.cavity.search import CavitySearch
from limpet.engine.simulation import Simulation
from limpet.geometry.bvh import build_tree
from limpet.geometry.shape import RigidShape

S = 1e-4
SECTORS = 16


def revolved(profile, sectors: int = SECTORS) -> RigidShape:
    """A ring: a closed profile of (radius, height) [m], counter-clockwise, turned about z."""
    angle = 2.0 * np.pi * np.arange(sectors) / sectors
    points = [(r * np.cos(a), r * np.sin(a), z) for r, z in profile for a in angle]
    triangles = []
    for i in range(len(profile)):
        k = (i + 1) % len(profile)
        for j in range(sectors):
            n = (j + 1) % sectors
            p, q, r, s = (
                i * sectors + j,
                i * sectors + n,
                k * sectors + n,
                k * sectors + j,
            )
            triangles += [(p, q, r), (p, r, s)]
    return RigidShape("ring", np.array(points), np.array(triangles, dtype=np.int32))


def stack(kit, order=(0, 1, 2), rise=0.0, foot=0.02):
    """Cup, ring and plate in the given order, the ring's bore of 6 mm open to the plate."""
    ring = revolved([(6e-3, 0.0), (foot, 0.0), (0.025, 4e-3), (6e-3, 4e-3)])
    cup, triangles = kit.cup()
    bodies = [
        (cup + np.array([0.0, 0.0, 4e-3 + rise]), triangles),
        (ring.points + np.array([0.0, 0.0, rise]), ring.triangles),
        kit.block(),
    ]
    return kit.scene(*(bodies[i] for i in order)), [order.index(i) for i in range(3)]


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_a_cup_on_a_ring_on_a_plate_is_one_cavity_with_two_carriers(kit, order):
    scene, (cup, ring, plate) = stack(kit, order)
    alone = kit.scene(kit.cup(), kit.block())
    under = volume(detect(alone.surface, alone.x, alone.contacts(), S).cavities[0], alone.x)
    (mesh,) = detect(scene.surface, scene.x, scene.contacts(), S).cavities
    assert set(map(tuple, mesh.rings)) == {(cup, ring), (ring, plate)}
    assert volume(mesh, scene.x) == pytest.approx(under + 4e-3 * kit.polygon(6e-3), rel=1e-10)
    lift = [kit.gradient(mesh, scene.x)[scene.part(b)].sum(axis=0)[2] for b in (cup, ring, plate)]
    outer, foot = kit.polygon(0.017), kit.polygon(0.020)  # the air has crept under both contacts
    assert lift == pytest.approx([outer, foot - outer, -foot], rel=1e-9)
    again = detect(scene.surface, scene.x, scene.contacts(), S, previous=(mesh,))
    assert again.unions == 1
    assert volume(again.cavities[0], scene.x) == pytest.approx(volume(mesh, scene.x), rel=1e-12)


def test_the_seal_gap_is_that_of_the_ring_that_opens_first(kit):
    for rise in (3e-5, 6e-5):  # of the ring with the cup on it
        scene, (_, ring, plate) = stack(kit, rise=rise)
        cavities = detect(scene.surface, scene.x, scene.contacts(), S).cavities
        assert seal_gaps(scene.surface, scene.contacts(), S, cavities) == pytest.approx([rise])
    # Tilted, the ring opens on one side of the plate while the cup stays on it.
    x = scene.x.copy()
    above = scene.surface.body != plate
    x[above, 2] += 0.01 * (x[above, 0] + 0.02)
    gone = detect(scene.surface, x, scene.contacts(x), S, previous=cavities)
    assert gone.cavities == ()
    assert gone.lost == ((0, Fate.OPEN),)
    assert ring in cavities[0].carriers


def test_bodies_that_touch_nothing_stay_out_of_the_union(kit):
    scene, _ = stack(kit)
    far, triangles = kit.block()
    wide = kit.scene(
        *((scene.x[scene.part(b)], scene.surfaces[b].triangles) for b in range(3)),
        (far + np.array([0.0, 0.0, 0.2]), triangles),
        (far + np.array([0.0, 0.0, 0.23015]), triangles),
    )
    contacts = wide.contacts()
    assert groups(contacts, S, (), 5).tolist() == [0, 0, 0, 3, 4]
    assert groups(contacts, 2e-4, (), 5).tolist() == [0, 0, 0, 3, 3]
    (mesh,) = detect(wide.surface, wide.x, contacts, S, bodies=[0, 1, 2]).cavities
    assert groups(wide.contacts(wide.moved(2, (0, 0, -1))), S, (), 5).tolist() == [0, 0, 2, 3, 4]
    apart = wide.contacts(wide.moved(2, (0.0, 0.0, -1.0)))
    assert groups(apart, S, (mesh,), 5).tolist() == [0, 0, 0, 3, 4]


def test_a_change_in_one_group_leaves_the_mesh_of_another_as_it_is(kit):
    (cup, t), (block, u) = kit.cup(), kit.block()
    aside = np.array([0.2, 0.0, 0.0])
    scene = kit.scene((cup, t), (block, u), (cup + aside, t), (block + aside, u))
    trees = [build_tree(scene.x[scene.part(b)], s.triangles) for b, s in enumerate(scene.surfaces)]
    search = CavitySearch(
        scene.surface, trees, np.array([1.0, 0.0, 1.0, 0.0]), S, SealBoundary.OUTER, 0.005, False,
        lp.Atmosphere(),
    )  # fmt: skip

    def update(ledger, x):
        contacts = scene.contacts(x)
        book, remeshed = search.update(ledger, x, contacts, search.proximity(contacts, x))
        areas = [volume_and_gradient(c.mesh, x)[1] for c in book.cavities]
        measured = tuple(replace(c, gradient=g) for c, g in zip(book.cavities, areas))
        return replace(book, cavities=measured), remeshed

    book, remeshed = update(AirLedger(), scene.x)
    assert remeshed
    assert [c.id for c in book.cavities] == [0, 1]
    same, remeshed = update(book, scene.x)
    assert not remeshed
    x = scene.x.copy()
    second = x[scene.part(2)]
    rim = (second[:, 2] == 0.0) & (second[:, 0] > 0.2165)  # lift the outer edge on one side
    second[rim, 2] += 5e-4
    after, remeshed = update(same, x)
    assert remeshed
    assert after.cavities[0].mesh is book.cavities[0].mesh
    assert after.cavities[1].mesh is not book.cavities[1].mesh
    assert [c.air for c in after.cavities] == [c.air for c in book.cavities]


def cup_on_ring(foot: float, speed: float = 10e-3):
    """A cup pressed on a ring of 50 g that lies loose on a plate, held, and pulled."""
    world = lp.World(friction=0.5)
    high, down = 4e-3, -2.9e-3
    cup = world.add_soft(
        lp.shapes.cup("standard", element="tet4", sectors=12, segments=7),
        lp.Material(4e6, 0.45), 0.02, name="cup", position=(0.0, 0.0, high + 0.4e-3),
    )  # fmt: skip
    ring = revolved([(6e-3, 0.0), (foot, 0.0), (0.025, high), (6e-3, high)])
    world.add_probe("ring", world.add_rigid(ring, 0.05, name="ring"))
    world.add_rigid(lp.shapes.box(0.08, 0.08, 0.01), 1.0, name="plate", fixed=True)
    world.prescribe_motion(
        cup["top"],
        lp.motion.path([(0.0, 0.0), (0.2, down), (0.3, down), (1.8, down + 1.5 * speed)]),
    )
    return world


def run_until_released(world, most: float = 1.8):
    """Until its first cavity is gone; the ring may fall back and seal anew within that step."""
    reports = []
    for report in Simulation(world).run(most):
        reports.append(report)
        if report.time > 0.4 and all(c.id > 0 for c in report.cavities):
            break
    assert all(r.converged for r in reports)
    assert max(r.air_error for r in reports) <= 1e-9
    *before, last = reports
    assert last.time < most and {c.id for r in before for c in r.cavities} == {0}
    held = [r for r in before if r.cavities and r.time > 0.3]
    products = np.array([r.cavities[0].pressure * r.cavities[0].volume for r in held])
    assert np.ptp(products) <= 1e-6 * products[0]
    return reports, held


def test_on_a_wide_foot_the_cup_lets_go_of_the_ring():
    reports, _ = run_until_released(cup_on_ring(foot=0.025))
    peak = max(r.reactions["cup"][2] for r in reports)
    assert peak > 20.0
    assert reports[-1].probes["ring_z"] == pytest.approx(reports[0].probes["ring_z"], abs=2e-5)


def test_on_a_narrow_foot_the_ring_comes_off_the_plate():
    """Then weight and the suction under the foot are all that hold: known without the model."""
    reports, held = run_until_released(cup_on_ring(foot=0.009))
    suction = 101325.0 - held[-1].cavities[0].pressure
    foot = np.pi * 0.009**2  # its facets stand for a round one
    expected = (0.02 + 0.05) * 9.81 + suction * foot
    assert held[-1].reactions["cup"][2] == pytest.approx(expected, rel=0.02)
    assert held[-1].probes["ring_z"] > reports[0].probes["ring_z"] + 1e-5


def box_with_tunnel() -> RigidShape:
    """A box, its top at z = 0, with a tunnel between two holes in its top, 44 mm apart."""
    solid = Manifold.cube((0.09, 0.045, 0.02), True).translate((0.0, 0.0, -0.01))
    for side in (-1, 1):
        hole = Manifold.cylinder(0.012, 0.004, 0.004, 10)
        solid -= hole.translate((side * 0.022, 0.0, -0.011))
    bore = Manifold.cylinder(0.044, 0.003, 0.003, 8, True)
    solid -= bore.rotate((0, 90, 0)).translate((0.0, 0.0, -0.010))
    mesh = solid.to_mesh64()
    triangles = np.asarray(mesh.tri_verts).astype(np.int32)
    return RigidShape("box with tunnel", np.array(mesh.vert_properties[:, :3]), triangles)


def lift_by(cups):
    """The box stands on a plate; cups are pressed on its top at the given x [m] and raised."""
    world = lp.World(friction=0.5)
    down = -2.9e-3
    for number, x in enumerate(cups):
        cup = world.add_soft(
            lp.shapes.cup("standard", element="tet4", sectors=12, segments=7),
            lp.Material(4e6, 0.45), 0.02, name=f"cup {number}", position=(x, 0.0, 0.4e-3),
        )  # fmt: skip
        stations = [(0.0, 0.0), (0.2, down), (0.3, down), (0.6, down + 6e-3), (0.7, down + 6e-3)]
        world.prescribe_motion(cup["top"], lp.motion.path(stations))
    world.add_probe("box", world.add_rigid(box_with_tunnel(), 0.1, name="box"))
    world.add_rigid(
        lp.shapes.box(0.12, 0.08, 0.01), 1.0, name="plate", fixed=True, position=(0, 0, -0.02)
    )
    simulation = Simulation(world)
    reports = list(simulation.run(0.7))
    assert all(r.converged for r in reports)
    return simulation, reports


def test_a_tunnel_is_closed_by_a_cup_on_each_hole():
    simulation, reports = lift_by((-0.022, 0.022))
    (trapped,) = simulation.model.cavities.ledger.cavities
    assert trapped.mesh.carriers == (0, 1)
    assert {len(r.cavities) for r in reports if r.time > 0.1} == {1}
    assert reports[-1].probes["box_z"] > reports[0].probes["box_z"] + 4e-3
    for drive in reports[-1].reactions.values():  # each carries a cup and half of the box
        assert drive[2] == pytest.approx((0.02 + 0.05) * 9.81, rel=0.01)
    assert max(r.air_error for r in reports) <= 1e-9


def test_a_tunnel_with_an_open_hole_holds_nothing():
    _, reports = lift_by((-0.022,))
    assert not any(r.cavities for r in reports)
    assert reports[-1].probes["box_z"] == pytest.approx(reports[0].probes["box_z"], abs=1e-5)
    assert reports[-1].reactions["cup 0"][2] == pytest.approx(0.02 * 9.81, rel=0.02)


def as_body(solid: Manifold, finest: float | None):
    mesh = (solid.refine_to_length(finest) if finest else solid).to_mesh64()
    return np.array(mesh.vert_properties[:, :3]), np.asarray(mesh.tri_verts).astype(np.int32)


def tub_in_halves(finest: float | None, gap: float = 0.0):
    """Two halves of a tub, 20 x 20 x 10 mm inside, and a lid: they meet in points at the rim."""
    halves = []
    for side in (-1, 1):
        half = Manifold.cube((0.02, 0.04, 0.02)).translate((0.01 * side - 0.01, -0.02, -0.02))
        half -= Manifold.cube((0.02, 0.02, 0.012), True).translate((0.0, 0.0, -0.004))
        halves.append(as_body(half.translate((side * gap / 2, 0.0, 0.0)), finest))
    lid = Manifold.cube((0.03, 0.03, 0.005)).translate((-0.015, -0.015, gap))
    return [*halves, as_body(lid, finest)]


def assert_closed(mesh):
    """Every edge is met as often in one direction as in the other."""
    t = mesh.triangles
    half = np.concatenate([t[:, [0, 1]], t[:, [1, 2]], t[:, [2, 0]]])
    net = np.zeros((len(mesh.vertices),) * 2, dtype=int)
    np.add.at(net, (half[:, 0], half[:, 1]), 1)
    assert np.array_equal(net, net.T)


@pytest.mark.parametrize("finest", [None, 6e-3])
@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_three_bodies_that_meet_in_points_enclose_the_exact_volume(kit, order, finest):
    for gap in (0.0, 2e-5):
        bodies = tub_in_halves(finest, gap)
        scene = kit.scene(*(bodies[i] for i in order))
        (mesh,) = detect(scene.surface, scene.x, scene.contacts(), S).cavities
        assert_closed(mesh)
        assert set(mesh.body) == {0, 1, 2}
        inside = (0.02 + gap) * 0.02 * (0.01 + gap)
        films = gap * (600e-6 + 500e-6)  # under the lid and between the halves, if air is there
        assert inside * (1 - 5e-4) < volume(mesh, scene.x) < (inside + films) * (1 + 5e-4)
        g = kit.gradient(mesh, scene.x)
        assert np.abs(g.sum(axis=0)).max() < 1e-15
    # A lid that is tilted by more than the sealing distance leaves it open.
    tilted = scene.x.copy()
    lid = scene.part(order.index(2))
    tilted[lid, 2] += 0.02 * (tilted[lid, 0] + 0.015)
    assert detect(scene.surface, tilted, scene.contacts(tilted), S).cavities == ()


def test_four_quarters_under_a_lid(kit):
    """The axis where four bodies meet lies on the floor of the tub."""
    bodies = []
    for side in ((-1, -1), (1, -1), (1, 1), (-1, 1)):
        x, y = (0.01 * s - 0.01 for s in side)
        quarter = Manifold.cube((0.02, 0.02, 0.02)).translate((x, y, -0.02))
        quarter -= Manifold.cube((0.02, 0.02, 0.012), True).translate((0.0, 0.0, -0.004))
        bodies.append(as_body(quarter, None))
    bodies.append(as_body(Manifold.cube((0.03, 0.03, 0.005)).translate((-0.015, -0.015, 0)), None))
    scene = kit.scene(*bodies)
    (mesh,) = detect(scene.surface, scene.x, scene.contacts(), S).cavities
    assert_closed(mesh)
    assert set(mesh.body) == {0, 1, 2, 3, 4}
    assert volume(mesh, scene.x) == pytest.approx(4e-6, rel=5e-4)


def test_from_the_wall_of_a_hole_a_strip_leads_over_its_rim_to_the_seal_line(kit):
    """The lid bears the ring, and has no vertex near the edge of the hole."""
    hole = Manifold.cube((0.04, 0.04, 0.02)).translate((-0.02, -0.02, -0.02))
    hole -= Manifold.cube((0.016, 0.016, 0.02), True)
    lid = Manifold.cube((0.03, 0.03, 0.005)).translate((-0.015, -0.015, 0.0))
    scene = kit.scene(as_body(lid, 6e-3), as_body(hole, None))
    (mesh,) = detect(scene.surface, scene.x, scene.contacts(), S).cavities
    assert mesh.carriers == (0,)
    assert_closed(mesh)
    assert volume(mesh, scene.x) == pytest.approx(0.016 * 0.016 * 0.01, rel=1e-9)
    lift = kit.gradient(mesh, scene.x)[scene.part(0)].sum(axis=0)[2]
    # Up to the edge of the lid, but for corner triangles with all vertices on the seal line.
    corner = 0.5 * 0.005**2
    assert 0.03**2 - 4 * corner < lift < 0.03**2
