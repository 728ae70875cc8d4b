"""Settings.threads: the same bits with any number, wherever the simulation runs."""

from __future__ import annotations

import multiprocessing
import os

import numpy as np
import pytest

from limpet.errors import LimpetError
from limpet.model.settings import Settings
from limpet.scenes.registry import load

STEPS = 14  # the cup touches, is sealed and pushes
PRESSED = {"h": "20 ms", "speed": "10 mm/s"}


def simulated(threads, steps=STEPS):
    simulation = load("ground", {**PRESSED, "threads": threads}).simulation()
    for _ in range(steps):
        simulation.step()
    return simulation


def points(simulation):
    return np.concatenate([b.positions() for b in simulation.model.members])


@pytest.fixture(scope="module")
def alone():
    return simulated(1)


@pytest.mark.parametrize("threads", [2, 4])
def test_any_number_of_threads_gives_the_same_bits(alone, threads):
    shared = simulated(threads)
    assert alone.model.contacts.report()[1] > 0
    np.testing.assert_array_equal(points(shared), points(alone))
    assert shared.model.cavities.reports == alone.model.cavities.reports


def test_a_saved_state_continues_with_another_number(alone, tmp_path):
    saved = simulated(2, STEPS - 3)
    saved.save(tmp_path / "state.npz")
    other = load("ground", {**PRESSED, "threads": 1}).simulation()
    other.load(tmp_path / "state.npz")
    for _ in range(3):
        other.step()
    np.testing.assert_array_equal(points(other), points(alone))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_forked_process_starts_threads_of_its_own(alone):
    shared = simulated(2, STEPS - 1)
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()

    def go_on():
        shared.step()
        there.send(points(shared))

    process = context.Process(target=go_on)
    process.start()
    assert here.poll(60.0), "the forked process waits for threads that it has not"
    np.testing.assert_array_equal(here.recv(), points(alone))
    process.join()
    shared.step()  # and its own are there still
    np.testing.assert_array_equal(points(shared), points(alone))


@pytest.mark.parametrize("threads", [0, -1, 2.5, "two", True, 1000])
def test_wrong_numbers_are_refused(threads):
    with pytest.raises(LimpetError, match=f"threads = {threads}: expected a whole number"):
        Settings(threads=threads)


@pytest.mark.parametrize("threads", ["0", "-1", "2.5", "two"])
def test_wrong_numbers_of_a_scene_are_refused(threads):
    with pytest.raises(LimpetError, match=f"threads = '{threads}': expected"):
        load("ground", {"threads": threads})
