"""What moves the air of a cavity in a step, as its gas row takes it, and what couples two rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from limpet.cavity.gas.atmosphere import Gas
from limpet.cavity.gas.vacuum_line import Flow

Array = np.ndarray

NO_FLOW = Flow()
SOLVED = 1e-9  # relative, to which P is known at least
BY_LAW = 1e-6  # of a cavity's air: what is drawn from it makes up for so much


@dataclass(frozen=True)
class CavityFlow:
    """What moves the air of one cavity in a step: its line, if it is on one, and what leaks."""

    leak: Flow  # outward, as all flows here
    to_line: Flow = NO_FLOW
    port: int | None = None
    about: float = 0.0  # [Pa] its pressure, at which the flow into the line is linearised
    # (c,) [mol/(s Pa)] by which more flows to cups on other ports, the higher it is than theirs
    to_others: Array = field(default_factory=lambda: np.zeros(0))

    def gas_row(self, amount: float, h: float, rt: float) -> tuple[float, float]:
        """h b R T and (n + h a) R T, for the gas law."""
        a, b = self.to_line.a + self.leak.a, self.to_line.b + self.leak.b
        return h * b * rt, (amount + h * a) * rt

    def after(self, gas: Gas, p: float, volume: float, h: float) -> tuple[Gas, float, float]:
        """The air of the cavity after a step that ends at p [Pa] in `volume` [m^3].

        Also how much [mol] has leaked in, and how much the line has drawn.
        """
        seeped, by_law = -h * self.leak.out(p), gas.amount_at(p, volume)
        if self.to_line.target is None:  # no line draws more than there is
            amount = max(gas.amount + seeped - h * self.to_line.out(p), 0.0)
            if self.port is not None and abs(by_law - amount) <= BY_LAW * amount:
                amount = by_law  # a line takes the round-off of the row, which is its own
        else:
            amount = by_law  # as much as the pressure asks for
        drawn, missing = gas.amount + seeped - amount, by_law - amount
        # Through a wide gap air flows at a difference of pressures that is less than P is known to:
        # then the volume says how much has.
        if volume > 0.0 and abs(missing) <= SOLVED * h * self.leak.b * p:
            seeped, amount = seeped + missing, amount + missing
        return replace(gas, amount=amount), seeped, drawn


def exchange_of(slopes: Array, pressures: Mapping[int, float]) -> Array:
    """(c, c) [mol/(s Pa)] what flows from one cup to another by each Pa of difference, from the
    slopes (c, c) of what leaves the cups; pressures [Pa]: of the cups with trapped air, by port.

    A flow dn'_i is a change of volume at the rate dn'_i R T/P_i. Divided by P_i the exchange is
    symmetric, as a compliance has to be: exact where both cups have one pressure.
    """
    p = np.array([pressures.get(i, np.nan) for i in range(len(slopes))])
    mean = np.maximum(-0.5 * (slopes + slopes.T), 0.0) * np.sqrt(p[:, None] / p[None, :])
    np.fill_diagonal(mean, 0.0)
    return np.nan_to_num(mean, nan=0.0)


def coupling(flows: Sequence[CavityFlow | None], rt: float) -> tuple[Array, Array] | None:
    """(c, c) [m^3/(s Pa)] compliance between the rows of cavities, and (c,) [Pa] the pressures at
    which it does nothing; None: no lines join them. Its rows and columns add up to zero.
    """
    known = [(i, f) for i, f in enumerate(flows) if f is not None and f.to_others.any()]
    if len(known) < 2:
        return None
    c, about = np.zeros((len(flows), len(flows))), np.zeros(len(flows))
    on, port = [i for i, _ in known], np.array([f.port for _, f in known], int)
    c[np.ix_(on, on)] = [-rt / f.about * f.to_others[port] for _, f in known]
    np.fill_diagonal(c, -c.sum(axis=1))
    about[on] = [f.about for _, f in known]
    return c, about
