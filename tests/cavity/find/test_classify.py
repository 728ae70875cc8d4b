"""The five classes on small graphs, stage by stage, and against a plain flood fill."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from limpet.cavity.find.classify import (
    IN_CONTACT,
    INNER_BORDER,
    OUTER_BORDER,
    STRICTLY_INSIDE,
    STRICTLY_OUTSIDE,
    classify,
    outside_seeds,
)

LETTERS = {
    "c": IN_CONTACT, "i": STRICTLY_INSIDE, "b": INNER_BORDER,
    "o": STRICTLY_OUTSIDE, "B": OUTER_BORDER,
}  # fmt: skip


def graph(n, edges):
    """start and neighbours of a graph given by its edges."""
    lists = [[] for _ in range(n)]
    for a, b in edges:
        lists[a].append(b)
        lists[b].append(a)
    start = np.cumsum([0] + [len(some) for some in lists]).astype(np.int32)
    return start, np.array([w for some in lists for w in sorted(some)], dtype=np.int32)


def grid_graph(rows, columns, diagonal=True):
    """A triangulated rectangle."""
    at = np.arange(rows * columns).reshape(rows, columns)
    pairs = [(at[:, :-1], at[:, 1:]), (at[:-1], at[1:])]
    if diagonal:
        pairs.append((at[:-1, :-1], at[1:, 1:]))
    edges = [(int(a), int(b)) for one, two in pairs for a, b in zip(one.ravel(), two.ravel())]
    return graph(rows * columns, edges)


def picture(text):
    """Rows of a drawing: # touches, . does not."""
    lines = text.split()
    return np.array([[c == "#" for c in line] for line in lines])


def frame(shape):
    """The border of a grid, the set B of an inner surface with an edge."""
    border = np.ones(shape, dtype=bool)
    border[1:-1, 1:-1] = False
    return border


def drawn(text, expected=None, diagonal=True):
    """Classify a drawing of contacts, with the frame as the border."""
    contact = picture(text)
    found = classify(
        *grid_graph(*contact.shape, diagonal), contact.ravel(), frame(contact.shape).ravel()
    )
    if expected is not None:
        wanted = np.array([[LETTERS[c] for c in line] for line in expected.split()])
        assert np.array_equal(found.label.reshape(contact.shape), wanted)
    return found


def test_a_ring_parts_inside_from_outside():
    found = drawn(
        """
        .......
        .#####.
        .#...#.
        .#...#.
        .#...#.
        .#####.
        .......""",
        """
        ooooooo
        oBBBBBo
        oBiiiBo
        oBiiiBo
        oBiiiBo
        oBBBBBo
        ooooooo""",
    )
    assert found.airtight and found.regions == 1


def test_a_wide_ring_has_an_inner_and_an_outer_border_and_contact_between():
    drawn(
        """
        .........
        .#######.
        .#######.
        .#######.
        .###.###.
        .#######.
        .#######.
        .#######.
        .........""",
        """
        ooooooooo
        oBBBBBBBo
        oBcccccBo
        oBcbbccBo
        oBcbibcBo
        oBccbbcBo
        oBcccccBo
        oBBBBBBBo
        ooooooooo""",
    )


def test_stage_one_the_border_that_touches_is_the_outer_one_and_nothing_is_outside():
    found = drawn(
        """
        #####
        #...#
        #...#
        #####""",
        """
        BBBBB
        BiiiB
        BiiiB
        BBBBB""",
    )
    assert found.airtight


def test_stage_one_the_border_that_does_not_touch_lets_the_outside_in():
    # one border point open: from there the outside fills what would be the cavity
    found = drawn(
        """
        ##.##
        #...#
        #...#
        #####""",
        """
        BBoBB
        BoooB
        BoooB
        BBBBB""",
    )
    assert not found.airtight


@pytest.mark.parametrize("side", range(4))
def test_a_gap_in_the_ring_lets_the_air_out(side):
    ring = picture(
        """
        .......
        .#####.
        .#...#.
        .#...#.
        .#...#.
        .#####.
        ......."""
    )
    ring[1, 3] = False
    ring = np.rot90(ring, side)
    found = classify(*grid_graph(7, 7), ring.ravel(), frame((7, 7)).ravel())
    assert not found.airtight
    assert set(found.label) == {STRICTLY_OUTSIDE, OUTER_BORDER}


def test_two_rings_have_two_regions():
    found = drawn(
        """
        ...........
        .####.####.
        .#..#.#..#.
        .#..#.#..#.
        .####.####.
        ..........."""
    )
    assert found.regions == 2
    region = found.region.reshape(6, 11)
    assert set(region[2:4, 2:4].ravel()) == {0} and set(region[2:4, 7:9].ravel()) == {1}
    assert np.count_nonzero(region >= 0) == 8


def test_a_ring_within_a_ring_has_a_trapped_annulus_and_a_core():
    found = drawn(
        """
        .........
        .#######.
        .#.....#.
        .#.###.#.
        .#.#.#.#.
        .#.###.#.
        .#.....#.
        .#######.
        ........."""
    )
    assert found.regions == 2
    assert found.label.reshape(9, 9)[3, 3] == INNER_BORDER  # the inner ring: both sides are inside


def test_everything_or_nothing_in_contact_is_not_airtight():
    for contact in (np.ones((5, 6), dtype=bool), np.zeros((5, 6), dtype=bool)):
        found = classify(*grid_graph(5, 6), contact.ravel(), frame((5, 6)).ravel())
        assert not found.airtight and found.regions == 0
    label = classify(*grid_graph(5, 6), np.ones(30, bool), frame((5, 6)).ravel()).label
    assert set(label.reshape(5, 6)[1:-1, 1:-1].ravel()) == {IN_CONTACT}


def test_a_cycle_graph():
    # a closed strip of eight vertices, cut at two places
    start, neighbours = graph(8, [(i, (i + 1) % 8) for i in range(8)])
    contact, border = np.zeros(8, bool), np.zeros(8, bool)
    contact[[2, 6]] = border[0] = True
    found = classify(start, neighbours, contact, border)
    o, i, b = STRICTLY_OUTSIDE, STRICTLY_INSIDE, OUTER_BORDER
    assert found.label.tolist() == [o, o, b, i, i, i, b, o]
    contact[6] = False
    assert not classify(start, neighbours, contact, border).airtight


def brute_force(start, neighbours, contact, border):
    """Reachable from the border over free vertices, by repetition; then the classes by looking."""
    n = len(contact)
    around = [neighbours[start[v] : start[v + 1]].tolist() for v in range(n)]
    outside = {v for v in range(n) if border[v] and not contact[v]}
    while True:
        more = {w for v in outside for w in around[v] if not contact[w]} - outside
        if not more:
            break
        outside |= more
    inside = {v for v in range(n) if not contact[v]} - outside
    label = []
    for v in range(n):
        if v in outside:
            label.append(STRICTLY_OUTSIDE)
        elif v in inside:
            label.append(STRICTLY_INSIDE)
        elif border[v] or outside & set(around[v]):
            label.append(OUTER_BORDER)
        else:
            label.append(INNER_BORDER if inside & set(around[v]) else IN_CONTACT)
    groups = []
    left = set(inside)
    while left:
        group = {min(left)}
        while more := {w for v in group for w in around[v] if w in inside} - group:
            group |= more
        groups.append(group)
        left -= group
    return label, groups


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_agrees_with_a_plain_flood_fill_on_random_graphs(data):
    n = data.draw(st.integers(1, 14))
    pairs = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))
    edges = {tuple(sorted(e)) for e in data.draw(st.lists(pairs, max_size=30)) if e[0] != e[1]}
    masks = st.lists(st.booleans(), min_size=n, max_size=n)
    contact, border = (np.array(data.draw(masks), dtype=bool) for _ in range(2))
    start, neighbours = graph(n, edges)
    found = classify(start, neighbours, contact, border)
    label, groups = brute_force(start, neighbours, contact, border)
    assert found.label.tolist() == label
    assert found.airtight == bool(groups) and found.regions == len(groups)
    assert sorted(
        sorted(np.flatnonzero(found.region == r).tolist()) for r in range(found.regions)
    ) == sorted(sorted(g) for g in groups)


def test_of_a_closed_surface_the_largest_part_is_the_outside():
    # a closed strip of ten: contact at 2 and 6 leaves 3, 4, 5 and 7 ... 1
    start, neighbours = graph(10, [(i, (i + 1) % 10) for i in range(10)])
    body, area = np.zeros(10, np.int32), np.ones(10)
    contact = np.isin(np.arange(10), [2, 6])
    seeds = outside_seeds(start, neighbours, body, contact, area)
    assert np.flatnonzero(seeds).tolist() == [0, 1, 7, 8, 9]
    # it goes by area, not by the number of vertices
    area[3:6] = 10.0
    seeds = outside_seeds(start, neighbours, body, contact, area)
    assert np.flatnonzero(seeds).tolist() == [3, 4, 5]
    # an inner surface that is named decides, whatever the area
    inner = np.isin(np.arange(10), [2, 3, 4, 5, 6])
    seeds = outside_seeds(start, neighbours, body, contact, area, inner)
    assert np.flatnonzero(seeds).tolist() == [0, 1, 7, 8, 9]


def test_each_body_has_its_own_outside_and_lone_points_are_no_cavity():
    ring = [(i, (i + 1) % 6) for i in range(6)]
    edges = ring + [(a + 6, b + 6) for a, b in ring]
    start, neighbours = graph(13, edges)  # two strips of six and a point of no surface
    body = np.array([0] * 6 + [1] * 7, dtype=np.int32)
    contact = np.isin(np.arange(13), [1, 3])
    seeds = outside_seeds(start, neighbours, body, contact, np.ones(13))
    found = classify(start, neighbours, contact, seeds)
    assert np.flatnonzero(found.label == STRICTLY_INSIDE).tolist() == [2]
    assert np.flatnonzero(seeds).tolist() == [0, 4, 5, *range(6, 13)]
