"""Fill a surface with Netgen in a separate process: `python netgen_worker.py FOLDER`.

tetrahedra.py starts it, because Netgen prints, and aborts the process on some valid surfaces. It
reads surface.npz in the folder and writes mesh.npz. Lengths are in mean edges of the surface.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import numpy as np

GRADING = 0.3  # how fast the size may change, Netgen's own default
ROOT = 1.1 + 3 * 0.0879  # side of Netgen's octree around a cube, in sides of that cube
JUST_FITS = 1.01  # a size just above the side of a leaf stops the refinement there


def main(folder: Path) -> None:
    netgen = importlib.import_module("netgen.meshing")
    with np.load(folder / "surface.npz") as given:
        points, triangles, inside = given["points"], given["triangles"], given["inside"]
        size = float(given["size"])
    mesh = netgen.Mesh()
    mesh.AddPoints(points)
    mesh.Add(netgen.FaceDescriptor(surfnr=1, domin=1, domout=0, bc=1))
    mesh.AddElements(dim=2, index=1, data=triangles, base=0)

    # Netgen puts nodes into the octree cells that are wholly inside. By default it refines the
    # octree at the surface only: with few large triangles no cell is inside, at any size. So
    # refine it inside, and choose its root such that the leaves have the requested size.
    low, high = points.min(axis=0), points.max(axis=0)
    root = size * 2.0 ** np.ceil(np.log2(ROOT * 1.1 * (high - low).max() / size))
    corner = 0.5 * (low + high)
    frame = netgen.Mesh()
    frame.AddPoints(np.array([corner - 0.5 * root / ROOT, corner + 0.5 * root / ROOT]))
    frame.CalcLocalH(GRADING, 1)
    mesh.SetLocalH(frame.GetLocalH(1), 1)
    for place in inside:
        mesh.RestrictLocalH(netgen.Pnt(*place), JUST_FITS * size)

    # One thread is as fast at these sizes.
    mesh.GenerateVolumeMesh(maxh=JUST_FITS * size, grading=GRADING, parallel_meshing=False)
    tets = mesh.Elements3D().NumPy()["nodes"]
    np.savez(folder / "mesh.npz", points=mesh.Coordinates(), tets=tets - 1)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
