"""Cloth and jelly on the live page, and pulled by the mouse."""

import threading

import numpy as np
import pytest

SCENES = {
    "cloth": ({"divisions": 16}, "cloth", "0.05"),  # 3 N against its weight of 2 N
    "jelly": ({"across": 3, "along": 4}, "springs", "5"),
}
COMPILED = 300.0  # [s] the first of all tests waits for the kernels
MIDDLE = """name => {
    const body = limpet.header.bodies.find(b => b.name === name);
    const box = limpet.view.boxOf([body]);
    const p = box.getCenter(box.min.clone()).project(limpet.view.camera);
    const r = limpet.view.renderer.domElement.getBoundingClientRect();
    return [r.left + (p.x + 1) / 2 * r.width, r.top + (1 - p.y) / 2 * r.height];
}"""
ACROSS = """name => {  // [m] along the screen's horizontal axis, unchanged by a fall
    const body = limpet.header.bodies.find(b => b.name === name), x = limpet.frame.positions;
    const right = limpet.view.camera.matrixWorld.elements.slice(0, 3);
    let sum = 0;
    for (let i = body.first; i < body.first + body.count; i++)
        for (let d = 0; d < 3; d++) sum += right[d] * x[3 * i + d] / body.count;
    return sum;
}"""
CENTRE = """name => {
    const body = limpet.header.bodies.find(b => b.name === name), x = limpet.frame.positions;
    const sum = [0, 0, 0];
    for (let i = body.first; i < body.first + body.count; i++)
        for (let d = 0; d < 3; d++) sum[d] += x[3 * i + d] / body.count;
    return sum;
}"""


@pytest.mark.parametrize("scene", SCENES)
def test_it_is_shown_and_pulled(scene, viewer):
    from limpet.viewer.server import Server

    changes, body, pull = SCENES[scene]
    server = Server(scene, {**changes, "duration": "30 s"})
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        viewer.page.goto(server.address)
        viewer.until("limpet.frame", COMPILED)
        assert viewer.get("document.getElementById('cut').value") == "none"
        start = np.array(viewer.page.evaluate(CENTRE, body))
        viewer.page.click("#play")
        viewer.until("limpet.frame.time > 0.3", COMPILED)
        fallen = np.array(viewer.page.evaluate(CENTRE, body))
        assert fallen[2] < start[2] - 1e-4

        assert 0.0 < float(viewer.get("document.getElementById('pull').value")) < 2.0
        viewer.page.fill("#pull", pull)
        where = viewer.page.evaluate(MIDDLE, body)
        across = viewer.page.evaluate(ACROSS, body)
        viewer.page.keyboard.down("Shift")
        viewer.page.mouse.move(*where)
        viewer.page.mouse.down()
        viewer.page.mouse.move(where[0] + 150, where[1] - 60)
        message = "document.getElementById('message').textContent"
        assert f"pulling {body}" in viewer.until(f"{message}.includes('pulling') && {message}")
        viewer.until(f"({ACROSS})('{body}') > {across + 2e-3}", 60.0)
        viewer.keep(f"pulled-{scene}")
        viewer.page.mouse.up()
        viewer.page.keyboard.up("Shift")
        assert np.all(np.isfinite(viewer.page.evaluate(CENTRE, body)))
        assert viewer.complaints == []
    finally:
        server.stop()
        thread.join(10)
