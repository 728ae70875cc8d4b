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


def paused(tab):
    """Wait until a frame says that nothing runs; returns how many have come."""
    tab.until("document.body.dataset.state === 'paused'")
    return tab.get("limpet.source.received")


def open_live(tab, server):
    tab.page.goto(server.address)
    tab.until("limpet.frame")
    tab.page.click("#reset")  # the simulation stands where the last page left it
    tab.until("document.body.dataset.step === '0'")


def test_three_js_is_where_the_page_expects_it():
    text = three_path().read_text(encoding="utf-8")
    exported = re.search(r"export\s*\{([^}]*)\}", text)
    names = {part.split(" as ")[-1].strip() for part in exported[1].split(",")}
    assert {"THREE", "OrbitControls"} <= names
    assert "Three.js Authors" in text and "MIT" in text[:200]


def test_a_run_is_watched_from_play_to_reset(server, tab):
    open_live(tab, server)
    start = tab.get(PLACES)
    tab.keep("start")

    tab.page.select_option("#colour", "stress")
    tab.page.select_option("#speed", "0.1")  # it must not end before it is paused
    tab.page.click("#play")
    tab.until("limpet.frame.step > 2")
    plain = tab.get(COLOURS)
    first = tab.get("limpet.frame.step")
    tab.until(f"limpet.frame.step > {first + 4}")
    assert tab.get(COLOURS) != plain
    assert tab.get("limpet.frame.factor") > 0.0
    tab.keep("playing")

    tab.page.click("#play")  # it is Pause now
    count = paused(tab)
    step = tab.get("limpet.frame.step")
    time.sleep(0.7)
    assert tab.get("limpet.source.received") == count
    tab.keep("paused")

    tab.page.click("#step")
    tab.until(f"limpet.frame.step === {step + 1}")
    time.sleep(0.3)
    assert tab.get("[limpet.frame.step, limpet.source.received]") == [step + 1, count + 1]
    tab.page.keyboard.press("ArrowRight")
    tab.until(f"limpet.frame.step === {step + 2}")

    tab.page.keyboard.press("r")
    tab.until("limpet.frame.step === 0")
    assert tab.get(PLACES) == start
    assert tab.complaints == []
    here = f"127.0.0.1:{server.port}"
    assert all(re.match(rf"(http|ws)://{here}/|data:|blob:", url) for url in tab.requests)


def test_the_space_bar_plays_to_the_end_and_the_air_is_seen(server, tab):
    open_live(tab, server)
    tab.page.select_option("#speed", "0")
    tab.page.keyboard.press("Space")
    tab.until("limpet.frame.figures.pressure < 1e5 && limpet.frame.cavities.length === 1")
    pixels = tab.get("limpet.view.cavities[0].surface.geometry.attributes.position.count")
    assert pixels > 10
    assert tab.get("document.getElementById('air-legend').hidden") is False
    assert tab.get("limpet.frame.contactPoints.length") > 0
    for colour in ("pressure", "gap", "displacement"):
        tab.page.select_option("#colour", colour)
        legend = "document.getElementById('legend-high').textContent"
        tab.until(f"limpet.frame.colour === '{colour}' && {legend}.length > 2")
        tab.keep(colour)
    tab.page.select_option("#colour", "pressure")
    tab.page.click("#cameras >> text=below")  # the lip, without the block that it stands on
    assert tab.get("limpet.view.bodies.map(b => b.surface.visible)") == [True, False]
    tab.page.select_option("#cut", "none")
    tab.until("limpet.frame.colour === 'pressure' && document.body.dataset.state === 'ended'")
    tab.keep("below")
    tab.page.click("#cameras >> text=oblique")
    assert tab.get("limpet.frame.time") == pytest.approx(3.0, abs=0.011)
    for plot in range(4):
        assert tab.get(f"limpet.plots[{plot}][1].times.length") > 2
    tab.keep("ended")
    assert tab.complaints == []


def pressed(tab, steps=15):
    """The drive's force after that many steps."""
    tab.get(f"limpet.send({{ do: 'step', count: {steps} }})")
    tab.until(f"limpet.frame.step === {steps}")
    return tab.get("limpet.frame.figures.drive_force")


def test_a_slider_changes_the_physics(server, tab):
    open_live(tab, server)
    before = pressed(tab)
    assert tab.page.is_disabled("form .apply .main")
    tab.page.locator("#parameters input[aria-label=young]").evaluate(
        "s => { s.value = 8; for (const e of ['input', 'change']) s.dispatchEvent(new Event(e)); }"
    )
    tab.keep("changed")
    tab.page.click("form .apply .main")
    tab.until("limpet.header.epoch > 1 && limpet.frame && limpet.frame.step === 0")
    assert tab.get("limpet.header.parameters.find(p => p.name === 'young').value") == 8e6
    assert 1.8 < pressed(tab) / before < 2.5  # twice as stiff; weight and wrinkles do not scale

    tab.page.fill("#parameters input[name=poisson]", "0.7")  # the model refuses it
    tab.page.keyboard.press("Tab")
    tab.page.click("form .apply .main")
    tab.until("document.getElementById('message').textContent.includes('poisson')")
    tab.page.click("text=Defaults")
    tab.until("limpet.header.epoch > 2 && limpet.frame && limpet.frame.step === 0")
    assert tab.complaints == []


def test_a_pull_with_the_mouse_moves_the_cup(server, tab):
    open_live(tab, server)
    tab.page.select_option("#cut", "none")
    middle = tab.get(
        """() => {
            const box = limpet.view.boxOf([limpet.header.bodies[0]]);
            const p = box.getCenter(box.min.clone()).project(limpet.view.camera);
            const r = limpet.view.renderer.domElement.getBoundingClientRect();
            return [r.left + (p.x + 1) / 2 * r.width, r.top + (1 - p.y) / 2 * r.height];
        }"""
    )
    tab.page.keyboard.down("Shift")
    tab.page.mouse.move(*middle)
    tab.page.mouse.down()
    tab.page.mouse.move(middle[0] + 120, middle[1])
    message = "document.getElementById('message').textContent"
    assert "pulling cup" in tab.until(f"{message}.includes('pulling') && {message}")
    tab.page.keyboard.press("ArrowRight")
    tab.until("limpet.frame.step === 1")
    tab.keep("pulled")
    moved = np.array(tab.get("Array.from(limpet.frame.values)"))
    tab.page.mouse.up()
    tab.page.keyboard.up("Shift")
    assert np.nanmax(moved) > 0.0  # the stem is at rest at the start: only the pull strains it
    assert tab.complaints == []


def test_a_crash_and_a_second_page_are_lines_on_the_page(server, tab, chromium):
    open_live(tab, server)
    message = "document.getElementById('message').textContent"
    second = chromium.new_page()
    second.goto(server.address)
    end = time.monotonic() + 10
    while "already" not in second.evaluate(message) and time.monotonic() < end:
        time.sleep(0.05)
    assert second.evaluate(message) == BUSY
    second.close()

    os.kill(server.engine.process.pid, signal.SIGKILL)
    tab.until(f"{message}.includes('the simulation has ended')")
    tab.keep("crash")
    tab.page.click("#reset")
    tab.until(f"{message} === '' && limpet.frame !== null")
    tab.page.click("#step")
    tab.until("limpet.frame.step === 1")
    assert tab.complaints == []


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory, filmed):
    return filmed(tmp_path_factory.mktemp("run"), "0.8 s", 40)


def test_the_replay_opens_from_disk(run_folder, tab):
    path = write_replay(run_folder)
    assert path.stat().st_size < 6e6
    text = path.read_text(encoding="utf-8")
    assert "Permission is hereby granted" in text and "Three.js Authors" in text

    tab.page.goto(path.as_uri())
    tab.until("document.body.dataset.step === '0'")
    start, colours = tab.get(PLACES), tab.get(COLOURS)
    slider = tab.page.locator("#time")
    slider.evaluate("s => { s.value = 30; s.dispatchEvent(new Event('input')); }")
    tab.until("limpet.frame.step === 30")
    assert tab.get(PLACES) != start
    assert tab.get(COLOURS) != colours
    assert tab.get("limpet.frame.cavities.length") == 1
    assert tab.get("limpet.frame.contactPoints.length") > 0
    tab.keep("replay")
    tab.page.keyboard.press("Space")
    tab.until("document.body.dataset.state === 'ended'")
    assert tab.complaints == []
    assert all(re.match(r"(file|data|blob):", url) for url in tab.requests)


def test_the_surface_on_which_fields_meet_shines_through(tab, tmp_path):
    world = lp.World()
    world.add_rigid(lp.fields.sphere(0.03, 1e5), 0.4, name="ball", position=(0.0, 0.0, 0.0295))
    world.add_rigid(lp.fields.floor(0.2), 1.0, name="floor", fixed=True)
    simulation = lp.Simulation(world, 2e-3)
    camera = FrameRecorder(simulation, "ball", "", 10)
    for report in simulation.run(0.02):
        camera.add(report)
    camera.save(tmp_path)
    last = camera.frames[-1].patch
    tab.page.goto(write_replay(tmp_path).as_uri())
    tab.until("limpet.frame")
    assert tab.get("document.getElementById('patch-legend').hidden") is True  # not begun yet
    tab.get("limpet.showFrame(10)")
    assert tab.get("limpet.view.patch.geometry.index.count") == 3 * len(last.triangles)
    shown = np.array(tab.get("Array.from(limpet.frame.patch.pressure)"))
    end = tab.get("limpet.header.patch_range[1]")
    assert shown == pytest.approx(last.pressure, abs=end / 65535)
    assert last.pressure.max() <= end < 2.1 * last.pressure.max()
    assert tab.get("document.getElementById('patch-legend').hidden") is False
    tab.keep("patch")
    count = "limpet.view.renderer.info.render.triangles"
    drawn = tab.get(count)
    tab.page.uncheck("#patches")
    tab.get("limpet.showFrame(10)")
    assert tab.get(count) == drawn - len(last.triangles)
    assert tab.get("document.getElementById('patch-legend').hidden") is True
    assert tab.complaints == []
