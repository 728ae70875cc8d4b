"""Quadratic cells in the plane: the middles of their sides, and repair of those that are bad."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

Array = np.ndarray

LEAST = 0.1  # of the mean of a cell's Jacobian determinants: the least one
CELL = tuple[int, list[int]]  # part and corners
# reference coordinates where the Jacobian is checked: corners and middles of sides
SQUARE = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [0, -1], [1, 0], [0, 1], [-1, 0]], float)
TRIANGLE = np.array([[0, 0], [1, 0], [0, 1], [0.5, 0], [0.5, 0.5], [0, 0.5]])


def quadratic(
    points: Array, cells: Sequence[CELL], middles: Mapping[tuple[int, int], Array]
) -> tuple[Array, tuple[Array, Array], tuple[Array, Array], dict[tuple[int, int], int]] | None:
    """Points with the middles of sides, quadrilaterals and triangles (parts, nodes), and the
    middle of each side.

    middles: where those of sides on lines stand. A quadrilateral that is bad becomes two triangles;
    the sides of a bad triangle become straight. None if a cell is bad even then.
    """
    pieces = [_counter_clockwise(points, cell) for cell in cells]
    straight: set[tuple[int, int]] = set()
    for _ in range(3):
        x, middle = _with_middles(points, pieces, middles, straight)
        bad = [k for k, (_, c) in enumerate(pieces) if not _good(x[_nodes(c, middle)])]
        if not bad:
            quads = [(p, _nodes(c, middle)) for p, c in pieces if len(c) == 4]
            triangles = [(p, _nodes(c, middle)) for p, c in pieces if len(c) == 3]
            return x, _arrays(quads, 8), _arrays(triangles, 6), middle
        kept = [cell for k, cell in enumerate(pieces) if k not in set(bad)]
        for k in bad:
            part, c = pieces[k]
            on_axis = bool(np.any(points[c, 0] == 0.0))
            if len(c) == 3 or on_axis:
                straight |= {_key(a, b) for a, b in zip(c, [*c[1:], c[0]])}
                kept.append((part, c))
            else:
                kept += [(part, half) for half in _halves(points, c)]
        pieces = kept
    return None


def _arrays(cells: list[tuple[int, list[int]]], size: int) -> tuple[Array, Array]:
    parts = np.array([p for p, _ in cells], dtype=int)
    return parts, np.array([c for _, c in cells], dtype=int).reshape(-1, size)


def _key(a: int, b: int) -> tuple[int, int]:
    return (a, b) if a < b else (b, a)


def _counter_clockwise(points: Array, cell: CELL) -> CELL:
    part, c = cell
    x, y = points[c].T
    area = float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))
    return (part, c if area > 0.0 else c[::-1])


def _with_middles(
    points: Array, cells: Sequence[CELL], middles: Mapping[tuple[int, int], Array],
    straight: set[tuple[int, int]],
) -> tuple[Array, dict[tuple[int, int], int]]:  # fmt: skip
    x = list(points)
    number: dict[tuple[int, int], int] = {}
    for _, c in cells:
        for a, b in zip(c, [*c[1:], c[0]]):
            key = _key(a, b)
            if key not in number:
                number[key] = len(x)
                curved = key in middles and key not in straight
                x.append(middles[key] if curved else 0.5 * (points[a] + points[b]))
    return np.array(x), number


def _nodes(c: list[int], middle: Mapping[tuple[int, int], int]) -> list[int]:
    return [*c, *(middle[_key(a, b)] for a, b in zip(c, [*c[1:], c[0]]))]


def _halves(points: Array, c: list[int]) -> list[list[int]]:
    """Two triangles, cut along the diagonal that leaves the larger of the smaller angles."""
    choices = [[[c[0], c[1], c[2]], [c[0], c[2], c[3]]], [[c[1], c[2], c[3]], [c[1], c[3], c[0]]]]
    return max(choices, key=lambda pair: min(_area(points[t]) for t in pair))


def _area(x: Array) -> float:
    (a, b), (c, d) = x[1] - x[0], x[2] - x[0]
    return float(a * d - b * c)


def _good(x: Array) -> bool:
    """Whether the Jacobian determinant of a cell (8 or 6 nodes) is well above zero all over."""
    jacobian = np.tensordot(GRADIENTS[len(x)], x, axes=(1, 0))  # (q, 2, 2)
    det = jacobian[:, 0, 0] * jacobian[:, 1, 1] - jacobian[:, 0, 1] * jacobian[:, 1, 0]
    return bool(det.min() > LEAST * det.mean() and det.mean() > 0.0)


def _square_gradients(at: Array) -> Array:
    """(q, 8, 2) of the serendipity shape functions."""
    out = np.zeros((len(at), 8, 2))
    for q, (s, t) in enumerate(at):
        for n, (a, b) in enumerate(SQUARE):
            if n < 4:
                out[q, n] = (
                    0.25 * a * (1 + t * b) * (2 * s * a + t * b),
                    0.25 * b * (1 + s * a) * (2 * t * b + s * a),
                )
            elif a == 0.0:
                out[q, n] = (-s * (1 + t * b), 0.5 * b * (1 - s * s))
            else:
                out[q, n] = (0.5 * a * (1 - t * t), -t * (1 + s * a))
    return out


def _triangle_gradients(at: Array) -> Array:
    """(q, 6, 2) of the quadratic shape functions; corners 0, (1, 0), (0, 1)."""
    out = np.zeros((len(at), 6, 2))
    for q, (b, c) in enumerate(at):
        a = 1.0 - b - c
        out[q] = [
            (1 - 4 * a, 1 - 4 * a), (4 * b - 1, 0.0), (0.0, 4 * c - 1),
            (4 * (a - b), -4 * b), (4 * c, 4 * b), (-4 * c, 4 * (a - c)),
        ]  # fmt: skip
    return out


GRADIENTS = {8: _square_gradients(SQUARE), 6: _triangle_gradients(TRIANGLE)}
