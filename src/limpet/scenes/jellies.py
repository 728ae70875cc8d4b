"""Four jellies of different models carry a bar on a dish (Vezzaro et al. 2015, C, figure 2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
from pydantic import Field

from limpet.contact.primitives import block, half_space, round_bar
from limpet.fem.material import Material
from limpet.geometry.shape import RigidShape
from limpet.model.world import World
from limpet.particles.body import ParticleBody
from limpet.particles.explicit_fem import ExplicitFem
from limpet.particles.mass_spring import MassSpring, spring_stiffness
from limpet.particles.meshes import ParticleMesh, cylinder
from limpet.particles.model import ParticleModel
from limpet.particles.pbd import PositionBased
from limpet.particles.settings import ParticleSolverSettings, Plan
from limpet.particles.shape_matching import ShapeMatching
from limpet.particles.system import ParticleSystem
from limpet.rigid.rigid_body import RigidBody
from limpet.scenes.registry import SceneParameters, scene
from limpet.shapes.boxes import box
from limpet.units import Density, Mass, Positive, Pressure, Time

SOLVER_SETTINGS = ParticleSolverSettings(sweeps=2, substeps=3, max_substeps=30)
MODELS = ("springs", "tets", "positions", "shape")
PLACES = ((-1.5, -1.5), (1.5, -1.5), (-1.5, 1.5), (1.5, 1.5))  # of the radius
DENSITY = 1090.0  # [kg/m^3] of a jelly with 22 % of sugar
BAR = 2.7  # [kg] for which three substeps will do
YOUNG = 1350.0  # [Pa] a very soft jelly: as stiff as three explicit substeps of 20 ms allow
WITHIN = 0.95  # of the longest stable step that a softened jelly is stepped with


def jelly(
    model: str, mesh: ParticleMesh, mass: float, drag: float, young: float = YOUNG
) -> ParticleBody:
    """A jelly; its skin carries the load.

    Two models have a modulus: the springs (at Poisson's ratio 1/4) and the finite elements. Goals
    have none: how stiff they are depends on sweeps and time step (k m/h^2 for each node).
    """
    if model == "springs":
        k = spring_stiffness(mesh, young)
        return MassSpring(
            model, mesh, mass, stiffness=k, damping=2e-3 * k, mass_damping=drag, uniform_mass=True
        )
    if model == "tets":
        return ExplicitFem(model, mesh, mass, Material(young, 0.3, drag, 5e-4), uniform_mass=True)
    if model == "positions":
        return PositionBased(model, mesh, mass, sweeps=2, mass_damping=drag, uniform_mass=True)
    return ShapeMatching(
        model, mesh, mass, stiffness=0.5, linear=0.3, mass_damping=drag, uniform_mass=True
    )


def solver_settings(bar_mass: float, plan: Plan = "stable") -> ParticleSolverSettings:
    """What two sweeps leave unsolved grows with the load and the square of a substep."""
    if plan == "paper":  # contacts and start as in C 4.3, 4.6: with ours a step of 20 ms diverges
        return ParticleSolverSettings.paper(mass_splitting=True, warm_start=0.0)
    substeps = int(np.ceil(SOLVER_SETTINGS.substeps * np.sqrt(max(1.0, bar_mass / BAR))))
    return replace(SOLVER_SETTINGS, substeps=min(substeps, SOLVER_SETTINGS.max_substeps))


def softened(young: float, build: Callable[[float], ParticleBody], h: float) -> ParticleBody:
    """The body of modulus `young`, or of the largest that an explicit step h allows."""
    body = build(young)
    return body if h <= body.stable_step else build(young * (WITHIN * body.stable_step / h) ** 2)


class JellyParameters(SceneParameters):
    h: Time = 0.02
    duration: Time = 3.0
    across: int = Field(6, ge=2, le=40, description="cells across each jelly")
    along: int = Field(8, ge=2, le=60, description="cells along its height")
    bar_mass: Positive[Mass] = Field(
        BAR,
        description="mass of the bar of 48 x 48 x 3 cm: 9 kg of solid chocolate (1300 kg/m^3), "
        "2.7 kg of a foam of it",
    )
    density: Positive[Density] = Field(DENSITY, description="of the jellies, 22 % of them sugar")
    young: Positive[Pressure] = Field(
        YOUNG, description="Young's modulus of the springs and the finite elements"
    )
    plan: Plan = Field(
        "stable", description="stable, or paper: one solve of 2 + 2 sweeps per step, as C"
    )


@scene(
    "jelly",
    JellyParameters,
    summary="four jellies, each with a different model, carry a bar of chocolate on a dish",
    expect="all four carry the bar, sway and come to rest",
)
def four_jellies(p: JellyParameters) -> World:
    """Mass-springs, finite elements, position-based dynamics and shape matching side by side."""
    world = World()
    world.particles.settings = solver_settings(p.bar_mass, p.plan)
    add_jellies(
        world.particles, (p.across, p.along), density=p.density, bar_mass=p.bar_mass,
        young=p.young, h=p.h if p.plan == "paper" else 0.0,
    )  # fmt: skip
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
    density: float = DENSITY,  # [kg/m^3]
    bar_mass: float = BAR,  # [kg]
    drag: float = 2.0,  # [1/s]
    young: float = YOUNG,  # [Pa]
    h: float = 0.0,  # [s] for which jellies are made softer, if they are stiffer than it allows
) -> None:
    """Add four jellies with inextensible skin edges and stiff folds; their interior models differ.

    C gives no sizes, but they decide what a step of 20 ms can support: the free fall in a step
    is compared with the edge length, and explicit moduli grow with its square. These jellies
    are 18 cm wide; jellies of 6 cm would have to be nine times as soft. The dish weighs 13.5 kg: a
    disc of stoneware, 84 cm wide and 1 cm thick (2400 kg/m^3), collides as 6 cm high.
    """
    table = _box("table", (3.0, 3.0, 0.3), (0.0, 0.0, -0.06), 10.0, fixed=True)
    particles.add_rigid(table, half_space(0.15))
    # the dish touches the table with the corners of its bounding box
    dish = _box("dish", (0.6, 0.6, 0.06), (0.0, 0.0, 0.0), 13.5)
    particles.add_rigid(dish, round_bar(0.42, 0.06, (0.0, 0.0, 1.0)))
    for model, (x, y) in zip(MODELS, PLACES):
        mesh = cylinder(radius, height, divisions, taper=0.9)
        mesh = mesh.moved((x * radius, y * radius, 1e-3))
        build = partial(jelly, model, mesh, density * mesh.volume(), drag)
        body = particles.add(softened(young, build, h))
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
