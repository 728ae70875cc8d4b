"""What a frame of the live page costs the simulation that is looked at, by colour."""

from __future__ import annotations

import threading
from multiprocessing import Pipe
from time import thread_time

import numpy as np

from limpet.record.frame import COLOURS, capture_frame, frame_header
from limpet.record.table import Cell, Progress, Result, Table, Ticker
from limpet.scenes.registry import load
from limpet.viewer.frames import pack

FRAMES = 50
DIVISIONS = 70  # of the block's top: with them there are some 5000 vertices


def run(progress: Progress) -> Result:
    """Step the ground scene a little, then make and send one moment over and over."""
    tick = Ticker(progress, len(COLOURS), "view")
    scene = load("ground", {"block_divisions": DIVISIONS})
    simulation = scene.simulation()
    report = list(simulation.run(0.3))[-1]
    what = frame_header(simulation)
    cells: list[tuple[Cell, ...]] = []
    for colour in COLOURS:
        here, there = Pipe()
        reader = threading.Thread(
            target=lambda end=there: [end.recv_bytes() for _ in range(FRAMES)]
        )
        reader.start()
        costs = []
        for _ in range(FRAMES):
            begin = thread_time()
            moment = capture_frame(simulation, what, report, (colour,))
            here.send_bytes(pack(moment, colour, epoch=1, flags=0, factor=1.0))
            costs.append(1e3 * (thread_time() - begin))
        reader.join()
        cells.append((colour, len(what.rest), float(np.median(costs)), min(costs)))
        tick()
    columns = ("colour", "vertices", "a frame [ms]", "least [ms]")
    note = f"median of {FRAMES} frames, time of the one thread; stress goes through every cell"
    return Result(
        (Table("view: what a frame costs the simulation", columns, tuple(cells), (note,)),)
    )
