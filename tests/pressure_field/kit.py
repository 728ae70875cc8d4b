"""Poses, and bodies small enough for brute force."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from limpet.pressure_field.fields import PressureField, RigidSurface, pressure_field, rigid_surface
from limpet.pressure_field.primitives import box, cylinder, icosphere, sphere

HERE = (np.eye(3), np.zeros(3))


def pose(turn=(0.0, 0.0, 0.0), place=(0.0, 0.0, 0.0)):
    return Rotation.from_rotvec(turn).as_matrix(), np.array(place, dtype=float)


def ball(edge=0.025) -> PressureField:
    return pressure_field(sphere(0.05, edge), 1e7)


def brick() -> PressureField:
    return pressure_field(box(0.1, 0.12, 0.08), 2e7)


def rod() -> PressureField:
    return pressure_field(cylinder(0.03, 0.1, 0.015), 1e7)


def rigid_ball(rounds=2, radius=0.05) -> RigidSurface:
    directions, triangles = icosphere(rounds)
    return rigid_surface(radius * directions, triangles)


def force(surface):
    return surface.pressure @ surface.area
