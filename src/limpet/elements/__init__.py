"""Reference elements by name."""

from limpet.elements.element import Element
from limpet.elements.hex20 import HEX20, HEX20R
from limpet.elements.tet4 import TET4
from limpet.elements.wedge15 import WEDGE15

ELEMENTS: dict[str, Element] = {e.name: e for e in (TET4, HEX20, HEX20R, WEDGE15)}
