"""View a world that was built in Python, live in the browser."""

from __future__ import annotations

import threading
import webbrowser

from limpet.engine.simulation import Simulation
from limpet.model.world import World
from limpet.scenes.of_world import scene_of
from limpet.viewer.server import Server


def view(
    given: World | Simulation, duration: float | str = 10.0, *, port: int = 0,
    browser: bool = True, block: bool = True,
) -> Server:  # fmt: skip
    """Open a World or a Simulation in the browser, from its start, to play, pause and pull.

    It serves until Ctrl-C; with block=False in the background, until `stop()` of what it returns
    or the end of the program. duration: at which time [s] playing ends.
    """
    server = Server(scene_of(given, duration), port=port)
    print(f"{server.address}  (Ctrl-C to stop)" if block else server.address, flush=True)
    if browser:
        webbrowser.open(server.address)
    if block:
        server.run()
    else:
        threading.Thread(target=server.run, daemon=True).start()
    return server
