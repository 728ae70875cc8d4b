"""The gas law of a sealed cavity, one row: P (V + h V')^k = K (P eq 8-14 for k = 1).

K = a n^k of a polytropic gas; at k = 1, the isothermal gas of the paper, K = n R T. The row carries
p = P - P_atm, so that no pressure need be applied outside (P 3.7); u is the rate of volume V'. P
never exceeds P_max: there air leaves instead (P eq 14). Air that flows in the step enters as more V
and more K (network.py), so V + h V' = V_min is where the walls meet: no flow empties a cavity
further, and P is what keeps them there.
"""

from __future__ import annotations

import numpy as np

from limpet.compiled import njit

Array = np.ndarray

KIND = 1  # one row; data: V, K = a n^k (n R T at k = 1), P_max, P_atm, k, V_min
REGULARISED = False

# Of the volume by which the atmosphere's pressure moves the walls: air in less room than that is
# told by P alone. V + h V' is a difference of such volumes, so it has their rounding errors: to
# a room of 1e-10 of them no step could meet the tolerance but by chance
RESOLVED = 1e-4
MOST_STEPS = 60  # of Newton from a start within a factor of two: it takes about five


@njit(cache=True, error_model="numpy")
def root(a: float, b: float, gas: float, exponent: float = 1.0) -> float:
    """The one pressure P >= 0 with P (b + a P)^k = K, K being `gas`.

    At k = 1 it is the positive root of a P^2 + b P - n R T = 0 (P eq 11, 12), without cancellation.
    With the shift by P_atm b is negative in most sealed steps; a > 0 and K >= 0 still leave exactly
    one root that is not negative.
    """
    if a <= 0.0:  # a cavity between bodies that cannot move: the law for the given volume
        return gas / b**exponent if b > 0.0 else np.inf
    if exponent != 1.0:
        return _polytropic_root(a, b, gas, exponent)
    d = np.sqrt(b * b + 4.0 * a * gas)
    return 2.0 * gas / (b + d) if b > 0.0 else (d - b) / (2.0 * a)


@njit(cache=True, error_model="numpy")
def _polytropic_root(a: float, b: float, gas: float, k: float) -> float:
    """Newton for the volume y = b + a P, the zero of g(y) = y - b - a K y^-k.

    g rises and is concave for y > 0: from a start below the zero each step falls short of it, so
    they climb to it without any safeguard. The start has a K y^-k >= 2 max(y, -b), or y >= b, and
    is within a factor of two.
    """
    if gas <= 0.0:
        return max(0.0, -b / a)
    if b >= 0.0:
        y = max(b, (a * gas) ** (1.0 / (k + 1.0)))
    else:
        y = min((0.5 * a * gas) ** (1.0 / (k + 1.0)), (-0.5 * a * gas / b) ** (1.0 / k))
    for _ in range(MOST_STEPS):
        push = a * gas * y**-k
        step = (push + b - y) / (1.0 + k * push / y)
        y += step
        if step <= 4e-16 * y:
            break
    return gas * y**-k


@njit(cache=True, error_model="numpy")
def closing_pressure(a: float, b: float, least: float) -> float:
    """P with b + a P = V_min; no pressure keeps walls apart that cannot move."""
    return (least - b) / a if a > 0.0 else -np.inf


@njit(cache=True, error_model="numpy")
def solve_row(
    w: float, u: float, lam: float, volume: float, gas: float, p_max: float, p_atm: float,
    h: float, exponent: float = 1.0, least: float = -np.inf,
) -> float:  # fmt: skip
    """New p of one cavity: the root for u without its own share, clamped at P_max."""
    b = volume + h * (u - w * (lam + p_atm))
    p = max(root(h * w, b, gas, exponent), closing_pressure(h * w, b, least))
    return min(p, p_max) - p_atm


@njit(cache=True, error_model="numpy")
def pressure_map(
    w: float, u: float, lam: float, volume: float, gas: float, p_max: float, p_atm: float,
    h: float, exponent: float = 1.0, least: float = -np.inf,
) -> tuple[float, float, float]:  # fmt: skip
    """phi = P - root (or P - P_max when venting), d phi/d p, d phi/d u.

    Where the walls meet it is (V + h V' - V_min)/(h w).

    The root is that of the block update, so phi keeps the scale of a pressure: with b the volume
    less the row's own share and y = b + h w P the volume with it, d root/d b = -k P/(y + k h w P),
    which at k = 1 is -P/sqrt(d).
    """
    b = volume + h * (u - w * (lam + p_atm))
    p = root(h * w, b, gas, exponent)
    if max(p, closing_pressure(h * w, b, least)) >= p_max:
        return lam + p_atm - p_max, 1.0, 0.0
    if p < closing_pressure(h * w, b, least):
        return (volume + h * u - least) / (h * w), 0.0, 1.0 / w
    if exponent == 1.0:
        slope = -p / np.sqrt(b * b + 4.0 * h * w * gas)
    else:
        slope = -exponent * p / (b + h * w * p * (1.0 + exponent))
    return lam + p_atm - p, 1.0 + slope * h * w, -slope * h


@njit(cache=True, error_model="numpy")
def pressure_error(
    u: float, lam: float, volume: float, gas: float, p_max: float, p_atm: float, h: float,
    phi: float, exponent: float = 1.0, least: float = -np.inf, fine: float = 0.0,
) -> float:  # fmt: skip
    """|P V^k - K| / K at the end of the step; when venting |P - P_max| / P_max.

    Where the walls meet, V - V_min as a share of the volume of that air outside. fine [m^3]: with a
    smaller V at the atmosphere's pressure the miss is a share of that much air.
    """
    p = lam + p_atm
    miss = abs(phi) / max(abs(p), 1e-6 * p_atm)
    if p < p_max * (1.0 - 1e-9) and gas > 0.0:
        after = volume + h * u
        room = max(after, 0.0) ** exponent if exponent != 1.0 else after
        excess = (p * room - gas) / max(gas, p_atm * fine**exponent)
        if excess > 0.0 and least > -np.inf:
            excess = min(excess, abs(after - least) * p_atm / gas)
        return max(miss, abs(excess))
    return miss


@njit(cache=True, error_model="numpy")
def solve_block(data: Array, h: float, w: Array, u: Array, lam: Array, out: Array) -> None:
    out[0] = solve_row(
        w[0, 0], u[0], lam[0], data[0], data[1], data[2], data[3], h, data[4], data[5]
    )


@njit(cache=True, error_model="numpy")
def project(data: Array, lam: Array) -> None:
    lam[0] = min(max(lam[0], -data[3]), data[2] - data[3])  # 0 <= P <= P_max


@njit(cache=True, error_model="numpy")
def natural_map(
    data: Array, h: float, w: Array, u: Array, lam: Array, phi: Array, d_lam: Array, d_u: Array
) -> bool:
    phi[0], d_lam[0, 0], d_u[0, 0] = pressure_map(
        w[0, 0], u[0], lam[0], data[0], data[1], data[2], data[3], h, data[4], data[5]
    )
    return True


@njit(cache=True, error_model="numpy")
def error(data: Array, h: float, w: Array, u: Array, lam: Array, phi: Array) -> float:
    fine = RESOLVED * h * w[0, 0] * data[3]
    return pressure_error(
        u[0], lam[0], data[0], data[1], data[2], data[3], h, phi[0], data[4], data[5], fine
    )
