"""Air through the contact of rough surfaces: the gap of its critical junction (Persson).

Two rough surfaces pressed together touch in spots. Magnified further and further, the contact area
A falls, until at A/A0 = 0.42 the places that do not touch just percolate: nearly the whole pressure
drop is at the narrowest place of that channel, the critical junction, and its height u_c decides
the leak (Persson and Yang, J. Phys.: Condens. Matter 20, 315011, 2008; for suction cups Tiwari and
Persson, Soft Matter 15, 9482, 2019, arXiv 1906.01459). u_c over the rms roughness depends on
x = p/(E* q0 rms) alone, once the shape of the power spectrum is given.
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray

# u_c/rms over x for a self-affine surface, Hurst exponent 0.8, cut-offs q1/q0 = 1000:
# `critical_gap_ratio` of studies/reproduce/roughness.py evaluates the theory. Without a measured
# spectrum expect a factor of ten in the leak: at x = 0.6 the Hurst exponents 0.7 and 0.9 give 0.215
# and 0.067.
LOAD = np.array(
    [
        0.001, 0.003, 0.01, 0.03, 0.06, 0.1, 0.13, 0.17, 0.23, 0.3, 0.37, 0.45, 0.54, 0.64, 0.76,
        0.9, 1.07, 1.27, 1.5, 1.7, 1.85,
    ]
)  # fmt: skip
GAP = np.array(
    [
        3.534, 3.009, 2.434, 1.907, 1.563, 1.285, 1.126, 0.9454, 0.723, 0.5224, 0.3746,
        0.2561, 0.1685, 0.1078, 0.06495, 0.03738, 0.01995, 0.009773, 0.004024, 0.001387, 0.000326,
    ]
)  # fmt: skip


def critical_gap(pressure: Array, modulus: Array, rms: float, wavelength: float) -> Array:
    """u_c [m] under the contact pressure p [Pa]; modulus: E* [Pa], 1/E* = sum (1 - nu^2)/E.

    rms [m] and the longest wavelength [m], 2 pi/q0, of the roughness. Below the table's first load
    the surfaces rest on their highest peaks: the gap stays as it is there. Above the last one,
    where no channel is left, nothing passes.
    """
    load = pressure / (modulus * 2.0 * np.pi / wavelength * rms)
    gap = np.exp(np.interp(np.log(np.maximum(load, LOAD[0])), np.log(LOAD), np.log(GAP)))
    return np.where(load > LOAD[-1], 0.0, rms * gap)
