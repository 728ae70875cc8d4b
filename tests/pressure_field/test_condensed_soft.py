"""Soft bodies condensed onto some of their nodes say the same of rows as they do themselves."""

from __future__ import annotations

import numpy as np
import pytest

import limpet as lp
from limpet.fem.attachments import AttachedBodies
from limpet.fem.soft_body import SoftBody
from limpet.linalg.reduced_compliance import join
from limpet.linalg.rows import Rows
from limpet.pressure_field.condensed_soft import CondensedSoft


def bodies(carried: bool) -> SoftBody | AttachedBodies:
    world = lp.World()
    shape = lp.shapes.soft_box(0.04, 0.04, 0.02, (2, 2, 2), element="hex8")
    pad = world.add_soft(
        shape, lp.Material(1e5, 0.3), 0.1, name="pad", field=lp.fields.layer(1e5)
    )  # fmt: skip
    if carried:
        plate = world.add_rigid(lp.shapes.box(0.04, 0.04, 0.01), 0.2, position=(0.0, 0.0, 0.01))
        world.attach(pad["top"], plate)
    (body,) = lp.Simulation(world).model.bodies
    assert isinstance(body, SoftBody | AttachedBodies)
    return body


def some_rows(points, count, rng):
    point = rng.choice(points, 3 * count).astype(np.int32)
    return Rows(3 * np.arange(count + 1, dtype=np.int32), point, rng.normal(size=(3 * count, 3)))


@pytest.mark.parametrize("carried", [False, True])
def test_rows_have_the_same_compliance(carried):
    rng = np.random.default_rng(0)
    body = bodies(carried)
    whole = CondensedSoft(body)
    whole.compute_free_velocity(0.01, np.array([0.0, 0.0, -9.81]), 0.0)
    soft = next(m for m in body.members if isinstance(m, SoftBody))
    first = sum(m.n_points for m in body.members[: list(body.members).index(soft)])
    low = np.flatnonzero(soft.positions()[:, 2] < -0.015)
    markers = first + low[low >= soft.field_markers][:9]
    markers = markers[: 9 if carried else 5]
    whole.select(markers)
    mass, mobility = whole.condensed_mass(), whole.condensed_mobility()
    np.testing.assert_allclose(mass @ mobility, np.eye(len(mass)), atol=1e-9)
    rows = some_rows(np.arange(body.n_points), 12, rng)
    parts, over = whole.split_compliance(rows)
    found = join(list(parts), len(rows), 1.0).dense() + over @ mobility @ over.T
    expected = join(list(body.compliance(rows)), len(rows), 1.0).dense()
    np.testing.assert_allclose(found, expected, atol=1e-10 * np.abs(expected).max())


def test_an_impulse_on_its_nodes_moves_it_by_its_mobility():
    rng = np.random.default_rng(1)
    body = bodies(carried=True)
    whole = CondensedSoft(body)
    whole.compute_free_velocity(0.01, np.zeros(3), 0.0)
    soft = next(m for m in body.members if isinstance(m, SoftBody))
    first = sum(m.n_points for m in body.members[: list(body.members).index(soft)])
    markers = first + soft.field_markers + np.flatnonzero(
        soft.positions()[soft.field_markers :, 2] < -0.015
    )  # fmt: skip
    whole.select(markers[:4])
    before = whole.condensed_velocity()
    impulse = np.zeros((body.n_points, 3))
    impulse[markers[:4]] = rng.normal(size=(4, 3))
    whole.apply_impulse(impulse)
    generalised = np.concatenate([np.zeros(whole.n_carried), impulse[markers[:4]].ravel()])
    expected = before + whole.condensed_mobility() @ generalised
    np.testing.assert_allclose(whole.condensed_velocity(), expected, atol=1e-10)
