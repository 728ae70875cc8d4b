"""One seed, step by step: python -m limpet.studies.stress SEED [STEPS]."""

from __future__ import annotations

import sys

from limpet.studies.stress.invariants import check
from limpet.studies.stress.trace import run
from limpet.studies.stress.worlds import world_of

if __name__ == "__main__":
    recipe = world_of(int(sys.argv[1])).recipe
    print(recipe)
    trace = run(recipe, steps=int(sys.argv[2]) if len(sys.argv) > 2 else None, limit=600.0)
    for step in trace.steps:
        r = step.report
        air = " ".join(
            f"[{c.id}: {c.pressure:.0f} Pa {1e9 * c.volume:.4g} mm3 {c.air:.3g} mol gap "
            f"{1e6 * c.seal_gap:.3g} um]"
            for c in r.cavities
        )
        print(
            f"{r.step:3d} {'' if r.converged else 'UNCONVERGED '}res {r.residual:.1e} "
            f"lin {r.relinearisation_residual:.1e} pen {1e3 * r.max_penetration:.3g} mm "
            f"contacts {r.active_contacts}/{r.contacts} {step.seconds:.2f} s {air}"
        )
    print(trace.error, trace.crash)
    for finding in check(trace):
        print(finding.name, "|", finding.text, "| steps:", finding.count)
