"""Bernardin et al. 2023 (P) 5, 'Ground': a cup is pushed on a block, held and pulled off."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from pydantic import Field, model_validator

from limpet.cavity.gas.atmosphere import Atmosphere
from limpet.cavity.gas.limit import ElasticEnergy, Limit, TractionPath
from limpet.dynamics.motion import Path, path
from limpet.fem.soft_body import Material
from limpet.geometry.rotation import rotation_between, rotation_matrix
from limpet.geometry.shape import SoftShape
from limpet.model.world import World
from limpet.scenes.custom import BlockParameters, CustomCup
from limpet.scenes.registry import SceneParameters, scene
from limpet.shapes.boxes import tiled_box
from limpet.shapes.cups import cup
from limpet.units import (
    AmountRate,
    Angle,
    Length,
    Mass,
    NotNegative,
    Positive,
    Pressure,
    Speed,
    Time,
)

CLEARANCE = 0.5e-3  # [m] between the lip and the block at the start
LIMITS: dict[str, Limit | None] = {
    "constant": None,  # P_atm and the overpressure
    "path": TractionPath(),
    "path-sum": TractionPath(total=True),
    "energy": ElasticEnergy(),
}


class CupParameters(SceneParameters):
    """The cup of P and the motion of its stem."""

    young: Positive[Pressure] = Field(4e6, description="Young's modulus of the cup")
    poisson: float = Field(0.45, gt=-1.0, le=0.5, description="Poisson's ratio of the cup")
    cup_mass: Positive[Mass] = Field(0.020, description="mass of the cup")
    profile: str = Field("standard", description="profile of the cup")
    element: str | None = Field(None, description="element of the cup; default by material")
    nodes: int = Field(434, gt=0, description="approximate number of nodes of the cup")
    sectors: int | None = Field(None, description="sectors; with segments, instead of nodes")
    segments: int | None = Field(None, description="segments of the wall from axis to lip")
    imperfection: float = Field(
        0.0, ge=0.0, le=0.1, description="variation of the wall's thickness round the axis"
    )
    friction: float = Field(0.5, ge=0.0, description="friction between cup and block")
    push: Positive[Length] = Field(
        3e-3, description="downward travel of the stem after the lip touches"
    )
    push_time: Positive[Time] = Field(0.5, description="time of the downward motion")
    hold: Positive[Time] = Field(0.2, description="time before the pull")
    speed: Positive[Speed] = Field(5e-3, description="speed of the pull")
    leak: NotNegative[AmountRate] = Field(0.0, description="air that leaks into the cavity")
    overpressure: NotNegative[Pressure] = Field(
        0.0, description="pressure above the atmosphere at which air escapes"
    )
    limit: Literal["constant", "path", "path-sum", "energy"] = Field(
        "constant", description="when air escapes: overpressure, or another model of P 3.6"
    )
    exponent: float = Field(1.0, ge=1.0, description="1: isothermal, 1.4: adiabatic")
    ambient: Positive[Pressure] = Field(101325.0, description="ambient pressure")
    tilt: Angle = Field(0.0, description="rotation of the whole scene about the axis (1, 2, 0)")
    shift: Length = Field(0.0, description="translation of the whole scene along x and y")
    cup: CustomCup | None = Field(None, description="custom cup (docs/scene-files.md)")

    @model_validator(mode="after")
    def _one_cup(self) -> CupParameters:
        if self.cup is not None and self.profile != "standard":
            raise ValueError(
                f"profile = '{self.profile}': there is a custom [cup]; remove one of them"
            )
        return self

    @model_validator(mode="after")
    def _one_limit(self) -> CupParameters:
        if self.limit != "constant" and self.overpressure > 0.0:
            raise ValueError(
                f"overpressure = {self.overpressure:g} Pa: limit = '{self.limit}' already "
                "determines when air escapes; remove one of them"
            )
        return self

    @property
    def rotation(self) -> np.ndarray:
        return rotation_matrix(np.array([1.0, 2.0, 0.0]), self.tilt)

    def stroke(self) -> list[tuple[float, float]]:
        """(time, height) of the stem: down, hold, up."""
        bottom = -(CLEARANCE + self.push)
        start = self.push_time + self.hold
        pull = max(self.duration - start, self.h)
        return [
            (0.0, 0.0), (self.push_time, bottom), (start, bottom),
            (start + pull, bottom + self.speed * pull),
        ]  # fmt: skip


class GroundParameters(CupParameters, BlockParameters):
    duration: Time = 7.0
    # The wall buckles. Without a defect it does so late, at a force that depends on the time step.
    imperfection: float = Field(
        0.02, ge=0.0, le=0.1, description="variation of the wall's thickness round the axis"
    )
    speed: Positive[Speed] = Field(2e-3, description="speed of the pull")
    block_edge: Positive[Length] = Field(0.06, description="edge of the block's top")
    block_divisions: int = Field(1, ge=1, description="cells along the edges of the block's top")


def cup_over(
    p: CupParameters,
    at: Sequence[tuple[float, float]] = ((0.0, 0.0),),
    shape: SoftShape | None = None,
    approach: np.ndarray | None = None,
) -> tuple[World, np.ndarray, np.ndarray]:
    """A world with cups above z = 0, and the rotation and origin of the scene.

    There is a cup at each (x, y) [m] of `at`; all have the same prescribed motion. `shape` replaces
    the cup of the parameters. approach (3,): direction of the cups' axes, along which they are
    pushed; they are pulled along z, which is also their axis if it is not given.
    """
    turned = np.eye(3) if approach is None else rotation_between([0.0, 0.0, 1.0], approach)
    rotation, origin = p.rotation, np.array([p.shift, p.shift, 0.0])
    world = World(
        gravity=rotation @ [0.0, 0.0, -9.81],
        friction=p.friction,
        atmosphere=Atmosphere(
            p.ambient, overpressure=p.overpressure, exponent=p.exponent, limit=LIMITS[p.limit]
        ),
        leak=p.leak,
    )
    if shape is None and p.cup is not None:
        shape = p.cup.shape(p.nodes, p.element, p.sectors, p.segments)
    shape = shape or cup(
        p.profile, element=p.element, nodes=p.nodes, sectors=p.sectors, segments=p.segments,
        imperfection=p.imperfection,
    )  # fmt: skip
    for x, y in at:
        soft = world.add_soft(
            shape, Material(p.young, p.poisson), p.cup_mass,
            name=None if "cup" in world.specs else "cup",
            position=origin + rotation @ ([x, y, 0.0] + turned @ [0.0, 0.0, CLEARANCE]),
            rotation=rotation @ turned,
        )  # fmt: skip
        world.prescribe_motion(soft["top"], _motion(p, rotation[:, 2], (rotation @ turned)[:, 2]))
    return world, rotation, origin


def _motion(p: CupParameters, up: np.ndarray, axis: np.ndarray) -> Path:
    """The stroke of the stem: down along the cup's axis, up along the scene's z."""
    stroke = p.stroke()
    bottom = min(s for _, s in stroke)
    last = max(i for i, (_, s) in enumerate(stroke) if s == bottom)
    pulled = [s - bottom if i > last else 0.0 for i, (_, s) in enumerate(stroke)]
    places = [s * axis + up_by * (up - axis) for (_, s), up_by in zip(stroke, pulled)]
    return path([(t, place.tolist()) for (t, _), place in zip(stroke, places)])


@scene(
    "ground",
    GroundParameters,
    summary="a cup is pushed on the ground, sticks, is pulled and lets go",
    expect="the cup sticks, the pressure falls at constant air, the cup lets go abruptly",
)
def ground(p: GroundParameters) -> World:
    """The cup is pushed until its cavity is almost empty, held, then pulled out."""
    world, rotation, origin = cup_over(p)
    block = p.block_from_file() or tiled_box(p.block_edge, p.block_edge, 0.03, p.block_divisions)
    world.add_rigid(block, mass=0.19, name="block", position=origin, rotation=rotation, fixed=True)
    return world
