"""What `repr` and notebooks show of a world and a simulation."""

from __future__ import annotations

import limpet as lp


def gripped() -> lp.World:
    world = lp.World()
    cup = world.add_soft(lp.shapes.cup("standard", nodes=300), lp.Material(1e6, 0.45), 0.02)
    world.add_rigid(lp.shapes.box(0.1, 0.05, 0.02), 0.3, name="<part>")
    floor = lp.shapes.box(0.3, 0.3, 0.01)
    world.add_rigid(floor, 1.0, name="floor", position=(0, 0, -0.02), fixed=True)
    world.prescribe_motion(cup["top"], lp.motion.path([(0.0, 0.0), (1.0, -1e-3)]))
    world.connect(cup, lp.Pump("20 l/min", "85 kPa"))
    return world


def test_a_world_lists_its_bodies() -> None:
    assert repr(lp.World()) == "World without bodies"
    head, columns, cup, part, floor = repr(gripped()).splitlines()
    assert head == "World" and columns.split() == [
        "body", "kind", "size", "mass", "motion", "vacuum", "line",
    ]  # fmt: skip
    assert "soft" in cup and "nodes" in cup and cup.endswith("prescribed  Pump")
    assert "100 x 50 x 20 mm" in part and "300 g" in part and part.endswith("free")
    assert floor.endswith("fixed")


def test_a_notebook_gets_a_table_that_is_escaped() -> None:
    world = gripped()
    page = world._repr_html_()
    assert page.count("<tr>") == 4 and "&lt;part&gt;" in page and "<part>" not in page
    simulation = lp.Simulation(world)
    assert simulation._repr_html_().endswith(page)
    assert repr(simulation).startswith("Simulation at 0 s, step 0 of 0.01 s\nWorld\n")
