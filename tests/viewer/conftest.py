"""A server on a small scene, and Chromium with name look-ups blocked."""

import shutil
import threading
import time

import pytest

FLAGS = [
    "--no-sandbox",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--ignore-gpu-blocklist",
    "--disable-background-networking",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]
SMALL = {"sectors": 6, "segments": 3, "h": "20 ms", "push_time": "0.2 s", "hold": "0.1 s"}


@pytest.fixture(scope="session")
def small():
    return dict(SMALL)


@pytest.fixture(scope="session")
def filmed(small):
    """Records the ground scene into a folder, for so long, with so many moments at most."""
    from limpet.record.frames import FrameRecorder
    from limpet.scenes.registry import load

    def animation(folder, duration, most):
        scene = load("ground", {**small, "duration": duration})
        simulation = scene.simulation()
        camera = FrameRecorder(simulation, scene.name, scene.summary, most)
        for report in simulation.run(scene.duration):
            camera.add(report)
        camera.save(folder)
        return folder

    return animation


@pytest.fixture(scope="module")
def server(small):
    from limpet.viewer.server import Server

    server = Server("ground", {**small, "duration": "3 s"})
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    yield server
    server.stop()
    thread.join(10)


@pytest.fixture(scope="session")
def chromium():
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("there is no chromium: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=program, args=FLAGS)
        yield browser
        browser.close()


class ViewerPage:
    """A page, what it complained of and what it asked for."""

    def __init__(self, browser, tmp_path):
        self.page = browser.new_page(viewport={"width": 800, "height": 500})
        self.complaints, self.requests, self._folder = [], [], tmp_path
        self.page.on("console", lambda m: m.type in ("error", "warning") and self._complain(m.text))
        self.page.on("pageerror", lambda error: self._complain(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("websocket", lambda socket: self.requests.append(socket.url))

    def _complain(self, text):
        if "GPU stall due to ReadPixels" not in text:  # of drawing without a GPU
            self.complaints.append(text)

    def get(self, expression):
        return self.page.evaluate(expression)

    def until(self, expression, seconds=20.0):
        """Ask until it is true; the page's own policy forbids Playwright's way of waiting."""
        end = time.monotonic() + seconds
        while not (value := self.get(expression)):
            assert time.monotonic() < end, f"{expression} did not come; {self.complaints}"
            time.sleep(0.03)
        return value

    def keep(self, name):
        self.page.screenshot(path=self._folder / f"{name}.png")


@pytest.fixture
def viewer(chromium, tmp_path):
    viewer = ViewerPage(chromium, tmp_path)
    yield viewer
    viewer.page.close()
