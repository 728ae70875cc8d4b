"""Elandt et al. 2019 (F), VIII-B: a mug, a spoon and a soft ball are gripped and shaken."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from limpet.dynamics.motion import Path, path
from limpet.geometry.rotation import rotation_matrix
from limpet.model.world import World
from limpet.pressure_field.catalogue import box, capsule, floor, rigid, sphere
from limpet.scenes.pinch import SIDES, overlap_under, pinch, press_jaw
from limpet.scenes.registry import SceneParameters, scene
from limpet.shapes.objects import mug, spoon
from limpet.units import Angle, Force, Length, Mass, NotNegative, Positive, Pressure, Time

SAMPLES = 24  # per period of the shake
RADIUS = 0.04  # [m] of the mug
JAW = 0.03, 0.01, 0.03  # [m] along x, y, z
APART = 5e-4  # [m] between an open jaw and the mug
HANDLE = 3e-3, 8e-3  # [m] of the spoon, across and up


class GripParameters(SceneParameters):
    """An object is gripped, lifted and shaken."""

    h: Time = 0.005
    friction: float = Field(0.5, ge=0.0, description="friction between gripper and object")
    dissipation: NotNegative[Time] = Field(0.02, description="dissipation (F eq 3)")
    lift: NotNegative[Length] = Field(0.0, description="height of the lift before the shake")
    lifting: Positive[Time] = Field(0.3, description="time of the lift")
    shake: NotNegative[Length] = Field(5e-3, description="amplitude along x")
    shakes: float = Field(3.0, gt=0.0, description="shakes per second")

    def motion(self, closing: float = 0.0) -> Path:
        """Motion of the gripper: it rests for `closing` [s], lifts, and shakes."""
        stations = [(0.0, (0.0, 0.0, 0.0))]
        if closing > 0.0:
            stations.append((closing, (0.0, 0.0, 0.0)))
        for u in np.arange(1, SAMPLES + 1) / SAMPLES:  # smooth start and stop
            height = 0.5 * self.lift * (1.0 - np.cos(np.pi * u))
            stations.append((closing + u * self.lifting, (0.0, 0.0, height)))
        start = closing + self.lifting
        left = max(self.duration - start, 0.0) * self.shakes
        phase = np.arange(1, np.ceil(left * SAMPLES) + 1) / SAMPLES
        along = self.shake * np.sin(2.0 * np.pi * phase) * np.minimum(phase, 1.0)  # ramp at first
        times = start + phase / self.shakes
        stations += [(t, (x, 0.0, self.lift)) for t, x in zip(times.tolist(), along.tolist())]
        return path(stations)


class MugGripParameters(GripParameters):
    duration: Time = 5.6
    lift: NotNegative[Length] = Field(0.05, description="height of the lift before the shake")
    mass: Positive[Mass] = Field(0.3, description="mass of the mug")
    force: Positive[Force] = Field(20.0, description="grip force of the jaws")
    modulus: Positive[Pressure] = Field(1e6, description="modulus of the jaws and the floor")
    closing: Positive[Time] = Field(0.2, description="time for the jaws to close before the lift")


@scene(
    "mug-grip",
    MugGripParameters,
    summary="two jaws squeeze a mug, lift it and shake it",
    expect="the mug is lifted and does not slip between the shaking jaws",
)
def mug_grip(p: MugGripParameters) -> World:
    """A mug stands on the floor. Two jaws close on it, lift it and shake it."""
    world = World(friction=p.friction)
    body = world.add_rigid(rigid(mug(RADIUS)), p.mass, name="mug")
    ground = world.add_rigid(floor(0.3, p.modulus, 0.01), 1.0, fixed=True)
    world.set_contact(body, ground, "pressure fields", p.dissipation)
    jaw, motion = box(*JAW, p.modulus), p.motion(p.closing)
    for side, which in SIDES:
        pose = np.eye(3), np.array([0.0, side * (RADIUS + APART + 0.5 * JAW[1]), 0.045])
        press_jaw(world, body, jaw, f"{which} jaw", side, pose, p.force, p.dissipation, motion)
    world.add_probe("mug", body)
    return world


class SpoonParameters(GripParameters):
    duration: Time = 5.4
    lift: NotNegative[Length] = Field(0.03, description="height of the lift before the shake")
    mass: Positive[Mass] = Field(0.03, description="mass of the spoon")
    force: Positive[Force] = Field(19.0, description="grip force of the boxes")
    modulus: Positive[Pressure] = Field(1e6, description="modulus of the boxes")
    grip: Positive[Length] = Field(0.07, description="distance of the boxes from the handle's end")


@scene(
    "spoon",
    SpoonParameters,
    summary="two boxes hold a spoon and shake it",
    expect="friction over the patches holds the spoon level, off its centre of mass",
)
def spoon_between_boxes(p: SpoonParameters) -> World:
    """Two boxes hold a spoon by its handle, lift it and shake it."""
    world = World(friction=p.friction)
    body = world.add_rigid(
        rigid(spoon(handle=HANDLE)), p.mass, name="spoon", position=(-p.grip, 0.0, 0.0)
    )
    pinch(world, body, "box", JAW, p.modulus, 0.5 * HANDLE[0], p.force, p.dissipation, p.motion())
    world.add_probe("spoon", body)
    return world


class ChopsticksParameters(GripParameters):
    duration: Time = 5.4
    lift: NotNegative[Length] = Field(0.03, description="height of the lift before the shake")
    mass: Positive[Mass] = Field(8e-3, description="mass of the ball")
    radius: Positive[Length] = Field(0.012, description="radius of the ball")
    modulus: Positive[Pressure] = Field(2e5, description="modulus of the ball")
    force: Positive[Force] = Field(0.6, description="grip force of the sticks")
    stick: Positive[Length] = Field(3e-3, description="radius of a stick")
    angle: Angle = Field(0.08, description="angle of each stick to the x axis")


@scene(
    "chopsticks",
    ChopsticksParameters,
    summary="two sticks hold a soft ball and shake it",
    expect="the ball stays between the sticks",
)
def chopsticks(p: ChopsticksParameters) -> World:
    """Two sticks hold a soft ball near their tips, lift it and shake it."""
    world = World(friction=p.friction)
    body = world.add_rigid(sphere(p.radius, p.modulus), p.mass, name="ball")
    stick = rigid(capsule(p.stick, 0.15, p.modulus, edge=0.4 * p.stick))
    along = rotation_matrix(np.array([0.0, 1.0, 0.0]), 0.5 * np.pi)  # z to x
    for side, name in SIDES:
        slant = rotation_matrix(np.array([0.0, 0.0, 1.0]), -side * p.angle)
        touching = slant @ along, slant @ [-0.065, side * (p.radius + p.stick), 0.0]
        overlap = overlap_under(p.force, body, stick, touching, side, 0.4 * p.radius)
        pose = touching[0], touching[1] - [0.0, side * overlap, 0.0]
        press_jaw(
            world, body, stick, f"{name} stick", side, pose, p.force, p.dissipation, p.motion()
        )
    world.add_probe("ball", body)
    return world
