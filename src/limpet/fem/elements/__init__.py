"""Reference elements by name, and the elements that can be combined in one mesh."""

from limpet.fem.elements.element import Element
from limpet.fem.elements.hex8 import HEX8, WEDGE6
from limpet.fem.elements.hex20 import HEX20, HEX20P, HEX20R
from limpet.fem.elements.tet4 import IICR10, IICR11, TET4
from limpet.fem.elements.tet10 import IICR21, TET10
from limpet.fem.elements.wedge15 import WEDGE15, WEDGE15P

# The name that a user gives -> the element of each cell kind in its meshes.
FAMILIES: dict[str, dict[str, Element]] = {
    name: {e.cell.name: e for e in elements}
    for name, elements in {
        "tet4": (TET4,),
        "iicr10": (IICR10,),
        "iicr11": (IICR11,),
        "tet10": (TET10,),
        "iicr21": (IICR21,),
        "hex8": (HEX8, WEDGE6),
        "hex20": (HEX20, WEDGE15),
        "hex20p": (HEX20P, WEDGE15P),
        "hex20r": (HEX20R, WEDGE15),
    }.items()
}
ELEMENTS: dict[str, Element] = {e.name: e for family in FAMILIES.values() for e in family.values()}
