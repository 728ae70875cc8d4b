"""A rubber block by CalculiX (calculix_block.json) and by Limpet: the force that stretches it.

A cube of 10 mm, its lower and upper face bonded to plates that move apart, or smooth: then the
stress is uniform. Needs CalculiX (Debian: calculix-ccx) for --store only.

    python benchmarks/rubber_block/calculix_block.py            compare, a minute or two
    python benchmarks/rubber_block/calculix_block.py --store    compute the reference anew
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.optimize import brentq

from limpet.dynamics.motion import Motion
from limpet.fem.material import Material
from limpet.fem.soft_body import SoftBody
from limpet.fem.statics import static_equilibrium
from limpet.geometry.cells import CELLS
from limpet.shapes.boxes import soft_box

Array = np.ndarray
STORED = Path(__file__).with_name("calculix_block.json")
SIZE = 0.01  # [m]
POISSON = 0.49
STRETCHES = (0.7, 1.5, 2.0, 2.5, 3.0)
LAWS = {  # c10, c01, c20, c30 [Pa]
    "mooney-rivlin": (4e5, 1e5, 0.0, 0.0),
    "yeoh": (5e5, 0.0, -1e4, 3e3),
}
DIVISIONS = {"smooth": 1, "bonded": 4, "bonded, fine": 8}
STEP = 0.05  # of stretch, at most


def deck(law: str, divisions: int, bonded: bool, stretches: Sequence[float]) -> str:
    """The block in mm, N and MPa, stretched from rest to each of the `stretches` in turn."""
    box = soft_box(SIZE, SIZE, SIZE, (divisions,) * 3)
    points = 1e3 * (box.points - box.points.min(axis=0))
    cells = box.cells["hex20"][:, _order()]
    lines = ["*NODE, NSET=NALL"]
    lines += [f"{i + 1}, {x:.9g}, {y:.9g}, {z:.9g}" for i, (x, y, z) in enumerate(points)]
    lines += ["*ELEMENT, TYPE=C3D20R, ELSET=BLOCK"]
    for e, cell in enumerate(cells):
        row = [str(n) for n in (e + 1, *(cell + 1))]
        lines += [", ".join(row[:11]) + ",", ", ".join(row[11:])]
    for axis, name in enumerate("XYZ"):
        lines += _node_set(f"LOW{name}", np.flatnonzero(points[:, axis] < 1e-9))
    lines += _node_set("TOP", np.flatnonzero(points[:, 2] > 1e3 * SIZE - 1e-9))
    c10, c01, c20, c30 = (1e-6 * c for c in LAWS[law])
    mu = 2.0 * (c10 + c01)
    d1 = 2.0 / (mu * 2.0 * (1.0 + POISSON) / (3.0 * (1.0 - 2.0 * POISSON)))  # 2/K
    # D2 and D3 as good as infinite: CalculiX puts values of its own where they are 0
    constants = (
        ["*HYPERELASTIC, MOONEY-RIVLIN", f"{c10:.9g}, {c01:.9g}, {d1:.9g}"]
        if law == "mooney-rivlin"
        else ["*HYPERELASTIC, YEOH", f"{c10:.9g}, {c20:.9g}, {c30:.9g}, {d1:.9g}, 1e20, 1e20"]
    )
    lines += ["*MATERIAL, NAME=RUBBER", *constants]
    lines += ["*SOLID SECTION, ELSET=BLOCK, MATERIAL=RUBBER", "*BOUNDARY", "LOWZ, 3, 3"]
    lines += (
        ["LOWZ, 1, 2", "TOP, 1, 2"] if bonded else ["LOWX, 1, 1", "LOWY, 2, 2"]
    )  # fmt: skip
    for stretch in stretches:
        lines += [
            "*STEP, NLGEOM, INC=1000", "*STATIC", "0.05, 1., 1e-6, 0.1",
            "*BOUNDARY", f"TOP, 3, 3, {1e3 * SIZE * (stretch - 1.0):.9g}",
            "*NODE PRINT, NSET=TOP, FREQUENCY=100000, TOTALS=ONLY", "RF", "*END STEP",
        ]  # fmt: skip
    return "\n".join(lines) + "\n"


def _order() -> Array:
    """Limpet's node for each of CalculiX's: corners below and above, then the middles."""
    face = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    corner = np.array([(x, y, z) for z in (-1, 1) for x, y in face])
    low, high = np.arange(4), np.arange(4, 8)
    ends = [*zip(low, np.roll(low, -1)), *zip(high, np.roll(high, -1)), *zip(low, high)]
    wanted = np.concatenate([corner, [0.5 * (corner[a] + corner[b]) for a, b in ends]])
    away = np.abs(CELLS["hex20"].nodes[None] - wanted[:, None]).sum(axis=2)
    return away.argmin(axis=1)


def _node_set(name: str, nodes: Array) -> list[str]:
    return [f"*NSET, NSET={name}", *(f"{i + 1}," for i in nodes)]


def by_ccx(law: str, divisions: int, bonded: bool) -> list[float]:
    """[N] at each of STRETCHES. Pressing and pulling start from rest."""
    out: list[float] = []
    for stretches in ([s for s in STRETCHES if s < 1.0], [s for s in STRETCHES if s > 1.0]):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "deck.inp").write_text(deck(law, divisions, bonded, stretches))
            done = subprocess.run(
                ["ccx", "deck"], cwd=folder, capture_output=True, text=True, check=False
            )
            if "*ERROR" in done.stdout or done.returncode:
                raise RuntimeError(f"ccx failed:\n{done.stdout[-1500:]}")
            results = Path(folder, "deck.dat").read_text()
        found = re.findall(r"total force.*\n\s*\n\s*\S+\s+\S+\s+(\S+)", results)
        if len(found) != len(stretches):
            raise RuntimeError(f"ccx: {len(found)} results of {len(stretches)}")
        out += [float(f) for f in found]
    return out


@dataclass(frozen=True)
class Stretch(Motion):
    """Both faces of the block: the upper one goes up by SIZE in a second."""

    def pose(self, time: float) -> tuple[Array, Array]:
        raise NotImplementedError("the faces move apart")

    def place(self, points: Array, time: float) -> Array:
        return points + [0.0, 0.0, SIZE * time] * (points[:, 2:] > -0.5 * SIZE)


def by_limpet(
    law: str, divisions: int, stretches: Sequence[float] = STRETCHES, element: str | None = None
) -> list[float]:
    """[N] at each of `stretches`, bonded."""
    shape = soft_box(SIZE, SIZE, SIZE, (divisions,) * 3, element)
    material = Material.mooney_rivlin(*LAWS[law], poisson=POISSON)
    faces = np.concatenate([shape.region("bottom"), shape.region("top")])
    out: list[float] = []
    for side in ([s for s in stretches if s < 1.0], [s for s in stretches if s > 1.0]):
        body = SoftBody("block", shape, material, 0.1, faces, Stretch())
        at = 1.0
        for stretch in side:
            for s in np.linspace(at, stretch, int(np.ceil(abs(stretch - at) / STEP)) + 1)[1:]:
                solution = static_equilibrium(body, np.zeros(3), tolerance=1e-4, time=s - 1.0)
                if not solution.converged:
                    raise RuntimeError(f"{law}: not at rest at stretch {s:.2f}: {solution}")
            at = stretch
            top = body.fem.new[shape.region("top")]
            out.append(-float(body.fem.loads(body.x, body.p, 1.0).force[top, 2].sum()))
    return out


def smooth_by_limpet(law: str, stretch: float, element: str | None = None) -> float:
    """[N] of a single cell whose sides are free of force."""
    shape = soft_box(SIZE, SIZE, SIZE, (1, 1, 1), element)
    material = Material.mooney_rivlin(*LAWS[law], poisson=POISSON)
    body = SoftBody("block", shape, material, 0.1)
    rest = body.fem.rest

    def pull(across: float) -> Array:
        """[N] on the faces at the largest x, y and z."""
        x = rest * [across, across, stretch]
        force = -body.fem.loads(x, body.p, 1.0).force
        return np.array([force[r > r.max() - 1e-9, i].sum() for i, r in enumerate(rest.T)])

    about = stretch**-0.5
    t = brentq(lambda t: float(pull(t)[0]), 0.9 * about, 1.1 * about, xtol=1e-14)
    return float(pull(t)[2])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--store", action="store_true", help="compute the reference with ccx")
    args = parser.parse_args()
    if args.store:
        forces = {
            law: {kind: by_ccx(law, n, kind != "smooth") for kind, n in DIVISIONS.items()}
            for law in LAWS
        }
        found = {
            "stretches": STRETCHES,
            "poisson": POISSON,
            "constants_Pa": LAWS,
            "force_N": forces,
        }
        STORED.write_text(json.dumps(found, indent=1) + "\n")
    stored = json.loads(STORED.read_text())
    for law in LAWS:
        forces = {kind: np.array(f) for kind, f in stored["force_N"][law].items()}
        _row(
            f"{law}, smooth",
            np.array([smooth_by_limpet(law, s) for s in STRETCHES]),
            forces["smooth"],
        )
        _row(f"{law}, bonded, ccx 4^3", forces["bonded"], forces["bonded, fine"])
        for n in (2, 4):
            _row(f"{law}, bonded, {n}^3", np.array(by_limpet(law, n)), forces["bonded, fine"])


def _row(label: str, force: Array, reference: Array) -> None:
    error = 100.0 * (force / reference - 1.0)
    print(f"{label:32}" + "  ".join(f"{f:8.3f} N {e:+6.3f} %" for f, e in zip(force, error)))


if __name__ == "__main__":
    main()
