"""A state as a file: loaded in a new process the run continues with the same bits."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import limpet as lp
from limpet.engine import state_file
from limpet.scenes.registry import load

# A cup on a vacuum line over a plate, with a force, a leak and a vacuum set while it runs.
CONTINUE = """
import sys
import numpy as np
from limpet.scenes.registry import load
simulation = load("active-a20", {"segments": 6, "sectors": 10}).simulation()
simulation.load(sys.argv[1])
for _ in range(5):
    report = simulation.step()
np.savez(sys.argv[2], x=simulation.snapshot().positions, p=[c.pressure for c in report.cavities],
         f=report.reactions["cup"], n=[c.air for c in report.cavities])
"""


def test_a_run_goes_on_in_a_new_process_with_the_same_bits(tmp_path):
    simulation = load("active-a20", {"segments": 6, "sectors": 10}).simulation()
    for step in range(30):
        if step == 20:
            simulation.apply_force("cup", 3, (0.02, 0.01, -0.03))
            simulation.set_leak(2e-8)
            simulation.set_vacuum(5e3)
        report = simulation.step()
    assert report.cavities
    simulation.save(tmp_path / "state.npz")
    for _ in range(5):
        report = simulation.step()
    arguments = [str(tmp_path / "state.npz"), str(tmp_path / "end.npz")]
    subprocess.run([sys.executable, "-c", CONTINUE, *arguments], check=True)
    with np.load(tmp_path / "end.npz") as end:
        assert np.array_equal(end["x"], simulation.snapshot().positions)
        assert end["p"].tolist() == [c.pressure for c in report.cavities]
        assert end["n"].tolist() == [c.air for c in report.cavities]
        assert np.array_equal(end["f"], report.reactions["cup"])


def test_the_half_solves_of_an_old_matrix_are_part_of_the_state(tmp_path):
    """A lip that touches at more and more points while its matrix serves: rounding depends on
    which points were solved together, so a fresh simulation must solve the same ones."""
    few = {"sectors": 6, "segments": 3, "push_time": "0.2 s", "hold": "0.1 s", "h": "2.5 ms"}
    simulation = load("ground", few).simulation()
    for _ in range(85):
        simulation.step()
    simulation.save(tmp_path / "state.npz")
    fresh = load("ground", few).simulation()
    fresh.load(tmp_path / "state.npz")
    one, other = simulation.step(), fresh.step()
    assert np.array_equal(one.reactions["cup"], other.reactions["cup"])
    assert np.array_equal(simulation.snapshot().positions, fresh.snapshot().positions)


def cube(h=0.01):
    world = lp.World()
    world.add_rigid(lp.shapes.box(0.02, 0.02, 0.02), 0.1, position=(0, 0, 0.05))
    world.add_rigid(lp.shapes.box(0.1, 0.1, 0.02), 1.0, name="ground", fixed=True)
    return lp.Simulation(world, h=h)


def test_what_is_set_while_running_is_part_of_the_state(tmp_path):
    one, two = cube(), cube()
    one.apply_force("box", 0, (0.1, 0.0, 0.3))
    one.step()
    two.set_state(one.get_state())
    for _ in range(3):
        one.step(), two.step()
    assert np.array_equal(one.snapshot().positions, two.snapshot().positions)
    one.clear_forces()
    assert two.control.applied.any()  # a state is a copy


def test_files_that_are_no_states_are_refused(tmp_path):
    simulation = cube()
    with pytest.raises(lp.LimpetError, match="cannot be read"):
        simulation.load(tmp_path / "none.npz")
    wrong = tmp_path / "wrong.npz"
    wrong.write_bytes(b"no archive")
    with pytest.raises(lp.LimpetError, match=r"not a file that Simulation\.save wrote"):
        simulation.load(wrong)
    np.savez(wrong, x=np.zeros(3))
    with pytest.raises(lp.LimpetError, match=r"not a file that Simulation\.save wrote"):
        simulation.load(wrong)
    with pytest.raises(lp.LimpetError, match="cannot be written"):
        simulation.save(tmp_path / "no folder" / "state.npz")
    simulation.save(tmp_path / "state.npz")
    with pytest.raises(lp.LimpetError, match=r"saved at h = 0\.01 s"):
        cube(h=0.005).load(tmp_path / "state.npz")


def test_another_version_of_the_format_is_refused(tmp_path, monkeypatch):
    simulation = cube()
    monkeypatch.setattr(state_file, "VERSION", 99)
    simulation.save(tmp_path / "state.npz")
    monkeypatch.undo()
    with pytest.raises(lp.LimpetError, match="format version 99, this Limpet reads 2"):
        simulation.load(tmp_path / "state.npz")


def test_a_world_has_only_the_constraint_sets_that_it_needs():
    assert [s.name for s in cube().model.sets] == ["contacts", "cavities"]
    assert [s.name for s in load("boxes").simulation().model.sets] == []
    assert load("cloth", {"divisions": 4}).simulation().model.sets == []


@pytest.mark.parametrize(
    ("name", "changes"), [("cloth", {"divisions": 6}), ("cup-lifts-bag", {}), ("boxes", {})]
)
def test_a_run_can_go_back_to_its_start(name, changes):
    """Particles have no impulses yet as they start, and other contacts later on."""
    simulation = load(name, changes).simulation()
    start, ends = simulation.get_state(), []
    for _ in range(2):
        for _ in range(4):
            simulation.step()
        ends.append(simulation.snapshot().positions.copy())
        simulation.set_state(start)
    assert np.array_equal(*ends)
