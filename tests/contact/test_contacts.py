"""What a contact is known by from step to step."""

from __future__ import annotations

import numpy as np

from limpet.contact.contacts import EDGE_EDGE, FACE_VERTEX, VERTEX_FACE, Contacts

FIRST = np.array([0, 10, 20, 30])


def keys(a, b, *rows):
    """Of contacts (kind, vertices of a, vertices of b) between surfaces a and b."""
    index = np.array([[kind, *on_a, *on_b] for kind, on_a, on_b in rows], np.int32)
    return Contacts.of_rows(a, b, index, np.zeros((len(rows), 10)), FIRST).key


def test_edges_are_known_by_their_ends_whichever_comes_first():
    one, flipped, other = keys(
        0, 1, (EDGE_EDGE, (1, 2, 1), (4, 5, 4)), (EDGE_EDGE, (2, 1, 2), (5, 4, 5)),
        (EDGE_EDGE, (1, 3, 1), (4, 5, 4)),
    )  # fmt: skip
    assert one == flipped != other
    assert max(one, other) < 0  # told from vertices by their sign


def test_keys_name_the_vertex_and_the_other_surface():
    vertex, face = (5, 5, 5), (1, 2, 3)
    found = {
        *keys(0, 1, (VERTEX_FACE, vertex, face), (FACE_VERTEX, face, vertex)).tolist(),
        *keys(0, 2, (VERTEX_FACE, vertex, face)).tolist(),
    }
    assert len(found) == 3  # one vertex against two surfaces; vertex 5 of a and vertex 5 of b
    # the face on the other side may change from step to step
    slid = keys(0, 1, (VERTEX_FACE, vertex, (7, 8, 9)))
    assert slid[0] == keys(0, 1, (VERTEX_FACE, vertex, face))[0]


def test_contacts_join_without_those_that_are_known():
    a = Contacts.of_rows(
        0, 1, np.array([[VERTEX_FACE, k, k, k, 1, 2, 3] for k in (1, 4)], np.int32),
        np.zeros((2, 10)), FIRST,
    )  # fmt: skip
    b = Contacts.of_rows(
        0, 1, np.array([[VERTEX_FACE, k, k, k, 2, 3, 4] for k in (4, 6)], np.int32),
        np.ones((2, 10)), FIRST,
    )  # fmt: skip
    both = a.with_more(b)
    assert both.vertices_a[:, 0].tolist() == [1, 4, 6]
    assert both.gap.tolist() == [0.0, 0.0, 1.0]
    assert b.among(a).tolist() == [True, False]


def test_edges_stand_in_the_order_of_their_ends_after_the_vertices():
    rows = [
        (VERTEX_FACE, (5, 5, 5), (1, 2, 3)), (FACE_VERTEX, (1, 2, 3), (4, 4, 4)),
        (EDGE_EDGE, (1, 2, 1), (4, 5, 4)), (EDGE_EDGE, (1, 3, 1), (2, 9, 2)),
        (EDGE_EDGE, (1, 3, 1), (4, 5, 4)),
    ]  # fmt: skip
    for found in ([0, 1, 2, 3, 4], [0, 1, 4, 2, 3], [0, 1, 3, 4, 2]):
        index = np.array([[kind, *a, *b] for kind, a, b in (rows[i] for i in found)], np.int32)
        value = np.zeros((5, 10))
        value[:, 6] = found
        assert Contacts.of_rows(0, 1, index, value, FIRST).gap.tolist() == [0, 1, 2, 3, 4]
