"""Cups that hold by their top: closed, in place, right side out, in every element."""

from __future__ import annotations

import numpy as np
import pytest

import limpet as lp
from limpet.errors import LimpetError
from limpet.fem.material import Material
from limpet.geometry.surface import volume
from limpet.meshing.check import check_surface
from limpet.model.world import World
from limpet.shapes.suckers import SUCKERS, sucker


@pytest.mark.parametrize("element", [None, "hex8", "tet4", "tet10"])
@pytest.mark.parametrize("name", sorted(SUCKERS))
def test_a_sound_body(name, element) -> None:
    shape, profile = sucker(name, element=element, nodes=1000), SUCKERS[name]
    surface = shape.collision
    x = surface.positions(shape.points)
    check_surface(x, surface.triangles)
    visual = volume(shape.visual.positions(shape.points), shape.visual.triangles)
    assert volume(x, surface.triangles) == pytest.approx(visual, rel=0.1)
    assert abs(x[:, 2].min()) < 0.1e-3  # it stands on z = 0
    assert x[:, 2].max() == pytest.approx(profile.height, rel=0.02)
    top = shape.points[shape.region("top")]
    assert np.hypot(*top.T[:2]).max() < 1.3e-3 * profile.handle
    assert np.hypot(*shape.points[shape.region("rim")].T[:2]).min() > 13e-3
    world = World()
    world.add_soft(shape, Material(4e6, 0.45), 0.02)
    lp.Simulation(world)  # refuses inverted cells


def test_the_roof_is_thinner_than_the_rim() -> None:
    for name in ("plunger", "shop"):
        profile = SUCKERS[name]
        end = profile.stations(8)[-1]
        for at, thick in ((0.0, profile.thickness[0]), (end, profile.thickness[-1])):
            (r, z), (s, t) = profile.wall(at, 0.0), profile.wall(at, 1.0)
            assert np.hypot(s - r, t - z) == pytest.approx(1e-3 * thick, rel=1e-9)
        assert profile.thickness[0] < 0.5 * profile.thickness[-1]


@pytest.mark.parametrize(
    ("wrong", "line"),
    [
        ({"profile": "squid"}, "sucker profile = 'squid'"),
        ({"sectors": 10}, "sucker sectors and segments: give both"),
        ({"sectors": 4, "segments": 8}, "sucker sectors = 4, segments = 8: expected 6 sectors"),
        ({"nodes": -5}, "sucker nodes = -5"),
        ({"element": "hex9"}, "sucker element = 'hex9'"),
    ],
)
def test_wrong_input_is_one_clear_line(wrong, line) -> None:
    with pytest.raises(LimpetError) as caught:
        sucker(**wrong)
    assert str(caught.value).startswith(line)
    assert "\n" not in str(caught.value)
