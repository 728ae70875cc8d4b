"""How a step is computed; the physics stands in the World."""

from __future__ import annotations

from dataclasses import dataclass, field

from limpet.cavity.mesh import CavityFaces
from limpet.cavity.seal.boundary import SealBoundary, SealBoundaryModel, seal_boundary_model
from limpet.cavity.seal.leaky import LeakySeal, seal_model
from limpet.cavity.search import Finder
from limpet.dynamics.relinearisation import Relinearisation
from limpet.errors import LimpetError, require_positive, suggest
from limpet.solver.gauss_seidel import GaussSeidelSettings
from limpet.solver.newton import NewtonSettings

MOST_STRIDE = 1000
MOST_THREADS = 256


@dataclass(frozen=True)
class Settings:
    """Distances, tolerances and models of a step; the defaults are right for nearly all."""

    sealing_distance: float = 5e-5  # [m] gaps below this are closed to air (P 4.1)
    # of a ring that is nearly closed: "binary" (P) or "leaky", or a LeakySeal with its numbers
    seal: LeakySeal | str = "binary"
    alarm: float = 1e-4  # [m] contacts count within this or 1.2 sealing distances, and a step's way
    seal_boundary: SealBoundaryModel = (
        SealBoundary.OUTER
    )  # where in the contact ring the pressure ends, or a share 0 to 1
    cavities: Finder = Finder.UNION  # how they are found: "union" (P) or "classifier" (A)
    cavity_faces: CavityFaces = (
        CavityFaces.FLAT
    )  # what bounds them: "flat" collision triangles, or "curved" element faces
    inner_region: str | None = (
        None  # region that is a cup's inner surface, for the classifier; or found
    )
    # in which a regulated vacuum is raised within each step, with new classes after each (A III-C)
    pressure_increments: int = 1
    remesh_threshold: float = (
        0.005  # remesh a cavity when its bridging triangles exceed this share (P 4.2)
    )
    search_every_step: bool = False  # look for cavities in every step, not only when triggered
    warm_start: bool = True  # start from the last step's multipliers
    keep_flat_vertices: bool = False  # contacts also in the middle of rigid flat faces: redundant
    use_all_contacts: bool = (
        False  # solve for all within the alarm distance, not those about to touch
    )
    regularisation: float = (
        1e-3  # of a contact's own compliance, added to it: redundant ones share their load
    )
    # [m] a step that ends with bodies deeper in each other, or with a node that is to move by more
    # than this yet, is an error
    max_overlap: float = 1e-3
    # Up to how many h a step may be long where nothing happens: slower motion than a fifth of the
    # sealing distance tells, no cavity that appears or ends. 10 makes a slow pull 5 times shorter.
    stride: int = 1
    # That share the work of a step on soft bodies. Results are the same to the bit with any number.
    threads: int = 1
    # how often a step is linearised
    relinearisation: Relinearisation = field(default_factory=Relinearisation)
    # how the laws are solved together
    solver: NewtonSettings | GaussSeidelSettings = field(default_factory=NewtonSettings)

    def __post_init__(self) -> None:
        object.__setattr__(self, "seal_boundary", seal_boundary_model(self.seal_boundary))
        object.__setattr__(self, "seal", seal_model(self.seal))
        if self.cavities not in list(Finder):
            raise LimpetError(f"cavities = '{self.cavities}'{suggest(str(self.cavities), Finder)}")
        object.__setattr__(self, "cavities", Finder(self.cavities))
        if self.cavity_faces not in list(CavityFaces):
            raise LimpetError(
                f"cavity_faces = '{self.cavity_faces}'"
                f"{suggest(str(self.cavity_faces), CavityFaces)}"
            )
        object.__setattr__(self, "cavity_faces", CavityFaces(self.cavity_faces))
        by_classes = self.cavities is Finder.CLASSIFIER
        if by_classes and self.seal_boundary is SealBoundary.HISTORY:
            raise LimpetError(
                "seal_boundary = 'history': only a union cuts so; leave "
                "cavities = 'classifier' out, or choose another seal_boundary"
            )
        if self.inner_region is not None and not by_classes:
            raise LimpetError(
                f"inner_region = '{self.inner_region}': only the classifier asks for it; add "
                "cavities = 'classifier', or leave it out"
            )
        if self.pressure_increments < 1:
            raise LimpetError(
                f"pressure_increments = {self.pressure_increments}: expected 1 or more"
            )
        if self.pressure_increments > 1 and not by_classes:
            raise LimpetError(
                f"pressure_increments = {self.pressure_increments}: the classes of the classifier "
                "change after each; add cavities = 'classifier', or leave it out"
            )
        if not 1 <= self.stride <= MOST_STRIDE:
            raise LimpetError(f"stride = {self.stride}: expected 1 to {MOST_STRIDE}")
        whole = isinstance(self.threads, int) and not isinstance(self.threads, bool)
        if not (whole and 1 <= self.threads <= MOST_THREADS):
            raise LimpetError(
                f"threads = {self.threads}: expected a whole number from 1 to {MOST_THREADS}, at "
                "best that of the cores"
            )
        require_positive("remesh_threshold", self.remesh_threshold)
        require_positive("sealing_distance", self.sealing_distance, " m")
        require_positive("alarm", self.alarm, " m")
        require_positive("max_overlap", self.max_overlap, " m")
        if not 0.0 <= self.regularisation < 1.0:
            raise LimpetError(
                f"regularisation = {self.regularisation:g}: expected a small number, "
                "1e-3 is the default"
            )

    @property
    def cavity_distance(self) -> float:
        """[m] a ring that is nearer to another surface encloses a cavity."""
        return self.seal.reach if isinstance(self.seal, LeakySeal) else self.sealing_distance
