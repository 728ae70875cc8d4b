"""A soak: a small cup is pressed on a plate and pulled off, again and again.

    python benchmarks/soak.py [STEPS] [RELEASES]

Prints memory and time a step over the run: both must stay flat, and every step must converge.
"""

from __future__ import annotations

import resource
import sys
from pathlib import Path
from time import process_time

import limpet as lp

STEPS, RELEASES = 100_000, 800
H = 0.01  # [s]
PRESSED, LIFTED = 1.5e-3, 12e-3  # [m]


def resident() -> float:
    """[kB] of memory now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1024.0


def build(steps: int, releases: int) -> lp.Simulation:
    world = lp.World(friction=0.5)
    cup = world.add_soft(
        lp.shapes.cup("standard", sectors=8, segments=4), lp.Material(1e6, 0.45), 0.01, name="cup",
        position=(0.0, 0.0, 1e-4),
    )  # fmt: skip
    world.add_rigid(lp.shapes.box(0.06, 0.06, 0.02), 1.0, name="plate", fixed=True)
    period = steps * H / releases
    stations = [(0.0, 0.0)]
    for k in range(releases):
        t = k * period
        stations += [(t + 0.3 * period, -PRESSED), (t + 0.9 * period, LIFTED)]
        stations += [(t + period, 0.0)]
    world.prescribe_motion(cup["top"], lp.motion.path(stations))
    return lp.Simulation(world, h=H)


def main() -> None:
    steps, releases = (*map(int, sys.argv[1:]), *(STEPS, RELEASES)[len(sys.argv) - 1 :])
    simulation = build(steps, releases)
    print(f"{simulation.fem_nodes} nodes, {steps} steps, {releases} cycles", flush=True)
    print("  steps  sealed  released  unconverged  memory [kB]  ms a step", flush=True)
    sealed = released = unconverged = 0
    air, tenth, started = False, max(steps // 20, 1), process_time()
    for done, report in enumerate(simulation.run(steps * H), 1):
        unconverged += not report.converged
        now = bool(report.cavities)
        sealed, released, air = sealed + (now and not air), released + (air and not now), now
        if done % tenth == 0:
            ms = 1e3 * (process_time() - started) / tenth
            print(
                f"{done:7d} {sealed:7d} {released:9d} {unconverged:12d} {resident():12.0f} "
                f"{ms:10.2f}", flush=True,
            )  # fmt: skip
            started = process_time()


if __name__ == "__main__":
    main()
