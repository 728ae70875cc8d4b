"""Chromium without a screen, driven by its DevTools protocol: enough to draw pictures of a page."""

from __future__ import annotations

import base64
import contextlib
import itertools
import json
import re
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
# As root and without a GPU; no request of the browser's own.
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--ignore-gpu-blocklist",
    "--disable-background-networking",
    "--hide-scrollbars",
    "--no-first-run",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--remote-debugging-port=0",
)
SECONDS = 60.0  # that it may take for anything


class BrowserError(Exception):
    """It did not start, or did not do what it was told."""


def find() -> str | None:
    """Chromium's program, if there is one."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


class Tab:
    """A page in the browser."""

    def __init__(self, socket: Any, width: int, height: int) -> None:
        self._socket, self._numbers, self._session = socket, itertools.count(1), None
        target = self._ask("Target.createTarget", url="about:blank")["targetId"]
        attached = self._ask("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self._ask("Emulation.setDeviceMetricsOverride", **size)

    def _ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        number = next(self._numbers)
        question = {"id": number, "method": method, "params": parameters}
        if self._session is not None:
            question["sessionId"] = self._session
        try:
            self._socket.send(json.dumps(question))
            while True:
                answer = json.loads(self._socket.recv(timeout=SECONDS))
                if answer.get("id") == number:
                    break
        except Exception as problem:  # closed, timed out: all the same to who wants a picture
            raise BrowserError(f"{method}: {problem}") from None
        if "error" in answer:
            raise BrowserError(f"{method}: {answer['error'].get('message')}")
        return answer["result"]

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression; a promise is waited for."""
        result = self._ask(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in result:
            raise BrowserError(result["exceptionDetails"].get("text", expression))
        return result["result"].get("value")

    def open(self, address: str, ready: str) -> None:
        """Go there, and wait until the expression `ready` is true."""
        self._ask("Page.navigate", url=address)
        end = time.monotonic() + SECONDS
        while not self.evaluate(ready):
            if time.monotonic() > end:
                raise BrowserError(f"{address}: not ready in {SECONDS:g} s")
            time.sleep(0.05)

    def screenshot(self) -> bytes:
        """PNG."""
        return base64.b64decode(self._ask("Page.captureScreenshot", format="png")["data"])


@contextlib.contextmanager
def tab(program: str, width: int, height: int) -> Iterator[Tab]:
    """A page of this size, in a browser of its own that ends with it."""
    from websockets.sync.client import connect

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = subprocess.Popen(
            [program, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace",
        )  # fmt: skip
        try:
            address = _address(process)
            with connect(address, max_size=None, open_timeout=SECONDS) as socket:
                yield Tab(socket, width, height)
        except OSError as problem:
            raise BrowserError(str(problem)) from None
        finally:
            process.terminate()
            try:
                process.wait(5.0)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _address(process: subprocess.Popen[str]) -> str:
    """Of its DevTools, which it prints when it is up."""
    assert process.stderr is not None
    late = threading.Timer(SECONDS, process.kill)
    late.start()
    try:
        for line in process.stderr:
            if match := re.search(r"ws://\S+", line):
                threading.Thread(target=process.stderr.read, daemon=True).start()  # keep it empty
                return match[0]
    finally:
        late.cancel()
    raise BrowserError(f"{process.args!r}: did not start")
