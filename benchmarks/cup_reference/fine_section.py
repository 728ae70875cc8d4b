"""Any half section for CalculiX: a fine mesh of its own, and the deck that pushes it on a plate.

Netgen meshes the outline with quadrilaterals and some triangles, finer at the lip and at inner
corners, without the size field and the budget of nodes of limpet's own meshes. What belongs to the
gripper is driven straight down; the outside touches the plate, and faces of a fold touch each
other. Lengths in mm, forces in N, stresses in MPa.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from deck import Array, Case, material

from limpet.meshing.section.chains import Chain, cut_at_bends, lines_of
from limpet.meshing.section.outline import Part, signed_area

FINE = 0.35  # size at the lip and at inner corners, over that elsewhere
ROOT = 0.35  # mm from the root of a fold: nearer faces are no pair, they share a node
TOP = 1e-3  # of the height: what is held, as in limpet
FOLD = np.radians(80.0)  # faces at whose joint the outline turns back by more touch each other
ROUND_OFF = 1e-6


@dataclass(frozen=True)
class FineSection:
    """Nodes, cells and the sides that are driven or touch; a side is (cell, number from 1)."""

    points: Array  # (n, 2) [mm] radius and height
    quads: Array  # (q, 8)
    triangles: Array  # (t, 6); cells are counted through, quadrilaterals first
    held: Array  # nodes
    axis: Array  # nodes
    outside: list[tuple[int, int]]  # sides that may touch the plate
    folds: list[tuple[list[tuple[int, int]], list[tuple[int, int]]]]  # pairs of faces

    @property
    def area(self) -> float:
        """[mm^2] of all cells."""
        cells = [self.points[c[:4]] for c in self.quads] + [
            self.points[c[:3]] for c in self.triangles
        ]
        return sum(signed_area(x) for x in cells)


def fine_section(outline: list, size: float) -> FineSection:
    """The section (corners in metres) meshed with cells of `size` [mm]."""
    lines = cut_at_bends(lines_of([Part(outline)]))
    chains = [_in_mm(c) for c in lines.chains]
    points, cells = _netgen(_loop(chains), size, _fine_places(chains))
    points[:, 1] -= points[:, 1].min()
    low = min(c.points[:, 1].min() for c in chains)
    chains = [Chain(c.points - [0.0, low], c.ends, c.left, c.right, c.name) for c in chains]
    return _quadratic(points, cells, chains)


def _in_mm(c: Chain) -> Chain:
    """With the material on its left."""
    if c.left < 0:
        return Chain(1e3 * c.points[::-1], c.ends[::-1], c.right, c.left, c.name)
    return Chain(1e3 * c.points, c.ends, c.left, c.right, c.name)


def _loop(chains: list[Chain]) -> Array:
    """(k, 2) the closed outline."""
    start = {c.ends[0]: c for c in chains}
    here, out = chains[0], []
    for _ in chains:
        out.append(here.points[:-1])
        here = start[here.ends[1]]
    return np.concatenate(out)


def _fine_places(chains: list[Chain]) -> Array:
    """(k, 2) the lip, and the joints of chains at which the free angle is below a half turn."""
    every = np.concatenate([c.points for c in chains])
    low = every[:, 1].min()
    places = [x for x in every if x[1] < low + 0.01 * np.ptp(every[:, 1])]
    return np.array(places + [a.points[-1] for a, _ in _inner_joints(chains, np.radians(10.0))])


def _inner_joints(chains: list[Chain], least: float) -> list[tuple[Chain, Chain]]:
    """Successive chains at whose joint the outline turns to the outside by more than `least`."""
    start = {c.ends[0]: c for c in chains}
    found = []
    for a in chains:
        b = start[a.ends[1]]
        u, v = _straight(a), _straight(b)
        if np.arctan2(u[0] * v[1] - u[1] * v[0], u @ v) < -least:
            found.append((a, b))
    return found


def _straight(c: Chain) -> Array:
    """The direction of a chain's longest segment."""
    d = np.diff(c.points, axis=0)
    return d[np.argmax(np.linalg.norm(d, axis=1))]


def _netgen(loop: Array, size: float, fine: Array) -> tuple[Array, list[list[int]]]:
    occ = importlib.import_module("netgen.occ")
    meshing = importlib.import_module("netgen.meshing")
    corners = [occ.Pnt(x, y, 0) for x, y in loop]
    face = occ.Face(
        occ.Wire([occ.Segment(a, b) for a, b in zip(corners, corners[1:] + corners[:1])])
    )
    parameters = meshing.MeshingParameters(maxh=size, quad_dominated=True, grading=0.4)
    for x, y in fine:
        parameters.RestrictH(x, y, 0, FINE * size)
    mesh = occ.OCCGeometry(face, dim=2).GenerateMesh(parameters)
    points = np.array([[p[0], p[1]] for p in mesh.Coordinates()])
    return points, [[v.nr - 1 for v in cell.vertices] for cell in mesh.Elements2D()]


def _quadratic(points: Array, cells: list[list[int]], chains: list[Chain]) -> FineSection:
    """Middles of sides, straight as the outline is a polyline; poor quadrilaterals are cut."""
    pieces: list[list[int]] = []
    for cell in cells:
        c = cell if signed_area(points[cell]) > 0.0 else cell[::-1]
        pieces += [c] if len(c) == 3 or _convex(points[c]) else [c[:3], [c[2], c[3], c[0]]]
    pieces.sort(key=len, reverse=True)
    x, middle = list(points), {}
    sides: dict[tuple[int, int], tuple[int, int]] = {}
    full = []
    for k, c in enumerate(pieces):
        own = []
        for n, (a, b) in enumerate(zip(c, [*c[1:], c[0]])):
            key = (min(a, b), max(a, b))
            if key not in middle:
                middle[key] = len(x)
                x.append(0.5 * (points[a] + points[b]))
            own.append(middle[key])
            sides[a, b] = (k, n + 1)
        full.append([*c, *own])
    outer = {(a, b): s for (a, b), s in sides.items() if (b, a) not in sides}
    x = np.array(x)
    x[np.abs(x[:, 0]) < ROUND_OFF, 0] = 0.0
    of_chain = {id(c): [ab for ab in outer if _on(x[list(ab)].mean(axis=0), c)] for c in chains}
    top = x[:, 1].max()
    held, touching = set(), []
    for c in chains:
        own = of_chain[id(c)]
        highest = not any(d.name == "held" for d in chains) and (
            c.points[:, 1].min() > top - TOP * np.ptp(x[:, 1])
        )
        if c.name in ("held", "port") or highest:
            held |= {n for a, b in own for n in (a, b, middle[min(a, b), max(a, b)])}
        elif not c.on_axis:
            touching += [outer[ab] for ab in own]
    folds = []
    start, end = {c.ends[0]: c for c in chains}, {c.ends[1]: c for c in chains}
    for a, b in _inner_joints(chains, FOLD):
        root = a.points[-1]
        # a fold that is pressed flat also reaches what is next to its faces
        faces = (a, end[a.ends[0]]), (b, start[b.ends[1]])
        away = [
            [
                outer[ab] for c in own for ab in of_chain[id(c)]
                if np.linalg.norm(x[list(ab)].mean(axis=0) - root) > ROOT
            ]
            for own in faces
        ]  # fmt: skip
        # ccx 2.20 was seen to hang with the upper face, which is wider, as the dependent one
        lower = a.points[:, 1].mean() < b.points[:, 1].mean()
        folds.append((away[0], away[1]) if lower else (away[1], away[0]))
    quads = [f for f in full if len(f) == 8]
    return FineSection(
        x, np.array(quads), np.array([f for f in full if len(f) == 6]).reshape(-1, 6),
        np.array(sorted(held)), np.flatnonzero(x[:, 0] == 0.0), touching, folds,
    )  # fmt: skip


def _convex(x: Array) -> bool:
    """Whether no corner of a quadrilateral is near straight or inverted."""
    d = np.roll(x, -1, axis=0) - x
    e = np.roll(d, 1, axis=0)
    sine = (
        (e[:, 0] * d[:, 1] - e[:, 1] * d[:, 0])
        / np.linalg.norm(d, axis=1)
        / np.linalg.norm(e, axis=1)
    )
    return bool(sine.min() > 0.25)


def _on(point: Array, c: Chain) -> bool:
    for p, q in pairwise(c.points):
        d = q - p
        s = np.clip((point - p) @ d / (d @ d), 0.0, 1.0)
        if np.linalg.norm(point - p - s * d) < 1e-6:
            return True
    return False


def push_deck(s: FineSection, case: Case, depths: list[float]) -> str:
    """The cup over a fixed slab, its held nodes driven down to each of the `depths` [mm]."""
    n, m = len(s.points), len(s.quads) + len(s.triangles)
    reach = 1.6 * s.points[:, 0].max()
    slab = np.array([[0, -1], [1, -1], [1, 0], [0, 0], [0.5, -1], [1, -0.5], [0.5, 0], [0, -0.5]])
    slab = slab * [reach, 1.0] + [0.2, 0.0]
    nodes = np.concatenate([s.points, slab])
    lines = [
        "*NODE, NSET=NALL", *(f"{i + 1}, {r:.12g}, {z:.12g}, 0." for i, (r, z) in enumerate(nodes)),
        "*ELEMENT, TYPE=CAX8R, ELSET=CUP", *(_row([e, *c]) for e, c in enumerate(s.quads)),
    ]  # fmt: skip
    if len(s.triangles):
        first = len(s.quads)
        lines += ["*ELEMENT, TYPE=CAX6, ELSET=CUP"]
        lines += [_row([first + e, *c]) for e, c in enumerate(s.triangles)]
    lines += ["*ELEMENT, TYPE=CAX8R, ELSET=SLAB", _row([m, *range(n, n + 8)])]
    for name, own in (
        ("TOP", s.held), ("AXIS", s.axis), ("CUPNODES", range(n)), ("SLABNODES", range(n, n + 8))
    ):  # fmt: skip
        lines += [f"*NSET, NSET={name}", *(f"{i + 1}," for i in own)] if len(own) else []
    lines += ["*SURFACE, NAME=UNDER, TYPE=ELEMENT", *_sides(s.outside)]
    lines += ["*SURFACE, NAME=PLATE, TYPE=ELEMENT", f"{m + 1}, S3"]
    for k, (one, two) in enumerate(s.folds):
        lines += [f"*SURFACE, NAME=A{k}, TYPE=ELEMENT", *_sides(one)]
        lines += [f"*SURFACE, NAME=B{k}, TYPE=ELEMENT", *_sides(two)]
    lines += [
        *material(case), "*SOLID SECTION, ELSET=CUP, MATERIAL=RUBBER",
        "*MATERIAL, NAME=STEEL", "*ELASTIC", "210000., 0.3",
        "*SOLID SECTION, ELSET=SLAB, MATERIAL=STEEL",
        "*SURFACE INTERACTION, NAME=TOUCH",
        "*SURFACE BEHAVIOR, PRESSURE-OVERCLOSURE=LINEAR", f"{case.penalty:.9g}",
    ]  # fmt: skip
    if case.friction > 0.0:
        lines += ["*FRICTION", f"{case.friction:.9g}, {case.stick:.9g}"]
    pair = "*CONTACT PAIR, INTERACTION=TOUCH, TYPE=SURFACE TO SURFACE"
    lines += [pair, "UNDER, PLATE"]
    for k in range(len(s.folds)):
        lines += [pair, f"A{k}, B{k}"]
    lines += ["*BOUNDARY", "SLABNODES, 1, 2", "TOP, 1, 1"]
    lines += ["AXIS, 1, 1"] if len(s.axis) else []
    for depth in depths:
        lines += [
            "*STEP, NLGEOM, INC=5000", "*STATIC",
            "0.05, 1., 1e-7, 0.05",
            "*BOUNDARY", f"TOP, 2, 2, {-depth:.9g}",
            "*NODE PRINT, NSET=TOP, FREQUENCY=100000, TOTALS=ONLY", "RF",
            "*NODE PRINT, NSET=SLABNODES, FREQUENCY=100000, TOTALS=ONLY", "RF",
            "*NODE PRINT, NSET=CUPNODES, FREQUENCY=100000", "U", "*END STEP",
        ]  # fmt: skip
    return "\n".join(lines) + "\n"


def _sides(sides: list[tuple[int, int]]) -> list[str]:
    return [f"{e + 1}, S{n}" for e, n in sides]


def _row(zero_based: object) -> str:
    return ", ".join(str(int(i) + 1) for i in zero_based)
