"""What stands in the pages as code is run, page by page, and prints what the page says it prints.

A page's fenced blocks are taken in their order, in an empty folder: ``python`` is run, all blocks
of a page in one namespace; ``toml`` whose first line is a comment with a file name becomes that
file; the lines of ``sh`` that begin with `limpet` are given to the command line; ``output`` is what
the block before it prints, dots standing for anything. A comment ``<!-- not run: why -->`` before a
block leaves it out.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import re
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from limpet.cli import commands as cli

ROOT = Path(__file__).parents[2]
FENCE = re.compile(
    r"(?:^<!-- not run: (?P<why>[^>]+?) -->\n+)?^```(?P<kind>[a-z]+)\n(?P<text>.*?)^```$",
    re.M | re.S,
)
MATCH = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    kind: str
    text: str
    line: int
    why_not: str | None


def blocks(text: str) -> list[Block]:
    return [
        Block(m["kind"], m["text"], text[: m.start("text")].count("\n") + 1, m["why"])
        for m in FENCE.finditer(text)
    ]


def runs(page: Path) -> bool:
    kinds = {b.kind for b in blocks(page.read_text(encoding="utf-8")) if b.why_not is None}
    return bool(kinds & {"python", "sh"})


PAGES = [p for p in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))) if runs(p)]


def command(line: str) -> None:
    """One command line, as the program itself would take it."""
    before = sys.argv
    sys.argv = shlex.split(line, comments=True)
    try:
        cli.main()
    except SystemExit as end:
        assert not end.code, f"{line}: status {end.code}"
    finally:
        sys.argv = before


def play(page: str, source: str) -> None:
    """Run the blocks of a page in the present folder."""
    names: dict[str, object] = {"__name__": page}
    printed = ""
    for block in blocks(source):
        if block.why_not is not None:
            continue
        if block.kind == "output":
            same = doctest.OutputChecker().check_output(block.text, printed, MATCH)
            assert same, f"{page}:{block.line} says\n{block.text}\nbut this was printed\n{printed}"
            continue
        if named := re.match(r"# ([\w-]+\.(toml|py))\n", block.text):
            Path(named[1]).write_text(block.text, encoding="utf-8")
        if block.kind in ("python", "sh"):
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                if block.kind == "python":
                    padded = "\n" * block.line + block.text  # so that a traceback names the line
                    exec(compile(padded, page, "exec", dont_inherit=True), names)
                else:
                    for line in block.text.splitlines():
                        if line.startswith("limpet "):
                            command(line)
            printed = out.getvalue()


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_code_of_a_page(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    play(str(page), page.read_text(encoding="utf-8"))


def test_these_pages_have_code_that_is_run():
    names = {str(p.relative_to(ROOT)) for p in PAGES}
    assert {"README.md", "docs/tutorial.md", "docs/howto/sweep.md"} <= names


@pytest.mark.parametrize(
    "text",
    [
        "```python\n1 / 0\n```\n",
        "```python\nprint(2)\n```\n\n```output\n3\n```\n",
        "```sh\nlimpet run no-such-scene\n```\n",
    ],
)
def test_a_page_that_is_wrong_is_found(text):
    with pytest.raises((AssertionError, ZeroDivisionError)):
        play("page", text)


def test_dots_stand_for_anything_and_what_is_not_to_run_is_left_out():
    play("page", "```python\nprint(1, 2)\n```\n\n```output\n1 ...\n```\n")
    play("page", "<!-- not run: it fails -->\n\n```python\n1 / 0\n```\n")
