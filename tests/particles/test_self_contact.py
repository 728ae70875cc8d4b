"""Sheets that touch themselves: nothing passes through."""

from __future__ import annotations

import numpy as np
import pytest

from limpet.contact.crossings import count_crossings
from limpet.contact.friction import FrictionTable
from limpet.contact.primitives import half_space
from limpet.particles.mass_spring import MassSpring
from limpet.particles.meshes import cloth, grid_edges
from limpet.particles.model import ParticleModel
from limpet.particles.settings import ParticleSolverSettings
from limpet.particles.system import ParticleSystem
from limpet.rigid.rigid_body import RigidBody
from limpet.shapes.boxes import box


def crossings(x, triangles, edges):
    """How many edges go through triangles that they share no node with, by brute force."""
    p, q = x[edges[:, 0]], x[edges[:, 1]]
    a, b, c = (x[triangles[:, k]] for k in range(3))
    n = np.cross(b - a, c - a)
    start = np.einsum("eti,ti->et", p[:, None] - a[None], n)
    end = np.einsum("eti,ti->et", q[:, None] - a[None], n)
    shared = (edges[:, :, None, None] == triangles[None, None]).any(axis=(1, 3))
    e, t = np.nonzero((start * end < 0.0) & ~shared)
    s = start[e, t] / (start[e, t] - end[e, t])
    r = p[e] + s[:, None] * (q - p)[e]
    inside = np.ones(len(e), bool)
    for u, v in ((a, b), (b, c), (c, a)):
        inside &= np.einsum("ki,ki->k", np.cross(v[t] - u[t], r - u[t]), n[t]) > 0.0
    return int(inside.sum())


def folded(itself, h, n=12, side=0.4, bend=0.01, fall=0.02):
    """A sheet folded in two round a bend of that radius, over the ground."""
    plan = ParticleSolverSettings(sweeps=2, max_sweeps=20, substeps=2, warm_start=0.95)
    model = ParticleModel(FrictionTable(0.3), plan)
    mesh = cloth(side, side, (n, n))
    x, flat = mesh.points.copy(), np.abs(mesh.points[:, 0]) - 0.5 * np.pi * bend
    angle = np.clip(mesh.points[:, 0] / bend, -0.5 * np.pi, 0.5 * np.pi)
    x[:, 0] = np.where(flat > 0.0, -flat, bend * np.cos(angle))
    x[:, 2] = bend * np.sin(angle) + bend + fall
    sheet = MassSpring("sheet", mesh, 0.05, stiffness=0.05 / len(x), mass_damping=2.0)
    sheet.x = x
    model.add(sheet, 1e-3, self_collision=itself)
    model.add_inextensible_edges(sheet, grid_edges(mesh, (n, n)))
    model.add_bending(sheet, stiffness=1e-5, damping=1e-6)
    model.add_rigid(RigidBody("ground", box(2.0, 2.0, 0.1), 1.0, fixed=True), half_space(0.05))
    return ParticleSystem(model, h), sheet


@pytest.mark.parametrize("h", [0.01, 0.02])
def test_a_folded_sheet_falls_on_itself_and_stays_untangled(h):
    """Its lower half is stopped by the ground while the upper one falls on."""
    world, sheet = folded(True, h)
    for report in world.run(2.0):
        assert crossings(sheet.x, sheet.mesh.triangles, sheet.mesh.edges) == 0
        assert report.crossings == 0
    assert sheet.x[:, 2].max() < 0.015  # it has come down


def test_without_touching_itself_it_would_tangle():
    world, sheet = folded(False, 0.02)
    for _ in world.run(0.4):
        pass
    # layers that lie on the ground are in one plane: crossings there are a matter of round-off
    x = sheet.x + 1e-6 * np.random.default_rng(0).normal(size=sheet.x.shape)
    found = crossings(x, sheet.mesh.triangles, sheet.mesh.edges)
    assert found > 20
    assert count_crossings(x, sheet.mesh.triangles) == found
