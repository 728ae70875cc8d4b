"""F figure 3: hydrostatics against an elastic foundation, on a flat layer.

A rigid keel, two planes of the slope s, is pressed into a layer whose pressure is k times the depth
d. Hydrostatics presses along the normals of the keel: k d n per area of its surface. An elastic
foundation pushes it away from the layer: k d upwards per area of its surface (Model.SURFACE), or
per area of the layer, as a bed of springs under what faces down (Model.LAYER). The springs of that
bed are not anchored on the keel: where its sides dip in, their work on a closed loop is not zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np

from limpet.pressure_field.fields import RigidSurface, half_space
from limpet.pressure_field.surface import ContactSurface, contact_surface
from limpet.pressure_field.wrench import wrench
from limpet.record.plots import new_figure
from limpet.record.table import Progress, Result, Table
from limpet.studies.reproduce.prisms import rigid_prism

Array = np.ndarray

SLOPES = (1.0, 0.5, 0.25, 0.125, 0.0625)
K = 1e6  # [Pa/m] pressure by depth
WIDE = 1.0  # [m] across the plane
TILTS = (0.8, 0.4, 0.2, 0.1)  # [rad] of the loops
STEPS = 1000  # of a loop
EXACT = 1e-9  # what the pressure field may differ from hydrostatics, relative
CONSERVED = 1e-9  # net over absolute work
LAYER = half_space((0.0, 0.0, 1.0), 0.0, K, 1.0)
GAUSS = np.array([-1.0, 1.0]) / np.sqrt(3.0)
HERE = (np.eye(3), np.zeros(3))


class Model(Enum):
    """Which tractions act."""

    HYDROSTATICS = "hydrostatics"
    SURFACE = "foundation, by area of the keel"
    LAYER = "foundation, by area of the layer"


def outline(slope: float, half: float = 1.0) -> Array:
    """(5, 2) [m] x and z of a keel of width 2 half, its tip at the origin."""
    low, high = slope * half, slope * half + 2.0
    return np.array([[-half, low], [0, 0], [half, low], [half, high], [-half, high]])


BLADE = outline(0.5, 0.25)  # for the loops: its sides dip in


def placed(keel: Array, pose: Array) -> Array:
    """An outline at a pose (3,): x, z [m] of the tip, angle [rad] about it."""
    c, s = np.cos(pose[2]), np.sin(pose[2])
    return keel @ np.array([[c, s], [-s, c]]) + pose[:2]


def closed_form(keel: Array, pose: Array, model: Model) -> Array:
    """(3,) force [N] along x and z, and moment [N m] about the tip, per metre across the plane.

    Exact: the tractions are linear along each side, two Gauss points integrate their moments.
    """
    corners, out = placed(keel, pose), np.zeros(3)
    for a, b in zip(corners, np.roll(corners, -1, axis=0)):
        if a[1] >= 0.0 and b[1] >= 0.0:
            continue
        cut = a + (b - a) * a[1] / (a[1] - b[1]) if a[1] * b[1] < 0.0 else a
        a, b = (cut, b) if a[1] > 0.0 else (a, cut if b[1] > 0.0 else b)
        along = b - a
        for g in GAUSS:
            x = 0.5 * (a + b) + 0.5 * g * along
            into = np.array([-along[1], along[0]])  # the normal into the keel, times length
            if model is Model.SURFACE:
                into = np.array([0.0, np.linalg.norm(along)])
            elif model is Model.LAYER:
                into = np.array([0.0, max(along[0], 0.0)])
            force = 0.5 * K * -x[1] * into
            arm = x - pose[:2]
            out += [*force, arm[1] * force[0] - arm[0] * force[1]]
    return out


def by_field(keel: RigidSurface, pose: Array) -> tuple[Array, ContactSurface]:
    """As `closed_form`, with the contact surface of the pressure field."""
    c, s = np.cos(pose[2]), np.sin(pose[2])
    rotation = np.array([[c, 0.0, -s], [0.0, 1.0, 0.0], [s, 0.0, c]])
    at = np.array([pose[0], 0.0, pose[1]])
    surface = contact_surface(keel, (rotation, at), LAYER, HERE)
    found = wrench(surface, at)
    return np.array([found.force[0], found.force[2], found.moment[1]]) / WIDE, surface


def loop(tilt: float, steps: int = STEPS) -> tuple[Array, Array]:
    """Poses (n, 3) round a closed loop, and their changes from one to the next.

    The blade turns to and fro between 0 and `tilt` [rad], sinks and slides; its sides dip in.
    """
    t = 2.0 * np.pi * np.arange(steps) / steps
    poses = [0.2 * np.sin(2.0 * t), -0.8 - 0.4 * np.cos(t), 0.5 * tilt * (1.0 + np.sin(t))]
    rates = [0.4 * np.cos(2.0 * t), 0.4 * np.sin(t), 0.5 * tilt * np.cos(t)]
    return np.stack(poses, axis=1), np.stack(rates, axis=1) * 2.0 * np.pi / steps


def net_work(forces: Array, rates: Array) -> float:
    """Work on the loop over the absolute work."""
    # a turn by the angle from x to z is about -y, and so is its moment here
    power = forces[:, 0] * rates[:, 0] + forces[:, 1] * rates[:, 1] - forces[:, 2] * rates[:, 2]
    return abs(float(power.sum())) / float(np.abs(power).sum())


@dataclass(frozen=True)
class Compared:
    """One keel, tilted by a quarter of its slope at 40 % of its depth."""

    slope: float
    off_hydrostatics: float  # force and moment of the field, relative
    off_pressure: float  # largest of pressure less k depth, over the largest pressure
    angle: float  # [rad] largest between the tractions of hydrostatics and of a foundation
    by_surface: float  # force of the foundation by area of the keel, off hydrostatics, relative
    by_layer: float  # force and moment of that by area of the layer


def compare(slope: float) -> Compared:
    """The three models and the pressure field at one pose."""
    keel, pose = outline(slope), np.array([0.0, -0.4 * slope, 0.25 * slope])
    ours, surface = by_field(rigid_prism(keel, 0.0, WIDE, "keel"), pose)
    water, springs, bed = (closed_form(keel, pose, model) for model in Model)
    pressed = np.abs(surface.area[:, 1]) < 1e-9  # not the ends of the prism
    normal = surface.area[pressed] / np.linalg.norm(surface.area[pressed], axis=1)[:, None]
    depth, size = -surface.corners[:, 2], np.abs(water).max()
    return Compared(
        slope,
        float(np.abs(ours - water).max() / size),
        float(np.abs(surface.corner_pressure - K * depth).max() / (K * depth.max())),
        float(np.arccos(np.clip(normal[:, 2], -1.0, 1.0)).max()),
        float(np.linalg.norm(springs[:2] - water[:2]) / np.linalg.norm(water[:2])),
        float(np.abs(bed - water).max() / size),
    )


def works(tilt: float) -> tuple[float, float]:
    """Net over absolute work on the loop: of the field, and of the bed of springs."""
    poses, rates = loop(tilt)
    solid = rigid_prism(BLADE, 0.0, WIDE, "blade")
    field = net_work(np.array([by_field(solid, p)[0] for p in poses]), rates)
    bed = net_work(np.array([closed_form(BLADE, p, Model.LAYER) for p in poses]), rates)
    return field, bed


def run(progress: Progress) -> Result:
    """Keels that are flatter and flatter; loops of a blade whose sides dip in."""
    count = len(SLOPES) + len(TILTS)
    found, lost = [], []
    for k, slope in enumerate(SLOPES):
        progress(k, count, "fig3-f")
        found.append(compare(slope))
    for k, tilt in enumerate(TILTS):
        progress(len(SLOPES) + k, count, "fig3-f")
        lost.append((tilt, *works(tilt)))
    progress(count, count, "fig3-f")
    table = Table(
        "F figure 3: a rigid keel of two planes in a flat layer, by the slope of the planes",
        (
            "slope", "field off hydrostatics", "pressure off k d", "tractions apart [deg]",
            "foundation by keel's area, force off [%]", "by layer's area, wrench off",
        ),
        tuple(
            (
                c.slope, c.off_hydrostatics, c.off_pressure, float(np.degrees(c.angle)),
                100.0 * c.by_surface, c.by_layer,
            )
            for c in found
        ),
    )  # fmt: skip
    loops = Table(
        "Net over absolute work on a closed loop of a blade, 0.5 m wide, whose sides dip in",
        ("largest tilt [deg]", "pressure field", "foundation by layer's area"),
        tuple((float(np.degrees(tilt)), field, bed) for tilt, field, bed in lost),
    )
    said = statements(found, lost)
    claims = Table("What F says", ("F", "Limpet", "holds"), said)
    ok = all(holds for _, _, holds in said)
    return Result((table, loops, claims), ok, {"fig3-f.png": partial(_draw, found, lost)})


def statements(
    found: list[Compared], lost: list[tuple[float, float, float]]
) -> tuple[tuple[str, str, bool], ...]:
    """What F says of the figure, what is found, and whether it holds."""
    steep, flat = found[0], found[-1]
    closer = [a.by_surface / b.by_surface for a, b in pairwise(found)]
    off, off_pressure = max(c.off_hydrostatics for c in found), max(c.off_pressure for c in found)
    field, (tilt, _, bed) = max(f for _, f, _ in lost), lost[0]
    falls = all(a[2] > b[2] for a, b in pairwise(lost))
    return (
        (
            "the field is identical to hydrostatics for a flat layer and a rigid object",
            f"force and moment differ by {off:.1e}",
            off < EXACT,
        ),
        (
            "the traction is proportional to the penetration distance",
            f"pressure differs from k d by {off_pressure:.1e}",
            off_pressure < EXACT,
        ),
        (
            "hydrostatics presses along the normal, the foundation away from the layer",
            f"tractions up to {np.degrees(steep.angle):.0f} degrees apart at slope {steep.slope:g}",
            bool(steep.angle > np.arctan(steep.slope)),
        ),
        (
            "both become identical as the surface becomes flatter",
            f"tractions {np.degrees(flat.angle):.1f} degrees apart on the flattest; forces "
            f"{100 * steep.by_surface:.0f} % apart, at last {100 * flat.by_surface:.2f} %, "
            f"{closer[-1]:.2f} times closer at the last halving of the slope",
            all(c > 2.0 for c in closer) and closer[-1] > 3.5 and flat.angle < 0.1,
        ),
        (
            "the foundation is not conservative at large angles",
            f"net work {100 * bed:.1f} % of the absolute up to {np.degrees(tilt):.0f} degrees, "
            "less at each smaller angle",
            bed > 0.01 and falls,
        ),
        (
            "the pressure field is conservative",
            f"net work {field:.1e} of the absolute",
            field < CONSERVED,
        ),
    )


def _draw(found: list[Compared], lost: list[tuple[float, float, float]], path: Path) -> None:
    figure = new_figure(12.0, 4.0)
    slope = SLOPES[0]
    corners = placed(outline(slope), np.array([0.0, -0.4 * slope, 0.25 * slope]))
    for k, title in enumerate(("hydrostatics, pressure field", "elastic foundation")):
        axis = figure.add_subplot(1, 3, k + 1)
        axis.fill(*corners.T, color="#9db7d5", lw=0)
        axis.axhspan(-1.0, 0.0, color="0.85", zorder=0)
        for a, b in ((corners[0], corners[1]), (corners[1], corners[2])):
            x = a + np.linspace(0.0, 1.0, 41)[:, None] * (b - a)
            x = x[x[:, 1] < -1e-9][::2]
            normal = np.array([a[1] - b[1], b[0] - a[0]]) / np.linalg.norm(b - a)
            push = -x[:, 1:] * (normal if k == 0 else np.array([0.0, 1.0]))
            axis.quiver(
                *(x - push).T, *push.T, color="#d1791f", angles="xy", scale_units="xy", scale=1.0,
                width=0.005,
            )  # fmt: skip
        axis.set(aspect="equal", xlim=(-1.1, 1.1), ylim=(-0.9, 0.6), title=title, xlabel="x [m]")
        axis.set_ylabel("z [m]")
    axis = figure.add_subplot(1, 3, 3)
    angles = [np.degrees(c.angle) for c in found]
    axis.loglog(angles, [c.by_surface for c in found], "o-", label="forces apart")
    tilts = [np.degrees(tilt) for tilt, _, _ in lost]
    axis.loglog(tilts, [bed for _, _, bed in lost], "s-", label="loop, foundation")
    axis.loglog(tilts, [max(field, 1e-17) for _, field, _ in lost], "^-", label="loop, field")
    axis.set(xlabel="angle of tractions, or tilt [degrees]", ylabel="relative")
    axis.set_xticks([], minor=True)
    axis.set_xticks(ticks := [5, 10, 20, 40, 60], labels=map(str, ticks))
    axis.legend(fontsize=8)
    figure.savefig(path, dpi=120)
