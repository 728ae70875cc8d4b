"""Bernardin et al. 2023 (P) 5, 'Soft Cube': the cup lifts a cube that is softer than itself."""

from __future__ import annotations

from pydantic import Field

from limpet.fem.material import Material
from limpet.model.world import World
from limpet.scenes.ground import cup_over
from limpet.scenes.lift import LiftParameters
from limpet.scenes.registry import scene
from limpet.scenes.slotted import slotted_ground
from limpet.shapes.boxes import soft_box
from limpet.shapes.refined_top import with_fine_top
from limpet.units import Length, Mass, Positive, Pressure, Time


class SoftCubeParameters(LiftParameters):
    """Pushed by more than 3.5 mm the cup's dome comes down on the cube: take finer divisions."""

    duration: Time = 4.0
    block_mass: Positive[Mass] = Field(0.1, description="mass of the cube")
    cube_young: Positive[Pressure] = Field(5e4, description="Young's modulus of the cube")
    cube_poisson: float = Field(0.0, gt=-1.0, le=0.5, description="Poisson's ratio of the cube")
    edge: Positive[Length] = Field(0.045, description="edge of the cube")
    divisions: int = Field(4, ge=1, description="cells along the cube's edges")
    layers: int | None = Field(None, description="cells along the height; default: divisions")
    cube_element: str = Field("hex20", description="element of the cube: hex20 or hex8")
    finer: int = Field(2, ge=1, description="subdivisions of each top cell for contact")


@scene(
    "soft-cube",
    SoftCubeParameters,
    summary="a cup lifts a highly compliant cube",
    expect="both deform when the cup presses; the cube leaves the ground and hangs",
)
def soft_cube(p: SoftCubeParameters) -> World:
    """The cup is pushed on a soft cube that stands on the ground, held, then raised."""
    world, rotation, origin = cup_over(p)
    cells = (p.divisions, p.divisions, p.layers or p.divisions)
    shape = with_fine_top(soft_box(p.edge, p.edge, p.edge, cells, p.cube_element), cells, p.finer)
    cube = world.add_soft(
        shape, Material(p.cube_young, p.cube_poisson), p.block_mass,
        name="cube", position=origin, rotation=rotation,
    )  # fmt: skip
    world.add_probe("cube_top", cube["top"])
    world.add_probe("cube_bottom", cube["bottom"])
    slotted_ground(world, origin + rotation @ [0.0, 0.0, -p.edge], p.edge, rotation)
    return world
