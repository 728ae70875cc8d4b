"""The shapes a user can ask for: `limpet.shapes`."""

from limpet.geometry.cup import PROFILES, CupProfile, cup
from limpet.geometry.shapes import RigidShape, SoftShape, box, soft_box

__all__ = ["PROFILES", "CupProfile", "RigidShape", "SoftShape", "box", "cup", "soft_box"]
