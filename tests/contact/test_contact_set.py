"""A step is solved for the contacts that are about to touch; the answer is that of all of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import limpet as lp
from limpet.contact.contact_set import ContactSet
from limpet.contact.contacts import EDGE_EDGE, Contacts
from limpet.contact.detect import collider
from limpet.geometry.surface import surface_topology
from limpet.scenes.registry import load


def run(every: bool) -> list[lp.StepReport]:
    changes = {"push_time": "0.2 s", "hold": "0.1 s", "h": "20 ms", "sectors": 10, "segments": 4}
    scene = load("lift", changes)
    return list(scene.simulation(use_all_contacts=every).run(1.0))


def test_fewer_rows_and_the_same_motion() -> None:
    few, all_ = run(False), run(True)
    assert sum(r.rows for r in few) < sum(r.rows for r in all_)
    for one, other in zip(few, all_):
        np.testing.assert_allclose(one.reactions["cup"], other.reactions["cup"], atol=1e-7)
        assert one.active_contacts == other.active_contacts


def test_contacts_that_nobody_expected_join_within_the_step(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    expected = run(False)
    none = lambda self, contacts, v, h: np.zeros(len(contacts), bool)  # noqa: E731
    monkeypatch.setattr(ContactSet, "predicted", none)
    for one, other in zip(run(False), expected):
        np.testing.assert_allclose(one.reactions["cup"], other.reactions["cup"], atol=1e-7)


def test_edges_of_a_flattened_surface_stay_in_contact_until_they_part() -> None:
    """The rim of a box over the diagonal of another one's flat top, which is no ridge."""
    low, high = lp.shapes.box(0.04, 0.04, 0.02), lp.shapes.box(0.02, 0.1, 0.02)
    bodies = []
    for shape in (high, low):
        bodies.append(collider(surface_topology(shape.triangles, len(shape.points)), shape.points))
    offset = np.array([0, len(high.points), len(high.points) + len(low.points)])
    contacts = ContactSet(bodies, [(0, 1)], np.ones(2, bool), offset, 1e-4, np.zeros((2, 2)))
    top = np.flatnonzero(np.isclose(low.points[:, 2], low.points[:, 2].max()))
    edges = bodies[1].surface.edges
    inside = np.isin(edges, top).all(axis=1)
    along = low.points[edges[:, 1]] - low.points[edges[:, 0]]
    (diagonal,) = edges[inside & (np.abs(along[:, :2]).min(axis=1) > 0.0)]
    bottom = high.points[:, 2].min()
    rim = np.flatnonzero((high.points[:, 0] < 0.0) & np.isclose(high.points[:, 2], bottom))

    def at(shift: tuple[float, float], gap: float) -> tuple[list[np.ndarray], Contacts]:
        lift = low.points[:, 2].max() - bottom + gap
        where = [high.points + np.array([*shift, lift]), low.points]
        last = Contacts.of_rows(
            0, 1, np.array([[EDGE_EDGE, *rim, rim[0], *diagonal, diagonal[0]]], np.int32),
            np.zeros((1, 10)), offset,
        )  # fmt: skip
        return where, last

    where, last = at((0.005, 0.0), 2e-5)
    x = np.concatenate(where)
    assert not last.among(contacts.find(x, np.zeros_like(x), 0.01)).any()
    kept = contacts.still_crossing(last, x)
    assert kept.gap == pytest.approx(2e-5)
    np.testing.assert_allclose(kept.normal, [[0.0, 0.0, 1.0]], atol=1e-12)
    for shift, gap in (((0.005, 0.0), 2e-4), ((0.035, 0.0), 2e-5)):  # too far; past the end
        where, last = at(shift, gap)
        assert len(contacts.still_crossing(last, np.concatenate(where))) == 0


def test_a_longer_step_looks_further_than_the_shorter_one_before() -> None:
    """After a step in parts the next whole one must not miss what it falls through."""
    world = lp.World()
    world.add_rigid(lp.shapes.box(0.02, 0.02, 0.02), 0.1, name="box", position=(0, 0, 0.05))
    world.add_rigid(lp.shapes.box(0.1, 0.1, 0.005), 1.0, name="plate", fixed=True)
    simulation = lp.Simulation(world, h=0.01)
    contacts = simulation.model.contacts
    assert contacts is not None
    now = simulation._context()
    now.v[: len(now.v) // 2, 2] = -4.0  # [m/s]: 40 mm in a step, more than box and plate measure
    assert len(contacts.near(replace(now, h=1e-3))) == 0
    assert len(contacts.near(now)) > 0


def test_trees_stand_where_a_step_begins_anew() -> None:
    """A step that is made in parts has looked where it would have ended."""
    world = lp.World()
    world.add_rigid(lp.shapes.box(0.02, 0.02, 0.02), 0.1, name="box", position=(0, 0, 0.05))
    world.add_rigid(lp.shapes.box(0.1, 0.1, 0.005), 1.0, name="plate", fixed=True)
    simulation = lp.Simulation(world, h=0.01)
    contacts = simulation.model.contacts
    assert contacts is not None
    now, half = simulation._context(), simulation._context(0.005)
    tree = contacts.colliders[0].shape.tree
    contacts.update(now)
    low = tree.lower[0].copy()
    up = np.array([0.0, 0.0, 0.03])
    away = now.x + up
    contacts.recheck(away, now.v)
    np.testing.assert_allclose(tree.lower[0], low + up)
    contacts.near(half)  # refused, so from the beginning
    np.testing.assert_allclose(tree.lower[0], low)
    contacts.update(half)
    contacts.recheck(away, now.v)
    contacts.accept(np.zeros(0), np.zeros(0))
    contacts.near(replace(half, x=away))
    np.testing.assert_allclose(tree.lower[0], low + up)
