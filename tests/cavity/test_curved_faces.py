"""Cavities bounded by the faces of quadratic elements, against these integrated by Gauss."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import limpet as lp
from limpet.cavity.drawn import drawn_triangles
from limpet.cavity.find.curved_mesh import Copies, Seams, Walls, curved_mesh, landed_again
from limpet.cavity.find.mesh_builder import nearest
from limpet.cavity.find.union_search import detect
from limpet.cavity.mesh import (
    CavityMesh,
    areas,
    positions,
    slip,
    volume,
    volume_and_gradient,
    with_support,
)
from limpet.contact.detect import collider
from limpet.contact.detect import detect as detect_contacts
from limpet.fem.surface_map import spread
from limpet.geometry.bvh import build_tree, closest_points
from limpet.geometry.cells import serendipity8, triangle6
from limpet.geometry.shape import outer_faces
from limpet.geometry.surface import volume as volume_of

GAP = 1e-5  # [m] of the lip over the block: closed to air
RADIUS = 17.5e-3


def _pressed(x):
    return x * [1.04, 1.04, 0.2]


def _pulled(x):
    return x * [0.9, 0.9, 1.9]


def _tilted(x):
    return np.column_stack([x[:, 0], x[:, 1], x[:, 2] * (1.0 + 0.6 * x[:, 0] / RADIUS)])


def _off_centre(x):
    return np.column_stack([x[:, 0] + 1.2 * x[:, 2], x[:, 1] - 0.5 * x[:, 2], x[:, 2]])


def _wrinkled(x):
    angle = np.arctan2(x[:, 1], x[:, 0])
    swell = 1.0 + 0.06 * np.cos(3.0 * angle)
    dent = 1.0 + 0.3 * np.cos(2.0 * angle) * np.hypot(x[:, 0], x[:, 1]) / RADIUS
    return np.column_stack([swell * x[:, 0], swell * x[:, 1], dent * x[:, 2]])


STATES = {
    "rest": lambda x: x, "pressed": _pressed, "pulled": _pulled, "tilted": _tilted,
    "off-centre": _off_centre, "wrinkled": _wrinkled,
}  # fmt: skip


class Stand:
    """A shape over a block, deformed at will; the lip stays in the plane z = 0."""

    def __init__(self, shape, faces="curved", underside="underside", block=None):
        world = lp.World()
        world.add_soft(shape, lp.Material(4e6, 0.45), 0.02, name="cup", position=(0, 0, GAP))
        block = block or lp.shapes.box(0.08, 0.08, 0.03)
        world.add_rigid(block, mass=0.2, name="block", fixed=True)
        self.model = lp.Simulation(world, h=0.01, settings=lp.Settings(cavity_faces=faces)).model
        self.shape, self.surface = shape, self.model.surface
        self.cup, self.block = self.model.members
        self.lower = set(shape.region(underside).tolist())

    def positions(self, deform=lambda x: x):
        """x (N, 3) of all points."""
        nodes = deform(self.shape.points) + np.array([0.0, 0.0, GAP])
        self.cup.x = nodes[self.cup.fem.order]
        return np.vstack([self.cup.positions(), self.block.positions()])

    def find(self, x) -> CavityMesh:
        cut = self.surface.offset[1]
        parts = [x[:cut], x[cut:]]
        surfaces = [next(iter(m.surfaces.values())) for m in (self.cup, self.block)]
        bodies = [collider(s, p) for s, p in zip(surfaces, parts)]
        contacts = detect_contacts(bodies, parts, [(0, 1)], 1e-4)
        (mesh,) = detect(self.surface, x, contacts, 5e-5).cavities
        return mesh

    def on_nodes(self, mesh, gradient):
        """(nodes, 3) the gradient on the cup's nodes."""
        by_point = np.zeros((self.surface.offset[-1], 3))
        by_point[mesh.support] = gradient
        b, out = self.cup.collision, np.zeros_like(self.cup.x)
        spread(b.start, b.nodes, b.weights, by_point[: self.surface.offset[1]], out)
        return out[self.cup.fem.new]

    def exact(self, deform):
        """Volume over z = 0 and gradient (nodes, 3), of the whole underside by Gauss."""
        x = deform(self.shape.points) + np.array([0.0, 0.0, GAP])
        v, gradient = 0.0, np.zeros_like(x)
        for name in self.shape.cells:
            for faces in outer_faces(name, self.shape.cells):
                lower = faces[np.isin(faces, list(self.lower)).all(axis=1)]
                n, ds, dt = _rule(faces.shape[1])
                u, w = (np.einsum("gn,fnk->fgk", d, x[lower]) for d in (ds, dt))
                area = -np.cross(u, w)
                v += np.sum(np.einsum("gn,fn->fg", n, x[lower][:, :, 2]) * area[:, :, 2])
                np.add.at(gradient, lower, np.einsum("gn,fgk->fnk", n, area))
        return v, gradient


@cache
def _rule(size, e=1e-6):
    """Shape functions (64, size) and their derivatives, times the root of the Gauss weights."""

    def f(s, t):
        if size == 8:
            return serendipity8(s, t)
        b = 0.5 * (1.0 + s)  # a triangle as a collapsed square
        return triangle6(b, 0.5 * (1.0 + t) * (1.0 - b))

    point, weight = np.polynomial.legendre.leggauss(8)
    root = np.sqrt(np.outer(weight, weight)).reshape(-1, 1)
    at = [(s, t) for s in point for t in point]
    n = np.array([f(s, t) for s, t in at])
    ds = np.array([(f(s + e, t) - f(s - e, t)) / (2 * e) for s, t in at])
    dt = np.array([(f(s, t + e) - f(s, t - e)) / (2 * e) for s, t in at])
    return n, root * ds, root * dt


@pytest.fixture(scope="module")
def standard():
    return Stand(lp.shapes.cup("standard"))


@pytest.mark.parametrize("state", STATES)
def test_volume_area_and_gradient_are_those_of_the_element_faces(standard, state):
    x = standard.positions(STATES[state])
    mesh = standard.find(x)
    v, gradient = volume_and_gradient(mesh, x)
    exact, exact_gradient = standard.exact(STATES[state])
    own = standard.on_nodes(mesh, gradient)
    assert v == pytest.approx(exact, rel=3e-4)
    area, exact_area = own.sum(axis=0), exact_gradient.sum(axis=0)
    assert np.linalg.norm(area) == pytest.approx(np.linalg.norm(exact_area), rel=1e-3)
    assert np.linalg.norm(own - exact_gradient) < 3e-3 * np.linalg.norm(exact_gradient)


def test_flat_faces_are_chords_of_the_element_faces(standard):
    flat = Stand(lp.shapes.cup("standard"), "flat")
    v = volume(flat.find(flat.positions()), flat.positions())
    exact, _ = standard.exact(lambda x: x)
    assert v * 1e9 == pytest.approx(2068.6, abs=0.5)  # of these 9.5 are the gap under the lip
    assert v / exact == pytest.approx(0.9517, abs=3e-4)


@pytest.mark.parametrize(
    "shape",
    [
        lp.shapes.cup("neoprene"), lp.shapes.cup("cast"), lp.shapes.cup("standard", nodes=816),
        lp.shapes.sucker(),
    ],
    ids=["neoprene", "cast", "816 nodes", "sucker"],
)  # fmt: skip
def test_other_cups(shape):
    stand = Stand(shape)
    for state in ("rest", "pressed", "tilted"):
        x = stand.positions(STATES[state])
        mesh = stand.find(x)
        v, gradient = volume_and_gradient(mesh, x)
        exact, exact_gradient = stand.exact(STATES[state])
        assert v == pytest.approx(exact, rel=1e-3)
        area = stand.on_nodes(mesh, gradient).sum(axis=0)
        wanted = exact_gradient.sum(axis=0)
        assert np.linalg.norm(area - wanted) < 2e-3 * np.linalg.norm(wanted)


@pytest.mark.parametrize("element", ["hex8", "tet4"])
def test_linear_elements_stay_flat(element):
    shape = lp.shapes.cup("standard", element=element)
    curved, flat = Stand(shape), Stand(shape, "flat")
    x = curved.positions(_tilted)
    assert curved.surface.patches is None
    assert volume(curved.find(x), x) == volume(flat.find(x), x)


def test_gradient_is_the_derivative_of_the_volume(standard):
    """Under any motion of the cup's nodes and of the block."""
    rng = np.random.default_rng(3)
    cut = standard.surface.offset[1]
    for state in STATES.values():
        mesh = standard.find(standard.positions(state))
        start = standard.cup.x + 2e-4 * rng.normal(size=standard.cup.x.shape)
        way, block_way = rng.normal(size=start.shape), rng.normal(size=3)

        def at(e, start=start, way=way, block_way=block_way):
            standard.cup.x = start + e * way
            return np.vstack([standard.cup.positions(), standard.block.positions() + e * block_way])

        _, gradient = volume_and_gradient(mesh, at(0.0))
        rate = (at(1e-3) - at(-1e-3)) / 2e-3
        e = 1e-6
        difference = (volume(mesh, at(e)) - volume(mesh, at(-e))) / (2 * e)
        assert mesh.support.min() < cut <= mesh.support.max()  # both bodies take part
        assert difference == pytest.approx(np.sum(gradient * rate[mesh.support]), rel=1e-6)


def test_a_closed_cavity_has_no_net_force_or_moment(standard):
    for state in STATES.values():
        x = standard.positions(state)
        mesh = standard.find(x)
        v, gradient = volume_and_gradient(mesh, x)
        size = np.abs(gradient).sum()
        moment = np.cross(x[mesh.support], gradient).sum(axis=0)
        assert np.abs(gradient.sum(axis=0)).max() < 1e-14 * size
        assert np.abs(moment).max() < 1e-14 * size * RADIUS
        assert volume(mesh, x + np.array([3.0, -2.0, 5.0])) == pytest.approx(v, rel=1e-9)


@pytest.mark.parametrize(
    "shape",
    [
        lp.shapes.cup("standard"), lp.shapes.cup("standard", element="tet10"), lp.shapes.sucker(),
        lp.shapes.soft_box(0.04, 0.03, 0.02, (3, 2, 2), element="hex20"),
    ],
    ids=["hex20", "tet10", "sucker", "box"],
)  # fmt: skip
def test_the_curved_surface_of_a_body_encloses_its_elements(shape):
    """All of a body's collision surface as one closed wall, at random nodes."""
    world = lp.World()
    world.add_soft(shape, lp.Material(4e6, 0.45), 0.02, name="body")
    world.add_rigid(lp.shapes.box(0.1, 0.1, 0.1), mass=1.0, fixed=True, position=(0, 0, -1))
    model = lp.Simulation(world, h=0.01, settings=lp.Settings(cavity_faces="curved")).model
    surface, body = model.surface, model.members[0]
    rng = np.random.default_rng(0)
    wave = rng.normal(size=(3, 3)) * 20.0
    body.x = body.x + 1e-3 * np.sin(body.x @ wave)
    x = np.vstack([m.positions() for m in model.members])
    own = np.arange(surface.face_offset[1])
    corners = surface.triangles[own]
    used, numbered = np.unique(corners, return_inverse=True)
    first = np.zeros(len(used), np.int64)
    first[numbered.ravel()] = np.repeat(own, 3)
    one = (surface.triangles[first] == used[:, None]).argmax(axis=1)
    copies = Copies(surface.body[used], first.astype(np.int32), np.eye(3)[one])
    none = np.zeros((0, 4), np.int32)
    seams = Seams(
        none, none[:, :2], np.zeros((0, 2), bool), np.full(len(used), -1, np.int32), none[:, :2]
    )
    numbered = numbered.reshape(-1, 3).astype(np.int32)
    walls = Walls(numbered, own.astype(np.int32), copies, seams, none[:, :2])
    made = curved_mesh(surface, x, walls, lambda bodies, points: (np.zeros(0, int), np.eye(3)[:0]))
    points, support, slot = with_support(made.points, made.weights)
    mesh = CavityMesh(
        made.triangles, np.ones(len(made.bridge)), made.bridge, surface.body[points[:, 0]], points,
        made.weights, support, slot, none[:, :2], used, used, used[:0], curved=made.curved,
        quads=made.quads,
    )  # fmt: skip
    v, gradient = volume_and_gradient(mesh, x)
    assert v == pytest.approx(body.fem.volume_of(body.x), rel=1e-4)
    assert np.abs(gradient.sum(axis=0)).max() < 1e-14 * np.abs(gradient).sum()


def test_the_floor_follows_a_lip_that_slides(standard):
    x = standard.positions()
    mesh = standard.find(x)
    slid = standard.positions(lambda nodes: nodes * [0.97, 0.97, 1.0])
    apart = areas(mesh, slid)[1] - mesh.bridged
    assert slip(mesh, x) < 1e-12 < slip(mesh, slid)
    cut = standard.surface.offset[1]
    tree = build_tree(slid[cut:], standard.surface.own_triangles[1])

    def closest(body, points):
        return closest_points(tree, slid[cut:], standard.surface.own_triangles[1], points, 1.0)[:2]

    again = landed_again(
        mesh, standard.surface, slid, lambda b, p: nearest(standard.surface, closest, b, p)
    )
    fresh = standard.find(slid)
    assert volume(again, slid) == pytest.approx(volume(fresh, slid), rel=1e-6)
    own = standard.on_nodes(again, volume_and_gradient(again, slid)[1]).sum(axis=0)
    wanted = standard.on_nodes(fresh, volume_and_gradient(fresh, slid)[1]).sum(axis=0)
    np.testing.assert_allclose(own, wanted, atol=1e-4 * np.abs(wanted).max())
    # what was slid still counts for the next search
    assert areas(again, slid)[1] - again.bridged == pytest.approx(apart, rel=1e-9)


def test_what_is_drawn_is_closed(standard):
    for state in STATES.values():
        x = standard.positions(state)
        mesh = standard.find(x)
        triangles = drawn_triangles(mesh)
        net = np.zeros((len(mesh.vertices),) * 2, dtype=int)
        for i in range(3):
            np.add.at(net, (triangles[:, i], triangles[:, (i + 1) % 3]), 1)
        assert np.array_equal(net, net.T)
        drawn = volume_of(positions(mesh, x), triangles)
        assert drawn == pytest.approx(volume(mesh, x), rel=0.04)  # facets are chords


def test_how_far_a_lip_slid_does_not_depend_on_the_axes():
    """The same slide in any direction is as far."""
    mesh = CavityMesh(
        *(np.zeros((0, 3), np.int32), np.zeros(0), np.zeros(0, bool)), np.array([0, 1], np.int32),
        np.array([[0, 0, 0], [1, 1, 1]], np.int32), np.tile([1.0, 0.0, 0.0], (2, 1)),
        np.array([0, 1], np.int32), np.array([[0, 0, 0], [1, 1, 1]], np.int32),
        np.zeros((0, 2), np.int32), *(np.zeros(0, np.int32) for _ in range(3)),
        under=np.array([[0, 1]], np.int32), offset=np.zeros((1, 3)),
    )  # fmt: skip
    for way in np.random.default_rng(2).normal(size=(5, 3)):
        x = np.vstack([np.zeros(3), 1e-4 * way / np.linalg.norm(way)])
        assert slip(mesh, x) == pytest.approx(1e-4, rel=1e-12)
