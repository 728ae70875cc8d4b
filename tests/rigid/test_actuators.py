"""Bodies driven by force along an axis, against closed forms and balances."""

from __future__ import annotations

import numpy as np
import pytest

import limpet as lp
from limpet.errors import LimpetError
from limpet.geometry.rotation import quaternion_matrix
from limpet.shapes.boxes import box, soft_box

GRAVITY = 9.81
TILTED = np.array([1.0, 2.0, 0.5]) / np.sqrt(5.25)
NONE = (0.0, 0.0, 0.0)


def alone(mass: float, h: float, gravity=NONE, axis=TILTED, **drive) -> lp.Simulation:
    world = lp.World(gravity=gravity)
    jaw = world.add_rigid(box(0.02, 0.01, 0.03), mass, name="jaw", position=(0.1, 0.2, 0.3))
    world.actuate(jaw, axis, **drive)
    return lp.Simulation(world, h=h)


def moved(simulation: lp.Simulation, name: str = "jaw") -> np.ndarray:
    body = simulation.body(name)
    return body.centre - body.rest_centre


@pytest.mark.parametrize("h", [1e-3, 2e-2])
@pytest.mark.parametrize("mass", [1e-3, 10.0])
@pytest.mark.parametrize("damping", [0.0, 1.0, 1e4])
@pytest.mark.parametrize("stiffness", [1.0, 1e3, 1e6, 1e9])
def test_it_oscillates_as_implicit_euler_says(stiffness, damping, mass, h) -> None:
    """(m + h d + h^2 k) v+ = m v - h k s, released 1 mm off its reference."""
    jump = lp.motion.path([(0.0, 0.0), (1e-9, 1e-3)], direction=TILTED)
    simulation = alone(mass, h, motion=jump, stiffness=stiffness, damping=damping)
    s, v, last = -1e-3, 0.0, 0.0  # the reference moves in the first step alone
    for _ in range(30):
        report = simulation.step()
        push = stiffness * s + damping * (s - last) / h
        after = (mass * v - h * push) / (mass + h * damping + h * h * stiffness)
        s += h * after
        force = mass * (after - v) / h
        v, last = after, s
        np.testing.assert_allclose(moved(simulation), (1e-3 + s) * TILTED, atol=1e-11)
        np.testing.assert_allclose(
            report.reactions["jaw"], [*(force * TILTED), *NONE], rtol=1e-6, atol=1e-7
        )
    assert abs(s) < 1.001e-3


@pytest.mark.parametrize("mass", [1e-3, 10.0])
@pytest.mark.parametrize("h", [1e-3, 2e-2])
@pytest.mark.parametrize("drive", [{"force": 0.3}, {"stiffness": 1e6, "max_force": 0.3}])
def test_on_air_it_accelerates_by_force_over_mass(drive, mass: float, h: float) -> None:
    """By its force alone, or at the limit of a spring whose reference is far away."""
    far = lp.motion.path([(0.0, 0.0), (1e-9, 100.0)], direction=TILTED)
    motion = far if "stiffness" in drive else lp.motion.HOLD
    simulation = alone(mass, h, gravity=(0, 0, -GRAVITY), motion=motion, **drive)
    for _ in range(20):
        report = simulation.step()
        assert report.reactions["jaw"][:3] @ TILTED == pytest.approx(0.3, rel=1e-12)
    speed = 20 * h * (0.3 / mass - GRAVITY * TILTED[2])
    np.testing.assert_allclose(simulation.body("jaw").v, speed * TILTED, rtol=1e-9)
    assert report.momentum_residual < 1e-12


def test_it_turns_with_its_motion_and_slides_along_the_axis_of_that() -> None:
    """The guide carries the weight, and the force that turns the body."""
    turning = lp.motion.rotation([(0.0, 0.0), (1.0, 2.0)], axis=(0.3, 1.0, 0.2))
    simulation = alone(0.2, 5e-3, (0, 0, -GRAVITY), motion=turning, stiffness=30.0, damping=1.0)
    body = simulation.body("jaw")
    before, offsets = 0.2 * body.v, [0.0]
    for report in simulation.run(0.5):
        rotation, shift = turning.pose(report.time)
        np.testing.assert_allclose(quaternion_matrix(body.quaternion), rotation, atol=1e-12)
        away = body.centre - rotation @ body.rest_centre - shift
        np.testing.assert_allclose(np.cross(rotation @ TILTED, away), 0.0, atol=1e-14)
        gained = (0.2 * body.v - before) / simulation.h - [0.0, 0.0, -0.2 * GRAVITY]
        np.testing.assert_allclose(report.reactions["jaw"][:3], gained, atol=1e-10)
        before = 0.2 * body.v
        offsets.append(rotation @ TILTED @ away)
        spring = -30.0 * offsets[-1] - (offsets[-1] - offsets[-2]) / simulation.h
        along = rotation @ TILTED @ report.reactions["jaw"][:3]
        assert along == pytest.approx(spring, abs=1e-9)
    assert np.abs(offsets).max() > 5e-3


def gripped(contact: str, force: float, h: float = 5e-3, **drive) -> lp.Simulation:
    """A cube of 50 g between two jaws, 0.1 mm from each as it begins."""
    world = lp.World()
    if contact == "fields":
        cube = world.add_rigid(lp.fields.rigid(box(0.03, 0.03, 0.03)), 0.05, name="cube")
        jaw, up = lp.fields.box(0.02, 0.01, 0.02, modulus=1e6), -0.015
    else:
        cube = world.add_rigid(box(0.03, 0.03, 0.03), 0.05, name="cube")
        jaw, up = box(0.02, 0.01, 0.02), -0.005
    for side, name in ((-1.0, "left"), (1.0, "right")):
        at = 0.0, side * 0.0201, up
        body = world.add_rigid(jaw, 0.1, name=name, position=at)
        into = lp.motion.path([(0.0, 0.0), (1e-9, 1e-3)], direction=(0.0, -side, 0.0))
        motion = into if "stiffness" in drive else lp.motion.HOLD
        asked = {} if "stiffness" in drive else {"force": force}
        world.actuate(body, (0.0, -side, 0.0), motion=motion, **asked, **drive)
        if contact == "fields":
            world.set_contact(cube, body, "pressure fields", 0.02)
    return lp.Simulation(world, h=h)


@pytest.mark.parametrize("contact", ["fields", "points"])
@pytest.mark.parametrize("h", [1e-3, 5e-3])
@pytest.mark.parametrize(
    "drive", [{"damping": 20.0}, {"stiffness": 1e5, "max_force": 8.0}, {"stiffness": 1e9,
              "max_force": 8.0}]
)  # fmt: skip
def test_a_grip_presses_as_commanded_and_never_more(contact, h, drive) -> None:
    simulation = gripped(contact, 8.0, h, **drive)
    for report in simulation.run(0.15):
        assert report.converged
        if "max_force" in drive:
            forces = [abs(w[1]) for w in report.reactions.values()]
            assert max(forces) <= 8.0 * (1.0 + 1e-12)
    last = simulation.body("cube").centre.copy()
    assert report.reactions["left"][1] == pytest.approx(8.0, rel=1e-6)
    assert report.reactions["right"][1] == pytest.approx(-8.0, rel=1e-6)
    for patch in report.patches:
        assert abs(patch.force[1]) == pytest.approx(8.0, rel=1e-6)
    # what grips carries the weight of all, and no moment is left over
    whole = sum(w[:3] for w in report.reactions.values())
    np.testing.assert_allclose(whole, [0.0, 0.0, 0.25 * GRAVITY], atol=1e-6)
    about = sum(
        np.cross(simulation.body(n).centre, w[:3]) + w[3:] for n, w in report.reactions.items()
    )
    weight = sum(np.cross(b.centre, [0, 0, -b.mass * GRAVITY]) for b in simulation.bodies)
    np.testing.assert_allclose(about + weight, 0.0, atol=1e-7)
    assert np.linalg.norm(simulation.step().reactions["left"]) > 0.0
    assert np.linalg.norm(simulation.body("cube").centre - last) < 1e-8


def test_what_the_jaws_gain_the_gripper_gives() -> None:
    """Momentum of all bodies, while it closes and lifts: the sum of all reactions and weights."""
    world = lp.World()
    cube = world.add_rigid(lp.fields.rigid(box(0.03, 0.03, 0.03)), 0.05, name="cube")
    lift = lp.motion.path([(0.0, 0.0), (0.02, 0.0), (0.1, 0.02)])
    for side, name in ((-1.0, "left"), (1.0, "right")):
        jaw = lp.fields.box(0.02, 0.01, 0.02, modulus=1e6)
        body = world.add_rigid(jaw, 0.1, name=name, position=(0, side * 0.0201, -0.015))
        world.actuate(body, (0, -side, 0.1), motion=lift, force=8.0 - side)
        world.set_contact(cube, body, "pressure fields", 0.02)
    simulation = lp.Simulation(world, h=4e-3)
    before = np.zeros(3)
    for report in simulation.run(0.2):
        after = sum(b.momentum() for b in simulation.bodies)
        given = sum(w[:3] for w in report.reactions.values()) - [0.0, 0.0, 0.25 * GRAVITY]
        np.testing.assert_allclose(after - before, simulation.h * given, atol=1e-13)
        before = after


@pytest.mark.parametrize(
    "drive",
    [
        {"force": 6.0},
        {"stiffness": 1e7, "max_force": 6.0, "motion": lp.motion.path([(0, 0), (0.01, -0.01)])},
    ],
)
def test_a_soft_body_on_a_driven_plate_is_pressed_with_the_force(drive) -> None:
    world = lp.World(friction=0.3)
    stuff = lp.Material(1e6, 0.3, stiffness_damping=0.01)
    pad = world.add_soft(soft_box(0.02, 0.02, 0.02, (2, 2, 2)), stuff, 0.01, name="pad")
    plate = world.add_rigid(box(0.02, 0.02, 0.005), 0.1, name="plate", position=(0, 0, 0.005))
    world.add_rigid(box(0.1, 0.1, 0.01), 1.0, position=(0, 0, -0.0201), fixed=True)
    world.attach(pad["top"], plate)
    world.actuate(plate, (0, 0, -1), **drive)
    simulation = lp.Simulation(world, h=5e-3)
    for report in simulation.run(0.5):
        assert report.converged and report.reactions["plate"][2] >= -6.0 * (1.0 + 1e-12)
    assert report.reactions["plate"][2] == pytest.approx(-6.0, rel=1e-9)
    pressed = simulation.snapshot().forces.sum(axis=0)
    np.testing.assert_allclose(pressed, [0.0, 0.0, 6.0 + 0.11 * GRAVITY], atol=1e-6)
    assert report.momentum_residual < 1e-9


@pytest.mark.parametrize("contact", ["fields", "points"])
def test_saving_goes_on_to_the_bit_with_a_force_that_was_set(tmp_path, contact: str) -> None:
    simulation = gripped(contact, 8.0, damping=20.0)
    for _ in range(10):
        simulation.step()
    simulation.set_drive_force("left", 3.0)
    for _ in range(3):
        simulation.step()
    simulation.save(tmp_path / "state.npz")
    other = gripped(contact, 8.0, damping=20.0)
    other.load(tmp_path / "state.npz")
    for _ in range(10):
        one, two = simulation.step(), other.step()
        for name in ("left", "right"):
            assert np.array_equal(one.reactions[name], two.reactions[name])
    now, again = (s.snapshot().positions for s in (simulation, other))
    assert np.array_equal(now, again)
    assert np.array_equal(other.control.applied, simulation.control.applied)
    assert one.reactions["left"][1] == pytest.approx(5.5, rel=1e-3)  # as the dampers share it


def test_a_force_over_time_is_linear_between_its_stations() -> None:
    simulation = alone(1.0, 0.01, force=[(0.02, 1.0), (0.04, 3.0)])
    forces = [simulation.step().reactions["jaw"][:3] @ TILTED for _ in range(6)]
    np.testing.assert_allclose(forces, [1.0, 1.0, 2.0, 3.0, 3.0, 3.0], rtol=1e-12)


def test_a_joint_that_the_guide_contradicts_is_told() -> None:
    world = lp.World()
    jaw = world.add_rigid(box(0.1, 0.1, 0.1), 1.0, name="jaw")
    held = world.add_rigid(box(0.1, 0.1, 0.1), 1.0, position=(0.2, 0, 0), fixed=True)
    world.actuate(jaw, (0, 0, 1), force=1.0)
    world.joint(jaw, held, (0.1, 0, 0), axis=(0, 1, 0))
    with pytest.raises(LimpetError, match="a joint and the guide of an actuator"):
        lp.Simulation(world).step()


def test_wrong_drives_are_refused() -> None:
    world = lp.World()
    jaw = world.add_rigid(box(0.1, 0.1, 0.1), 1.0, name="jaw")
    held = world.add_rigid(box(0.1, 0.1, 0.1), 1.0, name="held", position=(1, 0, 0), fixed=True)
    up = (0.0, 0.0, 1.0)
    for told, message in (
        ({"axis": (0, 0, 0)}, "axis"),
        ({"stiffness": -1.0}, "stiffness = -1"),
        ({"damping": np.inf}, "damping = inf"),
        ({"force": np.nan}, "expected finite forces"),
        ({"force": 3.0, "max_force": 2.0}, "max_force = 2 N"),
        ({"force": [(0.0, 1.0, 2.0)]}, "pairs"),
        ({"force": [(1.0, 1.0), (0.0, 2.0)]}, "rising times"),
        ({"max_force": 0.0}, "max_force"),
        ({"motion": lp.motion.path([(0.0, 1.0)])}, "starts 1 m away"),
    ):
        with pytest.raises(LimpetError, match=message):
            world.actuate(jaw, **{"axis": up, **told})
    with pytest.raises(LimpetError, match="it is fixed"):
        world.actuate(held, up)
    with pytest.raises(LimpetError, match="not a body of this world"):
        lp.World().actuate(jaw, up)
    world.actuate(jaw, up, force=1.0, max_force=2.0)
    with pytest.raises(LimpetError, match="has an actuator already"):
        world.actuate(jaw, up)
    with pytest.raises(LimpetError, match="has an actuator already"):
        world.fix(jaw)
    simulation = lp.Simulation(world)
    with pytest.raises(LimpetError, match="up to max_force = 2 N"):
        simulation.set_drive_force("jaw", -2.1)
    with pytest.raises(LimpetError, match="no actuated body 'jaws'"):
        simulation.set_drive_force("jaws", 1.0)
