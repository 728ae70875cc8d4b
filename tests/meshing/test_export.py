"""Meshes written to files: others read the same solid from them."""

from __future__ import annotations

import meshio
import numpy as np
import pytest

from limpet.errors import LimpetError
from limpet.geometry.surface import volume
from limpet.meshing.export import save_mesh
from limpet.meshing.files import load_mesh
from limpet.shapes.boxes import box, soft_box
from limpet.shapes.cups import cup


@pytest.mark.parametrize("ending", ["stl", "obj", "ply", "off"])
@pytest.mark.parametrize("surface", ["visual", "collision"])
def test_a_surface_is_read_back(tmp_path, ending, surface):
    shape = cup("standard")
    binding = getattr(shape, surface)
    expected = volume(binding.positions(shape.points), binding.triangles)
    path = save_mesh(shape, tmp_path / f"cup.{ending}", "mm", surface)
    back = load_mesh(path, "mm")
    assert len(back.points) == binding.n_vertices
    assert volume(back.points, back.triangles) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("element", ["tet4", "tet10", "hex8", "hex20"])
def test_vtk_finds_the_same_volume_in_the_cells(tmp_path, element):
    vtk = pytest.importorskip("vtk")
    shape = cup("standard", element=element)
    path = save_mesh(shape, tmp_path / "cup.vtu")
    reader = vtk.vtkXMLUnstructuredGridReader()
    reader.SetFileName(str(path))
    sizes = vtk.vtkCellSizeFilter()
    sizes.SetInputConnection(reader.GetOutputPort())
    sizes.Update()
    grid = sizes.GetOutput()
    assert grid.GetNumberOfCells() == sum(map(len, shape.cells.values()))
    volumes = grid.GetCellData().GetArray("Volume")
    # VTK's filter counts linear wedges negative in the order that VTK's own manual wants
    found = sum(abs(volumes.GetValue(k)) for k in range(volumes.GetNumberOfValues()))
    x = shape.visual.positions(shape.points)
    assert found == pytest.approx(volume(x, shape.visual.triangles), rel=0.02)


def test_a_rigid_shape_and_the_unit(tmp_path):
    shape = box(0.03, 0.04, 0.05)
    for ending in ("vtu", "stl"):
        x = meshio.read(save_mesh(shape, tmp_path / f"box.{ending}", "mm")).points
        assert np.ptp(x, axis=0) == pytest.approx([30.0, 40.0, 50.0])


def test_wrong_names(tmp_path):
    shape = soft_box(0.1, 0.1, 0.1, (1, 1, 1))
    with pytest.raises(LimpetError, match=r"ends in one of .vtu"):
        save_mesh(shape, tmp_path / "a.doc")
    with pytest.raises(LimpetError, match="unit = 'mn'"):
        save_mesh(shape, tmp_path / "a.stl", "mn")
    with pytest.raises(LimpetError, match="surface = 'skin'"):
        save_mesh(shape, tmp_path / "a.stl", surface="skin")
    with pytest.raises(LimpetError, match=r"a.stl': cannot be written"):
        save_mesh(shape, tmp_path / "none" / "a.stl")
