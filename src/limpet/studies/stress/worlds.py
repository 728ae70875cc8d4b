"""Random worlds through the public interface: cups on things, as a user could write them.

A world of a seed is always the same. Worlds that are meaningless are rejected by two rules: the
public interface refuses them (LimpetError), or two bodies overlap at the start. Then the next
world of the same seed is taken.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from limpet.errors import LimpetError
from limpet.geometry.rotation import rotation_matrix
from limpet.studies.stress import objects
from limpet.studies.stress.air import with_air
from limpet.studies.stress.objects import Random, log_uniform
from limpet.studies.stress.placing import CLEARANCE, overlaps, set_down
from limpet.studies.stress.recipe import Call, Part, Path, Push, Recipe, Swing, Vector, build

MOST_LIFT = 5e-3  # [m]
ATTEMPTS = 50  # worlds of one seed before it is given up
CUP_ELEMENTS = (None, None, None, "hex8", "hex20", "hex20p", "tet4", "tet10", "iicr11", "iicr21")


@dataclass(frozen=True)
class Size:
    """How large worlds are: each is drawn from a range."""

    steps: tuple[int, int]
    sectors: dict[str, tuple[int, int]]  # of cups, by their cells
    segments: tuple[int, int]


USUAL = Size((20, 80), {"hex20": (10, 19), "tet10": (8, 13), "linear": (12, 29)}, (4, 5))
SMALL = Size((8, 14), {"hex20": (8, 10), "tet10": (6, 8), "linear": (8, 16)}, (3, 4))  # for tests


@dataclass(frozen=True)
class Drawn:
    """The world of a seed."""

    recipe: Recipe
    rejected: tuple[str, ...]  # why earlier worlds of the seed were not taken


def world_of(seed: int, size: Size = USUAL) -> Drawn:
    """The first world of the seed that is not rejected."""
    rejected: list[str] = []
    for attempt in range(ATTEMPTS):
        recipe = _draw(np.random.default_rng([seed, attempt]), size)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                recipe = _lifted(_placed(recipe))
            except LimpetError as problem:
                rejected.append(f"refused: {problem}")
                continue
        if pair := overlaps(recipe):
            rejected.append(f"overlap of {pair}")
            continue
        return Drawn(recipe, tuple(rejected))
    raise LimpetError(f"seed {seed}: none of {ATTEMPTS} worlds can be run: {rejected[-1]}")


def _lifted(recipe: Recipe) -> Recipe:
    """The cup so high that the interface takes it: smooth parts bulge beyond their facets."""
    lift = 0.0
    while True:
        raised = recipe
        for name in ("cup", "weight"):
            raised = replace(raised, parts=tuple(_raised(p, name, lift) for p in raised.parts))
        try:
            build(raised)
        except LimpetError as problem:
            if "overlap at the start" not in str(problem) or lift > MOST_LIFT:
                raise
            lift = 2.0 * lift or CLEARANCE
        else:
            return raised


def _raised(part: Part, name: str, lift: float) -> Part:
    if part.name != name:
        return part
    x, y, z = part.position
    motion = part.motion
    if isinstance(motion, Swing):
        a, b, c = motion.centre
        motion = replace(motion, centre=(a, b, c + lift))
    return replace(part, position=(x, y, z + lift), motion=motion)


def _draw(rng: Random, size: Size) -> Recipe:
    """The parts where they are to be set down, and what moves them."""
    h = float(rng.choice([0.0025, 0.005, 0.01, 0.01, 0.02]))
    steps = int(rng.integers(size.steps[0], size.steps[1] + 1))
    r = log_uniform(rng, 5e-3, 60e-3)
    cup = cup_part(rng, r, "cup", size)
    parts = [*_below(rng, r, size), cup]
    gravity = _gravity(rng)
    parts = _tilted(rng, parts, r)
    parts = _held(rng, parts, r, h * steps)
    recipe = Recipe(
        tuple(parts), h, steps, gravity=gravity,
        friction=float(rng.choice([0.0, 0.1, 0.5, 1.0, rng.uniform(0.0, 1.5)])),
        settings=_settings(rng),
    )  # fmt: skip
    recipe = with_air(rng, recipe, r)
    return _pushed(rng, recipe, r)


def cup_part(rng: Random, r: float, name: str, size: Size) -> Part:
    """A cup of lip radius r [m], of any proportions, mesh and material."""
    made, element = objects.material(rng, CUP_ELEMENTS)
    kind = {None: "hex20", "hex20p": "hex20", "iicr21": "tet10"}.get(element, element)
    low, high = size.sectors.get(str(kind), size.sectors["linear"])
    sectors = 2 * int(rng.integers(low // 2, high // 2 + 1))
    depth, hub = float(rng.uniform(0.15, 0.7)) * r, float(rng.uniform(0.05, 0.25)) * r
    profile = {
        "name": "random", "radius": r, "depth": depth,
        "height": 1.02 * (depth + hub) + float(rng.uniform(0.1, 0.5)) * r,
        "stem_radius": float(rng.uniform(0.2, 0.4)) * r, "hub_thickness": hub,
        "lip_thickness": log_uniform(rng, 0.03, 0.15) * r, "dome": float(rng.uniform(1.0, 3.0)),
    }  # fmt: skip
    given: dict[str, object] = {
        "profile": Call("shapes.CupProfile", profile), "element": element, "sectors": sectors,
        "segments": int(rng.integers(size.segments[0], size.segments[1] + 1)),
    }  # fmt: skip
    if rng.random() < 0.3:
        given["imperfection"] = log_uniform(rng, 1e-3, 5e-2)
    thickness = 0.5 * (hub + float(profile["lip_thickness"]))  # type: ignore[arg-type]
    mass = 1.1e3 * np.pi * r * r * thickness * 1.3
    return Part(name, Call("shapes.cup", given), float(mass), made, region="top")


def _below(rng: Random, r: float, size: Size) -> list[Part]:
    """What the cup is set down on, from the ground up."""
    choice = rng.random()
    if choice < 0.18:
        part = objects.soft_box(rng, r)
        return [replace(part, motion=Path(((0.0, (0.0, 0.0, 0.0)),)), region="bottom")]
    if choice < 0.36:  # another cup: lip on lip, or lip on its top
        facing = rng.random() < 0.7
        larger = float(rng.choice([1.0, 1.0, rng.uniform(0.7, 1.5)] if facing else [2.5, 5.0]))
        other = cup_part(rng, larger * r, "lower cup", size)
        region = "top" if facing else "lip"
        other = objects.turned_over(other) if facing else other
        return [replace(other, motion=Path(((0.0, (0.0, 0.0, 0.0)),)), region=region)]
    part = objects.rigid(rng, r)
    if rng.random() < 0.5:
        return [replace(part, fixed=True)]
    edge = 6.0 * r
    ground = Call("shapes.box", {"length": edge, "width": edge, "height": 0.5 * r})
    return [Part("ground", ground, 1.0, fixed=True), part]


def _gravity(rng: Random) -> Vector:
    choice = rng.random()
    if choice < 0.2:
        return (0.0, 0.0, 0.0)
    if choice < 0.7:
        return (0.0, 0.0, -9.81)
    way = rng.normal(size=3)
    x, y, z = (9.81 * way / np.linalg.norm(way)).tolist()
    return (x, y, z)


def _tilted(rng: Random, parts: list[Part], r: float) -> list[Part]:
    """The last part tilted and off the middle; heights are found by setting the parts down."""
    *below, cup = parts
    if rng.random() < 0.6:
        angle = log_uniform(rng, 1e-3, 0.2)
        tilt = rotation_matrix(np.array([*rng.normal(size=2), 0.0]), angle)
        turn = tilt @ rotation_matrix(np.array([0.0, 0.0, 1.0]), float(rng.uniform(0.0, 6.3)))
        rows = [tuple(row) for row in turn.tolist()]
        cup = replace(cup, rotation=(rows[0], rows[1], rows[2]))
    if rng.random() < 0.5:
        x, y = (float(rng.normal()) * 0.15 * r for _ in range(2))
        cup = replace(cup, position=(x, y, 0.0))
    return [*below, cup]


def _held(rng: Random, parts: list[Part], r: float, duration: float) -> list[Part]:
    """What moves the cup: a path, a swing, a weight that it is attached to, or nothing."""
    *below, cup = parts
    choice = rng.random()
    if choice < 0.7:
        return [*below, replace(cup, motion=_stroke(rng, cup, duration))]
    if choice < 0.8:
        motion = _swing(rng, cup, r, duration)
        return [*below, replace(cup, motion=motion)]
    if choice < 0.9:  # a weight on top
        block = Call("shapes.box", {"length": r, "width": r, "height": 0.3 * r})
        weight = Part("weight", block, log_uniform(rng, 0.01, 1.0))
        return [*below, replace(cup, carrier="weight"), weight]
    return [*below, replace(cup, region=None)]


def _profile(cup: Part) -> Mapping[str, object]:
    profile = cup.shape.arguments["profile"]
    assert isinstance(profile, Call)
    return profile.arguments


def _stroke(rng: Random, cup: Part, duration: float) -> Path:
    """Down, then on, up or sideways."""
    depth = float(_profile(cup)["depth"])  # type: ignore[arg-type]
    tilt = float(np.hypot(*np.array(cup.rotation)[2, :2]))
    radius = float(_profile(cup)["radius"])  # type: ignore[arg-type]
    down = log_uniform(rng, 0.03, 0.6) * depth + 2.0 * radius * tilt * float(rng.random())
    ends = [float(rng.uniform(0.2, 0.4)), float(rng.uniform(0.45, 0.6)), 1.0]
    low = np.array([0.0, 0.0, -down])
    way = rng.random()
    last = low + np.array([0.0, 0.0, float(rng.uniform(0.2, 2.0)) * depth])
    if way < 0.3:
        last = last + float(rng.uniform(0.1, 1.0)) * depth * np.array([*rng.normal(size=2), 0.0])
    places = [np.zeros(3), low, low if rng.random() < 0.7 else 0.5 * low, last]
    times = [0.0, *(duration * e for e in ends)]
    stations = [(t, tuple(p.tolist())) for t, p in zip(times, places)]
    return Path(tuple(stations))


def _swing(rng: Random, cup: Part, r: float, duration: float) -> Swing:
    """The top rocks about a horizontal axis on the level of the lip."""
    axis = (*rng.normal(size=2).tolist(), 0.0)
    angle = float(rng.uniform(0.02, 0.3))
    stations = ((0.0, 0.0), (0.4 * duration, angle), (duration, -angle))
    x, y, z = cup.position
    side = float(rng.uniform(-1.0, 1.0)) * r
    return Swing(stations, axis, (x + side, y, z))


def _settings(rng: Random) -> Call:
    given: dict[str, object] = {}
    if rng.random() < 0.2:
        given["sealing_distance"] = log_uniform(rng, 2e-5, 2e-4)
    if rng.random() < 0.25:
        rough = {"roughness": 2e-6} if rng.random() < 0.3 else {}
        given["seal"] = Call("LeakySeal", {"reach": log_uniform(rng, 1e-4, 6e-4), **rough})
    if rng.random() < 0.3:
        given["cavity_faces"] = "curved"
    if rng.random() < 0.2:
        given["seal_boundary"] = str(rng.choice(["inner", "middle", "history"]))
    elif rng.random() < 0.1:
        given["cavities"] = "classifier"
    return Call("Settings", given)


def _pushed(rng: Random, recipe: Recipe, r: float) -> Recipe:
    """In some worlds a force on a vertex of what can move."""
    free = [p for p in recipe.parts if p.material is not None or not (p.fixed or p.motion)]
    if not free or rng.random() > 0.2:
        return recipe
    part = free[int(rng.integers(len(free)))]
    x, y, z = (log_uniform(rng, 1e-3, 10.0) * r * rng.normal(size=3) / 20e-3).tolist()
    step = int(rng.integers(0, recipe.steps))
    return replace(recipe, pushes=(Push(step, part.name, int(rng.integers(8)), (x, y, z)),))


def _placed(recipe: Recipe) -> Recipe:
    """Every part set down on those before it, nearly touching; motions move along."""
    done: list[Part] = []
    for part in recipe.parts:
        where = set_down(part, done, recipe.part(part.carrier) if part.carrier else None)
        done.append(_raised(part, part.name, where[2] - part.position[2]))
    return replace(recipe, parts=tuple(done))
