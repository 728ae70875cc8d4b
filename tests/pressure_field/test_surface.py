"""The contact surface against brute force and closed forms; it is continuous and breaks ties."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.errors import LimpetError
from limpet.pressure_field.crossing_pairs import moved
from limpet.pressure_field.fields import (
    RigidSurface,
    half_space,
    pressure_field,
    rigid_surface,
    surface_triangles,
)
from limpet.pressure_field.packed import CELL
from limpet.pressure_field.polygons import (
    AREA,
    CENTROID,
    MAX_CORNERS,
    PRESSURE,
    Batch,
    clip_to_host,
    equal_pressure_slices,
    measured,
    rigid_triangles,
)
from limpet.pressure_field.primitives import Solid, box, sphere
from limpet.pressure_field.surface import (
    as_surface,
    contact_surface,
    equal_pressure_near,
    no_candidates,
)
from limpet.pressure_field.wrench import area

from .kit import HERE, ball, brick, force, pose, rigid_ball, rod

GROUND = half_space((0.0, 0.0, 1.0), 0.04)
SOFT_GROUND = half_space((0.0, 0.0, 1.0), 0.04, modulus=2e7, thickness=0.05)
PAIRS = {
    "ball on brick": (ball, brick),
    "rod on brick": (rod, brick),
    "rigid ball in brick": (rigid_ball, brick),
    "ball on ground": (ball, lambda: GROUND),
    "ball on soft ground": (ball, lambda: SOFT_GROUND),
    "rigid ball in soft ground": (rigid_ball, lambda: SOFT_GROUND),
}
ABOVE = pose((0.3, 0.2, 0.1), (0.003, 0.024, 0.07))


def clipped(polygon, normal, offset):
    """What of a polygon lies below a plane, one corner after the other."""
    out = []
    for a, b in zip(np.roll(polygon, 1, axis=0), polygon):
        s, t = normal @ a - offset, normal @ b - offset
        if (s > 0) != (t > 0):
            out.append(a + s / (s - t) * (b - a))
        if t <= 0:
            out.append(b)
    return np.array(out).reshape(-1, 3)


def brute_force(a, pose_a, b):
    """Area, and force on a, of every tet of a against every tet of b, in b's frame."""
    rotation, origin = pose_a
    points = a.points @ rotation.T + origin
    total, sizes = np.zeros(3), 0.0
    for tet, slope in zip(a.tets, a.gradient @ rotation.T):
        constant = a.pressure[tet[0]] - slope @ points[tet[0]]
        for other, slope_b in zip(b.tets, b.gradient):
            constant_b = b.pressure[other[0]] - slope_b @ b.points[other[0]]
            normal = slope - slope_b
            length = np.linalg.norm(normal)
            unit, offset = normal / length, (constant_b - constant) / length
            side = np.linalg.svd(unit[None])[2][1:]  # a large square on the plane, then clip it
            square = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]]) @ side + unit * offset
            for corners in (points[tet], b.points[other]):
                for k in range(4):
                    x, y, z = np.delete(corners, k, axis=0)
                    face = np.cross(y - x, z - x)
                    face *= -np.sign(face @ (corners[k] - x))
                    if len(square):
                        square = clipped(square, face, face @ x)
            if len(square) < 3:
                continue
            fan = square[1:] - square[0]
            pieces = 0.5 * np.cross(fan[:-1], fan[1:]) @ unit
            centres = square[0] + (fan[:-1] + fan[1:]) / 3.0
            total += unit * (np.abs(pieces) @ (centres @ slope + constant))
            sizes += np.abs(pieces.sum())
    return sizes, total


@pytest.mark.parametrize("name", ["ball on brick", "rod on brick"])
def test_equals_brute_force(name):
    one, two = (build() for build in PAIRS[name])
    sizes, total = brute_force(one, ABOVE, two)
    surface = contact_surface(one, ABOVE, two, HERE)
    assert area(surface)[0] == pytest.approx(sizes, rel=1e-12)
    assert force(surface) == pytest.approx(total, rel=1e-11, abs=1e-9)


@pytest.mark.parametrize("name", PAIRS)
def test_polygons_are_what_they_say(name):
    one, two = (build() for build in PAIRS[name])
    surface = contact_surface(one, ABOVE, two, HERE)
    assert len(surface) > 8
    size = np.linalg.norm(surface.area, axis=1)
    for k in range(len(surface)):
        corners = surface.corners[surface.start[k] : surface.start[k + 1]]
        fan = corners[1:] - corners[0]
        assert 0.5 * np.cross(fan[:-1], fan[1:]).sum(axis=0) == pytest.approx(
            surface.area[k], abs=1e-9 * size.max()
        )  # counter-clockwise about the normal
        mean = surface.corner_pressure[surface.start[k] : surface.start[k + 1]]
        assert mean.min() <= surface.pressure[k] * (1 + 1e-12)
        assert mean.max() >= surface.pressure[k] * (1 - 1e-12)
    points, pressure, fans = surface.triangles()
    x = points[fans]
    whole = 0.5 * np.linalg.norm(np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0]), axis=1).sum()
    assert whole == pytest.approx(size.sum())
    assert len(pressure) == len(points)
    assert force(surface)[2] > 0.0  # what stands above is pushed up


@pytest.mark.parametrize("name", PAIRS)
def test_neither_order_nor_frame_matters(name):
    one, two = (build() for build in PAIRS[name])
    surface = contact_surface(one, ABOVE, two, HERE)
    swapped = contact_surface(two, HERE, one, ABOVE)
    assert force(swapped) == pytest.approx(-force(surface), rel=1e-12, abs=1e-9)
    assert np.array_equal(swapped.cells, surface.cells[:, ::-1])
    assert np.array_equal(swapped.gradient_a, surface.gradient_b)
    turn, place = pose((0.5, -0.7, 1.1), (3.0, -2.0, 1.0))
    there = (turn @ ABOVE[0], turn @ ABOVE[1] + place)
    moved = contact_surface(one, there, two, (turn, place))
    assert force(moved) == pytest.approx(turn @ force(surface), rel=1e-11, abs=1e-8)
    assert moved.centroid == pytest.approx(surface.centroid @ turn.T + place)
    assert moved.gradient_a == pytest.approx(surface.gradient_a @ turn.T, rel=1e-9, abs=1e-3)


def test_pressures_are_equal_on_the_surface():
    one, two = ball(), brick()
    surface = contact_surface(one, ABOVE, two, HERE)
    for body, (rotation, origin), side in ((one, ABOVE, 0), (two, HERE, 1)):
        cell = surface.cells[:, side]
        x = (surface.centroid - origin) @ rotation
        first = body.tets[cell, 0]
        at = body.pressure[first] + np.einsum(
            "ij,ij->i", body.gradient[cell], x - body.points[first]
        )
        assert at == pytest.approx(surface.pressure, rel=1e-9)


def test_apart_means_empty():
    for name in PAIRS:
        one, two = (build() for build in PAIRS[name])
        surface = contact_surface(one, pose(place=(0.0, 0.0, 0.2)), two, HERE)
        assert len(surface) == 0 and surface.start.tolist() == [0]


def test_rigid_pairs_are_refused():
    with pytest.raises(LimpetError, match="both bodies are rigid"):
        contact_surface(rigid_ball(), HERE, GROUND, HERE)
    with pytest.raises(LimpetError, match="both bodies are half spaces"):
        contact_surface(SOFT_GROUND, HERE, GROUND, HERE)


def slab(width=0.2, height=0.05, cells=4):
    """Tets of a slab whose pressure rises linearly from its top down."""
    axes = [np.linspace(-width / 2, width / 2, cells + 1)] * 2 + [np.linspace(-height, 0.0, 3)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    number = np.arange(len(points)).reshape(cells + 1, cells + 1, 3)
    tets = []
    steps = [(0, 1, 2), (1, 2, 0), (2, 0, 1), (1, 0, 2), (0, 2, 1), (2, 1, 0)]
    for i, j, k in np.ndindex(cells, cells, 2):
        for order in steps:
            at, path = [i, j, k], [number[i, j, k]]
            for axis in order:
                at[axis] += 1
                path.append(number[tuple(at)])
            tets.append(path if steps.index(order) < 3 else [path[1], path[0], *path[2:]])
    return Solid(points, np.array(tets), -points[:, 2] / height)


@pytest.mark.parametrize("depth, finest", [(0.03, 5), (0.012, 6), (0.005, 6)])
def test_rigid_sphere_in_a_linear_slab(depth, finest):
    """F = E/H pi d^2 (R - d/3): the error falls as the square of the facets, below 0.1 %.

    The flatter the cap, the more of its depth the facets cut off, and the finer they must be.
    """
    radius, modulus, height = 0.05, 3e6, 0.05
    exact = modulus / height * np.pi * depth**2 * (radius - depth / 3.0)
    field = pressure_field(slab(height=height), modulus)
    ground = half_space((0.0, 0.0, 1.0), 0.0, modulus, height)
    above = pose((0.3, 0.5, 0.2), (0.004, 0.003, radius - depth))
    errors = []
    for rounds in range(finest - 2, finest + 1):
        one = rigid_ball(rounds, radius)
        found = force(contact_surface(one, above, field, HERE))
        same = force(contact_surface(one, above, ground, HERE))
        assert found == pytest.approx(same, rel=1e-11, abs=1e-9)
        errors.append(abs(found[2] / exact - 1.0))
    assert errors[1] / errors[0] == pytest.approx(0.25, rel=0.01)
    assert errors[2] / errors[1] == pytest.approx(0.25, rel=0.002)
    assert errors[2] < 1e-3


def test_a_rigid_box_flush_with_the_mesh_is_counted_once():
    """Its lower face lies in a layer of the slab's own faces; its sides in upright ones."""
    modulus, height = 3e6, 0.05
    field = pressure_field(slab(height=height), modulus)
    solid = pressure_field(box(0.1, 0.1, 0.05), 1e6)
    skin = surface_triangles(solid.tets)
    used, compact = np.unique(skin, return_inverse=True)
    one = rigid_surface(solid.points[used], compact.reshape(-1, 3))
    for turn in ((0.0, 0.0, 0.0), (0.4, 0.1, 0.7)):
        frame = pose(turn)[0]
        surface = contact_surface(one, (frame, np.zeros(3)), field, (frame, np.zeros(3)))
        found = frame.T @ force(surface)
        assert found == pytest.approx([0.0, 0.0, 0.5 * modulus * 0.01], rel=1e-9, abs=1e-6)
        assert area(surface)[0] == pytest.approx(0.01 + 4 * 0.1 * 0.025, rel=1e-9)


def test_slivers_are_left_out():
    """A triangle of rounding noise has no centroid worth the name."""
    corners = np.zeros((2, MAX_CORNERS, 3))
    corners[:, :3] = [[1.0, 1.0, 1.0], [1.5, 1.0, 1.0], [1.2, 1.3, 1.0]]
    corners[0, 2, 1] = 1.0 + 3e-16
    batch = Batch(
        np.array([[3, 5], [4, 6]], np.int32),
        corners,
        np.full(2, 3, np.int32),
        np.array([[0.0, 0.0, 1.0]] * 2),
    )
    cells = np.zeros((7, CELL))
    rows, ids, start, _ = measured(batch, cells, cells, np.eye(3), np.eye(3), np.zeros(3), True)
    assert ids.tolist() == [[4, 6]] and start.tolist() == [0, 3]
    assert rows[0, AREA : AREA + 3] == pytest.approx([0.0, 0.0, -0.075])
    assert rows[0, CENTROID : CENTROID + 3] == pytest.approx(corners[1, :3].mean(axis=0))


@pytest.mark.parametrize("name", ["ball on brick", "soft ball on brick", "rigid ball in brick"])
def test_the_search_misses_no_polygon(name):
    """In poses from barely touching to deep, against every cell with every cell."""
    soft = pressure_field(sphere(0.05, 0.025), 3e5)
    one, two = (
        {"ball on brick": ball(), "soft ball on brick": soft}.get(name, rigid_ball()),
        brick(),
    )
    every = np.stack(np.meshgrid(np.arange(len(two.cells)), np.arange(len(one.cells))), axis=-1)
    pairs = np.ascontiguousarray(every.reshape(-1, 2), dtype=np.int32)
    rng = np.random.default_rng(5)
    seen = 0
    for _ in range(60):
        way = rng.normal(size=3)
        place = way / np.linalg.norm(way) * rng.uniform(0.02, 0.11)
        r, t = pose(rng.normal(size=3), place)
        found = contact_surface(one, (r, t), two, HERE)
        x = moved(one.points, r, t)
        if isinstance(one, RigidSurface):
            batch, cells = rigid_triangles(pairs, one.triangles, x), one.cells[:0]
        else:
            cells = one.cells
            batch = equal_pressure_slices(pairs, two.cells, cells, one.tets, x, r)
        clip_to_host(batch, two.cells, 1e-13)
        rows = measured(batch, two.cells, cells, r, *HERE, False)[0]
        loaded = rows[:, PRESSURE] > 1e-9 * two.modulus  # polygons without pressure may be culled
        wanted = rows[loaded, PRESSURE] @ rows[loaded, AREA : AREA + 3]
        kept = found.pressure > 1e-9 * two.modulus
        assert kept.sum() == loaded.sum()
        assert force(found) == pytest.approx(wanted, rel=1e-9, abs=1e-6)
        seen += len(found)
    assert seen > 500


@pytest.mark.parametrize("name", ["ball on brick", "rod on brick", "rigid ball in brick"])
def test_candidates_hold_while_bodies_move_within_the_slack(name):
    """Small motions and turns about a pose: no polygon is missed, no search is made."""
    one, two = (build() for build in PAIRS[name])
    rng, slack, r, t = np.random.default_rng(3), 2e-3, *ABOVE
    fixed = two.data, *HERE
    _, near, _ = equal_pressure_near(one.data, r, t, *fixed, no_candidates(), slack)
    seen = 0
    for _ in range(20):
        turn = pose(0.002 * rng.normal(size=3))[0]
        at = turn @ r, t + 2e-4 * rng.normal(size=3)
        found, after, swapped = equal_pressure_near(one.data, *at, *fixed, near, slack)
        assert after.pairs is near.pairs or np.array_equal(after.pairs, near.pairs)
        assert np.array_equal(after.t, near.t)
        surface, fresh = as_surface(*found, swapped), contact_surface(one, at, two, HERE)
        loaded = fresh.pressure > 1e-9 * two.modulus
        assert np.sum(surface.pressure > 1e-9 * two.modulus) == loaded.sum()
        assert force(surface) == pytest.approx(force(fresh), rel=1e-9, abs=1e-6)
        seen += len(fresh)
    assert seen > 100


def test_candidates_are_searched_again_after_a_larger_motion():
    one, two, (r, t) = ball(), brick(), ABOVE
    data = two.data, *HERE
    _, near, _ = equal_pressure_near(one.data, r, t, *data, no_candidates(), 1e-4)
    away = t - [0.0, 0.0, 0.01]
    found, after, swapped = equal_pressure_near(one.data, r, away, *data, near, 1e-4)
    assert np.linalg.norm(after.t - near.t) == pytest.approx(0.01)
    fresh = contact_surface(one, (r, away), two, HERE)
    assert force(as_surface(*found, swapped)) == pytest.approx(force(fresh), rel=1e-9)
