"""The page as a user has it: Chromium, no network, one server, one animation."""

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


def paused(viewer):
    """Wait until a frame says that nothing runs; returns how many have come."""
    viewer.until("document.body.dataset.state === 'paused'")
    return viewer.get("limpet.source.received")


def open_live(viewer, server):
    viewer.page.goto(server.address)
    viewer.until("limpet.frame")
    viewer.page.click("#reset")  # the simulation stands where the last page left it
    viewer.until("document.body.dataset.step === '0'")


def test_three_js_is_where_the_page_expects_it():
    text = three_path().read_text(encoding="utf-8")
    exported = re.search(r"export\s*\{([^}]*)\}", text)
    names = {part.split(" as ")[-1].strip() for part in exported[1].split(",")}
    assert {"THREE", "OrbitControls"} <= names
    assert "Three.js Authors" in text and "MIT" in text[:200]


def test_a_run_is_watched_from_play_to_reset(server, viewer):
    open_live(viewer, server)
    start = viewer.get(PLACES)
    viewer.keep("start")

    viewer.page.select_option("#colour", "stress")
    viewer.page.select_option("#speed", "0.1")  # it must not end before it is paused
    viewer.page.click("#play")
    viewer.until("limpet.frame.step > 2")
    plain = viewer.get(COLOURS)
    first = viewer.get("limpet.frame.step")
    viewer.until(f"limpet.frame.step > {first + 4}")
    assert viewer.get(COLOURS) != plain
    assert viewer.get("limpet.frame.factor") > 0.0
    viewer.keep("playing")

    viewer.page.click("#play")  # it is Pause now
    count = paused(viewer)
    step = viewer.get("limpet.frame.step")
    time.sleep(0.7)
    assert viewer.get("limpet.source.received") == count
    viewer.keep("paused")

    viewer.page.click("#step")
    viewer.until(f"limpet.frame.step === {step + 1}")
    time.sleep(0.3)
    assert viewer.get("[limpet.frame.step, limpet.source.received]") == [step + 1, count + 1]
    viewer.page.keyboard.press("ArrowRight")
    viewer.until(f"limpet.frame.step === {step + 2}")

    viewer.page.keyboard.press("r")
    viewer.until("limpet.frame.step === 0")
    assert viewer.get(PLACES) == start
    assert viewer.complaints == []
    here = f"127.0.0.1:{server.port}"
    assert all(re.match(rf"(http|ws)://{here}/|data:|blob:", url) for url in viewer.requests)


def test_the_space_bar_plays_to_the_end_and_the_air_is_seen(server, viewer):
    open_live(viewer, server)
    viewer.page.select_option("#speed", "0")
    viewer.page.keyboard.press("Space")
    viewer.until("limpet.frame.figures.pressure < 1e5 && limpet.frame.cavities.length === 1")
    pixels = viewer.get("limpet.view.cavities[0].surface.geometry.attributes.position.count")
    assert pixels > 10
    assert viewer.get("document.getElementById('air-legend').hidden") is False
    assert viewer.get("limpet.frame.contactPoints.length") > 0
    for colour in ("pressure", "gap", "displacement"):
        viewer.page.select_option("#colour", colour)
        legend = "document.getElementById('legend-high').textContent"
        viewer.until(f"limpet.frame.colour === '{colour}' && {legend}.length > 2")
        viewer.keep(colour)
    viewer.page.select_option("#colour", "class")  # five classes, no scale
    names = "Array.from(document.querySelectorAll('#legend-classes li'), (li) => li.textContent)"
    viewer.until(f"limpet.frame.colour === 'class' && {names}.length === 5")
    assert viewer.get(names)[0] == "in active contact"
    assert viewer.get("document.getElementById('legend-scale').hidden") is True
    seen = "new Set(Array.from(limpet.frame.values).filter(Number.isFinite)).size"
    assert 3 <= viewer.get(seen) <= 5
    viewer.keep("class")
    viewer.page.select_option("#colour", "pressure")
    viewer.page.click("#cameras >> text=below")  # the lip, without the block that it stands on
    assert viewer.get("limpet.view.bodies.map(b => b.surface.visible)") == [True, False]
    viewer.page.select_option("#cut", "none")
    viewer.until("limpet.frame.colour === 'pressure' && document.body.dataset.state === 'ended'")
    viewer.keep("below")
    viewer.page.click("#cameras >> text=oblique")
    assert viewer.get("limpet.frame.time") == pytest.approx(3.0, abs=0.011)
    for plot in range(4):
        assert viewer.get(f"limpet.plots[{plot}][1].times.length") > 2
    viewer.keep("ended")
    assert viewer.complaints == []


def pressed(viewer, steps=15):
    """The drive's force after that many steps."""
    viewer.get(f"limpet.send({{ do: 'step', count: {steps} }})")
    viewer.until(f"limpet.frame.step === {steps}")
    return viewer.get("limpet.frame.figures.reaction")


def test_a_slider_changes_the_physics(server, viewer):
    open_live(viewer, server)
    before = pressed(viewer)
    assert viewer.page.is_disabled("form .apply .main")
    viewer.page.locator("#parameters input[aria-label=young]").evaluate(
        "s => { s.value = 8; for (const e of ['input', 'change']) s.dispatchEvent(new Event(e)); }"
    )
    viewer.keep("changed")
    viewer.page.click("form .apply .main")
    viewer.until("limpet.header.epoch > 1 && limpet.frame && limpet.frame.step === 0")
    assert viewer.get("limpet.header.parameters.find(p => p.name === 'young').value") == 8e6
    assert 1.8 < pressed(viewer) / before < 2.5  # twice as stiff; weight and wrinkles do not scale

    viewer.page.fill("#parameters input[name=poisson]", "0.7")  # the model refuses it
    viewer.page.keyboard.press("Tab")
    viewer.page.click("form .apply .main")
    viewer.until("document.getElementById('message').textContent.includes('poisson')")
    viewer.page.click("text=Defaults")
    viewer.until("limpet.header.epoch > 2 && limpet.frame && limpet.frame.step === 0")
    assert viewer.complaints == []


def test_a_pull_with_the_mouse_moves_the_cup(server, viewer):
    open_live(viewer, server)
    viewer.page.select_option("#cut", "none")
    middle = viewer.get(
        """() => {
            const box = limpet.view.boxOf([limpet.header.bodies[0]]);
            const p = box.getCenter(box.min.clone()).project(limpet.view.camera);
            const r = limpet.view.renderer.domElement.getBoundingClientRect();
            return [r.left + (p.x + 1) / 2 * r.width, r.top + (1 - p.y) / 2 * r.height];
        }"""
    )
    viewer.page.keyboard.down("Shift")
    viewer.page.mouse.move(*middle)
    viewer.page.mouse.down()
    viewer.page.mouse.move(middle[0] + 120, middle[1])
    message = "document.getElementById('message').textContent"
    assert "pulling cup" in viewer.until(f"{message}.includes('pulling') && {message}")
    viewer.page.keyboard.press("ArrowRight")
    viewer.until("limpet.frame.step === 1")
    viewer.keep("pulled")
    moved = np.array(viewer.get("Array.from(limpet.frame.values)"))
    viewer.page.mouse.up()
    viewer.page.keyboard.up("Shift")
    assert np.nanmax(moved) > 0.0  # the stem is at rest at the start: only the pull strains it
    assert viewer.complaints == []


def test_a_crash_and_a_second_page_are_lines_on_the_page(server, viewer, chromium):
    open_live(viewer, server)
    message = "document.getElementById('message').textContent"
    second = chromium.new_page()
    second.goto(server.address)
    end = time.monotonic() + 10
    while "already" not in second.evaluate(message) and time.monotonic() < end:
        time.sleep(0.05)
    assert second.evaluate(message) == BUSY
    second.close()

    os.kill(server.engine.process.pid, signal.SIGKILL)
    viewer.until(f"{message}.includes('the simulation ended')")
    viewer.keep("crash")
    viewer.page.click("#reset")
    viewer.until(f"{message} === '' && limpet.frame !== null")
    viewer.page.click("#step")
    viewer.until("limpet.frame.step === 1")
    assert viewer.complaints == []


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory, filmed):
    return filmed(tmp_path_factory.mktemp("run"), "0.8 s", 40)


def test_the_replay_opens_from_disk(run_folder, viewer):
    path = write_replay(run_folder)
    assert path.stat().st_size < 6e6
    text = path.read_text(encoding="utf-8")
    assert "Permission is hereby granted" in text and "Three.js Authors" in text

    viewer.page.goto(path.as_uri())
    viewer.until("document.body.dataset.step === '0'")
    start, colours = viewer.get(PLACES), viewer.get(COLOURS)
    slider = viewer.page.locator("#time")
    slider.evaluate("s => { s.value = 30; s.dispatchEvent(new Event('input')); }")
    viewer.until("limpet.frame.step === 30")
    assert viewer.get(PLACES) != start
    assert viewer.get(COLOURS) != colours
    assert viewer.get("limpet.frame.cavities.length") == 1
    assert viewer.get("limpet.frame.contactPoints.length") > 0
    viewer.keep("replay")
    viewer.page.keyboard.press("Space")
    viewer.until("document.body.dataset.state === 'ended'")
    assert viewer.complaints == []
    assert all(re.match(r"(file|data|blob):", url) for url in viewer.requests)


def test_the_surface_on_which_fields_meet_shines_through(viewer, tmp_path):
    world = lp.World()
    world.add_rigid(lp.fields.sphere(0.03, 1e5), 0.4, name="ball", position=(0.0, 0.0, 0.0302))
    world.add_rigid(lp.fields.floor(0.2), 1.0, name="floor", fixed=True)
    simulation = lp.Simulation(world, 2e-3)
    camera = FrameRecorder(simulation, "ball", "", 10)
    for report in simulation.run(0.02):
        camera.add(report)
    camera.save(tmp_path)
    last = camera.frames[-1].patch
    viewer.page.goto(write_replay(tmp_path).as_uri())
    viewer.until("limpet.frame")
    assert viewer.get("document.getElementById('patch-legend').hidden") is True  # not begun yet
    viewer.get("limpet.showFrame(10)")
    assert viewer.get("limpet.view.patch.geometry.index.count") == 3 * len(last.triangles)
    shown = np.array(viewer.get("Array.from(limpet.frame.patch.pressure)"))
    end = viewer.get("limpet.header.patch_range[1]")
    assert shown == pytest.approx(last.pressure, abs=end / 65535)
    assert last.pressure.max() <= end < 2.1 * last.pressure.max()
    assert viewer.get("document.getElementById('patch-legend').hidden") is False
    viewer.keep("patch")
    count = "limpet.view.renderer.info.render.triangles"
    drawn = viewer.get(count)
    viewer.page.uncheck("#patches")
    viewer.get("limpet.showFrame(10)")
    assert viewer.get(count) == drawn - len(last.triangles)
    assert viewer.get("document.getElementById('patch-legend').hidden") is True
    assert viewer.complaints == []
