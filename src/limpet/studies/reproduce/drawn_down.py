"""A pump draws down a lip that stands off a plate: from which pump on does it seal?

The gap g(p) of the lip closes as the vacuum p grows, and with it the flow F(p, g) that leaks in.
The pump wins if it takes more than F at every p. The least such pump is a saddle node; it follows
from the measured g(p) and the laws of the flow alone, and is compared with simulations.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from limpet.cavity.gas.atmosphere import Atmosphere
from limpet.cavity.gas.gap_flow import RingGap, slip_length, wedge_resistance
from limpet.cavity.gas.vacuum_line import Pump, Regulator, Source
from limpet.dynamics.motion import path as motion
from limpet.engine.simulation import Simulation
from limpet.fem.material import Material
from limpet.model.settings import Settings
from limpet.model.world import World
from limpet.record.table import Progress, Result, Table
from limpet.shapes.boxes import box
from limpet.shapes.cups import cup

Array = np.ndarray

GAP = 1e-4  # [m] of the lip over the plate, at rest
END_VACUUM = 85e3  # [Pa] of the pump
STEPS = (0.02, 0.01, 0.005)  # [s]
CLOSED = 1e-5  # [m]
AGREES = 0.05
AIR = Atmosphere()


@dataclass(frozen=True)
class LipSection:
    """The lip of the cup under a vacuum, as the mean of its rings of vertices: (r, z) [m]."""

    vacuum: float  # [Pa]
    lip: tuple[float, float]
    inner: tuple[float, float]  # the next ring inside
    outer: tuple[float, float]  # and outside

    def flow(self) -> float:
        """[mol/s] by closed forms: two wedges in series and the throat at the lip."""
        inside, (r, g) = AIR.pressure - self.vacuum, self.lip
        slip = slip_length(0.5 * (AIR.pressure + inside), AIR.rt)
        resistance = sum(
            wedge_resistance(g, z, float(np.hypot(r - s, g - z)))
            for s, z in (self.inner, self.outer)
        )
        length = 2.0 * np.pi * r
        ring = RingGap(length / resistance * (1.0 + slip / g), length * g)
        return ring.flow(inside, AIR.pressure, AIR.rt)

    def pump(self) -> float:
        """[m^3/s] the free flow of the pump that takes just this."""
        p = AIR.pressure - self.vacuum
        return self.flow() * END_VACUUM * AIR.rt / (p * (p - AIR.pressure + END_VACUUM))


def over_a_plate(source: Source, h: float, gap: float = GAP) -> Simulation:
    """A standard cup, held over a plate, on a vacuum line."""
    world = World(friction=0.5, gravity=(0.0, 0.0, 0.0))
    soft = world.add_soft(cup("standard"), Material(4e6, 0.45), mass=0.02, position=(0.0, 0.0, gap))
    world.add_rigid(box(0.06, 0.06, 0.02), 1.0, name="plate", fixed=True)
    world.prescribe_motion(soft["top"], motion([(0.0, 0.0), (1e3, 0.0)]))
    world.connect(soft, source)
    return Simulation(world, h=h, settings=Settings(seal="leaky"))


def sections(gap: float = GAP, deepest: float = 200.0, duration: float = 4.0) -> list[LipSection]:
    """g(p) of the lip, by a vacuum that rises slowly until it closes."""
    simulation = over_a_plate(Regulator([(0.0, 0.0), (duration, deepest)]), 0.01, gap)
    rest = simulation.shape("cup").points
    r, z = np.hypot(rest[:, 0], rest[:, 1]), rest[:, 2] - gap
    lip = z < 1e-6
    edge = r[lip].mean()
    inner = (r < edge - 1e-6) & (z < 1e-3)
    outer = (r > edge + 1e-6) & (z < 0.5e-3)
    out = []
    for report in simulation.run(duration):
        x = simulation.shape("cup").points
        r = np.hypot(x[:, 0], x[:, 1])
        rings = [(float(r[m].mean()), float(x[m, 2].mean())) for m in (lip, inner, outer)]
        if rings[0][1] < 1e-7 or not report.cavities:
            break
        out.append(LipSection(AIR.pressure - report.cavities[0].pressure, *rings))
    return out


def seals(flow: float, h: float, gap: float = GAP) -> bool:
    """Whether a pump of that free flow [m^3/s] closes the lip."""
    reports = list(over_a_plate(Pump(flow, END_VACUUM), h, gap).run(1.0))
    return bool(reports[-1].cavities) and reports[-1].cavities[0].seal_gap < CLOSED


def threshold(h: float, guess: float, gap: float = GAP) -> float:
    """[m^3/s] the least free flow that closes the lip, to 0.5 %."""
    low, high = 0.5 * guess, 2.0 * guess
    while high > 1.005 * low:
        middle = float(np.sqrt(low * high))
        low, high = (low, middle) if seals(middle, h, gap) else (middle, high)
    return float(np.sqrt(low * high))


def run(progress: Progress) -> Result:
    """The saddle node, and the threshold of the simulation at three time steps."""
    progress(0, 1 + len(STEPS), "drawn-down: gap of the lip over the vacuum")
    worst = max(sections(), key=LipSection.pump)
    exact = worst.pump()
    rows = []
    for i, h in enumerate(STEPS):
        progress(1 + i, 1 + len(STEPS), f"drawn-down: h = {1e3 * h:g} ms")
        found = threshold(h, exact)
        rows.append((1e3 * h, 6e4 * found, 6e4 * exact, found / exact))
    progress(1 + len(STEPS), 1 + len(STEPS), "drawn-down")
    table = Table(
        "drawn-down: least pump that seals a lip 0.1 mm off a plate",
        ("h [ms]", "simulated [l/min]", "saddle node [l/min]", "ratio"),
        tuple(rows),
        (
            f"Standard cup, 4 MPa; end vacuum {END_VACUUM / 1e3:g} kPa. The saddle node is at "
            f"{worst.vacuum:.0f} Pa and a gap of {1e6 * worst.lip[1]:.0f} um.",
        ),
    )
    return Result((table,), all(abs(row[3] - 1.0) < AGREES for row in rows), {})
