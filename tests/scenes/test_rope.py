"""Two weights on a rope over a wheel: Atwood's machine and the capstan, by friction alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from limpet.errors import LimpetError
from limpet.particles.meshes import edge_lengths, rope
from limpet.scenes.registry import load
from limpet.scenes.rope import THICKNESS, RopeBodies, over_the_wheel, rope_system
from limpet.studies.reproduce.averaging_c import atwood

from .runs import GRAVITY, run

RADIUS, LENGTH = 0.2, 1.6
ARM = RADIUS + THICKNESS  # [m] of the rope's middle


@dataclass(frozen=True)
class Fall:
    hung: RopeBodies
    acceleration: float  # [m/s^2] of the weights, from rest on
    rim: float  # [m/s^2] of the wheel where the rope lies
    stretch: float  # of the rope's edges, most
    drifted: float  # [m] the axle, most


def fall(seconds: float, **told: float) -> Fall:
    world, hung = rope_system(radius=RADIUS, length=LENGTH, **told)
    start = hung.heavy.centre[2] - hung.light.centre[2]
    edges, stretch, drifted = hung.rope.mesh.edges, 0.0, 0.0
    for _ in world.run(seconds):
        length = edge_lengths(hung.rope.x, edges) / hung.rope.mesh.lengths
        stretch = max(stretch, float(np.abs(length - 1.0).max()))
        drifted = max(drifted, float(np.abs(hung.wheel.centre).max()))
    way = 0.5 * (start - hung.heavy.centre[2] + hung.light.centre[2])
    return Fall(hung, 2.0 * way / seconds**2, hung.wheel.w[1] * ARM / seconds, stretch, drifted)


def test_without_slip_the_weights_fall_as_atwood_has_it_and_the_wheel_turns_with_them():
    seconds, heavy, light, rope_mass = 0.6, 1.2, 0.8, 0.1
    found = fall(seconds, heavy=heavy, light=light, rope_mass=rope_mass, friction=0.5)
    wheel = found.hung.wheel.inertia[1, 1] / ARM**2
    expected = atwood(heavy, light, rope_mass, LENGTH, wheel, seconds)
    assert found.acceleration == pytest.approx(expected, rel=0.02)
    assert expected < 0.9 * atwood(
        heavy, light, rope_mass, LENGTH, 0.0, seconds
    )  # the wheel counts
    assert found.rim == pytest.approx(found.acceleration, rel=0.03)  # chords are 0.8 % short
    assert found.stretch < 0.015
    assert found.drifted < 1e-5


def test_without_friction_the_rope_slides_over_a_wheel_at_rest():
    seconds, heavy, light, rope_mass = 0.6, 1.2, 0.8, 0.1
    found = fall(seconds, heavy=heavy, light=light, rope_mass=rope_mass, friction=0.0)
    expected = atwood(heavy, light, rope_mass, LENGTH, 0.0, seconds)
    assert found.acceleration == pytest.approx(expected, rel=0.02)
    assert abs(found.rim) < 1e-3 * found.acceleration


@pytest.mark.parametrize("mu", [0.05, 0.1])
def test_a_slipping_rope_pulls_by_the_capstan_rule(mu):
    """T1/T2 = exp(mu pi); a wheel too heavy to keep up gets the rest as a moment."""
    seconds, heavy, light, rope_mass = 0.4, 2.0, 1.0, 0.05
    found = fall(
        seconds, heavy=heavy, light=light, rope_mass=rope_mass, wheel_mass=10.0, friction=mu
    )
    hanging = rope_mass * (0.5 - 0.5 * np.pi * ARM / LENGTH)
    a = found.acceleration
    pulls = (heavy + hanging) * (GRAVITY - a), (light + hanging) * (GRAVITY + a)
    assert found.rim < 0.5 * a  # it slips
    assert pulls[0] / pulls[1] == pytest.approx(np.exp(mu * np.pi), rel=0.02)
    wheel = found.hung.wheel.inertia[1, 1] / ARM**2
    assert wheel * found.rim == pytest.approx(pulls[0] - pulls[1], rel=0.06)


@pytest.mark.parametrize("segments", [24, 25])
def test_the_strip_is_laid_over_the_wheel_without_a_stretch(segments):
    mesh = rope(LENGTH, 0.02, segments)
    x = over_the_wheel(mesh, ARM)
    assert edge_lengths(x, mesh.edges) == pytest.approx(mesh.lengths, rel=1e-12)
    assert np.hypot(x[:, 0], x[:, 2]).min() > ARM - 1e-12
    assert x[mesh.regions["east"], 0] == pytest.approx(ARM)
    assert x[mesh.regions["west"], 0] == pytest.approx(-ARM)


def test_the_rope_has_the_paper_s_counts():
    world, hung = rope_system()
    world.step()
    p = world._impulses
    assert (len(hung.rope.x), len(hung.rope.mesh.triangles)) == (50, 48)
    assert (len(p.distances), len(p.bends)) == (121, 47)


def test_the_scene_runs_by_name():
    told = run("rope", duration="0.3 s")
    heavy, light = told.probes("heavy_z"), told.probes("light_z")
    assert heavy[-1] < heavy[0] - 0.03 and light[-1] > light[0] + 0.03
    wheel = next(b for b in told.simulation.bodies if b.name == "wheel")
    assert wheel.w[1] > 0.5  # the top goes towards the heavier one, which is at x > 0


@pytest.mark.parametrize("told", [{"length": "0.5 m"}, {"radius": "3 cm"}])
def test_a_rope_that_does_not_fit_the_wheel_is_one_clear_line(told):
    with pytest.raises(
        LimpetError, match=r"^rope length = .* m: expected from .* to .* m"
    ) as caught:
        load("rope", told)
    assert "\n" not in str(caught.value)


def test_by_name_it_is_what_it_is_alone():
    """Bit by bit: nothing but the sweeps acts on what is swept."""
    world, hung = rope_system()
    simulation = load("rope", {}).simulation()
    for _ in range(5):
        world.step()
        simulation.step()
    twins = {body.name: body for body in simulation.bodies}
    assert np.array_equal(twins["rope"].x, hung.rope.x)
    for body in (hung.wheel, hung.heavy, hung.light):
        assert np.array_equal(twins[body.name].centre, body.centre)
        assert np.array_equal(twins[body.name].quaternion, body.quaternion)
