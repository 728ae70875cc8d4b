"""Bodies in motion: energy over bounces, dissipation, friction, momentum."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp

from limpet.errors import DivergedError, LimpetError
from limpet.pressure_field.fields import half_space, pressure_field
from limpet.pressure_field.primitives import box, sphere
from limpet.pressure_field.wrench import FrictionModel

from .dynamics import Bodies, Mover
from .kit import rigid_ball

G, RADIUS, MASS = 9.81, 0.05, 0.2
ROUND = 0.4 * MASS * RADIUS**2 * np.eye(3)  # [kg m^2] of a ball
FLOOR = Mover(half_space((0.0, 0.0, 1.0), 0.0))


def soft_ball(**start) -> Mover:
    return Mover(pressure_field(sphere(RADIUS, 0.02), 1e6), MASS, ROUND, **start)


def test_a_ball_keeps_its_energy_over_ten_bounces():
    turned = {"quaternion": (0.9, 0.3, 0.2, 0.1), "spin": (1.0, 2.0, 0.5)}
    bodies = Bodies((soft_ball(position=(0.0, 0.0, 0.11), **turned), FLOOR))
    motion = bodies.run(np.linspace(0.0, 2.6, 521), rtol=1e-5)
    height = motion.position[:, 0, 2]
    turns = (height[1:-1] < height[:-2]) & (height[1:-1] <= height[2:]) & (height[1:-1] < RADIUS)
    assert turns.sum() >= 10
    parts = bodies.energies(motion)
    total = parts.sum(axis=1) - MASS * G * RADIUS  # from the ball lying on the floor
    assert parts[:, 2].max() > 0.5 * total[0]  # at the lowest point it is in the contact
    assert np.ptp(total) < 1e-4 * total[0]


def apexes(times, height):
    """Heights of the bounces: in flight the parabola through three samples is the motion."""
    before, at, after = height[:-2], height[1:-1], height[2:]
    slope, bend = 0.5 * (after - before), after - 2.0 * at + before
    top = (at > before) & (at >= after)
    assert bend[top] == pytest.approx(-G * (times[1] - times[0]) ** 2, rel=1e-3)
    return (at - slope**2 / (2.0 * bend))[top] - RADIUS


def test_dissipation_takes_what_hunt_and_crossley_take():
    """A rigid ball on a soft floor against its own equation of motion, in one dimension.

    Of a ball d deep, p = k depth and cos^2 of the slope of its approach raise the pressure:
    F = k pi d^2 (R - d/3) + k chi/H v 2 pi R^2 int (d - R (1 - c)) c^3 dc from 1 - d/R to 1.

    The middles of the finer ball's facets are 9 um under its true surface, which is much of the
    depth of a low bounce: 0.1 % of the apex at 7 mm, 0.9 % at 1 mm. So only those above 10 mm are
    compared as they are, and all of them after taking away what falls as the square of the facets.
    """
    modulus, thick, chi, drop = 4e5, 0.04, 0.02, 0.06
    k = modulus / thick

    def push(d: float, v: float) -> float:
        if d <= 0.0:
            return 0.0
        extra = quad(lambda c: (d - RADIUS * (1.0 - c)) * c**3, 1.0 - d / RADIUS, 1.0)[0]
        rest = np.pi * d**2 * (RADIUS - d / 3.0)
        return max(k * (rest + chi / thick * v * 2.0 * np.pi * RADIUS**2 * extra), 0.0)

    times = np.linspace(0.0, 1.0, 501)
    exact = solve_ivp(
        lambda t, y: [y[1], push(RADIUS - y[0], -y[1]) / MASS - G],
        (0.0, 1.0), [RADIUS + drop, 0.0], t_eval=times, rtol=1e-8, atol=1e-10, max_step=2e-3,
    ).y[0]  # fmt: skip
    floor = Mover(half_space((0.0, 0.0, 1.0), 0.0, modulus, thick))
    found = []
    for rounds in (4, 5):
        ball = Mover(rigid_ball(rounds, RADIUS), MASS, ROUND, position=(0.0, 0.0, RADIUS + drop))
        bodies = Bodies((ball, floor), FrictionModel(dissipation=chi))
        found.append(apexes(times, bodies.run(times, rtol=1e-5).position[:, 0, 2]))
    wanted = apexes(times, exact)
    coarse, fine = found
    assert len(coarse) == len(fine) == len(wanted) == 9
    assert wanted[0] < 0.8 * drop  # it does take something
    high = wanted > 0.01
    assert high.sum() == 3
    assert fine[high] == pytest.approx(wanted[high], rel=1e-3)
    assert (4.0 * fine - coarse) / 3.0 == pytest.approx(wanted, rel=1e-3)


def test_a_sliding_box_stops_where_friction_says():
    """v^2 / (2 mu g), with a little creep below the speed of regularisation."""
    mass, speed, mu = 0.5, 0.6, 0.4
    solid = pressure_field(box(0.1, 0.1, 0.04), 1e6)
    inertia = mass / 12.0 * np.diag([0.1**2 + 0.04**2, 0.1**2 + 0.04**2, 2 * 0.1**2])
    sunk = mass * G / (1e6 / 0.02 * 0.01)  # where the floor carries it
    start = {"position": (0.0, 0.0, 0.02 - sunk), "velocity": (speed, 0.0, 0.0)}
    law = FrictionModel(friction=mu, slip_speed=1e-3, dissipation=0.1)
    motion = Bodies((Mover(solid, mass, inertia, **start), FLOOR), law).run(
        np.linspace(0.0, 0.25, 26), rtol=1e-5
    )
    assert motion.position[-1, 0, 0] == pytest.approx(speed**2 / (2 * mu * G), rel=0.02)
    assert abs(motion.velocity[-1, 0, 0]) < 1e-3
    assert motion.position[-1, 0, 2] == pytest.approx(0.02 - sunk, rel=1e-3)


def test_two_balls_keep_momentum_and_angular_momentum():
    one = soft_ball(position=(0.0, 0.0, 0.0), velocity=(1.0, 0.0, 0.0), spin=(0.0, 3.0, 0.0))
    two = soft_ball(position=(0.11, 0.03, 0.01), velocity=(-0.5, 0.0, 0.0))
    bodies = Bodies(
        (one, two), FrictionModel(friction=0.3, dissipation=0.05), gravity=(0.0, 0.0, 0.0)
    )
    motion = bodies.run(np.linspace(0.0, 0.05, 11))
    momentum = MASS * motion.velocity.sum(axis=1)
    angular = MASS * np.cross(motion.position, motion.velocity).sum(
        axis=1
    ) + 0.4 * MASS * RADIUS**2 * motion.spin.sum(axis=1)
    assert np.abs(motion.spin[-1, 1]).max() > 0.1  # they met, and the second one turns now
    assert momentum == pytest.approx(np.tile(momentum[0], (11, 1)), abs=1e-6)
    assert angular == pytest.approx(np.tile(angular[0], (11, 1)), abs=1e-6)
    kinetic = bodies.energies(motion)[:, 0]
    assert kinetic[-1] < 0.99 * kinetic[0]


def test_what_cannot_be_moved_is_named():
    with pytest.raises(LimpetError, match="mass = 0 kg"):
        Mover(rigid_ball(), 0.0)
    with pytest.raises(LimpetError, match="a half space has a mass"):
        Mover(half_space((0.0, 0.0, 1.0), 0.0), 1.0)
    with pytest.raises(LimpetError, match="inertia"):
        Mover(rigid_ball(), 1.0, inertia=-np.eye(3))
    with pytest.raises(LimpetError, match="every body is fixed"):
        Bodies((FLOOR,)).run(np.array([0.0, 1.0]))
    with pytest.raises(LimpetError, match="rising"):
        Bodies((soft_ball(), FLOOR)).run(np.array([1.0, 0.0]))


def test_a_body_that_passed_through_the_floor_is_told():
    bodies = Bodies((soft_ball(position=(0.0, 0.0, -0.2)), FLOOR))
    with pytest.raises(DivergedError, match="body 0 has passed through half space 1 at 0 s"):
        bodies.run(np.array([0.0, 0.01]))
