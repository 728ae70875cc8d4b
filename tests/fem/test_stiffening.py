"""Bodies of stiffening rubber: a block pulled to three times its length, and a cup."""

import numpy as np
import pytest

import limpet as lp

C = 5e5  # [Pa] half the shear modulus
LAWS = {
    "neo-hookean": lp.Material(4.0 * 1.49 * C, 0.49, law="neo-hookean"),
    "mooney-rivlin": lp.Material.mooney_rivlin(0.8 * C, 0.2 * C),
    "yeoh": lp.Material.yeoh(C, -0.02 * C, 0.006 * C),
}


def run(world, name, h, duration):
    """Forces of the drive [N], and energies [J]; every step must converge."""
    force, energy = [], []
    sim = lp.Simulation(world, h=h)
    for report in sim.run(duration):
        assert report.converged
        force.append(report.reactions[name][2])
        energy.append(sim.body(name).elastic_energy())
    return np.array(force), np.array(energy)


def pulled(material):
    """A bonded block pulled to 3 times its length: force [N] at twice and at three times."""
    world = lp.World(gravity=(0, 0, 0))
    block = world.add_soft(
        lp.shapes.soft_box(0.01, 0.01, 0.01, (2, 2, 2)), material, 0.001, name="block"
    )
    plate = world.add_rigid(
        lp.shapes.box(0.02, 0.02, 0.002), mass=1.0, position=(0, 0, 0.002), fixed=True
    )
    world.attach(block["top"], plate)
    times, way = [0.0, 0.2, 0.3, 0.5, 0.6], [0.0, -0.01, -0.01, -0.02, -0.02]
    world.prescribe_motion(block["bottom"], lp.motion.path(list(zip(times, way))))
    force, energy = run(world, "block", 0.01, 0.6)
    moved = np.diff(np.interp(np.arange(1, 61) * 0.01, times, way))
    work = np.sum(0.5 * (force[1:] + force[:-1]) * moved)
    return -force[29], -force[59], energy[-1], work


def test_a_block_pulled_to_three_times_its_length_stiffens_as_its_law_says():
    ratio = {}
    for name, material in LAWS.items():
        twice, thrice, energy, work = pulled(material)
        ratio[name] = thrice / twice
        assert energy == pytest.approx(work, rel=0.03)  # what damping took is small
    assert ratio["mooney-rivlin"] < ratio["neo-hookean"] < 0.67 * ratio["yeoh"]


def cup_force(material, times):
    world = lp.World(friction=0.5)
    cup = world.add_soft(lp.shapes.cup("standard", nodes=295), material, 0.020)
    world.add_rigid(lp.shapes.box(0.1, 0.1, 0.02), mass=1.0, position=(0, 0, -0.0005), fixed=True)
    world.prescribe_motion(cup["top"], lp.motion.path(list(zip(times, [0.0, -0.003, 0.012]))))
    return run(world, "cup", 0.02, times[-1])[0]


def test_a_cup_is_pushed_and_torn_off_in_steps_that_all_converge():
    stiffening = lp.Material.mooney_rivlin(0.8 * C, 0.2 * C, -0.02 * C, 0.006 * C)
    force = cup_force(stiffening, [0.0, 0.1, 0.4])
    pushed = cup_force(LAWS["neo-hookean"], [0.0, 0.1])
    assert force[4] == pytest.approx(pushed[-1], rel=0.03)  # strains are small
    assert force.max() > 10.0  # it held
    assert force[-1] == pytest.approx(0.02 * 9.81, rel=0.5)  # and hangs free
