"""The surfaces on which pressure fields meet, as a moment, a frames and ParaView have them."""

from __future__ import annotations

import numpy as np
import pytest

import limpet as lp
from limpet.pressure_field.surface import joined_triangles
from limpet.record.frame import capture_frame, frame_header
from limpet.record.frames import FrameRecorder, read
from limpet.record.vtkhdf import FrameWriter


def drop():
    """A ball and a box that fall a little, on one floor."""
    world = lp.World()
    floor = world.add_rigid(lp.fields.floor(0.3), 1.0, name="floor", fixed=True)
    ball = lp.fields.sphere(0.03, 1e5, edge=0.015)
    box = lp.fields.box(0.06, 0.06, 0.04, 1e5)
    for name, shape, x, z in (("ball", ball, -0.05, 0.0322), ("box", box, 0.05, 0.0202)):
        body = world.add_rigid(shape, 0.4, name=name, position=(x, 0.0, z))
        world.set_contact(body, floor, "pressure fields", 0.02)
    return lp.Simulation(world, 2e-3)


def area_and_force(points, pressure, triangles):
    """Vertical force [N] and area [m^2]: the pressure is linear over each triangle."""
    a, b, c = (points[triangles[:, k]].astype(float) for k in range(3))
    area = 0.5 * np.cross(b - a, c - a)
    return np.linalg.norm(area, axis=1).sum(), np.abs(area[:, 2]) @ pressure[triangles].mean(1)


def test_a_moment_has_all_surfaces_and_they_carry_the_force():
    simulation = drop()
    what = frame_header(simulation)
    assert len(capture_frame(simulation, what, None).patch.points) == 0
    report = list(simulation.run(1.4))[-1]
    patch = capture_frame(simulation, what, report).patch
    area, force = area_and_force(patch.points, patch.pressure, patch.triangles)
    assert area == pytest.approx(sum(p.area for p in report.patches), rel=1e-4)
    assert force == pytest.approx(2 * 0.4 * 9.81, rel=1e-4)  # both have come to rest
    assert patch.pressure.max() == pytest.approx(max(p.largest for p in report.patches), rel=1e-6)
    sides = patch.points[patch.triangles[:, 0], 0]
    assert sides.min() < -0.04 and sides.max() > 0.04  # of the ball, of the box


def test_nothing_joined_is_nothing():
    points, pressure, triangles = joined_triangles([])
    assert points.shape == triangles.shape == (0, 3) and pressure.shape == (0,)


def test_a_film_keeps_them(tmp_path):
    simulation = drop()
    recorder = FrameRecorder(simulation, "drop", "", 10)
    for report in simulation.run(0.02):
        recorder.add(report)
    recorder.save(tmp_path)
    kept = read(tmp_path).frames
    assert len(kept[0].patch.points) == 0 < len(kept[-1].patch.points)
    for one, other in zip(recorder.frames, kept, strict=True):
        for name in ("points", "pressure", "triangles"):
            assert np.array_equal(getattr(one.patch, name), getattr(other.patch, name))


def test_vtk_reads_them_with_their_pressure(tmp_path):
    vtk = pytest.importorskip("vtk")
    to_numpy = pytest.importorskip("vtk.util.numpy_support").vtk_to_numpy
    simulation, path = drop(), tmp_path / "frames.vtkhdf"
    writer, frames = FrameWriter(path), [simulation.section_frame("")]
    writer.add(frames[0])
    for _ in simulation.run(0.02):
        frames.append(simulation.section_frame(""))
        writer.add(frames[-1])
    writer.close()
    reader = vtk.vtkHDFReader()
    reader.SetFileName(str(path))
    reader.UpdateInformation()
    for frame in (frames[-1], frames[0], frames[-2]):
        reader.UpdateTimeStep(frame.time)
        out = reader.GetOutput()
        last = out.GetNumberOfBlocks() - 1
        assert out.GetMetaData(last).Get(vtk.vtkCompositeDataSet.NAME()) == "patches"
        part, (points, pressure, triangles) = out.GetBlock(last), frame.patches
        assert part.GetNumberOfPoints() == len(points)
        if len(points):
            assert np.array_equal(to_numpy(part.GetPoints().GetData()), points)
            assert np.array_equal(to_numpy(part.GetPointData().GetArray("pressure")), pressure)
            corners = to_numpy(part.GetPolys().GetConnectivityArray()).reshape(-1, 3)
            assert np.array_equal(corners, triangles)
    assert len(frames[-1].patches[0]) > 0


def test_worlds_without_fields_have_no_such_part():
    world = lp.World()
    world.add_rigid(lp.shapes.box(0.1, 0.1, 0.1), 1.0, fixed=True)
    world.add_rigid(lp.shapes.box(0.1, 0.1, 0.1), 1.0, position=(0.0, 0.0, 0.2))
    assert lp.Simulation(world, 0.01).section_frame("").patches is None
