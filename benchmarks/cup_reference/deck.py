"""CalculiX decks: the standard cup in section, pushed on a rigid plate; and a patch test.

The section is meshed with 8-node quadrilaterals between the profile's own curves, the stem on the
wall inside stem_radius, as the cup of limpet.shapes.cups, with axisymmetric elements instead of
sectors. Lengths in a deck are in mm, forces in N, stresses in MPa.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from limpet.shapes.cups import STANDARD, CupProfile

Array = np.ndarray

DEPTHS = (0.75, 1.5, 2.25, 3.0)  # [mm] of stem travel after the lip touches
LAWS = ("st-venant-kirchhoff", "neo-hooke")
HUB, FLARE, SKIRT, STEM = 3, 2, 12, 5  # elements for each one through the wall
GRADING = 1.6  # stations of the skirt at 1 - (1 - i / n)^grading: closer together at the lip
# The stem's foot is a sharp inner corner, where stress has no bound: without the finer elements
# there, forces are 0.4 % too high with two elements through the wall.
FOOT_SPLITS, FOOT_SHARE = 3, 0.3


@dataclass(frozen=True)
class Section:
    """The half section of a cup: nodes, quadrilaterals and the parts that are driven or touch."""

    points: Array  # (n, 2) [mm] radius and height
    quads: Array  # (m, 8) four corners anticlockwise, then the middles of sides 12, 23, 34, 41
    top: Array  # nodes of the stem's upper face
    axis: Array  # nodes at radius 0
    underside: Array  # nodes of the lower face, from the axis to the lip
    touching: tuple[tuple[int, int], ...]  # (quad, side from 1) of the underside and the lip's end


def section(n: int, profile: CupProfile = STANDARD) -> Section:
    """The section with `n` quadrilaterals through the wall and others in proportion.

    Stations stand at each kink of the profile: the stem's foot and 1.5 times its radius.
    """
    foot, flare = profile.stem_radius, min(1.5 * profile.stem_radius, profile.radius)
    skirt = 1.0 - (1.0 - np.linspace(0.0, 1.0, SKIRT * n + 1)) ** GRADING
    inner = foot - _finer_at_zero(foot, HUB * n)[::-1]
    outer = foot + _finer_at_zero(flare - foot, FLARE * n)
    station = _half_steps(inner, outer[1:], (flare + (profile.radius - flare) * skirt)[1:])
    across = _half_steps(1.0 - _finer_at_zero(1.0, n)[::-1])
    up = _half_steps(_finer_at_zero(1.0, STEM * n))
    hub, wall, end = 2 * len(inner) - 2, len(across) - 1, len(station) - 1
    top = wall + len(up) - 1
    ids: dict[tuple[int, int], int] = {}
    points: list[tuple[float, float]] = []

    def node(i: int, k: int) -> int:
        """Node at half station i from the axis, half layer k from the underside."""
        if (i, k) not in ids:
            ids[i, k] = len(points)
            r, z = profile.wall(station[i], across[min(k, wall)])
            if k > wall:  # in the stem: straight up from the wall to the top
                z = z + (profile.height - z) * up[k - wall]
            points.append((1e3 * float(r), 1e3 * float(z)))
        return ids[i, k]

    around = ((0, 0), (2, 0), (2, 2), (0, 2), (1, 0), (2, 1), (1, 2), (0, 1))
    quads: list[list[int]] = []
    touching: list[tuple[int, int]] = []
    for i in range(0, end, 2):
        for k in range(0, top if i < hub else wall, 2):
            if k == 0:
                touching.append((len(quads), 1))
            if i + 2 == end:
                touching.append((len(quads), 2))
            quads.append([node(i + a, k + b) for a, b in around])
    return Section(
        np.array(points), np.array(quads),
        top=np.array([node(i, top) for i in range(hub + 1)]),
        axis=np.array([node(0, k) for k in range(top + 1)]),
        underside=np.array([node(i, 0) for i in range(end + 1)]),
        touching=tuple(touching),
    )  # fmt: skip


def _finer_at_zero(length: float, n: int) -> Array:
    """0 to length in n equal intervals, the first split again and again towards 0."""
    even = np.linspace(0.0, length, n + 1)
    splits = even[1] * FOOT_SHARE ** np.arange(FOOT_SPLITS, 0, -1)
    return np.concatenate([[0.0], splits, even[1:]])


def _half_steps(*parts: Array) -> Array:
    """The stations of all parts and the points half-way between them."""
    r = np.concatenate(parts)
    out = np.empty(2 * len(r) - 1)
    out[::2], out[1::2] = r, 0.5 * (r[1:] + r[:-1])
    return out


def volume(s: Section) -> float:
    """[mm^3] of the cup by revolution of the meshed section."""
    shape, _, weight = shape_at(3)
    r = s.points[s.quads, 0] @ shape.T
    return float(2.0 * np.pi * (weight * r * jacobians(s)).sum())


def jacobians(s: Section) -> Array:
    """(m, 9) of each quadrilateral at 3 x 3 points; all positive in a good mesh."""
    _, slope, _ = shape_at(3)
    return np.linalg.det(np.einsum("mai,qaj->mqij", s.points[s.quads], slope))


def shape_at(points: int) -> tuple[Array, Array, Array]:
    """The 8 shape functions (q, 8), their slopes (q, 8, 2) and weights (q,) at Gauss points."""
    t, w = np.polynomial.legendre.leggauss(points)
    x, y = (g.ravel()[:, None] for g in np.meshgrid(t, t))
    a = np.array([-1, 1, 1, -1, 0, 1, 0, -1])
    b = np.array([-1, -1, 1, 1, -1, 0, 1, 0])
    p, q = 1 + x * a, 1 + y * b
    kinds = [a * b != 0, a == 0]  # corners, middles of the lower and upper side; else the others
    shape = np.select(kinds, [p * q * (p + q - 3) / 4, (1 - x**2) * q / 2], (1 - y**2) * p / 2)
    dx = np.select(kinds, [a * q * (2 * p + q - 3) / 4, -x * q], (1 - y**2) * a / 2)
    dy = np.select(kinds, [b * p * (p + 2 * q - 3) / 4, (1 - x**2) * b / 2], -y * p)
    return shape, np.stack([dx, dy], axis=-1), np.outer(w, w).ravel()


@dataclass(frozen=True)
class Case:
    """What is computed: the material, friction, and the stiffness that stands for hard contact."""

    poisson: float
    friction: float = 0.0
    law: str = LAWS[0]
    young: float = 4.0  # [MPa]
    penalty: float = 1e4  # [MPa/mm] contact pressure by penetration
    stick: float = 1e3  # [MPa/mm] shear by slip while it sticks


def material(case: Case) -> list[str]:
    """The elastic law: linear between second Piola stress and Green strain, or neo-Hookean."""
    e, nu = case.young, case.poisson
    if case.law == "st-venant-kirchhoff":
        return ["*MATERIAL, NAME=RUBBER", "*ELASTIC", f"{e:.9g}, {nu:.9g}"]
    # U = C10 (I1' - 3) + (J - 1)^2 / D1, with the same moduli at small strain
    c10, d1 = e / (4 * (1 + nu)), 6 * (1 - 2 * nu) / e
    return ["*MATERIAL, NAME=RUBBER", "*HYPERELASTIC, NEO HOOKE", f"{c10:.9g}, {d1:.9g}"]


def cup_deck(s: Section, case: Case, depths: Sequence[float] = DEPTHS) -> str:
    """The cup over a fixed slab, its stem driven down to each of the `depths` [mm] in turn."""
    n, m = len(s.points), len(s.quads)
    slab = np.array([[5, -1], [25, -1], [25, 0], [5, 0], [15, -1], [25, -0.5], [15, 0], [5, -0.5]])
    lines = [
        *_mesh(np.concatenate([s.points, slab]), s.quads, "CUP"),
        "*ELEMENT, TYPE=CAX8R, ELSET=SLAB", _row([m, *range(n, n + 8)]),
        *_node_set("TOP", s.top), *_node_set("AXIS", s.axis), *_node_set("CUPNODES", range(n)),
        *_node_set("SLABNODES", range(n, n + 8)),
        "*SURFACE, NAME=UNDER, TYPE=ELEMENT", *(f"{e + 1}, S{side}" for e, side in s.touching),
        "*SURFACE, NAME=PLATE, TYPE=ELEMENT", f"{m + 1}, S3",
        *material(case), "*SOLID SECTION, ELSET=CUP, MATERIAL=RUBBER",
        "*MATERIAL, NAME=STEEL", "*ELASTIC", "210000., 0.3",
        "*SOLID SECTION, ELSET=SLAB, MATERIAL=STEEL",
        "*SURFACE INTERACTION, NAME=TOUCH",
        "*SURFACE BEHAVIOR, PRESSURE-OVERCLOSURE=LINEAR", f"{case.penalty:.9g}",
    ]  # fmt: skip
    if case.friction > 0.0:
        lines += ["*FRICTION", f"{case.friction:.9g}, {case.stick:.9g}"]
    lines += [
        "*CONTACT PAIR, INTERACTION=TOUCH, TYPE=SURFACE TO SURFACE", "UNDER, PLATE",
        "*BOUNDARY", "SLABNODES, 1, 2", "AXIS, 1, 1", "TOP, 1, 1",
    ]  # fmt: skip
    for depth in depths:
        lines += [
            "*STEP, NLGEOM, INC=1000", "*STATIC", "0.05, 1., 1e-6, 0.1",
            "*BOUNDARY", f"TOP, 2, 2, {-depth:.9g}",
            "*NODE PRINT, NSET=TOP, FREQUENCY=100000, TOTALS=ONLY", "RF",
            "*NODE PRINT, NSET=SLABNODES, FREQUENCY=100000, TOTALS=ONLY", "RF",
            "*NODE PRINT, NSET=CUPNODES, FREQUENCY=100000", "U", "*END STEP",
        ]  # fmt: skip
    return "\n".join(lines) + "\n"


def patch_deck(case: Case, radius: float = 5.0, height: float = 4.0, travel: float = -0.4) -> str:
    """A cylinder between smooth plates: uniform stress, so that its force is known."""
    x, z = np.meshgrid(np.linspace(0, radius, 5), np.linspace(0, height, 5))
    points = np.column_stack([x.ravel(), z.ravel()])
    corner = np.array([0, 2, 12, 10, 1, 7, 11, 5])
    quads = np.array([corner + a + 10 * b for b in (0, 1) for a in (0, 2)])
    used = np.unique(quads)
    new = np.full(len(points), -1)
    new[used] = np.arange(len(used))
    points, quads = points[used], new[quads]
    lines = [
        *_mesh(points, quads, "CUP"), *_node_set("AXIS", np.flatnonzero(points[:, 0] == 0)),
        *_node_set("TOP", np.flatnonzero(points[:, 1] == height)),
        *_node_set("FOOT", np.flatnonzero(points[:, 1] == 0)),
        *material(case), "*SOLID SECTION, ELSET=CUP, MATERIAL=RUBBER",
        "*BOUNDARY", "AXIS, 1, 1", "FOOT, 2, 2",
        "*STEP, NLGEOM", "*STATIC", "0.25, 1.", "*BOUNDARY", f"TOP, 2, 2, {travel:.9g}",
        "*NODE PRINT, NSET=TOP, FREQUENCY=100000, TOTALS=ONLY", "RF", "*END STEP",
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def _mesh(points: Array, quads: Array, name: str) -> list[str]:
    nodes = [f"{i + 1}, {r:.12g}, {z:.12g}, 0." for i, (r, z) in enumerate(points)]
    cells = [_row([e, *q]) for e, q in enumerate(quads)]
    return ["*NODE, NSET=NALL", *nodes, f"*ELEMENT, TYPE=CAX8R, ELSET={name}", *cells]


def _node_set(name: str, nodes: Iterable[int]) -> list[str]:
    return [f"*NSET, NSET={name}", *(f"{i + 1}," for i in nodes)]


def _row(zero_based: Iterable[int]) -> str:
    return ", ".join(str(int(i) + 1) for i in zero_based)
