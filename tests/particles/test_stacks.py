"""Towers and mass ratios: they stand, press on the ground with their weight, and do not sink."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.contact.primitives import block as block_primitive
from limpet.contact.primitives import half_space
from limpet.geometry.shape import RigidShape
from limpet.particles.model import ParticleModel
from limpet.particles.system import ParticleSystem
from limpet.rigid.rigid_body import RigidBody
from limpet.shapes.boxes import box

SIDE = 0.1  # [m]


def block(name, size, place, mass=1.0, **kind):
    shape = box(*size)
    return RigidBody(name, RigidShape("box", shape.points + place, shape.triangles), mass, **kind)


def tower(masses, h=0.01, primitive=False):
    model = ParticleModel()
    ground = model.add_rigid(
        block("ground", (4.0, 4.0, 0.1), (0, 0, 0), fixed=True),
        half_space(0.05) if primitive else None,
    )
    boxes = [
        model.add_rigid(
            block(f"box {i}", (SIDE, SIDE, SIDE), (0, 0, SIDE * (i + 1)), mass),
            block_primitive(SIDE, SIDE, SIDE) if primitive else None,
        )
        for i, mass in enumerate(masses)
    ]
    return ParticleSystem(model, h), ground, boxes


@pytest.mark.parametrize("primitive", [False, True])
@pytest.mark.parametrize("h", [0.01, 0.04])
@pytest.mark.parametrize("masses", [[1.0] * 8, [1.0, 1000.0], [1e-3, 1.0, 1e-3, 1.0]])
def test_a_tower_stands_and_presses_with_its_weight(masses, h, primitive):
    world, ground, boxes = tower(masses, h, primitive)
    for report in world.run(1.0):
        assert report.max_penetration < 1e-6
    for body in boxes:
        assert np.linalg.norm(body.centre - body.rest_centre) < 1e-5
    weight = 9.81 * (sum(masses) + ground.mass)
    assert ground.reaction(h)[2] == pytest.approx(weight, rel=1e-3)


@pytest.mark.parametrize("deep", [1e-3, 5e-3, 0.03])
def test_boxes_that_overlap_are_seen_and_part(deep):
    """Flush boxes, deeper than a step's search: their vertices lie on each other's sides."""
    world, _, (below, above) = tower([1.0, 100.0])
    above.centre = above.centre - np.array([0.0, 0.0, deep])
    assert world.step().max_penetration == pytest.approx(deep, rel=1e-9)
    for report in world.run(1.5):  # noqa: B007
        pass
    assert report.max_penetration < 1e-4
    assert above.centre[2] - below.centre[2] == pytest.approx(SIDE, abs=1e-4)
