"""A gripper of any cups on any part: all of it said in a scene file, without Python.

The gripper comes down on the part until its cups are pressed by `push`, waits while the vacuum
rises, and makes the moves of [[motion]]. Cups stand on one plate, which is not modelled: their tops
move together.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from limpet.cavity.gas.exchange import AirExchange
from limpet.cavity.gas.line_elements import Element, FlowCheck, Hose
from limpet.cavity.gas.vacuum_line import Ejector, Pump
from limpet.dynamics.motion import Leg, moves
from limpet.fem.rubbers import rubber
from limpet.geometry.shape import RigidShape
from limpet.meshing.files import load_mesh
from limpet.model.specs import RigidSpec, SoftSpec
from limpet.model.world import World
from limpet.scenes.custom import MeshFile, Unit
from limpet.scenes.registry import SceneParameters, scene
from limpet.shapes.boxes import box
from limpet.shapes.catalogue import design
from limpet.units import (
    Acceleration,
    Jerk,
    Length,
    Mass,
    NotNegative,
    Positive,
    Pressure,
    Speed,
    Time,
    VolumeRate,
)

CLEARANCE = 0.1e-3  # [m] between lips and part at the start
DOWN = 0.02  # [m/s] speed at which the cups are set down
SOFTLY = 1.0  # [m/s^2]
GROUND = 0.01  # [m] thickness
Vector = tuple[Length, Length, Length]


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class PartTable(_Table):
    """What is gripped: a box, or a mesh, its top face up."""

    size: tuple[Positive[Length], Positive[Length], Positive[Length]] | None = Field(
        None, description="length, width and height of a box"
    )
    mesh: MeshFile | None = Field(None, description="file of the part, its top at z = 0")
    unit: Unit | None = Field(None, description="length unit of the file")
    mass: Positive[Mass] = Field(description="mass of the part")
    friction: float = Field(0.5, ge=0.0, description="friction between part and cups")
    leak: NotNegative[VolumeRate] = Field(
        0.0, description="air that a porous part lets into each cup at `leak_at`"
    )
    leak_at: Positive[Pressure] = Field(50e3, description="vacuum at which it leaks so much")

    @model_validator(mode="after")
    def _one_shape(self) -> PartTable:
        if (self.size is None) == (self.mesh is None):
            raise ValueError("part: expected either size or mesh")
        return self


class CupTable(_Table):
    """A cup of the catalogue, and where on the part it is set down."""

    design: str = Field(
        "bell", description="flat, flat-cleats, bell, bellows-1.5, bellows-2.5, oval"
    )
    diameter: Positive[Length] = Field(description="of the lip")
    rubber: str = Field("silicone", description="rubber of the cup")
    shore: float | None = Field(None, ge=10.0, le=95.0, description="its Shore A hardness")
    nodes: int | None = Field(None, gt=0, description="approximate number of nodes")
    at: tuple[Length, Length] = Field((0.0, 0.0), description="x and y on the part")


class VacuumTable(_Table):
    """One source for all cups, over a manifold if there are several."""

    source: Literal["pump", "ejector", "none"] = Field("pump", description="none: passive cups")
    free_flow: Positive[VolumeRate] = Field(20e-3 / 60, description="flow without vacuum")
    end_vacuum: Positive[Pressure] = Field(85e3, description="vacuum without flow")
    hose_length: Positive[Length] = Field(1.0, description="hose from each cup")
    hose_diameter: Positive[Length] = Field(4e-3, description="its inner diameter")
    flow_check: Positive[VolumeRate] | None = Field(
        None, description="flow at which a check valve at each cup closes; none: there is none"
    )


class LegTable(_Table):
    """A straight move within its limits, after a wait."""

    by: Vector = Field(description="displacement")
    speed: Positive[Speed] = Field(0.5, description="at most")
    acceleration: Positive[Acceleration] = Field(description="at most")
    jerk: Positive[Jerk] | None = Field(None, description="at most; none: acceleration jumps")
    wait: NotNegative[Time] = Field(0.0, description="before it begins")

    def leg(self) -> Leg:
        jerk = float("inf") if self.jerk is None else self.jerk
        return Leg(self.by, self.speed, self.acceleration, jerk, self.wait)


# what is gripped, how and where to, if a file does not say
PART = PartTable.model_validate({"size": (0.12, 0.08, 0.06), "mass": 0.8})
CUP = CupTable.model_validate({"diameter": 0.03, "shore": 50.0, "nodes": 450})
VACUUM = VacuumTable.model_validate({})
UP = LegTable.model_validate({"by": (0.0, 0.0, 0.05), "speed": 0.25, "acceleration": 2.0})
ASIDE = LegTable.model_validate({"by": (0.3, 0.0, 0.0), "speed": 1.0, "acceleration": 5.0})


class GripperParameters(SceneParameters):
    """Set down, wait for the vacuum, move."""

    duration: Time = Field(2.0, description="simulated time")
    part: PartTable = Field(PART, description="what is gripped")
    cup: list[CupTable] = Field([CUP], min_length=1, description="the cups")
    vacuum: VacuumTable = Field(VACUUM, description="one source for all cups")
    motion: list[LegTable] = Field([UP, ASIDE], description="moves after the grip")
    push: Positive[Length] = Field(1e-3, description="travel after the lips touch")
    grip: Positive[Time] = Field(0.4, description="from the end of the push to the first move")


@scene(
    "gripper",
    GripperParameters,
    summary="a gripper of any cups on any part, from a scene file alone",
    expect="whether the part is held, and which cup lets go",
)
def gripper(p: GripperParameters) -> World:
    """The cups are set down on the part, gripped and moved."""
    world = World(friction=p.part.friction)
    part = _part(world, p.part)
    cups = [_cup(world, i, c, len(p.cup)) for i, c in enumerate(p.cup, 1)]
    down = Leg((0.0, 0.0, -CLEARANCE - p.push), DOWN, SOFTLY)
    wait = Leg((0.0, 0.0, 0.0), DOWN, SOFTLY, wait=p.grip)
    motion = moves([down, wait, *(leg.leg() for leg in p.motion)])
    for cup in cups:
        world.prescribe_motion(cup["top"], motion)
        if p.part.leak > 0.0:
            world.set_air_exchange(cup, AirExchange.rated(p.part.leak, p.part.leak_at))
    if p.vacuum.source != "none":
        _connect(world, cups, p.vacuum)
    world.add_probe("part", part)
    return world


def _part(world: World, told: PartTable) -> RigidSpec:
    """The part, on a ground below it."""
    shape: RigidShape
    if told.size is not None:
        shape = box(*told.size)
    else:
        assert told.mesh is not None
        shape = load_mesh(told.mesh, told.unit)
    low, high = shape.points.min(axis=0), shape.points.max(axis=0)
    part = world.add_rigid(shape, told.mass, name="part", position=(0.0, 0.0, -high[2]))
    edge = 2.0 * float(np.max(high - low))
    ground = box(edge, edge, GROUND)
    below = (*(0.5 * (low + high)[:2]), low[2] - high[2])
    world.add_rigid(ground, 1.0, name="ground", position=below, fixed=True)
    return part


def _cup(world: World, number: int, told: CupTable, count: int) -> SoftSpec:
    shape = design(told.design).shape(told.diameter, told.nodes)
    made = rubber(told.rubber) if told.shore is None else rubber(told.rubber, shore=told.shore)
    return world.add_soft(
        shape, made.material(), made.mass(shape), name="cup" if count == 1 else f"cup {number}",
        position=(*told.at, CLEARANCE),
    )  # fmt: skip


def _connect(world: World, cups: list[SoftSpec], told: VacuumTable) -> None:
    kind = Pump if told.source == "pump" else Ejector
    source = kind(told.free_flow, told.end_vacuum)
    line: list[Element] = [] if told.flow_check is None else [FlowCheck(told.flow_check)]
    line.append(Hose(told.hose_length, told.hose_diameter))
    shared = world.add_manifold(source) if len(cups) > 1 else source
    for cup in cups:
        world.connect(cup, shared, line=line)
