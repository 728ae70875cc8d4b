"""Bodies and what joins them, as the user described them: what a World is a list of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from limpet.cavity.gas.line_elements import Element
from limpet.cavity.gas.vacuum_line import Source, Valve
from limpet.errors import LimpetError
from limpet.fem.attachments import Attachment
from limpet.fem.elements.choose import choose
from limpet.fem.material import RUBBER_LAWS, Fem, Material
from limpet.geometry.shape import Array, RigidShape, SoftShape
from limpet.geometry.smooth import CREASE
from limpet.geometry.surface import Surface
from limpet.pressure_field.fields import FieldGeometry as Field
from limpet.pressure_field.soft_field import SoftField
from limpet.pressure_field.surface import Pose
from limpet.rigid.joints import Joints

INTEGRATORS = ("midpoint", "backward-euler")


class Named(Protocol):
    """Anything that is called as a body is."""

    @property
    def name(self) -> str: ...


@dataclass(frozen=True)
class Region:
    """A named part of a body that can be moved, fixed or probed; None: a whole rigid body."""

    body: str  # name of the body
    name: str | None  # of the region, as "top"


@dataclass(frozen=True)
class SoftSpec:
    """A soft body as the user described it, placed in the world."""

    name: str
    shape: SoftShape  # where it stands at rest
    material: Material
    mass: float  # [kg]
    fem: Fem
    collides: bool = True
    field: SoftField | None = None  # pressure field, bound to the nodes
    crease: float = CREASE  # [rad] faces of its surface that turn by more meet in a ridge
    integrator: str | None = None  # of INTEGRATORS; None: by damping
    self_contact: bool = True  # its surface may touch itself

    @property
    def midpoint(self) -> bool:
        """Whether the midpoint rule is to keep its energy: asked for, or there is no damping."""
        m = self.material
        damped = m.mass_damping > 0.0 or m.stiffness_damping > 0.0
        if self.integrator is None:
            return not (damped or self.backward_only)
        return self.integrator == "midpoint"

    @property
    def backward_only(self) -> str | None:
        """Why it cannot take the midpoint rule."""
        chosen = choose(
            self.name, self.shape.cells, self.material.poisson,
            self.fem.element or self.shape.element, rubber=self.material.law in RUBBER_LAWS,
        )  # fmt: skip
        if any(e.shared_pressure for e in chosen.values()):
            return "its element shares pressures between cells"
        return "its deviatoric part is explicit" if self.fem.deviatoric == "explicit" else None

    def surface(self) -> tuple[Array, Array]:
        """Points (n, 3) [m] and triangles (m, 3) of its collision surface."""
        collision = self.shape.collision
        return collision.positions(self.shape.points), collision.triangles

    def __getitem__(self, region: str) -> Region:
        """A region by name, to prescribe its motion, fix, attach or probe it: ``cup["top"]``."""
        self.shape.region(region)
        return Region(self.name, region)


@dataclass(frozen=True)
class RigidSpec:
    """A rigid body as the user described it, placed in the world."""

    name: str
    shape: RigidShape  # where it stands at the start
    mass: float  # [kg]
    fixed: bool
    collides: bool = True
    field: Field | None = None
    field_pose: Pose = (np.eye(3), np.zeros(3))  # of the field's frame at the beginning
    crease: float = CREASE  # [rad] faces of its surface that turn by more meet in a ridge
    integrator: str | None = None  # of INTEGRATORS; None: midpoint with a restitution

    @property
    def midpoint(self) -> bool:
        """Whether it asks for the midpoint rule."""
        return self.integrator == "midpoint"

    def surface(self) -> tuple[Array, Array]:
        """Points (n, 3) [m] and triangles (m, 3) of its collision surface."""
        return self.shape.points, np.asarray(self.shape.triangles)

    @property
    def whole(self) -> Region:
        """All of it, as a region."""
        return Region(self.name, None)


Spec = SoftSpec | RigidSpec


@dataclass(frozen=True)
class JointSpec:
    """Points of two bodies that stay together; `other` is rigid."""

    one: str
    other: str
    nodes: Array | None  # (t,) of a soft body, or None: the points are of a rigid one
    points: Array  # (t, 3) [m] where they meet
    hinge: bool  # the second point is the other end of the axis


@dataclass(frozen=True)
class ManifoldSpec:
    """A manifold: one source for the cups that are connected to it (World.add_manifold)."""

    name: str
    source: Source
    line: tuple[Element, ...]  # from the manifold to the source, its own volume first
    valve: Valve
    switch: float  # [Pa]

    @property
    def end_vacuum(self) -> float:
        """[Pa] the deepest of its source."""
        return float(self.source.end_vacuum)


@dataclass(frozen=True)
class Connection:
    """A vacuum line on a body."""

    source: Source | ManifoldSpec
    line: tuple[Element, ...]  # from the cup to the source or manifold
    valve: Valve
    switch: float  # [Pa]
    port: Array | None  # (3,) [m], or None: the largest cavity on the body


class AnchorPoints:
    """Where the tied points stand among the vertices of their bodies."""

    def __init__(self, joints: Sequence[JointSpec]) -> None:
        self._ties = joints

    def _of(self, body: str) -> list[JointSpec]:
        return [t for t in self._ties if body in (t.one, t.other)]

    def count(self, body: str) -> int:
        return sum(len(t.points) for t in self._of(body))

    def nodes(self, body: str) -> Array:
        own = [t.nodes for t in self._of(body) if t.nodes is not None]
        return np.concatenate([*own, np.zeros(0, np.int32)]).astype(np.int32)

    def points(self, body: str) -> Array:
        return np.concatenate([*(t.points for t in self._of(body)), np.zeros((0, 3))])

    def check_apart(self, body: str, driven: Array | None) -> None:
        """Refuse nodes of a soft body that are attached twice, or attached and moved."""
        held = np.concatenate(
            [self.nodes(body), np.zeros(0, np.int32) if driven is None else driven]
        )
        node, count = np.unique(held, return_counts=True)
        if (count > 1).any():
            raise LimpetError(
                f"attach '{body}': {int((count > 1).sum())} of its nodes, as node "
                f"{int(node[count > 1][0])}, are attached twice or have a prescribed motion; "
                "choose regions that share no node"
            )

    def place(
        self, names: Sequence[str], surfaces: Sequence[Surface]
    ) -> tuple[Joints, list[Attachment]]:
        """Joints as ties, by global vertex, the surfaces standing one after the other; attached
        regions as handles.
        """
        begin = dict(zip(names, np.cumsum([0] + [s.n_vertices for s in surfaces])))
        following = {n: s.n_vertices - self.count(n) for n, s in zip(names, surfaces)}
        a, b, axis = [np.zeros(0, int)], [np.zeros(0, int)], [np.zeros(0, int)]
        handles: list[Attachment] = []
        count = 0
        for t in self._ties:
            n = len(t.points)
            one, other = following[t.one] + np.arange(n), following[t.other] + np.arange(n)
            following[t.one] += n
            following[t.other] += n
            if t.nodes is not None:
                bodies = names.index(t.one), names.index(t.other)
                handles.append(Attachment(*bodies, t.nodes, one, other))
                continue
            a.append(begin[t.one] + one)
            b.append(begin[t.other] + other)
            axis.append(np.array([-1, count]) if t.hinge else np.full(n, -1))
            count += n
        return Joints(*(np.concatenate(part).astype(np.int32) for part in (a, b, axis))), handles
