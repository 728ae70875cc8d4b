"""Where the collision surfaces of a particle system are, and how they move."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from limpet.contact.primitive_pairs import Kinematics
from limpet.contact.primitives import BALL, Primitive
from limpet.particles.body import ParticleBody, falling
from limpet.particles.constraints import RigidPoses
from limpet.rigid.rigid_body import RigidBody

Array = np.ndarray


def surface_kinematics(
    soft: Sequence[tuple[int, ParticleBody]],  # with the number of its surface
    rigid: Sequence[tuple[int, int, Primitive | None]],  # surface, body, and what is used instead
    bodies: Sequence[RigidBody],
    poses: RigidPoses,
    gravity: Array,
    h: float,
) -> Kinematics:
    """Of all surfaces, moving over h as they will if nothing but gravity acts."""
    n, fall = len(soft) + len(rigid), h * gravity
    none = np.zeros((0, 3))
    x, v, start = [none] * n, [none] * n, np.zeros(n + 1, np.int64)
    centre, rotation, motion = np.zeros((n, 3)), np.zeros((n, 3, 3)), np.zeros((n, 6))
    for k, body in soft:
        x[k], v[k] = body.x, falling(body.v, gravity, h)
    for k, i, shape in rigid:
        own = bodies[i]
        centre[k], rotation[k] = poses.centre[i], poses.rotation[i]
        motion[k, :3], motion[k, 3:] = own.v, own.w
        if shape is not None and shape.kind == BALL:
            x[k], v[k] = centre[k : k + 1], own.v[None]
        else:
            x[k], v[k] = own.positions(), own.velocities()
        if own.movable:
            v[k] = v[k] + fall
            motion[k, :3] += fall
    np.cumsum([len(each) for each in x], out=start[1:])
    return Kinematics(
        start, np.concatenate([none, *x]), np.concatenate([none, *v]), centre, rotation, motion
    )
