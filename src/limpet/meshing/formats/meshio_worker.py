"""Read a file with meshio in a separate process: `python meshio_worker.py FILE OUT.npz`.

other.py starts it: meshio reads many formats, and for ever, or into all memory, where a file says
so. It writes points and triangles (quads halved), or one line on stderr.
"""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from importlib import import_module
from pathlib import Path
from warnings import simplefilter

import numpy as np

MEMORY = 4 * 1024**3  # [byte]


def main(file: Path, out: Path) -> None:
    try:
        resource = import_module("resource")
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    except ModuleNotFoundError:  # not on Windows
        pass
    simplefilter("ignore")
    with redirect_stdout(sys.stderr):
        mesh = import_module("meshio").read(file)
    triangles = [np.empty((0, 3), np.int64)]
    for block in mesh.cells:
        if block.type == "triangle":
            triangles.append(block.data)
        elif block.type == "quad":
            triangles += [block.data[:, [0, 1, 2]], block.data[:, [0, 2, 3]]]
    kinds = ", ".join(sorted({block.type for block in mesh.cells}))
    points = np.asarray(mesh.points, float)
    np.savez(out, points=points, triangles=np.concatenate(triangles), kinds=np.array(kinds))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
