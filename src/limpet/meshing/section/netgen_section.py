"""Cut the solid in a STEP file by half planes: `python netgen_section.py FOLDER`.

recognise.py starts it, as Netgen prints and may abort. It reads task.json in the folder (file, and
the direction of the axis) and writes cuts.json: the volume, and the outline (r, z) of the cut at
each angle, from the centre of mass; none if a cut has not exactly one outline. In millimetres.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

ANGLES = (0.1, 1.3, 2.9, 4.4)  # [rad] at no symmetry of a cup with slots or holes
STEPS = 18  # points by which the turn of a curved edge is measured
# [rad] between points of a curved edge; that of outline.py, so that a cup from its drawing and the
# same cup from its outline have the same polyline, and with it the same mesh
ARC_STEP = np.radians(5.0)
STRAIGHT = 1e-5  # of an edge's length: one whose middle is nearer to its chord has no points


def main(folder: Path) -> None:
    task = json.loads((folder / "task.json").read_text())
    occ = importlib.import_module("netgen.occ")
    shape = occ.OCCGeometry(task["file"]).shape
    up = np.array(task["up"], float)
    centre = np.array([shape.center[k] for k in range(3)])
    low, high = (np.array([p[k] for k in range(3)]) for p in shape.bounding_box)
    reach = 2.0 * float(np.linalg.norm(high - low))
    cuts = [_cut(occ, shape, centre, up, angle, reach) for angle in ANGLES]
    done = [] if any(cut is None for cut in cuts) else cuts
    (folder / "cuts.json").write_text(json.dumps({"volume": float(shape.mass), "cuts": done}))


def _cut(
    occ: Any, shape: Any, centre: np.ndarray, up: np.ndarray, angle: float, reach: float
) -> list[list[float]] | None:
    """The outline (r, z) of the cut by the half plane at an angle about the axis."""
    side = np.roll(up, 1)  # up is along x, y or z
    out = np.cos(angle) * side + np.sin(angle) * np.cross(up, side)
    corners = [
        occ.Pnt(*(centre + r * out + z * up))
        for r, z in ((0.0, -reach), (reach, -reach), (reach, reach), (0.0, reach))
    ]
    sides = [occ.Segment(a, b) for a, b in zip(corners, corners[1:] + corners[:1])]
    cut = shape * occ.Face(occ.Wire(sides))
    if len(cut.faces) != 1 or len(cut.faces[0].wires) != 1:
        return None
    curves = [
        [[float((p - centre) @ out), float(p @ up)] for p in _sampled(edge)]
        for edge in cut.faces[0].wires[0].edges
    ]
    return _chained(curves)


def _sampled(edge: Any) -> list[np.ndarray]:
    """Points of an edge, with its ends."""
    points = _values(edge, STEPS)
    chord = points[-1] - points[0]
    length = float(np.linalg.norm(chord))
    if length > 0.0:
        away = [np.linalg.norm(np.cross(p - points[0], chord)) / length for p in points]
        if max(away) < STRAIGHT * length:
            return [points[0], points[-1]]
    return _values(edge, arc_steps(points))


def arc_steps(points: list[np.ndarray]) -> int:
    """The number of steps of a curved edge, by how far the polyline through its points turns."""
    d = np.diff(points, axis=0)
    d /= np.linalg.norm(d, axis=1)[:, None]
    turn = float(np.arccos(np.clip(np.sum(d[1:] * d[:-1], axis=1), -1.0, 1.0)).sum())
    turn *= (len(points) - 1) / (len(points) - 2)  # the halves of the first and last step
    count = max(2, int(np.ceil(turn / ARC_STEP - 1e-6)))
    return count + count % 2


def _values(edge: Any, steps: int) -> list[np.ndarray]:
    low, high = edge.parameter_interval
    return [
        np.array([p[k] for k in range(3)])
        for p in (edge.Value(t) for t in np.linspace(low, high, steps + 1))
    ]


def _chained(curves: list[list[list[float]]]) -> list[list[float]] | None:
    """The curves end to end as one closed line, its last point left out."""
    left = [np.array(c) for c in curves]
    line = left.pop(0)
    near = 1e-6 * float(np.ptp(np.concatenate([line, *left]), axis=0).max())
    while left:
        for k, c in enumerate(left):
            for piece in (c, c[::-1]):
                if np.linalg.norm(piece[0] - line[-1]) < near:
                    line = np.concatenate([line, piece[1:]])
                    break
            else:
                continue
            left.pop(k)
            break
        else:
            return None
    out: list[list[float]] = line[:-1].tolist()
    return out


if __name__ == "__main__":
    main(Path(sys.argv[1]))
