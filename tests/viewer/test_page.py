"""The page as a user has it: Chromium, no network, one server, one film."""

import os
import re
import signal
import time

import numpy as np
import pytest

import limpet as lp
from limpet.record.frames import FrameRecorder
from limpet.viewer.page_files import three_path
from limpet.viewer.replay import write_replay
from limpet.viewer.server import BUSY

COLOURS = "Array.from(limpet.view.bodies[0].surface.geometry.attributes.color.array).join()"
PLACES = "Array.from(limpet.frame.positions).join()"


def paused(frame_header):
    """Wait until a frame says that nothing runs; returns how many have come."""
    frame_header.until("document.body.dataset.state === 'paused'")
    return frame_header.get("limpet.source.received")


def open_live(frame_header, server):
    frame_header.page.goto(server.address)
    frame_header.until("limpet.frame")
    frame_header.page.click("#reset")  # the simulation stands where the last page left it
    frame_header.until("document.body.dataset.step === '0'")


def test_three_js_is_where_the_page_expects_it():
    text = three_path().read_text(encoding="utf-8")
    exported = re.search(r"export\s*\{([^}]*)\}", text)
    names = {part.split(" as ")[-1].strip() for part in exported[1].split(",")}
    assert {"THREE", "OrbitControls"} <= names
    assert "Three.js Authors" in text and "MIT" in text[:200]


def test_a_run_is_watched_from_play_to_reset(server, frame_header):
    open_live(frame_header, server)
    start = frame_header.get(PLACES)
    frame_header.keep("start")

    frame_header.page.select_option("#colour", "stress")
    frame_header.page.select_option("#speed", "0.1")  # it must not end before it is paused
    frame_header.page.click("#play")
    frame_header.until("limpet.frame.step > 2")
    plain = frame_header.get(COLOURS)
    first = frame_header.get("limpet.frame.step")
    frame_header.until(f"limpet.frame.step > {first + 4}")
    assert frame_header.get(COLOURS) != plain
    assert frame_header.get("limpet.frame.factor") > 0.0
    frame_header.keep("playing")

    frame_header.page.click("#play")  # it is Pause now
    count = paused(frame_header)
    step = frame_header.get("limpet.frame.step")
    time.sleep(0.7)
    assert frame_header.get("limpet.source.received") == count
    frame_header.keep("paused")

    frame_header.page.click("#step")
    frame_header.until(f"limpet.frame.step === {step + 1}")
    time.sleep(0.3)
    assert frame_header.get("[limpet.frame.step, limpet.source.received]") == [step + 1, count + 1]
    frame_header.page.keyboard.press("ArrowRight")
    frame_header.until(f"limpet.frame.step === {step + 2}")

    frame_header.page.keyboard.press("r")
    frame_header.until("limpet.frame.step === 0")
    assert frame_header.get(PLACES) == start
    assert frame_header.complaints == []
    here = f"127.0.0.1:{server.port}"
    assert all(re.match(rf"(http|ws)://{here}/|data:|blob:", url) for url in frame_header.requests)


def test_the_space_bar_plays_to_the_end_and_the_air_is_seen(server, frame_header):
    open_live(frame_header, server)
    frame_header.page.select_option("#speed", "0")
    frame_header.page.keyboard.press("Space")
    frame_header.until("limpet.frame.figures.pressure < 1e5 && limpet.frame.cavities.length === 1")
    pixels = frame_header.get("limpet.view.cavities[0].surface.geometry.attributes.position.count")
    assert pixels > 10
    assert frame_header.get("document.getElementById('air-legend').hidden") is False
    assert frame_header.get("limpet.frame.contactPoints.length") > 0
    for colour in ("pressure", "gap", "displacement"):
        frame_header.page.select_option("#colour", colour)
        legend = "document.getElementById('legend-high').textContent"
        frame_header.until(f"limpet.frame.colour === '{colour}' && {legend}.length > 2")
        frame_header.keep(colour)
    frame_header.page.select_option("#colour", "pressure")
    frame_header.page.click(
        "#cameras >> text=below"
    )  # the lip, without the block that it stands on
    assert frame_header.get("limpet.view.bodies.map(b => b.surface.visible)") == [True, False]
    frame_header.page.select_option("#cut", "none")
    frame_header.until(
        "limpet.frame.colour === 'pressure' && document.body.dataset.state === 'ended'"
    )
    frame_header.keep("below")
    frame_header.page.click("#cameras >> text=oblique")
    assert frame_header.get("limpet.frame.time") == pytest.approx(3.0, abs=0.011)
    for plot in range(4):
        assert frame_header.get(f"limpet.plots[{plot}][1].times.length") > 2
    frame_header.keep("ended")
    assert frame_header.complaints == []


def pressed(frame_header, steps=15):
    """The drive's force after that many steps."""
    frame_header.get(f"limpet.send({{ do: 'step', count: {steps} }})")
    frame_header.until(f"limpet.frame.step === {steps}")
    return frame_header.get("limpet.frame.figures.reaction")


def test_a_slider_changes_the_physics(server, frame_header):
    open_live(frame_header, server)
    before = pressed(frame_header)
    assert frame_header.page.is_disabled("form .apply .main")
    frame_header.page.locator("#parameters input[aria-label=young]").evaluate(
        "s => { s.value = 8; for (const e of ['input', 'change']) s.dispatchEvent(new Event(e)); }"
    )
    frame_header.keep("changed")
    frame_header.page.click("form .apply .main")
    frame_header.until("limpet.header.epoch > 1 && limpet.frame && limpet.frame.step === 0")
    assert frame_header.get("limpet.header.parameters.find(p => p.name === 'young').value") == 8e6
    assert (
        1.8 < pressed(frame_header) / before < 2.5
    )  # twice as stiff; weight and wrinkles do not scale

    frame_header.page.fill("#parameters input[name=poisson]", "0.7")  # the model refuses it
    frame_header.page.keyboard.press("Tab")
    frame_header.page.click("form .apply .main")
    frame_header.until("document.getElementById('message').textContent.includes('poisson')")
    frame_header.page.click("text=Defaults")
    frame_header.until("limpet.header.epoch > 2 && limpet.frame && limpet.frame.step === 0")
    assert frame_header.complaints == []


def test_a_pull_with_the_mouse_moves_the_cup(server, frame_header):
    open_live(frame_header, server)
    frame_header.page.select_option("#cut", "none")
    middle = frame_header.get(
        """() => {
            const box = limpet.view.boxOf([limpet.header.bodies[0]]);
            const p = box.getCenter(box.min.clone()).project(limpet.view.camera);
            const r = limpet.view.renderer.domElement.getBoundingClientRect();
            return [r.left + (p.x + 1) / 2 * r.width, r.top + (1 - p.y) / 2 * r.height];
        }"""
    )
    frame_header.page.keyboard.down("Shift")
    frame_header.page.mouse.move(*middle)
    frame_header.page.mouse.down()
    frame_header.page.mouse.move(middle[0] + 120, middle[1])
    message = "document.getElementById('message').textContent"
    assert "pulling cup" in frame_header.until(f"{message}.includes('pulling') && {message}")
    frame_header.page.keyboard.press("ArrowRight")
    frame_header.until("limpet.frame.step === 1")
    frame_header.keep("pulled")
    moved = np.array(frame_header.get("Array.from(limpet.frame.values)"))
    frame_header.page.mouse.up()
    frame_header.page.keyboard.up("Shift")
    assert np.nanmax(moved) > 0.0  # the stem is at rest at the start: only the pull strains it
    assert frame_header.complaints == []


def test_a_crash_and_a_second_page_are_lines_on_the_page(server, frame_header, chromium):
    open_live(frame_header, server)
    message = "document.getElementById('message').textContent"
    second = chromium.new_page()
    second.goto(server.address)
    end = time.monotonic() + 10
    while "already" not in second.evaluate(message) and time.monotonic() < end:
        time.sleep(0.05)
    assert second.evaluate(message) == BUSY
    second.close()

    os.kill(server.engine.process.pid, signal.SIGKILL)
    frame_header.until(f"{message}.includes('the simulation has ended')")
    frame_header.keep("crash")
    frame_header.page.click("#reset")
    frame_header.until(f"{message} === '' && limpet.frame !== null")
    frame_header.page.click("#step")
    frame_header.until("limpet.frame.step === 1")
    assert frame_header.complaints == []


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory, filmed):
    return filmed(tmp_path_factory.mktemp("run"), "0.8 s", 40)


def test_the_replay_opens_from_disk(run_folder, frame_header):
    path = write_replay(run_folder)
    assert path.stat().st_size < 6e6
    text = path.read_text(encoding="utf-8")
    assert "Permission is hereby granted" in text and "Three.js Authors" in text

    frame_header.page.goto(path.as_uri())
    frame_header.until("document.body.dataset.step === '0'")
    start, colours = frame_header.get(PLACES), frame_header.get(COLOURS)
    slider = frame_header.page.locator("#time")
    slider.evaluate("s => { s.value = 30; s.dispatchEvent(new Event('input')); }")
    frame_header.until("limpet.frame.step === 30")
    assert frame_header.get(PLACES) != start
    assert frame_header.get(COLOURS) != colours
    assert frame_header.get("limpet.frame.cavities.length") == 1
    assert frame_header.get("limpet.frame.contactPoints.length") > 0
    frame_header.keep("replay")
    frame_header.page.keyboard.press("Space")
    frame_header.until("document.body.dataset.state === 'ended'")
    assert frame_header.complaints == []
    assert all(re.match(r"(file|data|blob):", url) for url in frame_header.requests)


def test_the_surface_on_which_fields_meet_shines_through(frame_header, tmp_path):
    world = lp.World()
    world.add_rigid(lp.fields.sphere(0.03, 1e5), 0.4, name="ball", position=(0.0, 0.0, 0.0295))
    world.add_rigid(lp.fields.floor(0.2), 1.0, name="floor", fixed=True)
    simulation = lp.Simulation(world, 2e-3)
    camera = FrameRecorder(simulation, "ball", "", 10)
    for report in simulation.run(0.02):
        camera.add(report)
    camera.save(tmp_path)
    last = camera.frames[-1].patch
    frame_header.page.goto(write_replay(tmp_path).as_uri())
    frame_header.until("limpet.frame")
    assert (
        frame_header.get("document.getElementById('patch-legend').hidden") is True
    )  # not begun yet
    frame_header.get("limpet.showFrame(10)")
    assert frame_header.get("limpet.view.patch.geometry.index.count") == 3 * len(last.triangles)
    shown = np.array(frame_header.get("Array.from(limpet.frame.patch.pressure)"))
    end = frame_header.get("limpet.header.patch_range[1]")
    assert shown == pytest.approx(last.pressure, abs=end / 65535)
    assert last.pressure.max() <= end < 2.1 * last.pressure.max()
    assert frame_header.get("document.getElementById('patch-legend').hidden") is False
    frame_header.keep("patch")
    count = "limpet.view.renderer.info.render.triangles"
    drawn = frame_header.get(count)
    frame_header.page.uncheck("#patches")
    frame_header.get("limpet.showFrame(10)")
    assert frame_header.get(count) == drawn - len(last.triangles)
    assert frame_header.get("document.getElementById('patch-legend').hidden") is True
    assert frame_header.complaints == []
