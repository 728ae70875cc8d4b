"""The air balance of all nodes of the vacuum lines over a step, by implicit Euler and Newton.

With p the pressures at the end of the step, a node of the volume V with n mol of air has

    r = (V p/(R T) - n)/h + what leaves through edges + what its source takes = 0  [mol/s].

A cavity that is on a node adds its own air, (V_c p/(R T) - n_c)/h + what leaks out. All flows rise
with the pressure of the node that they leave and fall with that of the other, so the Jacobian is an
M-matrix, and Newton's method converges from anywhere with a little care.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from limpet.cavity.gas.atmosphere import Atmosphere
from limpet.cavity.gas.restrictions import FlowLaw
from limpet.cavity.gas.vacuum_line import Ejector, Pump

Array = np.ndarray

MOST_STEPS = 60  # of Newton; five to eight are usual
LEAPS = (np.inf, 1.0, 10.0, 0.1)  # of the ambient pressure, tried one after the other
HALVINGS = 12  # of a step of Newton
DECREASE = 0.3  # of r, by a full step; else it would swing about the bend of an orifice's flow
SETTLED = 1e-13  # of the ambient pressure: the last step of Newton


@dataclass(frozen=True)
class EdgeGroup:
    """Edges with one flow law."""

    law: FlowLaw
    parameters: tuple[Array, ...]  # (e,) each
    number: Array  # (e,) int of the edges
    start: Array  # (e,) int nodes
    end: Array  # (e,) int


@dataclass(frozen=True)
class CavityAir:
    """The air of cavities on nodes (c,), as far as it is known before the step is solved."""

    node: Array  # int
    volume: Array  # [m^3] at the end of the step, at the pressure `about`
    compliance: Array  # [m^3/Pa] by which the volume grows with the pressure
    about: Array  # [Pa]
    air: Array  # [mol] at the start of the step
    leak_in: Array  # [mol/s] a of what leaks: b p - a leave
    leak_slope: Array  # [mol/(s Pa)] b

    def leaving(self, p: Array, h: float, rt: float) -> tuple[Array, Array]:
        """(c,) [mol/s] what of its own air a cavity at p gives to its node, negative; its slope."""
        volume = self.volume + self.compliance * (p - self.about)
        flow = (volume * p / rt - self.air) / h + self.leak_slope * p - self.leak_in
        return flow, (volume + self.compliance * p) / (rt * h) + self.leak_slope

    @staticmethod
    def none() -> CavityAir:
        nothing = np.zeros(0)
        return CavityAir(np.zeros(0, int), *(nothing,) * 6)


@dataclass(frozen=True)
class NodeBalance:
    """The nodes of a step: all that does not depend on the pressures at its end."""

    volume: Array  # (k,) [m^3]
    air: Array  # (k,) [mol] at the start of the step
    groups: Sequence[EdgeGroup]
    sources: Sequence[tuple[int, Pump | Ejector]]  # node; those that run and whose valve is open
    n_edges: int
    around: Atmosphere
    h: float  # [s]

    def edge_flows(self, p: Array) -> tuple[Array, Array, Array]:
        """(e,) [mol/s] towards the sources, and the slopes by the pressures of both nodes."""
        flow, by_start, by_end = np.zeros((3, self.n_edges))
        for g in self.groups:
            found = g.law(p[g.start], p[g.end], *g.parameters)
            flow[g.number], by_start[g.number], by_end[g.number] = found
        return flow, by_start, by_end

    def leaving(self, p: Array, given: Array | None = None) -> tuple[Array, Array]:
        """(k,) [mol/s] r of the nodes, without cavities, and its Jacobian (k, k).

        given (e,) [mol/s]: the flow of edges for which it is known already; nan: it is not.
        """
        rt, h, k = self.around.rt, self.h, len(p)
        r = (self.volume * p / rt - self.air) / h
        jacobian = np.diag(self.volume / (rt * h))
        flow, by_start, by_end = self.edge_flows(p)
        if given is not None:
            known = np.isfinite(given)
            flow = np.where(known, given, flow)
            by_start, by_end = np.where(known, 0.0, by_start), np.where(known, 0.0, by_end)
        for g in self.groups:
            a, b, q, s, e = g.start, g.end, flow[g.number], by_start[g.number], by_end[g.number]
            r += np.bincount(a, q, k) - np.bincount(b, q, k)
            np.add.at(jacobian, (a, a), s)
            np.add.at(jacobian, (a, b), e)
            np.add.at(jacobian, (b, a), -s)
            np.add.at(jacobian, (b, b), -e)
        for node, source in self.sources:
            taken, slope = source.flow(float(p[node]), self.around)
            r[node] += taken
            jacobian[node, node] += slope
        return r, jacobian

    def solve(
        self, p: Array, fixed: Array, cavities: CavityAir | None = None, given: Array | None = None
    ) -> tuple[Array, Array, Array]:
        """(k,) [Pa] the pressures at the end of the step, from the guess p, which the nodes that
        are `fixed` (k,) bool keep; r and its Jacobian there, without the cavities.

        Where a source has no slope yet and an orifice is choked, a step may lead far off: what does
        not converge is tried again with shorter ones.
        """
        known, free = cavities or CavityAir.none(), np.flatnonzero(~fixed)
        best, least = p, np.inf
        for leap in LEAPS:
            found, size, converged = self._newton(p, free, known, given, leap)
            if converged or size < least:
                best, least = found, size
            if converged:
                break
        return best, *self.leaving(best, given)

    def _newton(
        self, p: Array, free: Array, cavities: CavityAir, given: Array | None, leap: float
    ) -> tuple[Array, float, bool]:
        """(k,) [Pa] where Newton's method leads from p, the sum of |r| there [mol/s], and whether
        it has come to rest. leap: by which a pressure rises in a step at most, of the ambient one.
        """
        scale = self.around.pressure
        r, jacobian = self._whole(p, cavities, given)
        size = np.abs(r[free]).sum()
        for _ in range(MOST_STEPS):
            if not len(free) or size == 0.0:
                return p, size, True
            step = np.linalg.solve(jacobian[np.ix_(free, free)], -r[free])
            step = np.clip(step, -0.9 * p[free], leap * scale)  # pressures stay above zero
            settled = bool(np.abs(step).max() <= SETTLED * scale)
            for share in 0.5 ** np.arange(HALVINGS):
                ahead = p.copy()
                ahead[free] += share * step
                r, jacobian = self._whole(ahead, cavities, given)
                left = np.abs(r[free]).sum()
                if settled or left <= (1.0 - DECREASE * share) * size:
                    break
            p, size = ahead, left
            if settled:
                return p, size, True
        return p, size, False

    def _whole(self, p: Array, cavities: CavityAir, given: Array | None) -> tuple[Array, Array]:
        """r and its Jacobian, with the air of the cavities."""
        r, jacobian = self.leaving(p, given)
        if len(cavities.node):
            flow, slope = cavities.leaving(p[cavities.node], self.h, self.around.rt)
            r[cavities.node] += flow
            jacobian[cavities.node, cavities.node] += slope
        return r, jacobian
