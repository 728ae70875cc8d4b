from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from limpet.bodies.material import Material
from limpet.bodies.motion import path
from limpet.cavity.ring import Ring
from limpet.geometry.cup import CupProfile, cup
from limpet.geometry.curved import cropped_cylinder
from limpet.simulation import Settings, Simulation
from limpet.world import World

CLEARANCE = 0.1e-3
NEOPRENE = 1250.0


@dataclass(frozen=True)
class Trial:
    radius: float
    profile: CupProfile
    beyond: float = 0.3e-3  # [m] pressed this far after the middle of the dome touches
    friction: float = 0.5
    ring: Ring = Ring.OUTER
    sectors: int = 20
    segments: int = 5
    h: float = 0.01
    press_speed: float = 5e-3
    hold: float = 0.1
    speed: float = 3e-3
    sealing: float = 5e-5
    young: float = 1e6
    sagitta: float = 5e-6
    up: float = 14e-3
    only_push: bool = False


def pull_off(t: Trial, quiet=True):
    p = t.profile
    world = World(friction=t.friction)
    soft = world.add_soft(cup(p, sectors=t.sectors, segments=t.segments), Material(t.young, 0.45), 0.006, name="cup", position=(0, 0, CLEARANCE))
    bottom = -(CLEARANCE + p.depth + t.beyond)
    down = -bottom / t.press_speed
    up = t.up
    world.drive(soft["top"], path([(0, 0), (down, bottom), (down + t.hold, bottom), (down + t.hold + up / t.speed, bottom + up)]))
    width = min(0.04, 1.98 * t.radius)
    drop = t.radius - np.sqrt(t.radius**2 - width**2 / 4)
    world.add_rigid(cropped_cylinder(t.radius, 0.04, width, drop + 0.005, sagitta=t.sagitta, fine=p.radius + 1e-3), 1.0, name="tube", fixed=True)
    sim = Simulation(world, h=t.h, settings=Settings(ring=t.ring, sealing=t.sealing))
    out = []
    for r in sim.run(down + t.hold + (0.0 if t.only_push else up / t.speed)):
        out.append(r)
        c = max(r.cavities, key=lambda c: c.volume, default=None)
        if not quiet and (r.step % quiet_every == 0):
            print(f"{r.time:.3f} F={r.drives['cup'][2]:8.3f} touch={r.touching:3d} rows={r.rows} conv={r.converged} it={r.iterations} ncav={len(r.cavities)} " + (f"V={c.volume*1e9:.1f} P={c.pressure:.0f} n={c.air*1e6:.3f} gap={c.seal_gap*1e6:.1f}" if c else ""), flush=True)
        top = max(q.drives["cup"][2] for q in out)
        if r.time > down + t.hold + 0.1 and top > 3.0 and r.drives["cup"][2] < 0.5 * top:
            break
    return out, sim, down + t.hold

quiet_every = 2
