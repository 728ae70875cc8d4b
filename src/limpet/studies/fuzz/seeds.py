"""Sound inputs of every kind, from which the mutated ones are made."""

from __future__ import annotations

import struct
from functools import cache

import numpy as np

from limpet.scenes.registry import model_of
from limpet.shapes.boxes import box

SCENES = (
    'scene = "ground"\n[parameters]\nsectors = 6\nsegments = 3\nyoung = "4 MPa"\nh = "10 ms"\n',
    'scene = "lift"\n[parameters]\nsectors = 6\nsegments = 3\nblock_mass = "250 g"\n',
    'scene = "ground"\n[cup]\nthickness = ["6 mm", "3 mm", "1.3 mm", "0.7 mm"]\ninner = '
    '[["0 mm", "4.5 mm"], ["6 mm", "4 mm"], ["12 mm", "2.4 mm"], ["17.5 mm", "0 mm"]]\n',
    'scene = "ground"\n[cup]\nstraight = "5 mm"\nsection = [["0 mm", "4 mm"], ["15 mm", "0 mm"], '
    '{r = "15 mm", z = "1 mm", edge = "lip"}, {r = "5 mm", z = "6 mm", fillet = "1 mm"}, '
    '["0 mm", "6 mm"]]\n[[cup.parts]]\nname = "hard"\nstiffness = 20\noutline = '
    '[["0 mm", "5 mm"], ["3 mm", "5 mm"], ["3 mm", "6 mm"], ["0 mm", "6 mm"]]\n',
    'scene = "ground"\n[cup]\nlike = "standard"\nradius = "20 mm"\ndome = 2.0\nnodes = 300\n',
    'scene = "ground"\n[parameters]\nblock_mesh = "block.stl"\nblock_unit = "mm"\n',
    'include = "common.toml"\nscene = "active-a20"\n[parameters]\nsegments = 6\nsectors = 10\n',
    'scene = "cantilever"\n[parameters]\nduration = "0.5 s"\n',
)
QUICK = (  # scenes that are built in a few tenths of a second
    "active-a20", "air-tunnel", "ball", "boxes", "cantilever", "chopsticks", "cloth", "cube-halves",
    "cup-lifts-bag", "cup-lifts-jelly", "curved", "jelly", "lift", "low-friction", "masses",
    "mug-grip", "pencil", "rope", "soft-cube", "tentacle", "toy",
)  # fmt: skip
COMMON = '[parameters]\nfriction = 0.5\nseal = "leaky"\nreach = "0.3 mm"\n'
VALUES = (
    "4 MPa", "0.5", "10 ms", "1 s", "8", "leaky", "[0, 0, 0]", "0.5 mm", "434", "-3 mm", "0", "1e9",
    "-1", "1e-12", "100000", "1e29 m", "true", "none", "[[1], [2]]", "1e400", "nan", "180 deg",
    "outer", "classifier", "curved", "tet4", "hex8", "1000 kg", "1e-9 Pa", "3", "[1e30]", "0.3 N",
)  # fmt: skip
MESSAGES = (
    '{"do": "ack"}',
    '{"do": "step", "count": 3}',
    '{"do": "speed", "value": 0.5}',
    '{"do": "colour", "name": "stress"}',
    '{"do": "live", "name": "leak", "value": 1e-6}',
    '{"do": "pull", "body": "cup", "vertex": 3, "force": [0.1, 0, -2.5]}',
    '{"do": "parameters", "values": {"young": "2 MPa", "sectors": 6, "segments": 3}}',
)


@cache
def meshes() -> dict[str, bytes]:
    """A block in every format that is read here, by kind; the kind begins with the ending."""
    block = box(0.03, 0.04, 0.05, (2, 2, 2))
    x, t = 1e3 * block.points, block.triangles
    head = "ply\nformat {} 1.0\nelement vertex {}\n"
    head += "property float x\nproperty float y\nproperty float z\n"
    head += "element face {}\nproperty list uchar int vertex_indices\nend_header\n"
    points = [f"{a:g} {b:g} {c:g}" for a, b, c in x]
    faces = [f"3 {a} {b} {c}" for a, b, c in t]
    facets = [
        "facet normal 0 0 0\nouter loop\n"
        + "".join(f"vertex {points[k]}\n" for k in corners)
        + "endloop\nendfacet"
        for corners in t
    ]
    binary = b"".join(struct.pack("<12fH", *(0.0,) * 3, *x[c].ravel(), 0) for c in t)
    rows = x.astype("<f4").tobytes() + b"".join(struct.pack("<B3i", 3, *c) for c in t)
    small, large = "binary_little_endian", "binary_big_endian"
    swapped = x.astype(">f4").tobytes() + b"".join(struct.pack(">B3i", 3, *c) for c in t)
    return {
        "stl text": "\n".join(["solid block", *facets, "endsolid block\n"]).encode(),
        "stl binary": bytes(80) + struct.pack("<I", len(t)) + binary,
        "obj": "\n".join(
            [*(f"v {p}" for p in points), *(f"f {a + 1} {b + 1} {c + 1}" for a, b, c in t), ""]
        ).encode(),
        "off": "\n".join(["OFF", f"{len(x)} {len(t)} 0", *points, *faces, ""]).encode(),
        "ply text": (
            head.format("ascii", len(x), len(t)) + "\n".join([*points, *faces, ""])
        ).encode(),
        "ply binary": head.format(small, len(x), len(t)).encode() + rows,
        "ply big-endian": head.format(large, len(x), len(t)).encode() + swapped,
    }


@cache
def other_meshes() -> dict[str, bytes]:
    """The block in formats of meshio, which are read in a process of their own."""
    block = box(0.03, 0.04, 0.05)
    x, t = 1e3 * block.points, block.triangles
    vtk = ["# vtk DataFile Version 3.0", "block", "ASCII", "DATASET UNSTRUCTURED_GRID"]
    vtk += [f"POINTS {len(x)} double", *(" ".join(map(str, row)) for row in x.tolist())]
    vtk += [f"CELLS {len(t)} {4 * len(t)}", *(f"3 {a} {b} {c}" for a, b, c in t)]
    vtk += [f"CELL_TYPES {len(t)}", *(["5"] * len(t)), ""]
    msh = ["$MeshFormat", "2.2 0 8", "$EndMeshFormat", "$Nodes", str(len(x))]
    msh += [f"{k + 1} {a} {b} {c}" for k, (a, b, c) in enumerate(x.tolist())]
    msh += ["$EndNodes", "$Elements", str(len(t))]
    msh += [f"{k + 1} 2 2 1 1 {a} {b} {c}" for k, (a, b, c) in enumerate((t + 1).tolist())]
    return {"vtk": "\n".join(vtk).encode(), "msh": "\n".join([*msh, "$EndElements", ""]).encode()}


def setting(rng: np.random.Generator) -> str:
    """A scene and one of its parameters, with a value that fits or does not."""
    scene = "ground" if rng.random() < 0.3 else pick(rng, QUICK)
    names = tuple(model_of(scene).model_fields)
    return f"{scene} {pick(rng, names)}={pick(rng, VALUES)}"


def pick(rng: np.random.Generator, choices: tuple[str, ...]) -> str:
    return choices[int(rng.integers(len(choices)))]
