"""What is seen of a moment, and the frames in a run folder."""

import numpy as np
import pytest

from limpet.cavity.find.classify import (
    IN_CONTACT,
    INNER_BORDER,
    OUTER_BORDER,
    STRICTLY_INSIDE,
    STRICTLY_OUTSIDE,
)
from limpet.cavity.seal.leak_paths import vertex_areas
from limpet.errors import LimpetError
from limpet.record.frame import COLOURS, FIGURES, capture_frame, frame_header
from limpet.record.frames import FILE, FrameRecorder, Recording, read, save
from limpet.record.run import record_run
from limpet.scenes.registry import load

SMALL = {"sectors": 6, "segments": 3, "h": "20 ms", "push_time": "0.2 s", "hold": "0.1 s"}


@pytest.fixture(scope="module")
def pressed():
    """A cup that is pulled a little, its sight, and its last report."""
    simulation = load("ground", {**SMALL, "duration": "0.6 s"}).simulation()
    what = frame_header(simulation)
    report = list(simulation.run(0.6))[-1]
    return simulation, what, report


def test_contact_pressure_adds_up_to_the_force(pressed):
    simulation, what, report = pressed
    moment = capture_frame(simulation, what, report, ["pressure"])
    cup = slice(what.offset[0], what.offset[1])
    now = simulation.snapshot()
    area = vertex_areas(now.surface.triangles, now.positions)[cup]
    normal = np.einsum("ki,ki->k", now.forces, now.contacts.normal)
    assert moment.fields["pressure"][cup] @ area == pytest.approx(normal.sum(), rel=1e-5)
    assert np.isnan(moment.fields["pressure"][what.offset[1] :]).all()  # the block is rigid
    assert len(moment.contact_points) == report.active_contacts


def test_displacement_gap_stress_and_figures(pressed):
    simulation, what, report = pressed
    moment = capture_frame(simulation, what, report, COLOURS)
    moved = np.linalg.norm(moment.positions - what.rest, axis=1)
    assert moment.fields["displacement"] == pytest.approx(moved, abs=1e-7)
    gap = moment.fields["gap"]
    assert np.nanmin(gap) < 1e-6 and np.nanmax(gap) <= what.reach
    assert np.isnan(gap).sum() > len(gap) // 2
    assert np.nanmax(moment.fields["stress"]) > 1e4
    figures = dict(zip(FIGURES, moment.figures))
    assert figures["pressure"] == report.cavities[0].pressure < 1e5
    assert figures["reaction"] == pytest.approx(report.reactions["cup"][2])
    assert [a.pressure for a in moment.cavities] == [report.cavities[0].pressure]


def test_classes_are_those_of_the_contact_ring(pressed):
    simulation, what, report = pressed
    moment = capture_frame(simulation, what, report, ["class", "gap"])
    cup = slice(what.offset[0], what.offset[1])
    own, gap = moment.fields["class"][cup], moment.fields["gap"][cup]
    (cavity,) = simulation.snapshot().cavities
    closed = gap < simulation.settings.sealing_distance
    touches = (own == IN_CONTACT) | (own == INNER_BORDER) | (own == OUTER_BORDER)
    assert np.array_equal(touches, closed)
    interior = cavity.mesh.interior
    assert set(np.flatnonzero(own == STRICTLY_INSIDE)) == set(interior[~closed[interior]])
    assert (own[moment.positions[cup, 2] > 5e-3] == STRICTLY_OUTSIDE).all()  # the stem
    assert ((own >= IN_CONTACT) & (own <= OUTER_BORDER)).all()
    assert np.isnan(moment.fields["class"][what.offset[1] :]).all()  # the block is rigid
    assert len(COLOURS["class"].classes) == 5


def test_looking_changes_nothing():
    runs = []
    for looks in (False, True):
        simulation = load("ground", {**SMALL, "duration": "0.3 s"}).simulation()
        what = frame_header(simulation) if looks else None
        for report in simulation.run(0.3):
            if looks:
                capture_frame(simulation, what, report, COLOURS)
        runs.append(simulation.snapshot().positions)
    assert np.array_equal(*runs)


def test_a_run_keeps_a_film_that_reads_back(tmp_path):
    scene = load("ground", {**SMALL, "duration": "0.5 s"})
    record_run(scene, scene.simulation(), tmp_path / "run", plots=False)
    frames = read(tmp_path / "run")
    assert [m.step for m in frames.frames] == list(range(26))
    assert frames.frame_header.names == ("cup", "block") and frames.frame_header.kinds == (
        "soft",
        "fixed",
    )
    assert frames.title == "ground" and "pushed" in frames.summary
    save(frames, tmp_path / "again.npz")
    again = read(tmp_path / "again.npz")
    for one, other in zip(frames.frames, again.frames):
        assert np.array_equal(one.positions, other.positions)
        assert np.array_equal(one.contact_forces, other.contact_forces)
        assert np.array_equal(one.figures, other.figures, equal_nan=True)
        assert len(one.cavities) == len(other.cavities)
        for a, b in zip(one.cavities, other.cavities):
            assert np.array_equal(a.points, b.points) and np.array_equal(a.triangles, b.triangles)
            assert a.pressure == b.pressure
        for name in COLOURS:
            assert np.array_equal(one.fields[name], other.fields[name], equal_nan=True)
    assert len(frames.frames[-1].cavities) == 1


def test_a_long_run_keeps_some_two_hundred():
    simulation = load("ground", {**SMALL, "duration": "0.4 s"}).simulation()
    recorder = FrameRecorder(simulation, "", "", 1000)  # as if it were the start of a long one
    for report in simulation.run(0.4):
        recorder.add(report)
    assert [m.step for m in recorder.frames] == [0, 5, 10, 15, 20]
    assert isinstance(Recording("", "", frame_header(simulation), recorder.frames), Recording)


def test_what_is_no_film_is_said(tmp_path):
    with pytest.raises(LimpetError, match=f"has no {FILE}"):
        read(tmp_path)
    (tmp_path / FILE).write_bytes(b"no frames")
    with pytest.raises(LimpetError, match="is damaged"):
        read(tmp_path)
