"""Twelve sections for the tests: in millimetres here, in metres when they are used."""

from __future__ import annotations

import numpy as np

from limpet.meshing.section.outline import Corner, Part

MM = 1e-3


def corner(r, z, fillet=0.0, through=None, edge=None):
    arc = None if through is None else (through[0] * MM, through[1] * MM)
    return Corner(r * MM, z * MM, fillet * MM, arc, edge)


def outline(*corners):
    return [c if isinstance(c, Corner) else corner(*c) for c in corners]


def bellows(folds, radius=15.0, wall=1.4, port=3.0, pitch=7.0, depth=5.0, fillet=0.6):
    """A zigzag wall of constant thickness under a collar round a port."""
    count = int(2 * folds)
    line = [
        (radius - (depth if k % 2 else 0.5 * (k > 0)), 0.5 * pitch * k) for k in range(count + 1)
    ]
    line = np.array(line)
    d = np.diff(line, axis=0)
    d /= np.linalg.norm(d, axis=1)[:, None]
    normal = np.column_stack([-d[:, 1], d[:, 0]])  # towards the axis
    sides = []
    for k in range(len(line)):
        v = normal[max(k - 1, 0)] + normal[min(k, count - 1)]
        sides.append(v * 2.0 / (v @ v))
    inner, outer = (line + s * 0.5 * wall * np.array(sides) for s in (1.0, -1.0))
    top = line[-1, 1]
    inner[-1, 1] = outer[-1, 1] = top
    return outline(
        outer[0],
        *(corner(*p, fillet) for p in outer[1:-1]),
        outer[-1],
        (outer[-1, 0], top + 2.5),
        corner(port + 3.0, top + 2.5, 0.8),
        (port + 3.0, top + 8.5),
        corner(port, top + 8.5, edge="port"),
        (port, top),
        inner[-1],
        *(corner(*p, fillet) for p in inner[-2:0:-1]),
        inner[0],
    )


STEM = outline(
    (0, 4.5), (9, 3.3), (17.5, 0), (17.8, 0.7), (9.3, 4.9), (5, 6.2), (5, 15), (0, 15)
)  # fmt: skip
PORTED = outline(
    (2.5, 4), (8, 3.4), (15, 0), (15.3, 0.9), (9, 5), (6, 6.5), (6, 14),
    corner(2.5, 14, edge="port"),
)  # fmt: skip
CLEATS = outline(
    (0, 3), (3, 2.85), (3, 1), (4, 1), (4, 2.8), (6, 2.7), (6, 0.9), (7, 0.9), (7, 2.65), (9, 2.5),
    (9, 0.8), (10, 0.8), (10, 2.45), (14, 2), (17.5, 0), (17.6, 0.7), (13, 4), (6, 5.5), (6, 12),
    (0, 12),
)  # fmt: skip
# a knife edge for a lip, steps of a hundredth, and corners on straight edges
DEGENERATE = outline(
    (0, 3), (5, 3), (10, 3), (10.01, 2.99), (18, 0), (12, 4), (9, 5), (5, 5), (5, 5.02), (4.99, 10),
    (0, 10),
)  # fmt: skip
SECTIONS = {
    "stem": STEM,
    "filleted": outline(
        (0, 4),
        (12, 3),
        corner(16.8, 0.3, 0.3),
        corner(17.6, 0, 0.2),
        corner(18, 0.8, 0.3),
        corner(12, 5, 3),
        corner(5, 5.5, 1),
        corner(5, 12, 0.5),
        (0, 12),
    ),
    "arcs": outline(
        corner(0, 5, 0, (9, 3.9)),
        (16, 0),
        (16.6, 0.8),
        corner(5, 6.8, edge="neck"),
        (5, 13),
        (0, 13),
    ),
    "bellows 1": bellows(1.0, radius=12.0, wall=1.0),
    "bellows 1.5": bellows(1.5),
    "bellows 2.5": bellows(2.5),
    "sharp bellows": bellows(2.5, fillet=0.0),
    "thin bellows": bellows(3.5, radius=20.0, wall=0.8, depth=7.0, pitch=6.0, fillet=0.3),
    "port and insert": [
        Part(PORTED),
        Part(
            outline((2.5, 7.5), (4.5, 7.5), (4.5, 14), corner(2.5, 14, edge="port")), "insert", 1e3
        ),
    ],
    "cleats": CLEATS,
    "degenerate": DEGENERATE,
    "soft lip": [
        Part(outline((0, 4), (17.5, 0), (17.8, 1), (5, 6), (5, 12), (0, 12))),
        Part(outline((12, 1.2571429), (17.5, 0), (17.8, 1), (12, 3.265625)), "soft", 0.3),
    ],
}
