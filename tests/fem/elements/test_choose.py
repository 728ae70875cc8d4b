"""Which element a mesh and a material get, and what a wrong wish is told."""

from __future__ import annotations

import warnings

import pytest

from limpet.errors import LimpetError, MeshError
from limpet.fem.elements import ELEMENTS, FAMILIES
from limpet.fem.elements.choose import LockingWarning, choose, default_element
from limpet.geometry.cells import CELLS, MESHES, mesh_of

LOCKING = ("tet4", "iicr10")


@pytest.mark.parametrize(
    ("kinds", "poisson", "expected"),
    [
        (["tet4"], 0.3, "tet4"),
        (["tet4"], 0.4, "tet4"),
        (["tet4"], 0.401, "iicr11"),
        (["tet4"], 0.5, "iicr11"),
        (["tet10"], 0.3, "tet10"),
        (["tet10"], 0.4, "tet10"),
        (["tet10"], 0.401, "iicr21"),
        (["tet10"], 0.5, "iicr21"),
        (["hex8"], 0.3, "hex8"),
        (["hex8", "wedge6"], 0.499, "hex8"),
        (["wedge6"], 0.3, "hex8"),
        (["hex20"], 0.3, "hex20p"),
        (["hex20", "wedge15"], 0.499, "hex20p"),
        (["wedge15"], 0.3, "hex20p"),
    ],
)
def test_default_by_mesh_and_material(kinds, poisson, expected):
    assert default_element(kinds, poisson) == expected
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # what we choose, we do not warn of
        got = choose("a", kinds, poisson, None)
    assert got == {kind: FAMILIES[expected][kind] for kind in kinds}


@pytest.mark.parametrize(
    ("kinds", "expected"), [(["tet4"], "tet4"), (["tet10"], "tet10"), (["hex20"], "hex20p")]
)
def test_a_rubber_law_gets_no_shared_pressures(kinds, expected):
    assert default_element(kinds, 0.45, rubber=True) == expected
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LockingWarning)  # of tet4
        assert choose("a", kinds, 0.45, None, rubber=True) == {kinds[0]: ELEMENTS[expected]}


@pytest.mark.parametrize("name", list(FAMILIES))
def test_a_family_named_gives_its_element_for_each_kind_of_cell(name):
    family = FAMILIES[name]
    assert choose("a", family, 0.3, name) == family
    for kind, element in family.items():
        assert element.cell is CELLS[kind]
        assert ELEMENTS[element.name] is element


def test_meshes_of_all_families_are_known_to_the_geometry():
    assert set(MESHES) == set(FAMILIES)
    for name, family in FAMILIES.items():
        assert MESHES[name] == next(iter(family))  # the cell that a mesh is mostly made of
        assert mesh_of(name, "hex20", "box") in family


def test_every_element_is_reached_by_a_family_and_called_by_its_own_name():
    assert set(ELEMENTS) == {e.name for family in FAMILIES.values() for e in family.values()}
    for name, element in ELEMENTS.items():
        assert element.name == name


def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(LimpetError, match=r"element = 'hex2O' of 'cup'; did you mean 'hex20'\?"):
        choose("cup", ["hex20"], 0.3, "hex2O")
    with pytest.raises(LimpetError, match=r"expected one of: hex20, .*tet4"):
        choose("cup", ["hex20"], 0.3, "shell")


def test_an_unknown_cell_is_named():
    with pytest.raises(MeshError, match="mesh of 'cup' has cells 'pyramid5': expected hex20, hex8"):
        choose("cup", ["hex20", "pyramid5"], 0.3, None)


@pytest.mark.parametrize(
    ("kinds", "name", "use"),
    [
        (["hex20", "wedge15"], "tet10", "use hex20, hex20p or hex20r"),
        (["hex8"], "iicr11", "use hex8"),
        (["tet4"], "tet10", "use iicr10, iicr11 or tet4"),
        (["tet10"], "hex20", "use iicr21 or tet10"),
    ],
)
def test_a_mesh_of_other_cells_is_refused_with_what_fits(kinds, name, use):
    with pytest.raises(MeshError, match=f"element = '{name}' of 'cup' is made of .*: {use}"):
        choose("cup", kinds, 0.3, name)


def test_cells_of_two_families_are_refused():
    with pytest.raises(MeshError, match="no element has all these cells"):
        choose("cup", ["tet4", "hex8"], 0.3, None)


@pytest.mark.parametrize("name", list(FAMILIES))
def test_only_shared_pressures_can_be_wholly_incompressible(name):
    family = FAMILIES[name]
    if name in ("iicr11", "iicr21"):
        assert choose("cup", family, 0.5, name) == family
        return
    with pytest.raises(LimpetError, match=f"poisson = 0.5 of 'cup': element '{name}' cannot"):
        choose("cup", family, 0.5, name)


def test_a_mesh_of_hexahedra_has_no_element_for_an_incompressible_material():
    with pytest.raises(LimpetError, match=r"use iicr21 .* or poisson = 0\.499"):
        choose("cup", ["hex20"], 0.5, None)


@pytest.mark.parametrize("name", list(FAMILIES))
def test_linear_tetrahedra_warn_of_locking_and_no_others_do(name):
    family = FAMILIES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        choose("cup", family, 0.4, name)
    if name in LOCKING:
        with pytest.warns(
            LockingWarning, match=f"element '{name}' of 'cup' locks at poisson = 0.45"
        ):
            choose("cup", family, 0.45, name)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        choose("cup", family, 0.499, name)
