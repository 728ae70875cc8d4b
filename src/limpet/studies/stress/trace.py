"""Run a recipe and note, step by step, what the invariants are checked on."""

from __future__ import annotations

import hashlib
import tempfile
import traceback
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from time import process_time

import numpy as np

import limpet as lp
from limpet.cavity.mesh import contains
from limpet.engine.observation import Snapshot
from limpet.errors import LimpetError
from limpet.fem.soft_body import SoftBody
from limpet.geometry.shape import SoftShape
from limpet.report import StepReport
from limpet.rigid.rigid_body import RigidBody
from limpet.studies.stress.energy import total_energy
from limpet.studies.stress.recipe import Recipe, build

Array = np.ndarray

WORLD_LIMIT = 20.0  # [s] of computing for one run of a world
BELOW = 1e-4  # [m] under a dome: seals are not judged where another body is as near


@dataclass(frozen=True)
class Surfaces:
    """The collision surfaces of all bodies, and the two poles of the cup."""

    bodies: tuple[tuple[int, int, Array], ...]  # first point, number of points, triangles
    cup: int
    inside: int  # vertex of the cup in the middle of its dome
    outside: int  # in the middle of its top


@dataclass(frozen=True)
class Step:
    """One step."""

    report: StepReport
    positions: Array  # (n, 3) [m] of all collision surfaces, at its end
    bits: str  # digest of positions, velocities, reactions and air
    seconds: float  # [s] of computing
    forces: Array  # (bodies, 3) [N] of contact and air on each, and of what holds it
    sealed: bool  # the dome of the cup is in a cavity
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
    surfaces: Surfaces = Surfaces((), 0, 0, 0)
    judged: int = 0  # steps whose seal the oracle has judged


def run(
    recipe: Recipe, *, steps: int | None = None, restore_at: int | None = None,
    limit: float | None = None,
) -> Trace:  # fmt: skip
    """Make the steps of a recipe; at `restore_at` it is saved and goes on in a new simulation.

    limit [s]: of computing; WORLD_LIMIT if not given.
    """
    trace, began = Trace(recipe), process_time()
    deadline = Deadline(WORLD_LIMIT if limit is None else limit)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            sim = build(recipe)
            sim.clock = deadline
            trace.nodes, trace.surfaces = sim.fem_nodes, _surfaces(sim, recipe)
            for k in range(steps or recipe.steps):
                if k == restore_at:
                    sim = _restored(sim, recipe)
                    sim.clock = deadline
                for push in recipe.pushes:
                    if push.step == k:
                        sim.apply_force(push.body, push.vertex, push.force)
                trace.steps.append(_step(sim, trace.surfaces))
        except TooSlowError:
            trace.slow = True
        except LimpetError as problem:
            trace.error = str(problem)
        except Exception:
            trace.crash = traceback.format_exc(limit=-4)
    trace.seconds = process_time() - began
    return trace


class TooSlowError(Exception):
    """A run has taken more than its time."""


class Deadline:
    """The clock of a simulation: raises TooSlowError where it is read after its time.

    That is between the phases of a step. A signal would come anywhere, also while compiled code
    converts its arguments, which then fails with an exception of its own.
    """

    def __init__(self, seconds: float) -> None:
        self._until = process_time() + seconds  # [s] of computing

    def __call__(self) -> float:
        now = process_time()
        if now >= self._until:
            raise TooSlowError
        return now


def _restored(sim: lp.Simulation, recipe: Recipe) -> lp.Simulation:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "state.npz"
        sim.save(file)
        fresh = build(recipe)
        fresh.load(file)
    return fresh


def _surfaces(sim: lp.Simulation, recipe: Recipe) -> Surfaces:
    """Without what the cup is fixed to, which covers its far side but closes nothing off."""
    joined, carrier = sim.snapshot().surface, recipe.part("cup").carrier
    bodies, names = [], []
    for k, body in enumerate(sim.bodies):
        if body.name != carrier:
            (surface,) = body.surfaces.values()
            bodies.append((int(joined.offset[k]), body.n_points, np.asarray(surface.triangles)))
            names.append(body.name)
    shape = recipe.part("cup").shape.make()
    assert isinstance(shape, SoftShape)
    x = shape.collision.positions(shape.points)
    axis = np.hypot(x[:, 0], x[:, 1])
    middle = np.flatnonzero(axis <= axis.min() + 1e-9)
    low, high = middle[x[middle, 2].argmin()], middle[x[middle, 2].argmax()]
    return Surfaces(tuple(bodies), names.index("cup"), int(low), int(high))


def _step(sim: lp.Simulation, surfaces: Surfaces) -> Step:
    before = [m.momentum() if hasattr(m, "momentum") else np.zeros(3) for m in sim.bodies]
    began = process_time()
    report = sim.step()
    seconds = process_time() - began
    now = sim.snapshot()
    forces, sizes = body_forces(sim, report)
    balance, scale = _balance(sim, report, before, forces, sizes)
    divided = sim._parts > 1  # a step in parts reports the forces of the last part
    held = [report.reactions.get(b.name, np.zeros(6))[:3] for b in sim.bodies]
    return Step(
        report, now.positions.copy(), _digest(sim, report), seconds, forces + np.array(held),
        _sealed(now, surfaces),
        0.0 if divided else balance, scale, _air(sim), total_energy(sim, report),
        _work(sim, report), divided,
    )  # fmt: skip


def _sealed(now: Snapshot, surfaces: Surfaces) -> bool:
    """Whether the dome of the cup is within the seal of a cavity.

    Interiors have vertices of bodies that bear a ring; where the cup bears none, the air below the
    dome is inside the mesh, or not.
    """
    first, count, triangles = surfaces.bodies[surfaces.cup]
    dome, own = first + surfaces.inside, now.positions[first : first + count]
    a, b, c = own[triangles[(triangles == surfaces.inside).any(axis=1)]].transpose(1, 0, 2)
    normal = np.cross(b - a, c - a).sum(axis=0)
    below = now.positions[dome] + BELOW * normal / np.linalg.norm(normal)
    for mesh in (cavity.mesh for cavity in now.cavities):
        if now.surface.body[dome] in mesh.carriers or len(mesh.rings) == 0:
            held = bool((mesh.interior == dome).any())
        else:
            held = contains(mesh, now.positions, below)
        if held:
            return True
    return False


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


def body_forces(sim: lp.Simulation, report: StepReport) -> tuple[Array, Array]:
    """(bodies, 3) [N] of contact, air and the user on each body, and (bodies,) their sizes.

    Contact forces are those of a snapshot; air presses on the walls that it has.
    """
    now, around = sim.snapshot(), sim.world.atmosphere.pressure
    force, size = np.zeros((len(sim.bodies), 3)), np.zeros(len(sim.bodies))
    contacts, largest = now.contacts, np.abs(now.forces).max(axis=1, initial=0.0)
    for side, sign in ((contacts.surface_a, 1.0), (contacts.surface_b, -1.0)):
        np.add.at(force, side, sign * now.forces)
        np.add.at(size, side, largest)
    for c, told in zip(now.cavities, report.cavities):
        owner = now.surface.body[c.mesh.support]
        for k in np.unique(owner).tolist():
            f = (told.pressure - around) * c.gradient[owner == k].sum(axis=0)
            force[k] += f
            size[k] += np.abs(f).max()
    for k, body in enumerate(sim.bodies):
        own = sim.model.points.first[k] + np.arange(body.n_points)
        applied = sim.control.applied[own].sum(axis=0)
        force[k] += applied
        size[k] += np.abs(applied).max()
    return force, size


def _balance(
    sim: lp.Simulation, report: StepReport, before: list[Array], forces: Array, sizes: Array
) -> tuple[float, float]:
    """[N] by which the change of momentum of a body misses the forces on it, and their size."""
    held = {p.one for p in sim.world.joints} | {p.other for p in sim.world.joints}
    g = float(np.abs(sim.world.gravity).max())
    weights = [body.mass * g for body in sim.bodies if body.movable]
    worst, scale = 0.0, max(1e-6, float(sizes.max(initial=0.0)), *weights)
    for body, old, force, size in zip(sim.bodies, before, forces, sizes):
        if not isinstance(body, RigidBody | SoftBody) or not body.movable or body.name in held:
            continue
        weight, after = body.mass * sim.world.gravity, body.momentum()
        during = old + body.theta * (after - old)
        inertia = (after - old) / sim.h + body.mass_damping * during
        reaction = report.reactions.get(body.name, np.zeros(6))[:3]
        worst = max(worst, float(np.abs(inertia - weight - force - reaction).max()))
        terms = size + np.abs(weight).max() + np.abs(inertia).max() + np.abs(reaction).max()
        scale = max(scale, float(terms), _rounding(body))
    return worst, scale


def _rounding(body: RigidBody | SoftBody) -> float:
    """[N] of which the millionth part is what rounding leaves of the forces within a soft body.

    They are E times an area at a strain of 1; positions are known to some 1e-16 of its size. In a
    body at rest without loads nothing else is left.
    """
    if not isinstance(body, SoftBody):
        return 0.0
    return 1e-9 * body.fem.material.young * float(np.ptp(body.x, axis=0).max()) ** 2


def _air(sim: lp.Simulation) -> dict[str, float]:
    if sim.model.cavities is None:
        return {}
    ledger = sim.model.cavities.ledger
    held = sum(c.air + c.stored for c in ledger.cavities) + ledger.air_of_lines
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
