"""Contact surfaces of Limpet and of Drake on the same meshes and fields: faces, area, force.

pip install drake==1.45.0
python benchmarks/pressure_field/compare.py               # the table, about a minute
python benchmarks/pressure_field/compare.py --reference   # writes reference.json as well
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from limpet.pressure_field.primitives import box, capsule, cylinder, icosphere, sphere
from limpet.pressure_field.surface import Pose, contact_surface
from limpet.studies.bench.drake import DrakePair, as_drake
from limpet.studies.bench.test_objects import (
    Ball,
    Brick,
    RigidMesh,
    Tets,
    Thing,
    rigid_mug,
    soft_mug,
)

HERE: Pose = (np.eye(3), np.zeros(3))
BRICK = Brick((0.1, 0.12, 0.08), 2e7)
REFERENCE = Path(__file__).with_name("reference.json")


def pose(turn: tuple[float, float, float], place: tuple[float, float, float]) -> Pose:
    return Rotation.from_rotvec(turn).as_matrix(), np.array(place)


ON_TOP = pose((0.3, 0.2, 0.1), (0.003, 0.004, 0.085))
TILTED = pose((0.1, 0.2, 0.3), (0.02, 0.01, 0.036))
THROUGH = pose((0.4, 0.8, 0.3), (0.04, 0.03, 0.04))
AT_AN_EDGE = pose((0.3, 0.2, 0.1), (0.045, 0.052, 0.07))


def main() -> int:
    """The pairs at three resolutions, and how far area and force are apart."""
    pairs: list[tuple[str, Thing, Thing, Pose, float]] = []
    for edge in (0.02, 0.01, 0.005):
        pairs.append((f"sphere-box, {edge} m", Ball(0.05, edge, 1e7), BRICK, ON_TOP, 1e-12))
    for n in (300, 600, 1200):
        pairs.append((f"mug-box, {n} vertices", soft_mug(n, 1e6), BRICK, TILTED, 1e-12))
        pairs.append((f"rigid mug-box, {n} vertices", rigid_mug(n), BRICK, TILTED, 1e-12))
    mugs = soft_mug(600, 1e6), soft_mug(600, 2e6)
    pairs.append(("mug-mug, 600 vertices", *mugs, THROUGH, 1e-10))
    print(f"{'pair':30} {'faces':>6} {'all':>6} {'area':>9} {'force':>9}  relative difference")
    good = True
    for name, one, two, where, wanted in pairs:
        theirs, every, area, force = compare(one, two, where)
        good &= area < wanted and force < wanted
        print(f"{name:30} {theirs:6} {every:6} {area:9.1e} {force:9.1e}  wanted {wanted:g}")
    if "--reference" in sys.argv:
        REFERENCE.write_text(json.dumps(reference(), indent=2) + "\n")
    return 0 if good else 1


def compare(one: Thing, two: Thing, where: Pose) -> tuple[int, int, float, float]:
    """Faces of Drake, all faces of ours, relative differences of area and force."""
    pair = DrakePair(one, two)
    faces, area, force = pair.contact(where)
    a, b = pair.body(0), pair.body(1)
    whole = contact_surface(a, where, b, HERE)
    ours = as_drake(whole, a, b)
    assert len(ours) == faces, f"{len(ours)} faces, Drake has {faces}"
    own_area = float(np.linalg.norm(ours.area, axis=1).sum())
    off = np.linalg.norm(ours.pressure @ ours.area - force) / np.linalg.norm(force)
    return faces, len(whole), abs(own_area / area - 1.0), float(off)


def simple_pairs() -> dict[str, tuple[Thing, Thing, Pose]]:
    """Pairs on meshes that pressure_field.primitives makes again anywhere."""
    brick = Tets(*box(0.1, 0.12, 0.08)[:2], 2e7)
    balls = {e: Tets(*sphere(0.05, e)[:2], 1e7) for e in (0.05, 0.025, 0.0125)}
    x, triangles = icosphere(2)
    rod = Tets(*cylinder(0.03, 0.1, 0.015)[:2], 1e7)
    pill = Tets(*capsule(0.025, 0.06, 0.012)[:2], 3e7)
    out: dict[str, tuple[Thing, Thing, Pose]] = {
        f"ball of {e} m on box": (ball, brick, ON_TOP) for e, ball in balls.items()
    }
    out["rigid ball at the edge of a box"] = (RigidMesh(0.05 * x, triangles), brick, AT_AN_EDGE)
    out["cylinder at the edge of a box"] = (rod, brick, AT_AN_EDGE)
    out["capsule through cylinder"] = (pill, rod, pose((0.9, 0.4, 0.2), (0.03, 0.02, 0.02)))
    return out


def reference() -> dict[str, dict[str, object]]:
    """What Drake finds for the simple pairs."""
    out: dict[str, dict[str, object]] = {}
    for name, (one, two, where) in simple_pairs().items():
        faces, area, force = DrakePair(one, two).contact(where)
        out[name] = {"faces": faces, "area": area, "force": force.tolist()}
    return out


if __name__ == "__main__":
    sys.exit(main())
