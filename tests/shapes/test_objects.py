"""Rigid things to pick up: closed, as large as told, facets fine where they must be."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from limpet.engine.simulation import Simulation
from limpet.errors import LimpetError
from limpet.geometry.surface import volume
from limpet.meshing.check import check_surface
from limpet.model.world import World
from limpet.rigid.rigid_body import mass_properties
from limpet.shapes.boxes import box
from limpet.shapes.objects import apple, can, compartment_box, drilled_plate, mug, ring, wheel

SEALING = 5e-5  # [m]


def inside(shape) -> float:
    check_surface(shape.points, shape.triangles, shape.name)
    assert shape.points[:, 2].min() == pytest.approx(0.0, abs=1e-12)
    return volume(shape.points, shape.triangles)


@pytest.mark.parametrize("lying", [True, False])
@pytest.mark.parametrize("diameter", [0.05, 0.07, 0.1])
def test_an_apple_is_a_ball_with_two_dimples(diameter, lying):
    shape = apple(diameter, lying=lying)
    ball = np.pi / 6.0 * diameter**3
    assert 0.85 * ball < inside(shape) < ball
    assert len(shape.points) < 500
    across = shape.points[:, 1]
    assert np.ptp(across) == pytest.approx(diameter, rel=0.05)


def test_the_upper_cheek_is_smooth_enough_to_seal_on():
    shape = apple(0.07)
    centre = np.array([0.0, 0.0, 0.035])
    corners = shape.points[shape.triangles]
    near = np.linalg.norm((corners.mean(axis=1) - centre)[:, :2], axis=1) < 0.018
    near &= corners.mean(axis=1)[:, 2] > 0.035
    assert near.sum() > 60
    below = 0.035 - np.linalg.norm(corners[near].mean(axis=1) - centre, axis=1)
    assert 0.0 < below.max() < SEALING


def test_a_standing_apple_rests_on_its_lobes_and_seals_no_air_below():
    world = World()
    world.add_rigid(apple(lying=False), 0.15, position=(0.0, 0.0, 1e-4))
    world.add_rigid(box(0.2, 0.2, 0.02), 1.0, fixed=True)
    reports = list(Simulation(world, h=0.01).run(0.6))
    assert reports[-1].active_contacts == 3
    assert all(r.cavities == () for r in reports)


@pytest.mark.parametrize("sides, lying", [(64, False), (64, True), (20, False)])
def test_a_can_is_a_prism(sides, lying):
    shape = can(0.033, 0.115, sides=sides, lying=lying)
    area = 0.5 * sides * 0.033**2 * np.sin(2.0 * np.pi / sides)
    assert inside(shape) == pytest.approx(area * 0.115)
    assert len(shape.points) == 2 * sides + 2
    assert np.ptp(shape.points[:, 1 if lying else 2]) == pytest.approx(0.115)
    assert sides < 64 or 0.033 * (1.0 - np.cos(np.pi / sides)) < SEALING


@settings(max_examples=10, deadline=None)
@given(inner=st.floats(0.001, 0.1), more=st.floats(1e-3, 0.1), height=st.floats(1e-3, 0.1))
def test_a_ring_is_a_hollow_prism(inner, more, height):
    shape = ring(inner, inner + more, height, sides=24)
    area = 12 * np.sin(2.0 * np.pi / 24) * ((inner + more) ** 2 - inner**2)
    assert inside(shape) == pytest.approx(area * height, rel=1e-9)


@pytest.mark.parametrize("cells", [(1, 1), (2, 2), (3, 1), (2, 4)])
def test_a_compartment_box_is_walls_and_floor(cells):
    length, width, height, wall = 0.2, 0.16, 0.06, 0.004
    shape = compartment_box(length, width, height, cells, wall)
    rooms = (length - (cells[0] + 1) * wall) * (width - (cells[1] + 1) * wall)
    assert inside(shape) == pytest.approx(length * width * height - rooms * (height - wall))
    assert len(shape.points) == 8 + 8 * cells[0] * cells[1]
    # open at the top: the floor of the first cell looks up
    low = np.array([-length / 2 + 1.5 * wall, -width / 2 + 1.5 * wall])
    corners = shape.points[shape.triangles]
    floor = np.all(np.isclose(corners[:, :, 2], wall), axis=1)
    assert floor.sum() == 2 * cells[0] * cells[1]
    assert corners[floor][:, :, :2].min(axis=(0, 1)) == pytest.approx(low - 0.5 * wall)


@pytest.mark.parametrize(
    "make, says",
    [
        (lambda: apple(0.0), "apple diameter = 0 m"),
        (lambda: apple(fine=0.02), "apple fine = 0.02 m, coarse = 0.016 m: expected fine"),
        (lambda: can(radius=-1.0), "can radius = -1 m"),
        (lambda: can(sides=4), "can sides = 4: expected 6 or more"),
        (lambda: ring(0.03, 0.02), "ring outer = 0.02 m: expected more than inner"),
        (lambda: compartment_box(cells=(0, 1)), "compartment box cells = .0, 1."),
        (lambda: compartment_box(wall=0.1), "compartment box wall = 0.1 m: too thick"),
    ],
)
def test_wrong_wishes_are_refused_in_one_line(make, says):
    with pytest.raises(LimpetError, match=says) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_a_drilled_plate_lacks_what_was_drilled_out():
    sides, hole, depth = 12, 0.004, 0.01
    plate = drilled_plate(0.06, 0.05, 0.02, hole, depth, (0.01, 0.0), sides=sides)
    check_surface(plate.points, plate.triangles)
    polygon = 0.5 * sides * np.sin(2.0 * np.pi / sides) * (0.5 * hole) ** 2
    expected = 0.06 * 0.05 * 0.02 - polygon * depth
    assert volume(plate.points, plate.triangles) == pytest.approx(expected, rel=1e-6)
    assert plate.points[:, 2].max() == pytest.approx(0.0, abs=1e-9)
    floor = plate.points[np.abs(plate.points[:, 2] + depth) < 1e-9]
    assert np.linalg.norm(floor[:, :2] - [0.01, 0.0], axis=1) == pytest.approx(0.5 * hole, rel=1e-6)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"depth": 0.02}, "depth = 0.02 m: expected less than its height"),
        ({"hole": 0.0}, "drilled plate hole = 0 m"),
        ({"at": (0.03, 0.0)}, "expected it inside the plate"),
    ],
)
def test_wrong_holes_are_refused(changes, message):
    with pytest.raises(LimpetError, match=message):
        drilled_plate(**changes)


def test_a_mug_is_a_cup_with_a_handle():
    shape = mug(radius=0.04, height=0.09, wall=0.005, handle=0.006, sides=96)
    surface = check_surface(shape.points, shape.triangles, "mug")
    euler = len(shape.points) - len(surface.edges) + len(shape.triangles)
    assert euler == 0  # one hole through it: the handle's
    wall_and_floor = np.pi * (0.04**2 * 0.09 - 0.035**2 * 0.085)
    handle = np.pi * 0.006**2 * np.pi * 0.027  # about half of the ring is outside
    assert volume(shape.points, shape.triangles) == pytest.approx(wall_and_floor + handle, rel=0.05)
    assert shape.points[:, 2].min() == pytest.approx(0.0, abs=1e-12)
    with pytest.raises(LimpetError, match="mug wall"):
        mug(wall=0.03)


def test_a_wheel_turns_about_y_and_has_as_many_holes_as_spokes():
    shape = wheel(0.1, 0.03, spokes=4, sides=96)
    surface = check_surface(shape.points, shape.triangles, "wheel")
    assert len(shape.points) - len(surface.edges) + len(shape.triangles) == 2 - 2 * 4
    rim, hub = np.pi * (0.1**2 - 0.08**2) * 0.03, np.pi * 0.02**2 * 0.03
    spokes = 4 * 0.06 * 0.012 * 0.015
    inside = volume(shape.points, shape.triangles)
    assert inside == pytest.approx(rim + hub + spokes, rel=0.01)
    assert np.ptp(shape.points, axis=0) == pytest.approx([0.2, 0.03, 0.2], rel=1e-9)
    centre, inertia = mass_properties(shape.points, shape.triangles, 1.0)
    assert centre == pytest.approx(0.0, abs=1e-12)
    assert inertia[1, 1] > inertia[0, 0] == pytest.approx(inertia[2, 2])
    with pytest.raises(LimpetError, match="wheel spokes = 1: expected 2 or more"):
        wheel(0.1, 0.03, spokes=1)
