"""Particles without forces of their own: the rows of the model hold them together."""

from __future__ import annotations

import numpy as np

from limpet.particles.body import ParticleBody

Array = np.ndarray


class PointMasses(ParticleBody):
    """Nodes for `ParticleModel.add_springs`, edges and bending: any time step is stable."""

    def _internal_velocities(self, h: float, v: Array) -> Array:
        return v
