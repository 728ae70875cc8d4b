"""Layers of a field: they fill the same solid, fit together, and the pressure follows the map."""

from __future__ import annotations

import numpy as np
import pytest

import limpet as lp
from limpet.geometry.surface import surface_topology
from limpet.meshing.tetrahedra import tet_volumes
from limpet.pressure_field import primitives
from limpet.pressure_field.fields import half_space, pressure_field, surface_triangles
from limpet.pressure_field.layers import cut, nonlinear
from limpet.pressure_field.surface import contact_surface
from limpet.pressure_field.wrench import wrench

SOLIDS = {
    "box": primitives.box(0.06, 0.05, 0.03),
    "ball": primitives.sphere(0.05, 0.02),
    "cylinder": primitives.cylinder(0.03, 0.05, 0.01),
}
HERE = np.eye(3), np.zeros(3)


@pytest.mark.parametrize("name", SOLIDS)
def test_cut_tets_fill_the_solid_and_fit_together(name):
    solid = SOLIDS[name]
    found = cut(solid, [0.2, 0.5, 0.7])
    volume = tet_volumes(found.points, found.tets)
    assert volume.min() > 0.0
    assert volume.sum() == pytest.approx(tet_volumes(solid.points, solid.tets).sum(), rel=1e-12)
    skin = surface_triangles(found.tets)  # only outer faces are single
    surface_topology(skin, len(found.points))
    assert (found.extent[skin] == 0.0).all()
    inside = found.extent[found.tets]
    for level in (0.2, 0.5, 0.7):  # no tet reaches across a layer
        assert not ((inside.min(axis=1) < level) & (inside.max(axis=1) > level)).any()


@pytest.mark.parametrize("power", [0.5, 2.0, 3.0])
def test_a_flat_box_presses_with_the_power_of_the_depth(power):
    field = pressure_field(nonlinear(SOLIDS["box"], power), 1e6)
    floor = half_space((0.0, 0.0, 1.0), 0.0)
    for depth in (0.2, 0.45, 0.8):  # of 15 mm
        pose = np.eye(3), np.array([0.0, 0.0, 0.015 * (1.0 - depth)])
        surface = contact_surface(field, pose, floor, HERE)
        largest = float(surface.corner_pressure.max())
        knots = np.linspace(0.0, 1.0, 9)
        assert largest == pytest.approx(1e6 * np.interp(depth, knots, knots**power), rel=1e-9)
        assert wrench(surface, np.zeros(3)).force[2] > 0.0


def test_a_rigid_core_stops_what_a_soft_skin_does_not():
    """A heavy box on a skin of a tenth of its depth rests on the core."""
    heights = []
    for core in (1.0, 0.1):
        world = lp.World()
        box = world.add_rigid(
            lp.fields.box(0.06, 0.05, 0.03, 1e4, core=core), 20.0, position=(0, 0, 0.0151)
        )
        world.add_rigid(lp.fields.floor(), 1.0, fixed=True)
        world.add_probe("box", box)
        reports = list(lp.Simulation(world, 5e-3).run(0.5))
        assert all(r.converged for r in reports)
        heights.append(reports[-1].probes["box_z"])
    assert 0.0 < heights[0] < 0.003  # 196 N on 30 cm^2 are 6.5 times the modulus
    assert heights[1] == pytest.approx(0.015 * 0.9, abs=0.2 * 0.0015)


@pytest.mark.parametrize("wrong", [{"power": 0.0}, {"power": 100.0}, {"core": 0.0}, {"core": 2.0}])
def test_wrong_numbers_are_refused(wrong):
    with pytest.raises(lp.LimpetError, match=next(iter(wrong))):
        lp.fields.sphere(0.05, 1e6, **wrong)
