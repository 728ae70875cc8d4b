"""Run a recipe and note, step by step, what the invariants are checked on."""

from __future__ import annotations

import hashlib
import tempfile
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from time import process_time

import numpy as np

import limpet as lp
from limpet.errors import LimpetError
from limpet.report import StepReport
from limpet.studies.stress.energy import total_energy
from limpet.studies.stress.recipe import Recipe, build

Array = np.ndarray

WORLD_LIMIT = 60.0  # [s] of computing for one world


@dataclass(frozen=True)
class Step:
    """One step."""

    report: StepReport
    positions: Array  # (n, 3) [m] of all collision surfaces, at its end
    bits: str  # digest of positions, velocities, reactions and air
    seconds: float  # [s] of computing
    balance: float  # [N] of the worst body: momentum against the forces on it
    force_scale: float  # [N]
    air: dict[str, float]  # [mol] held, and since the start: created, leaked, vented ...
    energy: float | None  # [J] kinetic, elastic, of weight and of air
    work: float  # [J] of prescribed motions in this step
    divided: bool  # into parts


@dataclass
class Trace:
    """A run up to its end, or to where it was stopped."""

    recipe: Recipe
    steps: list[Step] = field(default_factory=list)
    error: str = ""  # of a step that stopped honestly: a LimpetError
    crash: str = ""  # of one that did not: any other exception
    slow: bool = False  # it was given up after WORLD_LIMIT
    seconds: float = 0.0
    nodes: int = 0


def run(
    recipe: Recipe, *, steps: int | None = None, restore_at: int | None = None,
    limit: float = WORLD_LIMIT,
    watch: Callable[[lp.Simulation, StepReport], None] = lambda sim, report: None,
) -> Trace:  # fmt: skip
    """Make the steps of a recipe; at `restore_at` it is saved and goes on in a new simulation."""
    trace = Trace(recipe)
    began = process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            sim = build(recipe)
            trace.nodes = sim.fem_nodes
            for k in range(steps or recipe.steps):
                if k == restore_at:
                    sim = _restored(sim, recipe)
                for push in recipe.pushes:
                    if push.step == k:
                        sim.apply_force(push.body, push.vertex, push.force)
                trace.steps.append(_step(sim, watch))
                if process_time() - began > limit:
                    trace.slow = True
                    break
        except LimpetError as problem:
            trace.error = str(problem)
        except Exception:
            trace.crash = traceback.format_exc(limit=-4)
    trace.seconds = process_time() - began
    return trace


def _restored(sim: lp.Simulation, recipe: Recipe) -> lp.Simulation:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "state.npz"
        sim.save(file)
        fresh = build(recipe)
        fresh.load(file)
    return fresh


def _step(sim: lp.Simulation, watch: Callable[[lp.Simulation, StepReport], None]) -> Step:
    before = [m.momentum() if hasattr(m, "momentum") else np.zeros(3) for m in sim.bodies]
    began = process_time()
    report = sim.step()
    seconds = process_time() - began
    x = sim.snapshot().positions.copy()
    watch(sim, report)
    balance, scale = _balance(sim, report, before)
    divided = sim._parts > 1  # a step in parts reports the forces of the last part
    return Step(
        report, x, _digest(sim, report), seconds, 0.0 if divided else balance, scale,
        _air(sim), total_energy(sim, report), _work(sim, report), divided,
    )  # fmt: skip


def _digest(sim: lp.Simulation, report: StepReport) -> str:
    """Of all that a step ends with."""
    digest = hashlib.sha256()
    for body in sim.bodies:
        for value in (body.positions(), body.velocities()):
            digest.update(np.ascontiguousarray(value).tobytes())
    for name in sorted(report.reactions):
        digest.update(np.ascontiguousarray(report.reactions[name]).tobytes())
    for c in report.cavities:
        digest.update(np.array([c.pressure, c.volume, c.air]).tobytes())
    return digest.hexdigest()[:16]


def _balance(sim: lp.Simulation, report: StepReport, before: list[Array]) -> tuple[float, float]:
    """[N] by which the change of momentum of a body misses the forces on it, and their size.

    Forces are summed here: contact forces as a snapshot shows them, the pressure of the air on the
    walls that it has, weight, forces of the user, and the reactions that are reported.
    """
    now, names = sim.snapshot(), [b.name for b in sim.bodies]
    force = {name: np.zeros(3) for name in names}
    size = {name: 0.0 for name in names}

    def add(name: str, f: Array) -> None:
        force[name] += f
        size[name] += float(np.abs(f).max(initial=0.0))

    for a, b, f in zip(now.contacts.surface_a, now.contacts.surface_b, now.forces):
        add(names[a], f)
        add(names[b], -f)
    around = sim.world.atmosphere.pressure
    for c, told in zip(now.cavities, report.cavities):
        owner = now.surface.body[c.mesh.support]
        for k in np.unique(owner).tolist():
            add(names[k], (told.pressure - around) * c.gradient[owner == k].sum(axis=0))
    for k, body in enumerate(sim.bodies):
        own = sim.model.points.first[k] + np.arange(body.n_points)
        add(body.name, sim.control.applied[own].sum(axis=0))
    held = {p.one for p in sim.world.joints} | {p.other for p in sim.world.joints}
    worst, scale = 0.0, 1e-6
    for body, old in zip(sim.bodies, before):
        if not body.movable or body.name in held or not hasattr(body, "momentum"):
            continue
        weight = body.mass * sim.world.gravity
        after = body.momentum()
        during = old + body.theta * (after - old)
        inertia = (after - old) / sim.h + body.mass_damping * during
        reaction = report.reactions.get(body.name, np.zeros(6))[:3]
        miss = inertia - weight - force[body.name] - reaction
        worst = max(worst, float(np.abs(miss).max()))
        terms = size[body.name] + np.abs(weight).max() + np.abs(inertia).max()
        scale = max(scale, float(terms + np.abs(reaction).max()))
    return worst, scale


def _air(sim: lp.Simulation) -> dict[str, float]:
    if sim.model.cavities is None:
        return {}
    ledger = sim.model.cavities.ledger
    held = sum(c.air + c.stored for c in ledger.cavities) + sum(h.air for h in ledger.hoses)
    names = ("created", "leaked", "vented", "released", "taken")
    return {"held": held, **{name: float(getattr(ledger, name)) for name in names}}


def _work(sim: lp.Simulation, report: StepReport) -> float:
    """[J] of prescribed translations; of a rotation it is not known."""
    total = 0.0
    for name, (_, motion) in sim.world.motions.items():
        if name in report.reactions:
            moved = motion.pose(sim.time)[1] - motion.pose(sim.time - sim.h)[1]
            total += float(report.reactions[name][:3] @ moved)
    return total
