"""Studies by name: tables and figures of the papers, and benchmarks.

The papers: P Bernardin et al. 2023, A Bernardin et al. 2019, M Frâncu et al. 2019, C Vezzaro et al.
2015, F Elandt et al. 2019. A module is imported only when it is run.
"""

from __future__ import annotations

from limpet.record.table import Study

STUDIES: dict[str, Study] = {
    "robustness": Study(
        "reproduce.robustness",
        "the peak force does not depend on solver and mesh settings",
    ),
    "outcomes": Study(
        "reproduce.outcomes",
        "P's scenes end alike at four time steps and on two meshes (long; resumes)",
        can_be_set=True,
    ),
    "curved": Study("reproduce.curved", "largest curvature that the cup lifts (P figure 10)"),
    "cylinders": Study(
        "reproduce.cylinders", "a bell seals on the same tubes whatever the meshes (long)"
    ),
    "table3": Study("reproduce.table3", "pull-off force on cylinders, as P table 3 (long)"),
    "fig4": Study(
        "reproduce.fig4",
        "pressure, volume and air while a cuboid is lifted (P figure 4)",
    ),
    "fig9": Study(
        "reproduce.fig9",
        "the ground scene on finer meshes and at other steps (P figure 9)",
    ),
    "masses": Study(
        "reproduce.masses",
        "which cubes one cup lifts, and which need two (P figure 14)",
    ),
    "shapes": Study(
        "reproduce.shapes",
        "three cups that lift by deforming their top (P figure 12)",
    ),
    "drawn-down": Study(
        "reproduce.drawn_down",
        "the least pump that draws down and seals a lip 0.1 mm off a plate",
    ),
    "soft-on-soft": Study(
        "reproduce.soft_on_soft",
        "cups on soft boxes and cups, E ratio 0.01 to 100, down to -90 kPa (long)",
        can_be_set=True,
    ),
    "roughness": Study(
        "reproduce.roughness",
        "life of a cup under a constant load on rough surfaces (Tiwari and Persson 2019)",
    ),
    "fig6": Study("reproduce.fig6", "the shape of a cup under a regulated vacuum (A figure 6)"),
    "fig8": Study(
        "reproduce.fig8",
        "pull-off force over the vacuum (A figure 8)",
    ),
    "timing-a": Study("bench.active", "time by phase in active suction (A III-D)"),
    "bunny-swing": Study(
        "reproduce.bunny_swing",
        "volume and tail height of a swinging bunny (M figures 5, 6)",
    ),
    "spine": Study(
        "reproduce.spine",
        "sag and locking of a hanging spine (M figure 8)",
    ),
    "fig1-f": Study(
        "reproduce.fig1_f",
        "contact surfaces of a sphere and a half space, three compliances (F figure 1)",
    ),
    "fig2-f": Study(
        "reproduce.fig2_f",
        "a rigid box in the pressure field of a plane figure, by Laplace's equation (F figure 2)",
    ),
    "fig3-f": Study(
        "reproduce.fig3_f",
        "hydrostatics against an elastic foundation: tractions, and work on a loop (F figure 3)",
    ),
    "fig6-f": Study(
        "reproduce.fig6_f",
        "a rigid wave pressed into a layer: pressure field against FEM (F figure 6)",
    ),
    "drops-f": Study(
        "reproduce.drops_f",
        "random drops by pressure fields: no modulus, mass or step creates energy (F V)",
    ),
    "fig1-c": Study(
        "reproduce.fig1_c",
        "convergence of the sweeps on cloth and jelly (C figure 1)",
    ),
    "fig5-c": Study("bench.fig5_c", "time of the sweeps over constraints, cloth (C figure 5)"),
    "fig6-c": Study("bench.fig6_c", "time of the sweeps over constraints, jellies (C figure 6)"),
    "averaging-c": Study("reproduce.averaging_c", "exact against averaged contacts (C 4.3)"),
    "sweeps-c": Study(
        "reproduce.sweeps_c",
        "cloth and jelly with two sweeps and with a tolerance (C 5)",
    ),
    "locking": Study(
        "reproduce.locking",
        "locking of elements: a beam and a cup (M figures 7, 9)",
    ),
}

BENCHMARKS: dict[str, Study] = {
    "ground": Study(
        "bench.ground",
        "time by phase of the ground scene, compared with P table 1",
        can_be_set=True,
    ),
    "table1": Study(
        "bench.table1", "time by phase of P's scenes, compared with P table 1", can_be_set=True
    ),
    "table2": Study("bench.table2", "time as the collision mesh grows, compared with P table 2"),
    "active": Study("bench.active", "time by phase in active suction, compared with A III-D"),
    "view": Study("bench.view", "time of a frame of the live page, by colour"),
    "pressure-field": Study("bench.pressure_field", "time of a pressure-field query (F)"),
    "constrained": Study(
        "bench.constrained", "time of jelly, cloth and many constraints, compared with C 5"
    ),
    "table-m": Study("bench.table_m", "time of mixed and other tets, compared with M table 1"),
}
