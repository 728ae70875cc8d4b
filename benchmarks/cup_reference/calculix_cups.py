"""The push force of three cups by CalculiX, calculix_cups.json, and Limpet's beside it.

    python calculix_cups.py                        Limpet against the stored reference
    python calculix_cups.py --cup stem --nodes 500 1000
    python calculix_cups.py --reference            compute the reference again (needs ccx)

A cup with a stem, a bell and a bellows cup of 1.5 folds are pressed on a rigid plate with friction,
by what the gripper holds, and the air goes in and out freely: no pressure. CalculiX has
axisymmetric quadratic elements on a mesh of its own, and the two faces of each fold touch.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import tempfile
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter

import numpy as np
from deck import LAWS, Array, Case
from fine_section import FineSection, fine_section, push_deck
from run import rounded, totals

import limpet as lp
from limpet.geometry.shape import SoftShape
from limpet.shapes.catalogue import design
from limpet.shapes.section_mesh import Outline

HERE = Path(__file__).parent
STORED = HERE / "calculix_cups.json"
YOUNG, POISSON, FRICTION = 4e6, 0.45, 0.5  # Pa
PATIENCE = 1500.0  # [s] for one run of ccx
STEM = [(0, 4.5), (9, 3.3), (17.5, 0), (17.8, 0.7), (9.3, 4.9), (5, 6.2), (5, 15), (0, 15)]  # mm
# with next to no mass inertia drops out; a leak a hundred times the air of a cup fills the cavity
MASS, LEAK = 1e-6, 1e-2  # [kg], [mol/s]
PUSH, HOLD, H = 0.4, 0.2, 0.01  # [s] travel from one depth to the next, rest there, time step
SETTLED = 2e-3  # largest share by which a force may change over the last half of the rest


@dataclass(frozen=True)
class Cup:
    """A cup and the depths [mm] of the held part after touch at which the force is compared."""

    outline: Outline  # [m]
    depths: tuple[float, ...]
    sizes: tuple[float, float]  # [mm] of cells of the two meshes of the reference

    def shape(self, nodes: int) -> SoftShape:
        return lp.shapes.cup_from_section(self.outline, nodes=nodes)


CUPS = {
    "stem": Cup([(1e-3 * r, 1e-3 * z) for r, z in STEM], (0.75, 1.5, 2.25, 3.0, 3.75), (0.5, 0.33)),
    "bell": Cup(design("bell").outline(0.030), (1.76, 3.52, 5.28, 7.04, 8.8), (0.6, 0.4)),
    "bellows": Cup(design("bellows-1.5").outline(0.030), (1.4, 2.8, 4.2, 5.6, 7.0), (0.7, 0.55)),
}


def ccx_forces(s: FineSection, case: Case, depths: Sequence[float]) -> list[float]:
    """[N] at each depth, as many as ccx reached; held part and plate must balance."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "deck.inp").write_text(push_deck(s, case, list(depths)))
        try:
            subprocess.run(["ccx", "deck"], cwd=folder, capture_output=True, timeout=PATIENCE)
        except FileNotFoundError:
            raise SystemExit(
                "ccx: not found; install CalculiX (Debian: apt install calculix-ccx)"
            ) from None
        except subprocess.TimeoutExpired:
            print(f"ccx stopped after {PATIENCE:g} s")
        file = Path(folder, "deck.dat")
        text = file.read_text() if file.is_file() else ""
    blocks = re.split(r"\n(?= (?:displacements|total force))", "\n" + text)[1:]
    held, plate = totals(blocks, "TOP"), totals(blocks, "SLABNODES")
    if not np.allclose(held, -np.array(plate), rtol=2e-3):
        raise RuntimeError(f"held part {held} N and plate {plate} N do not balance")
    return [-f for f in held]


def variants(cup: Cup) -> dict[str, tuple[float, Case, bool]]:
    """By label: size of cells [mm], what is computed, and whether folds touch themselves."""
    case = Case(POISSON, FRICTION, "neo-hooke", YOUNG / 1e6)
    coarse, fine = cup.sizes
    return {
        "neo-hooke": (fine, case, True),
        "neo-hooke, coarse": (coarse, case, True),
        "neo-hooke, coarse, contact 10 times softer":
            (coarse, replace(case, penalty=0.1 * case.penalty), True),
        "neo-hooke, coarse, contact 3 times stiffer":
            (coarse, replace(case, penalty=3.0 * case.penalty), True),
        "neo-hooke, coarse, folds pass through": (coarse, case, False),
        f"{LAWS[0]}, coarse": (coarse, replace(case, law=LAWS[0]), True),
    }  # fmt: skip


def reference(name: str, cup: Cup, wanted: Sequence[str]) -> None:
    """Compute the variants and store each when it is done; depths not reached are null."""
    for label, (size, case, folds) in variants(cup).items():
        s = fine_section(list(cup.outline), size)
        if (wanted and label not in wanted) or (not folds and not s.folds):
            continue
        start = perf_counter()
        found = ccx_forces(s if folds else replace(s, folds=[]), case, cup.depths)
        row = "".join(f"{f:9.4f}" for f in found)
        print(f"{name:8} {label:44}{row}   {perf_counter() - start:.0f} s", flush=True)
        stored = json.loads(STORED.read_text()) if STORED.is_file() else {"cups": {}}
        version = subprocess.run(["ccx", "-v"], capture_output=True, text=True).stdout.split()
        stored["about"] = "push force on a rigid plate, no gas, no gravity; calculix_cups.py"
        stored |= {"ccx": version[-1], "young_Pa": YOUNG, "poisson": POISSON}
        stored |= {"friction": FRICTION, "penalty_MPa_per_mm": Case(POISSON).penalty}
        own = stored["cups"].setdefault(name, {"runs": {}})
        own["depths_mm"] = list(cup.depths)
        missing = [None] * (len(cup.depths) - len(found))
        own["runs"][label] = {
            "size_mm": size, "nodes": len(s.points), "force_N": [*rounded(found), *missing]
        }  # fmt: skip
        text = json.dumps(stored, indent=1)
        text = re.sub(r"\[\s+([-\dnul.e,\s]+?)\s+\]", lambda m: f"[{' '.join(m[1].split())}]", text)
        STORED.write_text(text + "\n")


def limpet_forces(shape: SoftShape, depths: Sequence[float], law: str) -> tuple[Array, int]:
    """[N] at rest at each depth [mm], and the number of steps that were not solved."""
    world = lp.World(gravity=(0, 0, 0), friction=FRICTION, leak=LEAK)
    cup = world.add_soft(shape, lp.Material(YOUNG, POISSON, law=law), MASS, name="cup")
    width = 2.0 * float(np.ptp(shape.points[:, 0]))
    world.add_rigid(lp.shapes.box(width, width, 0.01), mass=1.0, fixed=True)
    points, time = [(0.0, 0.0)], 0.0
    for depth in depths:
        points += [(time + PUSH, -1e-3 * depth), (time + PUSH + HOLD, -1e-3 * depth)]
        time += PUSH + HOLD
    world.prescribe_motion(cup["top"], lp.motion.path(points))
    force, unsolved = [], 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for report in lp.Simulation(world, h=H).run(time):
            force.append(-float(report.reactions["cup"][2]))
            unsolved += not report.converged
    ends = np.round((PUSH + HOLD) / H * np.arange(1, len(depths) + 1)).astype(int) - 1
    found = np.array(force)[ends]
    before = np.array(force)[ends - round(0.5 * HOLD / H)]
    if np.abs(found / before - 1.0).max() > SETTLED:
        print(f"  not at rest: {before} N, later {found} N")
    return found, unsolved


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cup", choices=CUPS, action="append", help="only this one")
    parser.add_argument("--nodes", type=int, nargs="+", default=[500])
    parser.add_argument("--law", nargs="+", default=["corotational", "neo-hookean"])
    parser.add_argument("--reference", action="store_true", help="compute the reference (ccx)")
    parser.add_argument("--run", action="append", help="of the reference, only this one")
    args = parser.parse_args(arguments)
    for name in args.cup or CUPS:
        if args.reference:
            reference(name, CUPS[name], args.run or ())
        else:
            stored = json.loads(STORED.read_text())
            _compare(name, stored["cups"][name], args.nodes, args.law)


def _compare(name: str, own: dict, budgets: Sequence[int], laws: Sequence[str]) -> None:
    runs = own["runs"]
    print(f"\n{name}\n{'depth [mm]':44}" + "".join(f"{d:9g}" for d in own["depths_mm"]))
    for label, run in runs.items():
        print(f"{'ccx, ' + label + ' [N]':44}" + "".join(_number(f) for f in run["force_N"]))
    for nodes in budgets:
        shape = CUPS[name].shape(nodes)
        for law in laws:
            start = perf_counter()
            ours, unsolved = limpet_forces(shape, own["depths_mm"], law)
            label = f"Limpet, {len(shape.points)} nodes, {law} [N]"
            print(
                f"{label:44}" + "".join(f"{f:9.4f}" for f in ours)
                + f"   {unsolved} steps unsolved, {perf_counter() - start:.0f} s"
            )  # fmt: skip
            for against in ("neo-hooke", f"{LAWS[0]}, coarse"):
                if against not in runs:
                    continue
                theirs = np.array(runs[against]["force_N"], dtype=float)  # nan where it stopped
                label = f"  difference, {against} [%]"
                error = 100.0 * (ours / theirs - 1.0)
                print(f"{label:44}" + "".join(f"{e:+9.2f}" for e in error), flush=True)


def _number(force: float | None) -> str:
    return "        -" if force is None else f"{force:9.4f}"


if __name__ == "__main__":
    main()
