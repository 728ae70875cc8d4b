"""Mesh an STL or STEP file with Netgen in a separate process: `python netgen_cad.py FOLDER`.

cad.py starts it. Unlike netgen_worker.py it remeshes the surface and keeps its sharp edges. It
reads task.json in the folder and writes mesh.npz: points, tets, triangles. Lengths in millimetres.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

GRADING = 0.5  # how fast the size may change

FINER = 0.5  # size at the refined points, relative to that elsewhere
CURVATURE = 1.0  # approximate number of elements per radius of curvature
MAX_TRIALS = 8
NODE_TOLERANCE = 0.05  # relative tolerance of the number of nodes


def main(folder: Path) -> None:
    task = json.loads((folder / "task.json").read_text())
    file, nodes = task["file"], task["nodes"]
    meshing = importlib.import_module("netgen.meshing")
    if Path(file).suffix.lower() == ".stl":
        geometry = importlib.import_module("netgen.stl").STLGeometry(file)
    else:
        geometry = importlib.import_module("netgen.occ").OCCGeometry(file)
    fine = _RefinedPoints(folder / "fine.txt", task["fine"])
    if nodes is None:  # only a surface
        best = _mesh(meshing, geometry, task["size"], meshing.MeshingStep.MESHSURFACE, fine)
    else:
        best = _fitting(meshing, geometry, task["size"], nodes, task["order"], fine)
    np.savez(folder / "mesh.npz", **best)


class _RefinedPoints:
    """Points (k, 3) where the mesh is refined."""

    def __init__(self, file: Path, places: list[list[float]]) -> None:
        self.file, self.places = file, places

    def write(self, size: float) -> str:
        lines = [f"{x} {y} {z} {FINER * size}" for x, y, z in self.places]
        self.file.write_text("\n".join([str(len(lines)), *lines, "0", ""]))
        return str(self.file)


def _fitting(
    meshing: Any, geometry: Any, size: float, nodes: int, order: int, places: _RefinedPoints
) -> dict[str, Any]:
    """The mesh whose number of nodes is nearest to `nodes`, by a search over sizes."""
    fine, coarse = 0.0, np.inf
    best: tuple[float, dict[str, Any]] = (np.inf, {})
    for _ in range(MAX_TRIALS):
        mesh = _mesh(meshing, geometry, size, meshing.MeshingStep.MESHVOLUME, places)
        ratio = _count(mesh["tets"], order) / nodes
        if mesh["tets"].size and abs(np.log(ratio)) < best[0]:
            best = abs(np.log(ratio)), mesh
        if best[0] < NODE_TOLERANCE:
            break
        if mesh["tets"].size == 0:  # it failed: try a smaller size
            size *= 0.8
            continue
        fine, coarse = (size, coarse) if ratio > 1.0 else (fine, size)
        wish = size * ratio**0.45  # nodes of a thin wall grow with the square
        size = wish if fine < wish < coarse else 0.5 * (fine + min(coarse, 4.0 * size))
    return best[1] or mesh


def _mesh(
    meshing: Any, geometry: Any, size: float, until: Any, places: _RefinedPoints
) -> dict[str, Any]:
    mesh = geometry.GenerateMesh(
        meshing.MeshingParameters(
            maxh=size, grading=GRADING, curvaturesafety=CURVATURE, perfstepsend=until,
            parallel_meshing=False, meshsizefilename=places.write(size),
        )
    )  # fmt: skip
    tets, triangles = (
        e.NumPy()["nodes"][:, :k].astype(np.int64) - 1 if len(e) else np.zeros((0, k), np.int64)
        for e, k in ((mesh.Elements3D(), 4), (mesh.Elements2D(), 3))
    )
    points = np.array(mesh.Coordinates())  # a copy: the mesh is freed
    return {"points": points, "tets": tets, "triangles": triangles}


def _count(tets: np.ndarray, order: int) -> int:
    """Number of nodes of a mesh of linear or quadratic tetrahedra."""
    pairs = ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))
    edges = np.sort(np.concatenate([tets[:, pair] for pair in pairs]), axis=1)
    corners = len(np.unique(tets))
    return max(1, corners + (len(np.unique(edges, axis=0)) if order == 2 else 0))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
