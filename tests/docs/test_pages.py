"""The pages are built without a warning, ask no other host for anything, and leave nothing out."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

import limpet
from limpet.cli.commands import app
from limpet.scenes.registry import scenes
from limpet.studies.registry import BENCHMARKS, STUDIES

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


def public_names() -> Iterator[tuple[str, str]]:
    """Every public name as a user writes it, and as it is called where it stands."""
    for name in limpet.__all__:
        thing = getattr(limpet, name)
        if not inspect.ismodule(thing):
            yield f"limpet.{name}", f"{thing.__module__}.{name}"
            continue
        own = [n for n, o in vars(thing).items() if getattr(o, "__module__", "") == thing.__name__]
        for inner in getattr(thing, "__all__", [n for n in own if not n.startswith("_")]):
            yield f"limpet.{name}.{inner}", f"{thing.__name__}.{inner}"


def test_every_public_name_has_its_place(site):
    pages = "".join(page.read_text(encoding="utf-8") for page in (site / "api").glob("*.html"))
    shown = set(re.findall(r'id="([\w.]+)"', pages))
    missing = [name for name, there in public_names() if not {name, there} & shown]
    assert not missing


@pytest.mark.parametrize("name", limpet.__all__)
def test_every_field_of_a_public_record_says_what_it_is(name, monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS / "_ext"))
    described = importlib.import_module("plain_docstrings")
    record = getattr(limpet, name)
    assert inspect.getdoc(record)
    if dataclasses.is_dataclass(record):
        told = {e.name: e.text for e in described.parameters(f"limpet.{name}", record)}
        assert set(told) == {field.name for field in dataclasses.fields(record)}
        assert all(told.values()), told


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


def test_every_name_on_the_architecture_page_exists():
    """Files in backticks are there, and classes, methods and functions are defined somewhere."""
    text = (DOCS / "architecture.md").read_text(encoding="utf-8")
    spans = set(re.findall(r"`([^`\n]+)`", text))
    source = {p: p.read_text(encoding="utf-8") for p in (DOCS.parent / "src").rglob("*.py")}
    defined = set()
    for code in source.values():
        defined |= set(re.findall(r"^ *(?:def|class) (\w+)", code, flags=re.M))
        defined |= set(re.findall(r"^ *(\w+)(?:: [^=\n]+)? =", code, flags=re.M))
    checked = 0
    for span in spans:
        if "/" in span or span.endswith(".py"):
            if "<" not in span:
                places = [DOCS.parent / "src" / "limpet" / span, DOCS.parent / span]
                assert any(p.exists() for p in places), span
                checked += 1
            continue
        for name in re.findall(r"[A-Za-z_]\w*(?=\()|[A-Z]\w*[a-z]\w*|\b[A-Z]{4,}\b", span):
            assert name in defined or name in ("Parameters", "True"), span
            checked += 1
    assert checked > 60


class Listed(HTMLParser):
    """The headings of the field lists (Parameters, Returns, ...) by the object they belong to."""

    def __init__(self) -> None:
        super().__init__()
        self.headings: dict[str, set[str]] = {}
        self._objects: list[str] = []
        self._in_heading = False

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if tag == "dl":
            self._objects.append(self._objects[-1] if self._objects else "")
        elif tag == "dt" and given.get("id", "").startswith("limpet."):
            self._objects[-1] = given["id"]
            self.headings.setdefault(given["id"], set())
        self._in_heading = tag == "dt" and (given.get("class") or "").startswith("field-")

    def handle_endtag(self, tag):
        if tag == "dl":
            self._objects.pop()

    def handle_data(self, data):
        if self._in_heading and data.strip(": "):
            self.headings[self._objects[-1]].add(data.strip(": "))


@pytest.fixture(scope="module")
def headings(site):
    parser = Listed()
    for page in (site / "api").glob("*.html"):
        parser.feed(page.read_text(encoding="utf-8"))
    return parser.headings


def found(name: str) -> object:
    """The object of that full name."""
    module, parts = limpet, name.split(".")[1:]
    while parts:
        if not hasattr(module, parts[0]):
            module = importlib.import_module(f"{module.__name__}.{parts[0]}")
        else:
            module = getattr(module, parts[0])
        parts = parts[1:]
    return module


def test_every_object_lists_parameters_results_and_errors(headings, monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS / "_ext"))
    described = importlib.import_module("plain_docstrings")
    assert len(headings) > 100
    for name, shown in headings.items():
        obj = found(name)
        if not (callable(obj) or isinstance(obj, property)) or name.endswith("SceneParameters"):
            continue
        entries = described.parameters(name, obj)
        assert not entries or shown & {"Parameters", "Variables"}, name
        assert all(e.text and (e.type or e.name.startswith("*")) for e in entries), (name, entries)
        result = described.returned(name, obj)
        assert result is None or (result.text and {"Returns", "Return type"} <= shown), name
        if "Variables" not in shown:
            assert not described.raised(name, obj) or "Raises" in shown, name


def test_descriptions_apart_from_the_code_belong_to_a_parameter(headings, monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS / "_ext"))
    described = importlib.import_module("plain_docstrings")
    for name, entries in described.DESCRIBED.items():
        if name in headings:
            known = {e.name.lstrip("*") for e in described.parameters(name, found(name))}
            assert set(entries) <= {*known, "return"}, name


@pytest.mark.parametrize("page", sorted((DOCS / "api").glob("*.md")), ids=lambda p: p.stem)
def test_every_class_has_an_example(page):
    text = page.read_text(encoding="utf-8")
    code = "\n".join(re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S))
    for name in re.findall(r"^\.\. (?:auto|py:)(?:class|exception):: [\w.]+?(\w+)$", text, re.M):
        assert re.search(rf"\b{name}\b", code), f"{page.name}: no example of {name}"
