"""The page as a user has it: Chromium, no network, one server, one film."""

import os
import re
import signal
import time

import numpy as np
import pytest

import limpet as lp
from limpet.record.frames import Camera
from limpet.viewer.page_files import three_path
from limpet.viewer.replay import write_replay
from limpet.viewer.server import BUSY

COLOURS = "Array.from(limpet.view.bodies[0].surface.geometry.attributes.color.array).join()"
PLACES = "Array.from(limpet.frame.positions).join()"


def paused(seen):
    """Wait until a frame says that nothing runs; returns how many have come."""
    seen.until("document.body.dataset.state === 'paused'")
    return seen.get("limpet.source.received")


def open_live(seen, server):
    seen.page.goto(server.address)
    seen.until("limpet.frame")
    seen.page.click("#reset")  # the simulation stands where the last page left it
    seen.until("document.body.dataset.step === '0'")


def test_three_js_is_where_the_page_expects_it():
    text = three_path().read_text(encoding="utf-8")
    exported = re.search(r"export\s*\{([^}]*)\}", text)
    names = {part.split(" as ")[-1].strip() for part in exported[1].split(",")}
    assert {"THREE", "OrbitControls"} <= names
    assert "Three.js Authors" in text and "MIT" in text[:200]


def test_a_run_is_watched_from_play_to_reset(server, seen):
    open_live(seen, server)
    start = seen.get(PLACES)
    seen.keep("start")

    seen.page.select_option("#colour", "stress")
    seen.page.select_option("#speed", "0.1")  # it must not end before it is paused
    seen.page.click("#play")
    seen.until("limpet.frame.step > 2")
    plain = seen.get(COLOURS)
    first = seen.get("limpet.frame.step")
    seen.until(f"limpet.frame.step > {first + 4}")
    assert seen.get(COLOURS) != plain
    assert seen.get("limpet.frame.factor") > 0.0
    seen.keep("playing")

    seen.page.click("#play")  # it is Pause now
    count = paused(seen)
    step = seen.get("limpet.frame.step")
    time.sleep(0.7)
    assert seen.get("limpet.source.received") == count
    seen.keep("paused")

    seen.page.click("#step")
    seen.until(f"limpet.frame.step === {step + 1}")
    time.sleep(0.3)
    assert seen.get("[limpet.frame.step, limpet.source.received]") == [step + 1, count + 1]
    seen.page.keyboard.press("ArrowRight")
    seen.until(f"limpet.frame.step === {step + 2}")

    seen.page.keyboard.press("r")
    seen.until("limpet.frame.step === 0")
    assert seen.get(PLACES) == start
    assert seen.complaints == []
    here = f"127.0.0.1:{server.port}"
    assert all(re.match(rf"(http|ws)://{here}/|data:|blob:", url) for url in seen.requests)


def test_the_space_bar_plays_to_the_end_and_the_air_is_seen(server, seen):
    open_live(seen, server)
    seen.page.select_option("#speed", "0")
    seen.page.keyboard.press("Space")
    seen.until("limpet.frame.figures.pressure < 1e5 && limpet.frame.cavities.length === 1")
    pixels = seen.get("limpet.view.cavities[0].surface.geometry.attributes.position.count")
    assert pixels > 10
    assert seen.get("document.getElementById('air-legend').hidden") is False
    assert seen.get("limpet.frame.contactPoints.length") > 0
    for colour in ("pressure", "gap", "displacement"):
        seen.page.select_option("#colour", colour)
        legend = "document.getElementById('legend-high').textContent"
        seen.until(f"limpet.frame.colour === '{colour}' && {legend}.length > 2")
        seen.keep(colour)
    seen.page.select_option("#colour", "pressure")
    seen.page.click("#cameras >> text=below")  # the lip, without the block that it stands on
    assert seen.get("limpet.view.bodies.map(b => b.surface.visible)") == [True, False]
    seen.page.select_option("#cut", "none")
    seen.until("limpet.frame.colour === 'pressure' && document.body.dataset.state === 'ended'")
    seen.keep("below")
    seen.page.click("#cameras >> text=oblique")
    assert seen.get("limpet.frame.time") == pytest.approx(3.0, abs=0.011)
    for plot in range(4):
        assert seen.get(f"limpet.plots[{plot}][1].times.length") > 2
    seen.keep("ended")
    assert seen.complaints == []


def pressed(seen, steps=15):
    """The drive's force after that many steps."""
    seen.get(f"limpet.send({{ do: 'step', count: {steps} }})")
    seen.until(f"limpet.frame.step === {steps}")
    return seen.get("limpet.frame.figures.drive_force")


def test_a_slider_changes_the_physics(server, seen):
    open_live(seen, server)
    before = pressed(seen)
    assert seen.page.is_disabled("form .apply .main")
    seen.page.locator("#parameters input[aria-label=young]").evaluate(
        "s => { s.value = 8; for (const e of ['input', 'change']) s.dispatchEvent(new Event(e)); }"
    )
    seen.keep("changed")
    seen.page.click("form .apply .main")
    seen.until("limpet.header.epoch > 1 && limpet.frame && limpet.frame.step === 0")
    assert seen.get("limpet.header.parameters.find(p => p.name === 'young').value") == 8e6
    assert 1.8 < pressed(seen) / before < 2.5  # twice as stiff; weight and wrinkles do not scale

    seen.page.fill("#parameters input[name=poisson]", "0.7")  # the model refuses it
    seen.page.keyboard.press("Tab")
    seen.page.click("form .apply .main")
    seen.until("document.getElementById('message').textContent.includes('poisson')")
    seen.page.click("text=Defaults")
    seen.until("limpet.header.epoch > 2 && limpet.frame && limpet.frame.step === 0")
    assert seen.complaints == []


def test_a_pull_with_the_mouse_moves_the_cup(server, seen):
    open_live(seen, server)
    seen.page.select_option("#cut", "none")
    middle = seen.get(
        """() => {
            const box = limpet.view.boxOf([limpet.header.bodies[0]]);
            const p = box.getCenter(box.min.clone()).project(limpet.view.camera);
            const r = limpet.view.renderer.domElement.getBoundingClientRect();
            return [r.left + (p.x + 1) / 2 * r.width, r.top + (1 - p.y) / 2 * r.height];
        }"""
    )
    seen.page.keyboard.down("Shift")
    seen.page.mouse.move(*middle)
    seen.page.mouse.down()
    seen.page.mouse.move(middle[0] + 120, middle[1])
    message = "document.getElementById('message').textContent"
    assert "pulling cup" in seen.until(f"{message}.includes('pulling') && {message}")
    seen.page.keyboard.press("ArrowRight")
    seen.until("limpet.frame.step === 1")
    seen.keep("pulled")
    moved = np.array(seen.get("Array.from(limpet.frame.values)"))
    seen.page.mouse.up()
    seen.page.keyboard.up("Shift")
    assert np.nanmax(moved) > 0.0  # the stem is at rest at the start: only the pull strains it
    assert seen.complaints == []


def test_a_crash_and_a_second_page_are_lines_on_the_page(server, seen, chromium):
    open_live(seen, server)
    message = "document.getElementById('message').textContent"
    second = chromium.new_page()
    second.goto(server.address)
    end = time.monotonic() + 10
    while "already" not in second.evaluate(message) and time.monotonic() < end:
        time.sleep(0.05)
    assert second.evaluate(message) == BUSY
    second.close()

    os.kill(server.engine.process.pid, signal.SIGKILL)
    seen.until(f"{message}.includes('the simulation has ended')")
    seen.keep("crash")
    seen.page.click("#reset")
    seen.until(f"{message} === '' && limpet.frame !== null")
    seen.page.click("#step")
    seen.until("limpet.frame.step === 1")
    assert seen.complaints == []


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory, filmed):
    return filmed(tmp_path_factory.mktemp("run"), "0.8 s", 40)


def test_the_replay_opens_from_disk(run_folder, seen):
    path = write_replay(run_folder)
    assert path.stat().st_size < 6e6
    text = path.read_text(encoding="utf-8")
    assert "Permission is hereby granted" in text and "Three.js Authors" in text

    seen.page.goto(path.as_uri())
    seen.until("document.body.dataset.step === '0'")
    start, colours = seen.get(PLACES), seen.get(COLOURS)
    slider = seen.page.locator("#time")
    slider.evaluate("s => { s.value = 30; s.dispatchEvent(new Event('input')); }")
    seen.until("limpet.frame.step === 30")
    assert seen.get(PLACES) != start
    assert seen.get(COLOURS) != colours
    assert seen.get("limpet.frame.cavities.length") == 1
    assert seen.get("limpet.frame.contactPoints.length") > 0
    seen.keep("replay")
    seen.page.keyboard.press("Space")
    seen.until("document.body.dataset.state === 'ended'")
    assert seen.complaints == []
    assert all(re.match(r"(file|data|blob):", url) for url in seen.requests)


def test_the_surface_on_which_fields_meet_shines_through(seen, tmp_path):
    world = lp.World()
    world.add_rigid(lp.fields.sphere(0.03, 1e5), 0.4, name="ball", position=(0.0, 0.0, 0.0295))
    world.add_rigid(lp.fields.floor(0.2), 1.0, name="floor", fixed=True)
    simulation = lp.Simulation(world, 2e-3)
    camera = Camera(simulation, "ball", "", 10)
    for report in simulation.run(0.02):
        camera.add(report)
    camera.save(tmp_path)
    last = camera.moments[-1].patch
    seen.page.goto(write_replay(tmp_path).as_uri())
    seen.until("limpet.frame")
    assert seen.get("document.getElementById('patch-legend').hidden") is True  # not begun yet
    seen.get("limpet.showFrame(10)")
    assert seen.get("limpet.view.patch.geometry.index.count") == 3 * len(last.triangles)
    shown = np.array(seen.get("Array.from(limpet.frame.patch.pressure)"))
    end = seen.get("limpet.header.patch_range[1]")
    assert shown == pytest.approx(last.pressure, abs=end / 65535)
    assert last.pressure.max() <= end < 2.1 * last.pressure.max()
    assert seen.get("document.getElementById('patch-legend').hidden") is False
    seen.keep("patch")
    count = "limpet.view.renderer.info.render.triangles"
    drawn = seen.get(count)
    seen.page.uncheck("#patches")
    seen.get("limpet.showFrame(10)")
    assert seen.get(count) == drawn - len(last.triangles)
    assert seen.get("document.getElementById('patch-legend').hidden") is True
    assert seen.complaints == []
