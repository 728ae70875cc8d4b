"""Bernardin et al. 2019 (A), section IV: a silicone cup on a vacuum line is pulled off a plate.

The drawing with the dimensions of A's cups (A figure 4) is not available: these are our own.
"""

from __future__ import annotations

from pydantic import Field, model_validator

from limpet.cavity.gas.exchange import AirExchange
from limpet.cavity.gas.line_elements import Element, Hose, Restriction
from limpet.cavity.gas.vacuum_line import Pump, Regulator, Source, Valve
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
    """The cup is positioned, the vacuum is switched on, held, and the cup is pulled."""

    duration: Time = 4.0
    young: Positive[Pressure] = Field(338e3, description="Young's modulus of the cup")
    poisson: float = Field(0.49, gt=-1.0, le=0.5, description="Poisson's ratio of the cup")
    density: Positive[Density] = Field(1080.0, description="density of the silicone")
    radius: Positive[Length] = Field(CAST.radius, description="radius of the lip (not given in A)")
    depth: Positive[Length] = Field(CAST.depth, description="depth of the dome on the axis")
    height: Positive[Length] = Field(CAST.height, description="from lip to top of the stem")
    stem_radius: Positive[Length] = Field(CAST.stem_radius, description="radius of the stem")
    hub_thickness: Positive[Length] = Field(
        CAST.hub_thickness, description="of the wall at the stem"
    )
    lip_thickness: Positive[Length] = Field(
        CAST.lip_thickness, description="of the wall at the lip"
    )
    element: str | None = Field(None, description="element of the cup; default by material")
    nodes: int = Field(434, gt=0, description="approximate number of nodes of the cup")
    sectors: int | None = Field(None, description="sectors; with segments, instead of nodes")
    segments: int | None = Field(None, description="segments of the wall from axis to lip")
    friction: float = Field(0.5, ge=0.0, description="friction between cup and plate")
    hole: Positive[Length] = Field(4e-3, description="diameter of the hole in the plate")
    hole_offset: Length = Field(0.0, description="offset of the hole from the cup's axis, along x")
    held: bool = Field(True, description="held by the actuator; otherwise the cup stands free")
    push: NotNegative[Length] = Field(
        0.3e-3, description="downward travel of the stem after the lip touches"
    )
    position_time: Positive[Time] = Field(0.2, description="time of the downward motion")
    vacuum: Positive[Pressure] = Field(6e3, description="vacuum below the atmosphere")
    rise: NotNegative[Time] = Field(0.3, description="time for raising the vacuum")
    pressure_increments: int = Field(
        1, ge=1, description="increments of the vacuum within a step; needs cavities=classifier"
    )
    hold: NotNegative[Time] = Field(0.3, description="time before the pull")
    speed: Positive[Speed] = Field(5e-3, description="speed of the pull")
    pump_flow: NotNegative[VolumeRate] = Field(
        0.0, description="free flow of a pump with that end vacuum; 0: regulator"
    )
    line_volume: NotNegative[Volume] = Field(0.0, description="volume of the hose")
    line_conductance: float | None = Field(
        None, gt=0.0, description="conductance of the hose [mol/(s Pa)]; infinite if not given"
    )
    hose_length: NotNegative[Length] = Field(
        0.0, description="length of a hose to the source; 0: none"
    )
    hose_diameter: Positive[Length] = Field(4e-3, description="inside diameter of that hose")
    leak_flow: NotNegative[VolumeRate] = Field(
        0.0, description="leak through the contact at that vacuum, as air at ambient conditions"
    )
    leak_conductance: float = Field(
        0.0, ge=0.0, description="conductance of the contact [mol/(s Pa)], for a permeable plate"
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
        """[s] Time at which the vacuum is switched on, when the cup is at rest."""
        return self.position_time + 0.1

    @property
    def pull_start(self) -> float:
        """[s] Time at which the pull starts."""
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
        """The vacuum source and its valve."""
        if self.pump_flow > 0.0:
            valve = Valve([(0.0, "closed"), (self.switched_on, "open")])
            return Pump(self.pump_flow, self.vacuum), valve
        on = self.switched_on
        return Regulator([(on, 0.0), (on + max(self.rise, 1e-9), self.vacuum)]), Valve()

    def line(self) -> list[Element]:
        """From the hole to the source."""
        line: list[Element] = [Restriction(self.line_conductance or float("inf"), self.line_volume)]
        if self.hose_length > 0.0:
            line.append(Hose(self.hose_length, self.hose_diameter))
        return line

    def leak(self) -> AirExchange:
        """Through the contact."""
        rated = 0.0
        if self.leak_flow > 0.0:
            rated = AirExchange.rated(self.leak_flow, self.vacuum).conductance
        return AirExchange(conductance=self.leak_conductance + rated)


class A30Parameters(ActiveParameters):
    young: Positive[Pressure] = Field(593e3, description="Young's modulus of the cup")
    vacuum: Positive[Pressure] = Field(11e3, description="vacuum below the atmosphere")


def build(p: ActiveParameters) -> World:
    """The cup is set down with little push, the vacuum is switched on, and the cup is pulled."""
    world = World(friction=p.friction)
    shape = cup(
        p.profile(), element=p.element, nodes=p.nodes, sectors=p.sectors, segments=p.segments
    )
    size = volume(shape.visual.positions(shape.points), shape.visual.triangles)
    soft = world.add_soft(
        shape, Material(p.young, p.poisson), p.density * size, name="cup",
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
    world.connect(plate, source, line=p.line(), valve=valve, port=(p.hole_offset, 0.0, -HOLE_DEPTH))
    if (leak := p.leak()).conductance > 0.0:
        world.set_air_exchange(plate, leak)
    world.add_probe("top", soft["top"])
    return world


EXPECT = "the cup seals, its dome sinks, the pull rises until the lip opens"


@scene(
    "active-a20",
    ActiveParameters,
    summary="a silicone cup on a vacuum line is pulled off a plate (A, Dragon Skin 20)",
    expect=EXPECT,
)
def active_a20(p: ActiveParameters) -> World:
    """E = 338 kPa, under 6 kPa of vacuum."""
    return build(p)


@scene(
    "active-a30",
    A30Parameters,
    summary="the same cup of a stiffer silicone (A, Dragon Skin 30)",
    expect=EXPECT,
)
def active_a30(p: A30Parameters) -> World:
    """E = 593 kPa, under 11 kPa."""
    return build(p)
