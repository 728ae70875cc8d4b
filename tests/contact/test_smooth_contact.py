"""Contacts with smooth surfaces: those of the round part, not those of its facets."""

import numpy as np
import pytest

import limpet as lp
from limpet.contact.detect import EDGE_EDGE, VERTEX_FACE, collider, detect
from limpet.geometry.smooth import CREASE
from limpet.geometry.surface import surface_topology, volume
from limpet.shapes.boxes import box
from limpet.shapes.curved import rod, trough
from limpet.shapes.round_parts import sphere

RADIUS, ALARM = 0.07, 1e-4
# A small pyramid that stands on its tip, the origin.
TIP = 1e-3 * np.array([[0.0, 0.0, 0.0], [1, -1, 3], [-1, -1, 3], [0, 1.4, 3]])
SIDES = np.array([[1, 3, 2], [0, 1, 2], [0, 2, 3], [0, 3, 1]])


def smooth(points, triangles, **how):
    how = {"crease": CREASE, "deforms": False, **how}
    return collider(surface_topology(triangles, len(points)), points, **how)


def touch(one, x, two, y, alarm=ALARM):
    return detect([one, two], [x, y], [(0, 1)], alarm)


@pytest.mark.parametrize("facets", [24, 37, 360])
def test_gap_and_normal_of_a_vertex_that_slides_over_the_facets_of_a_tube(facets):
    tube = rod(RADIUS, 0.06, facets=facets)
    probe, part = collider(surface_topology(SIDES, 4), TIP), smooth(tube.points, tube.triangles)
    within = 2e-6 if facets < 100 else 1e-8
    normals, spots = [], np.linspace(-0.2, 0.2, 401)
    for angle in spots:
        out = np.array([np.sin(angle), 0.0, np.cos(angle)])
        for gap in (5e-5, 0.0, -2e-5):
            at = (RADIUS + gap) * out - [0.0, 0.0, RADIUS]
            found = touch(probe, TIP + at, part, tube.points)
            found = found.take(found.kind == VERTEX_FACE)
            assert len(found) == 1
            assert found.gap[0] == pytest.approx(gap, abs=within)
            # taken where the facet is nearest, beside the foot by (bulge + gap) times half a turn
            half = np.pi / facets
            beside = (0.5 * RADIUS * half**2 + abs(gap)) * half
            np.testing.assert_allclose(found.normal[0], out, atol=beside / RADIUS)
        normals.append(found.normal[0])
    # no jump at the edges of facets but by penetration times turn over radius: 24 turn by 0.26 rad
    turned = np.linalg.norm(np.diff(normals, axis=0), axis=1)
    np.testing.assert_allclose(turned, spots[1] - spots[0], atol=1e-4)


def test_the_inside_of_a_tube_is_round():
    hollow = trough(RADIUS, 0.06, 0.06, 0.01, sagitta=2e-4)
    probe, part = collider(surface_topology(SIDES, 4), TIP), smooth(hollow.points, hollow.triangles)
    for angle in np.linspace(-0.15, 0.15, 101):
        out = -np.array([np.sin(angle), 0.0, -np.cos(angle)])
        at = (RADIUS - 1e-5) * -out + [0.0, 0.0, RADIUS]
        found = touch(probe, TIP + at, part, hollow.points)
        assert len(found) == 1
        assert found.gap[0] == pytest.approx(1e-5, abs=1e-6)
        np.testing.assert_allclose(found.normal[0], out, atol=1e-3)


def test_a_ball_of_few_facets_is_round():
    ball = sphere(0.04, facets=32)
    probe, part = collider(surface_topology(SIDES, 4), TIP), smooth(ball.points, ball.triangles)
    rng = np.random.default_rng(1)
    for _ in range(200):
        out = rng.normal(size=3) * [1.0, 1.0, 0.2] + [0.0, 0.0, 3.0]
        out /= np.linalg.norm(out)
        found = touch(probe, TIP + (0.04 + 1e-5) * out, part, ball.points)
        assert len(found) == 1
        # 0.38 mm is the sagitta of its facets
        assert found.gap[0] == pytest.approx(1e-5, abs=8e-6)
        np.testing.assert_allclose(found.normal[0], out, atol=3e-3)


def test_the_edge_of_a_box_across_a_tube_is_held():
    # No vertex is near: a rigid straight edge must not sink in. It lies across the crest.
    tube = rod(RADIUS, 0.06, facets=24)
    plank = box(0.08, 0.01, 0.01)
    turned = plank.points @ np.array([[1, 0, 0], [0, 1, 1], [0, -1, 1]]) / [1, 2**0.5, 2**0.5]
    turned -= [0.0, 0.0, turned[:, 2].min()]
    ready = [smooth(p, t) for p, t in ((turned, plank.triangles), (tube.points, tube.triangles))]
    found = touch(ready[0], turned, ready[1], tube.points)
    assert (found.kind == EDGE_EDGE).any()
    assert np.abs(found.gap).max() < 1e-9
    np.testing.assert_allclose(found.normal[:, 2], 1.0, atol=1e-9)


def chord(deforms):
    """A wedge whose lower edge, 6 mm along x, is a chord of the tube; and its collider."""
    half, sag = 3e-3, RADIUS - (RADIUS**2 - 9e-6) ** 0.5
    low = np.array([[-half, 0.0, -sag], [half, 0.0, -sag]])
    high = np.array([[-half, -5e-3, 5e-3], [half, -5e-3, 5e-3], [half, 5e-3, 5e-3],
                     [-half, 5e-3, 5e-3]])  # fmt: skip
    x = np.vstack([low, high])
    t = np.array([[0, 1, 2], [1, 3, 2], [0, 4, 1], [0, 5, 4], [0, 2, 5], [1, 4, 3], [2, 4, 5],
                  [2, 3, 4]])  # fmt: skip
    assert volume(x, t) > 0.0
    made = smooth(x, t, deforms=deforms)
    if deforms:  # as curved at rest as a lip: facets may recede by 0.2 mm
        on = made.shape.patches._replace(relief=2e-4)
        made = type(made)(made.surface, made.shape._replace(patches=on))
    return made, x


def test_a_chord_of_a_soft_lip_does_not_lift_it_off_a_tube():
    tube = rod(RADIUS, 0.06, facets=180)
    part = smooth(tube.points, tube.triangles)
    lip, x = chord(deforms=True)
    found = touch(lip, x, part, tube.points)
    assert (found.kind == VERTEX_FACE).sum() == 2  # its ends touch
    assert np.abs(found.gap).max() < 1e-7
    assert not (found.kind == EDGE_EDGE).any()  # it can lie on the tube between them
    # One that is nearly straight at rest cannot.
    sagitta, relief = 9e-6 / (2.0 * RADIUS), 2e-5
    straighter = lip.shape._replace(patches=lip.shape.patches._replace(relief=relief))
    found = touch(type(lip)(lip.surface, straighter), x, part, tube.points)
    assert (found.kind == EDGE_EDGE).any()
    assert found.gap.min() == pytest.approx(relief - sagitta, rel=0.02)
    # A stiff edge is straight.
    stiff, x = chord(deforms=False)
    found = touch(stiff, x, part, tube.points)
    assert found.gap.min() == pytest.approx(-sagitta, rel=0.02)


def test_boxes_touch_as_before():
    one, two = box(0.02, 0.03, 0.04), box(0.05, 0.05, 0.01)
    tilt = np.array([[0.8, 0.0, 0.6], [0.0, 1.0, 0.0], [-0.6, 0.0, 0.8]])
    x = one.points @ tilt.T
    x += [0.0, 0.0, 2e-5 - x[:, 2].min()]
    results = []
    for crease in (0.0, CREASE):
        ready = [
            smooth(p, t, crease=crease)
            for p, t in ((x, one.triangles), (two.points, two.triangles))
        ]
        results.append(touch(ready[0], x, ready[1], two.points))
    for name in ("gap", "normal", "kind", "vertices_a", "vertices_b", "weights_b"):
        np.testing.assert_array_equal(getattr(results[0], name), getattr(results[1], name))
    assert len(results[0]) > 0


@pytest.mark.parametrize("facets", [24, 360, 720])
def test_a_plank_lies_across_a_tube_however_fine(facets: int) -> None:
    """Its edges meet those between facets, which turn by as little as half a degree."""
    world = lp.World(friction=0.3)
    world.add_rigid(rod(0.03, 0.05, facets=facets), 1.0, name="tube", fixed=True)
    plank = world.add_rigid(
        lp.shapes.box(0.2, 0.02, 0.01), 0.1, name="plank", position=(0.0, 0.0, 0.0105)
    )
    world.add_probe("plank", plank)
    *_, last = lp.Simulation(world, h=0.01).run(0.3)
    assert last.probes["plank_z"] == pytest.approx(0.005, abs=1e-6)
