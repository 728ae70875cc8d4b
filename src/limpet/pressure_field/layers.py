"""Fields whose pressure is not proportional to the extent: layers, a rigid core (F III-2, VI-A).

Pressure is linear over a tetrahedron. So tetrahedra are cut where the extent has given values, and
the pressure follows any function of the extent between these layers.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from limpet.errors import LimpetError
from limpet.meshing.tetrahedra import tet_volumes
from limpet.pressure_field.primitives import Solid

Array = np.ndarray

LAYERS = 8  # from the surface to the core
FLAT = 1e-12  # of the mean volume: tets with merged corners
# The numbering of a prism (two triangles, corner k above corner k) with each corner as the first.
PRISM = (
    (0, 1, 2, 3, 4, 5), (1, 2, 0, 4, 5, 3), (2, 0, 1, 5, 3, 4),
    (3, 5, 4, 0, 2, 1), (4, 3, 5, 1, 0, 2), (5, 4, 3, 2, 1, 0),
)  # fmt: skip


def nonlinear(solid: Solid, power: float = 1.0, core: float = 1.0) -> Solid:
    """The extent e as min(e / core, 1)^power, in layers.

    power: above 1 a body is soft at first and stiff at depth. core: share of the depth that is
    compliant; beyond it the body is rigid.
    """
    if not 0.2 <= power <= 10.0:
        raise LimpetError(f"power = {power:g}: expected 0.2 to 10")
    if not 0.0 < core <= 1.0:
        raise LimpetError(f"core = {core:g}: expected above 0, at most 1")
    if power == core == 1.0:
        return solid
    levels = [core] if core < 1.0 else []
    if power != 1.0:
        levels += [core * k / LAYERS for k in range(1, LAYERS)]
    points, tets, extent = cut(solid, sorted(levels))
    return Solid(points, tets, np.minimum(extent / core, 1.0) ** power)


def cut(solid: Solid, levels: Sequence[float]) -> Solid:
    """The solid with its tets cut where the extent has these values."""
    points, extent = solid.points.tolist(), solid.extent.tolist()
    tets = [tuple(t) for t in solid.tets.tolist()]
    for level in levels:
        between: dict[tuple[int, int], int] = {}  # the vertex on each edge that is cut

        def on(i: int, j: int, level: float = level, between: dict = between) -> int:
            if extent[i] == level or extent[j] == level:
                return i if extent[i] == level else j
            edge = (min(i, j), max(i, j))
            if edge not in between:
                a, b = edge
                w = (level - extent[a]) / (extent[b] - extent[a])
                points.append([p + w * (q - p) for p, q in zip(points[a], points[b])])
                extent.append(level)
                between[edge] = len(points) - 1
            return between[edge]

        out: list[tuple[int, ...]] = []
        for tet in tets:
            up = [v for v in tet if extent[v] > level]
            down = [v for v in tet if extent[v] <= level]
            if not up or all(extent[v] >= level for v in tet):
                out.append(tet)
            elif len(up) == 2:
                (a, b), (c, d) = up, down
                out += _prism((a, on(a, c), on(a, d), b, on(b, c), on(b, d)))
                out += _prism((c, on(a, c), on(b, c), d, on(a, d), on(b, d)))
            else:
                (tip,), base = (up, down) if len(up) == 1 else (down, up)
                top = tuple(on(tip, v) for v in base)
                out += [(tip, *top), *_prism((*top, *base))]
        tets = [t for t in out if len(set(t)) == 4]
    x, cells = np.array(points), np.array(tets, dtype=np.int32)
    volume = tet_volumes(x, cells)
    cells = np.where((volume < 0.0)[:, None], cells[:, [1, 0, 2, 3]], cells)
    cells = cells[np.abs(volume) > FLAT * np.abs(volume).mean()]
    used, number = np.unique(cells, return_inverse=True)
    tets_ = number.reshape(-1, 4).astype(np.int32)
    return Solid(np.ascontiguousarray(x[used]), tets_, np.array(extent)[used])


def _prism(corners: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Three tets; each side is cut from its lowest vertex, so that neighbours match (Dompierre)."""
    lowest = min(range(6), key=lambda k: corners[k])
    v = [corners[k] for k in PRISM[lowest]]
    if min(v[1], v[5]) < min(v[2], v[4]):
        split = (0, 1, 2, 5), (0, 1, 5, 4), (0, 4, 5, 3)
    else:
        split = (0, 1, 2, 4), (0, 4, 2, 5), (0, 4, 5, 3)
    return [tuple(v[k] for k in tet) for tet in split]
