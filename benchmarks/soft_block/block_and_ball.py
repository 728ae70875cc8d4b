"""A ball on a soft block, in turns with MuJoCo's flex: `pip install mujoco`, then run this.

Both have 9 x 8 x 6 nodes, E = 0.1 MPa, nu = 0.45, the same masses and h = 10 ms; the bottom is
held, and a ball of 50 g lies on the top. Times are of one thread, median over the steps of each
round.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator

import numpy as np

import limpet as lp
from limpet.fem.elements.choose import LockingWarning

NODES, SPACING = (9, 8, 6), (0.01, 0.01, 0.006)  # [m]
YOUNG, POISSON, DAMPING = 1e5, 0.45, 2e-3  # [Pa], -, [s]
MASS, BALL, RADIUS = 0.2, 0.05, 0.015  # [kg, kg, m]
H, SETTLED, TIMED, ROUNDS = 0.01, 50, 100, 5

FLEX = f"""<mujoco>
  <option timestep="{H}" integrator="discrete" solver="{{solver}}" tolerance="1e-8"/>
  <size memory="200M"/>
  <worldbody>
    <body pos="0 0 {0.5 * 5 * SPACING[2] + RADIUS + 1e-3}">
      <freejoint/><geom type="sphere" size="{RADIUS}" mass="{BALL}" friction="0.5"/>
    </body>
    <flexcomp name="block" type="grid" dim="3" count="{" ".join(map(str, NODES))}"
        spacing="{" ".join(map(str, SPACING))}" mass="{MASS}" radius="0.0005">
      <contact selfcollide="none"/>
      <elasticity young="{YOUNG}" poisson="{POISSON}" damping="{DAMPING}"/>
      <pin gridrange="0 0 0 {NODES[0] - 1} {NODES[1] - 1} 0"/>
    </flexcomp>
  </worldbody>
</mujoco>"""

Steps = Iterator[tuple[float, bool]]  # [s] of each step, and whether it converged


def limpet_steps(element: str) -> Steps:
    cells = tuple(n - 1 for n in NODES)
    size = [n * d for n, d in zip(cells, SPACING)]
    world = lp.World(friction=0.5)
    material = lp.Material(YOUNG, POISSON, stiffness_damping=DAMPING)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LockingWarning)
        shape = lp.shapes.soft_box(*size, cells, element=element)
        block = world.add_soft(shape, material, MASS, name="block", self_contact=False)
        world.fix(block["bottom"])
        ball = lp.shapes.sphere(RADIUS)
        world.add_rigid(ball, BALL, name="ball", position=(0.0, 0.0, RADIUS + 1e-3))
        simulation = lp.Simulation(world, h=H)
    while True:
        begun = time.thread_time()
        report = simulation.step()
        yield time.thread_time() - begun, report.converged


def flex_steps(solver: str) -> Steps:
    import mujoco

    model = mujoco.MjModel.from_xml_string(FLEX.format(solver=solver))
    data = mujoco.MjData(model)
    told = 0
    while True:
        begun = time.thread_time()
        mujoco.mj_step(model, data)
        seconds = time.thread_time() - begun
        so_far = int(sum(w.number for w in data.warning))
        yield seconds, so_far == told  # it warns of a solve that ran out of iterations
        told = so_far


def median(steps: Steps) -> tuple[float, int]:
    """[ms] of a step once the ball lies, and how many of the timed steps did not converge."""
    for _ in range(SETTLED):
        next(steps)
    timed = [next(steps) for _ in range(TIMED)]
    return 1e3 * float(np.median([t for t, _ in timed])), sum(not ok for _, ok in timed)


def main() -> None:
    contenders: dict[str, Callable[[], Steps]] = {
        "Limpet hex8": lambda: limpet_steps("hex8"),
        "Limpet tet4": lambda: limpet_steps("tet4"),
        "MuJoCo CG": lambda: flex_steps("CG"),
        "MuJoCo Newton": lambda: flex_steps("Newton"),
    }
    times: dict[str, list[tuple[float, int]]] = {name: [] for name in contenders}
    os.chdir(tempfile.mkdtemp())  # MuJoCo writes its warnings to a file here
    for turn in range(ROUNDS + 1):
        for name, start in contenders.items():
            found = median(start())
            if turn:  # the first one compiles kernels
                times[name].append(found)
    print(f"| | median step [ms] | rounds | unconverged of {TIMED} |\n|---|---|---|---|")
    for name, found in times.items():
        every = [t for t, _ in found]
        rounds = ", ".join(f"{t:.2f}" for t in every)
        print(f"| {name} | {np.median(every):.2f} | {rounds} | {max(n for _, n in found)} |")


if __name__ == "__main__":
    sys.exit(main())
