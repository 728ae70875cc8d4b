"""The files of the page, and three.js, which is read from the installed nicegui wheel."""

from __future__ import annotations

import html
import importlib.util
import json
from importlib import resources
from pathlib import Path

from limpet.errors import LimpetError

INSTALL = "the page needs more packages: pip install 'limpet[view]'"
# imported as 'limpet/view', ...
MODULES = ("view.js", "meshes.js", "arrows.js", "plots.js", "sources.js", "panel.js", "page.js")
PAGE = (*MODULES, "live.js", "page.css")
THREE = "elements/scene/dist/index.js"  # in nicegui; exports THREE and OrbitControls

MIT = """Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in
all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN
THE SOFTWARE."""
NOTICE = f"""This file contains three.js, with its controls and loaders:
Copyright (c) 2010-2025 Three.js Authors
bundled by NiceGUI, Copyright (c) 2021 Zauberzeug GmbH, together with tween.js,
Copyright (c) 2010-2012 Tween.js authors. All three under the MIT License:

{MIT}"""


def three_path() -> Path:
    """Where three.js is installed."""
    spec = importlib.util.find_spec("nicegui")  # not imported, which would take a second
    places = list(spec.submodule_search_locations or []) if spec is not None else []
    path = Path(places[0]) / THREE if places else None
    if path is None or not path.is_file():
        raise LimpetError(INSTALL)
    return path


def page_text(name: str) -> str:
    return (resources.files("limpet.viewer") / "page" / name).read_text(encoding="utf-8")


def live_html(nonce: str) -> str:
    """index.html of the live page, with modules by address."""
    names = {f"limpet/{Path(m).stem}": f"/page/{m}" for m in MODULES}
    modules = json.dumps({"imports": {"three": "/three.js", **names}})
    head = (
        "<title>Limpet</title>\n"
        '<link rel="stylesheet" href="/page/page.css">\n'
        f'<script type="importmap" nonce="{nonce}">{modules}</script>\n'
        '<script type="module" src="/page/live.js"></script>'
    )
    return page_text("index.html").replace("<!--HEAD-->", head)


def standalone_html(title: str, recording: str) -> str:
    """index.html as one file; ReplaySource of sources.js reads the frames from `recording`."""
    parts = [
        f"<!--\n{NOTICE}\n-->",
        f"<title>{html.escape(title)}</title>",
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "script-src 'unsafe-inline' blob:; style-src 'unsafe-inline'; img-src data: blob:\">",
        f"<style>\n{page_text('page.css')}</style>",
        _embedded("three", three_path().read_text(encoding="utf-8")),
        *(_embedded(f"limpet/{Path(m).stem}", page_text(m)) for m in MODULES),
        f'<script type="text/plain" id="recording">{recording}</script>',
        f"<script>\n{page_text('standalone.js')}</script>",
    ]
    return page_text("index.html").replace("<!--HEAD-->", "\n".join(parts))


def _embedded(name: str, text: str) -> str:
    """A module as text; standalone.js makes it importable."""
    if "</script" in text.lower():
        raise LimpetError(f"'{name}' contains a closing script tag and cannot be embedded")
    return f'<script type="text/plain" data-module="{name}">{text}</script>'
