"""A surface that touches itself: found as by brute force, and solved as two bodies would be."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import limpet as lp
from limpet.contact.collider import Collider, collider
from limpet.contact.contacts import EDGE_EDGE, Contacts
from limpet.contact.detect import detect
from limpet.contact.self_contact import _through_wall, touching_itself
from limpet.dynamics.relinearisation import Relinearisation
from limpet.geometry.rotation import rotation_matrix
from limpet.geometry.shape import Binding, SoftShape
from limpet.geometry.surface import surface_topology, triangle_normals, volume
from limpet.model.settings import Settings

Array = np.ndarray


def ready(points: Array, triangles: Array) -> Collider:
    made = collider(surface_topology(triangles, len(points)), points)
    return touching_itself(made, points)


def own_contacts(body: Collider, x: Array, alarm: float) -> Contacts:
    return detect([body], [x], [(0, 0)], alarm)


def surface_of(shape: SoftShape) -> tuple[Array, Array]:
    return shape.collision.positions(shape.points), shape.collision.triangles


SLOT = 0.8e-3  # [m]


def slotted_disc() -> tuple[Collider, Array]:
    """A disc with a slot round its outside; what is above it is turned, against its own mesh."""
    corners = [(0, 0), (10, 0), (10, 4), (6, 4), (6, 4.8), (10, 4.8), (10, 9), (0, 9)]
    section = [(1e-3 * r, 1e-3 * z) for r, z in corners]
    points, triangles = surface_of(lp.shapes.cup_from_section(section, nodes=600))
    z = points[:, 2] - points[:, 2].min()
    angle = 0.1 * np.clip((z - 4e-3) / SLOT, 0.0, 1.0)
    c, s = np.cos(angle), np.sin(angle)
    x = np.column_stack(
        [c * points[:, 0] - s * points[:, 1], s * points[:, 0] + c * points[:, 1], z]
    )
    return ready(points, triangles), x


def over_triangles(x: Array, triangles: Array, low: float, high: float) -> dict[int, float]:
    """Of vertices over the inside of triangles that they face: the height nearest to zero, if it
    is between `low` and `high` [m].
    """
    n = triangle_normals(x, triangles)
    n /= np.linalg.norm(n, axis=1, keepdims=True)
    a, b, c = x[triangles].transpose(1, 0, 2)
    inverse = np.linalg.inv(np.stack([b - a, c - a, n], axis=2))
    out = {}
    for i, vertex in enumerate(x):
        s, t, height = np.einsum("mij,mj->im", inverse, vertex - a)
        around = (triangles == i).any(axis=1)
        outward = n[around].sum(axis=0)
        faced = n @ (outward / np.linalg.norm(outward)) < -0.6
        over = (s > 0.01) & (t > 0.01) & (s + t < 0.99) & (low < height) & (height < high)
        heights = height[over & faced & ~around]
        if len(heights):
            out[i] = float(heights[np.abs(heights).argmin()])
    return out


@pytest.mark.parametrize("down", [0.0, 0.5 * SLOT, SLOT + 5e-5])
def test_a_slot_is_found_as_by_brute_force(down: float) -> None:
    """Open, half closed, and pushed down deeper than it is wide."""
    body, x = slotted_disc()
    x = x - np.where(x[:, 2] > 4.4e-3, down, 0.0)[:, None] * [0.0, 0.0, 1.0]
    alarm = 1.2 * abs(SLOT - down)
    found = own_contacts(body, x, alarm)
    found = found.take(found.kind != EDGE_EDGE)
    gap = dict(zip(found.vertices_a[:, 0].tolist(), found.gap.tolist()))
    expected = over_triangles(x, body.surface.triangles, -alarm, alarm)
    assert len(expected) > 10
    for i, height in expected.items():
        assert height == pytest.approx(SLOT - down, rel=1e-6)
        assert gap[i] == pytest.approx(height, rel=1e-6)


def test_two_ridges_that_cross_are_found() -> None:
    """The edges of two wedges of one body, with no vertex near."""
    wedge = np.array([[-1, 0, 0], [1, 0, 0], [-1, 1, 1], [1, 1, 1], [-1, -1, 1], [1, -1, 1.0]])
    faces = np.array([[0, 3, 1], [0, 2, 3], [0, 1, 5], [0, 5, 4], [2, 5, 3], [2, 4, 5],
                      [0, 4, 2], [1, 3, 5]])  # fmt: skip
    other = wedge @ np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])
    points = 0.01 * np.vstack([wedge + np.array([0.0, 0.0, 0.005]), other])
    body = ready(points, np.vstack([faces, faces + 6]))
    found = own_contacts(body, points, 1e-4)
    assert found.kind.tolist() == [EDGE_EDGE]
    assert found.gap[0] == pytest.approx(5e-5)
    assert abs(found.normal[0, 2]) == pytest.approx(1.0)


def test_nothing_is_found_where_nothing_is_near() -> None:
    for shape in (lp.shapes.cup("standard"), lp.cups.bellows(0.03), lp.cups.flat(0.03)):
        points, triangles = surface_of(shape)
        assert len(own_contacts(ready(points, triangles), points, 1e-4)) == 0


def test_a_thin_wall_does_not_touch_itself() -> None:
    """Its two sides are nearer than the alarm distance, but through the material."""
    points, triangles = surface_of(lp.shapes.soft_box(0.02, 0.02, 5e-5, (4, 4, 1)))
    body = ready(points, triangles)
    for strain in (0.0, 0.2, 0.45):
        x = points * [1.0, 1.0, 1.0 - strain]
        assert len(own_contacts(body, x, 1e-3)) == 0


@pytest.mark.parametrize("seed", range(3))
def test_what_lies_in_one_plane_at_rest_is_on_the_same_side_of_the_wall(seed: int) -> None:
    """In any pose: rounding tells neither side."""
    points, triangles = surface_of(lp.shapes.soft_box(0.02, 0.02, 5e-3, (6, 6, 1)))
    turn = rotation_matrix(np.random.default_rng(seed).normal(size=3), 2.0)
    body = ready(points @ turn.T, triangles)
    assert body.walls is not None
    z = points[:, 2].round(12)
    inner = np.abs(points[:, :2]).max(axis=1) < 0.009
    top, level = np.flatnonzero((z == z.max()) & inner), z[triangles]
    for i in top.tolist():
        others = inner[triangles].all(axis=1) & ~(triangles == i).any(axis=1)
        beside = np.flatnonzero((level == z.max()).all(axis=1) & others)
        under = np.flatnonzero((level == z.min()).all(axis=1))
        through = [_through_wall(i, t, body.shape.adjacent, body.walls) for t in beside]
        assert len(through) > 1 and not any(through)
        assert any(_through_wall(i, t, body.shape.adjacent, body.walls) for t in under)


@pytest.mark.parametrize("seed", range(3))
def test_the_frame_does_not_matter(seed: int) -> None:
    rng = np.random.default_rng(seed)
    body, x = slotted_disc()
    turn = rotation_matrix(rng.normal(size=3), 2.0)
    one = own_contacts(body, x, 1e-3)
    two = own_contacts(body, x @ turn.T + rng.normal(size=3), 1e-3)
    assert len(one) > 20 and set(one.key) == set(two.key)
    two = two.take(np.argsort(two.key))
    one = one.take(np.argsort(one.key))
    np.testing.assert_allclose(one.gap, two.gap, atol=1e-12)
    np.testing.assert_allclose(one.normal @ turn.T, two.normal, atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_how_far_moving_walls_reach_does_not_depend_on_the_frame(seed: int) -> None:
    """Every vertex moves its own way, by about half as much as the slot is wide."""
    rng = np.random.default_rng(seed)
    body, x = slotted_disc()
    way = 0.3 * SLOT * rng.normal(size=x.shape)
    keys = []
    for turn in [np.eye(3), *(rotation_matrix(rng.normal(size=3), 2.0) for _ in range(3))]:
        found = detect([body], [x @ turn.T], [(0, 0)], 1e-6, ways=[way @ turn.T])
        keys.append(set(found.key.tolist()))
    assert len(keys[0]) > 20 and all(k == keys[0] for k in keys)


def joined(one: SoftShape, other: SoftShape) -> SoftShape:
    """Two shapes as one, which do not hang together."""
    n, of_one, of_other = len(one.points), one.collision, other.collision
    surface = Binding(
        np.vstack([of_one.triangles, of_other.triangles + of_one.n_vertices]),
        np.concatenate([of_one.start, of_other.start[1:] + of_one.start[-1]]),
        np.concatenate([of_one.nodes, of_other.nodes + n]),
        np.concatenate([of_one.weights, of_other.weights]),
    )
    return replace(
        one, points=np.vstack([one.points, other.points]),
        cells={k: np.vstack([one.cells[k], other.cells[k] + n]) for k in one.cells},
        collision=surface, visual=surface,
        regions=one.regions,
    )  # fmt: skip


def blocks() -> tuple[SoftShape, SoftShape]:
    """Two soft blocks, one over the other and turned against it, 0.1 mm apart.

    No vertex meets a vertex: there the two searches find one contact and two.
    """
    low = lp.shapes.soft_box(0.03, 0.03, 0.01, (3, 3, 2), finer=1)
    high = lp.shapes.soft_box(0.02, 0.024, 0.01, (2, 3, 2), finer=1)
    turn = rotation_matrix(np.array([0.0, 0.0, 1.0]), 0.5)
    low_top, high_bottom = low.points[:, 2].max(), high.points[:, 2].min()
    lift = np.array([0.0, 0.0, low_top - high_bottom + 1e-4])
    pushed = {"pushed": high.regions["top"]}
    return replace(high, points=high.points @ turn.T + lift, regions=pushed), low


PUSH = lp.motion.path([(0.0, (0.0, 0.0, 0.0)), (0.2, (0.0, 0.0, -5e-4)), (0.4, (1e-4, 0.0, -5e-4))])


def world_of(*shapes: SoftShape, self_contact: bool = True) -> lp.World:
    """Soft bodies of one density on a plate; the first one is pushed and drawn aside."""
    world = lp.World(gravity=(0, 0, 0), friction=0.6)
    rubber = lp.Material(young=1e6, poisson=0.4)
    made = [
        world.add_soft(
            s, rubber, 1000.0 * volume(*surface_of(s)), name=f"body {i}", self_contact=self_contact
        )
        for i, s in enumerate(shapes)
    ]
    world.prescribe_motion(made[0]["pushed"], PUSH)
    world.add_rigid(lp.shapes.box(0.1, 0.1, 0.01), 1.0, position=(0, 0, -0.01), fixed=True)
    return world


def test_one_body_of_two_blocks_is_two_bodies() -> None:
    """Pressed together and sheared, with friction, they move as two bodies do."""
    high, low = blocks()
    exact = Settings(relinearisation=Relinearisation(1e-10, 20))
    two = lp.Simulation(world_of(high, low), 0.02, exact)
    one = lp.Simulation(world_of(joined(high, low)), 0.02, exact)
    for own, apart in zip(one.run(0.3), two.run(0.3)):
        assert own.converged and apart.converged
        assert own.active_contacts == apart.active_contacts
        np.testing.assert_allclose(
            one.snapshot().positions, two.snapshot().positions, rtol=0.0, atol=1e-8
        )
    assert own.active_contacts > 5
    pressed = np.abs(one.snapshot().forces).sum(axis=0)
    assert pressed[2] > 5.0 and pressed[:2].max() > 0.5  # [N]


def test_without_self_contact_they_pass_through() -> None:
    high, low = blocks()
    simulation = lp.Simulation(world_of(joined(high, low), self_contact=False), 0.02)
    for _ in simulation.run(0.2):
        assert not np.abs(simulation.snapshot().forces).any()
