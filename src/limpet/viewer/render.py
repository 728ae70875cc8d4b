"""Stills and films of a run: through the replay page in Chromium, else drawn by matplotlib."""

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

RATE = 20  # [1/s] frames of a film
LONGEST = 160  # frames of a film


def render_run(
    run: Path, out: Path | None = None, *, film: bool = False, time: float | None = None,
    colour: str = "stress", size: str = "1280x800", progress: Progress | None = None,
) -> Path:  # fmt: skip
    """A PNG of one moment, or a GIF or MP4 of all."""
    if colour not in COLOURS:
        raise LimpetError(f"colour = '{colour}'{suggest(colour, COLOURS)}")
    width, height = _pixels(size)
    path = out or run / ("film.gif" if film else "still.png")
    allowed = (".gif", ".mp4") if film else (".png",)
    if path.suffix.lower() not in allowed:
        raise LimpetError(f"out = '{path}': expected a name that ends in {' or '.join(allowed)}")
    if path.suffix.lower() == ".mp4" and shutil.which("ffmpeg") is None:
        raise LimpetError(f"out = '{path}': mp4 needs ffmpeg, which is not there; take .gif")
    reel = read(run)
    chosen = _chosen(reel, film, time)
    path.parent.mkdir(parents=True, exist_ok=True)
    tick = Ticker(progress or (lambda done, total, text: None), len(chosen), "drawing")
    images = _by_browser(run, chosen, colour, (width, height), tick)
    if images is None:
        tick.done = 0
        images = [_after(tick, _drawn(reel, k, width, height)) for k in chosen]
    if film:
        _join(images, path)
    else:
        images[0].save(path)
    return path


def _pixels(size: str) -> tuple[int, int]:
    parts = size.lower().split("x")
    if len(parts) != 2 or not all(p.isdigit() and 16 <= int(p) <= 8192 for p in parts):
        raise LimpetError(f"size = '{size}': expected WIDTHxHEIGHT in pixels, as 1280x800")
    return int(parts[0]), int(parts[1])


def _chosen(reel: Recording, film: bool, time: float | None) -> list[int]:
    """Which moments: all (thinned), that at `time`, or the lowest pressure of trapped air."""
    n = len(reel)
    if film:
        return np.unique(np.linspace(0, n - 1, min(n, LONGEST)).round().astype(int)).tolist()
    if time is not None:
        return [int(np.argmin([abs(m.time - time) for m in reel.frames]))]
    lowest = [min((a.pressure for a in m.cavities), default=np.inf) for m in reel.frames]
    return [int(np.argmin(lowest)) if np.isfinite(lowest).any() else n - 1]


def _after(tick: Ticker, image: Image.Image) -> Image.Image:
    tick()
    return image


def _by_browser(
    run: Path, chosen: list[int], colour: str, size: tuple[int, int], tick: Ticker
) -> list[Image.Image] | None:
    """None where there is no browser, or it fails."""
    program = chromium.find()
    if program is None or importlib.util.find_spec("websockets") is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        try:
            page_file = write_replay(run, Path(folder) / "replay.html")
            with chromium.tab(program, *size) as page:
                address = f"{page_file.as_uri()}#still&colour={colour}"
                page.open(address, "!!document.body && 'step' in document.body.dataset")
                return [_after(tick, _shot(page, k)) for k in chosen]
        except (LimpetError, chromium.BrowserError):  # no three.js; no browser that works
            return None


def _shot(page: chromium.Tab, index: int) -> Image.Image:
    page.evaluate(f"limpet.showFrame({index})")  # resolves when it is drawn
    return Image.open(io.BytesIO(page.screenshot())).convert("RGB")


def _drawn(reel: Recording, k: int, width: int, height: int) -> Image.Image:
    """By matplotlib: the bodies cut open, as in a run's scene.png."""
    from limpet.record.picture import draw_scene

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "still.png"
        draw_scene([_section(reel, reel.frames[k])], path)
        picture = Image.open(path).convert("RGB")
    picture.thumbnail((width, height))
    image = Image.new("RGB", (width, height), "white")
    image.paste(picture, ((width - picture.width) // 2, (height - picture.height) // 2))
    return image


def _section(reel: Recording, m: Frame) -> SectionFrame:
    s = reel.frame_header
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


def _join(images: list[Image.Image], path: Path) -> None:
    if path.suffix.lower() == ".gif":
        small = [i.quantize(128, method=Image.Quantize.MEDIANCUT) for i in images]
        small[0].save(path, save_all=True, append_images=small[1:], duration=1000 // RATE, loop=0)
        return
    with tempfile.TemporaryDirectory() as folder:
        for k, image in enumerate(images):
            image.save(Path(folder) / f"{k:05d}.png")
        command = ["ffmpeg", "-y", "-loglevel", "error", "-framerate", str(RATE)]
        command += ["-i", f"{folder}/%05d.png", "-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2"]
        command += ["-pix_fmt", "yuv420p", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no word"])[-1]
        raise LimpetError(f"out = '{path}': ffmpeg failed ({last})")
