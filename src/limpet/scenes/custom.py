"""Custom shapes of a scene file: a cup, and a block from a mesh file."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from limpet.errors import LimpetError, suggest
from limpet.geometry.shape import RigidShape, SoftShape
from limpet.meshing.dxf import outline_from_dxf
from limpet.meshing.files import load_mesh
from limpet.meshing.section.outline import Corner, Part
from limpet.scenes.registry import SceneParameters
from limpet.shapes.cups import PROFILES, CupProfile, cup
from limpet.shapes.custom_cup import cup_from_lines, cup_from_mesh
from limpet.shapes.section import cup_from_section
from limpet.units import Length, NotNegative, Positive

Unit = Literal["mm", "cm", "m", "in"]
Up = Literal["z", "-z", "y", "-y", "x", "-x"]
# A path; in scene files, `mesh` and `..._mesh` are relative to the file.
MeshFile = Annotated[str, AfterValidator(lambda path: str(Path(path).absolute()))]
Points = list[tuple[Length, Length]]
Lengths = Annotated[list[Length], BeforeValidator(lambda x: x if isinstance(x, list) else [x])]

MESH_NODES = 1000  # default of a cup from a file
KINDS = {
    "mesh": ("mesh", "unit", "nodes", "up", "top", "revolve"),
    "inner": ("inner", "outer", "thickness", "handle", "nodes"),
    "dxf": ("dxf", "unit", "parts", "straight", "nodes"),
    "section": ("section", "parts", "straight", "nodes"),
    "like": ("like", "nodes", *(f.name for f in fields(CupProfile) if f.name != "name")),
}


class SectionCorner(BaseModel):
    """A corner of a section, and the edge from it to the next one; in short [r, z]."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    r: Length = Field(description="distance from the axis")
    z: Length = Field(description="height")
    fillet: NotNegative[Length] = Field(0.0, description="radius that rounds the corner")
    through: tuple[Length, Length] | None = Field(None, description="[r, z] on the edge, an arc")
    edge: str | None = Field(None, description="name of the edge, as held, port or lip")

    @model_validator(mode="before")
    @classmethod
    def _in_short(cls, value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            if len(value) != 2:
                raise ValueError(f"corner {value!r}: expected [r, z], or a table with r and z")
            return {"r": value[0], "z": value[1]}
        return value

    def corner(self) -> Corner:
        return Corner(self.r, self.z, self.fillet, self.through, self.edge)


class SectionPart(BaseModel):
    """A part of a section with a stiffness of its own."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    name: str = Field(description="name of the part, which is a region")
    outline: list[SectionCorner] = Field(description="corners of its closed outline")
    stiffness: float = Field(1.0, gt=0.0, description="Young's modulus over that of the cup")

    def part(self) -> Part:
        return Part([c.corner() for c in self.outline], self.name, self.stiffness)


class CustomCup(BaseModel):
    """A cup from a file, from its half section, from lines of that, or by its dimensions."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    nodes: int | None = Field(None, gt=0, description="approximate number of mesh nodes")

    mesh: MeshFile | None = Field(None, description="STL, OBJ, PLY, ... or STEP file of the solid")
    unit: Unit | None = Field(None, description="length unit of the file; STEP has its own")
    up: Up = Field("z", description="direction in the file from lip to top")
    revolve: bool = Field(True, description="whether a body of revolution is meshed as such")
    top: Positive[Length] | None = Field(None, description="height of the gripped part")

    inner: Points | None = Field(None, description="[r, z] of the inner face, from axis to lip")
    outer: Points | None = Field(None, description="[r, z] of the outer face, as many points")
    thickness: Lengths | None = Field(None, description="wall thickness, instead of outer")
    handle: Positive[Length] | None = Field(None, description="radius of the gripped part on top")

    section: list[SectionCorner] | None = Field(
        None, description="corners [r, z] of the closed half section"
    )
    dxf: MeshFile | None = Field(None, description="DXF drawing of the half section, x is r")
    parts: list[SectionPart] = Field([], description="parts of other stiffness over the section")

    straight: Lengths = Field(
        [0.0], description="straight sides of an oval, or of a rounded rectangle along x and y"
    )

    like: str | None = Field(None, description="profile that provides the defaults")
    radius: Positive[Length] | None = Field(None, description="radius of the lip")
    depth: Positive[Length] | None = Field(None, description="depth of the dome on the axis")
    height: Positive[Length] | None = Field(None, description="height from lip to top of the stem")
    stem_radius: Positive[Length] | None = Field(None, description="radius of the stem")
    hub_thickness: Positive[Length] | None = Field(None, description="wall thickness at the stem")
    lip_thickness: Positive[Length] | None = Field(None, description="wall thickness at the lip")
    dome: float | None = Field(None, ge=1.0, description="exponent of the dome: 1 cone, 2 parabola")

    @property
    def kind(self) -> str:
        return next(
            (k for k in ("mesh", "dxf", "section", "inner") if getattr(self, k) is not None), "like"
        )

    @model_validator(mode="after")
    def _of_one_kind(self) -> CustomCup:
        own = KINDS[self.kind]
        given = self.model_fields_set - {"nodes"}
        if not given:
            raise ValueError(
                "cup: is empty; expected mesh, section, inner, or dimensions such as radius"
            )
        usual = {name: info.default for name, info in CustomCup.model_fields.items()}
        if others := sorted(n for n in given - set(own) if getattr(self, n) != usual[n]):
            raise ValueError(
                f"cup.{others[0]}: not valid for a cup by {self.kind}, which takes {', '.join(own)}"
            )
        if self.kind == "inner" and (self.outer is None) == (self.thickness is None):
            raise ValueError("cup.inner: expected either cup.thickness or cup.outer as well")
        if self.like is not None and self.like not in PROFILES:
            raise ValueError(f"cup.like = '{self.like}'{suggest(self.like, PROFILES)}")
        return self

    def shape(
        self, nodes: int, element: str | None, sectors: int | None, segments: int | None
    ) -> SoftShape:
        """The shape; `nodes` is the default for a cup of revolution."""
        if self.kind == "mesh":
            assert self.mesh is not None
            if element is not None or sectors is not None or segments is not None:
                raise LimpetError(
                    "element, sectors, segments: not valid for a cup from a mesh file; "
                    "set nodes in [cup]"
                )
            return cup_from_mesh(
                self.mesh,
                self.unit,
                self.nodes or MESH_NODES,
                up=self.up,
                top=self.top,
                revolve=self.revolve,
            )
        if self.section is not None or self.dxf is not None:
            if segments is not None:
                raise LimpetError(
                    "segments: not valid for a cup by its section; set nodes in [cup]"
                )
            whole = Part(
                [c.corner() for c in self.section]
                if self.section is not None
                else outline_from_dxf(str(self.dxf), self.unit)
            )
            return cup_from_section(
                [whole, *(part.part() for part in self.parts)], nodes=self.nodes, sectors=sectors,
                element=element, straight=self.straight,
            )  # fmt: skip
        # two lines are meshed as a section, which may need more than the scene's number of nodes
        usual = self.nodes if self.outer is not None else self.nodes or nodes
        size: dict[str, Any] = {"nodes": usual, "element": element}
        size |= {"sectors": sectors, "segments": segments}
        if self.inner is not None:
            thick = self.thickness
            return cup_from_lines(
                self.inner, outer=self.outer, handle=self.handle, **size,
                thickness=thick[0] if thick is not None and len(thick) == 1 else thick,
            )  # fmt: skip
        given = {name: getattr(self, name) for name in KINDS["like"][2:]}
        numbers = {name: value for name, value in given.items() if value is not None}
        return cup(replace(PROFILES[self.like or "standard"], name="own", **numbers), **size)


def refuse_custom_cup(value: CustomCup | None) -> CustomCup | None:
    """Validator of scenes with a fixed cup."""
    if value is not None:
        raise ValueError("not valid here; only the scenes ground and lift take a custom cup")
    return value


class BlockParameters(SceneParameters):
    """A block from a mesh file instead of a box."""

    block_mesh: MeshFile | None = Field(None, description="mesh or STEP file of the block")
    block_unit: Unit | None = Field(None, description="length unit of that file")

    @model_validator(mode="after")
    def _unit_of_a_mesh(self) -> BlockParameters:
        if self.block_unit is not None and self.block_mesh is None:
            raise ValueError(f"block_unit = '{self.block_unit}': there is no block_mesh; remove it")
        return self

    def block_from_file(self) -> RigidShape | None:
        """The block from block_mesh, centred on the axis with its highest point at z = 0."""
        if self.block_mesh is None:
            return None
        shape = load_mesh(self.block_mesh, self.block_unit, name="block")
        low, high = shape.points.min(axis=0), shape.points.max(axis=0)
        return replace(shape, points=shape.points - [*(0.5 * (low + high))[:2], high[2]])
