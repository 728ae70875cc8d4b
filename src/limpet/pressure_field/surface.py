"""The contact surface of two bodies: where their pressures are equal (F III-3, VI-B, algorithm 1).

One body, the host, stays in its own frame; the other, the probe, is brought there. Tets of the
probe are sliced by the plane on which both pressures are equal, and clipped to the host's tets.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from limpet.errors import LimpetError
from limpet.pressure_field.fields import Body, HalfSpace, PressureField, RigidSurface
from limpet.pressure_field.polygons import (
    AREA,
    CENTROID,
    OF_HOST,
    OF_PROBE,
    PRESSURE,
    field_field,
    field_half_space,
    field_rigid,
    half_space_rigid,
)

Array = np.ndarray
Pose = tuple[Array, Array]  # rotation (3, 3) and translation (3,) [m], from body to world


@dataclass(frozen=True)
class ContactSurface:
    """Convex polygons in the world's frame. Normals point from body b to body a."""

    area: Array  # (k, 3) [m^2] normal times area
    centroid: Array  # (k, 3) [m]
    pressure: Array  # (k,) [Pa] at the centroid, which is also the mean
    gradient_a: Array  # (k, 3) [Pa/m] of body a's pressure; 0 if a is rigid
    gradient_b: Array  # (k, 3) [Pa/m] of body b's
    cells: Array  # (k, 2) int32, tet (triangle if rigid, -1 for a half space) of a and of b
    start: Array  # (k + 1,) int32, polygon i has the corners start[i] to start[i + 1]
    corners: Array  # (v, 3) [m] counter-clockwise about the normal
    corner_pressure: Array  # (v,) [Pa]

    def __len__(self) -> int:
        return len(self.pressure)

    def triangles(self) -> tuple[Array, Array, Array]:
        """Points (v + k, 3), their pressure, and triangles (v, 3): fans about the centroids."""
        v, k = len(self.corners), len(self)
        owner = np.repeat(np.arange(k), np.diff(self.start))
        after = np.arange(1, v + 1)
        after[self.start[1:] - 1] = self.start[:-1]
        fans = np.stack([np.arange(v), after, v + owner], axis=1).astype(np.int32)
        points = np.vstack([self.corners, self.centroid])
        return points, np.append(self.corner_pressure, self.pressure), fans


def contact_surface(a: Body, pose_a: Pose, b: Body, pose_b: Pose) -> ContactSurface:
    """The surface on which the pressures of a and b are equal; empty if they do not overlap."""
    if not (is_compliant(a) or is_compliant(b)):
        raise LimpetError(
            "both bodies are rigid: expected at least one with a pressure field; give one a modulus"
        )
    if isinstance(a, HalfSpace) and isinstance(b, HalfSpace):
        raise LimpetError(
            "both bodies are half spaces: expected at most one, the other of finite size"
        )
    # Which body is host does not change the surface. Tets before the rest, many before few.
    swapped = _rank(a) > _rank(b)
    host, probe = (a, b) if swapped else (b, a)
    (rh, th), (rp, tp) = (pose_a, pose_b) if swapped else (pose_b, pose_a)
    if isinstance(host, PressureField):
        if isinstance(probe, PressureField):
            found = field_field(
                host.cells, host.boxes, probe.points, probe.tets, probe.cells, probe.boxes,
                rh, th, rp, tp, swapped,
            )  # fmt: skip
        elif isinstance(probe, RigidSurface):
            found = field_rigid(
                host.cells, host.boxes, probe.points, probe.triangles, probe.boxes,
                rh, th, rp, tp, swapped,
            )  # fmt: skip
        else:
            found = field_half_space(
                host.cells, host.boxes, probe.normal, probe.offset, probe.stiffness,
                rh, th, rp, tp, swapped,
            )  # fmt: skip
    else:
        assert isinstance(host, HalfSpace) and isinstance(probe, RigidSurface)
        found = half_space_rigid(
            host.normal, host.offset, host.stiffness, probe.points, probe.triangles,
            rh, th, rp, tp, swapped,
        )  # fmt: skip
    rows, cells, start, corners = found
    of_a, of_b = (OF_HOST, OF_PROBE) if swapped else (OF_PROBE, OF_HOST)
    return ContactSurface(
        area=rows[:, AREA : AREA + 3],
        centroid=rows[:, CENTROID : CENTROID + 3],
        pressure=rows[:, PRESSURE],
        gradient_a=rows[:, of_a : of_a + 3],
        gradient_b=rows[:, of_b : of_b + 3],
        cells=cells,
        start=start,
        corners=corners[:, :3],
        corner_pressure=corners[:, 3],
    )


def is_compliant(body: Body) -> bool:
    """Whether it has a pressure field."""
    return isinstance(body, PressureField) or (
        isinstance(body, HalfSpace) and np.isfinite(body.stiffness)
    )


def _rank(body: Body) -> float:
    """The higher is host: tets by number, then compliant half spaces."""
    if isinstance(body, PressureField):
        return float(len(body.tets))
    return 0.5 if is_compliant(body) else 0.0
