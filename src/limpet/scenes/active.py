"""A section IV: a silicone cup over a hole in a plate, on a vacuum line, is pulled till it lets go.

The dimensions of A's two cups stand in a drawing (A figure 4) that we lack: those here are ours.
"""

from __future__ import annotations

from pydantic import Field, model_validator

from limpet.cavity.gas.exchange import AirExchange
from limpet.cavity.gas.vacuum_line import Hose, Pump, Regulator, Source, Valve
from limpet.dynamics.motion import path
from limpet.fem.material import Material
from limpet.geometry.surface import volume
from limpet.model.world import World
from limpet.scenes.registry import SceneParameters, scene
from limpet.shapes.cups import CAST, CupProfile, cup
from limpet.shapes.objects import drilled_plate
from limpet.units import (
    Density,
    Length,
    NotNegative,
    Positive,
    Pressure,
    Speed,
    Time,
    Volume,
    VolumeRate,
    show,
)

CLEARANCE = 0.1e-3  # [m] between lip and plate at the start
PLATE = 0.08, 0.02  # [m] edge and thickness
HOLE_DEPTH = 0.01  # [m] down to the fitting of the line


class ActiveParameters(SceneParameters):
    """Positioned, vacuum on, held, pulled."""

    duration: Time = 4.0
    young: Positive[Pressure] = Field(338e3, description="Young's modulus of the cup")
    poisson: float = Field(0.49, gt=-1.0, le=0.5, description="Poisson's ratio of the cup")
    density: Positive[Density] = Field(1080.0, description="of the silicone")
    radius: Positive[Length] = Field(CAST.radius, description="of the lip; ours, as the next five")
    depth: Positive[Length] = Field(CAST.depth, description="of the dome under the axis")
    height: Positive[Length] = Field(CAST.height, description="from lip to top of the stem")
    stem_radius: Positive[Length] = Field(CAST.stem_radius, description="of the stem")
    hub_thickness: Positive[Length] = Field(
        CAST.hub_thickness, description="of the wall at the stem"
    )
    lip_thickness: Positive[Length] = Field(
        CAST.lip_thickness, description="of the wall at the lip"
    )
    element: str | None = Field(None, description="element of the cup; chosen if not given")
    nodes: int = Field(434, gt=0, description="nodes of the cup's mesh, about")
    sectors: int | None = Field(None, description="round the axis; with segments, instead of nodes")
    segments: int | None = Field(None, description="of the wall from axis to lip")
    friction: float = Field(0.5, ge=0.0, description="between cup and plate")
    hole: Positive[Length] = Field(4e-3, description="diameter of the hole in the plate")
    hole_offset: Length = Field(0.0, description="of the hole from the cup's axis, along x")
    held: bool = Field(True, description="by the actuator; else the cup stands free, for its shape")
    push: NotNegative[Length] = Field(
        0.3e-3, description="how far the stem goes down after the lip touches"
    )
    position_time: Positive[Time] = Field(0.2, description="for the way down")
    vacuum: Positive[Pressure] = Field(6e3, description="below the atmosphere")
    rise: NotNegative[Time] = Field(0.3, description="in which the regulator raises the vacuum")
    hold: NotNegative[Time] = Field(0.3, description="before it is pulled")
    speed: Positive[Speed] = Field(5e-3, description="of the pull")
    pump_flow: NotNegative[VolumeRate] = Field(
        0.0, description="free flow of a pump with that end vacuum; 0: a regulator"
    )
    line_volume: NotNegative[Volume] = Field(0.0, description="of the hose")
    line_conductance: float | None = Field(
        None, gt=0.0, description="of the hose [mol/(s Pa)]; without end if not given"
    )
    leak_conductance: float = Field(
        0.0, ge=0.0, description="of the contact [mol/(s Pa)]: a plate that lets air through"
    )

    @model_validator(mode="after")
    def _hole_under_the_cup(self) -> ActiveParameters:
        if abs(self.hole_offset) + 0.5 * self.hole >= self.radius:
            raise ValueError(
                f"hole_offset = {show(self.hole_offset, 'm')}: the hole of {show(self.hole, 'm')} "
                f"is outside the cup; expected it within the lip's radius {show(self.radius, 'm')}"
            )
        return self

    def profile(self) -> CupProfile:
        return CupProfile(
            "cast", self.radius, self.depth, self.height, self.stem_radius, self.hub_thickness,
            self.lip_thickness,
        )  # fmt: skip

    @property
    def switched_on(self) -> float:
        """[s] when the vacuum is switched on: once the cup rests."""
        return self.position_time + 0.1

    @property
    def pull_start(self) -> float:
        """[s]"""
        return self.switched_on + self.rise + self.hold

    def stroke(self) -> list[tuple[float, float]]:
        """(time, height) of the stem: positioned, held, pulled."""
        low, start = -(CLEARANCE + self.push), self.pull_start
        pull = max(self.duration - start, self.h)
        return [
            (0.0, 0.0), (self.position_time, low), (start, low),
            (start + pull, low + self.speed * pull),
        ]  # fmt: skip

    def source(self) -> tuple[Source, Valve]:
        """What makes the vacuum, and the valve before it."""
        if self.pump_flow > 0.0:
            valve = Valve([(0.0, "closed"), (self.switched_on, "open")])
            return Pump(self.pump_flow, self.vacuum), valve
        on = self.switched_on
        return Regulator([(on, 0.0), (on + max(self.rise, 1e-9), self.vacuum)]), Valve()


class A30Parameters(ActiveParameters):
    young: Positive[Pressure] = Field(593e3, description="Young's modulus of the cup")
    vacuum: Positive[Pressure] = Field(11e3, description="below the atmosphere")


def build(p: ActiveParameters) -> World:
    """The cup is set down without much of a push, the vacuum comes on, and it is pulled."""
    world = World(friction=p.friction)
    shape = cup(
        p.profile(), element=p.element, nodes=p.nodes, sectors=p.sectors, segments=p.segments
    )
    room = volume(shape.visual.positions(shape.points), shape.visual.triangles)
    soft = world.add_soft(
        shape, Material(p.young, p.poisson), p.density * room, name="cup",
        position=(0.0, 0.0, CLEARANCE),
    )  # fmt: skip
    edge, thickness = PLATE
    plate = world.add_rigid(
        drilled_plate(edge, edge, thickness, p.hole, HOLE_DEPTH, (p.hole_offset, 0.0)), 1.0,
        name="plate", fixed=True,
    )  # fmt: skip
    if p.held:
        world.prescribe_motion(soft["top"], path(p.stroke()))
    source, valve = p.source()
    line = Hose(p.line_volume, p.line_conductance or float("inf"))
    world.connect(plate, source, hose=line, valve=valve, port=(p.hole_offset, 0.0, -HOLE_DEPTH))
    if p.leak_conductance > 0.0:
        world.set_air_exchange(plate, AirExchange(conductance=p.leak_conductance))
    world.add_probe("top", soft["top"])
    return world


EXPECT = "seals, the dome sinks under the vacuum, the pull rises until the lip gives way"


@scene(
    "active-a20",
    "a silicone cup on a vacuum line is pulled off a plate (A, Dragon Skin 20)",
    ActiveParameters,
    expect=EXPECT,
)
def active_a20(p: ActiveParameters) -> World:
    """E = 338 kPa, under 6 kPa of vacuum."""
    return build(p)


@scene(
    "active-a30",
    "the same cup of a harder silicone (A, Dragon Skin 30)",
    A30Parameters,
    expect=EXPECT,
)
def active_a30(p: A30Parameters) -> World:
    """E = 593 kPa, under 11 kPa."""
    return build(p)
