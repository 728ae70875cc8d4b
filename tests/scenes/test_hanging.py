"""Bodies that hang, as in paper M: they sag as far as they should, and keep their volume."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.errors import LimpetError
from limpet.fem.material import Material
from limpet.model.world import World
from limpet.scenes.registry import load
from limpet.shapes.beams import cantilever


def probes(scene_name: str, steps: int, **parameters: object) -> list[dict[str, float]]:
    scene = load(scene_name, parameters)
    simulation = scene.simulation()
    return [simulation.probes(), *(simulation.step().probes for _ in range(steps))]


def test_linear_tets_lock_and_say_so() -> None:
    with pytest.warns(UserWarning, match="element 'tet4' of 'beam' locks at poisson = 0.499"):
        steps = probes("cantilever", 100, damping="0.02 s", element="tet4", poisson=0.499)
    assert -steps[-1]["tip_z"] == pytest.approx(2.08e-3, rel=0.02)


@pytest.mark.parametrize("element", ["tet4", "iicr11"])
def test_a_swinging_bunny_keeps_its_volume(element) -> None:
    steps = probes("bunny-swing", 60, element=element, nodes=120)
    volume = np.array([s["bunny_volume"] for s in steps])
    assert np.abs(volume - 1.0).max() < 0.02
    assert min(s["tail_z"] for s in steps) < steps[0]["tail_z"] - 0.02  # it does swing


def test_a_bunny_of_linear_elasticity_swells() -> None:
    steps = probes("bunny-swing", 60, element="tet4", law="linear", nodes=120)
    assert max(s["bunny_volume"] for s in steps) > 1.2


def test_an_almost_incompressible_spine_sags_unless_it_locks() -> None:
    sag = {}
    for element in ("tet4", "iicr11", "iicr21"):
        steps = probes("spine", 60, element=element, vertebrae=5, damping="0.02 s")
        sag[element] = steps[0]["middle_z"] - steps[-1]["middle_z"]
        assert abs(steps[-1]["spine_volume"] - 1.0) < 0.005
    assert sag["tet4"] < 0.3 * sag["iicr21"], sag
    assert sag["iicr11"] > 2.0 * sag["tet4"], sag


def test_what_is_watched_starts_where_it_was_put() -> None:
    scene = load("cantilever", {})
    simulation = scene.simulation()
    now = simulation.probes()
    assert list(now) == scene.world.probe_columns() == ["tip_x", "tip_y", "tip_z", "beam_volume"]
    np.testing.assert_allclose([now[k] for k in list(now)[:3]], [0.1, 0.0, 0.0], atol=1e-12)
    assert now["beam_volume"] == pytest.approx(1.0, rel=1e-12)


def test_wrong_watches_are_refused() -> None:
    world = World()
    beam = world.add_soft(cantilever(element="tet4"), Material(1e6, 0.3), 0.01, name="beam")
    world.add_probe("tip", beam["tip"])
    with pytest.raises(LimpetError, match="add_probe 'tip': that name is taken"):
        world.add_probe("tip", beam["tip"])
    with pytest.raises(LimpetError, match="add_probe 'the tip': expected a name of letters"):
        world.add_probe("the tip", beam["tip"])
    with pytest.raises(LimpetError, match="add_probe 'end': expected a rigid body or a region"):
        world.add_probe("end", beam)
    with pytest.raises(LimpetError, match="add_probe 'end': there is no body 'beam'"):
        World().add_probe("end", beam["tip"])
