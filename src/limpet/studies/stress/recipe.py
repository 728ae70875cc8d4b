"""A world as data: what it is built from, turned as a whole, shrunk and printed as a script."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

import limpet as lp
from limpet.model.specs import RigidSpec, SoftSpec
from limpet.studies.stress.mirror import mirrored_shape

Array = np.ndarray
Vector = tuple[float, float, float]
Matrix = tuple[Vector, Vector, Vector]

UPRIGHT: Matrix = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
ORIGIN: Vector = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Call:
    """A function of `limpet` and its arguments, which may be calls themselves."""

    function: str  # as "shapes.cup"
    arguments: Mapping[str, object] = field(default_factory=dict)

    def make(self) -> object:
        function: object = lp
        for name in self.function.split("."):
            function = getattr(function, name)
        given = {k: v.make() if isinstance(v, Call) else v for k, v in self.arguments.items()}
        return function(**given)  # type: ignore[operator]


@dataclass(frozen=True)
class Path:
    """Stations (time [s], displacement [m])."""

    stations: tuple[tuple[float, Vector], ...]


@dataclass(frozen=True)
class Swing:
    """Stations (time [s], angle [rad]) about an axis through a point [m]."""

    stations: tuple[tuple[float, float], ...]
    axis: Vector
    centre: Vector


@dataclass(frozen=True)
class Part:
    """A body of the world, and what acts on it."""

    name: str
    shape: Call
    mass: float  # [kg]
    material: Call | None = None  # None: it is rigid
    position: Vector = ORIGIN  # [m]
    rotation: Matrix = UPRIGHT
    fixed: bool = False
    options: Mapping[str, object] = field(default_factory=dict)  # of add_soft or add_rigid
    motion: Path | Swing | None = None
    region: str | None = None  # that the motion moves, or that is attached
    carrier: str | None = None  # rigid body that the region is attached to
    line: Mapping[str, Call] = field(default_factory=dict)  # source, line, valve
    port: Vector | None = None  # [m] of the line
    exchange: Call | None = None
    mirrored: bool = False


@dataclass(frozen=True)
class Push:
    """A force on a vertex of a body from a step on."""

    step: int
    body: str
    vertex: int
    force: Vector  # [N]


@dataclass(frozen=True)
class Recipe:
    """Everything that a simulation is made from."""

    parts: tuple[Part, ...]
    h: float  # [s]
    steps: int
    gravity: Vector = (0.0, 0.0, -9.81)  # [m/s^2]
    friction: float = 0.5
    leak: float = 0.0  # [mol/s]
    atmosphere: Call = Call("Atmosphere")
    settings: Call = Call("Settings")
    pushes: tuple[Push, ...] = ()

    def part(self, name: str) -> Part:
        return next(p for p in self.parts if p.name == name)

    def with_part(self, part: Part) -> Recipe:
        parts = tuple(part if p.name == part.name else p for p in self.parts)
        return replace(self, parts=parts)


def build(recipe: Recipe) -> lp.Simulation:
    """The simulation of a recipe; raises LimpetError where the public interface refuses it."""
    atmosphere = recipe.atmosphere.make()
    world = lp.World(recipe.gravity, recipe.friction, atmosphere, recipe.leak)  # type: ignore[arg-type]
    specs: dict[str, SoftSpec | RigidSpec] = {}
    for part in recipe.parts:
        specs[part.name] = add_part(world, part)
    for part in recipe.parts:
        _connect(world, part, specs)
    settings = recipe.settings.make()
    return lp.Simulation(world, recipe.h, settings)  # type: ignore[arg-type]


def add_part(world: lp.World, part: Part) -> SoftSpec | RigidSpec:
    shape = part.shape.make()
    if part.mirrored:
        shape = mirrored_shape(shape)  # type: ignore[arg-type]
    given: dict[str, object] = {"name": part.name, "position": part.position, **part.options}
    given["rotation"] = np.array(part.rotation)
    if part.material is None:
        return world.add_rigid(shape, part.mass, fixed=part.fixed, **given)  # type: ignore[arg-type]
    return world.add_soft(shape, part.material.make(), part.mass, **given)  # type: ignore[arg-type]


def _connect(world: lp.World, part: Part, specs: Mapping[str, SoftSpec | RigidSpec]) -> None:
    spec = specs[part.name]
    target = spec[part.region] if part.region and isinstance(spec, SoftSpec) else spec
    if isinstance(part.motion, Path):
        world.prescribe_motion(target, lp.motion.path(part.motion.stations))  # type: ignore[arg-type]
    elif isinstance(part.motion, Swing):
        m = part.motion
        world.prescribe_motion(target, lp.motion.rotation(m.stations, m.axis, m.centre))  # type: ignore[arg-type]
    if part.carrier is not None:
        world.attach(target, specs[part.carrier])  # type: ignore[arg-type]
    if part.line:
        made = {key: call.make() for key, call in part.line.items()}
        source = made.pop("source")
        world.connect(spec, source, port=part.port, **made)  # type: ignore[arg-type]
    if part.exchange is not None:
        world.set_air_exchange(spec, part.exchange.make())  # type: ignore[arg-type]


def transformed(recipe: Recipe, turn: Array, shift: Array) -> Recipe:
    """The whole world turned (or mirrored, det turn = -1) about the origin, then moved."""
    mirror = bool(np.linalg.det(turn) < 0.0)
    flip = np.diag([-1.0, 1.0, 1.0]) if mirror else np.eye(3)

    def point(p: Vector) -> Vector:
        return _vector(turn @ np.array(p) + shift)

    def arrow(v: Vector) -> Vector:
        return _vector(turn @ np.array(v))

    def motion(m: Path | Swing | None) -> Path | Swing | None:
        if isinstance(m, Path):
            return Path(tuple((t, arrow(u)) for t, u in m.stations))
        if isinstance(m, Swing):
            axis = _vector(np.linalg.det(turn) * (turn @ np.array(m.axis)))
            return Swing(m.stations, axis, point(m.centre))
        return None

    def moved(p: Part) -> Part:
        rotation = turn @ np.array(p.rotation) @ flip
        return replace(
            p, position=point(p.position), rotation=_matrix(rotation), motion=motion(p.motion),
            port=None if p.port is None else point(p.port), mirrored=p.mirrored ^ mirror,
        )  # fmt: skip

    return replace(
        recipe, parts=tuple(moved(p) for p in recipe.parts), gravity=arrow(recipe.gravity),
        pushes=tuple(replace(p, force=arrow(p.force)) for p in recipe.pushes),
    )  # fmt: skip


def _vector(v: Array) -> Vector:
    return float(v[0]), float(v[1]), float(v[2])


def _matrix(m: Array) -> Matrix:
    return _vector(m[0]), _vector(m[1]), _vector(m[2])
