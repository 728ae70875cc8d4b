"""Images and animations of a run: the replay page in Chromium, otherwise matplotlib."""

from __future__ import annotations

import importlib.util
import io
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

from limpet.errors import LimpetError, suggest
from limpet.record.frame import COLOURS, Frame
from limpet.record.frames import Recording, read
from limpet.record.table import Progress, Ticker
from limpet.report import SectionFrame
from limpet.viewer import chromium
from limpet.viewer.replay import write_replay

FRAME_RATE = 20  # [1/s] of an animation
MAX_FRAMES = 160  # of an animation


def render_run(
    run: Path, out: Path | None = None, *, animation: bool = False, time: float | None = None,
    colour: str = "stress", size: str = "1280x800", progress: Progress | None = None,
) -> Path:  # fmt: skip
    """Draw a PNG of one frame, or a GIF or MP4 of all frames; returns the path."""
    if colour not in COLOURS:
        raise LimpetError(f"colour = '{colour}'{suggest(colour, COLOURS)}")
    width, height = _pixels(size)
    path = out or run / ("animation.gif" if animation else "image.png")
    allowed = (".gif", ".mp4") if animation else (".png",)
    if path.suffix.lower() not in allowed:
        raise LimpetError(f"out = '{path}': expected a name that ends in {' or '.join(allowed)}")
    if path.suffix.lower() == ".mp4" and shutil.which("ffmpeg") is None:
        raise LimpetError(f"out = '{path}': mp4 needs ffmpeg, which is not installed; use .gif")
    recording = read(run)
    chosen = _select(recording, animation, time)
    path.parent.mkdir(parents=True, exist_ok=True)
    tick = Ticker(progress or (lambda done, total, text: None), len(chosen), "drawing")
    images = _draw_in_browser(run, chosen, colour, (width, height), tick)
    if images is None:
        tick.done = 0
        images = [_after(tick, _draw_in_matplotlib(recording, k, width, height)) for k in chosen]
    if animation:
        _write_animation(images, path)
    else:
        images[0].save(path)
    return path


def _pixels(size: str) -> tuple[int, int]:
    parts = size.lower().split("x")
    if len(parts) != 2 or not all(p.isdigit() and 16 <= int(p) <= 8192 for p in parts):
        raise LimpetError(f"size = '{size}': expected WIDTHxHEIGHT in pixels, such as 1280x800")
    return int(parts[0]), int(parts[1])


def _select(recording: Recording, animation: bool, time: float | None) -> list[int]:
    """Indices of all frames (thinned), of that at `time`, or of that with the lowest pressure."""
    n = len(recording)
    if animation:
        return np.unique(np.linspace(0, n - 1, min(n, MAX_FRAMES)).round().astype(int)).tolist()
    if time is not None:
        return [int(np.argmin([abs(m.time - time) for m in recording.frames]))]
    lowest = [min((a.pressure for a in m.cavities), default=np.inf) for m in recording.frames]
    return [int(np.argmin(lowest)) if np.isfinite(lowest).any() else n - 1]


def _after(tick: Ticker, image: Image.Image) -> Image.Image:
    tick()
    return image


def _draw_in_browser(
    run: Path, chosen: list[int], colour: str, size: tuple[int, int], tick: Ticker
) -> list[Image.Image] | None:
    """None if there is no browser, or if it fails."""
    program = chromium.find()
    if program is None or importlib.util.find_spec("websockets") is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        try:
            page_file = write_replay(run, Path(folder) / "replay.html")
            with chromium.tab(program, *size) as page:
                address = f"{page_file.as_uri()}#image&colour={colour}"
                page.open(address, "!!document.body && 'step' in document.body.dataset")
                return [_after(tick, _screenshot(page, k)) for k in chosen]
        except (LimpetError, chromium.BrowserError):  # three.js or a working browser is missing
            return None


def _screenshot(page: chromium.Tab, index: int) -> Image.Image:
    page.evaluate(f"limpet.showFrame({index})")  # resolves when it is drawn
    return Image.open(io.BytesIO(page.screenshot())).convert("RGB")


def _draw_in_matplotlib(recording: Recording, k: int, width: int, height: int) -> Image.Image:
    """The bodies cut open, as in scene.png of a run."""
    from limpet.record.picture import draw_scene

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "image.png"
        draw_scene([_section(recording, recording.frames[k])], path)
        picture = Image.open(path).convert("RGB")
    picture.thumbnail((width, height))
    image = Image.new("RGB", (width, height), "white")
    image.paste(picture, ((width - picture.width) // 2, (height - picture.height) // 2))
    return image


def _section(recording: Recording, m: Frame) -> SectionFrame:
    s = recording.frame_header
    bodies = [
        (name, m.positions[a:b].astype(float), triangles)
        for name, a, b, triangles in zip(s.names, s.offset[:-1], s.offset[1:], s.triangles)
    ]
    air = tuple((a.points.astype(float), a.triangles, a.pressure) for a in m.cavities)
    points, triangles, pressure = (
        air[0] if air else (np.zeros((0, 3)), np.zeros((0, 3), np.int32), s.ambient)
    )
    kinds = dict(zip(s.names, s.kinds))
    return SectionFrame(
        "", m.time, bodies, m.contact_points, m.contact_forces, points, triangles, pressure, air,
        frozenset(n for n, kind in kinds.items() if kind == "soft"),
        frozenset(n for n, kind in kinds.items() if kind == "fixed"),
    )  # fmt: skip


def _write_animation(images: list[Image.Image], path: Path) -> None:
    if path.suffix.lower() == ".gif":
        small = [i.quantize(128, method=Image.Quantize.MEDIANCUT) for i in images]
        first, *rest = small
        first.save(path, save_all=True, append_images=rest, duration=1000 // FRAME_RATE, loop=0)
        return
    with tempfile.TemporaryDirectory() as folder:
        for k, image in enumerate(images):
            image.save(Path(folder) / f"{k:05d}.png")
        command = ["ffmpeg", "-y", "-loglevel", "error", "-framerate", str(FRAME_RATE)]
        command += ["-i", f"{folder}/%05d.png", "-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2"]
        command += ["-pix_fmt", "yuv420p", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise LimpetError(f"out = '{path}': ffmpeg failed ({last})")
