"""Limpet's push force beside reference.json, in per cent: the error of its elements.

    python compare.py                            the default cup and a finer one
    python compare.py --element tet4 --nodes 434 1500

The scene 'ground' is run with a cup that has next to no mass, so that its weight (0.2 N beside
forces of 0.4 to 0.9 N) and its inertia drop out. It is pushed to a depth and held until it rests:
the force then depends neither on the speed nor on the damping. Air goes out and in freely, so there
is no gas force.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from limpet.engine.simulation import Simulation
from limpet.geometry.shape import SoftShape
from limpet.scenes.registry import load

HERE = Path(__file__).parent
MASS = 1e-6  # [kg]
LEAK = 1e-2  # [mol/s] into the cavity, a hundred times its air: no suction while the cup settles
SETTLED = 1e-3  # largest share by which a force may change over the last tenth of a second


def hold_force(depth: float, push_time: float, hold: float, **scene: object) -> dict[str, float]:
    """The stem's force [N] at rest `depth` [mm] below touch, and how round the lip stays there."""
    settings = {"push": 1e-3 * depth, "push_time": push_time, "hold": hold, "cup_mass": MASS}
    built = load("ground", {**settings, "overpressure": 0.0, "leak": LEAK, **scene})
    sim = Simulation(built.world, built.h)
    reports = list(sim.run(push_time + hold))
    forces = [-float(r.reactions["cup"][2]) for r in reports]
    before = forces[-1 - round(0.1 / built.h)]
    if not abs(forces[-1] / before - 1.0) < SETTLED:
        raise SystemExit(f"{depth:g} mm: the force does not settle, {before:g} to {forces[-1]:g} N")
    atmosphere = built.world.atmosphere.pressure
    if any(abs(c.pressure - atmosphere) > 0.01 for c in reports[-1].cavities):
        raise SystemExit(f"{depth:g} mm: the trapped air presses or pulls")
    edge = sim.bodies[0].node_positions()[_lower_edge(built.world.specs["cup"].shape)]
    radius = np.hypot(edge[:, 0], edge[:, 1])
    return {
        "force": forces[-1], "nodes": sim.fem_nodes, "radius": 1e3 * float(radius.mean()),
        "wave": 1e6 * float(max(np.ptp(radius), np.ptp(edge[:, 2]))),
        "unsolved": sum(not r.converged for r in reports),
    }  # fmt: skip


def _lower_edge(shape: SoftShape) -> np.ndarray:
    """Nodes on the lip's lower edge; Bezier control points, which stand off it, are left out."""
    lip = shape.regions["lip"]
    height, radius = shape.points[lip, 2], np.hypot(*shape.points[lip, :2].T)
    low = height < height.min() + 1e-6
    return lip[low & (radius < radius[low].min() + 1e-6)]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--element", help="element of the cup (default: the scene's)")
    parser.add_argument("--nodes", type=int, nargs="+", help="nodes of the cup, one or more sizes")
    parser.add_argument("--sectors", type=int, help="with --segments, instead of --nodes")
    parser.add_argument("--segments", type=int)
    parser.add_argument("--push-time", type=float, default=1.0, help="[s]")
    parser.add_argument("--hold", type=float, default=0.3, help="[s]")
    parser.add_argument("--h", type=float, default=0.01, help="time step [s]")
    args = parser.parse_args(arguments)
    meshes: list[dict[str, object]] = [{"nodes": n} for n in args.nodes or (434, 1500)]
    if args.sectors:
        meshes = [{"sectors": args.sectors, "segments": args.segments}]
    stored = json.loads((HERE / "reference.json").read_text())
    depths = stored["depths_mm"]
    cases = {(c["law"], c["poisson"], c["friction"]): c for c in stored["cases"]}
    laws = list(dict.fromkeys(law for law, _, _ in cases))
    element = {"element": args.element} if args.element else {}
    for mesh in meshes:
        for nu, mu in dict.fromkeys((nu, mu) for _, nu, mu in cases):
            scene = {"poisson": nu, "friction": mu, "h": args.h, **mesh, **element}
            found = [hold_force(d, args.push_time, args.hold, **scene) for d in depths]
            ours = np.array([f["force"] for f in found])
            print(
                f"\n{args.element or 'default element'}, {found[0]['nodes']} nodes, "
                f"nu {nu:g}, friction {mu:g}; {sum(f['unsolved'] for f in found)} steps unsolved"
            )
            print(f"{'depth [mm]':30}" + "".join(f"{d:9g}" for d in depths))
            print(f"{'Limpet [N]':30}" + "".join(f"{f:9.4f}" for f in ours))
            for law in laws:
                error = 100.0 * (ours / cases[law, nu, mu]["force_N"] - 1.0)
                print(f"{'error, ' + law + ' [%]':30}" + "".join(f"{e:+9.2f}" for e in error))
            slide = np.array([f["radius"] for f in found])
            miss = 1e3 * (slide - cases[laws[-1], nu, mu]["lip_radius_mm"])
            print(f"{'lip too far out [um]':30}" + "".join(f"{w:+9.1f}" for w in miss))
            print(f"{'lip out of round [um]':30}" + "".join(f"{f['wave']:9.2f}" for f in found))


if __name__ == "__main__":
    main()
