"""replay.html: a recorded run with the viewer page, in one file that opens from disk.

Positions are quantised to 16 bits over the bounding box of all frames (1 um in 65 mm) and stored as
differences from frame to frame; fields are quantised to 16 bits over their range. The data is
compressed with deflate; sources.js decodes it.
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
from limpet.viewer.page_files import standalone_html

Array = np.ndarray

FILE = "replay.html"
NO_VALUE = 65535  # of a field: not coloured
MAX_FORCE = 32767  # quantised value of the largest force component


def write_replay(run: Path, out: Path | None = None) -> Path:
    """Write the replay of a run folder, by default into that folder; returns the path."""
    path = out or run / FILE
    recording = read(run)
    path.parent.mkdir(parents=True, exist_ok=True)
    page = standalone_html(f"{recording.title} · Limpet", recording_text(recording))
    path.write_text(page, encoding="utf-8")
    return path


def recording_text(recording: Recording) -> str:
    """The JSON text that ReplaySource of sources.js reads."""
    frames = recording.frames
    low, size = _box(frames)
    ranges = {name: _range(name, frames, recording.frame_header.reach) for name in COLOURS}
    largest = max((float(np.abs(m.contact_forces).max(initial=0.0)) for m in frames), default=0.0)
    force = largest / MAX_FORCE or 1.0
    hardest = max((float(m.patch.pressure.max(initial=0.0)) for m in frames), default=0.0)
    patch_range = _round_up(max(LEAST_PATCH, hardest))
    positions = np.stack([_quantised_points(m.positions, low, size) for m in frames])
    positions[1:] -= positions[:-1].copy()  # modulo 2^16
    air = [a for m in frames for a in m.cavities]
    meshes: dict[bytes, int] = {}
    which = [meshes.setdefault(a.triangles.astype("<u4").tobytes(), len(meshes)) for a in air]
    arrays: dict[str, Array] = {
        "time": np.array([m.time for m in frames], "<f8"),
        "figures": np.stack([m.figures for m in frames]).astype("<f8"),
        "step": np.array([m.step for m in frames], "<u4"),
        "contact_start": _start([len(m.contact_points) for m in frames]),
        "cavity_start": _start([len(m.cavities) for m in frames]),
        "cavity_mesh": np.array(which, "<u4"),
        "cavity_pressure": np.array([a.pressure for a in air], "<f4"),
        "cavity_point_start": _start([len(a.points) for a in air]),
        "mesh_start": _start([len(raw) // 12 for raw in meshes]),
        "mesh_triangles": np.frombuffer(b"".join(meshes), "<u4"),
        "positions": positions,
        "cavity_points": _joined([_quantised_points(a.points, low, size) for a in air]),
        "patch_point_start": _start([len(m.patch.points) for m in frames]),
        "patch_triangle_start": _start([len(m.patch.triangles) for m in frames]),
        "patch_triangles": np.concatenate([m.patch.triangles for m in frames]).astype("<u4"),
        "patch_points": _joined([_quantised_points(m.patch.points, low, size) for m in frames]),
        "patch_pressure": np.rint(
            np.concatenate([m.patch.pressure for m in frames]) * (65535.0 / patch_range)
        ).astype("<u2"),
        "contact_points": _joined([_quantised_points(m.contact_points, low, size) for m in frames]),
        "contact_forces": np.rint(
            np.concatenate([m.contact_forces for m in frames]) / force
        ).astype("<i2"),
        **{f"field_{name}": _quantised_field(name, frames, ranges[name]) for name in COLOURS},
    }
    sections, data = _pack(arrays)
    header = {
        **recording.frame_header.as_json(), "scene": recording.title,
        "summary": recording.summary, "epoch": 1, "colour": "stress",
        "duration": frames[-1].time, "rest": _rounded(recording.frame_header.rest), "force": force,
        "box": {"low": low.tolist(), "size": size.tolist()}, "ranges": ranges,
        "patch_range": [0.0, patch_range],
    }  # fmt: skip
    packed = base64.b64encode(zlib.compress(data, 9)).decode("ascii")
    return json.dumps({"header": header, "sections": sections, "data": packed}).replace(
        "<", "\\u003c"
    )


def _box(frames: list[Frame] | Any) -> tuple[Array, Array]:
    """Lower corner (3,) [m] of the bounding box, and the quantisation step (3,) [m]."""
    clouds = [c for m in frames for c in (m.positions, m.contact_points, m.patch.points)]
    clouds += [a.points for m in frames for a in m.cavities]
    low = np.min([c.min(axis=0) for c in clouds if len(c)], axis=0).astype(float)
    high = np.max([c.max(axis=0) for c in clouds if len(c)], axis=0).astype(float)
    return low, np.maximum(high - low, 1e-9) / 65535.0


def _quantised_points(points: Array, low: Array, size: Array) -> Array:
    return np.clip(np.rint((points - low) / size), 0, 65535).astype("<u2")


def _range(name: str, frames: list[Frame] | Any, reach: float) -> list[float]:
    if name == "gap":
        return [0.0, reach]
    if COLOURS[name].classes:
        return [0.0, COLOURS[name].least]
    largest = [np.nanmax(v) for m in frames if not np.isnan(v := m.fields[name]).all()]
    return [0.0, _round_up(max([COLOURS[name].least, *map(float, largest)]))]


def _round_up(value: float) -> float:
    """The next round number, as `nice` of plots.js."""
    power = 10.0 ** np.floor(np.log10(value) + 1e-9)
    return float(
        next(k * power for k in (1, 2, 3, 4, 5, 6, 8, 10) if k * power >= value * 0.999999)
    )


def _quantised_field(name: str, frames: list[Frame] | Any, bounds: list[float]) -> Array:
    values = np.stack([m.fields[name] for m in frames])
    span = (bounds[1] - bounds[0]) or 1.0
    shares = np.clip(np.nan_to_num((values - bounds[0]) / span), 0.0, 1.0)
    return np.where(np.isnan(values), NO_VALUE, np.rint(65534.0 * shares)).astype("<u2")


def _joined(parts: list[Array]) -> Array:
    return np.concatenate([np.zeros((0, 3), "<u2"), *parts])


def _start(counts: list[int]) -> Array:
    return np.cumsum([0, *counts]).astype("<u4")


def _rounded(points: Array) -> list[float]:
    return [float(f"{x:.7g}") for x in points.ravel()]


def _pack(arrays: dict[str, Array]) -> tuple[list[list[object]], bytes]:
    """All arrays in one buffer, each at a multiple of eight bytes, and the list of sections."""
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
