"""A rigid wave in a layer: the elements' force, the field's force, and both pressed flat."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.fem.elements import corotational, neo_hookean
from limpet.studies.reproduce.fig6_f import by_field, rigid_wave, slab_field
from limpet.studies.reproduce.wavy_layer import (
    HALF,
    LAM,
    LAWS,
    MU,
    OEDOMETER,
    Layer,
    confined,
    wave,
)


def energy(layer: Layer) -> float:
    x = layer.rest.copy()
    nz, nx, _ = layer.x.shape
    column = np.rint(x[:, 0] / HALF * (nx - 1)).astype(int)
    row = np.rint((x[:, 2] + 1.0) * (nz - 1)).astype(int)
    x[:, [0, 2]] = layer.x[row, column]
    if layer.law == "neo-hookean":
        return neo_hookean.energy(layer.block, x, MU, LAM)
    return corotational.energy(layer.block, x, MU, LAM)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("bonded", [False, True])
def test_pressed_flat_the_field_is_exact(law, bonded):
    layer, field, flat = Layer(law, bonded, (4, 4)), slab_field(law), rigid_wave(0.0)
    for depth in (0.1, 0.4):
        pressed = layer.press(0.0, depth)
        assert pressed.converged and pressed.touching == 1.0
        assert pressed.pressure == pytest.approx(float(confined(law, depth)), rel=1e-10)
        assert by_field(field, flat, depth) == pytest.approx(pressed.pressure, rel=1e-10)


def test_pressed_flat_a_little_every_law_has_the_oedometer_modulus():
    for law in LAWS:
        assert float(confined(law, 1e-6)) == pytest.approx(1e-6 * OEDOMETER, rel=1e-5)


@pytest.mark.parametrize("law", ["corotational", "neo-hookean"])
def test_the_force_of_the_wave_is_the_slope_of_the_energy(law):
    layer, step = Layer(law, True, (10, 8)), 2e-4
    for depth in (0.1, 0.2, 0.3 - step):
        layer.press(0.333, depth)
    low = energy(layer)
    middle = layer.press(0.333, 0.3)
    assert layer.press(0.333, 0.3 + step).converged
    slope = (energy(layer) - low) / (2.0 * step) / (HALF * layer.deep)
    assert middle.converged and 0.0 < middle.touching < 1.0
    assert middle.pressure == pytest.approx(slope, rel=1e-3)


def test_nothing_of_the_layer_is_inside_the_wave():
    layer = Layer("corotational", False, (12, 8))
    for depth in (0.15, 0.3):
        pressed = layer.press(0.333, depth)
    top = pressed.points[-1]
    gap = wave(0.333, 0.3, top[:, 0])[0] - top[:, 1]
    assert gap.min() > -1e-9
    assert (layer.load >= 0.0).all() and np.abs(gap[layer.load > 0.0]).max() < 1e-9


@pytest.mark.parametrize("law", ["linear", "neo-hookean"])
def test_the_field_under_a_wave_is_the_integral_of_its_pressure(law):
    """A rigid body in a field that depends on depth alone: the pressure at each place counts by
    the horizontal area."""
    x = np.linspace(0.0, HALF, 20001)
    depth = np.maximum(0.0, -wave(0.333, 0.4, x)[0])
    expected = np.trapezoid(confined(law, depth), x) / HALF
    assert by_field(slab_field(law), rigid_wave(0.333), 0.4) == pytest.approx(expected, rel=1e-4)
