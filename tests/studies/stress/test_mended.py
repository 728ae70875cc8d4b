"""Worlds of usual size that once broke an invariant, up to the step at which they did."""

from dataclasses import replace

import numpy as np
import pytest

from limpet.studies.stress.compare import differences, mirror
from limpet.studies.stress.invariants import check
from limpet.studies.stress.recipe import transformed
from limpet.studies.stress.trace import run
from limpet.studies.stress.worlds import world_of

LIMIT = 600.0  # [s] a busy machine compiles in this, too


@pytest.mark.parametrize(
    ("seed", "steps"),
    [
        (1120, 14),  # a dome on a capsule: negative volume, residual inf
        (1124, 8),  # the weight on a cup is a wall of its cavity: gas law
        (1027, 21),  # a stiff cup at rest without any load: balance
        (1051, 34),  # voids of the union with an open slit between two vertices
        (1185, 39),
        (3097, 16),  # two cups: one of them ceases to bear a ring of the cavity, once a crash
        (20305, 18),  # on a sphere, whose fine vertices do not know their gaps: kept open
        (1531, 40),  # and a seal at edges that no sample was near
    ],
)
def test_invariants_hold(seed: int, steps: int) -> None:
    trace = run(world_of(seed).recipe, steps=steps, limit=LIMIT)
    assert (len(trace.steps), trace.error, trace.crash) == (steps, "", "")
    assert [f for f in check(trace) if f.name != "slow"] == []


@pytest.mark.parametrize(
    ("seed", "steps"),
    [(4081, 2)],  # curved faces on a soft box: which piece of a wall came first
)
def test_a_mirror_image_has_the_same_forces(seed: int, steps: int) -> None:
    recipe = replace(world_of(seed).recipe, steps=steps)
    plane = mirror(np.random.default_rng(seed))
    image = transformed(recipe, plane, np.zeros(3))
    one, other = run(recipe, limit=LIMIT), run(image, limit=LIMIT)
    assert len(one.steps) == len(other.steps) == steps
    assert differences(one, other, plane).max() < 1e-11


def test_a_cavity_whose_ring_the_other_cup_bears_is_a_seal() -> None:
    trace = run(world_of(4148).recipe, steps=2, limit=LIMIT)
    assert [len(s.report.cavities) for s in trace.steps] == [1, 1]
    assert [s.sealed for s in trace.steps] == [True, True]
