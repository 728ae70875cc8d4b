"""Soft bodies: free fall, weight at the drive, a bent beam, sound, and what they refuse."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.dynamics.conftest import GRAVITY, RUBBER, held, random_rows

from limpet.dynamics.motion import HOLD, path
from limpet.errors import DivergedError, LimpetError, MeshError
from limpet.fem.elements.corotational import energy
from limpet.fem.material import Material
from limpet.fem.point_compliance import DENSE_ROW
from limpet.fem.soft_body import SoftBody
from limpet.geometry.rotation import rotation_matrix
from limpet.shapes.boxes import soft_box
from limpet.shapes.cups import cup

BAR = (0.01, 0.01, 0.1)  # [m] a slender bar, held at the top


def elastic_energy(body):
    """[J] of a body without shared pressures."""
    return sum(energy(b, body.x, body.fem.mu, body.fem.lam) for b in body.fem.blocks)


def static_equilibrium(body, gravity, h=1.0, steps=30):
    for step in range(steps):
        body.compute_free_velocity(h, gravity, step * h)
        body.advance(h)
    body.compute_free_velocity(h, gravity, steps * h)


@pytest.mark.parametrize("element", ["hex20", "tet4"])
def test_free_fall_adds_exactly_the_weight_to_the_momentum(element):
    body = SoftBody("a", soft_box(0.02, 0.03, 0.02, (2, 2, 2), element), RUBBER, 0.05)
    rng = np.random.default_rng(0)
    body.v = 0.3 * rng.normal(size=body.v.shape)  # it shakes and tumbles while it falls
    start, h = body.momentum(), 0.003
    for step in range(1, 21):
        body.compute_free_velocity(h, GRAVITY, step * h)
        body.advance(h)
        np.testing.assert_allclose(
            body.momentum(), start + step * h * 0.05 * GRAVITY, rtol=0, atol=1e-13
        )


def test_a_resting_body_falls_without_deforming():
    body = SoftBody("a", cup(nodes=300), RUBBER, 0.02)
    h = 0.01
    for step in range(5):
        body.compute_free_velocity(h, GRAVITY, step * h)
        body.advance(h)
    # round-off: A has a condition of some 1e8, so 1e-8 of the speed is what could be asked at most
    speed, fall = 5 * h * GRAVITY, 15 * h**2 * GRAVITY
    np.testing.assert_allclose(body.v, np.broadcast_to(speed, body.v.shape), atol=1e-9)
    np.testing.assert_allclose(body.x - body.fem.rest - fall, 0.0, atol=1e-11)


def test_mass_damping_slows_the_fall_towards_its_terminal_velocity():
    """v+ (1 + h a) = v + h g: after n steps g / a (1 - (1 + h a)^-n)."""
    drag, h, steps = 5.0, 0.02, 30
    shape = soft_box(0.02, 0.02, 0.02, (2, 2, 2))
    body = SoftBody("a", shape, replace(RUBBER, mass_damping=drag), 0.05)
    for step in range(steps):
        body.compute_free_velocity(h, GRAVITY, step * h)
        body.advance(h)
    expected = GRAVITY / drag * (1.0 - (1.0 + h * drag) ** -steps)
    np.testing.assert_allclose(body.momentum() / 0.05, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    "shape",
    [cup(nodes=300), cup(nodes=300, element="tet4"), soft_box(*BAR, (2, 2, 4))],
    ids=["cup", "cup of tet4", "bar"],
)
def test_the_drive_carries_the_weight_at_rest(shape):
    body = held(shape)
    static_equilibrium(body, GRAVITY)
    wrench = body.reaction(1.0)
    weight = 0.02 * 9.81
    np.testing.assert_allclose(wrench[:3], [0.0, 0.0, weight], atol=1e-9 * weight)
    np.testing.assert_allclose(wrench[3:], 0.0, atol=1e-7 * weight * 0.01)


@pytest.mark.parametrize(("divisions", "within"), [((2, 1, 8), 0.005), ((2, 2, 12), 0.002)])
def test_a_beam_bends_as_in_the_book(divisions, within):
    """Own weight across a clamped bar: q L^4 / 8 E I, and q L^2 / 2 G A_s by shear."""
    young, mass = 4e6, 1e-4
    shape = soft_box(*BAR, divisions)
    top = shape.region("top")
    body = SoftBody("beam", shape, Material(young, poisson=0.0), mass, driven=top, motion=HOLD)
    static_equilibrium(body, np.array([9.81, 0.0, 0.0]))
    b, _, length = BAR
    load = mass * 9.81 / length
    bend = load * length**4 / (8.0 * young * b**4 / 12.0)
    shear = load * length**2 / (2.0 * (young / 2.0) * b * b * 5.0 / 6.0)
    tip = (body.node_positions() - shape.points)[shape.region("bottom"), 0].mean()
    assert tip == pytest.approx(bend + shear, rel=within)
    wrench = body.reaction(1.0)
    np.testing.assert_allclose(wrench[:3], [-mass * 9.81, 0.0, 0.0], atol=1e-9 * mass)
    # the weight acts half a length below the driven nodes: the drive answers its moment
    assert wrench[4] == pytest.approx(0.5 * length * mass * 9.81, rel=1e-3)


@pytest.mark.parametrize("element", ["hex20", "tet4"])
def test_a_bar_hangs_by_its_own_weight_as_long_as_it_should(element):
    """m g L / 2 E A for the free end; without Poisson's effect the clamp does not matter."""
    mass, young, cells = 0.01, 4e6, 10
    shape = soft_box(*BAR, (2, 2, cells), element)
    body = SoftBody("bar", shape, Material(young, 0.0), mass, driven=shape.region("top"))
    static_equilibrium(body, GRAVITY)
    sag = (shape.points - body.node_positions())[shape.region("bottom"), 2].mean()
    assert sag == pytest.approx(mass * 9.81 * BAR[2] / (2.0 * young * BAR[0] ** 2), rel=0.01)


def test_a_vibrating_body_never_gains_energy():
    shape = soft_box(0.02, 0.02, 0.06, (2, 2, 3))
    body = SoftBody("a", shape, replace(RUBBER, stiffness_damping=0.0), 0.03)
    body.x = body.fem.rest * [0.95, 0.95, 1.1]
    start = last = elastic_energy(body)
    assert start > 0.0
    for step in range(60):
        body.compute_free_velocity(1e-3, np.zeros(3), step * 1e-3)
        body.advance(1e-3)
        now = elastic_energy(body) + 0.5 * float(body.fem.node_mass @ (body.v**2).sum(axis=1))
        assert now <= last + 1e-12 * start
        last = now
    assert last < 0.01 * start


def test_driven_nodes_follow_their_path_exactly():
    shape = cup(nodes=300)
    motion = path([(0.0, 0.0), (0.1, (0.002, -0.001, 0.003))])
    body = SoftBody("a", shape, RUBBER, 0.02, driven=shape.region("top"), motion=motion)
    for step in range(15):
        body.compute_free_velocity(0.01, GRAVITY, step * 0.01)
        body.advance(0.01)
        shift = (body.node_positions() - shape.points)[shape.region("top")]
        target = np.broadcast_to(motion.offset((step + 1) * 0.01), shift.shape)
        np.testing.assert_allclose(shift, target, atol=1e-16)


def test_impulses_on_a_free_body_are_its_change_of_momentum():
    body = SoftBody("a", cup(nodes=300), RUBBER, 0.02)
    rng = np.random.default_rng(1)
    body.compute_free_velocity(0.01, np.zeros(3), 0.0)
    impulse = rng.normal(size=(body.n_points, 3))
    body.apply_impulse(impulse)
    np.testing.assert_allclose(body.momentum(), impulse.sum(axis=0), atol=1e-11)


def test_the_cup_has_rows_on_both_sides_of_the_dense_limit():
    """So that the contract's tests see both ways of computing W."""
    body = SoftBody("a", cup(nodes=300), RUBBER, 0.02)
    rows = random_rows(np.random.default_rng(2), body.n_points, 3, 1)
    nodes = [
        sum(np.diff(body.collision.start)[rows.point[a:b]])
        for a, b in zip(rows.start[:-1], rows.start[1:])
    ]
    assert min(nodes) <= DENSE_ROW < max(nodes)


def test_a_row_on_driven_nodes_alone_does_not_give():
    shape = soft_box(0.02, 0.02, 0.02, (1, 1, 1))
    body = held(shape)
    body.compute_free_velocity(0.01, GRAVITY, 0.0)
    on_top = np.flatnonzero(body.positions()[:, 2] > -1e-9)
    rows = random_rows(np.random.default_rng(3), len(on_top), 4)
    moved = replace(rows, point=on_top[rows.point].astype(np.int32))
    ((_, compliance),) = body.compliance(moved)
    np.testing.assert_array_equal(compliance.dense(), np.zeros((4, 4)))


def test_surfaces_follow_the_nodes():
    body = SoftBody("a", cup(nodes=300), RUBBER, 0.02)
    body.x = body.x * [1.1, 0.9, 1.2] + [0.1, 0.2, 0.3]
    expected = body.shape.collision.positions(body.node_positions())
    np.testing.assert_allclose(body.positions(), expected, atol=1e-16)


def test_mass_is_shared_out_whole_and_positive():
    body = SoftBody("a", cup(nodes=300), RUBBER, 0.02)
    assert body.fem.node_mass.sum() == pytest.approx(0.02, rel=1e-12)
    assert np.all(body.fem.node_mass > 0.0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"young": 0.0}, r"material young = 0 Pa: expected a finite number above 0"),
        ({"young": -4e6}, r"material young = -4e\+06 Pa"),
        ({"young": np.nan}, r"material young = nan Pa"),
        ({"young": np.inf}, r"material young = inf Pa"),
        ({"poisson": 0.51}, r"material poisson = 0.51: expected above -1 and at most 0.5"),
        ({"poisson": -1.0}, r"material poisson = -1"),
        ({"poisson": np.nan}, r"material poisson = nan"),
        ({"mass_damping": -0.1}, r"material mass_damping = -0.1: expected 0 or more"),
        ({"stiffness_damping": np.nan}, r"material stiffness_damping = nan"),
    ],
)
def test_wrong_materials_are_refused(change, message):
    with pytest.raises(LimpetError, match=message):
        replace(RUBBER, **change)


@pytest.mark.parametrize("mass", [0.0, -1.0, np.nan, np.inf])
def test_wrong_masses_are_refused(mass):
    with pytest.raises(LimpetError, match=r"mass of 'a' = .* kg: expected a finite number above 0"):
        SoftBody("a", soft_box(0.02, 0.02, 0.02, (1, 1, 1)), RUBBER, mass)


def test_wrong_meshes_are_refused():
    shape = soft_box(0.02, 0.02, 0.02, (1, 1, 1), "tet4")
    cells = shape.cells["tet4"]
    wrong = {
        "has cells 'tet5': expected hex20, hex8": replace(shape, cells={"tet5": cells}),
        "has cells that name nodes 2 to 9, there are 8": replace(shape, cells={"tet4": cells + 2}),
        r"cells 'tet4' of shape \(6, 3\): expected \(m, 4\)": replace(
            shape, cells={"tet4": cells[:, :3]}
        ),
        "has 1 nodes in no cell": replace(shape, points=np.vstack([shape.points, [[1, 1, 1]]])),
        "coordinates that are NaN": replace(shape, points=shape.points * np.nan),
        r"points of shape \(8, 2\)": replace(shape, points=shape.points[:, :2]),
        "inverted or flat": replace(shape, points=shape.points * [1, 1, -1]),
    }
    for message, broken in wrong.items():
        with pytest.raises(MeshError, match=message):
            SoftBody("a", broken, RUBBER, 0.02)


def test_driving_every_node_is_refused():
    shape = soft_box(0.02, 0.02, 0.02, (1, 1, 1))
    with pytest.raises(LimpetError, match="all nodes are driven or attached; make it a rigid body"):
        SoftBody("a", shape, RUBBER, 0.02, driven=np.arange(len(shape.points)))


def test_a_matrix_that_is_not_positive_says_where():
    shape = soft_box(0.02, 0.02, 0.02, (1, 1, 1))
    body = SoftBody("a", shape, RUBBER, 0.02)
    node = 5
    body.fem.node_mass[body.fem.order == node] = -1e9
    with pytest.raises(DivergedError, match=f"stiffness is not positive at node {node}"):
        body.compute_free_velocity(0.01, GRAVITY, 0.0)


@pytest.mark.parametrize(
    "element", ["tet4", "tet10", "hex8", "hex20", "hex20p", "iicr11", "iicr21"]
)
def test_a_hanging_bar_stores_half_of_what_its_weight_has_done(element):
    """Small strains, slowly loaded: U = 1/2 m g . u; a turn stores nothing."""
    body = held(soft_box(*BAR, (1, 1, 4), element))
    static_equilibrium(body, 0.1 * GRAVITY, steps=60)
    done = float(((body.x - body.fem.rest) @ (0.1 * GRAVITY)) @ body.fem.node_mass)
    assert body.elastic_energy() == pytest.approx(0.5 * done, rel=1e-3)
    stored = body.elastic_energy()
    body.x = body.x @ rotation_matrix(np.array([1.0, 2.0, 3.0]), 1.0).T
    assert body.elastic_energy() == pytest.approx(stored, rel=1e-6)
    body.x, body.p = body.fem.rest.copy(), np.zeros_like(body.p)
    assert body.elastic_energy() == pytest.approx(0.0, abs=1e-12 * stored)
