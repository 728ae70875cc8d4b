"""A bellows cup on a vacuum line: it collapses, lifts a part by its stroke, and is pulled off."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from limpet.cavity.gas.vacuum_line import Regulator
from limpet.dynamics.motion import path
from limpet.fem.rubbers import rubber
from limpet.model.world import World
from limpet.scenes.registry import SceneParameters, scene
from limpet.shapes.boxes import box
from limpet.shapes.catalogue import design
from limpet.units import Force, Length, Mass, Positive, Pressure, Time

CLEARANCE = 0.1e-3  # [m] between lip and part at the start
SET_DOWN, WAIT = 0.1, 0.1  # [s]
PART, GROUND = 0.02, 0.01  # [m] height of the part, thickness of the ground


class BellowsParameters(SceneParameters):
    """The cup is set down, the vacuum raised, the gripper lifted, and the part pulled off."""

    duration: Time = 2.6
    folds: Literal["1.5", "2.5"] = Field("1.5", description="folds of the cup")
    diameter: Positive[Length] = Field(0.030, description="diameter of the lip")
    rubber: str = Field("NBR", description="rubber of the cup")
    shore: float = Field(60.0, ge=10.0, le=95.0, description="its Shore A hardness")
    nodes: int = Field(700, gt=0, description="approximate number of nodes of the cup")
    self_contact: bool = Field(True, description="whether the folds touch each other")
    friction: float = Field(0.5, ge=0.0, description="friction of the rubber")
    push: Positive[Length] = Field(0.5e-3, description="downward travel after the lip touches")
    vacuum: Positive[Pressure] = Field(60e3, description="vacuum below the atmosphere")
    rise: Positive[Time] = Field(0.4, description="time for raising the vacuum")
    hold: Positive[Time] = Field(0.3, description="time before the gripper rises")
    lift: Positive[Length] = Field(0.03, description="upward travel of the gripper")
    lift_time: Positive[Time] = Field(0.3, description="time of the upward motion")
    part_mass: Positive[Mass] = Field(0.3, description="mass of the part")
    pull: Positive[Force] = Field(45.0, description="force on the part at the end, downward")

    @property
    def pull_start(self) -> float:
        """[s] from which on the part is pulled."""
        return self.lift_start + self.lift_time + 0.2

    @property
    def lift_start(self) -> float:
        """[s] from which on the gripper rises."""
        return SET_DOWN + WAIT + self.rise + self.hold


@scene(
    "bellows",
    BellowsParameters,
    summary="a bellows cup on a vacuum line collapses, lifts a part, and is pulled off",
    expect="the folds close, the part rises by the stroke, and comes off under the load",
)
def bellows(p: BellowsParameters) -> World:
    """The collapse of the cup lifts the part; the gripper rises, and the part is pulled down."""
    world = World(friction=p.friction)
    shape = design(f"bellows-{p.folds}").shape(p.diameter, p.nodes)
    made = rubber(p.rubber, shore=p.shore)
    cup = world.add_soft(
        shape, made.material(), made.mass(shape), name="cup", position=(0.0, 0.0, CLEARANCE),
        self_contact=p.self_contact,
    )  # fmt: skip
    low = -(CLEARANCE + p.push)
    start, end = p.lift_start, p.lift_start + p.lift_time
    stations = [(0.0, 0.0), (SET_DOWN, low), (start, low), (end, low + p.lift)]
    world.prescribe_motion(cup["top"], path(stations))
    edge = 2.0 * p.diameter
    part = world.add_rigid(box(edge, edge, PART), p.part_mass, name="part")
    ground = box(2.0 * edge, 2.0 * edge, GROUND)
    world.add_rigid(ground, 1.0, name="ground", position=(0.0, 0.0, -PART), fixed=True)
    end = max(p.duration, p.pull_start + p.h)
    world.actuate(part, (0.0, 0.0, 1.0), force=[(p.pull_start, 0.0), (end, -p.pull)])
    on = SET_DOWN + WAIT
    world.connect(cup, Regulator([(on, 0.0), (on + p.rise, p.vacuum)]))
    world.add_probe("part", part)
    return world
