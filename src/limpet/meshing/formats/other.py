"""All other formats: meshio in a process of its own, with a limit on time and memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from limpet.meshing.formats.surface_data import FormatError, SurfaceData

TIMEOUT = 4.0  # [s]
MORE_TIME = 1.0  # [s] a megabyte


def read(file: Path) -> SurfaceData:
    worker = Path(__file__).with_name("meshio_worker.py")
    limit = TIMEOUT + MORE_TIME * file.stat().st_size / 1e6
    with TemporaryDirectory() as folder:
        out = Path(folder) / "mesh.npz"
        command = [sys.executable, "-P", str(worker), str(file.absolute()), str(out)]
        try:
            done = subprocess.run(command, capture_output=True, errors="replace", timeout=limit)
        except subprocess.TimeoutExpired:
            raise FormatError(f"meshio took longer than {limit:.0f} s") from None
        if done.returncode != 0 or not out.is_file():
            lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
            raise FormatError(lines[-1][:200] if lines else "meshio ended without a message")
        with np.load(out) as mesh:
            points, triangles, kinds = mesh["points"], mesh["triangles"], str(mesh["kinds"])
    if len(triangles) == 0 and kinds:
        raise FormatError(f"expected triangles or quads, it has {kinds}; export its surface")
    return SurfaceData(points, triangles.astype(np.int64))
