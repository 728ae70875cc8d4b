"""P section 5, 'Pick and Place': a cup on an arm picks an apple and leaves it in a box."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from limpet.bodies.arm import Arm, JointPath, six_joints
from limpet.bodies.material import Material
from limpet.geometry.cup import PROFILES, cup
from limpet.geometry.objects import apple, compartment_box, ring
from limpet.geometry.rotation import rotation_matrix
from limpet.geometry.shapes import Array, RigidShape, box
from limpet.scenes.registry import SceneParameters, scene
from limpet.units import Length, Mass, Positive, Pressure, Time
from limpet.world import World

CLEARANCE = 4e-3  # [m] between lip and apple at the start
BASE = (-0.32, 0.1, 0.0)  # [m] where the arm stands
BOX = (0.26, 0.26, 0.07)  # [m] of two by two cells
WALL = 4e-3  # [m]
BOX_AT = (0.0, 0.24)  # [m] x and y of its middle
DISH = (0.018, 0.026, 0.008)  # [m] the ring that keeps the apple from rolling


class PickAndPlaceParameters(SceneParameters):
    duration: Time = 8.0
    young: Positive[Pressure] = Field(4e6, description="Young's modulus of the cup")
    poisson: float = Field(0.45, gt=-1.0, le=0.5, description="Poisson's ratio of the cup")
    element: str | None = Field(None, description="element of the cup; chosen if not given")
    nodes: int = Field(434, gt=0, description="nodes of the cup's mesh, about")
    friction: float = Field(0.5, ge=0.0, description="between all bodies")
    apple_mass: Positive[Mass] = Field(0.15, description="mass of the apple")
    diameter: Positive[Length] = Field(0.07, ge=0.05, le=0.09, description="of the apple")
    push: Positive[Length] = Field(5e-3, description="how far the cup goes on once its lip touches")
    shove: Positive[Length] = Field(0.03, description="how far the apple is pushed into the wall")


@scene(
    "pick-and-place",
    "a cup on an arm picks an apple and leaves it in a box by pushing it on the wall",
    PickAndPlaceParameters,
    expect="the apple is carried into a cell of the box, let go at its wall, and stays there",
)
def pick_and_place(p: PickAndPlaceParameters) -> World:
    """A suction cup is fixed to the end effector of an articulated rigid arm.

    It is pressed on an apple, carries it over a compartmented box and lowers it into a cell. There
    the arm moves on sideways, so that the apple is pushed gently on the wall: the cup tilts, its
    lip opens, and the apple stays when the arm leaves.
    """
    fruit = apple(p.diameter)
    seat = _seat(fruit)
    top = float(fruit.points[:, 2].max()) + seat
    world = World(friction=p.friction)
    world.add_rigid(box(0.9, 0.9, 0.02), 5.0, name="table", fixed=True)
    world.add_rigid(ring(*DISH), 0.1, name="dish", fixed=True)
    world.add_rigid(
        compartment_box(*BOX, (2, 2), WALL), 0.5, name="box", position=(*BOX_AT, 0.0), fixed=True
    )
    body = world.add_rigid(fruit, p.apple_mass, name="apple", position=(0.0, 0.0, seat))
    lip = top + CLEARANCE
    soft = world.add_soft(
        cup("standard", element=p.element, nodes=p.nodes), Material(p.young, p.poisson), 0.020,
        name="cup", position=(0.0, 0.0, lip),
    )  # fmt: skip
    arm = six_joints(BASE, (0.0, 0.0, lip + PROFILES["standard"].height))
    route = _route(arm, p, top)
    world.drive(soft["top"], route.link(-1))
    for number, (name, link) in enumerate(_links(arm)):
        part = world.add_rigid(link, 1.0, name=name, collides=False)
        world.drive(part, route.link(number))
    world.watch("apple", body)
    return world


def _seat(fruit: RigidShape) -> float:
    """How far the apple is lifted off the table by the dish's inner edge [m]."""
    inner, _, height = DISH
    angle = np.linspace(0.0, 2.0 * np.pi, 97)
    edge = inner * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    lowest = min(_underside(fruit, at) for at in edge)
    return max(height - lowest, 0.0) + 1e-5


def _underside(fruit: RigidShape, at: Array) -> float:
    """The height of a surface's lowest point over `at` (x, y) [m]."""
    a, b, c = (fruit.points[fruit.triangles[:, k]] for k in range(3))
    u, v, w = (b - a)[:, :2], (c - a)[:, :2], at - a[:, :2]
    area = u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        s = (w[:, 0] * v[:, 1] - w[:, 1] * v[:, 0]) / area
        t = (u[:, 0] * w[:, 1] - u[:, 1] * w[:, 0]) / area
    hit = (s >= 0.0) & (t >= 0.0) & (s + t <= 1.0)
    return float((a[hit, 2] + s[hit] * (b - a)[hit, 2] + t[hit] * (c - a)[hit, 2]).min())


def _route(arm: Arm, p: PickAndPlaceParameters, top: float) -> JointPath:
    down = -(CLEARANCE + p.push)
    over = BOX[2] + 0.05
    cell_x, cell_y = BOX_AT[0] + 0.25 * BOX[0], BOX_AT[1] - 0.25 * BOX[1]
    low = down - DISH[2] + WALL + 0.006  # the apple hangs just over the cell's floor
    wall = cell_x + 0.25 * BOX[0] - WALL - 0.5 * p.diameter + p.shove
    stations = [
        (0.0, (0.0, 0.0, 0.0)),
        (0.8, (0.0, 0.0, down)),
        (1.0, (0.0, 0.0, down)),
        (2.2, (0.0, 0.0, over)),
        (3.6, (cell_x, cell_y, over)),
        (4.6, (cell_x, cell_y, low)),
        (6.2, (wall, cell_y, low)),
        (6.4, (wall, cell_y, low)),
        (7.2, (wall, cell_y, over)),
    ]
    return arm.follow(stations)


def _links(arm: Arm) -> list[tuple[str, RigidShape]]:
    """What is seen of the arm: a bar between each joint and the next."""
    ends = [*arm.origins, arm.tool + np.array([0.0, 0.0, 1e-3])]
    names = ("turntable", "upper arm", "forearm", "wrist", "hand", "flange")
    pairs = [(0, 1), (1, 2), (2, 3), (3, 3), (3, 5), (5, 5)]
    return [
        (name, _bar(ends[a], ends[b], width))
        for name, (a, b), width in zip(names, pairs, (0.06, 0.045, 0.035, 0.04, 0.022, 0.03))
    ]


def _bar(one: Array, two: Array, width: float) -> RigidShape:
    """A square bar from one point to another, or a block round a point."""
    along = two - one
    length = float(np.linalg.norm(along))
    if length < width:
        block = box(width, width, width)
        return RigidShape("bar", block.points + one + [0, 0, 0.5 * width], block.triangles)
    bar = box(width, width, length)
    axis = np.cross([0.0, 0.0, -1.0], along / length)
    size = float(np.linalg.norm(axis))
    angle = float(np.arctan2(size, -along[2] / length))
    turn = rotation_matrix(axis if size > 1e-9 else np.array([1.0, 0.0, 0.0]), angle)
    return RigidShape("bar", bar.points @ turn.T + one, bar.triangles)
