"""The shapes a user can ask for: `limpet.shapes`."""

from limpet.geometry.shape import RigidShape, SoftShape
from limpet.geometry.slack import lip_sectors, lip_slack
from limpet.meshing.dxf import outline_from_dxf
from limpet.meshing.export import save_mesh
from limpet.meshing.files import load_mesh, load_scan, soft_mesh
from limpet.meshing.section.outline import Corner, Part
from limpet.meshing.tetrahedra import fill, solid
from limpet.meshing.voxel_embedding import fill_ratio, wrap
from limpet.shapes.beams import cantilever, hinge, spine
from limpet.shapes.boxes import box, soft_box
from limpet.shapes.cups import PROFILES, CupProfile, cup
from limpet.shapes.curved import (
    cropped_cylinder,
    plate_with_groove,
    plate_with_hole,
    rod,
    trough,
)
from limpet.shapes.custom_cup import cup_from_lines, cup_from_mesh
from limpet.shapes.jelly import half_with_hole, jelly_half, tunnel_cube
from limpet.shapes.objects import apple, can, compartment_box, drilled_plate, ring
from limpet.shapes.round_parts import capsule, cone, revolved, sphere
from limpet.shapes.section import cup_from_section
from limpet.shapes.solids import bunny, quadruped, serpent, torus
from limpet.shapes.springs import coil_spring
from limpet.shapes.suckers import SUCKERS, Sucker, sucker
from limpet.shapes.tentacles import tentacle

__all__ = [
    "PROFILES", "SUCKERS", "Corner", "CupProfile", "Part", "RigidShape", "SoftShape", "Sucker",
    "apple", "box",
    "bunny", "can", "cantilever", "capsule", "coil_spring", "compartment_box", "cone",
    "cropped_cylinder", "cup", "cup_from_lines", "cup_from_mesh", "cup_from_section",
    "drilled_plate", "fill",
    "fill_ratio", "half_with_hole", "hinge", "jelly_half", "lip_sectors", "lip_slack", "load_mesh",
    "load_scan", "outline_from_dxf", "plate_with_groove", "plate_with_hole", "quadruped",
    "revolved", "ring", "rod",
    "save_mesh", "serpent", "soft_box", "soft_mesh", "solid", "sphere", "spine", "sucker",
    "tentacle", "torus", "trough", "tunnel_cube", "wrap",
]  # fmt: skip
