"""The packages stand in one order; each imports only from those before it."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import limpet

ROOT = Path(limpet.__file__).parent

# Lowest first; packages of one line do not know each other, but for the base,
# whose files may use one another.
BASE = ("errors", "units", "report", "clock", "compiled", "kernel_cache")
ORDER = (
    ("geometry", "linalg", "storage"),
    ("meshing",),
    ("shapes",),
    ("dynamics",),
    ("contact",),
    ("fem",),
    ("rigid",),
    ("particles",),
    ("cavity",),
    ("pressure_field",),
    ("solver",),
    ("model",),
    ("engine",),
    ("scenes",),
    ("record",),
    ("viewer",),
    ("studies", "warm_up"),
    ("cli",),
    ("__main__",),
)
LEVEL = {package: level for level, packages in enumerate((BASE, *ORDER)) for package in packages}
FILES = sorted(path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py")


def package_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def runtime_imports(path: Path) -> set[str]:
    """The packages a file imports from, other than for types alone."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for_types = {
        id(node)
        for branch in ast.walk(tree)
        if isinstance(branch, ast.If) and "TYPE_CHECKING" in ast.unparse(branch.test)
        for node in ast.walk(branch)
    }
    names: list[str] = []
    for node in ast.walk(tree):
        if id(node) in for_types:
            continue
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            here = list(path.relative_to(ROOT.parent).parent.parts)
            base = ".".join(here[: len(here) - node.level + 1]) if node.level else ""
            module = ".".join(part for part in (base, node.module or "") if part)
            whole = module == "limpet"
            names += [f"limpet.{alias.name}" for alias in node.names] if whole else [module]
    return {name.split(".")[1] for name in names if name.startswith("limpet.")}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_only_from_packages_before(path):
    package = package_of(path)
    assert package in LEVEL, f"package '{package}' has no place in the order"
    for other in runtime_imports(path) - {package}:
        assert other in LEVEL, f"{path}: imports from limpet.{other}, which has no place"
        if not (package in BASE and other in BASE):
            assert LEVEL[other] < LEVEL[package], f"{path}: {package} must not import from {other}"


def test_the_check_sees_every_kind_of_import(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path / "limpet")
    file = tmp_path / "limpet" / "geometry" / "x.py"
    file.parent.mkdir(parents=True)
    file.write_text(
        "from typing import TYPE_CHECKING\n"
        "import limpet.cli.commands\nfrom limpet.solver import a\nfrom limpet import bodies\n"
        "from ..record import b\nfrom .. import cavity\nfrom . import surface\n"
        "def f():\n    from limpet.scenes.registry import c\n"
        "if TYPE_CHECKING:\n    from limpet.engine.simulation import World\n"
    )
    packages = {"cli", "solver", "bodies", "record", "cavity", "geometry", "scenes"}
    assert runtime_imports(file) == packages


def test_help_needs_no_heavy_library():
    code = (
        "import sys, limpet.cli.commands;"
        "heavy = {'numba', 'scipy', 'numpy', 'matplotlib', 'manifold3d'} & set(sys.modules);"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
