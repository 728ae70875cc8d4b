"""Soft bodies with pressure fields in a World: weight, press, pinch, drops, cups, errors."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import limpet as lp
from limpet.fem.soft_body import SoftBody
from limpet.pressure_field.catalogue import of_solid
from limpet.pressure_field.primitives import Solid
from limpet.pressure_field.soft_field import soft_field
from limpet.shapes.objects import globe

G = 9.81


def soft_box(world, size, divisions, young, modulus, mass, name, *, element="hex8", **where):
    shape = lp.shapes.soft_box(*size, divisions, element=element)
    material = lp.Material(young=young, poisson=0.3)
    return world.add_soft(
        shape, material, mass, name=name, field=lp.fields.layer(modulus), **where
    )  # fmt: skip


@pytest.mark.parametrize(
    ("element", "young", "modulus", "floor"),
    [
        ("hex8", 1e5, 1e5, lp.fields.floor()),
        ("tet4", 1e6, 1e8, lp.fields.floor(modulus=1e6, thickness=0.02)),
        ("hex20", 1e5, 1e6, lp.fields.box(0.1, 0.1, 0.02, 1e6)),
    ],
)
def test_a_block_presses_with_its_weight(element, young, modulus, floor):
    world = lp.World()
    position = (0.0, 0.0, 0.0301 if floor.name == "floor" else 0.0401)
    size = (0.04, 0.04, 0.03)
    soft_box(world, size, (2, 2, 2), young, modulus, 0.1, "block", element=element,
             position=position)  # fmt: skip
    world.add_rigid(floor, 1.0, name="floor", fixed=True)
    reports = list(lp.Simulation(world, h=0.01).run(0.3))
    (patch,) = reports[-1].patches
    assert patch.bodies == ("block", "floor")
    np.testing.assert_allclose(patch.force, [0.0, 0.0, 0.1 * G], atol=2e-5)
    assert all(r.converged for r in reports)
    assert max(r.momentum_residual for r in reports) < 1e-10
    assert 0.0 < patch.largest < modulus and patch.area == pytest.approx(0.0016, rel=0.1)


def press(kind, young=1e5, modulus=1e5, divisions=(6, 6, 3)):
    """[N] on a ball of 20 mm that is 2 mm deep in a slab of 20 mm."""
    world = lp.World(friction=0.0, gravity=(0.0, 0.0, 0.0))
    shape = lp.shapes.soft_box(0.06, 0.06, 0.02, divisions, element="hex8")
    layer = lp.fields.layer(modulus)
    if kind == "rigid":
        f = soft_field(shape, layer, "slab")
        solid = of_solid("slab", Solid(f.points, f.tets, f.pressure / modulus), modulus)
        world.add_rigid(solid, 1.0, name="slab", fixed=True)
    else:
        field = layer if kind == "field" else None
        slab = world.add_soft(shape, lp.Material(young, 0.3), 0.1, name="slab", field=field)
        world.fix(slab["bottom"])
    ball = globe(0.02) if kind == "points" else lp.fields.sphere(0.02, 1e7, edge=0.005)
    ball = world.add_rigid(ball, 0.1, name="ball", position=(0.001, 0.0005, 0.0201))
    world.prescribe_motion(ball, lp.motion.path([(0.0, 0.0), (0.1, -0.0021), (0.2, -0.0021)]))
    reports = list(lp.Simulation(world, h=0.02).run(0.2))
    assert all(r.converged for r in reports)
    return -reports[-1].reactions["ball"][2]


def test_a_ball_in_a_slab_feels_both_in_series():
    """Below the field of a rigid slab, and below the point contact of a soft one."""
    field, points, both = press("rigid"), press("points"), press("field")
    assert 0.8 / (1.0 / field + 1.0 / points) < both < min(field, points)
    assert press("field", young=1e8) == pytest.approx(field, rel=0.01)
    assert press("field", divisions=(9, 9, 4)) == pytest.approx(both, rel=0.01)


def drop(young, modulus, h, duration):
    """Convergence, rise above the start [m] and gain of energy over that of the fall."""
    world, turn = lp.World(), Rotation.from_rotvec((0.3, 0.2, 0.1)).as_matrix()
    place = turn @ (0.0, 0.0, 0.015) + (0.0, 0.0, 0.046)
    soft_box(world, (0.03, 0.03, 0.03), (2, 2, 2), young, modulus, 0.05, "block",
             position=place, rotation=turn)  # fmt: skip
    world.add_rigid(lp.fields.floor(), 1.0, fixed=True)
    simulation = lp.Simulation(world, h=h)
    block = simulation.body("block")
    assert isinstance(block, SoftBody)
    top = block.positions()[:, 2].max()
    start = G * float(block.fem.node_mass @ block.x[:, 2])
    converged, rise, least, gain = True, 0.0, np.inf, 0.0
    for report in simulation.run(duration):
        fields = simulation.model.fields
        assert fields is not None and fields._step is not None
        contact = sum(f.touch.energy for f in fields._step.terms.soft.pairs)
        kinetic = 0.5 * float(np.sum(block.v * block.fem.mass_times(block.v)))
        height = G * float(block.fem.node_mass @ block.x[:, 2])
        total = kinetic + height + block.elastic_energy() + contact
        least = min(least, total)
        gain = max(gain, total - least, total - start)
        rise = max(rise, block.positions()[:, 2].max() - top)
        converged &= report.converged
    return converged, rise, gain / (0.05 * G * 0.02)


@pytest.mark.parametrize(
    ("young", "modulus", "h", "duration"),
    [(1e4, 1e4, 2e-2, 0.3), (1e5, 1e6, 5e-3, 0.15), (1e7, 1e4, 1e-2, 0.2), (1e7, 1e9, 1e-2, 0.2)],
)
def test_a_dropped_block_gains_nothing(young, modulus, h, duration):
    converged, rise, gain = drop(young, modulus, h, duration)
    assert converged
    assert rise <= 0.0
    assert gain < 0.01


def pinch(*, carried=False, friction=0.6):
    """Two pads squeeze a box of 100 g by 1 mm each and lift it."""
    world = lp.World(friction=friction)
    box = world.add_rigid(
        lp.fields.box(0.04, 0.04, 0.04, 1e6), 0.1, name="box", position=(0.0, 0.0, 0.02)
    )
    world.add_rigid(lp.fields.floor(), 1.0, name="floor", fixed=True)
    for side, name in ((1.0, "left"), (-1.0, "right")):
        turn = Rotation.from_rotvec((0.0, side * np.pi / 2.0, 0.0)).as_matrix()
        face = -side * 0.0201
        pad = soft_box(world, (0.03, 0.03, 0.012), (2, 2, 1), 2e5, 2e5, 0.01, name,
                       position=(face, 0.0, 0.02), rotation=turn)  # fmt: skip
        closed, up = (side * 0.0011, 0.0, 0.0), (side * 0.0011, 0.0, 0.01)
        motion = lp.motion.path([(0.0, (0.0, 0.0, 0.0)), (0.06, closed), (0.1, closed),
                                 (0.2, up), (0.4, up)])  # fmt: skip
        if not carried:
            world.prescribe_motion(pad["bottom"], motion)
            continue
        plate = world.add_rigid(
            lp.shapes.box(0.004, 0.03, 0.03), 0.05, name=f"plate {name}",
            position=(face - side * 0.014, 0.0, 0.035),
        )  # fmt: skip
        world.attach(pad["bottom"], plate)
        world.prescribe_motion(plate, motion)
    world.add_probe("box", box)
    return lp.Simulation(world, h=0.01)


@pytest.mark.parametrize("carried", [False, True])
def test_two_pads_lift_a_box_and_hold_it(carried):
    reports = list(pinch(carried=carried).run(0.4))
    last = reports[-1]
    assert all(r.converged for r in reports)
    assert max(r.momentum_residual for r in reports) < 1e-10
    forces = {p.bodies: np.array(p.force) for p in last.patches}
    assert set(forces) == {("left", "box"), ("right", "box")}
    left, right = forces["left", "box"], forces["right", "box"]
    np.testing.assert_allclose(left + right, [0.0, 0.0, -0.1 * G], atol=5e-4)
    assert left[0] == pytest.approx(-right[0], rel=1e-6) and left[0] < -5.0
    assert last.probes["box_z"] - 0.02 == pytest.approx(0.01, abs=3e-4)
    hold = "plate left" if carried else "left"
    weight = 0.01 + 0.05 * carried + 0.05  # pad, plate, half of the box
    assert last.reactions[hold][2] == pytest.approx(weight * G, abs=5e-4)
    assert last.reactions[hold][0] == pytest.approx(-left[0], rel=1e-5)
    slip = last.probes["box_z"] - reports[-11].probes["box_z"]  # in 0.1 s
    assert abs(slip) < 1e-6


def test_what_friction_cannot_hold_slides_out():
    reports = list(pinch(friction=0.03).run(0.4))
    assert all(r.converged for r in reports)
    assert reports[-1].probes["box_z"] < 0.021


def test_two_soft_bodies_press_each_other():
    world = lp.World()
    soft_box(world, (0.04, 0.04, 0.02), (2, 2, 2), 1e5, 1e5, 0.1, "below", position=(0, 0, 0.0201))
    soft_box(world, (0.03, 0.03, 0.02), (2, 2, 2), 2e5, 3e5, 0.05, "above",
             position=(0.002, 0.001, 0.0403))  # fmt: skip
    world.add_rigid(lp.fields.floor(), 1.0, name="floor", fixed=True)
    reports = list(lp.Simulation(world, h=0.01).run(0.4))
    assert all(r.converged for r in reports)
    assert max(r.momentum_residual for r in reports) < 1e-10
    forces = {p.bodies: p.force[2] for p in reports[-1].patches}
    assert forces["below", "floor"] == pytest.approx(0.15 * G, abs=1e-4)
    assert forces["below", "above"] == pytest.approx(-0.05 * G, abs=1e-4)


def test_a_pad_under_a_plate_carries_both():
    """The plate moves freely, and its field meets that of a box on it."""
    world = lp.World()
    pad = soft_box(world, (0.04, 0.04, 0.02), (2, 2, 2), 1e5, 1e5, 0.1, "pad",
                   position=(0.0, 0.0, 0.0201))  # fmt: skip
    plate = world.add_rigid(
        lp.fields.box(0.04, 0.04, 0.01, 1e6), 0.2, name="plate", position=(0.0, 0.0, 0.0251)
    )
    world.attach(pad["top"], plate)
    world.add_rigid(
        lp.fields.box(0.02, 0.02, 0.01, 1e6), 0.05, name="box", position=(0.003, 0.0, 0.0352)
    )
    world.add_rigid(lp.fields.floor(), 1.0, name="floor", fixed=True)
    reports = list(lp.Simulation(world, h=0.01).run(0.6))
    assert all(r.converged for r in reports)
    assert max(r.momentum_residual for r in reports) < 1e-10
    forces = {p.bodies: p.force[2] for p in reports[-1].patches}
    assert forces["pad", "floor"] == pytest.approx(0.35 * G, abs=1e-3)
    assert abs(forces["plate", "box"]) == pytest.approx(0.05 * G, abs=1e-3)


def test_a_cup_holds_a_soft_block_that_stands_by_its_field():
    world = lp.World()
    soft_box(world, (0.05, 0.05, 0.03), (4, 4, 2), 2e6, 1e6, 0.1, "block", position=(0, 0, 0.03))
    world.add_rigid(lp.fields.floor(), 1.0, name="floor", fixed=True)
    cup = world.add_soft(
        lp.shapes.cup("standard"), lp.Material(4e6, 0.45), 0.02, position=(0.0, 0.0, 0.0301)
    )
    path = [(0.0, 0.0), (0.1, -0.003), (0.15, -0.003), (0.3, 0.006)]
    world.prescribe_motion(cup["top"], lp.motion.path(path))
    reports = list(lp.Simulation(world, h=0.01).run(0.3))
    assert all(r.converged for r in reports)
    pressed, lifted = reports[12], reports[-1]
    (patch,) = pressed.patches
    force = pressed.reactions["cup"][2]
    # the floor carries block, cup and push, but for what still moves
    assert patch.force[2] == pytest.approx(0.12 * G - force, rel=0.02)
    assert not lifted.patches and min(c.pressure for c in lifted.cavities) < 1e5
    assert lifted.reactions["cup"][2] > 0.5


def test_a_saved_state_goes_on_bit_by_bit():
    simulation = pinch(carried=True)
    for _ in simulation.run(0.12):
        pass
    state = simulation.get_state()
    once = [r.probes["box_z"] for r in simulation.run(0.03)]
    simulation.set_state(state)
    assert [r.probes["box_z"] for r in simulation.run(0.03)] == once


def test_pictures_show_the_patch():
    world = lp.World()
    soft_box(world, (0.04, 0.04, 0.03), (2, 2, 2), 1e5, 1e5, 0.1, "block", position=(0, 0, 0.0295))
    world.add_rigid(lp.fields.floor(), 1.0, name="floor", fixed=True)
    simulation = lp.Simulation(world, h=0.01)
    report = simulation.step()
    frame = simulation.section_frame("now")
    assert frame.patches is not None and len(frame.patches[2]) > 10
    assert report.patches[0].polygons > 10
    total = frame.forces[:, 2].sum()
    assert total > 0.5 * 0.1 * G


def test_wrong_fields_are_refused():
    world, shape = lp.World(), lp.shapes.soft_box(0.04, 0.04, 0.03, (2, 2, 2), element="hex8")
    material = lp.Material(1e5, 0.3)
    with pytest.raises(lp.LimpetError, match="modulus = -1"):
        lp.fields.layer(-1.0)
    with pytest.raises(lp.LimpetError, match="thickness = 0"):
        lp.fields.layer(1e5, thickness=0.0)
    with pytest.raises(lp.LimpetError, match=r"thickness = 0.02 m.*0.015 m deep"):
        world.add_soft(shape, material, 0.1, field=lp.fields.layer(1e5, thickness=0.02))
    with pytest.raises(lp.LimpetError, match=r"thickness = 0.001 m.*finer mesh"):
        world.add_soft(shape, material, 0.1, field=lp.fields.layer(1e5, thickness=0.001))
    with pytest.raises(lp.LimpetError, match=r"expected limpet.fields.layer"):
        world.add_soft(shape, material, 0.1, field=1e5)
    plain = world.add_soft(shape, material, 0.1, name="plain", position=(0, 0, 0.1))
    floor = world.add_rigid(lp.fields.floor(), 1.0, fixed=True)
    with pytest.raises(lp.LimpetError, match=r"'plain' has no pressure field; add it with field="):
        world.set_contact(plain, floor, "pressure fields")
    mesh = lp.particles.gel_block((0.03, 0.03, 0.03), (3, 3, 3))
    jelly = world.particles.add(lp.particles.ShapeMatching("jelly", mesh, 0.05, stiffness=1.0))
    with pytest.raises(lp.LimpetError, match="particle bodies cannot have one"):
        world.set_contact(jelly, floor, "pressure fields")
    deep = lp.World()
    deep.add_soft(shape, material, 0.1, name="block", field=lp.fields.layer(1e5))
    deep.add_rigid(lp.fields.floor(), 1.0, fixed=True)
    with pytest.raises(lp.LimpetError, match="'block' and 'floor' overlap deeper"):
        lp.Simulation(deep, h=0.01).step()
