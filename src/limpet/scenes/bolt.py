"""Elandt et al. 2019 (F), VIII-B: a bolt is threaded into a hole."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from limpet.dynamics.motion import rotation
from limpet.model.world import World
from limpet.pressure_field.catalogue import box, mesh, rigid
from limpet.scenes.registry import SceneParameters, scene
from limpet.shapes.screw_threads import bolt as bolt_shape
from limpet.shapes.screw_threads import nut as nut_shape
from limpet.units import Length, Mass, NotNegative, Positive, Pressure, Time

HEAD = 0.014, 0.008  # [m] width and height of the bolt's square head
JAW = 6e-3, 0.014, 0.02  # [m] of a jaw of the wrench
BITE = 1e-5  # [m] overlap of jaw and head
OUT = 0.012  # [m] of thread between head and nut


class BoltParameters(SceneParameters):
    h: Time = 0.002
    duration: Time = 1.2
    diameter: Positive[Length] = Field(0.012, description="diameter of the bolt")
    pitch: Positive[Length] = Field(3e-3, description="pitch of its thread")
    clearance: Positive[Length] = Field(1e-4, description="clearance between bolt and nut")
    sides: int = Field(24, ge=8, le=240, description="facets round bolt and nut")
    mass: Positive[Mass] = Field(0.03, description="mass of the bolt")
    modulus: Positive[Pressure] = Field(1e7, description="modulus of nut and jaws")
    friction: float = Field(0.1, ge=0.0, description="friction of the bolt on nut and jaws")
    dissipation: NotNegative[Time] = Field(0.01, description="dissipation of nut and jaws (F eq 3)")
    rest: Positive[Time] = Field(0.1, description="time before the wrench turns")
    turns: float = Field(1.0, gt=0.0, le=3.0, description="turns of the wrench, to the right")
    turning: Positive[Time] = Field(1.0, description="time of the rotation")


@scene(
    "bolt",
    BoltParameters,
    summary="a wrench turns a bolt, which screws into a nut",
    expect="the bolt goes down by its pitch with each turn",
)
def bolt(p: BoltParameters) -> World:
    """A bolt stands loosely in the thread of a nut that is fixed, its head between two jaws.

    The jaws rotate about the axis. Only they, the thread and gravity act on the bolt.
    """
    world = World(friction=p.friction)
    reach = OUT - OUT % p.pitch  # a multiple of the pitch, so that the threads fit
    thread = bolt_shape(p.diameter, p.pitch, 0.03, HEAD, p.sides)
    body = world.add_rigid(rigid(thread), p.mass, name="bolt", position=(0.0, 0.0, reach))
    around = mesh(
        nut_shape(p.diameter, p.pitch, 3.0 * p.pitch, 0.02, p.clearance, p.sides),
        p.modulus, extent="distance",
    )  # fmt: skip
    held = [world.add_rigid(around, 0.02, name="nut", fixed=True)]
    turning = rotation([(0.0, 0.0), (p.rest, 0.0), (p.rest + p.turning, -2.0 * np.pi * p.turns)])
    for side, name in ((-1.0, "left jaw"), (1.0, "right jaw")):
        at = side * (0.5 * (HEAD[0] + JAW[0]) - BITE), 0.0, reach + 0.5 * HEAD[1]
        jaw = world.add_rigid(box(*JAW, p.modulus), 0.02, name=name, position=at)
        world.prescribe_motion(jaw, turning)
        world.exclude_contact(jaw, held[0])
        held.append(jaw)
    for other in held:
        world.set_contact(body, other, "pressure fields", p.dissipation)
    world.add_probe("bolt", body)
    return world
