"""The pages are built without a warning, ask no other host for anything, and leave nothing out."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from limpet.bench.registry import BENCHMARKS
from limpet.cli import app
from limpet.reproduce.registry import STUDIES
from limpet.scenes.registry import scenes

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
LOADS = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src"}
TEXT = "\n".join(page.read_text(encoding="utf-8") for page in sorted(DOCS.rglob("*.md")))
COMMANDS = [c.name or c.callback.__name__ for c in app.registered_commands if c.callback]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    out = tmp_path_factory.mktemp("site")
    build = [sys.executable, "-m", "sphinx", "-b", "html", "-W", "--keep-going", "-q"]
    source = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [*build, "-d", out / "doctrees", DOCS, out / "html"],
        env=source, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0 and not done.stderr, done.stderr
    return out / "html"


class Loaded(HTMLParser):
    """What a page makes the browser load by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag, attrs):
        value = dict(attrs).get(LOADS.get(tag, ""))
        if value:
            self.addresses.append(value)


def test_every_page_is_built(site):
    pages = {p.relative_to(DOCS).with_suffix(".html") for p in DOCS.rglob("*.md")}
    assert pages and all((site / page).is_file() for page in pages)


def test_no_page_loads_from_another_host(site):
    for page in site.rglob("*.html"):
        parser = Loaded()
        parser.feed(page.read_text(encoding="utf-8"))
        assert parser.addresses
        for address in parser.addresses:
            assert not re.match(r"(?:[a-z]+:)?//", address), f"{page.name} loads {address}"
            target = page.parent / address.split("#")[0].split("?")[0]
            assert target.exists(), f"{page.name} loads {address}, which is not there"


def test_no_style_loads_from_another_host(site):
    for style in site.rglob("*.css"):
        for address in re.findall(r"(?:url\(|@import\s)\s*['\"]?([^'\")\s]+)", style.read_text()):
            assert not re.match(r"(?:[a-z]+:)?//", address), f"{style.name} loads {address}"


@pytest.mark.parametrize("name", scenes())
def test_every_scene_is_told_of(name):
    assert f"`{name}`" in TEXT or re.search(rf"^#+ .*\b{re.escape(name)}\b", TEXT, re.M)


@pytest.mark.parametrize(
    "kind, name", [("reproduce", n) for n in STUDIES] + [("bench", n) for n in BENCHMARKS]
)
def test_every_study_is_told_of(kind, name):
    assert f"limpet {kind} {name}" in TEXT


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_told_of(name):
    assert f"{{limpet-help}} {name}" in TEXT


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_links_out_of_the_readme_lead_somewhere(page):
    links = re.findall(r"\]\(([^)#]+)\)", (ROOT / page).read_text(encoding="utf-8"))
    for link in links:
        assert link.startswith("http") or (ROOT / link).exists(), link
