"""Headless Chromium, controlled by its DevTools protocol, for screenshots of a page."""

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
# Works as root and without a GPU; the browser makes no requests of its own.
FLAGS = (
    "--headless", "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
    "--ignore-gpu-blocklist", "--disable-background-networking", "--hide-scrollbars",
    "--no-first-run", "--host-resolver-rules=MAP * ~NOTFOUND", "--remote-debugging-port=0",
)  # fmt: skip
TIMEOUT = 60.0  # [s]


class BrowserError(Exception):
    """The browser did not start, or a command failed."""


def find() -> str | None:
    """The path of Chromium, if it is installed."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


class Tab:
    """A page in the browser."""

    def __init__(self, socket: Any, width: int, height: int) -> None:
        self._socket, self._numbers, self._session = socket, itertools.count(1), None
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        attached = self._call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self._call("Emulation.setDeviceMetricsOverride", **size)

    def _call(self, method: str, **parameters: Any) -> dict[str, Any]:
        number = next(self._numbers)
        request = {"id": number, "method": method, "params": parameters}
        if self._session is not None:
            request["sessionId"] = self._session
        try:
            self._socket.send(json.dumps(request))
            while True:
                response = json.loads(self._socket.recv(timeout=TIMEOUT))
                if response.get("id") == number:
                    break
        except Exception as problem:  # closed or timed out
            raise BrowserError(f"{method}: {problem}") from None
        if "error" in response:
            raise BrowserError(f"{method}: {response['error'].get('message')}")
        return response["result"]

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression; promises are awaited."""
        result = self._call(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in result:
            raise BrowserError(result["exceptionDetails"].get("text", expression))
        return result["result"].get("value")

    def open(self, address: str, ready: str) -> None:
        """Open an address and wait until the expression `ready` is true."""
        self._call("Page.navigate", url=address)
        end = time.monotonic() + TIMEOUT
        while not self.evaluate(ready):
            if time.monotonic() > end:
                raise BrowserError(f"{address}: not ready in {TIMEOUT:g} s")
            time.sleep(0.05)

    def screenshot(self) -> bytes:
        """The page as PNG."""
        return base64.b64decode(self._call("Page.captureScreenshot", format="png")["data"])


@contextlib.contextmanager
def tab(program: str, width: int, height: int) -> Iterator[Tab]:
    """A page of the given size in a new browser, which is closed at the end."""
    from websockets.sync.client import connect

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = subprocess.Popen(
            [program, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace",
        )  # fmt: skip
        try:
            address = _address(process)
            with connect(address, max_size=None, open_timeout=TIMEOUT) as socket:
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
    """The DevTools address, which Chromium prints when it has started."""
    assert process.stderr is not None
    timeout = threading.Timer(TIMEOUT, process.kill)
    timeout.start()
    try:
        for line in process.stderr:
            if match := re.search(r"ws://\S+", line):
                threading.Thread(target=process.stderr.read, daemon=True).start()  # drain
                return match[0]
    finally:
        timeout.cancel()
    raise BrowserError(f"{process.args!r}: did not start")
