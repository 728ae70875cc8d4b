"""Solids meshed anew by Netgen, with their sharp edges kept: STL surfaces and STEP files.

A cup seals by its lip. `tetrahedra.coarsen` rounds such an edge by a tenth of a millimetre, and the
cup never holds; Netgen's own meshers of STL and STEP keep the points of an edge on it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from limpet.errors import MeshError
from limpet.geometry.shape import Array
from limpet.geometry.surface import volume
from limpet.meshing.tetrahedra import need, tet_volumes

MM = 1e-3  # [m]
PATIENCE = 180.0  # [s]
FIRST = 0.12  # of the extent: the size that is tried first
AGAIN = (1.0, 0.9, 0.8)  # of it: Netgen aborts on some surfaces at some sizes, and not at others
SKIN = 0.06  # of the extent: size of triangles where only a surface is wanted
MISSING = 0.1  # share of the volume that a coarse mesh may lose at curved faces
STEP = (".step", ".stp")


def tets_of_surface(
    points: Array, triangles: Array, nodes: int, order: int, fine: Array, name: str
) -> tuple[Array, Array]:
    """Tetrahedra (points, tets) of about `nodes` nodes in a closed, checked surface [m].

    They are finer near the places `fine` (k, 3) [m].
    """
    with TemporaryDirectory() as folder:
        file = Path(folder) / "surface.stl"
        _write_stl(file, points / MM, triangles)
        extent = float(np.ptp(points, axis=0).max()) / MM
        mesh = _netgen(file, name, FIRST * extent, nodes, order, fine)
    return _sound(*mesh, volume(points, triangles), nodes, name)


def tets_of_step(file: Path, nodes: int, order: int, fine: Array, name: str) -> tuple[Array, Array]:
    """As tets_of_surface, of the solid in a STEP file, which says its unit itself."""
    skin = surface_of_step(file, name)
    extent = float(np.ptp(skin[0], axis=0).max()) / MM
    mesh = _netgen(file, name, FIRST * extent, nodes, order, fine)
    return _sound(*mesh, abs(volume(*skin)), nodes, name)


def surface_of_step(file: Path, name: str) -> tuple[Array, Array]:
    """The surface (points [m], triangles) of the solid in a STEP file."""
    coarse = _netgen(file, name, 1e6)[0]
    extent = float(np.ptp(coarse, axis=0).max()) / MM
    points, _, triangles = _netgen(file, name, SKIN * extent)
    return points, triangles


def _sound(
    points: Array, tets: Array, triangles: Array, enclosed: float, nodes: int, name: str
) -> tuple[Array, Array]:
    """The mesh if it fills the solid."""
    volumes = tet_volumes(points, tets)
    if volumes.sum() < 0.0:
        tets, volumes = tets[:, [0, 2, 1, 3]], -volumes
    if len(tets) == 0 or volumes.min() <= 0.0:
        raise _gave_up(name, "it left the inside empty or turned cells over")
    if abs(volumes.sum() / enclosed - 1.0) > MISSING:
        raise MeshError(
            f"{name} meshed with {nodes} nodes has {1e9 * volumes.sum():.4g} mm^3 of its "
            f"{1e9 * enclosed:.4g}: expected {100 * MISSING:g} % off at most; ask for more nodes"
        )
    used, compact = np.unique(tets, return_inverse=True)
    return points[used], compact.reshape(-1, 4).astype(np.int32)


def _netgen(
    file: Path, name: str, size: float, nodes: int | None = None, order: int = 1,
    fine: Array | None = None,
) -> tuple[Array, Array, Array]:  # fmt: skip
    """Points [m], tets and triangles of elements of `size` [mm], or of about so many nodes."""
    need("netgen", "netgen-mesher", "meshing a solid")
    with TemporaryDirectory() as folder:
        task: dict[str, object] = {
            "file": str(file.absolute()),
            "nodes": nodes,
            "order": order,
        }
        task["fine"] = [] if fine is None else (fine / MM).tolist()
        worker = Path(__file__).with_name("netgen_cad.py")
        for factor in AGAIN:
            (Path(folder) / "task.json").write_text(json.dumps({**task, "size": factor * size}))
            try:
                run = subprocess.run(
                    [sys.executable, "-P", str(worker), folder],
                    capture_output=True,
                    errors="replace",
                    timeout=PATIENCE,
                )
            except subprocess.TimeoutExpired:
                raise _gave_up(name, f"it took longer than {PATIENCE:g} s") from None
            if run.returncode >= 0:  # it ended by itself, well or not
                break
        result = Path(folder) / "mesh.npz"
        if run.returncode != 0 or not result.is_file():
            lines = [line.strip() for line in run.stderr.splitlines() if line.strip()]
            raise _gave_up(name, lines[-1] if lines else "it broke off")
        with np.load(result) as mesh:
            points, tets, triangles = (mesh[key] for key in ("points", "tets", "triangles"))
    if len(points) == 0 or len(triangles) == 0:
        raise _gave_up(name, "it found no solid")
    return MM * points, tets, triangles


def _gave_up(name: str, reason: str) -> MeshError:
    return MeshError(
        f"{name} could not be meshed, Netgen gave up ({reason}): ask for another number of nodes, "
        "export it with finer facets, or mend and simplify it (limpet check)"
    )


def _write_stl(file: Path, points: Array, triangles: Array) -> None:
    """A binary STL; normals are left to the order of the corners."""
    record = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("spare", "<u2")])
    data = np.zeros(len(triangles), record)
    data["corners"] = points[triangles]
    data["normal"] = np.cross(
        data["corners"][:, 1] - data["corners"][:, 0], data["corners"][:, 2] - data["corners"][:, 0]
    )
    file.write_bytes(bytes(80) + np.uint32(len(data)).tobytes() + data.tobytes())
