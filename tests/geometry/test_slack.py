"""The slack of a lip against parabolas through nodes on a cylinder."""

import numpy as np
import pytest

from limpet.geometry.slack import lip_sectors, lip_slack
from limpet.shapes.cups import CoarseLipWarning, cup


def widest(sectors, lip, part, order):
    """[m] the largest gap of element edges with their nodes on a cylinder along y."""
    t, width, most = np.linspace(-1.0, 1.0, 101)[:, None], 2.0 * np.pi / sectors, 0.0
    shapes = (
        np.hstack([0.5 * t * (t - 1.0), 1.0 - t * t, 0.5 * t * (t + 1.0)])
        if order == 2
        else np.hstack([0.5 - 0.5 * t, 0.5 + 0.5 * t])
    )
    for begin in np.linspace(0.0, np.pi, 121):
        angle = begin + np.linspace(0.0, width, order + 1)
        x, y = lip * np.cos(angle), lip * np.sin(angle)
        nodes = np.column_stack([x, y, np.sqrt(part**2 - x * x)])
        x, _, z = (shapes @ nodes).T
        most = max(most, np.hypot(x, z).max() - part)
    return most


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("part", [20e-3, 30e-3, 70e-3, 1.0])
@pytest.mark.parametrize("sectors", [10, 14, 28])
def test_it_is_a_bound_and_not_far_off(sectors, part, order):
    lip = 17.5e-3
    length = 2.0 * np.pi * lip / sectors
    exact = widest(sectors, lip, part, order)
    assert exact < 1.06 * lip_slack(length, 1.0 / part, lip, order) + 1e-12
    if order == 2:  # chords dip, they do not gape
        assert lip_slack(length, 1.0 / part, lip, order) < 2.0 * exact
    assert lip_slack(length, 1.0 / part, lip, order) <= lip_slack(length, 1.0 / part, None, order)
    assert lip_slack(length, 0.0, lip, order) == 0.0


def test_sectors_follow_the_part():
    few = [lip_sectors(17.5e-3, r) for r in (0.2, 0.07, 0.03, 0.02)]
    assert few == sorted(few) == [8, 12, 16, 18]
    fine, usual = (len(cup("standard", part_radius=r).region("lip")) for r in (0.02, 10.0))
    assert fine == 18 / 10 * usual
    assert len(cup("standard", part_radius=10.0).points) == len(cup("standard").points)
    with pytest.warns(CoarseLipWarning, match="use 16 sectors or more"):
        cup("standard", sectors=12, segments=4, part_radius=0.03)
