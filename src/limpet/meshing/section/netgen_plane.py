"""Mesh polygons with Netgen in a separate process: `python netgen_plane.py FOLDER`.

mesh.py starts it. It reads task.json in the folder, a list of polygons, each with its loops (the
first one outside, the others holes), a size and whether it is for quadrilaterals. The corners of
the loops are all nodes on the boundary. It writes mesh.json. Lengths are in sizes of
the cells, so that cups of all sizes are meshed alike.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

GRADING = 0.9  # how fast the size may change


def main(folder: Path) -> None:
    occ = importlib.import_module("netgen.occ")
    tasks = json.loads((folder / "task.json").read_text())
    meshes = [_mesh(occ, task["loops"], task["size"], task["quads"]) for task in tasks]
    (folder / "mesh.json").write_text(json.dumps(meshes))


def _mesh(occ: Any, loops: Any, size: float, quads: bool) -> dict[str, Any] | None:
    """Points and cells, None where Netgen fails."""
    try:
        face = _face(occ, loops[0])
        for hole in loops[1:]:
            face = face - _face(occ, hole)
        for edge in face.edges:
            edge.partition = []  # no nodes but its ends
        geometry = occ.OCCGeometry(face, dim=2)
        mesh = geometry.GenerateMesh(maxh=size, quad_dominated=quads, grading=GRADING)
    except Exception:  # Netgen has no exceptions of its own
        return None
    points = [[float(p[0]), float(p[1])] for p in mesh.Coordinates()]
    cells = [[v.nr - 1 for v in cell.vertices] for cell in mesh.Elements2D()]
    return {"points": points, "cells": cells}


def _face(occ: Any, loop: Any) -> Any:
    points = [occ.Pnt(x, y, 0) for x, y in loop]
    sides = [occ.Segment(a, b) for a, b in zip(points, points[1:] + points[:1])]
    return occ.Face(occ.Wire(sides))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
