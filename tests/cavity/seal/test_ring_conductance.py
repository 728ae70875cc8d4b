"""The gap round a ring on a triangle mesh, against rings that are known exactly."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad

from limpet.cavity.seal.ring_conductance import BLOCKED, GAP, INSIDE, OUTSIDE, ring_gap

INNER, OUTER, HEIGHT = 0.0155, 0.0175, 2e-5  # [m]


class Annulus:
    """A plane ring of rings x sectors vertices; the first ring is inside, the last outside."""

    def __init__(self, rings, sectors, jitter=0.0):
        rng = np.random.default_rng(3)
        radius = np.linspace(INNER, OUTER, rings)
        angle = 2.0 * np.pi * np.arange(sectors) / sectors
        r, a = (g.ravel() for g in np.meshgrid(radius, angle, indexing="ij"))
        free = np.repeat(np.arange(rings), sectors)
        within = (free > 0) & (free < rings - 1)
        r = r + jitter * within * rng.uniform(-1, 1, r.shape) * (OUTER - INNER) / rings
        self.r, self.a = r, a
        self.x = np.column_stack([r * np.cos(a), r * np.sin(a), 0.0 * r])
        triangles = []
        for i in range(rings - 1):
            for j in range(sectors):
                p, q = i * sectors + j, i * sectors + (j + 1) % sectors
                s, t = p + sectors, q + sectors
                both = [(p, s, t), (p, t, q)], [(p, s, q), (q, s, t)]
                triangles += both[(i + j) % 2]
        self.triangles = np.array(triangles)
        self.role = np.full(len(r), GAP, np.int8)
        self.role[:sectors], self.role[-sectors:] = INSIDE, OUTSIDE

    def gap(self, height, slip=0.0):
        return ring_gap(
            self.x, self.triangles, self.role, np.broadcast_to(height, len(self.r)), slip
        )


def wedge(r):
    return 1e-5 + (r - INNER) / (OUTER - INNER) * 9e-5


@pytest.mark.parametrize("jitter", [0.0, 0.5])
def test_flat_tilted_and_wedge_rings(jitter):
    """A mesh of a real cup's size: a few vertices across the ring, forty round it."""
    ring = Annulus(5, 40, jitter)
    exact = 2.0 * np.pi * HEIGHT**3 / np.log(OUTER / INNER)
    assert ring.gap(HEIGHT).shape == pytest.approx(exact, rel=0.01)
    tilted = HEIGHT * (1.0 + 0.8 * np.cos(ring.a))
    assert ring.gap(tilted).shape == pytest.approx(exact * (1.0 + 1.5 * 0.64), rel=0.01)
    across, _ = quad(lambda r: 1.0 / (r * wedge(r) ** 3), INNER, OUTER)
    assert ring.gap(wedge(ring.r)).shape == pytest.approx(2.0 * np.pi / across, rel=0.03)


def test_it_converges_with_the_mesh():
    exact = 2.0 * np.pi * HEIGHT**3 / np.log(OUTER / INNER)
    across, _ = quad(lambda r: 1.0 / (r * wedge(r) ** 3), INNER, OUTER)
    flat, sloped = [], []
    for rings, sectors in ((5, 40), (9, 80), (17, 160)):
        ring = Annulus(rings, sectors)
        flat.append(abs(ring.gap(HEIGHT).shape / exact - 1.0))
        sloped.append(abs(ring.gap(wedge(ring.r)).shape * across / (2.0 * np.pi) - 1.0))
    for errors in (flat, sloped):
        assert errors[2] < 0.4 * errors[1] < 0.2 * errors[0]
    assert flat[2] < 2e-4 and sloped[2] < 1e-3


def test_slip_adds_what_a_wider_gap_would():
    ring, slip = Annulus(5, 40), 0.5e-6
    plain, with_slip = ring.gap(HEIGHT).shape, ring.gap(HEIGHT, slip).shape
    assert with_slip / plain == pytest.approx(1.0 + slip / HEIGHT, rel=1e-12)


def test_the_throat_is_the_narrowest_line_round_the_ring():
    ring = Annulus(9, 80)
    line = np.abs(ring.r - 0.5 * (INNER + OUTER)) < 1e-6
    height = np.where(line, HEIGHT, 5.0 * HEIGHT)
    exact = 2.0 * np.pi * 0.5 * (INNER + OUTER) * HEIGHT
    assert ring.gap(height).throat == pytest.approx(exact, rel=1e-3)
    tilted = height * (1.0 + 0.9 * np.cos(ring.a))
    assert ring.gap(tilted).throat == pytest.approx(exact, rel=1e-3)


def test_the_throat_of_a_ring_that_is_half_closed_is_that_of_the_other_half():
    ring = Annulus(9, 80)
    closed = np.cos(ring.a) > 1e-9
    half, whole = ring.gap(np.where(closed, 0.0, HEIGHT)), ring.gap(HEIGHT)
    share = 41 / 80  # 41 vertices are open
    assert half.throat == pytest.approx(share * whole.throat, rel=1e-3)
    assert half.shape == pytest.approx(share * whole.shape, rel=0.02)


def test_nothing_passes_a_line_that_touches():
    ring = Annulus(9, 80)
    line = np.abs(ring.r - 0.5 * (INNER + OUTER)) < 1e-6
    closed = ring.gap(np.where(line, 0.0, HEIGHT))
    assert closed.shape == closed.throat == 0.0
    one = line & (np.cumsum(line) == 7)
    leak = ring.gap(np.where(line & ~one, 0.0, HEIGHT))
    assert leak.shape > 0.0 and leak.throat > 0.0


def test_rings_of_two_bodies_add():
    ring = Annulus(5, 40)
    one = ring.gap(HEIGHT)
    n = len(ring.x)
    x = np.concatenate([ring.x, ring.x + np.array([0.1, 0.0, 0.0])])
    both = ring_gap(
        x, np.concatenate([ring.triangles, ring.triangles + n]), np.tile(ring.role, 2),
        np.full(2 * n, HEIGHT),
    )  # fmt: skip
    assert both.shape == pytest.approx(2.0 * one.shape, rel=1e-9)
    assert both.throat == pytest.approx(2.0 * one.throat, rel=1e-9)


def test_pockets_that_no_air_reaches_do_not_matter():
    ring = Annulus(9, 80)
    role = ring.role.copy()
    height = np.full(len(ring.r), HEIGHT)
    middle = 4 * 80 + 3
    around = np.unique(ring.triangles[(ring.triangles == middle).any(axis=1)])
    role[np.setdiff1d(around, middle)] = BLOCKED
    gap = ring_gap(ring.x, ring.triangles, role, height)
    assert np.isfinite(gap.shape) and 0.8 < gap.shape / ring.gap(HEIGHT).shape < 1.0
