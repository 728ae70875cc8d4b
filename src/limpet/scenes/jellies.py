"""Four jellies of different models carry a bar on a dish (Vezzaro et al. 2015, C, figure 2)."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from limpet.contact.primitives import block, half_space, round_bar
from limpet.fem.material import Material
from limpet.geometry.shape import RigidShape
from limpet.model.world import World
from limpet.particles.body import ParticleBody
from limpet.particles.explicit_fem import ExplicitFem
from limpet.particles.mass_spring import MassSpring
from limpet.particles.meshes import ParticleMesh, cylinder
from limpet.particles.model import ParticleModel
from limpet.particles.pbd import PositionBased
from limpet.particles.settings import ParticleSolverSettings
from limpet.particles.shape_matching import ShapeMatching
from limpet.particles.system import ParticleSystem
from limpet.rigid.rigid_body import RigidBody
from limpet.scenes.registry import SceneParameters, scene
from limpet.shapes.boxes import box
from limpet.units import Mass, Positive, Time

SOLVER_SETTINGS = ParticleSolverSettings(sweeps=2, substeps=3, max_substeps=3)
MODELS = ("springs", "tets", "positions", "shape")
PLACES = ((-1.5, -1.5), (1.5, -1.5), (-1.5, 1.5), (1.5, 1.5))  # of the radius


def jelly(model: str, mesh: ParticleMesh, mass: float, drag: float) -> ParticleBody:
    """A jelly as soft as explicit substeps of some ms allow; the skin carries the load."""
    if model == "springs":
        return MassSpring(
            model, mesh, mass, stiffness=13.5, damping=0.027, mass_damping=drag, uniform_mass=True
        )
    if model == "tets":
        return ExplicitFem(model, mesh, mass, Material(1350.0, 0.3, drag, 5e-4), uniform_mass=True)
    if model == "positions":
        return PositionBased(model, mesh, mass, sweeps=2, mass_damping=drag, uniform_mass=True)
    return ShapeMatching(
        model, mesh, mass, stiffness=0.5, linear=0.3, mass_damping=drag, uniform_mass=True
    )


class JellyParameters(SceneParameters):
    h: Time = 0.02
    duration: Time = 3.0
    across: int = Field(6, ge=2, description="cells across each jelly")
    along: int = Field(8, ge=2, description="cells along its height")
    bar_mass: Positive[Mass] = Field(2.7, description="mass of the bar of chocolate")


@scene(
    "jelly",
    JellyParameters,
    summary="four jellies, each with a different model, carry a bar of chocolate on a dish",
    expect="all four carry the bar, sway and come to rest",
)
def four_jellies(p: JellyParameters) -> World:
    """Mass-springs, finite elements, position-based dynamics and shape matching side by side."""
    world = World()
    world.particles.settings = SOLVER_SETTINGS
    add_jellies(world.particles, (p.across, p.along), bar_mass=p.bar_mass)
    world.add_probe("bar", next(b for b in world.particles.rigid if b.name == "bar"))
    return world


def jelly_system(
    divisions: tuple[int, int] = (6, 8),
    h: float = 0.02,
    settings: ParticleSolverSettings = SOLVER_SETTINGS,
) -> ParticleSystem:
    """A particle system with the jellies, dish, table and bar only."""
    model = ParticleModel(settings=settings)
    add_jellies(model, divisions)
    return ParticleSystem(model, h)


def add_jellies(
    particles: ParticleModel,
    divisions: tuple[int, int] = (6, 8),  # C: 430 nodes and 574 faces each
    radius: float = 0.09,  # [m]
    height: float = 0.12,  # [m]
    density: float = 1050.0,  # [kg/m^3]
    bar_mass: float = 2.7,  # [kg]
    drag: float = 2.0,  # [1/s]
) -> None:
    """Add four jellies with inextensible skin edges and stiff folds; their interior models differ.

    C gives no sizes, but they decide what a step of 20 ms can support: the free fall in a step
    is compared with the edge length, and explicit moduli grow with its square. These jellies
    are 18 cm wide; jellies of 6 cm would have to be nine times as soft.
    """
    table = _box("table", (3.0, 3.0, 0.3), (0.0, 0.0, -0.06), 10.0, fixed=True)
    particles.add_rigid(table, half_space(0.15))
    # the dish touches the table with the corners of its bounding box
    dish = _box("dish", (0.6, 0.6, 0.06), (0.0, 0.0, 0.0), 13.5)
    particles.add_rigid(dish, round_bar(0.42, 0.06, (0.0, 0.0, 1.0)))
    mass = density * np.pi * radius**2 * height
    for model, (x, y) in zip(MODELS, PLACES):
        mesh = cylinder(radius, height, divisions, taper=0.9)
        mesh = mesh.moved((x * radius, y * radius, 1e-3))
        body = particles.add(jelly(model, mesh, mass, drag))
        particles.add_inextensible_edges(body, mesh.skin_edges())
        particles.add_bending(body, max_force=8e-3)
    bar = _box("bar", (0.48, 0.48, 0.03), (0.0, 0.0, height + 0.032), bar_mass)
    particles.add_rigid(bar, block(0.48, 0.48, 0.03))


def _box(
    name: str, size: tuple[float, float, float], top: tuple[float, float, float], mass: float,
    fixed: bool = False,
) -> RigidBody:  # fmt: skip
    shape = box(*size)
    moved = RigidShape(name, shape.points + np.array(top), shape.triangles)
    return RigidBody(name, moved, mass, fixed=fixed)
