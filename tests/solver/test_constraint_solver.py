"""Rows that act on nothing that moves: left out, or without a multiplier."""

from __future__ import annotations

import numpy as np

from limpet.solver.constraint_solver import _own_compliance


def test_blocks_that_cannot_move_are_left_out_and_single_rows_get_a_compliance():
    start = np.array([0, 3, 6, 9, 10])
    regularised = np.array([True] * 9 + [False])  # three contacts and a cavity
    diagonal = np.array([2.0, 1.0, 1.0, 0.0, 0.0, 0.0, 3.0, 0.0, 1.0, 0.0])
    own, stuck = _own_compliance(diagonal, regularised, start)
    assert stuck.tolist() == [False] * 3 + [True] * 3 + [False] * 4
    assert own.tolist() == [0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 3.0, 0.0, 0.0]


def test_nothing_is_added_where_all_rows_move():
    own, stuck = _own_compliance(np.ones(4), np.array([True] * 3 + [False]), np.array([0, 3, 4]))
    assert not own.any() and not stuck.any()
