"""Write the meshes of a world as files and draw them: mesh.png."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from mpl_toolkits.mplot3d.art3d import Poly3DCollection

from limpet.errors import LimpetError, suggest
from limpet.geometry.shape import SoftShape, outer_faces
from limpet.meshing.export import SURFACES, VOLUMES, node_places, save_mesh
from limpet.model.specs import SoftSpec
from limpet.model.world import World
from limpet.record.plots import new_figure

Array = np.ndarray

MM = 1e3
VIEWS = ((25.0, -60.0, "from above"), (-25.0, -60.0, "from below"))  # [degree]
LIGHT = np.array([0.3, 0.2, 0.9])


def write_meshes(world: World, folder: Path, formats: list[str], unit: str) -> list[Path]:
    """Write one file per body and format (stl, vtu, ...), and mesh.png; returns the paths."""
    endings = [f".{name.lstrip('.').lower()}" for name in formats]
    for ending in endings:
        if ending not in (*VOLUMES, *SURFACES):
            known = [name[1:] for name in (*VOLUMES, *SURFACES)]
            raise LimpetError(f"--format {ending[1:]}{suggest(ending[1:], known)}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise LimpetError(
            f"--out {folder}: cannot be written to ({problem.strerror}); choose another folder"
        ) from None
    paths = [
        save_mesh(spec.shape, folder / f"{name}{ending}", unit)
        for name, spec in world.specs.items()
        for ending in endings
    ]
    if any(isinstance(spec, SoftSpec) for spec in world.specs.values()):
        draw_meshes(world, folder / "mesh.png")
        paths.append(folder / "mesh.png")
    return paths


def draw_meshes(world: World, path: Path) -> None:
    """Draw each soft shape in one row: the outer faces of its cells, from two sides."""
    soft = [spec for spec in world.specs.values() if isinstance(spec, SoftSpec)]
    shapes = list({id(spec.shape.cells): spec for spec in soft}.values())
    figure = new_figure(9.2, 3.6 * len(shapes))
    for row, spec in enumerate(shapes):
        faces = _faces(spec.shape)
        x = np.concatenate([corners.reshape(-1, 3) for corners in faces])
        low, high = x.min(axis=0), x.max(axis=0)
        for column, (elevation, azimuth, side) in enumerate(VIEWS):
            axis = figure.add_subplot(
                len(shapes), 2, 2 * row + column + 1, projection="3d", proj_type="ortho"
            )
            axis.add_collection3d(_visible_faces(faces, elevation, azimuth))
            axis.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), zlim=(low[2], high[2]))
            axis.set_box_aspect(high - low, zoom=1.35)
            axis.view_init(elevation, azimuth)
            axis.set_axis_off()
            axis.set_title(f"{spec.name} {side}", fontsize=10)
        kinds = ", ".join(f"{len(cells)} {kind}" for kind, cells in spec.shape.cells.items())
        size = " x ".join(f"{v:.3g}" for v in high - low)
        text = f"{spec.name}: {len(spec.shape.points)} nodes, {kinds}; {size} mm"
        figure.text(0.5, 1.0 - (row + 0.96) / len(shapes), text, ha="center", fontsize=9)
    figure.savefig(path, dpi=110)


def _faces(shape: SoftShape) -> list[Array]:
    """The outer faces of the cells as polygons (m, k, 3) [mm], by their number of corners."""
    x = MM * node_places(shape)
    out = []
    for kind in shape.cells:
        for faces in outer_faces(kind, shape.cells):
            k = faces.shape[1]
            # alternate corners and midside nodes, so that quadratic faces are drawn curved
            order = np.arange(k).reshape(2, -1).T.ravel() if k in (6, 8) else np.arange(k)
            out.append(x[faces[:, order]])
    return out


def _visible_faces(faces: list[Array], elevation: float, azimuth: float) -> Poly3DCollection:
    """The faces that point towards the viewer, shaded, with their edges."""
    e, a = np.radians([elevation, azimuth])
    toward = np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])
    light = toward + LIGHT
    polygons: list[Array] = []
    shades: list[Array] = []
    for corners in faces:
        ahead = np.roll(corners, -1, axis=1)
        normal = np.cross(corners, ahead).sum(axis=1)
        normal /= np.maximum(np.linalg.norm(normal, axis=1), 1e-300)[:, None]
        front = normal @ toward > 0.0
        polygons += list(corners[front])
        shades.append(0.55 + 0.45 * np.clip(normal[front] @ light / np.linalg.norm(light), 0, 1))
    colours = np.concatenate(shades)[:, None] * [0.93, 0.72, 0.52]
    return Poly3DCollection(polygons, facecolors=colours, edgecolors="0.25", linewidths=0.4)
