"""Surfaces in hexahedra: bound where they are, no part forgotten; springs stiff enough."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from limpet.dynamics.motion import Path
from limpet.errors import LimpetError, MeshError
from limpet.fem.material import Material
from limpet.fem.soft_body import SoftBody
from limpet.fem.statics import static_equilibrium
from limpet.geometry.shape import boundary
from limpet.geometry.surface import volume, winding
from limpet.meshing.check import check_surface
from limpet.meshing.voxel_embedding import fill_ratio, wrap
from limpet.shapes.boxes import box
from limpet.shapes.springs import coil_spring


def ball(radius: float, n: int = 8) -> tuple[np.ndarray, np.ndarray]:
    cube = box(2.0, 2.0, 2.0, (n, n, n))
    x = cube.points + np.array([0.0, 0.0, 1.0])
    return radius * x / np.linalg.norm(x, axis=1)[:, None], cube.triangles


def hollow_ball(outer: float, inner: float) -> tuple[np.ndarray, np.ndarray]:
    (x, t), (y, u) = ball(outer), ball(inner)
    return np.concatenate([x, y]), np.concatenate([t, len(x) + u[:, ::-1]])


def cell_volume(shape) -> float:
    outside = boundary(shape.cells)
    return volume(outside.positions(shape.points), outside.triangles)


@settings(max_examples=15, deadline=None)
@given(
    size=st.floats(0.15, 1.2),
    stretch=st.tuples(*[st.floats(0.4, 2.0)] * 3),
    element=st.sampled_from(["hex8", "hex20"]),
)
def test_a_wrapped_ball_is_held_by_its_cells(size, stretch, element):
    x, t = ball(0.01)
    x = x * np.array(stretch)
    size *= 0.01 * min(stretch)
    shape = wrap(x, t, size, element)
    assert np.allclose(shape.visual.positions(shape.points), x, atol=1e-12)
    # inside the cells no weight of a hex8 is negative
    assert element == "hex20" or shape.visual.weights.min() > -1e-9
    turn = np.array([[0.0, -1.1, 0.2], [1.0, 0.1, 0.0], [0.3, 0.0, 0.9]])
    moved = shape.visual.positions(shape.points @ turn.T + 1.0)
    assert np.allclose(moved, x @ turn.T + 1.0, atol=1e-12)
    count = len(shape.cells[element])
    assert cell_volume(shape) == pytest.approx(count * size**3, rel=1e-9)
    assert fill_ratio(shape) == pytest.approx(volume(x, t) / (count * size**3), rel=1e-9)
    assert fill_ratio(shape) < 1.0


def test_voxels_are_those_that_hold_a_part_of_the_solid():
    """Against every voxel asked at 5 x 5 x 5 points of its own."""
    x, t = ball(0.01, 4)
    size = 0.0041
    shape = wrap(x, t, size)
    corners = shape.points[shape.cells["hex8"]]
    found = {tuple(c) for c in np.round(corners.mean(axis=1) / size, 6)}
    sample = (np.arange(5) + 0.5) / 5.0 - 0.5
    within = np.stack(np.meshgrid(sample, sample, sample, indexing="ij"), -1).reshape(-1, 3)
    places = np.stack(np.meshgrid(*[np.arange(-2, 3)] * 3, indexing="ij"), -1).reshape(-1, 3)
    for centre in places:  # five voxels in a row, the middle one at the origin
        if any(winding(x, t, size * (centre + w)) > 0.5 for w in within):
            assert tuple(centre) in found
    assert len(found) < len(places)


def test_a_box_of_whole_voxels_is_wrapped_without_excess():
    block = box(0.04, 0.03, 0.02)
    shape = wrap(block.points, block.triangles, 0.01, "hex20", "block")
    assert len(shape.cells["hex20"]) == 24
    assert fill_ratio(shape) == pytest.approx(1.0)
    assert np.allclose(shape.points[shape.regions["top"], 2], 0.0, atol=1e-12)
    assert len(shape.regions["bottom"]) == len(shape.regions["top"]) == 51


def test_a_void_inside_stays_empty():
    x, t = hollow_ball(0.02, 0.012)
    shape = wrap(x, t, 0.0025)
    whole = wrap(*ball(0.02), 0.0025)
    assert len(shape.cells["hex8"]) < len(whole.cells["hex8"]) - 50
    assert np.linalg.norm(shape.points, axis=1).min() > 0.012 - 2.0 * 0.0025


def test_a_coarser_surface_may_bear_the_contacts():
    fine, coarse = ball(0.01, 10), ball(0.0098, 4)
    shape = wrap(*fine, 0.004, collision=coarse)
    assert np.allclose(shape.collision.positions(shape.points), coarse[0], atol=1e-12)
    assert shape.visual.n_vertices == len(fine[0])
    with pytest.raises(MeshError, match="surface vertices are outside its cells"):
        wrap(*fine, 0.004, collision=ball(0.02, 4))


def test_a_coiled_wire_must_not_fuse():
    spring = coil_spring(turns=2.0)
    skin = spring.visual.positions(spring.points), spring.visual.triangles
    assert len(wrap(*skin, 0.0012).cells["hex8"]) > 500
    with pytest.raises(MeshError, match="its voxels connect separate parts"):
        wrap(*skin, 0.006)
    assert len(wrap(*skin, 0.006, joined=True).points) > 8


class Stretched(Path):
    """The upper half of what is held is raised."""

    def place(self, points, time):
        out = points.copy()
        out[points[:, 2] > points[:, 2].mean(), 2] += RAISED
        return out


RAISED = 1e-4  # [m]


def axial_stiffness(shape, young: float, poisson: float) -> float:
    """[N/m] between the two ends, held against turning."""
    ends = np.concatenate([shape.regions["bottom"], shape.regions["top"]])
    motion = Stretched(np.zeros(1), np.zeros((1, 3)))
    body = SoftBody("spring", shape, Material(young, poisson), 0.01, ends, motion)
    assert static_equilibrium(body, np.zeros(3)).converged
    force = body.fem.loads(body.x, body.p, 1.0).force[body.fem.new[shape.regions["top"]], 2]
    return -float(force.sum()) / RAISED


@pytest.mark.parametrize(
    "wishes, off",
    [
        ({}, 0.05),
        ({"per_turn": 16}, 0.02),
        ({"element": "hex8"}, 0.12),
        ({"wire": 0.003, "radius": 0.01, "turns": 2.5, "pitch": 0.012, "per_turn": 5}, 0.10),
    ],
)
def test_a_spring_is_as_stiff_as_the_helical_spring_formula_says(wishes, off):
    shape = coil_spring(**wishes)
    given = {"radius": 0.012, "wire": 0.002, "turns": 4.0, **wishes}
    young, poisson = 1e9, 0.3
    shear = young / (2.0 * (1.0 + poisson))
    formula = shear * given["wire"] ** 4 / (8.0 * (2.0 * given["radius"]) ** 3 * given["turns"])
    assert axial_stiffness(shape, young, poisson) == pytest.approx(formula, rel=off)


@pytest.mark.parametrize("element", [None, "hex8", "hex20p"])
@pytest.mark.parametrize(
    "radius, wire, pitch, turns", [(12, 2, 8, 4), (8, 1, 3, 6), (10, 3, 9, 1.5)]
)
def test_springs_are_sound(element, radius, wire, pitch, turns):
    shape = coil_spring(1e-3 * radius, 1e-3 * wire, 1e-3 * pitch, turns, element=element)
    for surface in (shape.collision, shape.visual):
        check_surface(surface.positions(shape.points), surface.triangles, "spring")
    body = SoftBody("spring", shape, Material(1e6, 0.45), 0.01)  # refuses inverted cells
    area = (0.75 * np.pi) ** 0.5 / 2.0 * wire**2  # of the square with a round wire's stiffness
    corner = 2.0 * np.pi / 16
    straight = np.sin(corner) / corner if element == "hex8" else 1.0  # a ring of 16 chords
    swept = area * 2.0 * np.pi * radius * (turns + 1.0) * straight
    assert body.fem.volume == pytest.approx(1e-9 * swept, rel=0.01)
    skin = shape.visual.positions(shape.points)
    assert skin[:, 2].min() == pytest.approx(0.0, abs=0.05e-3 * wire)
    assert skin[:, 2].max() == pytest.approx(1e-3 * (pitch * turns + wire), rel=0.02)
    low, high = shape.points[shape.regions["bottom"]], shape.points[shape.regions["top"]]
    assert low[:, 2].max() < 1.01e-3 * wire
    assert high[:, 2].min() > 1e-3 * (pitch * turns - 0.01 * wire)


@pytest.mark.parametrize(
    "make, says",
    [
        (lambda: coil_spring(wire=-1.0), "coil spring wire = -1"),
        (lambda: coil_spring(pitch=0.002), "coil spring pitch = 0.002 m: its coils touch"),
        (lambda: coil_spring(radius=0.001), "coil spring radius = 0.001 m: expected at least wire"),
        (lambda: coil_spring(ends=1.5), "coil spring ends = 1.5: expected a number between"),
        (lambda: coil_spring(element="tet4"), "coil spring element = 'tet4': expected hexahedra"),
        (lambda: coil_spring(per_turn=2), "coil spring per_turn = 2"),
        (lambda: wrap(*ball(0.01), 0.0), "wrapped size = 0 m"),
        (lambda: wrap(*ball(0.01), 1e-5), "wrapped size = 1e-05 m: 2000 x .* use a larger size"),
        (lambda: wrap(*ball(0.01), 0.004, "tet10", "pea"), "pea element = 'tet10'"),
        (lambda: wrap(ball(0.01)[0], ball(0.01)[1][1:], 0.004), "wrapped is open"),
    ],
)
def test_wrong_wishes_are_refused_in_one_line(make, says):
    with pytest.raises(LimpetError, match=says) as caught:
        make()
    assert "\n" not in str(caught.value)
