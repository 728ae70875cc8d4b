"""Meshes of STL surfaces and STEP files by Netgen, which keeps their sharp edges.

A cup seals at its lip. `tetrahedra.coarsen` rounds that edge by a tenth of a millimetre, and the
cup does not hold. Netgen's meshers for STL and STEP keep the nodes of a sharp edge on it.
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
from limpet.meshing.tetrahedra import require_package, tet_volumes

MM = 1e-3  # [m]
TIMEOUT = 180.0  # [s]
FIRST_SIZE = 0.12  # of the extent: the first element size
SIZE_FACTORS = (1.0, 0.9, 0.8)  # of it: Netgen aborts on some surfaces at some sizes only
SURFACE_SIZE = 0.06  # of the extent: size of the triangles of a surface mesh
VOLUME_TOLERANCE = 0.1  # fraction of the volume that a coarse mesh may lose at curved faces
STEP = (".step", ".stp")


def tets_of_surface(
    points: Array, triangles: Array, nodes: int, order: int, fine: Array, name: str
) -> tuple[Array, Array]:
    """Tetrahedra (points, tets) with about `nodes` nodes in a closed, checked surface [m].

    The mesh is finer near the points `fine` (k, 3) [m].
    """
    with TemporaryDirectory() as folder:
        file = Path(folder) / "surface.stl"
        _write_stl(file, points / MM, triangles)
        extent = float(np.ptp(points, axis=0).max()) / MM
        mesh = _netgen(file, name, FIRST_SIZE * extent, nodes, order, fine)
    return _checked(*mesh, volume(points, triangles), nodes, name)


def tets_of_step(file: Path, nodes: int, order: int, fine: Array, name: str) -> tuple[Array, Array]:
    """As tets_of_surface, for the solid in a STEP file, which contains its unit."""
    skin = surface_of_step(file, name)
    extent = float(np.ptp(skin[0], axis=0).max()) / MM
    mesh = _netgen(file, name, FIRST_SIZE * extent, nodes, order, fine)
    return _checked(*mesh, abs(volume(*skin)), nodes, name)


def surface_of_step(file: Path, name: str) -> tuple[Array, Array]:
    """The surface (points [m], triangles) of the solid in a STEP file."""
    coarse = _netgen(file, name, 1e6)[0]
    extent = float(np.ptp(coarse, axis=0).max()) / MM
    points, _, triangles = _netgen(file, name, SURFACE_SIZE * extent)
    return points, triangles


def _checked(
    points: Array, tets: Array, triangles: Array, enclosed: float, nodes: int, name: str
) -> tuple[Array, Array]:
    """The mesh without unused points, after a check that it fills the solid."""
    volumes = tet_volumes(points, tets)
    if volumes.sum() < 0.0:
        tets, volumes = tets[:, [0, 2, 1, 3]], -volumes
    if len(tets) == 0 or volumes.min() <= 0.0:
        raise _netgen_failed(name, "the interior is empty or cells are inverted")
    if abs(volumes.sum() / enclosed - 1.0) > VOLUME_TOLERANCE:
        raise MeshError(
            f"{name} meshed with {nodes} nodes has {1e9 * volumes.sum():.4g} mm^3 of its "
            f"{1e9 * enclosed:.4g}: expected {100 * VOLUME_TOLERANCE:g} % error at most; add nodes"
        )
    used, compact = np.unique(tets, return_inverse=True)
    return points[used], compact.reshape(-1, 4).astype(np.int32)


def _netgen(
    file: Path, name: str, size: float, nodes: int | None = None, order: int = 1,
    fine: Array | None = None,
) -> tuple[Array, Array, Array]:  # fmt: skip
    """Points [m], tets and triangles for a size [mm], or for about `nodes` nodes."""
    require_package("netgen", "netgen-mesher", "meshing a solid")
    with TemporaryDirectory() as folder:
        task: dict[str, object] = {
            "file": str(file.absolute()),
            "nodes": nodes,
            "order": order,
        }
        task["fine"] = [] if fine is None else (fine / MM).tolist()
        worker = Path(__file__).with_name("netgen_cad.py")
        for factor in SIZE_FACTORS:
            (Path(folder) / "task.json").write_text(json.dumps({**task, "size": factor * size}))
            try:
                run = subprocess.run(
                    [sys.executable, "-P", str(worker), folder],
                    capture_output=True,
                    errors="replace",
                    timeout=TIMEOUT,
                )
            except subprocess.TimeoutExpired:
                raise _netgen_failed(name, f"it took longer than {TIMEOUT:g} s") from None
            if run.returncode >= 0:  # it was not killed by a signal
                break
        result = Path(folder) / "mesh.npz"
        if run.returncode != 0 or not result.is_file():
            lines = [line.strip() for line in run.stderr.splitlines() if line.strip()]
            raise _netgen_failed(name, lines[-1] if lines else "it stopped without a message")
        with np.load(result) as mesh:
            points, tets, triangles = (mesh[key] for key in ("points", "tets", "triangles"))
    if len(points) == 0 or len(triangles) == 0:
        raise _netgen_failed(name, "it found no solid")
    return MM * points, tets, triangles


def _netgen_failed(name: str, reason: str) -> MeshError:
    return MeshError(
        f"{name} could not be meshed by Netgen ({reason}): use another number of nodes, "
        "export it with finer facets, or repair and simplify it (limpet check)"
    )


def _write_stl(file: Path, points: Array, triangles: Array) -> None:
    """Write a binary STL file."""
    record = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("spare", "<u2")])
    data = np.zeros(len(triangles), record)
    data["corners"] = points[triangles]
    data["normal"] = np.cross(
        data["corners"][:, 1] - data["corners"][:, 0], data["corners"][:, 2] - data["corners"][:, 0]
    )
    file.write_bytes(bytes(80) + np.uint32(len(data)).tobytes() + data.tobytes())
