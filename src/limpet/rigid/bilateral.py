"""Bilateral rows: u = 0 whatever the multiplier. The solver eliminates them (Schur complement)."""

KIND = 5  # any number of rows; no data
REGULARISED = False
