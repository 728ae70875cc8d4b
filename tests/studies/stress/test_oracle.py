"""The oracle on surfaces whose widest leak is known."""

from dataclasses import replace

import numpy as np
import pytest
from manifold3d import Manifold

from limpet.geometry.union import arrays
from limpet.studies.stress.oracle import (
    Facets,
    bulge_at,
    closest_on_triangles,
    lattice,
    widest_leak,
)
from limpet.studies.stress.recipe import Call
from limpet.studies.stress.seals import covers_openings
from limpet.studies.stress.trace import run
from limpet.studies.stress.worlds import world_of

SEALING = 5e-5  # [m]


def pot(gap: float, tilt: float = 0.0) -> Facets:
    """A pot upside down, 40 mm wide, over z = 0; its rim is at the height of the gap."""
    outer = Manifold.cube((0.04, 0.04, 0.02), True)
    inner = Manifold.cube((0.03, 0.03, 0.02), True).translate((0.0, 0.0, -0.005))
    points, triangles = arrays((outer - inner).refine(3).translate((0.0, 0.0, 0.01)))
    c, s = np.cos(tilt), np.sin(tilt)
    points = points @ np.array([[c, 0.0, -s], [0.0, 1.0, 0.0], [s, 0.0, c]]).T
    return Facets(points - [0.0, 0.0, points[:, 2].min() - gap], triangles)


def plate(hole: float = 0.0) -> Facets:
    solid = Manifold.cube((0.1, 0.1, 0.01), True).translate((0.0, 0.0, -0.005))
    if hole:
        solid -= Manifold.cylinder(0.1, hole, hole, 24, True)
    return Facets(*arrays(solid))


def poles(shape: Facets) -> tuple[int, int]:
    """The vertices in the middle of the dome and of the top."""
    x, middle = shape.points, np.linalg.norm(shape.points[:, :2], axis=1)
    high = x[:, 2].max()
    top = np.where(x[:, 2] > high - 1e-3, middle, np.inf).argmin()
    dome = np.where(np.abs(x[:, 2] - high + 0.005) < 1e-3, middle, np.inf).argmin()
    return int(dome), int(top)


@pytest.mark.parametrize("gap", [0.0, 2e-5, 6e-5, 1.2e-4])
def test_gap_under_a_level_rim(gap: float) -> None:
    cup = pot(gap)
    leak = widest_leak([plate(), cup], 1, *poles(cup), SEALING)
    assert leak is not None
    assert leak.width == pytest.approx(gap, abs=1e-8)
    assert leak.slack < 1e-9


def test_tilted_rim_leaks_where_it_is_highest() -> None:
    cup = pot(0.0, tilt=2e-3)
    leak = widest_leak([plate(), cup], 1, *poles(cup), SEALING)
    assert leak is not None
    # the outer edge of the raised side is 40 mm, its inner one 35 mm from the side that touches
    assert pytest.approx(leak.width, rel=0.03) == 0.035 * 2e-3


def test_hole_in_the_plate_leaks_though_the_rim_is_closed() -> None:
    cup = pot(0.0)
    leak = widest_leak([plate(hole=3e-3), cup], 1, *poles(cup), SEALING)
    assert leak is not None
    assert leak.width > 2.0 * SEALING


def test_groove_leaks_though_the_plate_stands_on_a_ground() -> None:
    """It runs through under the rim between the points of the cup's lattice."""
    depth, cup = 6e-5, pot(0.0)
    solid = Manifold.cube((0.1, 0.1, 0.01), True).translate((0.0, 0.0, -0.005))
    solid -= Manifold.cube((3e-4, 0.2, 2.0 * depth), True).translate((2e-4, 0.0, 0.0))
    ground = Manifold.cube((0.2, 0.2, 0.01), True).translate((0.0, 0.0, -0.015))
    bodies = [Facets(*arrays(ground)), Facets(*arrays(solid)), cup]
    leak = widest_leak(bodies, 2, *poles(cup), SEALING)
    assert leak is not None
    assert leak.width == pytest.approx(depth, rel=0.05)


def test_dome_that_touches_says_nothing() -> None:
    cup = pot(0.0)
    stamp = Facets(*arrays(Manifold.cube((0.01, 0.01, 0.0149999), True).translate((0, 0, 0.0075))))
    assert widest_leak([plate(), stamp, cup], 2, *poles(cup), SEALING) is None


def test_closest_points_against_samples() -> None:
    rng = np.random.default_rng(0)
    p, a, b, c = rng.normal(size=(4, 50, 3))
    found = np.linalg.norm(p - closest_on_triangles(p, a, b, c), axis=1)
    u, v = np.meshgrid(np.linspace(0, 1, 60), np.linspace(0, 1, 60))
    u, v = u[u + v <= 1.0], v[u + v <= 1.0]
    points = a[:, None] + u[:, None] * (b - a)[:, None] + v[:, None] * (c - a)[:, None]
    sampled = np.linalg.norm(points - p[:, None], axis=2).min(axis=1)
    assert np.all(found <= sampled + 1e-12)
    assert np.all(sampled - found < 0.05)


def test_lattice_shares_the_points_of_common_edges() -> None:
    box = Facets(*arrays(Manifold.cube((1.0, 1.0, 1.0))))
    points, edges = lattice(box)
    assert len(np.unique(points.round(9), axis=0)) == len(points)
    assert len(points) - len(edges) + 12 * 36 == 2  # Euler: 36 small triangles on each of 12


def test_facets_of_a_sphere_bulge_by_their_sagitta() -> None:
    points, triangles = arrays(Manifold.sphere(0.02, 48))
    middle = points[triangles[100]].mean(axis=0)
    missing = 0.02 - np.linalg.norm(middle)
    assert bulge_at(Facets(points, triangles), middle) == pytest.approx(missing, rel=0.3)


def test_what_the_cup_is_fixed_to_is_no_wall() -> None:
    """The weight on a cup covers its far side, by which no air leaves."""
    recipe = world_of(4049).recipe
    assert recipe.part("cup").carrier == "weight"
    surfaces = run(recipe, steps=1, limit=600.0).surfaces
    assert len(surfaces.bodies) == 2 and surfaces.cup == 1


def test_openings_that_the_classifier_covers_are_not_judged() -> None:
    recipe = world_of(20124).recipe  # a cup on a plate with a hole
    assert covers_openings(recipe)
    others = {k: v for k, v in recipe.settings.arguments.items() if k != "cavities"}
    assert not covers_openings(replace(recipe, settings=Call("Settings", others)))
    assert not covers_openings(replace(recipe, parts=recipe.parts[1:]))
