"""Bernardin et al. 2023 (P) 5, 'Pick and Place': a cup on an arm moves an apple into a box."""

from __future__ import annotations

import numpy as np
from manifold3d import Manifold, Mesh64
from pydantic import Field

from limpet.fem.material import Material
from limpet.geometry.rotation import rotation_between
from limpet.geometry.shape import Array, RigidShape
from limpet.geometry.union import arrays
from limpet.model.world import World
from limpet.rigid.arm import Arm, JointPath, six_joints
from limpet.scenes.registry import SceneParameters, scene
from limpet.shapes.boxes import box
from limpet.shapes.cups import CupProfile, cup
from limpet.shapes.objects import apple, compartment_box
from limpet.units import Length, Mass, Positive, Pressure, Time

# Smaller and deeper than the standard cup, whose dome would meet the apple before its lip does.
CUP = CupProfile(
    "picker", radius=12e-3, depth=4.5e-3, height=15e-3, stem_radius=4e-3,
    hub_thickness=1.8e-3, lip_thickness=0.6e-3,
)  # fmt: skip
FLAT = 0.03  # cut off below, relative to the diameter
CLEARANCE = 4e-3  # [m] between lip and apple at the start
LIFT_OFF = 0.01  # [m] of slow travel, in which the apple leaves the table
BASE = (-0.32, 0.1, 0.0)  # [m] where the arm stands
BOX = (0.26, 0.26, 0.055)  # [m] of two by two cells
WALL = 4e-3  # [m]
BOX_AT = (0.0, 0.24)  # [m] x and y of its middle


class PickAndPlaceParameters(SceneParameters):
    duration: Time = 5.6
    # P takes 0.3 mm on some curved surfaces. The facets leave gaps of 0.1 mm under the hanging lip.
    sealing_distance: Length = Field(2e-4, gt=0.0, description="gaps below this are airtight")
    young: Positive[Pressure] = Field(4e6, description="Young's modulus of the cup")
    poisson: float = Field(0.45, gt=-1.0, le=0.5, description="Poisson's ratio of the cup")
    element: str | None = Field(None, description="element of the cup; default by material")
    nodes: int = Field(434, gt=0, description="approximate number of nodes of the cup")
    friction: float = Field(0.5, ge=0.0, description="friction between all bodies")
    cup_friction: float = Field(0.25, ge=0.0, description="friction between cup and apple")
    wall_friction: float = Field(0.2, ge=0.0, description="friction between apple and box")
    apple_mass: Positive[Mass] = Field(0.15, description="mass of the apple")
    diameter: Positive[Length] = Field(0.07, ge=0.05, le=0.09, description="diameter of the apple")
    facet: Positive[Length] = Field(3.5e-3, description="facet size of the apple under the cup")
    # Lightly: the air that is left decides how far the cup must be bent before it lets go.
    push: Positive[Length] = Field(2.4e-3, description="travel of the lip below the apple's top")
    shove: Positive[Length] = Field(0.03, description="travel of the cup against the wall")


@scene(
    "pick-and-place",
    PickAndPlaceParameters,
    summary="a cup on an arm picks an apple and releases it in a box by pushing it on the wall",
    expect="the apple is carried into a cell of the box, let go at its wall, and stays there",
)
def pick_and_place(p: PickAndPlaceParameters) -> World:
    """A suction cup is fixed to the end effector of an articulated rigid arm.

    It is pressed on an apple, carries it over a compartmented box and lowers it into a cell. There
    the arm moves on sideways, so that the apple is pushed gently on the wall: the cup tilts, its
    lip opens, and the apple stays when the arm leaves.
    """
    fruit = _apple(p.diameter, p.facet)
    top = float(fruit.points[:, 2].max())
    world = World(friction=p.friction)
    world.add_rigid(box(0.9, 0.9, 0.02), 5.0, name="table", fixed=True)
    bin_ = world.add_rigid(
        compartment_box(*BOX, (2, 2), WALL), 0.5, name="box", position=(*BOX_AT, 0.0), fixed=True
    )
    body = world.add_rigid(fruit, p.apple_mass, name="apple", crease=0.0)  # its facets are real
    lip = top + CLEARANCE
    soft = world.add_soft(
        cup(CUP, element=p.element, nodes=p.nodes), Material(p.young, p.poisson), 0.020,
        name="cup", position=(0.0, 0.0, lip),
    )  # fmt: skip
    arm = six_joints(BASE, (0.0, 0.0, lip + CUP.height))
    route = _route(arm, p, top)
    world.prescribe_motion(soft["top"], route.link(-1))
    for number, (name, link) in enumerate(_links(arm)):
        part = world.add_rigid(link, 1.0, name=name, collides=False)
        world.prescribe_motion(part, route.link(number))
    world.set_friction(body, soft, p.cup_friction)
    world.set_friction(body, bin_, p.wall_friction)
    world.add_probe("apple", body)
    return world


def _apple(diameter: float, facet: float) -> RigidShape:
    """An apple on a flat spot, so that it does not roll, with a fine mesh under the cup."""
    fruit = apple(diameter, fine=facet, reach=CUP.radius + 3e-3, coarse=0.2 * diameter)
    mesh = Mesh64(fruit.points, fruit.triangles.astype(np.uint64))
    points, triangles = arrays(Manifold(mesh).trim_by_plane((0.0, 0.0, 1.0), FLAT * diameter))
    return RigidShape("apple", points - [0.0, 0.0, points[:, 2].min()], triangles)


def _route(arm: Arm, p: PickAndPlaceParameters, top: float) -> JointPath:
    down = -(CLEARANCE + p.push)
    over = BOX[2] + 0.04
    cell_x, cell_y = BOX_AT[0] + 0.25 * BOX[0], BOX_AT[1] - 0.25 * BOX[1]
    low = down + WALL + 0.006  # the apple hangs just over the cell's floor
    wall = cell_x + 0.25 * BOX[0] - WALL - 0.5 * p.diameter + p.shove
    stations = [
        (0.0, (0.0, 0.0, 0.0)), (0.5, (0.0, 0.0, down)), (0.6, (0.0, 0.0, down)),
        (1.0, (0.0, 0.0, down + LIFT_OFF)), (1.7, (0.0, 0.0, over)), (2.7, (cell_x, cell_y, over)),
        (3.3, (cell_x, cell_y, low)), (4.8, (wall, cell_y, low)), (4.9, (wall, cell_y, low)),
        (5.4, (wall, cell_y, over)),
    ]  # fmt: skip
    return arm.follow(stations)


def _links(arm: Arm) -> list[tuple[str, RigidShape]]:
    """Visual shapes of the arm: a bar from each joint to the next."""
    up = np.array([0.0, 0.0, 1.0])
    foot, shoulder, elbow, wrist, _, tip = arm.origins
    return [
        ("turntable", _bar(foot, shoulder, 0.06)),
        ("upper arm", _bar(shoulder, elbow, 0.045)),
        ("forearm", _bar(elbow, wrist, 0.035)),
        ("wrist", _bar(wrist + 0.02 * up, wrist - 0.02 * up, 0.04)),
        ("hand", _bar(wrist - 0.02 * up, tip + 0.01 * up, 0.022)),
        ("flange", _bar(tip + 0.011 * up, tip + 1e-3 * up, 0.03)),
    ]


def _bar(one: Array, two: Array, width: float) -> RigidShape:
    """A square bar from one point to another."""
    along = two - one
    length = float(np.linalg.norm(along))
    bar = box(width, width, length)
    rotation = rotation_between([0.0, 0.0, -1.0], along)
    return RigidShape("bar", bar.points @ rotation.T + one, bar.triangles)
