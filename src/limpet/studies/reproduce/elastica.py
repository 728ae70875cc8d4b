"""A cantilever that bends far: the beam that the solid's sag is compared with.

The plane beam of Reissner (1972), geometrically exact: its cross sections stay plane, turn by
theta, and give way to bending (E I), shear (k G A) and stretch (E A). With loads that keep their
direction the force in a section is known, and two equations remain over the arc length s:

    E I theta' = M,    M' = -Q ((1 + e) cos theta - g sin theta),
    e = Q sin theta / E A,    g = Q cos theta / k G A,    Q = q (L - s) + P.

k is Cowper's (1966) for a rectangle, 10 (1 + nu) / (12 + 11 nu). What the beam leaves out: a solid
that is clamped cannot contract across at the clamp, so near nu = 0.5 it sags a little less.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.integrate import solve_bvp

Array = np.ndarray


@dataclass(frozen=True)
class Beam:
    """A straight beam of rectangular section, held at one end; lengths in m."""

    length: float
    width: float
    height: float  # of the section, along the load
    young: float  # [Pa]
    poisson: float

    @property
    def axial(self) -> float:
        """E A [N]"""
        return self.young * self.width * self.height

    @property
    def bending(self) -> float:
        """E I [N m^2]"""
        return self.young * self.width * self.height**3 / 12.0

    @property
    def shear(self) -> float:
        """k G A [N]"""
        k = 10.0 * (1.0 + self.poisson) / (12.0 + 11.0 * self.poisson)
        return k * self.axial / (2.0 * (1.0 + self.poisson))


@dataclass(frozen=True)
class Bent:
    """The centre line of a bent beam, from the clamp to the tip."""

    along: Array  # (n,) [m] away from the wall
    down: Array  # (n,) [m] along the load
    rotation: Array  # (n,) [rad] of the section

    @property
    def sag(self) -> float:
        """[m] of the tip."""
        return float(self.down[-1])


def bend(beam: Beam, line_load: float, tip_load: float = 0.0, *, points: int = 101) -> Bent:
    """The beam under `line_load` [N/m of its rest length] and `tip_load` [N], both downward."""
    length, ei = beam.length, beam.bending

    # in units of the length; the moment in E I / L
    def slopes(share: float, s: Array, y: Array) -> Array:
        theta, moment = y[2], y[3]
        force = share * (line_load * length * (1.0 - s) + tip_load)
        stretch = 1.0 + force * np.sin(theta) / beam.axial
        shear = force * np.cos(theta) / beam.shear
        along = stretch * np.cos(theta) - shear * np.sin(theta)
        down = stretch * np.sin(theta) + shear * np.cos(theta)
        return np.stack([along, down, moment, -force * length**2 / ei * along])

    def ends(clamp: Array, tip: Array) -> Array:
        return np.array([clamp[0], clamp[1], clamp[2], tip[3]])

    s = np.linspace(0.0, 1.0, points)
    y = np.zeros((4, points))
    y[0] = s
    for share in np.linspace(0.0, 1.0, 9)[1:]:  # load steps
        found = solve_bvp(partial(slopes, share), ends, s, y, tol=1e-9, max_nodes=20000)
        y = found.sol(s)
    if not found.success:
        raise ArithmeticError(f"no solution of the bent beam: {found.message}")
    return Bent(length * y[0], length * y[1], y[2])
