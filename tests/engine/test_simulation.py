"""The step as a whole: saving, restoring, worlds that err, bodies without cups."""

from __future__ import annotations

import numpy as np
import pytest

import limpet as lp
from limpet.scenes.registry import load


def small_world(**changes) -> lp.World:
    """A small cup over a block, as the README builds it."""
    world = lp.World()
    cup = world.add_soft(
        lp.shapes.cup("standard", element="tet4", sectors=12, segments=7),
        lp.Material(young=4e6, poisson=0.45),
        mass=0.020,
        name="cup",
        position=(0.0, 0.0, 0.2e-3),
    )
    world.add_rigid(lp.shapes.box(0.06, 0.06, 0.03), mass=0.19, name="block", fixed=True)
    world.prescribe_motion(cup["top"], lp.motion.path([(0.0, 0.0), (0.2, -2e-3), (0.5, 3e-3)]))
    return world


def test_save_restore_continue_is_bit_identical() -> None:
    straight = lp.Simulation(small_world())
    first = [straight.step() for _ in range(12)]
    state = straight.get_state()
    expected = [straight.step() for _ in range(15)]
    assert first[-1].cavities  # in the middle of a suction
    resumed = lp.Simulation(small_world())
    resumed.set_state(state)
    for report in expected:
        again = resumed.step()
        assert again.time == report.time
        assert again.cavities == report.cavities
        assert np.array_equal(again.reactions["cup"], report.reactions["cup"])
    for one, two in zip(straight.bodies, resumed.bodies):
        for key, value in one.get_state().items():
            assert np.array_equal(value, two.get_state()[key])


def test_saving_does_not_disturb_the_run() -> None:
    one, two = lp.Simulation(small_world()), lp.Simulation(small_world())
    for _ in range(20):
        two.get_state()
        assert np.array_equal(one.step().reactions["cup"], two.step().reactions["cup"])


def test_a_state_of_another_world_is_refused() -> None:
    sim = lp.Simulation(small_world())
    other = lp.World()
    other.add_rigid(lp.shapes.box(0.1, 0.1, 0.1), 1.0)
    with pytest.raises(lp.LimpetError, match="is of the bodies box; this world has cup, block"):
        sim.set_state(lp.Simulation(other).get_state())


def test_a_block_falls_and_comes_to_rest_on_another() -> None:
    world = lp.World()
    world.add_rigid(lp.shapes.box(0.2, 0.2, 0.02), 1.0, name="ground", fixed=True)
    world.add_rigid(lp.shapes.box(0.04, 0.04, 0.04), 0.5, name="box", position=(0, 0, 0.05))
    sim = lp.Simulation(world)
    reports = list(sim.run(1.0))
    assert sim.bodies[1].positions()[:, 2].min() == pytest.approx(0.0, abs=2e-5)
    assert np.abs(sim.bodies[1].v).max() < 1e-6
    assert all(r.converged for r in reports)
    assert max(r.momentum_residual for r in reports) < 1e-9


@pytest.mark.parametrize("mu, slides", [(0.3, True), (0.5, False)])
def test_a_block_on_an_incline_slides_when_friction_is_too_small(mu, slides) -> None:
    angle = np.arctan(0.4)
    world = lp.World(gravity=9.81 * np.array([np.sin(angle), 0.0, -np.cos(angle)]), friction=mu)
    world.add_rigid(lp.shapes.box(2.0, 0.2, 0.02), 1.0, name="ramp", fixed=True)
    world.add_rigid(lp.shapes.box(0.06, 0.06, 0.02), 0.5, name="box", position=(0, 0, 0.02))
    sim = lp.Simulation(world)
    for _ in sim.run(0.5):
        pass
    travel = sim.bodies[1].centre[0]
    if slides:
        acceleration = 9.81 * (np.sin(angle) - mu * np.cos(angle))
        assert travel == pytest.approx(0.5 * acceleration * 0.5**2, rel=0.03)
    else:
        assert abs(travel) < 1e-5


def test_lift_off_needs_no_cavity_when_nothing_is_sealed() -> None:
    """A cup over the block's corner traps nothing and pulls nothing."""
    world = lp.World()
    cup = world.add_soft(
        lp.shapes.cup("standard", element="tet4", sectors=12, segments=7),
        lp.Material(4e6, 0.45),
        0.020,
        position=(0.03, 0.03, 0.2e-3),
        name="cup",
    )
    world.add_rigid(lp.shapes.box(0.06, 0.06, 0.03), 1.0, fixed=True)
    world.prescribe_motion(cup["top"], lp.motion.path([(0.0, 0.0), (0.2, -2e-3), (0.4, 2e-3)]))
    reports = list(lp.Simulation(world).run(0.4))
    assert not any(r.cavities for r in reports)
    assert max(r.reactions["cup"][2] for r in reports) < 1.0


def test_ring_models_are_ordered() -> None:
    """Pressure that ends further out pulls harder, while the ring is wide."""
    pulls = {}
    for ring in lp.SealBoundary:
        scene = load("ground", {"speed": "10 mm/s"})
        sim = lp.Simulation(scene.world, settings=lp.Settings(seal_boundary=ring))
        pulls[ring] = list(sim.run(1.1))[-1].reactions["cup"][2]
    assert (
        1.03 * pulls[lp.SealBoundary.INNER]
        < pulls[lp.SealBoundary.MIDDLE]
        < 0.98 * pulls[lp.SealBoundary.OUTER]
    )


def test_errors_are_one_clear_line() -> None:
    world = small_world()
    with pytest.raises(lp.LimpetError, match="time step h = 0 s"):
        lp.Simulation(world, h=0.0)
    with pytest.raises(lp.LimpetError, match="no region 'topp'; did you mean 'top'"):
        world.specs["cup"]["topp"]
    with pytest.raises(lp.LimpetError, match="has a prescribed motion already"):
        world.prescribe_motion(world.specs["cup"]["top"], lp.motion.path([(0.0, 0.0)]))
    with pytest.raises(lp.LimpetError, match="mass of 'box' = -1 kg"):
        world.add_rigid(lp.shapes.box(1, 1, 1), -1.0)
    with pytest.raises(lp.LimpetError, match="empty"):
        lp.Simulation(lp.World())
    with pytest.raises(lp.LimpetError, match="a body of that name"):
        world.add_rigid(lp.shapes.box(1, 1, 1), 1.0, name="cup")


def test_overlapping_bodies_are_refused() -> None:
    world = lp.World()
    world.add_rigid(lp.shapes.box(0.1, 0.1, 0.1), 1.0, name="a")
    world.add_rigid(lp.shapes.box(0.1, 0.1, 0.1), 1.0, name="b", position=(0.02, 0.0, 0.03))
    with pytest.raises(lp.LimpetError, match="'a' and 'b' overlap"):
        lp.Simulation(world)


def test_numbers_that_leave_the_finite_end_the_run() -> None:
    sim = lp.Simulation(small_world())
    sim.step()
    sim.bodies[0].v[:] = np.inf
    with pytest.raises(lp.LimpetError, match="step 2"), np.errstate(all="ignore"):
        sim.step()


def test_vertices_inside_flat_faces_change_nothing() -> None:
    """A finer mesh of a flat block adds no rows; with all its vertices the pull is the same."""
    pulls, rows = {}, {}
    for label, divisions, keep_flat_vertices in (
        ("coarse", 1, False),
        ("fine", 16, False),
        ("all", 16, True),
    ):
        scene = load("ground", {"element": "tet4", "block_divisions": divisions})
        settings = lp.Settings(keep_flat_vertices=keep_flat_vertices, use_all_contacts=True)
        reports = list(lp.Simulation(scene.world, settings=settings).run(1.0))
        pulls[label], rows[label] = reports[-1].reactions["cup"][2], reports[-1].rows
        assert all(r.converged for r in reports)
    assert rows["fine"] == rows["coarse"] < rows["all"]
    assert pulls["fine"] == pytest.approx(pulls["coarse"], rel=1e-6)
    assert pulls["all"] == pytest.approx(pulls["coarse"], rel=1e-3)


def test_a_driven_body_keeps_its_path_when_a_step_is_solved_again() -> None:
    """A plate that comes from afar in one step misses the block at first."""
    world = lp.World(gravity=(0.0, 0.0, 0.0))
    world.add_rigid(lp.shapes.box(0.04, 0.04, 0.04), 0.5, name="block")
    plate = world.add_rigid(
        lp.shapes.box(0.06, 0.06, 0.01), 1.0, name="plate", position=(0.0, 0.0, 0.02)
    )
    world.prescribe_motion(plate, lp.motion.path([(0.0, 0.0), (0.02, 0.0), (0.03, -0.015)]))
    sim = lp.Simulation(world)
    reports = list(sim.run(0.06))
    assert sim.bodies[1].centre[2] == pytest.approx(0.015 - 0.015)
    assert sim.bodies[0].positions()[:, 2].max() <= -0.005 + 1e-5
    assert max(r.momentum_residual for r in reports) < 1e-6


def test_a_contact_on_driven_nodes_alone_is_left_out() -> None:
    world = lp.World()
    shape = lp.shapes.soft_box(0.02, 0.02, 0.02, (2, 2, 2))
    soft = world.add_soft(shape, lp.Material(1e5, 0.3), 0.01, name="soft", position=(0, 0, 0.0205))
    world.add_rigid(lp.shapes.box(0.1, 0.1, 0.01), 1.0, fixed=True)
    world.prescribe_motion(soft["bottom"], lp.motion.path([(0.0, 0.0), (0.1, -0.6e-3)]))
    reports = list(lp.Simulation(world).run(0.15))
    assert all(np.isfinite(r.reactions["soft"]).all() and r.converged for r in reports)


def test_settings_and_states_that_do_not_fit_are_refused() -> None:
    assert lp.Settings(seal_boundary="inner").seal_boundary is lp.SealBoundary.INNER
    assert (
        lp.Settings(seal_boundary=0.3).seal_boundary
        == lp.Settings(seal_boundary="0.3").seal_boundary
        == 0.3
    )
    for wrong in (1.5, -0.1, float("nan"), "1.5", True, None):
        with pytest.raises(lp.LimpetError, match=r"seal_boundary = .*expected outer, .* 0 to 1"):
            lp.Settings(seal_boundary=wrong)
    with pytest.raises(lp.LimpetError, match="seal_boundary = 'outter'; did you mean 'outer'"):
        lp.Settings(seal_boundary="outter")
    state = lp.Simulation(small_world(), h=0.01).get_state()
    with pytest.raises(lp.LimpetError, match=r"saved at h = 0\.01 s"):
        lp.Simulation(small_world(), h=0.005).set_state(state)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda w, c, b: w.prescribe_motion(c, lp.motion.path([(0, 0)])), "name a region"),
        (lambda w, c, b: w.prescribe_motion(b, lp.motion.path([(0, 0)])), "it is fixed"),
        (lambda w, c, b: w.prescribe_motion(c["lip"], [(0, 0)]), "expected a region"),
        (
            lambda w, c, b: w.prescribe_motion(c["lip"], lp.motion.path([(0, 5.0)])),
            "begin the path with",
        ),
        (lambda w, c, b: w.add_rigid(lp.shapes.box(1, 1, 1), "1 kg"), "plain number in SI units"),
        (lambda w, c, b: w.add_rigid(lp.shapes.box(1, 1, 1), 1.0, position=(0, 0)), "three finite"),
        (
            lambda w, c, b: w.add_rigid(lp.shapes.box(1, 1, 1), 1.0, rotation=2 * np.eye(3)),
            "rotation matrix",
        ),
        (lambda w, c, b: lp.World(leak=-1.0), "leak = -1"),
        (lambda w, c, b: lp.Simulation(w, h="10 ms"), "plain number in SI units"),
        (lambda w, c, b: lp.Simulation(w).run(1e-4), "expected a step"),
    ],
)
def test_wrong_worlds_are_refused(build, message) -> None:
    world = lp.World()
    cup = world.add_soft(
        lp.shapes.cup(element="tet4", sectors=12, segments=7), lp.Material(4e6, 0.45), 0.02
    )
    block = world.add_rigid(
        lp.shapes.box(0.06, 0.06, 0.03), 1.0, position=(0, 0, -1e-3), fixed=True
    )
    with pytest.raises(lp.LimpetError, match=message):
        build(world, cup, block)


def test_a_broken_surface_names_its_body() -> None:
    shape = lp.shapes.box(0.1, 0.1, 0.1)
    world = lp.World()
    world.add_rigid(
        lp.shapes.RigidShape("b", shape.points, shape.triangles[:, ::-1]), 1.0, name="b"
    )
    with pytest.raises(lp.LimpetError, match="surface of 'b'"):
        lp.Simulation(world)
