"""Bodies tied together: attached regions, ball joints, hinges, against what mechanics says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import limpet as lp
from limpet.errors import LimpetError
from limpet.fem.material import Material
from limpet.linalg.reduced_compliance import ReducedCompliance
from limpet.rigid.joints import Joints, JointSet, joint_rows
from limpet.shapes.boxes import box, soft_box
from limpet.shapes.cups import cup
from limpet.solver.elimination import eliminate


def hanging(h: float = 0.01) -> lp.Simulation:
    """A soft bar held at its top, a rigid weight attached to its foot."""
    world = lp.World()
    bar = world.add_soft(
        soft_box(0.02, 0.02, 0.04, (1, 1, 2)), Material(1e6, 0.0, stiffness_damping=0.02), 1e-6,
        name="bar",
    )  # fmt: skip
    world.fix(bar["top"])
    weight = world.add_rigid(box(0.03, 0.03, 0.02), 0.5, name="weight", position=(0, 0, -0.04))
    world.attach(bar["bottom"], weight)
    world.add_probe("weight", weight)
    return lp.Simulation(world, h=h)


def test_a_weight_attached_to_a_bar_stretches_it_as_hooke_says() -> None:
    simulation = hanging()
    start = simulation.probes()["weight_z"]
    for report in simulation.run(1.0):
        assert report.momentum_residual < 1e-9
    stretch = start - report.probes["weight_z"]
    assert stretch == pytest.approx(0.5 * 9.81 * 0.04 / (1e6 * 0.02**2), rel=5e-3)
    assert report.reactions["bar"][2] == pytest.approx(0.5 * 9.81, rel=1e-4)


def test_attached_nodes_keep_their_place_on_a_turning_body() -> None:
    simulation = hanging()
    bar, weight = simulation.bodies
    weight.w = np.array([3.0, 0.0, 8.0])
    foot = bar.shape.region("bottom")
    place = bar.node_positions()[foot] - weight.centre
    for _ in simulation.run(0.3):
        now = bar.node_positions()[foot] - weight.centre
        np.testing.assert_allclose(
            np.linalg.norm(now[:, None] - now, axis=2),
            np.linalg.norm(place[:, None] - place, axis=2),
            atol=2e-5,
        )


def pendulum(axis: tuple[float, float, float] | None, h: float) -> lp.Simulation:
    world = lp.World(gravity=(0.5, 0.3, -9.81))
    rod = world.add_rigid(box(0.01, 0.01, 0.2), 0.1, name="rod")
    post = world.add_rigid(box(0.02, 0.02, 0.02), 1.0, name="post", position=(0, 0, 0.02))
    world.fix(post)
    world.joint(rod, post, (0.0, 0.0, 0.0), axis=axis)
    world.add_probe("rod", rod)
    return lp.Simulation(world, h=h)


def test_a_hinge_lets_turn_about_its_axis_only() -> None:
    simulation = pendulum((0.0, 1.0, 0.0), 2e-3)
    for report in simulation.run(0.5):
        assert abs(report.probes["rod_y"]) < 1e-12
    away = np.linalg.norm([report.probes["rod_x"], report.probes["rod_z"]])
    assert away == pytest.approx(0.1, abs=2e-5)
    assert abs(report.probes["rod_x"]) > 1e-3


def test_a_ball_joint_lets_turn_both_ways() -> None:
    simulation = pendulum(None, 2e-3)
    *_, report = simulation.run(0.5)
    # gravity leans by 0.3 in y for 0.5 in x, so the rod swings in that plane
    assert report.probes["rod_y"] / report.probes["rod_x"] == pytest.approx(0.6, rel=1e-3)


def test_a_hinged_rod_swings_with_the_period_of_a_compound_pendulum() -> None:
    simulation = pendulum((0.0, 1.0, 0.0), 5e-4)
    x = np.array([r.probes["rod_x"] for r in simulation.run(1.0)])
    # it starts at rest at the end of its swing: the farthest point comes after half a period
    half = 5e-4 * (1 + int(np.argmax(x)))
    inertia = 0.1 * (0.2**2 + 0.01**2) / 12.0 + 0.1 * 0.1**2
    period = 2.0 * np.pi * np.sqrt(inertia / (0.1 * np.hypot(9.81, 0.5) * 0.1))
    assert half == pytest.approx(0.5 * period, rel=5e-3)


def test_eliminated_rows_hold_and_the_rest_is_the_schur_complement() -> None:
    rng = np.random.default_rng(3)
    half, b = rng.normal(size=(7, 7)), rng.normal(size=(9, 7))
    b[4:7, 2] = 0.0
    s, free = half @ half.T, rng.normal(size=9)
    rows = [np.flatnonzero(line) for line in b]
    start = np.cumsum([0] + [len(r) for r in rows]).astype(np.int32)
    whole = ReducedCompliance(start, np.concatenate(rows).astype(np.int32), b[b != 0.0], s)
    tied = eliminate(whole, free, 5)
    lam = tied.complete(rng.normal(size=5))
    u = free + b @ s @ b.T @ lam
    np.testing.assert_allclose(u[5:], 0.0, atol=1e-10)
    np.testing.assert_allclose(u[:5], tied.free + tied.compliance.dense() @ lam[:5], atol=1e-10)


def test_rows_of_a_hinge_leave_the_axis_free() -> None:
    joints = Joints(np.array([0, 1]), np.array([2, 3]), np.array([-1, 0]))
    x = np.array([[0.0, 0, 0], [0.0, 0, 1.1], [0.0, 0, 0], [0.0, 0, 1.0]])
    rows, gap = joint_rows(joints, x)
    assert len(rows) == 5
    np.testing.assert_allclose(gap, 0.0, atol=1e-15)  # 0.1 apart, but along the axis
    np.testing.assert_array_equal(rows.point[::2], [0, 0, 0, 1, 1])
    assert np.abs(rows.vector[6:, 2]).max() == 0.0


def test_wrong_ties_are_refused() -> None:
    world = lp.World()
    bar = world.add_soft(soft_box(0.02, 0.02, 0.04, (1, 1, 1)), Material(1e6, 0.3), 0.01)
    one = world.add_rigid(box(0.1, 0.1, 0.1), 1.0, position=(0, 0, -0.04), fixed=True)
    two = world.add_rigid(box(0.1, 0.1, 0.1), 1.0, position=(0, 0, -0.2), fixed=True)
    with pytest.raises(LimpetError, match="expected a region of a soft body"):
        world.attach(one, two)
    with pytest.raises(LimpetError, match="neither can move"):
        world.joint(one, two, (0, 0, 0))
    world.fix(bar["bottom"])
    with pytest.raises(LimpetError, match="region 'bottom' has a prescribed motion"):
        world.attach(bar["bottom"], one)
    loose = world.add_rigid(box(0.1, 0.1, 0.1), 1.0, position=(0, 0, -0.4))
    with pytest.raises(LimpetError, match="joint axis"):
        world.joint(loose, two, (0, 0, 0), axis=(0, 0, 0))


def test_a_region_attached_to_a_driven_body_goes_where_it_goes() -> None:
    """As if the region itself were driven: the plate is prescribed, so its drive bears the bar."""
    shape, stuff = soft_box(0.02, 0.02, 0.04, (1, 1, 2)), Material(1e6, 0.3)
    way = lp.motion.path([(0.0, 0.0), (0.1, 0.01)])
    attached, driven = lp.World(), lp.World()
    bar = attached.add_soft(shape, stuff, 0.01, name="bar")
    plate = attached.add_rigid(box(0.03, 0.03, 0.01), 0.2, name="plate", position=(0, 0, 0.01))
    attached.attach(bar["top"], plate)
    attached.prescribe_motion(plate, way)
    driven.prescribe_motion(driven.add_soft(shape, stuff, 0.01, name="bar")["top"], way)
    one, two = lp.Simulation(attached, h=0.01), lp.Simulation(driven, h=0.01)
    for a, b in zip(one.run(0.2), two.run(0.2), strict=True):
        assert a.momentum_residual < 1e-9 and b.momentum_residual < 1e-9
    np.testing.assert_allclose(
        one.bodies[0].node_positions(), two.bodies[0].node_positions(), atol=1e-12
    )
    np.testing.assert_allclose(
        a.reactions["plate"][2], b.reactions["bar"][2] + 0.2 * 9.81, rtol=1e-9
    )
    held = a.cups["bar"]
    np.testing.assert_allclose(held.force, b.reactions["bar"][:3], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(b.cups["bar"].force, b.reactions["bar"][:3], rtol=1e-12, atol=1e-15)
    assert held.pressure is None


def test_attached_regions_that_share_nodes_are_refused() -> None:
    world = lp.World()
    bar = world.add_soft(soft_box(0.02, 0.02, 0.04, (1, 1, 2)), Material(1e6, 0.3), 0.01)
    for k in range(2):
        weight = world.add_rigid(box(0.03, 0.03, 0.02), 0.5, position=(0, 0, -0.04 - 0.1 * k))
        world.attach(bar["bottom"], weight)
    with pytest.raises(LimpetError, match="share no node"):
        lp.Simulation(world)


def test_attached_regions_move_as_the_same_ties_by_multipliers_would_have_it() -> None:
    """A bar between two weights of its own section: corners on corners, tied in both ways."""

    def weighted(attach: bool) -> lp.Simulation:
        world = lp.World(gravity=(0.3, 0.2, -9.81))
        shape = soft_box(0.02, 0.03, 0.06, (1, 1, 3), element="hex8")
        bar = world.add_soft(shape, Material(1e5, 0.3, mass_damping=0.5), 0.03, name="bar")
        low = world.add_rigid(box(0.02, 0.03, 0.02), 0.2, name="low", position=(0, 0, -0.06))
        top = world.add_rigid(box(0.02, 0.03, 0.01), 0.1, name="top", position=(0, 0, 0.01))
        for region, weight in (("bottom", low), ("top", top)):
            if attach:
                world.attach(bar[region], weight)
            world.exclude_contact(bar, weight)
        once = lp.Settings(relinearisation=lp.Relinearisation(most=1))  # both to the same bits
        out = lp.Simulation(world, h=0.01, settings=once)
        out.bodies[1].w, out.bodies[2].v = np.array([1.0, 2.0, -3.0]), np.array([0.1, 0.0, -0.2])
        return out

    one, two = weighted(True), weighted(False)
    x = [b.positions() for b in two.bodies]
    near = [np.linalg.norm(x[0][:, None] - x[k], axis=2) < 1e-9 for k in (1, 2)]
    on_bar, on_weight = (np.concatenate(p) for p in zip(*(np.nonzero(n) for n in near)))
    assert [int(n.sum()) for n in near] == [4, 4]
    on_weight = on_weight + np.repeat(two.model.points.first[1:3], 4)
    joints = Joints(on_bar.astype(np.int32), on_weight.astype(np.int32), np.full(8, -1))
    two.model = replace(two.model, sets=[*two.model.sets, JointSet(joints)])
    between = int(np.abs(x[0][:, 2] + 0.02).argmin())
    for simulation in (one, two):
        simulation.apply_force("bar", 0, (0.0, 0.3, 0.0))  # on a corner that is tied
        simulation.apply_force("bar", between, (0.2, 0.0, 0.0))
    for a, b in zip(one.run(0.3), two.run(0.3)):
        assert a.momentum_residual < 1e-9 and b.momentum_residual < 1e-9
    for mine, its in zip(one.bodies, two.bodies):
        there = its.positions()
        np.testing.assert_allclose(mine.positions()[: len(there)], there, atol=1e-13)


@pytest.mark.parametrize("element", ["iicr11", "tet4"])
def test_saving_goes_on_to_the_bit_with_attached_bodies(element: str) -> None:
    """With shared pressures among the unknowns, too."""
    world = lp.World()
    bar = world.add_soft(
        cup("standard", element=element, nodes=120), Material(1e6, 0.45), 0.01, name="cup"
    )
    weight = world.add_rigid(box(0.05, 0.05, 0.02), 0.1, position=(0, 0, 0.06))
    world.attach(bar["top"], weight)
    simulation = lp.Simulation(world, h=0.005)
    simulation.bodies[1].w = np.array([5.0, 2.0, 0.0])
    for report in simulation.run(0.05):
        assert report.momentum_residual < 1e-9
    saved = simulation.get_state()
    ends = []
    for _ in range(2):
        simulation.set_state(saved)
        for _ in simulation.run(0.05):
            pass
        ends.append(simulation.bodies[0].node_positions())
    np.testing.assert_array_equal(*ends)
    held = simulation.bodies[0].shape.region("top")
    now, at_rest = ends[0][held], simulation.bodies[0].shape.points[held]
    span = [np.linalg.norm(x[:, None] - x, axis=2) for x in (now, at_rest)]
    np.testing.assert_allclose(*span, atol=2e-5)
