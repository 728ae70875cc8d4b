"""What a step says about itself: small frozen records, arrays and numbers in SI units.

They stand below every room: the simulation fills them, the run folder, bench and viewer read them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

Array = np.ndarray
Place = tuple[float, float, float]  # [m]
NOWHERE: Place = (np.nan, np.nan, np.nan)
SLIVER = 1e-12  # [mol] of air, 0.02 mm^3 of it outside: with less, a cavity has no pressure to tell


@dataclass(frozen=True)
class CavityReport:
    """One volume of trapped air at the end of a step."""

    id: int  # the same from step to step
    pressure: float  # [Pa] absolute
    volume: float  # [m^3]
    air: float  # [mol]
    vented: float  # [mol] let out in this step because P reached P_max (P eq 13)
    leaked: float  # [mol] let in during this step (P eq 15); negative if pumped or seeped out
    gas_residual: float  # |P V^k - K| / K, |P V - n R T| / (n R T) at constant temperature
    seal_gap: float  # [m] largest over leak paths of the smallest gap along the path
    # What follows is known for cavities of a simulation; the defaults say nothing.
    margin: float = np.inf  # [m] sealing distance - seal_gap: how much wider before it opens
    bottleneck: Place = NOWHERE  # [m] where the best leak path is narrowest: there it will open
    temperature: float = 293.15  # [K]
    stored: float = 0.0  # [mol] of its air that is in a chamber above (AirExchange.chamber)
    p_max: float = float("inf")  # [Pa] at which air leaves
    # [Pa] least over leak paths of the largest contact traction; 0 where no limit or leak asks
    seal_traction: float = 0.0
    area: float = 0.0  # [m^2] that the pressure acts on, projected: of the bodies that carry a ring
    bodies: tuple[str, ...] = ()  # that enclose it
    wall_overlap: float = 0.0  # [m] of walls that meet, on average: where no volume is left
    # of a leaky seal, else 0: what the gap round the ring lets in, part of `leaked`
    gap_flow: float = 0.0  # [mol/s]
    gap_conductance: float = 0.0  # [mol/(s Pa)] gap_flow / (P_atm - P)


@dataclass(frozen=True)
class CupReport:
    """A soft body that a prescribed motion or an attachment holds, at the end of a step."""

    force: Array  # (3,) [N] that holds it, world axes
    pressure: float | None  # [Pa] the lowest in cavities that it encloses; None: it traps no air


@dataclass(frozen=True)
class VacuumSensorReport:
    """What the sensor in a vacuum line reads at the end of a step."""

    vacuum: float  # [Pa] below the atmosphere, in the line
    # [m^3/s] of air as it is in the atmosphere, that the source takes; None where an ideal
    # regulator meets an open cup: it would take any amount
    flow: float | None
    sealed: bool  # the cup's cavity is closed
    present: bool  # a part: the vacuum has reached the switching point


@dataclass(frozen=True)
class PatchReport:
    """Two bodies that touch by their pressure fields, at the end of a step."""

    bodies: tuple[str, str]
    force: tuple[float, float, float]  # [N] on the first, friction included
    area: float  # [m^2] of the surface of equal pressure
    largest: float  # [Pa] pressure there
    polygons: int = 0  # that it consists of: below some thirty, the mesh of the field is coarse


@dataclass(frozen=True)
class ParticleReport:
    """The particle bodies at the end of a step."""

    stretch: float  # |l/L - 1| of the worst inextensible edge
    inverted: int  # tetrahedra that are inside out
    kinetic: float  # [J] with the rigid bodies among them
    fallen: float  # [J] given by gravity since the start
    work: float  # [J] of prescribed motions, applied forces and other bodies since the start
    elastic: float | None  # [J] of springs and elements; None: taken every tenth step only


@dataclass(frozen=True)
class StepReport:
    """One step: time by phase, how well it was solved, cavities, contacts, drive wrenches."""

    step: int  # from 1
    time: float  # [s] at the end of the step
    phases: dict[str, float]  # [s] free, collision, cavities, compliance, solve, correct
    rows: int  # that were solved: three a contact, one a cavity
    contacts: int  # that were solved for
    active_contacts: int  # of these, that carry a force
    residual: float  # how far the laws are from holding at worst, without units
    # the residual is below the solver's tolerance, and `relinearisation_residual` below 10 times
    # that of Settings.relinearisation (a tenth of it for bodies without damping)
    converged: bool
    iterations: int  # of Newton's method
    sweeps: int  # of Gauss-Seidel
    max_penetration: float  # [m] >= 0
    cavities: tuple[CavityReport, ...]  # all trapped air
    reactions: dict[str, Array]  # name -> (6,) force [N] and moment [N m] on the body, world axes
    momentum_residual: float | None  # [N] momentum against forces, at worst; None: it was not taken
    air_error: float  # relative, in moles
    remeshed: bool  # a cavity was meshed anew
    cups: dict[str, CupReport] = field(default_factory=dict)  # by name: soft bodies that are held
    probes: dict[str, float] = field(default_factory=dict)  # [m] places; volumes as share of rest
    vacuum_sensors: dict[str, VacuumSensorReport] = field(
        default_factory=dict
    )  # by the body on the line
    patches: tuple[PatchReport, ...] = ()  # of pressure fields that overlap
    particles: ParticleReport | None = None  # None: there are no particle bodies
    crossings: int = 0  # edges through triangles, of sheets that collide with sheets
    # [m] by which a node of a soft body would yet move with the true forces at the end of the step,
    # at most; zero for bodies that are linearised once
    relinearisation_residual: float = 0.0


@dataclass(frozen=True)
class SectionFrame:
    """The surfaces, contact forces and cavities of one moment: what pictures are drawn from."""

    label: str  # a name for the moment
    time: float  # [s]
    bodies: list[tuple[str, Array, Array]]  # name, points (n, 3) [m], triangles (m, 3)
    contacts: Array  # (k, 3) [m] contact points
    forces: Array  # (k, 3) [N] on the first body of each contact, the soft one if there is one
    cavity_points: Array  # (c, 3) [m], empty when there is no cavity
    cavity_triangles: Array  # (d, 3)
    pressure: float  # [Pa] absolute, in that cavity
    cavities: tuple[tuple[Array, Array, float], ...] = ()  # all: points, triangles, pressure
    soft: frozenset[str] = frozenset()  # names of the soft bodies
    fixed: frozenset[str] = frozenset()  # names of the fixed ones
    # surfaces on which pressure fields meet: points, their pressure [Pa], triangles; None where no
    # two bodies touch by fields
    patches: tuple[Array, Array, Array] | None = None
    whole: bool = False  # there is nothing inside to be seen
