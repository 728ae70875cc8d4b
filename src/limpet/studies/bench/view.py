"""Time that a frame of the live page takes in the simulation process, by colour."""

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
DIVISIONS = 70  # of the block's top, about 5000 vertices


def run(progress: Progress) -> Result:
    """Run the ground scene for a short time, then capture and send the same frame repeatedly."""
    tick = Ticker(progress, len(COLOURS), "view")
    scene = load("ground", {"block_divisions": DIVISIONS})
    simulation = scene.simulation()
    report = list(simulation.run(0.3))[-1]
    header = frame_header(simulation)
    cells: list[tuple[Cell, ...]] = []
    for colour in COLOURS:
        sender, receiver = Pipe()
        reader = threading.Thread(
            target=lambda end=receiver: [end.recv_bytes() for _ in range(FRAMES)]
        )
        reader.start()
        costs = []
        for _ in range(FRAMES):
            begin = thread_time()
            frame = capture_frame(simulation, header, report, (colour,))
            sender.send_bytes(pack(frame, colour, epoch=1, flags=0, factor=1.0))
            costs.append(1e3 * (thread_time() - begin))
        reader.join()
        cells.append((colour, len(header.rest), float(np.median(costs)), min(costs)))
        tick()
    columns = ("colour", "vertices", "median [ms]", "minimum [ms]")
    note = f"median of {FRAMES} frames, thread time; the stress is computed in every cell"
    return Result(
        (Table("view: time of a frame in the simulation process", columns, tuple(cells), (note,)),)
    )
