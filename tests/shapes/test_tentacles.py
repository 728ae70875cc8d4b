"""An octopus arm: sound at many proportions, limp enough to bend, and its suckers suck."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from limpet.dynamics.motion import HOLD, path
from limpet.engine.simulation import Simulation
from limpet.errors import LimpetError
from limpet.fem.material import Material
from limpet.fem.soft_body import SoftBody
from limpet.fem.statics import static_equilibrium
from limpet.geometry.surface import volume
from limpet.meshing.check import check_surface
from limpet.model.world import World
from limpet.shapes.boxes import box
from limpet.shapes.tentacles import tentacle


def test_counts_are_near_those_of_the_paper():
    shape = tentacle()
    assert len(shape.points) == pytest.approx(1585, rel=0.05)
    assert shape.collision.n_vertices < 2044


@settings(max_examples=8, deadline=None)
@given(
    root=st.floats(0.01, 0.04),
    taper=st.floats(0.2, 1.0),
    slender=st.floats(1.2, 2.5),
    suckers=st.integers(1, 5),
    lip=st.floats(0.08, 0.4),
    rim_vertices=st.integers(1, 3),
)
def test_arms_are_sound(root, taper, slender, suckers, lip, rim_vertices):
    length = slender * root * (suckers + 1)
    shape = tentacle(length, root, taper * root, suckers, lip=lip, rim_vertices=rim_vertices)
    for surface in (shape.collision, shape.visual):
        check_surface(surface.positions(shape.points), surface.triangles, "tentacle")
    SoftBody("tentacle", shape, Material(1e5, 0.45), 0.05)  # refuses inverted cells
    x = shape.points
    assert x[:, 0].min() == 0.0 and x[:, 0].max() == pytest.approx(length)
    assert np.ptp(x[:, 1]) == pytest.approx(root)
    rims = x[shape.regions["rims"], 2]
    assert rims.min() == x[:, 2].min() == pytest.approx(0.0, abs=1e-9)
    assert rims.max() < 0.03 * root
    assert len(shape.regions["rims"]) == suckers * 40
    assert np.all(x[shape.regions["root"], 0] == 0.0)
    assert np.all(x[shape.regions["tip"], 0] == length)


def test_volume_is_that_of_its_parts():
    """Of a straight arm: a prism with a curved back, and per sucker a hollow frustum and a dome."""
    length, width, thickness = 0.06, 0.02, 0.45 * 0.02
    shape = tentacle(length, width, width, 2)
    body = SoftBody("tentacle", shape, Material(1e5, 0.45), 0.05)
    pitch = (length - 0.8 * width) / 2.0
    radius = 0.46 * min(pitch, width)

    def frustum(a, b):
        return np.pi * 0.6 * radius / 3.0 * (a * a + a * b + b * b) * radius**2

    prism = length * width * thickness * (1.0 - 0.45 / 3.0)
    wall = frustum(0.8, 1.0) - frustum(0.45, 0.88)
    dome = 0.5 * np.pi * (0.45 * radius) ** 2 * 0.15 * radius
    assert body.fem.volume == pytest.approx(prism + 2.0 * (wall - dome), rel=0.01)
    inside = volume(shape.collision.positions(shape.points), shape.collision.triangles)
    assert inside == pytest.approx(body.fem.volume, rel=0.1)


def test_an_arm_held_at_its_root_hangs_down():
    shape = tentacle(suckers=4)
    body = SoftBody("tentacle", shape, Material(1e5, 0.45), 0.024, shape.regions["root"], HOLD)
    assert static_equilibrium(body, np.array([0.0, 0.0, -9.81]), tolerance=1e-4).converged
    tip = body.node_positions()[shape.regions["tip"]].mean(axis=0)
    assert tip[2] < -0.5 * 0.16


def test_a_sucker_pressed_on_a_plate_holds_by_its_vacuum():
    world = World(friction=0.5)
    arm = world.add_soft(
        tentacle(0.03, 0.02, 0.02, 1), Material(1e5, 0.45), 0.005, position=(0.0, 0.0, 3e-4)
    )
    world.add_rigid(box(0.08, 0.08, 0.02), 1.0, fixed=True)
    down = -2.3e-3
    world.prescribe_motion(
        arm["back"], path([(0.0, 0.0), (0.3, down), (0.4, down), (0.8, down + 2e-3)])
    )
    simulation = Simulation(world, h=0.02)
    reports = list(simulation.run(0.8))
    assert all(r.converged for r in reports)
    pressed, pulled = reports[19], reports[-1]
    assert len(pressed.cavities) == len(pulled.cavities) == 1
    assert pressed.cavities[0].volume < 0.7 * reports[2].cavities[0].volume  # air has left
    suction = 101_325.0 - pulled.cavities[0].pressure
    assert suction > 5e3
    # no harder than the vacuum can over the whole sucker, and far harder than the arm weighs
    radius, weight = 0.46 * min(0.03 - 0.8 * 0.02, 0.02), 0.005 * 9.81
    pull = pulled.reactions["tentacle"][2] - weight
    assert 10.0 * weight < pull < suction * np.pi * radius**2
    assert pulled.air_error < 1e-9


@pytest.mark.parametrize(
    "make, says",
    [
        (lambda: tentacle(length=0.0), "tentacle length = 0 m"),
        (lambda: tentacle(tip=0.05), "tentacle tip = 0.05 m: expected at most root"),
        (lambda: tentacle(suckers=0), "tentacle suckers = 0"),
        (lambda: tentacle(suckers=99), "tentacle suckers = 99: too many for length = 0.16 m"),
        (lambda: tentacle(sucker=1.5), "tentacle sucker = 1.5: expected a number"),
        (lambda: tentacle(lip=0.9), "tentacle lip = 0.9: expected 0.05 to 0.5"),
        (lambda: tentacle(element="tet4"), "tentacle element = 'tet4': expected hex20"),
    ],
)
def test_wrong_wishes_are_refused_in_one_line(make, says):
    with pytest.raises(LimpetError, match=says) as caught:
        make()
    assert "\n" not in str(caught.value)
