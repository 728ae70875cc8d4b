"""A cup from an STL in millimetres seals, holds, and drives through `limpet run`'s own path."""

from __future__ import annotations

from limpet.meshing.export import save_mesh
from limpet.record.run import record_run
from limpet.scenes.registry import load, read_scene_file
from limpet.shapes.cups import cup

TEXT = """
scene = "ground"
[parameters]
h = "20 ms"
push_time = "0.2 s"
hold = "0.06 s"
speed = "10 mm/s"
duration = "0.6 s"
[cup]
mesh = "mycup.stl"
unit = "mm"
nodes = 1000
"""


def test_a_cup_from_an_stl_holds(tmp_path):
    save_mesh(cup("standard", sectors=24, segments=12), tmp_path / "mycup.stl", "mm")
    (tmp_path / "mycup.toml").write_text(TEXT)
    scene = load(*read_scene_file(tmp_path / "mycup.toml"))
    simulation = scene.simulation()
    recorded = record_run(scene, simulation, tmp_path / "run", plots=False)
    assert recorded.ended == "finished"
    assert recorded.converged_steps == recorded.steps
    # The dome holds some 375 mm^3 when it is pressed on: pulled up by 3.4 mm the air is thinned.
    assert recorded.peak_pull_force > 8.0
    assert recorded.min_pressure < 85e3
