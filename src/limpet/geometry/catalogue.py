"""The shapes a user can ask for: `limpet.shapes`."""

from limpet.geometry.bricks import cantilever, hinge, spine
from limpet.geometry.cup import PROFILES, CupProfile, cup
from limpet.geometry.curved import (
    cropped_cylinder,
    plate_with_groove,
    plate_with_hole,
    rod,
    trough,
)
from limpet.geometry.shapes import RigidShape, SoftShape, box, soft_box
from limpet.geometry.solids import bunny, quadruped, serpent, torus
from limpet.geometry.tetrahedra import fill, solid

__all__ = [
    "PROFILES",
    "CupProfile",
    "RigidShape",
    "SoftShape",
    "box",
    "bunny",
    "cantilever",
    "cropped_cylinder",
    "cup",
    "fill",
    "hinge",
    "plate_with_groove",
    "plate_with_hole",
    "quadruped",
    "rod",
    "serpent",
    "soft_box",
    "solid",
    "spine",
    "torus",
    "trough",
]
