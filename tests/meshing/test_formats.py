"""The readers of mesh files: what meshio writes is read, and what no file may do is refused."""

import struct
import time

import meshio
import numpy as np
import pytest

from limpet.errors import LimpetError
from limpet.meshing.files import MOST_PARTS, read_surface, weld
from limpet.meshing.formats import obj, off, other, ply, stl
from limpet.meshing.formats.surface_data import FormatError
from limpet.shapes.boxes import box

BLOCK = box(0.03, 0.04, 0.05, (2, 2, 2))
X, T = 1e3 * BLOCK.points, BLOCK.triangles


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("a.stl", {"binary": True}),
        ("a.stl", {"binary": False}),
        ("a.ply", {"binary": True}),
        ("a.ply", {"binary": False}),
        ("a.obj", {}),
        ("a.off", {}),
        ("a.vtk", {}),
        ("a.msh", {}),
    ],
)
def test_what_meshio_writes_is_read(tmp_path, name, options):
    meshio.Mesh(X, [("triangle", T)]).write(tmp_path / name, **options)
    points, triangles = read_surface(tmp_path / name, "mm")
    np.testing.assert_allclose(points[triangles], 1e-3 * X[T], atol=1e-8)


def test_polygons_become_fans_and_indices_count_backwards():
    square = b"v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1/5/2 2//3 3 4\nf -4 -3 -2\n"
    found = obj.read(square)
    assert found.triangles.tolist() == [[0, 1, 2], [0, 2, 3], [0, 1, 2]]
    found = off.read(b"OFF\n4 1 0 # a comment\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3 255 0 0\n")
    assert found.triangles.tolist() == [[0, 1, 2], [0, 2, 3]]


@pytest.mark.parametrize("order", ["<", ">"])
def test_ply_with_other_properties_and_elements(order):
    kind = {"<": "little", ">": "big"}[order]
    head = (
        f"ply\nformat binary_{kind}_endian 1.0\ncomment x\nelement camera 1\nproperty double f\n"
        "element vertex 3\nproperty uchar red\nproperty double z\nproperty double y\n"
        "property double x\nelement face 1\nproperty short id\nproperty list uchar float uv\n"
        "property list uint int vertex_indices\nend_header\n"
    )
    rows = struct.pack(order + "d", 7.0)
    for z, y, x in ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0)):
        rows += struct.pack(order + "Bddd", 9, z, y, x)
    rows += struct.pack(order + "hBffIiii", 3, 2, 0.5, 0.5, 3, 2, 1, 0)
    found = ply.read(head.encode() + rows)
    assert found.points.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert found.triangles.tolist() == [[2, 1, 0]]


PLY = (
    "ply\nformat {} 1.0\nelement vertex {}\nproperty float x\nproperty float y\nproperty float z\n"
)
FACES = "element face {}\nproperty list uchar int vertex_indices\nend_header\n"
HEADER = PLY + FACES


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.ply", b"ply\n", "expected a header from 'ply' to 'end_header'"),
        ("a.ply", b"ply\nformat", "expected a header"),
        ("a.ply", HEADER.format("ascii", 10**8, 1).encode(), "take more lines than the 0"),
        ("a.ply", HEADER.format("ascii", "9" * 400, 1).encode(), "are too many"),
        (
            "a.ply",
            HEADER.format("binary_little_endian", 10**8, 1).encode(),
            "rows of vertex take more bytes than it has",
        ),
        ("a.ply", HEADER.format("binary_little_endian", 0, 10**8).encode(), "are too many"),
        (
            "a.ply",
            HEADER.format("binary_little_endian", 3, 1).encode()
            + struct.pack("<9fB3i", *range(9), 3, 0, 1, 2**30),
            "has the vertex 1073741824: expected 0 to 2",
        ),
        ("a.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n", "has the vertex 8: expected 0 to 2"),
        ("a.obj", b"v 0 0 " + b"1" * 400 + b"\nf 1 1 1\n", "more than 64 characters"),
        ("a.obj", b"v 0 0 0\nf 1 1\n", "line 2: expected three or more words"),
        ("a.off", b"OFF\n99999999 1 0\n", "take 100000000 lines, it has 0"),
        ("a.off", b"OFF\n1 1 0\n0 0 1e300\n3 0 0 0\n", "three finite coordinates up to 1e+09"),
        ("a.stl", b"solid\nfacet\nvertex 1 2\n", "expected three lines"),
        ("a.msh", b"$MeshFormat\n4.1 1 8\n", "cannot be read"),
    ],
)
def test_a_file_that_lies_is_one_line_at_once(tmp_path, name, content, says):
    (tmp_path / name).write_bytes(content)
    begin = time.monotonic()
    with pytest.raises(LimpetError) as refused:
        read_surface(tmp_path / name, "mm")
    assert says in str(refused.value) and "\n" not in str(refused.value)
    assert time.monotonic() - begin < 5.0


def test_meshio_is_ended_when_it_takes_too_long(tmp_path, monkeypatch):
    (tmp_path / "a.vtk").write_bytes(b"")
    monkeypatch.setattr(other, "TIMEOUT", 0.01)
    with pytest.raises(FormatError, match="meshio took longer than"):
        other.read(tmp_path / "a.vtk")


def test_binary_files_that_begin_with_solid():
    data = bytearray(b"solid of a CAD program".ljust(80, b"\0") + struct.pack("<I", 1) + bytes(50))
    assert len(stl.read(bytes(data)).triangles) == 1


def test_a_hundred_thousand_vertices_at_one_place_are_merged_at_once():
    points = np.repeat(np.eye(3), 50_000, axis=0)
    triangles = np.arange(150_000).reshape(3, -1).T
    begin = time.monotonic()
    x, t = weld(points, triangles)
    assert len(x) == 3 and t.tolist() == [[0, 1, 2]] * 50_000
    assert time.monotonic() - begin < 5.0
    crowd = np.random.default_rng(0).normal(size=(20_000, 3)) * 1e-9
    crowd[0] = 1.0
    with pytest.raises(LimpetError, match="vertices are within"):
        weld(crowd, np.arange(19_998).reshape(-1, 3))


def test_dust_is_refused(tmp_path):
    from limpet.meshing.check_file import check_file

    count = MOST_PARTS + 1
    corners = (
        np.random.default_rng(0).random((count, 3, 3)) + 10.0 * np.arange(count)[:, None, None]
    )
    mesh = corners.reshape(-1, 3), [("triangle", np.arange(3 * count).reshape(-1, 3))]
    meshio.Mesh(*mesh).write(tmp_path / "dust.ply")
    with pytest.raises(LimpetError, match=f"{count} separate parts"):
        check_file(tmp_path / "dust.ply", "mm")
