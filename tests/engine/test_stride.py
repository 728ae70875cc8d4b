"""Longer steps where little happens: the same motion, the same events, fewer steps."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import limpet as lp
from limpet.engine.stride import next_stride, step_error
from limpet.errors import LimpetError
from limpet.scenes.registry import load

H = 0.01


def test_the_error_is_the_difference_of_the_two_rules():
    v, after = np.zeros((2, 3)), np.array([[0.0, 0.0, 0.3], [0.0, 0.4, 0.3]])
    assert step_error(v, after, 0.02) == pytest.approx(0.5 * 0.02 * 0.5)
    assert step_error(np.zeros((0, 3)), np.zeros((0, 3)), 0.02) == 0.0


@pytest.mark.parametrize(
    ("made", "error", "stride"),
    [(1, 1e-9, 2), (4, 1e-9, 8), (8, 0.0, 10), (4, 1e-5, 4), (4, 4e-5, 2), (1, 1.0, 1)],
)
def test_the_next_stride_follows_the_error(made, error, stride):
    assert next_stride(made, error, 1e-5, 10) == stride


def driven_box(stride: int, speed: float = 1e-3) -> lp.Simulation:
    """A box that a motion lifts slowly and stops."""
    world = lp.World(gravity=(0, 0, 0))
    box = world.add_rigid(lp.shapes.box(0.01, 0.01, 0.01), mass=0.1, name="box")
    world.prescribe_motion(box, lp.motion.path([(0.0, 0.0), (1.0, speed), (2.0, speed)]))
    return lp.Simulation(world, H, lp.Settings(stride=stride))


def test_a_slow_motion_takes_few_steps_and_ends_where_it_should():
    sim = driven_box(10)
    reports = list(sim.run(2.0))
    assert reports[-1].time == pytest.approx(2.0) and reports[-1].step == 200
    assert len(reports) < 40
    assert np.diff([0, *(r.step for r in reports)]).max() == 10
    z = sim.snapshot().positions[:, 2]
    assert np.ptp(z) == pytest.approx(0.01) and z.max() == pytest.approx(1e-3, abs=1e-9)


def test_a_fall_is_made_in_steps_of_h():
    world = lp.World()
    world.add_rigid(lp.shapes.box(0.01, 0.01, 0.01), mass=0.1, position=(0, 0, 1.0), name="box")
    plain = list(lp.Simulation(world, H).run(0.1))
    longer = list(lp.Simulation(world, H, lp.Settings(stride=10)).run(0.1))
    assert [r.step for r in longer] == [r.step for r in plain]


def test_a_stride_of_one_changes_no_bit():
    one, other = driven_box(1), driven_box(1)
    list(one.run(0.2))
    for _ in range(20):
        other.step()
    assert np.array_equal(one.snapshot().positions, other.snapshot().positions)


def cup(stride: int, **settings: object) -> lp.Simulation:
    scene = load("ground", {"stride": stride, "speed": 8e-3, **settings})
    return scene.simulation()


@pytest.fixture(scope="module")
def pulled() -> dict[int, list[lp.engine.simulation.StepReport]]:
    return {stride: list(cup(stride).run(2.5)) for stride in (1, 10)}


def test_a_cup_is_pulled_off_at_the_same_force_in_half_the_steps(pulled):
    force = {k: max(r.reactions["cup"][2] for r in own) for k, own in pulled.items()}
    end = {
        k: next(r.time for r, s in itertools.pairwise(own) if r.cavities and not s.cavities)
        for k, own in pulled.items()
    }
    assert len(pulled[10]) < len(pulled[1]) / 2  # a quick pull: `ground` itself takes a sixth
    assert all(r.converged for r in pulled[10])
    assert force[10] == pytest.approx(force[1], rel=5e-3)
    assert end[10] == pytest.approx(end[1], abs=2 * H)


def test_seals_open_within_h(pulled):
    times = [0.0, *(r.time for r in pulled[10])]
    for k, report in enumerate(pulled[10][1:], 1):
        if {c.id for c in report.cavities} != {c.id for c in pulled[10][k - 1].cavities}:
            assert times[k + 1] - times[k] == pytest.approx(H)


def test_no_air_is_made(pulled):
    assert max(r.air_error for r in pulled[10]) < 1e-12


def test_a_state_continues_with_the_same_bits(tmp_path):
    sim = cup(10)
    list(sim.run(1.0))
    sim.save(tmp_path / "state.npz")
    rest = [r.step for r in sim.run(0.3)]
    again = cup(10)
    again.load(tmp_path / "state.npz")
    assert [r.step for r in again.run(0.3)] == rest
    assert np.array_equal(sim.snapshot().positions, again.snapshot().positions)


@pytest.mark.parametrize("stride", [0, -3, 1001])
def test_strides_out_of_range_are_refused(stride):
    with pytest.raises(LimpetError, match=f"stride = {stride}: expected 1 to 1000"):
        lp.Settings(stride=stride)
