"""Hand-made steps: a cup that is pushed, pulled to a peak, and lets go, in ten steps of 0.1 s."""

from dataclasses import dataclass, field, replace
from types import SimpleNamespace

import numpy as np
import pytest

from limpet.clock import PHASES
from limpet.report import CavityReport, CupReport, SectionFrame, StepReport
from limpet.scenes.registry import Scene, SceneParameters
from limpet.units import Length, Pressure, Time

FORCE = (-5.0, -20.0, -20.0, -8.0, 10.0, 30.0, 50.0, 40.0, 0.2, 0.2)  # [N]
PRESSURE = (None, 101e3, 101e3, 90e3, 70e3, 50e3, 35e3, 30e3, None, None)  # [Pa]
VOLUME = (None, 500e-9, 80e-9, 90e-9, 200e-9, 300e-9, 400e-9, 20e-9, None, None)  # [m^3]


def make_report(step=1, *, force=0.0, pressure=None, volume=None, ms=1.0, **changes):
    cavities = ()
    if pressure is not None:
        cavities = (
            CavityReport(
                id=7,
                pressure=pressure,
                volume=volume,
                air=pressure * volume / (8.314 * 293.15),
                vented=0.0,
                leaked=0.0,
                gas_residual=1e-12,
                seal_gap=2e-6,
            ),
        )
    report = StepReport(
        step=step,
        time=0.1 * step,
        phases=dict.fromkeys(PHASES, 1e-3 * ms),
        rows=120,
        contacts=40,
        active_contacts=20,
        residual=1e-11,
        converged=True,
        iterations=3,
        sweeps=10,
        max_penetration=1e-6,
        cavities=cavities,
        reactions={"top": np.array([0.0, 0.0, force, 0.0, 0.0, 0.0])},
        cups={"cup": CupReport(np.array([0.0, 0.0, force]), pressure)},
        momentum_residual=1e-9,
        air_error=1e-13,
        remeshed=False,
    )
    return replace(report, **changes)


def make_story():
    return [
        make_report(k + 1, force=f, pressure=p, volume=v)
        for k, (f, p, v) in enumerate(zip(FORCE, PRESSURE, VOLUME))
    ]


def revolve(profile, sectors=8):
    """A closed profile (r, z) turned round the z axis: points (n, 3), triangles (m, 3)."""
    angle = 2 * np.pi * np.arange(sectors) / sectors
    r, z = np.asarray(profile).T
    points = np.stack(
        [np.outer(np.cos(angle), r), np.outer(np.sin(angle), r), np.tile(z, (sectors, 1))], axis=2
    ).reshape(-1, 3)
    k = len(r)
    triangles = []
    for a in range(sectors):
        here, there = a * k, (a + 1) % sectors * k
        for i in range(k):
            j = (i + 1) % k
            triangles += [
                (here + i, there + i, there + j),
                (here + i, there + j, here + j),
            ]
    return points, np.array(triangles)


def make_frame(label="rest", time=0.0, *, sealed=False):
    ring = revolve([(0.010, 0.0), (0.017, 0.0), (0.017, 0.004), (0.010, 0.004)])
    wide = revolve([(0.001, -0.01), (0.030, -0.01), (0.030, 0.0), (0.001, 0.0)])
    air = revolve([(0.001, 0.0), (0.010, 0.0), (0.010, 0.003), (0.001, 0.003)])
    angle = 2 * np.pi * np.arange(16) / 16
    contacts = 0.017 * np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    forces = np.tile([0.0, 0.0, 2.0], (16, 1))
    if not sealed:
        contacts, forces = contacts[:0], forces[:0]
        air = np.zeros((0, 3)), np.zeros((0, 3), dtype=int)
    return SectionFrame(
        label, time, [("cup", *ring), ("block", *wide)], contacts, forces, *air, pressure=40e3,
        cavities=((*air, 40e3),) if sealed else (), soft=frozenset({"cup"}),
        fixed=frozenset({"block"}),
    )  # fmt: skip


@dataclass
class FakeSimulation:
    """Yields given reports; an exception among them is raised in its turn."""

    reports: list
    fem_nodes: int = 385
    collision_nodes: int = 135
    step: int = 0
    positions: np.ndarray = field(default_factory=lambda: make_frame().bodies[0][1])

    def run(self, duration):
        for report in self.reports:
            if isinstance(report, BaseException):
                raise report
            self.step = report.step
            self.positions[:] = report.step  # moves on in its own array, as a simulation may
            yield report

    def section_frame(self, label):
        frame = make_frame(label, 0.1 * self.step, sealed=self.step > 0)
        _, _, triangles = frame.bodies[0]
        frame.bodies.append(("moving", self.positions, triangles))
        return frame


class ToyParameters(SceneParameters):
    duration: Time = 1.0
    h: Time = 0.1
    young: Pressure = 4e6
    gap: Length | None = None
    stations: tuple[Length, ...] = (0.0, 0.5)
    cup: str = 'the "standard"'
    warm: bool = True


@pytest.fixture
def story():
    return make_story()


@pytest.fixture
def toy_scene():
    parameters = ToyParameters()
    return Scene(
        name="toy",
        summary="a toy",
        parameters=parameters,
        world=SimpleNamespace(
            gravity=(0.0, 0.0, -9.81),
            probe_columns=list,
            sensor_names=list,
            held_bodies=lambda: ["cup"],
        ),
        h=parameters.h,
        duration=parameters.duration,
        expect="it seals",
    )


@pytest.fixture
def kit():
    """The makers, for tests that need their own."""
    return SimpleNamespace(
        report=make_report, story=make_story, frame=make_frame, simulation=FakeSimulation
    )
