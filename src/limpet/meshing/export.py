"""Write shapes to files: volume meshes for finite-element tools, surfaces for CAD and printing."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import numpy as np

from limpet.errors import LimpetError, suggest
from limpet.geometry.cells import CELLS, TET_EDGES
from limpet.geometry.shape import Array, RigidShape, SoftShape
from limpet.meshing.files import UNITS, PathLike
from limpet.meshing.tetrahedra import require_package

VOLUMES, SURFACES = (".vtu", ".vtk", ".msh", ".inp"), (".stl", ".obj", ".ply", ".off")
# meshio's name of a cell, and its order of the nodes
_CELLS: dict[str, tuple[str, list[int]]] = {
    "tet4": ("tetra", list(range(4))),
    "tet10": ("tetra10", list(range(10))),
    "hex8": ("hexahedron", list(range(8))),
    "hex20": ("hexahedron20", [*range(12), 16, 17, 18, 19, 12, 13, 14, 15]),
    "wedge6": ("wedge", list(range(6))),
    "wedge15": ("wedge15", list(range(15))),
}


def save_mesh(
    shape: SoftShape | RigidShape, path: PathLike, unit: str = "m", surface: str = "visual"
) -> Path:
    """Write a shape to a file. The ending selects the format: .vtu, .vtk, .msh and .inp for its
    cells, .stl, .obj, .ply and .off for its surface ("visual" or "collision").
    """
    file = Path(path)
    ending = file.suffix.lower()
    if unit not in UNITS:
        raise LimpetError(f"mesh file '{file}': unit = '{unit}'{suggest(unit, UNITS)}")
    if surface not in ("visual", "collision"):
        raise LimpetError(
            f"mesh file '{file}': surface = '{surface}': expected visual or collision"
        )
    if ending in SURFACES:
        x, t = surface_of(shape, surface)
        blocks = [("triangle", t)]
    elif ending in VOLUMES and isinstance(shape, SoftShape):
        x, blocks = node_places(shape), []
        for kind, cells in shape.cells.items():
            name, order = _CELLS[kind]
            blocks.append((name, cells[:, order]))
    elif ending in VOLUMES and isinstance(shape, RigidShape):
        x, blocks = shape.points, [("triangle", shape.triangles)]
    else:
        known = ", ".join((*VOLUMES, *SURFACES))
        raise LimpetError(f"mesh file '{file}': expected a name that ends in one of {known}")
    write(file, x / UNITS[unit], blocks)
    return file


def surface_of(shape: SoftShape | RigidShape, surface: str = "visual") -> tuple[Array, Array]:
    """Points [m] and triangles of a shape's surface."""
    if isinstance(shape, RigidShape):
        return shape.points, shape.triangles
    binding = shape.visual if surface == "visual" else shape.collision
    return binding.positions(shape.points), binding.triangles


def write(file: Path, points: Array, blocks: list[tuple[str, Array]]) -> None:
    """Write a file with meshio; the ending selects the format."""
    require_package("meshio", "meshio", "writing a mesh file")
    options = {"binary": True} if file.suffix.lower() in (".stl", ".ply") else {}
    cells = [(name, np.asarray(data, dtype=np.int32)) for name, data in blocks]
    meshio = import_module("meshio")
    # meshio 5.3 reads and writes 15-node wedges, but lacks their dimension
    import_module("meshio._mesh").topological_dimension.setdefault("wedge15", 3)
    try:
        meshio.write_points_cells(file, points, cells, **options)
    except OSError as problem:
        raise LimpetError(f"mesh file '{file}': cannot be written ({problem.strerror})") from None


def node_places(shape: SoftShape) -> Array:
    """Node positions for other tools: midside nodes on the edges instead of control points."""
    x = shape.points.copy()
    for kind, cells in shape.cells.items():
        if CELLS[kind].control:
            for k, (a, b) in enumerate(TET_EDGES):
                ends = shape.points[cells[:, a]] + shape.points[cells[:, b]]
                x[cells[:, 4 + k]] = 0.5 * shape.points[cells[:, 4 + k]] + 0.25 * ends
    return x
