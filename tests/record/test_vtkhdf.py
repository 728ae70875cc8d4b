"""frames.vtkhdf, as VTK's own reader sees it."""

from __future__ import annotations

import shutil

import h5py
import numpy as np
import pytest

from limpet.errors import LimpetError
from limpet.record.run import record_run
from limpet.record.run_folder import Recorder
from limpet.record.vtkhdf import FrameWriter
from limpet.report import SectionFrame
from limpet.scenes.registry import load

vtk = pytest.importorskip("vtk")
numpy_support = pytest.importorskip("vtk.util.numpy_support")

TRIANGLE = np.array([[0, 1, 2]])


class Reader:
    def __init__(self, path):
        self.reader = vtk.vtkHDFReader()
        self.reader.SetFileName(str(path))
        self.reader.UpdateInformation()
        times = vtk.vtkStreamingDemandDrivenPipeline.TIME_STEPS()
        self.times = list(self.reader.GetOutputInformation(0).Get(times) or [])

    def at(self, time):
        """name -> polydata."""
        self.reader.UpdateTimeStep(time)
        out = self.reader.GetOutput()
        name = vtk.vtkCompositeDataSet.NAME()
        count = out.GetNumberOfBlocks()
        return {out.GetMetaData(i).Get(name): out.GetBlock(i) for i in range(count)}


def points(part):
    n = part.GetNumberOfPoints()
    return numpy_support.vtk_to_numpy(part.GetPoints().GetData()) if n else np.zeros((0, 3))


def triangles(part):
    return numpy_support.vtk_to_numpy(part.GetPolys().GetConnectivityArray()).reshape(-1, 3)


def point_data(part, name):
    return numpy_support.vtk_to_numpy(part.GetPointData().GetArray(name))


def frame(time, cup, contacts=0, cavities=()):
    rng = np.random.default_rng(int(10 * time))
    table = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])
    where, force = rng.random((2, contacts, 3))
    return SectionFrame(
        label="frames", time=time,
        bodies=[("cup", cup, TRIANGLE), ("a/b", table, TRIANGLE)],
        contacts=where, forces=force, cavity_points=np.zeros((0, 3)),
        cavity_triangles=np.zeros((0, 3), int), pressure=1e5, cavities=cavities,
    )  # fmt: skip


@pytest.fixture
def frames():
    """Contacts and cavities that come, change in number, and go."""
    rng = np.random.default_rng(1)

    def cavity(n, pressure):
        x = rng.random((n, 3))
        return (
            x,
            np.stack([np.arange(n), np.roll(np.arange(n), 1), np.roll(np.arange(n), 2)], 1),
            pressure,
        )

    first = np.eye(3)
    return [
        frame(0.0, first),
        frame(0.1, first + 0.1, 4, (cavity(5, 8e4),)),
        frame(0.2, first + 0.2, 7, (cavity(4, 7e4), cavity(6, 6e4))),
        frame(0.3, first + 0.2, 0, (cavity(8, 5e4),)),
        frame(0.4, first + 0.3, 2),
    ]  # fmt: skip


def same(parts, given):
    (_, cup, _), (_, table, _) = given.bodies
    assert list(parts) == ["cup", "a_b", "contacts", "cavities"]
    assert np.array_equal(points(parts["cup"]), cup)
    assert np.array_equal(points(parts["a_b"]), table)
    assert np.array_equal(triangles(parts["cup"]), TRIANGLE)
    moved = point_data(parts["cup"], "displacement")
    assert moved == pytest.approx(cup - np.eye(3), abs=1e-7)
    assert not np.any(point_data(parts["a_b"], "displacement"))
    assert np.array_equal(points(parts["contacts"]), given.contacts)
    assert parts["contacts"].GetNumberOfVerts() == len(given.contacts)
    if len(given.contacts):
        assert np.array_equal(point_data(parts["contacts"], "force"), given.forces)
    air = parts["cavities"]
    if not given.cavities:
        assert air.GetNumberOfPoints() == air.GetNumberOfCells() == 0
        return
    assert np.array_equal(points(air), np.concatenate([x for x, _, _ in given.cavities]))
    starts = np.cumsum([0] + [len(x) for x, _, _ in given.cavities])
    corners = np.concatenate([t + s for (_, t, _), s in zip(given.cavities, starts)])
    assert np.array_equal(triangles(air), corners)
    pressure = numpy_support.vtk_to_numpy(air.GetCellData().GetArray("pressure"))
    assert np.array_equal(pressure, np.repeat([p for *_, p in given.cavities],
                                              [len(t) for _, t, _ in given.cavities]))  # fmt: skip


def test_every_frame_is_read_back_in_any_order(frames, tmp_path):
    path = tmp_path / "frames.vtkhdf"
    writer = FrameWriter(path)
    for moment in frames:
        writer.add(moment)
    writer.close()
    reader = Reader(path)
    assert reader.times == [0.0, 0.1, 0.2, 0.3, 0.4]
    for k in (0, 1, 2, 3, 4, 2, 0, 4):
        same(reader.at(reader.times[k]), frames[k])


def test_a_body_that_stands_still_is_written_once(frames, tmp_path):
    writer = FrameWriter(tmp_path / "frames.vtkhdf")
    for moment in frames:
        writer.add(moment)
    writer.close()
    with h5py.File(tmp_path / "frames.vtkhdf") as file:
        assert file["VTKHDF/a_b/Points"].shape == (3, 3)
        assert file["VTKHDF/cup/Points"].shape == (4 * 3, 3)  # it rests from 0.2 to 0.3 s


def test_a_run_that_is_killed_keeps_its_frames(frames, tmp_path):
    """What was written can be read, though nobody has closed the file."""
    path = tmp_path / "frames.vtkhdf"
    writer = FrameWriter(path)
    for k, moment in enumerate(frames):
        writer.add(moment)
        writer.write()
        copy = tmp_path / f"after{k}.vtkhdf"
        shutil.copy(path, copy)
        if k:  # VTK gives a single frame no time
            reader = Reader(copy)
            assert reader.times == [m.time for m in frames[: k + 1]]
            same(reader.at(moment.time), moment)
    writer.close()


def test_names_that_vtk_could_not_take(tmp_path):
    x = np.eye(3)
    bodies = [(name, x, TRIANGLE) for name in ("contacts", "a b", "a/b", "1", "Tasse ä")]
    select_frames = [frame(t, x) for t in (0.0, 1.0)]
    writer = FrameWriter(tmp_path / "f.vtkhdf")
    for moment in select_frames:
        writer.add(SectionFrame(**{**vars(moment), "bodies": bodies}))
    writer.close()
    parts = Reader(tmp_path / "f.vtkhdf").at(1.0)
    assert list(parts) == ["contacts_2", "a_b", "a_b_2", "_1", "Tasse__", "contacts", "cavities"]
    assert all(np.array_equal(points(part), x) for part in list(parts.values())[:5])


def test_a_file_that_cannot_be_written(tmp_path):
    with pytest.raises(LimpetError, match=r"'.*none/f.vtkhdf': cannot be written"):
        FrameWriter(tmp_path / "none" / "f.vtkhdf").close()


def test_the_frames_of_a_run_of_the_ground_scene(tmp_path):
    scene = load("ground", {"duration": "0.3 s", "push_time": "0.1 s", "hold": "0.1 s"})
    simulation = scene.simulation()
    recorder = Recorder(tmp_path / "run", scene, simulation)
    for report in simulation.run(scene.duration):
        recorder.add(report)
    recorder.finish()
    reader = Reader(tmp_path / "run" / "frames.vtkhdf")
    frames = recorder.frames[:-1]  # the last is the end, which was filmed already
    assert reader.times == [f.time for f in frames]
    assert any(f.cavities for f in frames) and any(len(f.contacts) for f in frames)
    for moment in (frames[0], frames[len(frames) // 2], frames[-1]):
        parts = reader.at(moment.time)
        assert list(parts) == ["cup", "block", "contacts", "cavities"]
        for name, x, t in moment.bodies:
            assert np.array_equal(points(parts[name]), x)
            assert np.array_equal(triangles(parts[name]), t)
        assert np.array_equal(points(parts["contacts"]), moment.contacts)
        for x, t, _ in moment.cavities:
            assert np.array_equal(points(parts["cavities"]), x)
            assert np.array_equal(triangles(parts["cavities"]), t)


def test_a_run_without_frames(kit, toy_scene, story, tmp_path):
    record_run(toy_scene, kit.simulation(story), tmp_path / "a", plots=False, frames=False)
    assert not (tmp_path / "a" / "frames.vtkhdf").exists()
    record_run(toy_scene, kit.simulation(story), tmp_path / "b", plots=False)
    assert (tmp_path / "b" / "frames.vtkhdf").exists()
    record_run(
        toy_scene, kit.simulation(story), tmp_path / "b", plots=False, frames=False, force=True
    )
    assert not (tmp_path / "b" / "frames.vtkhdf").exists()  # it showed the run before
