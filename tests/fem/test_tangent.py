"""The matrix that is kept from step to step: when, and what that changes."""

from __future__ import annotations

import numpy as np
import pytest
from tests.dynamics.conftest import GRAVITY, RUBBER, held, random_rows

from limpet.dynamics.motion import HOLD
from limpet.errors import LimpetError
from limpet.fem.elements.block import changed
from limpet.fem.material import Fem, Material
from limpet.fem.soft_body import SoftBody
from limpet.geometry.rotation import rotation_matrix
from limpet.shapes.beams import cantilever
from limpet.shapes.boxes import soft_box
from limpet.shapes.cups import cup

H = 0.01


def beam(reuse, damping=2e-3):
    """Soft and slender: where an old matrix does most harm."""
    shape = cantilever(divisions=(4, 1, 1), element="hex20p", mirrored=False)
    material = Material(262e3, 0.49, stiffness_damping=damping)
    return SoftBody("beam", shape, material, 0.01, shape.region("held"), HOLD, Fem(reuse=reuse))


def swing(body, steps):
    """Its lowest point after each step [m], and how many matrices that took."""
    heights, made, last = [], 0, None
    for step in range(steps):
        body.compute_free_velocity(H, GRAVITY, step * H)
        made += body.tangent is not last
        last = body.tangent
        body.advance(H)
        heights.append(body.x[:, 2].min())
    return np.array(heights), made


@pytest.mark.parametrize("damping", [2e-3, 0.1])
def test_a_swinging_beam_goes_where_it_would_with_a_new_matrix_in_each_step(damping):
    (anew, all_steps), (kept, some) = (
        swing(beam(0.0, damping), 400),
        swing(beam(0.008, damping), 400),
    )
    assert all_steps == 400
    assert some < 250
    drop = anew[0] - anew[-1]
    assert np.abs(kept - anew).max() < 0.01 * drop
    assert abs(kept[-1] - anew[-1]) < 1e-4 * drop


def test_what_is_kept_too_long_is_seen_in_the_motion():
    """The limit is where it is for a reason: at ten times it the beam creeps."""
    anew, kept = swing(beam(0.0, 0.1), 100)[0], swing(beam(0.1, 0.1), 100)[0]
    assert np.abs(kept - anew).max() > 0.02 * (anew[0] - anew[-1])


@pytest.mark.parametrize("element", ["hex20p", "tet4", "iicr11"])
def test_a_body_comes_to_rest_where_its_forces_balance(element):
    body = held(cup(nodes=300, element=element))
    _, made = swing(body, 150)
    assert made < 20
    left = body.fem.loads(body.x, body.p, H).force + body.fem.node_mass[:, None] * GRAVITY
    weight = body.mass * 9.81
    assert np.abs(left[: body.fem.n_free]).max() < 1e-7 * weight


def test_a_state_brings_its_matrix_along():
    body, other = beam(0.008), beam(0.008)
    swing(body, 150)
    state = body.get_state()
    assert not np.array_equal(state["tangent_x"], state["x"])  # it is an older one
    other.set_state(state)
    np.testing.assert_array_equal(swing(other, 20)[0], swing(body, 20)[0])


def test_a_state_before_the_first_step_has_none():
    body = beam(0.008)
    first = body.get_state()
    once = swing(body, 30)[0]
    body.set_state(first)
    np.testing.assert_array_equal(swing(body, 30)[0], once)


def test_a_state_makes_its_matrix_only_if_it_serves(monkeypatch):
    """A step that is made in parts goes back to its state with a shorter h."""
    body, made = beam(0.008), []
    swing(body, 150)
    state = body.get_state()
    body.compute_free_velocity(0.5 * H, GRAVITY, 0.0)
    monkeypatch.setattr(body, "_make_tangent", lambda at: made.append(at) or make(at))
    make = type(body)._make_tangent.__get__(body)
    body.set_state(state)
    for name, value in body.get_state().items():
        np.testing.assert_array_equal(value, state[name])
    assert not made
    body.compute_free_velocity(0.25 * H, GRAVITY, 0.0)
    assert [at.h for at in made] == [0.25 * H]


def test_compliance_is_the_same_whatever_was_asked_before():
    """Rows over points that were half-solved before, in part, or not."""
    rng = np.random.default_rng(5)
    fresh, used = held(cup(nodes=300)), held(cup(nodes=300))
    for body in (fresh, used):
        body.compute_free_velocity(H, GRAVITY, 0.0)
    for count, dense in [(0, 1), (6, 1), (20, 0), (12, 2), (1, 0), (40, 1)]:
        used.compliance(random_rows(rng, used.n_points, count, dense))
        rows = random_rows(rng, used.n_points, 8, 1)
        ((_, again),) = used.compliance(rows)
        again = again.dense()
        fresh.forget()
        fresh.compute_free_velocity(H, GRAVITY, 0.0)
        ((_, expected),) = fresh.compliance(rows)
        expected = expected.dense()
        np.testing.assert_allclose(again, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_the_forces_alone_are_those_that_come_with_the_matrix():
    for element in ("tet4", "tet10", "hex8", "hex20", "hex20p", "iicr11", "iicr21"):
        _same_loads(SoftBody("a", soft_box(0.02, 0.02, 0.03, (2, 2, 2), element), RUBBER, 0.02))
    stiffening = Material.mooney_rivlin(5e5, 1e5, 1e4, 1e3)
    for rubber in (Material(4e6, 0.45, law="neo-hookean"), stiffening):
        for element in ("hex20", "hex20p"):
            _same_loads(SoftBody("a", soft_box(0.02, 0.02, 0.03, (2, 2, 2), element), rubber, 0.02))


def _same_loads(body):
    rng = np.random.default_rng(3)
    x = body.x + 5e-4 * rng.normal(size=body.x.shape)
    p = 1e4 * rng.normal(size=body.p.shape)
    _, loads = body.fem.assemble(x, p, H)
    alone = body.fem.loads(x, p, H)
    np.testing.assert_array_equal(alone.force, loads.force)
    np.testing.assert_array_equal(alone.excess, loads.excess)


def test_change_is_that_of_the_deformation_gradient():
    body = SoftBody("a", soft_box(0.02, 0.02, 0.03, (2, 2, 2)), RUBBER, 0.02)
    rng = np.random.default_rng(4)
    u = 1e-4 * rng.normal(size=body.x.shape)
    for block in body.fem.blocks:
        f = np.einsum("mai,mqaj->mqij", u[block.cells], block.gradients)
        largest = np.sqrt((f * f).sum(axis=(2, 3))).max()
        assert changed(block, u, 0.999 * largest)
        assert not changed(block, u, 1.001 * largest)


@pytest.mark.parametrize(("angle", "serves"), [(0.005, True), (0.006, False)])
def test_a_turn_counts_and_a_shift_does_not(angle, serves):
    body = SoftBody("a", cup(nodes=300), RUBBER, 0.02)
    body.compute_free_velocity(H, np.zeros(3), 0.0)
    x = body.x @ rotation_matrix(np.array([0.3, 0.4, 1.0]), angle).T + [1.0, 2.0, 3.0]
    assert body.tangent.at.serves(body.fem, x, body.p, H) == serves
    assert not body.tangent.at.serves(body.fem, body.x, body.p, 0.5 * H)


@pytest.mark.parametrize("reuse", [-0.01, 0.2, np.nan])
def test_a_limit_out_of_range_is_refused(reuse):
    with pytest.raises(LimpetError, match=r"reuse = .*expected 0 to 0.1"):
        Fem(reuse=reuse)
