"""How `make html` builds these pages: Sphinx, MyST and furo, without a network."""

import sys
from importlib.metadata import version as version_of
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "Limpet"
author = copyright = "The Limpet developers"
version = release = version_of("limpet")

extensions = ["myst_parser", "sphinx.ext.autodoc", "plain_docstrings", "command_help"]
exclude_patterns = ["_ext"]
smartquotes = False
myst_enable_extensions = ["colon_fence", "attrs_block"]
myst_heading_anchors = 3
suppress_warnings = ["myst.header"]  # pages made for a git host too may begin below a first level

default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # they stand in the lists that plain_docstrings makes
autodoc_class_signature = "mixed"
add_module_names = False
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"

# Every reference has to lead somewhere, but for these types in signatures, which have no page.
nitpicky = True
nitpick_ignore_regex = [
    ("py:class", r"(numpy|collections|os|pathlib)\..+"),
    ("py:class", "Array|P|Contacts|JoinedSurface|ValveState|Cavity|Span|SealBoundaryModel|Place"),
    ("py:class", "ParticleSummary|CupSummary|RunParameters|Outline|CornerLike|MeshedSection"),
    ("py:class", r"Limit|Finder|RunStatus|AirLedger|WarmStart|limpet\.record\.run\..+"),
    ("py:class", r"ParticleMesh|Primitive|Motion|ParticleBody|RigidBody|Named|ParticleState"),
    ("py:class", r"limpet\.(model|dynamics|particles|contact|rigid|fem|pressure_field)\..+"),
    (
        "py:class",
        r"Pose|Field|FieldGeometry|SoftField|QuadraturePoints|ContactSurface|ContactTable",
    ),
    (
        "py:class",
        r"Control|ParticleModel|SolverMemory|Surface|Body|FrictionTable|RunnableSimulation|limpet\.geometry\..+",
    ),
    (
        "py:class",
        r"Control|ParticleModel|Vector|Spec|Source|Element|Given|ManifoldSpec|PathLike|Line|Runnable",
    ),
    ("py:class", r"primitives\.Solid"),
]

html_theme = "furo"
html_title = f"Limpet {version}"
html_show_sphinx = False
html_static_path = ["_static"]
html_css_files = ["limpet.css"]
html_copy_source = html_show_sourcelink = False
# furo asks for no font or script of another host; these are the reader's own.
html_theme_options = {
    "light_css_variables": {
        "font-stack": "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif",
        "font-stack--monospace": "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace",
        "color-brand-primary": "#0b6b7a",
        "color-brand-content": "#0b6b7a",
    },
    "dark_css_variables": {
        "color-brand-primary": "#6cc7d6",
        "color-brand-content": "#6cc7d6",
    },
}
