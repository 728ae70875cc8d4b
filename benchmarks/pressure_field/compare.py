"""Contact surfaces of Limpet and of Drake on the same meshes and fields: polygons, area, force.

pip install drake==1.45.0
python benchmarks/pressure_field/compare.py               # the table, about a minute
python benchmarks/pressure_field/compare.py --reference   # writes reference.json as well
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
from drake_pair import DrakePair, as_drake

from limpet.pressure_field.primitives import box, capsule, cylinder, icosphere, sphere
from limpet.pressure_field.surface import Pose, contact_surface
from limpet.studies.bench.pressure_field import AT_ORIGIN, BOX, ON_TOP, THROUGH, TILTED, pose
from limpet.studies.bench.test_objects import (
    RigidMesh,
    Sphere,
    TestObject,
    TetMesh,
    rigid_mug,
    soft_mug,
)

REFERENCE = Path(__file__).with_name("reference.json")
AT_AN_EDGE = pose((0.3, 0.2, 0.1), (0.045, 0.052, 0.07))


def main() -> int:
    """Print the pairs at three resolutions with the differences of area and force."""
    pairs: list[tuple[str, TestObject, TestObject, Pose, float]] = []
    for edge in (0.02, 0.01, 0.005):
        pairs.append((f"sphere-box, {edge} m", Sphere(0.05, edge, 1e7), BOX, ON_TOP, 1e-12))
    for n in (300, 600, 1200):
        pairs.append((f"mug-box, {n} vertices", soft_mug(n, 1e6), BOX, TILTED, 1e-12))
        pairs.append((f"rigid mug-box, {n} vertices", rigid_mug(n), BOX, TILTED, 1e-12))
    mugs = soft_mug(600, 1e6), soft_mug(600, 2e6)
    pairs.append(("mug-mug, 600 vertices", *mugs, THROUGH, 1e-10))
    print(f"{'pair':30} {'Drake':>6} {'all':>6} {'area':>9} {'force':>9}  relative difference")
    good = True
    for name, first, second, placed, limit in pairs:
        theirs, every, area, force = compare(first, second, placed)
        good &= area < limit and force < limit
        print(f"{name:30} {theirs:6} {every:6} {area:9.1e} {force:9.1e}  limit {limit:g}")
    if "--reference" in sys.argv:
        REFERENCE.write_text(json.dumps(reference(), indent=2) + "\n")
    return 0 if good else 1


def compare(first: TestObject, second: TestObject, placed: Pose) -> tuple[int, int, float, float]:
    """Polygons of Drake, all polygons of Limpet, relative differences of area and force."""
    pair = DrakePair(first, second)
    polygons, area, force = pair.contact(placed)
    a, b = pair.body(0), pair.body(1)
    whole = contact_surface(a, placed, b, AT_ORIGIN)
    ours = as_drake(whole, a, b)
    assert len(ours) == polygons, f"{len(ours)} polygons, Drake has {polygons}"
    own_area = float(np.linalg.norm(ours.area, axis=1).sum())
    difference = np.linalg.norm(ours.pressure @ ours.area - force) / np.linalg.norm(force)
    return polygons, len(whole), abs(own_area / area - 1.0), float(difference)


def simple_pairs() -> dict[str, tuple[TestObject, TestObject, Pose]]:
    """Pairs on meshes that limpet.pressure_field.primitives generates."""
    brick = TetMesh(*box(0.1, 0.12, 0.08)[:2], 2e7)
    balls = {e: TetMesh(*sphere(0.05, e, inscribed=True)[:2], 1e7) for e in (0.05, 0.025, 0.0125)}
    x, triangles = icosphere(2)
    rod = TetMesh(*cylinder(0.03, 0.1, 0.015, inscribed=True)[:2], 1e7)
    pill = TetMesh(*capsule(0.025, 0.06, 0.012, inscribed=True)[:2], 3e7)
    out: dict[str, tuple[TestObject, TestObject, Pose]] = {
        f"ball of {e} m on box": (ball, brick, ON_TOP) for e, ball in balls.items()
    }
    out["rigid ball at the edge of a box"] = (RigidMesh(0.05 * x, triangles), brick, AT_AN_EDGE)
    out["cylinder at the edge of a box"] = (rod, brick, AT_AN_EDGE)
    out["capsule through cylinder"] = (pill, rod, pose((0.9, 0.4, 0.2), (0.03, 0.02, 0.02)))
    return out


def reference() -> dict[str, dict[str, object]]:
    """Drake's results for the simple pairs."""
    out: dict[str, dict[str, object]] = {}
    for name, (first, second, placed) in simple_pairs().items():
        faces, area, force = DrakePair(first, second).contact(placed)
        out[name] = {"faces": faces, "area": area, "force": force.tolist()}
    return out


if __name__ == "__main__":
    sys.exit(main())
