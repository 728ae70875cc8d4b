"""Rubbers in the words of a data sheet: Shore A hardness, density, friction, and their sources.

nbr = lp.rubber("NBR", shore=55)
cup = world.add_soft(shape, nbr.material(), nbr.mass(shape))
world.set_friction(cup, sheet, nbr.friction_on("steel", "oily"))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from limpet.errors import LimpetError, suggest
from limpet.fem.material import Material
from limpet.fem.rubber_curves import NAMES, basis
from limpet.geometry.shape import SoftShape
from limpet.geometry.surface import volume

GENT = (
    "A. N. Gent, On the relation between indentation hardness and Young's modulus, Rubber "
    "Chemistry and Technology 31 (1958) 896-906"
)
SOFTEST, HARDEST = 10.0, 95.0  # Shore A
TERMS = {"mooney-rivlin": ("c10", "c01"), "yeoh": ("c10", "c20", "c30")}  # of a fit
LOW = 0.1  # of the largest stress: below, a fit counts absolute errors, above relative ones
Array = np.ndarray
CONDITIONS = ("dry", "wet", "oily")

_TYPICAL = "typical range of compounds {}; not a measurement of one"
_POISSON = "nearly incompressible; 0.49 is usual in simulations"
SCHMALZ = (
    "J. Schmalz GmbH, Vacuum knowledge, Theoretical holding force of a suction cup: reference "
    "values for cups of any rubber, 0.5 on metal, glass and the like, 0.6 on rough surfaces "
    "(cardboard), 0.2 to 0.3 on wet ones, 0.1 to 0.3 on oily ones, to be measured where it matters"
)
FRICTION = {  # dry, wet, oily, after SCHMALZ: the middle of a range, on oil its lower end
    "glass": (0.5, 0.25, 0.1),
    "steel": (0.5, 0.25, 0.1),
    "cardboard": (0.6, np.nan, np.nan),  # it soaks
    "plastic": (0.5, 0.25, 0.1),
}


def young_of_shore(shore: float) -> float:
    """Young's modulus [Pa] of rubber of a Shore A hardness, after Gent 1958.

    E = 0.0981 (56 + 7.62336 S) / (0.137505 (254 - 2.54 S)) MPa, from Hertz's contact of the
    indenter. Compounds of one hardness differ by some 20 %; above 80 Shore A it is less certain.
    """
    if not SOFTEST <= shore <= HARDEST:
        raise LimpetError(
            f"shore = {shore:g}: expected {SOFTEST:g} to {HARDEST:g} Shore A; others have scales "
            "of their own"
        )
    return 1e6 * 0.0981 * (56.0 + 7.62336 * shore) / (0.137505 * (254.0 - 2.54 * shore))


@dataclass(frozen=True)
class Rubber:
    """A rubber by its data sheet. Values are typical ones unless you give yours."""

    name: str
    shore: float  # Shore A hardness
    density: float  # [kg/m^3]
    poisson: float  # Poisson's ratio
    friction: Mapping[str, tuple[float, float, float]]  # by surface: dry, wet, oily
    sources: Mapping[str, str]  # by property

    @property
    def young(self) -> float:
        """[Pa] Young's modulus, from the hardness."""
        return young_of_shore(self.shore)

    def material(
        self, law: str = "corotational", *, c01: float = 0.0, c20: float = 0.0, c30: float = 0.0
    ) -> Material:
        """The material of a soft body; `law` and the constants [Pa] as in Material."""
        return Material(self.young, self.poisson, law=law, c01=c01, c20=c20, c30=c30)

    def friction_on(self, surface: str, condition: str = "dry") -> float:
        """Coulomb's coefficient on glass, steel, cardboard or plastic; dry, wet or oily."""
        if surface not in self.friction:
            raise LimpetError(f"surface = '{surface}'{suggest(surface, self.friction)}")
        if condition not in CONDITIONS:
            raise LimpetError(f"condition = '{condition}'{suggest(condition, CONDITIONS)}")
        mu = self.friction[surface][CONDITIONS.index(condition)]
        if np.isnan(mu):
            raise LimpetError(f"friction of {self.name} on {surface}, {condition}: not known")
        return mu

    def mass(self, shape: SoftShape) -> float:
        """[kg] of a shape, by the volume within its facets."""
        x = shape.visual.positions(shape.points)
        return self.density * abs(volume(x, shape.visual.triangles))


def _rubber(name: str, shore: float, density: float, compounds: str) -> tuple[str, Rubber]:
    """compounds: the range that these values are typical of."""
    sources = {
        "young": GENT,
        "shore": _TYPICAL.format(compounds),
        "density": _TYPICAL.format(compounds),
        "poisson": _POISSON,
        "friction": SCHMALZ,
    }
    return name, Rubber(name, shore, density, 0.49, FRICTION, sources)


RUBBERS: dict[str, Rubber] = dict(
    [
        _rubber("silicone", 50.0, 1150.0, "of 30 to 60 Shore A and 1100 to 1250 kg/m^3"),
        _rubber("NBR", 60.0, 1200.0, "of 40 to 70 Shore A and 1100 to 1300 kg/m^3"),
        _rubber("natural rubber", 45.0, 1050.0, "of 35 to 60 Shore A and 930 to 1200 kg/m^3"),
        _rubber("polyurethane", 60.0, 1150.0, "of 45 to 75 Shore A and 1050 to 1250 kg/m^3"),
        _rubber("neoprene", 60.0, 1350.0, "of 40 to 75 Shore A and 1230 to 1450 kg/m^3"),
        _rubber("PVC", 60.0, 1250.0, "of 45 to 75 Shore A and 1160 to 1350 kg/m^3"),
    ]
)


def rubber(
    name: str, *, shore: float | None = None, density: float | None = None,
    poisson: float | None = None,
) -> Rubber:  # fmt: skip
    """A rubber of RUBBERS, with the values of your data sheet where you have them."""
    known = {key.lower(): value for key, value in RUBBERS.items()}
    if str(name).lower() not in known:
        raise LimpetError(f"rubber = '{name}'{suggest(str(name), RUBBERS)}")
    given = {"shore": shore, "density": density, "poisson": poisson}
    own = {key: value for key, value in given.items() if value is not None}
    found = known[str(name).lower()]
    sources = {**found.sources, **dict.fromkeys(own, "given")}
    made = replace(found, sources=sources, **own)  # type: ignore[arg-type]
    young_of_shore(made.shore)
    if not 0.0 < made.density < 1e5:
        raise LimpetError(f"rubber density = {made.density:g} kg/m^3: expected 900 to 1500")
    return made


def fit_rubber(
    stretch: Sequence[float] | Array, stress: Sequence[float] | Array, law: str = "yeoh", *,
    test: str = "uniaxial", poisson: float = 0.49,
) -> Material:  # fmt: skip
    """A rubber from a measured curve: stretch (length by length at rest) and nominal stress [Pa].

    `law`: "yeoh" (c10, c20, c30) or "mooney-rivlin" (c10, c01). `test`: "uniaxial", "equibiaxial"
    or "planar". One test does not tell how a rubber behaves in others.
    """
    if law not in TERMS:
        raise LimpetError(f"law = '{law}' of a fit{suggest(law, TERMS)}")
    l, p = np.asarray(stretch, float), np.asarray(stress, float)
    use = [NAMES.index(n) for n in TERMS[law]]
    if l.shape != p.shape or l.ndim != 1 or not np.all(np.isfinite(l + p)):
        raise LimpetError(f"fit: {l.shape} stretches, {p.shape} stresses: expected as many numbers")
    if not np.all(l > 0.0) or np.any(p * (l - 1.0) < 0.0):
        raise LimpetError(
            "fit: stress and stretch - 1 have different signs: expected stretch = length / length "
            "at rest (1 + strain), tension positive"
        )
    if len(np.unique(l[l != 1.0])) < len(use):
        raise LimpetError(f"fit: expected {len(use)} or more points of different stretch")
    weight = 1.0 / np.maximum(np.abs(p), LOW * np.abs(p).max())
    matrix = weight[:, None] * basis(l, test)[:, use]
    found, _, rank, _ = np.linalg.lstsq(matrix, weight * p, rcond=1e-10)
    if rank < len(use):
        raise LimpetError(
            f"fit: a {test} test at these stretches does not tell {' from '.join(TERMS[law])}; use "
            "other stretches, another test or law"
        )
    return Material.mooney_rivlin(
        **{"c01": 0.0, **dict(zip(TERMS[law], found.tolist()))}, poisson=poisson
    )
