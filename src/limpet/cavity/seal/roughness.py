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

# u_c/rms over x for a self-affine surface, Hurst exponent 0.8, cut-offs q1/q0 = 1000, without a
# roll-off. Computed by studies/reproduce/roughness.py from the equations that stand there.
LOAD = np.array(
    [.001, .003, .01, .03, .06, .1, .17, .3, .45, .64, .9, 1.27, 1.78]
)  # fmt: skip
GAP = np.array(
    [2.98, 2.56, 2.11, 1.69, 1.47, 1.28, .94, .52, .256, .107, .037, .0099, .00073]
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
