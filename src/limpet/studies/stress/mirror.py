"""The mirror image of a shape through x = 0, node by node and triangle by triangle."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from limpet.geometry.cells import CELLS
from limpet.geometry.face_patches import QUAD, FacePatches
from limpet.geometry.shape import Binding, RigidShape, SoftShape

Array = np.ndarray

FLIP = np.array([-1.0, 1.0, 1.0])
# corners, then midsides, of a face that is run through the other way round
QUAD_BACK = np.array([0, 3, 2, 1, 7, 6, 5, 4])
TRIANGLE_BACK = np.array([0, 2, 1, 5, 4, 3, 6, 7])


def mirrored_shape(shape: SoftShape | RigidShape) -> SoftShape | RigidShape:
    """Its points mirrored; cells and triangles turned about, so that they stay outward."""
    if isinstance(shape, RigidShape):
        back = np.ascontiguousarray(np.asarray(shape.triangles)[:, ::-1])
        return replace(shape, points=shape.points * FLIP, triangles=back)
    cells = {k: np.ascontiguousarray(c[:, _cell_back(k)]) for k, c in shape.cells.items()}
    return replace(
        shape, points=shape.points * FLIP, cells=cells, collision=_back(shape.collision),
        visual=_back(shape.visual),
    )  # fmt: skip


def _cell_back(kind: str) -> Array:
    """The order of a cell's nodes whose mirror image is a cell again."""
    nodes = CELLS[kind].nodes
    image = nodes[:, [1, 0, 2]] if kind.startswith("tet") else nodes * [1.0, 1.0, -1.0]
    away = np.abs(image[:, None] - nodes[None]).sum(axis=2)
    return away.argmin(axis=1)


def _back(surface: Binding) -> Binding:
    patches = None if surface.patches is None else _patches_back(surface.patches)
    triangles = np.ascontiguousarray(surface.triangles[:, ::-1])
    return replace(surface, triangles=triangles, patches=patches)


def _patches_back(p: FacePatches) -> FacePatches:
    """Each face with its two coordinates swapped: r, s become s, r."""
    nodes = np.where((p.kind == QUAD)[:, None], p.nodes[:, QUAD_BACK], p.nodes[:, TRIANGLE_BACK])
    corners = p.corners[:, ::-1, ::-1]
    return replace(p, nodes=np.ascontiguousarray(nodes), corners=np.ascontiguousarray(corners))
