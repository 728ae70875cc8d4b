"""Where a finite-element body is: its nodes, the points bound to them, what observers ask."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property

import numpy as np

from limpet.dynamics.body import Body, Carrier
from limpet.dynamics.motion import Motion
from limpet.errors import require_positive
from limpet.fem.discretisation import Discretisation
from limpet.fem.elements.stress import von_mises
from limpet.fem.material import Fem, Material
from limpet.fem.surface_map import bound_points, renumbered, with_markers
from limpet.geometry.face_patches import FacePatches
from limpet.geometry.shape import Array, SoftShape
from limpet.geometry.surface import Surface, surface_topology


class NodalBody(Body):
    """Nodes that move, some of them held, and the points of surfaces that they carry."""

    movable = deformable = True

    def __init__(
        self, name: str, shape: SoftShape, material: Material, mass: float,
        driven: Array | None, motion: Motion | None, fem: Fem | None, anchors: Array | None,
        surface: Surface | None, field_nodes: Array | None, faces: FacePatches | None,
    ) -> None:  # fmt: skip
        require_positive(f"mass of '{name}'", mass, " kg")
        none = np.zeros(0, np.int32)
        driven, anchors = none if driven is None else driven, none if anchors is None else anchors
        held = np.concatenate([driven, anchors])
        self.name, self.mass, self.motion, self.shape = name, mass, motion, shape
        self.mass_damping = material.mass_damping
        self.fem = d = Discretisation(name, shape, material, fem or Fem(), mass, held)
        self.field_markers = shape.collision.n_vertices  # the first of them
        marked = with_markers(shape.collision, none if field_nodes is None else field_nodes)
        if faces is not None:
            used = faces.used_nodes()
            place = marked.n_vertices + np.searchsorted(used, faces.nodes)
            self.curved_faces = replace(faces, nodes=place.astype(np.int32))
            marked = with_markers(marked, used)
        self.collision = renumbered(with_markers(marked, anchors), d.new)
        self.visual = renumbered(shape.visual, d.new)
        self.n_points = self.collision.n_vertices
        self._surface = surface
        self.x = d.rest.copy()
        self.v = np.zeros_like(self.x)
        self.p = np.zeros(len(d.pressure_unknown))  # [Pa] shared pressures of mixed elements
        self._driven = np.unique(d.new[driven])
        self._attached: list[tuple[Carrier, Array, Array]] = []
        self._carriers: list[Carrier] = []  # those of them that move

    @cached_property
    def surfaces(self) -> Mapping[str, Surface]:  # type: ignore[override]
        known = self._surface or surface_topology(self.collision.triangles, self.n_points)
        return {self.name: known}

    @property
    def n_dof(self) -> int:  # type: ignore[override]
        return 3 * len(self.x)

    @property
    def n_nodes(self) -> int:  # type: ignore[override]
        return len(self.x)

    @property
    def n_held(self) -> int:
        """Nodes whose velocity is given by a prescribed motion or by a carrier."""
        return len(self.x) - self.fem.n_free

    def held(self, nodes: Array) -> Array:
        """Nodes of the shape, counted among the held ones."""
        return self.fem.new[nodes] - self.fem.n_free

    def held_points(self) -> Array:
        held = np.zeros(self.n_points, bool)
        held[self.collision.vertices_of(self._driven)] = True
        return held

    def attach(self, carrier: Carrier, nodes: Array, points: Array) -> None:
        """Nodes of the shape keep their place at points of a carrier from now on.

        The carrier's free velocity must be computed first.
        """
        self._attached.append((carrier, self.fem.new[nodes], points))
        if carrier.movable and carrier not in self._carriers:
            self._carriers.append(carrier)

    def positions(self) -> Array:
        return self._on_points(self.x)

    def velocities(self) -> Array:
        return self._on_points(self.v)

    def _on_points(self, of_nodes: Array) -> Array:
        b = self.collision
        return bound_points(b.start, b.nodes, b.weights, of_nodes)

    def node_positions(self) -> Array:
        """Node positions in the shape's own numbering."""
        out = np.empty_like(self.x)
        out[self.fem.order] = self.x
        return out

    def elastic_energy(self) -> float:
        return self.fem.energy(self.x, self.p)

    def visual_surface(self) -> tuple[Array, Array]:
        return self.visual.positions(self.x), self.visual.triangles

    def region_position(self, region: str | None) -> Array:
        assert region is not None, "a soft body is probed by a region"
        return self.node_positions()[self.shape.region(region)].mean(axis=0)

    def volume_ratio(self) -> float | None:
        return self.fem.volume_of(self.x) / self.fem.volume

    def surface_stress(self) -> Array | None:
        """(n_points,) [Pa] von Mises stress, from the cells round each node."""
        d = self.fem
        m = d.material
        at_nodes = von_mises(d.blocks, self.x, d.mu, d.lam, d.rotation, m.law, m.constants)
        return self._on_points(np.repeat(at_nodes[:, None], 3, axis=1))[:, 0]

    def momentum(self) -> Array:
        return self.fem.node_mass @ self.v
