"""Settling: every element comes to rest, at the place where the swinging body does, and says so."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.dynamics.motion import HOLD, path
from limpet.errors import LimpetError
from limpet.fem.material import Fem, Material
from limpet.fem.soft_body import SoftBody
from limpet.fem.statics import static_equilibrium
from limpet.shapes.beams import cantilever

GRAVITY = np.array([0.0, 0.0, -9.81])
MASS = 1100 * 0.1 * 0.01 * 0.01
WEIGHT = MASS * 9.81

pytestmark = pytest.mark.filterwarnings("ignore::limpet.fem.elements.choose.LockingWarning")


def beam(element, poisson, *, young=262e3, law="corotational", damping=2e-3, motion=HOLD, **fem):
    shape = cantilever(divisions=(4, 1, 1), element=element, mirrored=False)
    material = Material(young, poisson, law=law, stiffness_damping=damping)
    held = shape.region("held")
    return SoftBody("beam", shape, material, MASS, held, motion, Fem(element=element, **fem))


def sag(body):
    return (body.shape.points - body.node_positions())[body.shape.region("tip"), 2].mean()


def left_over(body):
    """Forces at the free nodes, assembled anew."""
    system = body.fem.loads(body.x, body.p, 1.0)
    return (system.force + body.fem.node_mass[:, None] * GRAVITY)[: body.fem.n_free]


@pytest.mark.parametrize("young", [262e3, 26e3])  # bent by half its length, and by nearly all
@pytest.mark.parametrize("poisson", [0.25, 0.49, 0.4999, 0.5])
@pytest.mark.parametrize(
    "element", ["tet4", "iicr10", "iicr11", "tet10", "iicr21", "hex8", "hex20", "hex20p"]
)
def test_every_element_comes_to_rest(element, poisson, young):
    if poisson == 0.5 and element not in ("iicr11", "iicr21"):
        pytest.skip("needs shared pressures")
    body = beam(element, poisson, young=young)
    found = static_equilibrium(body, GRAVITY)
    assert found.converged
    assert found.residual <= 1e-7
    assert found.steps < 100
    assert np.linalg.norm(left_over(body)) <= 1e-7 * WEIGHT
    assert not body.v.any()
    body.compute_free_velocity(1.0, GRAVITY, 0.0)
    np.testing.assert_allclose(body.reaction(1.0)[:3], -MASS * GRAVITY, atol=1e-6 * WEIGHT)


@pytest.mark.parametrize("element", ["hex20p", "iicr21"])
def test_it_rests_where_the_swinging_body_does(element):
    settled, swinging = beam(element, 0.49), beam(element, 0.49, damping=0.1)
    static_equilibrium(settled, GRAVITY)
    for step in range(150):
        swinging.compute_free_velocity(0.05, GRAVITY, 0.05 * step)
        swinging.advance(0.05)
    assert sag(settled) == pytest.approx(sag(swinging), rel=1e-6)
    assert sag(settled) > 0.04


def test_the_rubber_law_comes_to_rest_near_the_corotational_one():
    body, other = beam("hex20", 0.49, law="neo-hookean"), beam("hex20", 0.49)
    assert static_equilibrium(body, GRAVITY).converged
    static_equilibrium(other, GRAVITY)
    assert sag(body) == pytest.approx(sag(other), rel=0.01)


def test_driven_nodes_stand_where_their_motion_is_at_that_time():
    motion = path([(0.0, 0.0), (1.0, 0.02)])
    body = beam("hex20p", 0.45, motion=motion)
    still = beam("hex20p", 0.45)
    assert static_equilibrium(body, GRAVITY, time=0.5).converged
    static_equilibrium(still, GRAVITY)
    np.testing.assert_allclose(
        body.x - still.x, np.tile([0.0, 0.0, 0.01], (len(body.x), 1)), atol=1e-8
    )


def test_without_gravity_it_stays():
    body = beam("iicr21", 0.5)
    assert static_equilibrium(body, np.zeros(3)).steps == 0
    np.testing.assert_array_equal(body.x, body.fem.rest)


def test_too_few_steps_are_said():
    found = static_equilibrium(beam("hex20p", 0.45), GRAVITY, most=3)
    assert (found.steps, found.converged) == (3, False)
    assert found.residual > 1e-7


def test_a_body_that_nothing_holds_is_refused():
    shape = cantilever(divisions=(4, 1, 1))
    body = SoftBody("beam", shape, Material(262e3, 0.3), MASS)
    with pytest.raises(LimpetError, match="'beam': nothing holds it, so it falls; hold a region"):
        static_equilibrium(body, GRAVITY)
