"""Odd input at the edge of what is allowed: a finite answer, or one clear line."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from limpet.contact.law import KIND as CONTACT
from limpet.dynamics.motion import path
from limpet.errors import LimpetError
from limpet.fem.elements import ELEMENTS
from limpet.fem.elements.block import cell_block
from limpet.fem.elements.corotational import assemble
from limpet.fem.soft_body import Material, SoftBody
from limpet.geometry.surface import surface_topology
from limpet.shapes.boxes import box, soft_box
from limpet.shapes.cups import STANDARD, cup
from limpet.solver.gauss_seidel import GaussSeidelSettings, solve_by_sweeps
from limpet.solver.newton import NewtonSettings, solve_by_newton
from limpet.solver.problem import Problem


@pytest.mark.parametrize("stretches", [(1, 1, -1), (2, 1, -1), (1, 0, 0), (0, 0, 0)], ids=str)
def test_mirrored_and_collapsed_cells_answer_with_finite_numbers(stretches):
    rest = 0.01 * ELEMENTS["tet4"].cell.nodes
    b = cell_block(ELEMENTS["tet4"], rest, np.arange(4)[None])
    force, values = np.zeros((4, 3)), np.zeros((16, 3, 3))
    slots = np.arange(16, dtype=np.int32).reshape(1, 4, 4)
    assemble(b, rest * stretches, slots, 1e6, 1e6,
             force, values)  # fmt: skip
    assert np.isfinite(force).all()
    assert np.isfinite(values).all()


@pytest.mark.parametrize("divisions", [(1, 1, 4), (1, 1, 10)])
def test_a_bar_one_cell_thick_hangs_still(divisions):
    shape = soft_box(0.01, 0.01, 0.1, divisions)
    body = SoftBody("bar", shape, Material(4e6, 0.3), 0.01, driven=shape.region("top"))
    for step in range(300):
        body.compute_free_velocity(0.01, np.array([0.0, 0.0, -9.81]), step * 0.01)
        body.advance(0.01)
    sag = (shape.points - body.node_positions())[shape.region("bottom"), 2].mean()
    assert sag == pytest.approx(1.226e-5, rel=0.02)


def problem_with_nan():
    data = np.array([[0.5, 0, 0, 0]])
    free = np.array([np.nan, 0.0, 0.0])
    return Problem(np.eye(3), np.zeros(3), free, np.array([CONTACT], np.int32),
                   np.array([0, 3], np.int32), data, 0.01)  # fmt: skip


def test_nan_is_not_a_solution():
    p = problem_with_nan()
    assert not solve_by_newton(p, np.zeros(3), NewtonSettings()).converged
    assert not solve_by_sweeps(p, np.zeros(3), GaussSeidelSettings()).converged


def test_sweeps_at_their_default_tolerance_solve_a_doubled_contact():
    w = np.tile(0.2 * np.eye(3), (2, 2))
    p = Problem(w, 1e-5 * w.diagonal(), np.tile([-0.1, 0.02, 0.0], 2), np.zeros(2, np.int32),
                np.array([0, 3, 6], np.int32), np.full((2, 4), 0.3), 0.01)  # fmt: skip
    assert solve_by_sweeps(p, np.zeros(6), GaussSeidelSettings()).converged


@pytest.mark.parametrize("sweeps", [1, 25])
def test_no_more_sweeps_than_asked_for(sweeps):
    rng = np.random.default_rng(0)
    g = rng.normal(size=(60, 60))
    p = Problem(g @ g.T, np.zeros(60), rng.normal(size=60), np.zeros(20, np.int32),
                np.arange(0, 61, 3).astype(np.int32), np.full((20, 4), 0.5), 0.01)  # fmt: skip
    assert solve_by_sweeps(p, np.zeros(60), GaussSeidelSettings(1e-14, sweeps)).sweeps == sweeps


def test_sectors_alone_are_refused():
    with pytest.raises(LimpetError, match="give both"):
        cup(sectors=16)


@pytest.mark.parametrize(("element", "nodes"), [("hex20", 150), ("hex20", 200), ("hex20", 50000),
                                                ("tet4", 6000)])  # fmt: skip
def test_a_budget_that_cannot_be_met_is_refused(element, nodes):
    try:
        shape = cup(element=element, nodes=nodes)
    except LimpetError:
        return
    assert abs(len(shape.points) / nodes - 1.0) < 0.12


@pytest.mark.parametrize(
    ("sectors", "segments", "element"),
    [(2, 4, "hex20"), (8, 1, "hex20"), (8, 2, "hex20"), (0, 4, "hex20"), (17, 6, "tet4")],
)
def test_sectors_and_segments_build_a_closed_cup_or_are_refused_by_name(sectors, segments, element):
    try:
        shape = cup(sectors=sectors, segments=segments, element=element)
    except LimpetError as error:
        assert "sectors" in str(error) or "segments" in str(error)
        return
    surface_topology(shape.collision.triangles, shape.collision.n_vertices)


@pytest.mark.parametrize("stations", [
    [(np.nan, 0.0)], [(0.0, np.inf)], [(0.0, 0.0), (1.0, (1.0, 2.0))]])  # fmt: skip
def test_paths_with_wrong_stations_are_refused(stations):
    with pytest.raises(LimpetError):
        path(stations)


@pytest.mark.parametrize("dome", [0.0, -1.0, np.nan])
def test_dome_is_checked(dome):
    with pytest.raises(LimpetError, match="dome"):
        cup(replace(STANDARD, dome=dome))


def test_a_stem_of_no_height_is_refused():
    with pytest.raises(LimpetError, match="height"):
        cup(replace(STANDARD, height=6.5e-3))  # depth 4.5 mm + hub 2.0 mm


def test_negative_indices_are_named():
    shape = box(1, 1, 1)
    triangles = shape.triangles.copy()
    triangles[0, 0] = -1
    with pytest.raises(LimpetError, match="-1"):
        surface_topology(triangles, 8)
