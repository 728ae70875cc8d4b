"""Computes reference.json: the push force of the standard cup, to be compared with Limpet's.

Needs CalculiX (Debian: calculix-ccx). Every case is refined until its forces settle.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from dataclasses import replace
from itertools import product
from pathlib import Path
from time import perf_counter

import numpy as np
from axisymmetric import push
from deck import DEPTHS, LAWS, Array, Case, Section, cup_deck, patch_deck, section
from scipy.optimize import brentq

HERE = Path(__file__).parent
POISSON, FRICTION = (0.45, 0.49), (0.0, 0.5)
LEVELS = (1, 2, 3, 4)  # elements through the wall, before those at the stem's foot
SETTLED = 1e-3  # a case is done when no force changes by more than this share
FULL_TURN = 180.0  # ccx reports the reactions of a sector of 2 degrees; the patch test checks it
OWN = "corotational"


def ccx(text: str) -> tuple[list[str], str]:
    """Run a deck; the blocks of its results, and ccx's log."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "deck.inp").write_text(text)
        try:
            done = subprocess.run(
                ["ccx", "deck"], cwd=folder, capture_output=True, text=True, check=False
            )
        except FileNotFoundError:
            sys.exit("ccx: not found; install CalculiX (Debian: apt install calculix-ccx)")
        if "*ERROR" in done.stdout or done.returncode:
            raise RuntimeError(f"ccx failed:\n{done.stdout[-1500:]}")
        results = Path(folder, "deck.dat").read_text()
    return re.split(r"\n(?= (?:displacements|total force))", "\n" + results)[1:], done.stdout


def table(block: str) -> Array:
    """The numbers of a block of results."""
    rows = [line.split() for line in block.splitlines()[1:] if line.strip()]
    return np.array(rows, dtype=float)


def totals(blocks: list[str], name: str) -> list[float]:
    """[N] axial forces on a set of nodes at the end of each step, for the full turn."""
    found = [b for b in blocks if f"total force (fx,fy,fz) for set {name} " in b]
    return [FULL_TURN * float(table(b)[0, 1]) for b in found]


def push_by_ccx(s: Section, case: Case) -> tuple[list[float], list[Array]]:
    """Force [N] on the stem and node positions (n, 2) [mm] at each depth."""
    blocks, _ = ccx(cup_deck(s, case))
    forces, plate = totals(blocks, "TOP"), totals(blocks, "SLABNODES")
    if len(forces) != len(DEPTHS) or not np.allclose(forces, -np.array(plate), rtol=1e-3):
        raise RuntimeError(f"stem {forces} N and plate {plate} N do not balance")
    moved = [table(b)[:, 1:3] for b in blocks if b.startswith(" displacements")]
    return [-f for f in forces], [s.points + u for u in moved]


def touch(s: Section, x: Array) -> tuple[float, float]:
    """[mm] radius of the lip's lower edge, and width of the ring that touches."""
    below = x[s.underside]
    touching = below[below[:, 1] < 2e-5, 0]
    return float(below[-1, 0]), float(np.ptp(touching)) if len(touching) else 0.0


def reference(case: Case) -> dict[str, object]:
    """One case, refined until it settles."""
    solve = push if case.law == OWN else push_by_ccx
    history: list[dict[str, object]] = []
    change = np.inf
    for n in LEVELS:
        start, s = perf_counter(), section(n)
        forces, places = solve(s, case)
        if history:
            change = float(np.abs(np.array(forces) / history[-1]["force_N"] - 1.0).max())
        history.append({"n": n, "elements": len(s.quads), "force_N": rounded(forces)})
        print(
            f"{case.law:20} nu {case.poisson:g} mu {case.friction:g}  n {n} ({len(s.quads):4})  "
            + "  ".join(f"{f:.4f}" for f in forces)
            + f"   change {100 * change:.2f} %  {perf_counter() - start:.0f} s",
            flush=True,
        )
        if change < SETTLED:
            break
    lip, width = zip(*(touch(s, x) for x in places))
    return {
        "law": case.law, "solver": "axisymmetric.py" if case.law == OWN else "ccx",
        "poisson": case.poisson, "friction": case.friction, "force_N": rounded(forces),
        "last_change": rounded([change])[0], "lip_radius_mm": rounded(lip),
        "contact_width_mm": rounded(width), "history": history,
    }  # fmt: skip


def patch_error(law: str) -> float:
    """Relative error of ccx's force, times FULL_TURN, on a cylinder squeezed by a tenth."""
    case, stretch = Case(0.45, law=law), 0.9
    e, nu = case.young, case.poisson
    force = totals(ccx(patch_deck(case))[0], "TOP")[0]
    if law == "st-venant-kirchhoff":
        stress = 0.5 * e * stretch * (stretch**2 - 1.0)
    else:
        mu, bulk = e / (2 * (1 + nu)), e / (3 * (1 - 2 * nu))

        def piola(a: float, b: float, c: float) -> float:  # first Piola stress along stretch a
            j, square = a * b * c, a * a + b * b + c * c
            return mu * j ** (-2 / 3) * (a - square / (3 * a)) + bulk * (j - 1.0) * j / a

        side = brentq(lambda b: piola(b, b, stretch), 0.9, 1.2)
        stress = piola(stretch, side, side)
    return force / (stress * np.pi * 25.0) - 1.0


def checks() -> dict[str, object]:
    """What the forces must not depend on; all as the largest relative change over the depths."""
    s = section(2)
    out: dict[str, object] = {f"patch, {law}": rounded([patch_error(law)])[0] for law in LAWS}
    base, rough = Case(0.45), Case(0.45, friction=0.5)
    plain = {c: np.array(push_by_ccx(s, c)[0]) for c in (base, rough)}
    for label, case, changed in (
        ("contact 10 times stiffer", base, {"penalty": 10 * base.penalty}),
        ("contact 10 times softer", base, {"penalty": base.penalty / 10}),
        ("stick 10 times stiffer", rough, {"stick": 10 * base.stick}),
        ("stick 10 times softer", rough, {"stick": base.stick / 10}),
    ):
        forces = push_by_ccx(s, replace(case, **changed))[0]
        out[label] = rounded([np.abs(forces / plain[case] - 1.0).max()])[0]
    for label, case in (("frictionless", base), ("friction 0.5", rough)):
        forces = push(s, case)[0]
        out[f"axisymmetric.py instead of ccx, same law, {label}"] = rounded(
            [np.abs(forces / plain[case] - 1.0).max()]
        )[0]
    return out


def rounded(values: object) -> list[float]:
    return [float(f"{v:.5g}") for v in np.asarray(values, dtype=float)]


def main() -> None:
    version = subprocess.run(["ccx", "-v"], capture_output=True, text=True, check=False).stdout
    found = {
        "about": "push force of the standard cup on a rigid plate, no gas, no gravity; run.py",
        "ccx": version.split()[-1], "profile": "standard", "young_MPa": Case(0.45).young,
        "depths_mm": list(DEPTHS), "penalty_MPa_per_mm": Case(0.45).penalty,
        "stick_MPa_per_mm": Case(0.45).stick, "settled_below": SETTLED,
        "checks": checks(),
        "cases": [
            reference(Case(nu, mu, law))
            for law, nu, mu in product((*LAWS, OWN), POISSON, FRICTION)
        ],
    }  # fmt: skip
    text = json.dumps(found, indent=1)
    # one line for each list of numbers
    text = re.sub(r"\[\s+([-\d.e,\s]+?)\s+\]", lambda m: f"[{' '.join(m[1].split())}]", text)
    (HERE / "reference.json").write_text(text + "\n")
    print("\nforce [N]                      " + "".join(f"{d:6g} mm" for d in DEPTHS))
    for c in found["cases"]:
        name = f"{c['law']:20} nu {c['poisson']:g} mu {c['friction']:g}"
        print(name + "  " + "".join(f"{f:9.4f}" for f in c["force_N"]))
    for label, value in found["checks"].items():
        print(f"{label}: {100 * value:.3f} %")


if __name__ == "__main__":
    main()
