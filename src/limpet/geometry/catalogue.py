"""The shapes a user can ask for: `limpet.shapes`."""

from limpet.geometry.bricks import cantilever, hinge, spine
from limpet.geometry.cup import PROFILES, CupProfile, cup
from limpet.geometry.shapes import RigidShape, SoftShape, box, soft_box
from limpet.geometry.solids import bunny, quadruped, serpent, torus
from limpet.geometry.suckers import SUCKERS, Sucker, sucker
from limpet.geometry.tetrahedra import fill, solid

__all__ = [
    "PROFILES",
    "SUCKERS",
    "CupProfile",
    "RigidShape",
    "SoftShape",
    "Sucker",
    "box",
    "bunny",
    "cantilever",
    "cup",
    "fill",
    "hinge",
    "quadruped",
    "serpent",
    "soft_box",
    "solid",
    "spine",
    "sucker",
    "torus",
]
