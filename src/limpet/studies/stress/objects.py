"""Random things for a cup to stand on, in sizes of its lip: each with its top about z = 0."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from limpet.studies.stress.recipe import Call, Part

Random = np.random.Generator


def log_uniform(rng: Random, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def _box(rng: Random, r: float) -> Call:
    a, b = (float(rng.uniform(1.0, 5.0)) * r for _ in range(2))
    divisions = int(rng.choice([1, 1, 2, 5]))
    return Call(
        "shapes.box",
        {
            "length": a, "width": b, "height": float(rng.uniform(0.3, 2.0)) * r,
            "divisions": (divisions, divisions, 1),
        },
    )  # fmt: skip


def _rod(rng: Random, r: float) -> Call:
    radius = log_uniform(rng, 0.5, 8.0) * r
    facets = int(rng.integers(16, 65))
    return Call("shapes.rod", {"radius": radius, "length": 3.0 * r, "facets": facets})


def _curved_block(rng: Random, r: float, function: str, height: float) -> Call:
    radius = log_uniform(rng, 2.0, 10.0) * r
    return Call(
        function,
        {
            "radius": radius, "length": 3.0 * r, "width": 2.6 * r, "height": height * r,
            "sagitta": log_uniform(rng, 5e-6, 1e-4),
        },
    )  # fmt: skip


def _cylinder(rng: Random, r: float) -> Call:
    return _curved_block(rng, r, "shapes.cropped_cylinder", 1.5)


def _trough(rng: Random, r: float) -> Call:
    return _curved_block(rng, r, "shapes.trough", 0.6)


def _sphere(rng: Random, r: float) -> Call:
    facets = int(rng.integers(16, 41))
    return Call("shapes.sphere", {"radius": log_uniform(rng, 0.5, 6.0) * r, "facets": facets})


def _cone(rng: Random, r: float) -> Call:
    return Call(
        "shapes.cone",
        {
            "radius": float(rng.uniform(1.0, 2.5)) * r, "height": float(rng.uniform(0.2, 2.0)) * r,
            "top": float(rng.choice([0.0, 0.3, 0.9, 1.4])) * r, "facets": int(rng.integers(12, 41)),
        },
    )  # fmt: skip


def _ring(rng: Random, r: float) -> Call:
    inner = float(rng.uniform(0.2, 1.2)) * r
    return Call(
        "shapes.ring",
        {
            "inner": inner, "outer": inner + float(rng.uniform(0.1, 1.0)) * r,
            "height": float(rng.uniform(0.2, 1.0)) * r, "sides": int(rng.integers(12, 49)),
        },
    )  # fmt: skip


def _hole(rng: Random, r: float) -> Call:
    return Call(
        "shapes.plate_with_hole",
        {
            "radius": log_uniform(rng, 0.05, 1.1) * r, "edge": 3.0 * r, "thickness": 0.5 * r,
            "sagitta": 2e-3 * r,
        },
    )  # fmt: skip


def _groove(rng: Random, r: float) -> Call:
    return Call(
        "shapes.plate_with_groove",
        {
            "depth": log_uniform(rng, 1e-3, 0.3) * r, "width": log_uniform(rng, 0.02, 0.6) * r,
            "edge": 3.0 * r, "thickness": 0.5 * r,
        },
    )  # fmt: skip


def _drilled(rng: Random, r: float) -> Call:
    return Call(
        "shapes.drilled_plate",
        {
            "length": 3.0 * r, "width": 3.0 * r, "height": 0.6 * r,
            "hole": log_uniform(rng, 0.05, 0.8) * r, "depth": float(rng.uniform(0.05, 0.5)) * r,
            "at": (float(rng.uniform(-0.6, 0.6)) * r, 0.0),
        },
    )  # fmt: skip


def _can(rng: Random, r: float) -> Call:
    return Call(
        "shapes.can",
        {
            "radius": float(rng.uniform(0.8, 3.0)) * r, "height": 3.0 * r,
            "lying": bool(rng.integers(2)), "sides": int(rng.integers(16, 65)),
        },
    )  # fmt: skip


def _capsule(rng: Random, r: float) -> Call:
    return Call(
        "shapes.capsule",
        {
            "radius": log_uniform(rng, 0.5, 3.0) * r, "length": float(rng.uniform(0.5, 2.0)) * r,
            "facets": int(rng.integers(16, 41)),
        },
    )  # fmt: skip


RIGID: dict[str, Callable[[Random, float], Call]] = {
    "box": _box, "rod": _rod, "cylinder": _cylinder, "trough": _trough, "sphere": _sphere,
    "cone": _cone, "ring": _ring, "hole": _hole, "groove": _groove, "drilled": _drilled,
    "can": _can, "capsule": _capsule,
}  # fmt: skip


def rigid(rng: Random, r: float) -> Part:
    """A rigid part for a lip of radius r [m]; boxes, which most parts are, come more often."""
    kind = str(rng.choice(list(RIGID))) if rng.random() < 0.7 else "box"
    return Part(kind, RIGID[kind](rng, r), mass=log_uniform(rng, 0.02, 2.0))


def material(rng: Random, elements: tuple[str | None, ...]) -> tuple[Call, str | None]:
    """A material, and an element for it."""
    poisson = float(rng.choice([0.0, 0.3, 0.45, 0.49, rng.uniform(0.0, 0.499)]))
    element = elements[int(rng.integers(len(elements)))]
    given: dict[str, object] = {"young": log_uniform(rng, 5e4, 5e7), "poisson": poisson}
    damping = rng.random()
    if damping < 0.2:
        given |= {"stiffness_damping": 0.0}
    elif damping < 0.5:
        given |= {"stiffness_damping": log_uniform(rng, 1e-4, 1e-2)}
    if rng.random() < 0.15:
        given |= {"mass_damping": log_uniform(rng, 0.1, 20.0)}
    if rng.random() < 0.15 and (element or "").startswith(("hex", "tet")):
        given |= {"law": "neo-hookean"}
    return Call("Material", given), element


def soft_box(rng: Random, r: float) -> Part:
    """A soft box of one to a hundred cells."""
    made, element = material(rng, (None, None, "hex8", "hex20", "tet4", "tet10"))
    cells = int(rng.integers(2, 5))
    size = float(rng.uniform(2.2, 3.5)) * r
    shape = Call(
        "shapes.soft_box",
        {
            "length": size, "width": size, "height": float(rng.uniform(0.3, 1.5)) * r,
            "divisions": (cells, cells, int(rng.integers(1, 4))), "element": element,
        },
    )  # fmt: skip
    return Part("soft box", shape, mass=1.1e3 * 0.9 * size * size * r, material=made)


def turned_over(part: Part) -> Part:
    """Upside down."""
    return replace(part, rotation=((1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, -1.0)))
