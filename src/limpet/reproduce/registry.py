"""The tables and figures of the papers by name; each module is imported only when it is run."""

from __future__ import annotations

from limpet.record.table import Study

STUDIES: dict[str, Study] = {
    "robustness": Study(
        "limpet.reproduce.robustness", "the peak force is a property of the cup, not of the solver"
    ),
    "curved": Study(
        "limpet.reproduce.curved", "how curved a block the cup still lifts (P figure 10)"
    ),
    "table3": Study(
        "limpet.reproduce.table3", "pull-off force on cylinders, beside P table 3 (long)"
    ),
    "fig4": Study(
        "limpet.reproduce.fig4", "pressure, volume and air while a cuboid is lifted (P figure 4)"
    ),
    "fig9": Study(
        "limpet.reproduce.fig9", "the ground scene on finer meshes and at other steps (P figure 9)"
    ),
    "masses": Study(
        "limpet.reproduce.masses", "which cubes one cup lifts, and which take two (P figure 14)"
    ),
    "shapes": Study(
        "limpet.reproduce.shapes", "three cups that lift by deforming their top (P figure 12)"
    ),
    "fig6": Study(
        "limpet.reproduce.fig6", "the shape of a cup under a regulated vacuum (A figure 6)"
    ),
    "fig8": Study(
        "limpet.reproduce.fig8", "pull-off force over the vacuum, until it lets go (A figure 8)"
    ),
    "timing-a": Study("limpet.bench.active", "time by phase in active suction (A III-D)"),
    "bunny-swing": Study(
        "limpet.reproduce.bunny_swing", "volume and tail of a swinging bunny (M figures 5, 6)"
    ),
    "spine": Study("limpet.reproduce.spine", "a spine hung by its ends locks or sags (M figure 8)"),
    "fig1-f": Study(
        "limpet.reproduce.fig1_f",
        "contact surfaces of a sphere and a half space, three compliances (F figure 1)",
    ),
    "fig6-f": Study(
        "limpet.reproduce.fig6_f",
        "a rigid wave in a layer: pressure field against FEM (F figure 6)",
    ),
    "fig1-c": Study(
        "limpet.reproduce.fig1_c", "how fast the sweeps converge on cloth and jelly (C figure 1)"
    ),
    "fig5-c": Study(
        "limpet.bench.fig5_c", "time of the sweeps over constraints, cloth (C figure 5)"
    ),
    "fig6-c": Study(
        "limpet.bench.fig6_c", "time of the sweeps over constraints, jellies (C figure 6)"
    ),
    "averaging-c": Study(
        "limpet.reproduce.averaging_c", "contacts exact, and averaged as C 4.3 has them"
    ),
    "sweeps-c": Study(
        "limpet.reproduce.sweeps_c", "cloth and jelly by two sweeps and to a tolerance (C 5)"
    ),
    "locking": Study(
        "limpet.reproduce.locking",
        "which element to trust: a beam and a cup (M figures 7, 9)",
    ),
}
