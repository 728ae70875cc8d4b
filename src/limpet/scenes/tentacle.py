"""Bernardin et al. 2023 (P) 5, 'Octopus Tentacle': an arm with suckers lifts a can."""

from __future__ import annotations

from pydantic import Field

from limpet.cavity.gas.exchange import AirExchange
from limpet.dynamics.motion import path
from limpet.fem.material import Material
from limpet.model.world import World
from limpet.scenes.registry import SceneParameters, scene
from limpet.shapes.boxes import box
from limpet.shapes.objects import can
from limpet.shapes.tentacles import tentacle as tentacle_shape
from limpet.units import Length, Mass, Positive, Pressure, Time

CLEARANCE = 2e-3  # [m] between the suckers and the can at the start


class TentacleParameters(SceneParameters):
    duration: Time = 3.0
    sealing_distance: Length = Field(2e-4, gt=0.0, description="gaps below this are airtight")
    young: Positive[Pressure] = Field(4e6, description="Young's modulus of the suckers")
    arm_young: Positive[Pressure] = Field(1e5, description="Young's modulus of the arm")
    poisson: float = Field(0.45, gt=-1.0, le=0.5, description="Poisson's ratio of the tentacle")
    tentacle_mass: Positive[Mass] = Field(0.06, description="mass of the tentacle")
    suckers: int = Field(7, ge=1, description="suckers on the tentacle")
    rim_vertices: int = Field(3, ge=2, description="vertices along an eighth of a sucker's rim")
    thickness: float = Field(0.6, gt=0.0, description="thickness of the tentacle over its width")
    lip: float = Field(0.05, gt=0.0, description="wall of a sucker at its rim, over its radius")
    wall: float = Field(0.12, gt=0.0, description="wall of a sucker at the arm, over its radius")
    length: Positive[Length] = Field(0.14, description="length of the tentacle")
    can_mass: Positive[Mass] = Field(0.013, description="mass of the can: an empty one")
    radius: Positive[Length] = Field(0.033, description="radius of the can")
    reach: float = Field(0.28, gt=0.0, lt=1.0, description="position of the can along the tentacle")
    muscle: float = Field(
        0.8, gt=0.0, le=1.0, description="fraction of their air that contracting suckers keep"
    )
    friction: float = Field(0.5, ge=0.0, description="friction between all bodies")
    drop: Positive[Length] = Field(8e-3, description="downward travel of the root")
    rise: Positive[Length] = Field(0.06, description="upward travel of the root")


@scene(
    "tentacle",
    TentacleParameters,
    summary="an octopus arm sinks onto a can, some suckers seal, and it lifts the can",
    expect="some suckers seal on the can; the can leaves the ground and hangs from them",
)
def tentacle(p: TentacleParameters) -> World:
    """An octopus tentacle falls gently onto a can; some of its suckers flatten on it and seal.

    Then its root is raised, and the sealed suckers lift the can, an empty one. A real octopus
    contracts its suckers; `muscle` below 1 does so (P 3.5).
    """
    world = World(friction=p.friction)
    shape = tentacle_shape(
        p.length, suckers=p.suckers, thickness=p.thickness, rim_vertices=p.rim_vertices,
        lip=p.lip, wall=p.wall, stiffness=p.young / p.arm_young,
    )  # fmt: skip
    length = float(shape.points[:, 0].max())
    world.add_rigid(box(0.5, 0.5, 0.02), 5.0, name="ground", fixed=True)
    tin = world.add_rigid(
        can(p.radius, lying=True), p.can_mass, name="can", position=(p.reach * length, 0.0, 0.0)
    )
    top = float(tin.shape.points[:, 2].max())
    arm = world.add_soft(
        shape, Material(p.arm_young, p.poisson), p.tentacle_mass, name="tentacle",
        position=(0.0, 0.0, top + CLEARANCE),
    )  # fmt: skip
    down = -p.drop
    world.prescribe_motion(
        arm["root"],
        path([(0.0, 0.0), (0.6, down), (1.4, down), (2.8, down + p.rise)]),
    )
    world.set_air_exchange(arm, AirExchange(chamber=[(0.0, 1.0), (1.0, 1.0), (1.4, p.muscle)]))
    world.add_probe("can", tin)
    return world
