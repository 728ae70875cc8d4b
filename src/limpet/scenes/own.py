"""What a scene file can bring along: a cup of your own, and a body from a mesh file."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from limpet.errors import LimpetError, suggest
from limpet.geometry.shape import RigidShape, SoftShape
from limpet.meshing.files import load_mesh
from limpet.scenes.registry import SceneParameters
from limpet.shapes.cups import PROFILES, CupProfile, cup
from limpet.shapes.custom_cup import cup_from_lines, cup_from_mesh
from limpet.units import Length, Positive

Unit = Literal["mm", "cm", "m", "in"]
Up = Literal["z", "-z", "y", "-y", "x", "-x"]
# A path; scene files make those of `mesh` and `..._mesh` relative to themselves.
MeshFile = Annotated[str, AfterValidator(lambda path: str(Path(path).absolute()))]
Points = list[tuple[Length, Length]]
Lengths = Annotated[list[Length], BeforeValidator(lambda x: x if isinstance(x, list) else [x])]

MESH_NODES = 1000  # of a cup from a file, if none are asked for
KINDS = {
    "mesh": ("mesh", "unit", "nodes", "up", "top"),
    "inner": ("inner", "outer", "thickness", "handle", "nodes"),
    "like": ("like", "nodes", *(f.name for f in fields(CupProfile) if f.name != "name")),
}


class OwnCup(BaseModel):
    """A cup by one of: a mesh or STEP file, lines of its half section, numbers of the usual one."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    nodes: int | None = Field(None, gt=0, description="of its mesh, about")

    mesh: MeshFile | None = Field(None, description="STL, OBJ, PLY, ... or STEP file of the solid")
    unit: Unit | None = Field(None, description="of the numbers in the file; STEP says its own")
    up: Up = Field("z", description="direction in the file from lip to top")
    top: Positive[Length] | None = Field(None, description="height of the part that is held")

    inner: Points | None = Field(None, description="[r, z] of the inner face, from axis to lip")
    outer: Points | None = Field(None, description="[r, z] of the outer face, as many points")
    thickness: Lengths | None = Field(None, description="of the wall, instead of outer")
    handle: Positive[Length] | None = Field(None, description="radius of what is held on top")

    like: str | None = Field(None, description="profile whose numbers hold where none is given")
    radius: Positive[Length] | None = Field(None, description="of the lip")
    depth: Positive[Length] | None = Field(None, description="of the dome under the axis")
    height: Positive[Length] | None = Field(None, description="from lip to top of the stem")
    stem_radius: Positive[Length] | None = Field(None, description="of the stem")
    hub_thickness: Positive[Length] | None = Field(None, description="of the wall at the stem")
    lip_thickness: Positive[Length] | None = Field(None, description="of the wall at the lip")
    dome: float | None = Field(None, ge=1.0, description="1 is a cone, 2 a parabola")

    @property
    def kind(self) -> str:
        return next((k for k in ("mesh", "inner") if getattr(self, k) is not None), "like")

    @model_validator(mode="after")
    def _of_one_kind(self) -> OwnCup:
        own = KINDS[self.kind]
        given = self.model_fields_set - {"nodes"}
        if not given:
            raise ValueError("cup: expected mesh, inner, or numbers such as radius; it is empty")
        usual = {name: info.default for name, info in OwnCup.model_fields.items()}
        if others := sorted(n for n in given - set(own) if getattr(self, n) != usual[n]):
            raise ValueError(
                f"cup.{others[0]}: a cup by {self.kind} takes none; it takes {', '.join(own)}"
            )
        if self.kind == "inner" and (self.outer is None) == (self.thickness is None):
            raise ValueError("cup.inner: expected cup.thickness or cup.outer beside it, not both")
        if self.like is not None and self.like not in PROFILES:
            raise ValueError(f"cup.like = '{self.like}'{suggest(self.like, PROFILES)}")
        return self

    def shape(
        self, nodes: int, element: str | None, sectors: int | None, segments: int | None
    ) -> SoftShape:
        """The cup; `nodes` hold for a cup of revolution that has no number of its own."""
        if self.kind == "mesh":
            assert self.mesh is not None
            if element is not None or sectors is not None or segments is not None:
                raise LimpetError(
                    "element, sectors, segments: a cup from a mesh file takes none; "
                    "say nodes in its [cup]"
                )
            return cup_from_mesh(
                self.mesh, self.unit, self.nodes or MESH_NODES, up=self.up, top=self.top
            )
        size: dict[str, Any] = {"nodes": self.nodes or nodes, "element": element}
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


class BlockParameters(SceneParameters):
    """A block from a mesh file instead of a box."""

    block_mesh: MeshFile | None = Field(None, description="mesh or STEP file of the block")
    block_unit: Unit | None = Field(None, description="of the numbers in that file")

    @model_validator(mode="after")
    def _unit_of_a_mesh(self) -> BlockParameters:
        if self.block_unit is not None and self.block_mesh is None:
            raise ValueError(
                f"block_unit = '{self.block_unit}': there is no block_mesh; leave it out"
            )
        return self

    def own_block(self) -> RigidShape | None:
        """The block of the file, its highest point at z = 0, its middle on the axis."""
        if self.block_mesh is None:
            return None
        shape = load_mesh(self.block_mesh, self.block_unit, name="block")
        low, high = shape.points.min(axis=0), shape.points.max(axis=0)
        return replace(shape, points=shape.points - [*(0.5 * (low + high))[:2], high[2]])
