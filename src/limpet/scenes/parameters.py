"""The parameters that every scene has."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from limpet.units import Length, Time, show

MOST_STEPS = 1e9  # of a run


class RunParameters(BaseModel):
    """The time step and the end of a run. Unknown keys are refused."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, validate_default=True
    )

    h: Time = 0.01
    duration: Time

    # A validator, because a scene declares `duration` again with its own default.
    @field_validator("h", "duration")
    @classmethod
    def _above_zero(cls, value: float) -> float:
        if value <= 0.0:
            raise ValueError("expected a time above 0 (s, ms)")
        return value

    @model_validator(mode="after")
    def _at_least_one_step(self) -> RunParameters:
        if self.duration < self.h:
            raise ValueError(
                f"duration = {show(self.duration, 's')}: expected at least one step, "
                f"h = {show(self.h, 's')}"
            )
        if self.duration > MOST_STEPS * self.h:
            raise ValueError(
                f"h = {show(self.h, 's')}: expected at most {MOST_STEPS:g} steps in duration = "
                f"{show(self.duration, 's')}"
            )
        return self


class SceneParameters(RunParameters):
    """The parameters of every scene of the catalogue; a scene adds its own."""

    stride: int = Field(
        1, ge=1, le=1000, description="steps may be up to so many h long if little happens"
    )
    threads: int = Field(1, ge=1, le=256, description="threads that share the work of a step")
    sealing_distance: Length = Field(5e-5, gt=0.0, description="gaps below this are airtight")
    seal: str = Field("binary", description="binary, or leaky: air flows through the gap")
    reach: Length = Field(3e-4, gt=0.0, description="leaky: a ring within this has a cavity")
    roughness: Length = Field(0.0, ge=0.0, description="leaky: rms; 0 is tight where it touches")
    wavelength: Length = Field(1e-3, gt=0.0, description="leaky: longest of the roughness")
    seal_boundary: str = Field("outer", description="where in the contact ring the pressure drops")
    cavities: str = Field("union", description="how cavities are found: union or classifier")
    cavity_faces: str = Field("flat", description="what bounds cavities: flat or curved faces")
