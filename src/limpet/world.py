"""What a user builds: bodies, drives, gravity and air. Nothing moves here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from limpet.bodies.material import Fem, Material
from limpet.bodies.motion import HOLD, Motion
from limpet.bodies.rigid import RigidBody
from limpet.bodies.soft import SoftBody
from limpet.cavity.gas import Atmosphere
from limpet.errors import LimpetError, require_positive, suggest
from limpet.geometry.check import check_apart, check_surface
from limpet.geometry.shapes import Array, RigidShape, SoftShape, check_points
from limpet.geometry.surface import Surface

Vector = Sequence[float] | Array


@dataclass(frozen=True)
class Region:
    """A named part of a body that can be driven or held; `name` is None for a whole rigid body."""

    body: str
    name: str | None


@dataclass(frozen=True)
class SoftSpec:
    """A soft body as the user described it, placed in the world."""

    name: str
    shape: SoftShape
    material: Material
    mass: float
    fem: Fem

    def __getitem__(self, region: str) -> Region:
        self.shape.region(region)
        return Region(self.name, region)


@dataclass(frozen=True)
class RigidSpec:
    """A rigid body as the user described it, placed in the world."""

    name: str
    shape: RigidShape
    mass: float
    fixed: bool

    @property
    def whole(self) -> Region:
        return Region(self.name, None)


Spec = SoftSpec | RigidSpec


class World:
    """Bodies and what acts on them. Lengths in m, masses in kg, pressures in Pa, time in s."""

    def __init__(
        self,
        gravity: Vector = (0.0, 0.0, -9.81),
        friction: float = 0.5,
        atmosphere: Atmosphere | None = None,
        leak: float = 0.0,
        sealing: float | None = None,
    ) -> None:
        self.gravity = np.asarray(gravity, dtype=float)
        if self.gravity.shape != (3,) or not np.all(np.isfinite(self.gravity)):
            raise LimpetError(f"gravity = {gravity}: expected three finite numbers [m/s^2]")
        self.friction = _friction(friction)
        self.atmosphere = atmosphere or Atmosphere()
        if not 0.0 <= leak < np.inf:
            raise LimpetError(f"leak = {leak:g} mol/s: expected 0 or more")
        self.leak = leak  # n_leak into every sealed cavity (P eq 15)
        # [m] in place of Settings.sealing, where coarse facets leave gaps that real bodies do not
        self.sealing = None if sealing is None else require_positive("sealing", sealing, " m")
        self.specs: dict[str, Spec] = {}
        self.drives: dict[str, tuple[Region, Motion]] = {}  # by body
        self.watched: dict[str, Region] = {}
        self._pair_friction: dict[frozenset[str], float] = {}

    def add_soft(
        self,
        shape: SoftShape,
        material: Material,
        mass: float,
        *,
        name: str | None = None,
        position: Vector = (0.0, 0.0, 0.0),
        rotation: Array | None = None,
        fem: Fem | None = None,
    ) -> SoftSpec:
        """A soft body; `mass` [kg] is spread evenly over its volume.

        `fem` names an element and how it is used; by default mesh and material choose it.
        """
        name = self._new_name(name, shape.name)
        check_points(shape.points, f"mesh of '{name}'")
        require_positive(f"mass of '{name}'", mass, " kg")
        placed = replace(shape, points=_place(shape.points, position, rotation))
        spec = SoftSpec(name, placed, material, mass, fem or Fem())
        self.specs[name] = spec
        return spec

    def add_rigid(
        self,
        shape: RigidShape,
        mass: float,
        *,
        name: str | None = None,
        position: Vector = (0.0, 0.0, 0.0),
        rotation: Array | None = None,
        fixed: bool = False,
    ) -> RigidSpec:
        """A rigid body, free to move, or `fixed` in the world."""
        name = self._new_name(name, shape.name)
        check_points(shape.points, f"mesh of '{name}'")
        require_positive(f"mass of '{name}'", mass, " kg")
        placed = replace(shape, points=_place(shape.points, position, rotation))
        spec = RigidSpec(name, placed, mass, fixed)
        self.specs[name] = spec
        return spec

    def drive(self, target: Region | RigidSpec, motion: Motion) -> None:
        """Move a region of a soft body, or a whole rigid body, along `motion`."""
        if isinstance(target, SoftSpec):
            regions = ", ".join(target.shape.regions)
            raise LimpetError(
                f"drive on '{target.name}': a soft body is driven by a region, as in "
                f"{target.name}['top']; it has: {regions}"
            )
        if not isinstance(target, (Region, RigidSpec)) or not isinstance(motion, Motion):
            raise LimpetError(
                "drive: expected a region or a rigid body of this world, and a motion.path"
            )
        region = target.whole if isinstance(target, RigidSpec) else target
        if region.body not in self.specs:
            raise LimpetError(f"drive on '{region.body}'{suggest(region.body, self.specs)}")
        spec = self.specs[region.body]
        if isinstance(spec, RigidSpec) != (region.name is None):
            raise LimpetError(f"drive on '{region.body}': the target is of another world")
        if isinstance(spec, RigidSpec) and spec.fixed:
            raise LimpetError(f"drive on '{region.body}': it is fixed; add it without fixed=True")
        if region.body in self.drives:
            raise LimpetError(f"'{region.body}' has a drive already: join the two motions")
        if np.abs(motion.offset(0.0)).max() > 1e-9:
            raise LimpetError(
                f"drive on '{region.body}': the motion starts {motion.offset(0.0)} m away from "
                "where the body stands; begin the path with (0, 0)"
            )
        self.drives[region.body] = (region, motion)

    def hold(self, target: Region | RigidSpec) -> None:
        """Keep a region of a soft body, or a rigid body, where it is."""
        self.drive(target, HOLD)

    def watch(self, name: str, target: Region | RigidSpec) -> None:
        """Report a region's mean position in each step as name_x, name_y, name_z [m].

        Of a rigid body it is the centre of mass. With a region comes the volume of its body, as a
        share of that at rest: body_volume.
        """
        if isinstance(target, RigidSpec):
            target = target.whole
        if not isinstance(target, Region):
            raise LimpetError(
                f"watch '{name}': expected a region of a soft body, as beam[\"tip\"], or a rigid body"
            )
        if target.body not in self.specs:
            near = suggest(target.body, self.specs)
            raise LimpetError(f"watch '{name}': there is no body '{target.body}'{near}")
        if not name.isidentifier():
            raise LimpetError(f"watch '{name}': expected a name of letters, digits and _")
        if name in self.watched:
            raise LimpetError(f"watch '{name}': that name is taken")
        self.watched[name] = target

    def watched_columns(self) -> list[str]:
        """The names of what is watched, in the order of the reports."""
        places = [f"{name}_{axis}" for name in self.watched for axis in "xyz"]
        regions = self.watched.values()
        bodies = dict.fromkeys(region.body for region in regions if region.name is not None)
        return places + [f"{body.replace(' ', '_')}_volume" for body in bodies]

    def set_friction(self, one: Spec, other: Spec, mu: float) -> None:
        """Friction of one pair of bodies, instead of the world's."""
        self._pair_friction[frozenset((one.name, other.name))] = _friction(mu)

    def friction_between(self, one: str, other: str) -> float:
        return self._pair_friction.get(frozenset((one, other)), self.friction)

    def build(self) -> tuple[list[SoftBody | RigidBody], list[Surface]]:
        """The bodies, ready to step, and the topology of their collision surfaces."""
        if not self.specs:
            raise LimpetError("the world is empty: add a body first")
        bodies: list[SoftBody | RigidBody] = []
        surfaces: list[Surface] = []
        placed: list[tuple[str, Array, Array]] = []
        for spec in self.specs.values():
            region, motion = self.drives.get(spec.name, (None, None))
            if isinstance(spec, SoftSpec):
                collision = spec.shape.collision
                points, triangles = collision.positions(spec.shape.points), collision.triangles
            else:
                points, triangles = spec.shape.points, np.asarray(spec.shape.triangles)
            surfaces.append(check_surface(points, triangles, f"surface of '{spec.name}'"))
            placed.append((spec.name, points, surfaces[-1].triangles))
            if isinstance(spec, SoftSpec):
                nodes = spec.shape.region(region.name) if region and region.name else None
                bodies.append(
                    SoftBody(
                        spec.name, spec.shape, spec.material, spec.mass, nodes, motion, spec.fem
                    )
                )
            else:
                bodies.append(RigidBody(spec.name, spec.shape, spec.mass, spec.fixed, motion))
        check_apart(placed)
        return bodies, surfaces

    def _new_name(self, name: str | None, kind: str) -> str:
        if name is None:
            name = kind
            count = 2
            while name in self.specs:
                name = f"{kind} {count}"
                count += 1
        if name in self.specs:
            raise LimpetError(f"name = '{name}': the world has a body of that name already")
        return name


def _friction(mu: float) -> float:
    if not 0.0 <= mu < np.inf:
        raise LimpetError(f"friction = {mu:g}: expected 0 or more")
    return float(mu)


def _place(points: Array, position: Vector, rotation: Array | None) -> Array:
    where = np.asarray(position, dtype=float)
    if where.shape != (3,) or not np.all(np.isfinite(where)):
        raise LimpetError(f"position = {position}: expected three finite numbers [m]")
    turn = np.eye(3) if rotation is None else np.asarray(rotation, dtype=float)
    if turn.shape != (3, 3) or not np.allclose(turn @ turn.T, np.eye(3), atol=1e-9):
        raise LimpetError("rotation: expected a rotation matrix, 3 x 3 and orthogonal")
    return np.ascontiguousarray(points @ turn.T + where)
