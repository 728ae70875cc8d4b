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
from limpet.geometry.export import save_mesh
from limpet.geometry.files import load_mesh, load_scan, soft_mesh
from limpet.geometry.jelly import half_with_hole, jelly_half, tunnel_cube
from limpet.geometry.objects import apple, can, compartment_box, drilled_plate, ring
from limpet.geometry.own_cup import cup_from_lines, cup_from_mesh
from limpet.geometry.shapes import RigidShape, SoftShape, box, soft_box
from limpet.geometry.solids import bunny, quadruped, serpent, torus
from limpet.geometry.suckers import SUCKERS, Sucker, sucker
from limpet.geometry.tentacle import tentacle
from limpet.geometry.tetrahedra import fill, solid
from limpet.geometry.wrapped import coil_spring, fill_ratio, wrap

__all__ = [
    "PROFILES",
    "SUCKERS",
    "CupProfile",
    "RigidShape",
    "SoftShape",
    "Sucker",
    "apple",
    "box",
    "bunny",
    "can",
    "cantilever",
    "coil_spring",
    "compartment_box",
    "cropped_cylinder",
    "cup",
    "cup_from_lines",
    "cup_from_mesh",
    "drilled_plate",
    "fill",
    "fill_ratio",
    "half_with_hole",
    "hinge",
    "jelly_half",
    "load_mesh",
    "load_scan",
    "plate_with_groove",
    "plate_with_hole",
    "quadruped",
    "ring",
    "rod",
    "save_mesh",
    "serpent",
    "soft_box",
    "soft_mesh",
    "solid",
    "spine",
    "sucker",
    "tentacle",
    "torus",
    "trough",
    "tunnel_cube",
    "wrap",
]
