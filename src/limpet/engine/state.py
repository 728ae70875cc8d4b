"""Everything that the next step depends on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from limpet.dynamics.constraint_set import Control
from limpet.dynamics.warm_start import SolverMemory
from limpet.errors import LimpetError
from limpet.model.factory import SimulationModel

Array = np.ndarray

VARYING = ("impulses/", "warm_start/")  # of particles: as many as there were contacts, or none yet


@dataclass(frozen=True)
class State:
    """Arrays and frozen records; nothing later changes them."""

    step: int  # h made so far
    h: float  # [s]
    bodies: Mapping[str, Mapping[str, Array]]  # arrays of each body, by name
    sets: Mapping[str, Mapping[str, object]]  # records of each constraint set, by name
    memory: SolverMemory  # the last multipliers, to start from
    control: Control  # applied forces, leak and vacuum set while running
    stride: int = 1  # h of the next step

    @staticmethod
    def of(
        model: SimulationModel, step: int, h: float, memory: SolverMemory, control: Control,
        stride: int = 1,
    ) -> State:  # fmt: skip
        bodies = {body.name: body.get_state() for body in model.bodies}
        sets = {constraints.name: constraints.get_state() for constraints in model.sets}
        return State(step, h, bodies, sets, memory, control, stride)

    def restore(self, model: SimulationModel, h: float) -> None:
        """Hand the arrays back to the bodies and sets of a model of the same world."""
        if self.h != h:
            raise LimpetError(f"the state was saved at h = {self.h:g} s, this runs at {h:g} s")
        names = [body.name for body in model.bodies]
        if list(self.bodies) != names:
            raise LimpetError(
                f"the state is of the bodies {', '.join(self.bodies)}; this world has "
                f"{', '.join(names)}"
            )
        for body in model.bodies:
            arrays = self.bodies[body.name]
            for key, value in body.get_state().items():
                if key.startswith(VARYING):
                    continue
                if key not in arrays or arrays[key].shape != value.shape:
                    raise LimpetError(f"the state does not fit '{body.name}': another mesh or kind")
            body.set_state(arrays)
        for constraints in model.sets:
            constraints.set_state(self.sets[constraints.name])
