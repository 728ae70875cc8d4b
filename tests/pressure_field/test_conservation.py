"""F III-6, X: forces are the slope of an energy, do no work round a loop, and never jump."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.pressure_field.fields import half_space, pressure_field
from limpet.pressure_field.primitives import box
from limpet.pressure_field.surface import contact_surface
from limpet.pressure_field.wrench import wrench

from .energy import energy
from .kit import HERE, ball, brick, force, pose, rigid_ball, rod

SOFT_GROUND = half_space((0.0, 0.0, 1.0), 0.04, modulus=2e7, thickness=0.05)
PAIRS = {
    "ball on brick": (ball, brick),
    "rod on brick": (rod, brick),
    "rigid ball in brick": (lambda: rigid_ball(1), brick),
    "ball on rigid ground": (ball, lambda: half_space((0.0, 0.0, 1.0), 0.04)),
    "ball on soft ground": (ball, lambda: SOFT_GROUND),
    "rigid ball in soft ground": (rigid_ball, lambda: SOFT_GROUND),
}


@pytest.mark.parametrize("name", PAIRS)
def test_the_wrench_is_the_slope_of_the_energy(name):
    one, two = (build() for build in PAIRS[name])
    rotation, origin = pose((0.3, 0.2, 0.1), (0.045, 0.052, 0.07))
    surface = contact_surface(one, (rotation, origin), two, HERE)
    found = wrench(surface, origin)

    def at(shift=(0.0, 0.0, 0.0), turn=(0.0, 0.0, 0.0)):
        return energy(one, (pose(turn)[0] @ rotation, origin + shift), two, HERE)

    step = 1e-6
    slope = [(at(-step * e) - at(step * e)) / (2 * step) for e in np.eye(3)]
    turned = [(at(turn=-10 * step * e) - at(turn=10 * step * e)) / (20 * step) for e in np.eye(3)]
    size = np.abs(found.force).max()
    assert found.force == pytest.approx(slope, abs=1e-6 * size)
    assert found.moment == pytest.approx(turned, abs=1e-6 * size * 0.05)
    if name == "rod on brick":  # over the brick's corner, the moment is not small
        assert np.linalg.norm(found.moment) > 0.01 * size * 0.05


def loop(one, two, centre, poses, shift=0.01, turn=0.4):
    """Net and absolute work round a closed curve in SE(3) through `poses` places."""
    rng = np.random.default_rng(3)
    phase, often = rng.uniform(0, 2 * np.pi, 6), np.array([1, 2, 1, 1, 2, 1])
    net = total = 0.0
    for s in 2 * np.pi * np.arange(poses) / poses:
        q, rate = np.sin(often * s + phase), often * np.cos(often * s + phase)
        x, v = centre + shift * q[:3], shift * rate[:3]
        turns = [pose(turn * q[3 + k] * e)[0] for k, e in enumerate(np.eye(3))]
        spin = turn * rate[3] * np.eye(3)[0] + turns[0] @ (
            turn * rate[4] * np.eye(3)[1] + turns[1] @ (turn * rate[5] * np.eye(3)[2])
        )
        rotation = turns[0] @ turns[1] @ turns[2]
        found = wrench(contact_surface(one, (rotation, x), two, HERE), x)
        power = found.force @ v + found.moment @ spin
        net, total = net + power, total + abs(power)
    return abs(net) / total


@pytest.mark.parametrize(
    "name, height",
    [("ball on brick", 0.08), ("rod on brick", 0.06), ("rigid ball in brick", 0.085)],
)
def test_no_work_round_a_loop(name, height):
    one, two = (build() for build in PAIRS[name])
    assert loop(one, two, np.array([0.0, 0.03, height]), 2400) < 1e-9


@pytest.mark.parametrize("turn", [(0.0, 0.0, 0.0), (0.3, 0.2, 0.7)])
def test_no_work_of_equal_boxes_flush_side_by_side(turn):
    """Above and below the overlap both fields are one and the same over a volume.

    One leg of the loop slides along that tie, one leaves it, one comes back to it elsewhere.
    """
    one, two = brick(), pressure_field(box(0.1, 0.12, 0.08), 2e7)
    frame = pose(turn)[0]
    places = np.array([[0.09, 0, 0], [0.07, 0, 0], [0.07, 0, 0.01], [0.09, 0, 0.01]]) @ frame.T
    nodes, weights = np.polynomial.legendre.leggauss(4)
    works = []
    for start, end in zip(places, np.roll(places, -1, axis=0)):
        work = 0.0
        for s, w in zip((nodes + 1) / 2, weights / 2):
            surface = contact_surface(
                one, (frame, start + s * (end - start)), two, (frame, np.zeros(3))
            )
            work += w * force(surface) @ (end - start)
        works.append(work)
    assert abs(sum(works)) < 1e-9 * np.abs(works).sum()
    assert works[0] == pytest.approx(-760.0)  # as the difference of the energies, 1700 - 940
    far, near = ((frame, x) for x in places[:2])
    there = (frame, np.zeros(3))
    assert energy(one, far, two, there) - energy(one, near, two, there) == pytest.approx(-760.0)


@pytest.mark.parametrize("build", [lambda: ball(0.0125), lambda: rigid_ball(3)])
def test_the_force_never_jumps(build):
    """Over 10 000 poses: half the step, half the largest change, though polygons come and go."""
    one, two = build(), brick()
    poses = 10_000
    forces, counts = np.empty((poses, 3)), np.empty(poses, int)
    for k, s in enumerate(np.linspace(0.0, 1.0, poses)):
        there = pose((0.8 * s, 0.5 * s, -0.3 * s), (0.06 * s - 0.03, 0.02 * s, 0.095 - 0.04 * s))
        surface = contact_surface(one, there, two, HERE)
        forces[k], counts[k] = force(surface), len(surface)
    changes = [
        np.linalg.norm(np.diff(forces[::every], axis=0), axis=1).max() for every in (1, 2, 4)
    ]
    assert changes[0] / changes[1] == pytest.approx(0.5, abs=0.01)
    assert changes[1] / changes[2] == pytest.approx(0.5, abs=0.01)
    assert changes[0] < 1e-3 * np.abs(forces).max()
    assert np.count_nonzero(np.diff(counts)) > 100
