"""A recipe as a script that runs by itself."""

from __future__ import annotations

import numpy as np

from limpet.studies.stress.invariants import Finding
from limpet.studies.stress.recipe import UPRIGHT, Call, Part, Path, Recipe

HEAD = '''"""{title}

{text}
"""

import numpy as np

import limpet as lp
{imports}

def build(turn=np.eye(3), shift=np.zeros(3)):
    """The world, turned as a whole (or mirrored) about the origin and moved."""
    at = lambda p: turn @ np.array(p) + shift
    along = lambda v: turn @ np.array(v)
{flip}
'''

LOOP = """
sim = build()
for step in range({steps}):
{pushes}    report = sim.step()
    air = [f"{{c.pressure:.0f}} Pa {{1e9 * c.volume:.4g}} mm3" for c in report.cavities]
    print(
        report.step, "converged" if report.converged else "UNCONVERGED", f"{{report.residual:.1e}}",
        f"{{1e3 * report.max_penetration:.3g}} mm", air,
        {{name: np.round(r[:3], 6).tolist() for name, r in report.reactions.items()}},
    )
"""


def as_script(recipe: Recipe, finding: Finding, seed: int, turn: np.ndarray | None = None) -> str:
    """Python text that builds the world, runs it, and prints each step."""
    mirrored = turn is not None and np.linalg.det(turn) < 0.0
    flip = "    flip = np.diag([-1.0, 1.0, 1.0]) if np.linalg.det(turn) < 0.0 else np.eye(3)\n"
    flip += "    image = mirrored_shape if np.linalg.det(turn) < 0.0 else lambda shape: shape"
    lines = [
        HEAD.format(
            title=f"Seed {seed}: {finding.name}.", text=finding.text,
            imports="from limpet.studies.stress.mirror import mirrored_shape\n" if mirrored else "",
            flip=flip if mirrored else "",
        ),
        f"    world = lp.World(along({recipe.gravity}), {recipe.friction}, "
        f"{_text(recipe.atmosphere)}, {recipe.leak})",
    ]  # fmt: skip
    lines += [line for p in recipe.parts for line in _body(p, mirrored)]
    lines += [line for p in recipe.parts for line in _acting(p, mirrored)]
    lines.append(f"    return lp.Simulation(world, {recipe.h}, {_text(recipe.settings)})\n")
    pushes = "".join(
        f"    if step == {p.step}:\n        sim.apply_force({p.body!r}, {p.vertex}, {p.force})\n"
        for p in recipe.pushes
    )
    lines.append(LOOP.format(steps=recipe.steps, pushes=pushes))
    if turn is not None:
        lines.append(_comparison(recipe, turn))
    return "\n".join(lines)


def _name(part: Part) -> str:
    return part.name.replace(" ", "_")


def _text(value: object) -> str:
    if isinstance(value, Call):
        given = ", ".join(f"{k}={_text(v)}" for k, v in value.arguments.items())
        return f"lp.{value.function}({given})"
    return repr(value)


def _body(part: Part, mirrored: bool) -> list[str]:
    shape = f"image({_text(part.shape)})" if mirrored else _text(part.shape)
    where = f"name={part.name!r}, position=at({part.position})"
    turned = "turn" if part.rotation == UPRIGHT else f"turn @ np.array({part.rotation})"
    where += f", rotation={turned}{' @ flip' if mirrored else ''}"
    where += "".join(f", {k}={v!r}" for k, v in part.options.items())
    if part.material is None:
        made = f"world.add_rigid({shape}, {part.mass}, {where}, fixed={part.fixed})"
    else:
        made = f"world.add_soft({shape}, {_text(part.material)}, {part.mass}, {where})"
    return [f"    {_name(part)} = {made}"]


def _acting(part: Part, mirrored: bool) -> list[str]:
    name, lines = _name(part), []
    target = f"{name}[{part.region!r}]" if part.region and part.material else name
    if isinstance(part.motion, Path):
        stations = ", ".join(f"({t}, along({u}))" for t, u in part.motion.stations)
        lines.append(f"world.prescribe_motion({target}, lp.motion.path([{stations}]))")
    elif part.motion is not None:
        m = part.motion
        sign = "np.linalg.det(turn) * " if mirrored else ""
        given = f"{m.stations}, {sign}along({m.axis}), at({m.centre})"
        lines.append(f"world.prescribe_motion({target}, lp.motion.rotation({given}))")
    if part.carrier is not None:
        lines.append(f"world.attach({target}, {part.carrier.replace(' ', '_')})")
    if part.line:
        given = ", ".join(_text(c) if k == "source" else f"{k}={_text(c)}" for k, c in _line(part))
        port = "" if part.port is None else f", port=at({part.port})"
        lines.append(f"world.connect({name}, {given}{port})")
    if part.exchange is not None:
        lines.append(f"world.set_air_exchange({name}, {_text(part.exchange)})")
    return [f"    {line}" for line in lines]


def _line(part: Part) -> list[tuple[str, Call]]:
    return sorted(part.line.items(), key=lambda item: item[0] != "source")


def _comparison(recipe: Recipe, turn: np.ndarray) -> str:
    return f"""
turn = np.array({turn.tolist()})
one, other = build(), build(turn)
for step in range({recipe.steps}):
    a, b = one.step().reactions, other.step().reactions
    print(step + 1, {{name: np.abs(b[name][:3] @ turn - a[name][:3]).max() for name in a}}, "N")
"""
