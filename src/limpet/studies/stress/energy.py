"""The energy of a world, where that is defined."""

from __future__ import annotations

import numpy as np

import limpet as lp
from limpet.cavity.gas.atmosphere import GAS_CONSTANT
from limpet.dynamics.motion import Path
from limpet.fem.soft_body import SoftBody
from limpet.report import StepReport
from limpet.rigid.rigid_body import RigidBody


def total_energy(sim: lp.Simulation, report: StepReport) -> float | None:
    """[J] kinetic, elastic, of weight, and of trapped air against the atmosphere.

    None where energy comes in by ways that are not counted: lines, leaks, turned motions, and air
    that does not keep its temperature.
    """
    world = sim.world
    fed = world.connections or world.leak or world.air_exchanges or sim.control.applied.any()
    turned = any(not isinstance(m, Path) for _, m in world.motions.values())
    if fed or turned or world.atmosphere.exponent != 1.0:
        return None
    total = 0.0
    for body in sim.bodies:
        if isinstance(body, RigidBody) and body.movable:
            total += body.kinetic_energy() - body.mass * float(world.gravity @ body.centre)
        elif isinstance(body, SoftBody):
            mass = body.fem.node_mass
            total += 0.5 * float(mass @ (body.v**2).sum(axis=1)) + body.elastic_energy()
            total -= float(mass @ (body.x @ world.gravity))
    around, rt = world.atmosphere.pressure, GAS_CONSTANT * world.atmosphere.temperature
    for c in report.cavities:
        if c.air > 0.0 and c.pressure > 0.0:
            # of nRT ln(P/P0) + P0 V - nRT, which is 0 for air as it is outside
            ratio = c.pressure / around
            total += c.air * rt * (np.log(ratio) + 1.0 / ratio - 1.0)
    return total
