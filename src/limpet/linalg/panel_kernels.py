"""Dense kernels of the sparse factor: rows minus multiples of other rows.

A panel keeps its columns of L as rows, (w, h): entry [k, i] is L of row i and column k. All work is
then on long rows: three of them at a time minus six others, so that a number that is loaded or
stored takes part in several products. Node blocks are three wide, so little is left over.
"""

from __future__ import annotations

import numpy as np

from limpet.compiled import inner

Array = np.ndarray

LANES = 8  # numbers in a vector of the processor, at most
FAST = {"reassoc", "contract"}  # the sums may be reordered, multiplications and additions fused


@inner()
def before(first: int, last: int) -> int:
    """The last column up to `first` from which on a whole number of vectors reaches `last`.

    Left of the diagonal nothing is read, so rows may begin there; loops over the few numbers that
    fill no vector cost as much as those over all others.
    """
    return max(0, last - (last - first + LANES - 1) // LANES * LANES)


@inner(fastmath=FAST)
def subtract_from_row(
    out: Array, i: int, source: Array, base: int, first: int, last: int,
    factors: Array, row: int, column: int, sign: Array, count: int,
) -> None:  # fmt: skip
    """out[i] -= sum over k < count of sign[k] factors[row + k, column] source[base + k].

    In the columns first:last.
    """
    o = out[i, first:last]
    for k in range(count):
        a, p = sign[k] * factors[row + k, column], source[base + k, first:last]
        for j in range(len(o)):
            o[j] -= a * p[j]


@inner(fastmath=FAST)
def subtract_from_three(
    out: Array, i0: int, i1: int, i2: int, source: Array, base: int, first: int, last: int,
    factors: Array, row: int, column: int, sign: Array, count: int,
) -> None:  # fmt: skip
    """The same for rows i0, i1 and i2 of `out`, with the factors of `column` and the next two."""
    x, y, z = out[i0, first:last], out[i1, first:last], out[i2, first:last]
    k = 0
    while k + 6 <= count:
        f, g = row + k, base + k
        s0, s1, s2, s3, s4, s5 = (
            sign[k], sign[k + 1], sign[k + 2], sign[k + 3], sign[k + 4], sign[k + 5]
        )  # fmt: skip
        a0, b0, c0 = (
            s0 * factors[f, column], s0 * factors[f, column + 1], s0 * factors[f, column + 2]
        )  # fmt: skip
        a1, b1, c1 = (
            s1 * factors[f + 1, column], s1 * factors[f + 1, column + 1],
            s1 * factors[f + 1, column + 2],
        )  # fmt: skip
        a2, b2, c2 = (
            s2 * factors[f + 2, column], s2 * factors[f + 2, column + 1],
            s2 * factors[f + 2, column + 2],
        )  # fmt: skip
        a3, b3, c3 = (
            s3 * factors[f + 3, column], s3 * factors[f + 3, column + 1],
            s3 * factors[f + 3, column + 2],
        )  # fmt: skip
        a4, b4, c4 = (
            s4 * factors[f + 4, column], s4 * factors[f + 4, column + 1],
            s4 * factors[f + 4, column + 2],
        )  # fmt: skip
        a5, b5, c5 = (
            s5 * factors[f + 5, column], s5 * factors[f + 5, column + 1],
            s5 * factors[f + 5, column + 2],
        )  # fmt: skip
        p0, p1, p2 = (
            source[g, first:last], source[g + 1, first:last], source[g + 2, first:last]
        )  # fmt: skip
        p3, p4, p5 = (
            source[g + 3, first:last], source[g + 4, first:last], source[g + 5, first:last]
        )  # fmt: skip
        for j in range(len(x)):
            q0, q1, q2, q3, q4, q5 = p0[j], p1[j], p2[j], p3[j], p4[j], p5[j]
            x[j] = x[j] - a0 * q0 - a1 * q1 - a2 * q2 - a3 * q3 - a4 * q4 - a5 * q5
            y[j] = y[j] - b0 * q0 - b1 * q1 - b2 * q2 - b3 * q3 - b4 * q4 - b5 * q5
            z[j] = z[j] - c0 * q0 - c1 * q1 - c2 * q2 - c3 * q3 - c4 * q4 - c5 * q5
        k += 6
    while k < count:
        f, s, p = row + k, sign[k], source[base + k, first:last]
        a, b, c = s * factors[f, column], s * factors[f, column + 1], s * factors[f, column + 2]
        for j in range(len(x)):
            q = p[j]
            x[j] -= a * q
            y[j] -= b * q
            z[j] -= c * q
        k += 1


@inner(fastmath=FAST)
def factor_panel(panel: Array, sign: Array) -> int:
    """L of a panel's columns from those of A, in place; -1, or the column whose pivot fails."""
    w, h = panel.shape
    for r in range(0, w, 3):
        end, first = min(r + 3, w), before(r, h)
        if end == r + 3:
            subtract_from_three(panel, r, r + 1, r + 2, panel, 0, first, h, panel, 0, r, sign, r)
        else:
            for i in range(r, end):
                subtract_from_row(panel, i, panel, 0, first, h, panel, 0, i, sign, r)
        for i in range(r, end):
            subtract_from_row(panel, i, panel, r, first, h, panel, r, i, sign[r:], i - r)
            pivot = panel[i, i] * sign[i]
            if not pivot > 0.0:
                return i
            f, line = sign[i] / np.sqrt(pivot), panel[i, first:]
            for j in range(len(line)):
                line[j] *= f
    return -1


@inner(fastmath=FAST)
def minus_square(panel: Array, sign: Array, out: Array) -> None:
    """out (h, h) = -L S L^T of the rows below the panel's diagonal block; its upper triangle."""
    w, h = panel.shape
    for i in range(w, h):
        line = out[i, before(i - (i - w) % 3, h) :]
        for j in range(len(line)):
            line[j] = 0.0
    subtract_square(panel, 0, w, sign, w, h, out)


@inner(fastmath=FAST)
def subtract_square(
    rows: Array, base: int, count: int, sign: Array, first: int, last: int, out: Array
) -> None:
    """out -= sum over k < count of sign[k] r r^T, r = rows[base + k]; upper triangle.

    In the rows and columns first:last; some numbers left of the diagonal change as well.
    """
    whole = first + (last - first) // 3 * 3
    for i in range(first, whole, 3):
        begin = before(i, last)
        subtract_from_three(
            out, i, i + 1, i + 2, rows, base, begin, last, rows, base, i, sign, count
        )  # fmt: skip
    for i in range(whole, last):
        begin = before(i, last)
        subtract_from_row(out, i, rows, base, begin, last, rows, base, i, sign, count)


@inner(fastmath=FAST)
def solve_rows(panel: Array, y: Array, base: int, first: int, last: int, ones: Array) -> None:
    """Rows base : base + w of Y <- L^-1 of them, L the panel's diagonal block; columns first:last.

    ones (w,)
    """
    w = panel.shape[0]
    for r in range(0, w, 3):
        end = min(r + 3, w)
        if end == r + 3:
            at = base + r
            subtract_from_three(
                y, at, at + 1, at + 2, y, base, first, last, panel, 0, r, ones, r
            )  # fmt: skip
        else:
            for i in range(r, end):
                subtract_from_row(y, base + i, y, base, first, last, panel, 0, i, ones, r)
        for i in range(r, end):
            subtract_from_row(y, base + i, y, base + r, first, last, panel, r, i, ones, i - r)
            f, line = 1.0 / panel[i, i], y[base + i, first:last]
            for j in range(len(line)):
                line[j] *= f


@inner(fastmath=FAST)
def send_rows(
    panel: Array, y: Array, base: int, first: int, last: int, rows: Array, shift: int, ones: Array
) -> None:
    """Subtract from the rows of Y below what rows base : base + w, now solved, do to them.

    rows (h,): of the panel, as unknowns; row i of Y is the unknown i + shift.
    """
    w, h = panel.shape
    whole = w + (h - w) // 3 * 3
    for i in range(w, whole, 3):
        subtract_from_three(
            y, rows[i] - shift, rows[i + 1] - shift, rows[i + 2] - shift, y, base, first, last,
            panel, 0, i, ones, w,
        )  # fmt: skip
    for i in range(whole, h):
        subtract_from_row(y, rows[i] - shift, y, base, first, last, panel, 0, i, ones, w)
