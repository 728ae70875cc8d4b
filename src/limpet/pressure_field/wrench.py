"""Force and moment of a contact surface (F V, VI-B3): pressure, dissipation, friction.

The integrals are computed over fans of triangles, exact to degree 2: moments of a linear pressure
are exact.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from limpet.compiled import njit
from limpet.errors import LimpetError, require_positive
from limpet.pressure_field.fields import FieldGeometry, HalfSpace, PressureField, RigidSurface
from limpet.pressure_field.polygon_quadrature import WEIGHTS, twice_area
from limpet.pressure_field.smooth_gradient import interpolated
from limpet.pressure_field.soft_field import SoftField
from limpet.pressure_field.surface import ContactSurface, Pose

Array = np.ndarray


@dataclass(frozen=True)
class FrictionModel:
    """Friction and dissipation on a contact surface."""

    friction: float = 0.0  # Coulomb's mu
    slip_speed: float = 1e-3  # [m/s] regularisation: v / sqrt(v^2 + slip_speed^2), 71 % of mu
    dissipation: float = 0.0  # [s] F's chi: relative increase of pressure per rate of the extent

    def __post_init__(self) -> None:
        for name in ("friction", "dissipation"):
            if not 0.0 <= getattr(self, name) < np.inf:
                raise LimpetError(f"{name} = {getattr(self, name):g}: expected at least 0")
        require_positive("slip_speed", self.slip_speed, " m/s")


FRICTIONLESS = FrictionModel()


@dataclass(frozen=True)
class Wrench:
    """Force and moment on body a; those on body b are opposite."""

    force: Array  # (3,) [N]
    moment: Array  # (3,) [N m] about the given point


def wrench(
    surface: ContactSurface,
    about: Array,  # (3,) [m]
    velocity: Array | None = None,  # (3,) [m/s] of a relative to b, at `about`
    spin: Array | None = None,  # (3,) [rad/s] angular velocity of a relative to b
    law: FrictionModel = FRICTIONLESS,
    softness: float = 0.0,  # [1/Pa] sum of 1/modulus of both bodies; needed for dissipation
) -> Wrench:
    """Integrate the tractions over the surface (F eq 8)."""
    out = _integrate(
        surface.area, surface.centroid, surface.pressure, surface.gradient_a, surface.gradient_b,
        surface.start, surface.corners, surface.corner_pressure, np.asarray(about, dtype=float),
        np.zeros(3) if velocity is None else np.asarray(velocity, dtype=float),
        np.zeros(3) if spin is None else np.asarray(spin, dtype=float),
        law.friction, law.slip_speed, law.dissipation * softness,
    )  # fmt: skip
    return Wrench(out[:3], out[3:])


def softness(a: FieldGeometry | SoftField, b: FieldGeometry | SoftField) -> float:
    """[1/Pa] sum of 1/modulus; 0 for a rigid body."""
    return sum(0.0 if isinstance(body, RigidSurface) else 1.0 / body.modulus for body in (a, b))


def area(surface: ContactSurface) -> tuple[float, float]:
    """[m^2] of the whole surface, and of the polygons that carry pressure."""
    size = np.linalg.norm(surface.area, axis=1)
    return float(size.sum()), float(size[surface.pressure > 0.0].sum())


def with_smooth_gradients(
    surface: ContactSurface, a: FieldGeometry, pose_a: Pose, b: FieldGeometry, pose_b: Pose
) -> ContactSurface:
    """The surface with F's smoothed gradients of both bodies, for the dissipation."""
    return replace(
        surface,
        gradient_a=_smooth(surface.gradient_a, surface, 0, a, pose_a),
        gradient_b=_smooth(surface.gradient_b, surface, 1, b, pose_b),
    )


def _smooth(
    gradient: Array, surface: ContactSurface, side: int, body: FieldGeometry, pose: Pose
) -> Array:
    """(k, 3) [Pa/m] at the centroids, interpolated from the vertices of each tet."""
    if isinstance(body, HalfSpace | RigidSurface) or not len(surface):
        return gradient
    assert isinstance(body, PressureField)
    own = body.points, body.tets, body.smooth_gradient
    return interpolated(*own, *pose, surface.cells[:, side].copy(), surface.centroid)


@njit(cache=True)
def rise_of_pressure(n: Array, ga: Array, gb: Array) -> float:
    """[Pa/m] increase of pressure per approach along unit n: both gradients in series.

    When the bodies approach, the surface moves such that both pressures stay equal. A zero gradient
    means a rigid body; then the gradient of the other body counts.
    """
    a = n[0] * ga[0] + n[1] * ga[1] + n[2] * ga[2]
    b = -(n[0] * gb[0] + n[1] * gb[1] + n[2] * gb[2])
    if ga[0] == 0.0 and ga[1] == 0.0 and ga[2] == 0.0:
        return max(b, 0.0)
    if gb[0] == 0.0 and gb[1] == 0.0 and gb[2] == 0.0:
        return max(a, 0.0)
    return a * b / (a + b) if a > 0.0 and b > 0.0 else 0.0


@njit(cache=True)
def _integrate(
    area: Array, centroid: Array, pressure: Array, gradient_a: Array, gradient_b: Array,
    start: Array, corners: Array, corner_pressure: Array, about: Array, v: Array, w: Array,
    mu: float, slip_speed: float, damping: float,
) -> Array:  # fmt: skip
    """Force and moment (6,); damping [s/Pa] is chi over the modulus."""
    out = np.zeros(6)
    n, x, u, traction = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    for k in range(len(pressure)):
        size = np.sqrt(area[k, 0] ** 2 + area[k, 1] ** 2 + area[k, 2] ** 2)
        for c in range(3):
            n[c] = area[k, c] / size
        rise = rise_of_pressure(n, gradient_a[k], gradient_b[k]) if damping > 0.0 else 0.0
        first, end = start[k], start[k + 1]
        for i in range(first, end):
            j = i + 1 if i + 1 < end else first
            da = twice_area(n, centroid, k, corners, i, j) / 6.0
            for wc, wi, wj in WEIGHTS:
                p = wc * pressure[k] + wi * corner_pressure[i] + wj * corner_pressure[j]
                for c in range(3):
                    x[c] = wc * centroid[k, c] + wi * corners[i, c] + wj * corners[j, c] - about[c]
                u[0] = v[0] + w[1] * x[2] - w[2] * x[1]
                u[1] = v[1] + w[2] * x[0] - w[0] * x[2]
                u[2] = v[2] + w[0] * x[1] - w[1] * x[0]
                un = u[0] * n[0] + u[1] * n[1] + u[2] * n[2]
                # Hunt and Crossley (F eq 2-3): chi times the rate of the extent; never attractive
                p = max(p * (1.0 - damping * rise * un), 0.0)
                slip2 = 0.0
                for c in range(3):
                    slip2 += (u[c] - un * n[c]) ** 2
                drag = mu * p / np.sqrt(slip2 + slip_speed * slip_speed)
                for c in range(3):
                    traction[c] = (p * n[c] - drag * (u[c] - un * n[c])) * da
                    out[c] += traction[c]
                out[3] += x[1] * traction[2] - x[2] * traction[1]
                out[4] += x[2] * traction[0] - x[0] * traction[2]
                out[5] += x[0] * traction[1] - x[1] * traction[0]
    return out
