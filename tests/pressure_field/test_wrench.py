"""Moments, friction over a patch, dissipation, depth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from limpet.errors import LimpetError
from limpet.pressure_field.fields import half_space, pressure_field, rigid_surface
from limpet.pressure_field.primitives import box, cylinder
from limpet.pressure_field.surface import contact_surface
from limpet.pressure_field.wrench import (
    FrictionModel,
    area,
    softness,
    with_smooth_gradients,
    wrench,
)
from limpet.shapes.boxes import box as surface_box

from .kit import HERE, ball, brick, pose, rigid_ball, rod

FLOOR = half_space((0.0, 0.0, 1.0), 0.0)


def test_moment_of_a_linear_pressure_is_exact():
    """A tilted compliant floor under a rigid box: compare the second moments of its base."""
    field = pressure_field(box(0.4, 0.4, 0.1), 1e6)  # top at 0.05, 2e7 Pa/m
    shape = surface_box(0.06, 0.08, 0.04)
    one = rigid_surface(shape.points - [0.0, 0.0, shape.points[:, 2].min()], shape.triangles)
    tilt = 0.05
    there = pose((0.0, tilt, 0.0), (0.0, 0.0, 0.045))
    found = wrench(contact_surface(one, there, field, HERE), there[1])
    # on the base p = g (depth + x sin tilt); its moment about y is -int p x, sides add their own
    base = -2e7 * np.sin(tilt) * 0.08 * 0.06**3 / 12.0
    surface = contact_surface(one, there, field, HERE)
    down = surface.area @ there[0][:, 2] > 0.9 * np.linalg.norm(surface.area, axis=1)
    kept = np.flatnonzero(down)
    corners = [np.arange(surface.start[k], surface.start[k + 1]) for k in kept]
    bottom = replace(
        surface, area=surface.area[kept], centroid=surface.centroid[kept],
        pressure=surface.pressure[kept], gradient_a=surface.gradient_a[kept],
        gradient_b=surface.gradient_b[kept], cells=surface.cells[kept],
        start=np.cumsum([0, *map(len, corners)]).astype(np.int32),
        corners=surface.corners[np.concatenate(corners)],
        corner_pressure=surface.corner_pressure[np.concatenate(corners)],
    )  # fmt: skip
    assert wrench(bottom, there[1]).moment == pytest.approx([0.0, base, 0.0], rel=1e-9, abs=1e-9)
    assert found.force[2] > 0.0


def test_friction_resists_sliding_and_turning():
    """A disc pressed flat: mu p A against sliding, 2/3 mu p A R against turning about its axis."""
    sides = round(2 * np.pi * 0.05 / 0.002)
    disc = pressure_field(cylinder(0.05, 0.04, 0.002), 1e6)
    there = pose(place=(0.0, 0.0, 0.018))
    surface = contact_surface(disc, there, FLOOR, HERE)
    pressed = wrench(surface, there[1]).force[2]
    law = FrictionModel(friction=0.4, slip_speed=1e-6)
    slid = wrench(surface, np.zeros(3), velocity=(0.3, 0.0, 0.0), law=law)
    assert slid.force == pytest.approx([-0.4 * pressed, 0.0, pressed], rel=1e-9, abs=1e-9)
    # the pressure of a pressed disc is 2 mm deep all over but for a bevelled rim 2 mm wide
    turned = wrench(surface, np.zeros(3), spin=(0.0, 0.0, 3.0), law=law).moment[2]
    r = np.linalg.norm(surface.centroid[:, :2], axis=1)
    points, pressure, fans = surface.triangles()
    x = points[fans]
    size = 0.5 * np.linalg.norm(np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0]), axis=1)
    middle = np.linalg.norm(x[:, :, :2].mean(axis=1), axis=1)
    assert sides > 150 and r.max() < 0.05
    radii = np.linspace(0.0, 0.05, 20001)
    rate = 1e6 / 0.02 * np.minimum(0.002, 0.05 - radii)
    exact = -0.4 * 2 * np.pi * np.trapezoid(rate * radii**2, radii)
    assert turned == pytest.approx(exact, rel=2e-3)
    assert (0.4 * size * pressure[fans].mean(axis=1) * middle).sum() == pytest.approx(
        -turned, rel=0.05
    )


def test_friction_is_regularised():
    surface = contact_surface(rod(), pose(place=(0.0, 0.0, 0.045)), FLOOR, HERE)
    law = FrictionModel(friction=0.5, slip_speed=1e-3)
    pressed = wrench(surface, np.zeros(3)).force[2]
    at = [
        wrench(surface, np.zeros(3), velocity=(v, 0, 0), law=law).force[0] for v in (0.0, 1e-3, 1.0)
    ]
    assert at == pytest.approx(
        [0.0, -0.5 * pressed / np.sqrt(2), -0.5 * pressed], rel=1e-6, abs=1e-9
    )


@pytest.mark.parametrize("rigid", [True, False])
def test_dissipation_is_the_rate_of_the_extent(rigid):
    """Hunt and Crossley on a flat box: pressure times (1 + chi times the rate of the extents)."""
    one, thick = pressure_field(box(0.1, 0.1, 0.04), 1e6), 0.05
    floor = FLOOR if rigid else half_space((0.0, 0.0, 1.0), 0.0, 4e6, thick)
    there = pose(place=(0.0, 0.0, 0.018))
    surface = contact_surface(one, there, floor, HERE)
    rest, speed, chi = wrench(surface, np.zeros(3)).force[2], 0.02, 0.3
    soft = softness(one, floor)
    assert soft == pytest.approx(1e-6 if rigid else 1.25e-6)
    flat = surface.gradient_a[:, 2] > 0.5 * np.linalg.norm(surface.gradient_a, axis=1)
    g, other = 1e6 / 0.02, np.inf if rigid else 4e6 / thick
    rise = 1.0 / (1.0 / g + 1.0 / other)  # [Pa/m] where the surface is flat
    law = FrictionModel(dissipation=chi)
    down = wrench(surface, np.zeros(3), velocity=(0, 0, -speed), law=law, softness=soft).force[2]
    up = wrench(surface, np.zeros(3), velocity=(0, 0, speed), law=law, softness=soft).force[2]
    share = (surface.pressure * surface.area[:, 2])[flat].sum() / rest
    assert share > 0.9
    gained = (down / rest - 1.0) / (chi * soft * rise * speed)
    # beside the edges a's gradient lies along a rigid floor; a soft one gives way there by itself
    assert gained == pytest.approx(share, rel=1e-9) if rigid else share < gained < 1.0
    assert down - rest == pytest.approx(rest - up)
    away = wrench(surface, np.zeros(3), velocity=(0, 0, 1e6), law=law, softness=soft)
    # clamped, it never pulls; what has no rate stays
    assert away.force[2] == pytest.approx((1.0 - share) * rest if rigid else 0.0, abs=1e-9 * rest)


def test_smooth_gradients_agree_where_the_field_is_linear():
    one, two = ball(), brick()
    there = pose((0.3, 0.2, 0.1), (0.003, 0.024, 0.085))
    surface = contact_surface(one, there, two, HERE)
    smooth = with_smooth_gradients(surface, one, there, two, HERE)
    cosine = np.einsum("ij,ij->i", smooth.gradient_a, surface.gradient_a) / (
        np.linalg.norm(smooth.gradient_a, axis=1) * np.linalg.norm(surface.gradient_a, axis=1)
    )
    assert cosine.min() > 0.9
    # a point of a's mesh that is a vertex has that vertex's own gradient
    vertex = one.tets[surface.cells[:, 0], 1]
    at = replace(surface, centroid=one.points[vertex] @ there[0].T + there[1])
    moved = with_smooth_gradients(at, one, there, two, HERE).gradient_a
    assert moved == pytest.approx(one.smooth_gradient[vertex] @ there[0].T, rel=1e-6, abs=1.0)


def test_loaded_area_leaves_out_what_carries_nothing():
    """A rigid ball in a box, half of whose tets have no pressure."""
    points, tets, extent = box(0.1, 0.1, 0.1)
    corner = np.array(
        [[0.05, 0.05, 0.05], [0.05, 0.05, -0.05], [0.05, -0.05, 0.05], [0.4, 0.0, 0.0]]
    )
    solid = (
        np.vstack([points, corner]),
        np.vstack([tets, [[9, 11, 10, 12]]]),
        np.append(extent, np.zeros(4)),
    )
    field = pressure_field(solid, 1e6)
    surface = contact_surface(rigid_ball(2, 0.02), pose(place=(0.055, 0.01, 0.01)), field, HERE)
    whole, loaded = area(surface)
    assert 0.1 * whole < loaded < 0.9 * whole


def test_wrong_laws_are_named():
    with pytest.raises(LimpetError, match="friction = -1"):
        FrictionModel(friction=-1.0)
    with pytest.raises(LimpetError, match="slip_speed = 0"):
        FrictionModel(slip_speed=0.0)
