"""replay.html: a film in one file that opens from disk, with the page that the live view has.

Places are kept as 16-bit shares of the box round everything that ever was (1 um in 65 mm), each
frame as its difference from the one before; fields as 16-bit shares of their range. All of it is
deflated; sources.js undoes it.
"""

from __future__ import annotations

import base64
import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from limpet.record.frame import COLOURS, LEAST_PATCH, Frame
from limpet.record.frames import Recording, read
from limpet.viewer.page_files import whole_html

Array = np.ndarray

FILE = "replay.html"
NOTHING = 65535  # a field that has nothing to say here
FORCES = 32767  # the largest component of a force


def write_replay(run: Path, out: Path | None = None) -> Path:
    """Make the replay of a run folder; in it, if no other place is given."""
    path = out or run / FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    film = read(run)
    path.write_text(whole_html(f"{film.title} · Limpet", film_text(film)), encoding="utf-8")
    return path


def film_text(film: Recording) -> str:
    """The JSON text that FilmSource of sources.js opens."""
    moments = film.frames
    low, size = _box(moments)
    ranges = {name: _range(name, moments, film.frame_header.reach) for name in COLOURS}
    largest = max((float(np.abs(m.contact_forces).max(initial=0.0)) for m in moments), default=0.0)
    force = largest / FORCES or 1.0
    hardest = max((float(m.patch.pressure.max(initial=0.0)) for m in moments), default=0.0)
    patch_range = _nice(max(LEAST_PATCH, hardest))
    places = np.stack([_shares(m.positions, low, size) for m in moments])
    places[1:] -= places[:-1].copy()  # modulo 2^16
    air = [a for m in moments for a in m.cavities]
    meshes: dict[bytes, int] = {}
    which = [meshes.setdefault(a.triangles.astype("<u4").tobytes(), len(meshes)) for a in air]
    arrays: dict[str, Array] = {
        "time": np.array([m.time for m in moments], "<f8"),
        "figures": np.stack([m.figures for m in moments]).astype("<f8"),
        "step": np.array([m.step for m in moments], "<u4"),
        "contact_start": _start([len(m.contact_points) for m in moments]),
        "cavity_start": _start([len(m.cavities) for m in moments]),
        "cavity_mesh": np.array(which, "<u4"),
        "cavity_pressure": np.array([a.pressure for a in air], "<f4"),
        "cavity_point_start": _start([len(a.points) for a in air]),
        "mesh_start": _start([len(raw) // 12 for raw in meshes]),
        "mesh_triangles": np.frombuffer(b"".join(meshes), "<u4"),
        "positions": places,
        "cavity_points": _joined([_shares(a.points, low, size) for a in air]),
        "patch_point_start": _start([len(m.patch.points) for m in moments]),
        "patch_triangle_start": _start([len(m.patch.triangles) for m in moments]),
        "patch_triangles": np.concatenate([m.patch.triangles for m in moments]).astype("<u4"),
        "patch_points": _joined([_shares(m.patch.points, low, size) for m in moments]),
        "patch_pressure": np.rint(
            np.concatenate([m.patch.pressure for m in moments]) * (65535.0 / patch_range)
        ).astype("<u2"),
        "contact_points": _joined([_shares(m.contact_points, low, size) for m in moments]),
        "contact_forces": np.rint(
            np.concatenate([m.contact_forces for m in moments]) / force
        ).astype("<i2"),
        **{f"field_{name}": _quantised(name, moments, ranges[name]) for name in COLOURS},
    }
    sections, data = _pack(arrays)
    header = {
        **film.frame_header.header(), "scene": film.title, "summary": film.summary, "epoch": 1,
        "colour": "stress",
        "duration": moments[-1].time, "rest": _rounded(film.frame_header.rest), "force": force,
        "box": {"low": low.tolist(), "size": size.tolist()}, "ranges": ranges,
        "patch_range": [0.0, patch_range],
    }  # fmt: skip
    packed = base64.b64encode(zlib.compress(data, 9)).decode("ascii")
    return json.dumps({"header": header, "sections": sections, "data": packed}).replace(
        "<", "\\u003c"
    )


def _box(moments: list[Frame] | Any) -> tuple[Array, Array]:
    """Lowest corner (3,) [m], and the size of one of 65535 parts (3,)."""
    clouds = [c for m in moments for c in (m.positions, m.contact_points, m.patch.points)]
    clouds += [a.points for m in moments for a in m.cavities]
    low = np.min([c.min(axis=0) for c in clouds if len(c)], axis=0).astype(float)
    high = np.max([c.max(axis=0) for c in clouds if len(c)], axis=0).astype(float)
    return low, np.maximum(high - low, 1e-9) / 65535.0


def _shares(points: Array, low: Array, size: Array) -> Array:
    return np.clip(np.rint((points - low) / size), 0, 65535).astype("<u2")


def _range(name: str, moments: list[Frame] | Any, reach: float) -> list[float]:
    if name == "gap":
        return [0.0, reach]
    largest = [np.nanmax(v) for m in moments if not np.isnan(v := m.fields[name]).all()]
    return [0.0, _nice(max([COLOURS[name].least, *map(float, largest)]))]


def _nice(value: float) -> float:
    """The next round number, as the legend has it (plots.js)."""
    power = 10.0 ** np.floor(np.log10(value) + 1e-9)
    return float(
        next(k * power for k in (1, 2, 3, 4, 5, 6, 8, 10) if k * power >= value * 0.999999)
    )


def _quantised(name: str, moments: list[Frame] | Any, bounds: list[float]) -> Array:
    values = np.stack([m.fields[name] for m in moments])
    span = (bounds[1] - bounds[0]) or 1.0
    shares = np.clip(np.nan_to_num((values - bounds[0]) / span), 0.0, 1.0)
    return np.where(np.isnan(values), NOTHING, np.rint(65534.0 * shares)).astype("<u2")


def _joined(parts: list[Array]) -> Array:
    return np.concatenate([np.zeros((0, 3), "<u2"), *parts])


def _start(counts: list[int]) -> Array:
    return np.cumsum([0, *counts]).astype("<u4")


def _rounded(points: Array) -> list[float]:
    return [float(f"{x:.7g}") for x in points.ravel()]


def _pack(arrays: dict[str, Array]) -> tuple[list[list[object]], bytes]:
    """One buffer, each array at a multiple of eight; and where each one stands."""
    sections: list[list[object]] = []
    parts: list[bytes] = []
    at = 0
    for name, array in arrays.items():
        raw = np.ascontiguousarray(array).tobytes()
        sections.append([name, array.dtype.str.lstrip("<|"), at, array.size])
        raw += b"\0" * (-len(raw) % 8)
        parts.append(raw)
        at += len(raw)
    return sections, b"".join(parts)
