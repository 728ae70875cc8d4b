"""How long a cup holds a constant load on rough surfaces (Tiwari and Persson 2019).

Nothing is fitted. Contact pressure, ring width and volume are those of the simulated cup, the gap
in contact follows Persson's theory, the flow through it the cubic law with slip.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy.optimize import brentq
from scipy.special import erf

from limpet.cavity.seal.leaky import LeakySeal
from limpet.cavity.seal.roughness import GAP, LOAD
from limpet.dynamics.motion import path as motion
from limpet.engine.simulation import Simulation
from limpet.fem.material import Material
from limpet.model.settings import Settings
from limpet.model.world import World
from limpet.record.plots import new_figure
from limpet.record.table import Cell, Progress, Result, Table
from limpet.shapes.boxes import box
from limpet.shapes.cups import cup

Array = np.ndarray

PERCOLATES = 0.42  # A/A0 at which the places without contact just join (Dapp et al. 2012)
GAMMA = 0.45  # of the elastic energy, as fitted by Yang and Persson (2008) to molecular dynamics
ROUGHNESS = (2e-6, 4e-6, 5e-6, 6e-6, 8e-6)  # [m] rms
LOADS = (5.0, 10.0, 20.0, 40.0)  # [N]
LIMIT = 10.0  # [s] that a run lasts at most
NODES = 900  # of the cup
LIFTED = 1.0  # [s] when the cup bears the load; the life counts from here
GRAVITY = 9.81  # [m/s^2]


def critical_gap_ratio(
    load: float, hurst: float = 0.8, cutoffs: float = 1000.0, n: int = 80
) -> float:
    """u_c/rms at x = p/(E* q0 rms), by Persson's theory; 0 where no channel is left.

    Units: q0 = rms = E* = 1. With I(q) the integral of q^3 C(q) from q0, the relative contact area
    at the magnification zeta = q/q0 is A/A0 = erf(p/sqrt(pi I)). The mean separation of what looks
    like contact there is

        u(zeta) = sqrt(pi) int_zeta^q1 dq q^2 C w int_(p A0/A)^inf dp'/p'
                  (gamma + 3 (1 - gamma) erf^2(w p')) exp(-(w p')^2),

    w = (pi int_zeta^q q^3 C)^(-1/2), and what opens between zeta and zeta + d zeta has the height
    u_1 = u + u' A/A'. u_c is u_1 where A/A0 = 0.42. (Yang and Persson, J. Phys.: Condens. Matter
    20, 215214, 2008; Persson and Yang, ibid. 315011; written from memory, and not compared with
    the original text.)
    """
    e = 2.0 - 2.0 * hurst
    c = hurst / np.pi / (1.0 - cutoffs ** (-2.0 * hurst))  # C = c q^(-2 (1 + H)), rms = 1
    whole = c * (cutoffs**e - 1.0) / e
    node, weight = np.polynomial.legendre.leggauss(n)

    def area(slope: float) -> float:
        return float(erf(load / np.sqrt(np.pi * slope)))

    def separation(log_slope: float) -> float:
        slope = np.exp(log_slope)
        low, high = np.log(1e-14 * whole), np.log(whole - slope)
        further = np.exp(0.5 * (low + high) + 0.5 * (high - low) * node)  # int_zeta^q q^3 C
        q = (1.0 + (slope + further) * e / c) ** (1.0 / e)
        w = 1.0 / np.sqrt(np.pi * further)
        start = np.log(w * load / area(slope))
        end = np.maximum(np.log(7.0), start)
        y = np.exp(0.5 * (start + end)[:, None] + 0.5 * (end - start)[:, None] * node)
        energy = (GAMMA + 3.0 * (1.0 - GAMMA) * erf(y) ** 2) * np.exp(-(y**2))
        inner = 0.5 * (end - start) * (energy @ weight)
        steps = further * 0.5 * (high - low) * weight
        return float(np.sqrt(np.pi) * np.sum(steps / q * w * inner))

    if area(whole) >= PERCOLATES:
        return 0.0
    at = brentq(lambda s: area(np.exp(s)) - PERCOLATES, -80.0, np.log(whole))
    before, after = at - 1e-3, at + 1e-3
    opened = separation(after) - separation(before)
    parted = area(np.exp(after)) - area(np.exp(before))
    return separation(at) + opened * PERCOLATES / parted


@dataclass(frozen=True)
class Hanging:
    """A cup that carries a block, on a rough surface."""

    load: float  # [N]
    rms: float  # [m]
    young: float = 4e6  # [Pa] of the cup
    wavelength: float = 1e-3  # [m] the longest of the roughness
    h: float = 0.02  # [s]
    nodes: int = NODES  # of the cup


@dataclass(frozen=True)
class Life:
    """How long it held."""

    case: Hanging
    time: float | None  # [s] from the lift; None: it still holds at the end
    pressure: float  # [Pa] when it was lifted
    converged: bool
    air_error: float


def hang(case: Hanging, limit: float = LIMIT) -> Life:
    """Press the cup on a block on the ground, lift the block, and wait until it falls."""
    world = World(gravity=(0.0, 0.0, -GRAVITY), friction=0.5)
    soft = world.add_soft(cup("standard", nodes=case.nodes), Material(case.young, 0.45), mass=0.02)
    mass = case.load / GRAVITY
    world.add_rigid(box(0.06, 0.06, 0.03), mass, name="block", position=(0.0, 0.0, -5e-4))
    world.add_rigid(
        box(0.2, 0.2, 0.02), 1.0, name="ground", position=(0.0, 0.0, -0.0305), fixed=True
    )
    world.prescribe_motion(
        soft["top"], motion([(0.0, 0.0), (0.5, -3.5e-3), (0.7, -3.5e-3), (1.7, 0.01), (1e5, 0.01)])
    )
    seal = LeakySeal(roughness=case.rms, wavelength=case.wavelength)
    simulation = Simulation(world, h=case.h, settings=Settings(seal=seal))
    converged, air_error, pressure, fell = True, 0.0, np.nan, None
    for report in simulation.run(LIFTED + limit):
        converged &= report.converged
        air_error = max(air_error, report.air_error)
        held = min((c.pressure for c in report.cavities), default=np.inf)
        if report.time <= LIFTED + 1e-9:
            pressure = held
        gone = held > 0.99 * world.atmosphere.pressure
        if report.time > 0.9 and gone and report.reactions["cup"][2] < 0.5 * case.load:
            fell = report.time
            break
    time = None if fell is None else max(fell - LIFTED, 0.0)
    return Life(case, time, float(pressure), converged, air_error)


def run(progress: Progress) -> Result:
    """Lives over roughness and load; what they depend on; the gap of the theory."""
    grid = [Hanging(load, rms) for load in LOADS for rms in ROUGHNESS]
    base = Hanging(10.0, 5e-6)
    others = [
        ("reference", base),
        ("h = 10 ms", Hanging(10.0, 5e-6, h=0.01)),
        ("434 nodes", Hanging(10.0, 5e-6, nodes=434)),
        ("1600 nodes", Hanging(10.0, 5e-6, nodes=1600)),
        ("Young's modulus 2 MPa", Hanging(10.0, 5e-6, young=2e6)),
        ("longest wavelength 2 mm", Hanging(10.0, 5e-6, wavelength=2e-3)),
    ]
    lives = {}
    cases = [*grid, *(case for _, case in others)]
    for i, case in enumerate(dict.fromkeys(cases)):
        progress(i, len(cases), f"roughness: {case.load:g} N, {1e6 * case.rms:g} um")
        lives[case] = hang(case)
    progress(len(cases), len(cases), "roughness")
    table = Table(
        "roughness: life of a cup under a constant load [s]",
        ("load [N]", *(f"{1e6 * rms:g} um" for rms in ROUGHNESS)),
        tuple((load, *(_cell(lives[Hanging(load, rms)]) for rms in ROUGHNESS)) for load in LOADS),
        (
            "Standard cup, 35 mm, Young's modulus 4 MPa, Poisson's ratio 0.45, on a rigid block; "
            f"longest wavelength 1 mm, Hurst exponent 0.8; {NODES} nodes, h = 20 ms.",
            f"A cell with > still held after {LIMIT:g} s; 0: it never held.",
            "Tiwari and Persson (Soft Matter 15, 9482, 2019; arXiv 1906.01459) state: measured "
            "lives agree with the theory, but below an rms of 1 um, where plasticiser blocks the "
            "constrictions; volume, stiffness and modulus have a huge influence. Their numbers "
            "could not be read; none is used here.",
        ),
    )
    sensitivity = Table(
        "roughness: what the life depends on, 10 N on 5 um",
        ("case", "life [s]", "pressure when lifted [kPa]", "converged", "air error"),
        tuple(
            (name, _cell(lives[c]), 1e-3 * lives[c].pressure, lives[c].converged,
             lives[c].air_error)
            for name, c in others
        ),
    )  # fmt: skip
    theory = Table(
        "roughness: height of the critical junction, u_c/rms",
        ("x = p/(E* q0 rms)", "table", "theory", "H = 0.7", "H = 0.9"),
        tuple(
            (float(x), float(g), critical_gap_ratio(x), critical_gap_ratio(x, 0.7),
             critical_gap_ratio(x, 0.9))
            for x, g in zip(LOAD, GAP)
        ),
    )  # fmt: skip
    rougher = all(
        _order(lives[Hanging(load, a)]) >= _order(lives[Hanging(load, b)])
        for load in LOADS
        for a, b in pairwise(ROUGHNESS)
    )
    sound = all(life.converged and life.air_error < 1e-9 for life in lives.values())
    softer = _order(lives[others[4][1]]) > _order(lives[base])
    plots = {"roughness.png": lambda path: _plot(lives, path)}
    return Result((table, sensitivity, theory), rougher and softer and sound, plots)


def _order(life: Life) -> float:
    return np.inf if life.time is None else life.time


def _cell(life: Life) -> Cell:
    return f"> {LIMIT:g}" if life.time is None else round(life.time, 2)


def _plot(lives: dict[Hanging, Life], path: Path) -> None:
    figure = new_figure(6.5, 4.5)
    axes = figure.subplots()
    for rms in ROUGHNESS:
        points = [(load, lives[Hanging(load, rms)].time) for load in LOADS]
        known = [(load, t) for load, t in points if t]
        axes.plot(*zip(*known), "o-", label=f"{1e6 * rms:g} µm") if known else None
    axes.set(xlabel="load [N]", ylabel="life [s]", xscale="log", yscale="log")
    axes.legend(title="rms roughness")
    axes.grid(alpha=0.3)
    figure.savefig(path, dpi=130)
