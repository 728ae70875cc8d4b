"""How often the equations of a step are linearised: Newton's method on the whole step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from limpet.errors import LimpetError, require_positive


@dataclass(frozen=True)
class Relinearisation:
    """When a step is solved again with the forces of soft bodies and cavities linearised anew.

    The first linearisation is where the velocities of the last step lead. The step is solved again
    while its end, with the true forces there, would move by more than `tolerance`.
    ``Relinearisation(most=1)`` linearises once, at the start of the step (P eq 1).
    """

    tolerance: float = 5e-6  # [m] of any node
    most: int = 8  # linearisations of a step

    def __post_init__(self) -> None:
        require_positive("relinearisation tolerance", self.tolerance, " m")
        if not (self.most >= 1 and self.most == int(self.most) and np.isfinite(self.most)):
            raise LimpetError(
                f"relinearisation most = {self.most:g}: expected a whole number from 1 up"
            )


ONCE = Relinearisation(most=1)
