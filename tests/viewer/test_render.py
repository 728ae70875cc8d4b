"""Stills and films, with Chromium and without."""

import shutil

import pytest
from PIL import Image

from limpet.errors import LimpetError
from limpet.viewer import chromium
from limpet.viewer.render import render_run


@pytest.fixture(scope="module")
def folder(tmp_path_factory, filmed):
    return filmed(tmp_path_factory.mktemp("run"), "0.4 s", 1000)


def colours(path):
    with Image.open(path) as image:
        return len(image.convert("RGB").getcolors(10**6))


@pytest.mark.skipif(chromium.find() is None, reason="there is no chromium")
def test_a_still_is_drawn_by_the_page(folder, tmp_path):
    path = render_run(folder, tmp_path / "image.png", size="480x320")
    with Image.open(path) as image:
        assert image.size == (480, 320)
    assert colours(path) > 500


def test_a_browser_that_fails_is_no_failure(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(chromium, "find", lambda: shutil.which("false"))
    assert colours(render_run(folder, tmp_path / "image.png", size="480x320", time=0.4)) > 50


def test_without_a_browser_matplotlib_draws(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(chromium, "find", lambda: None)
    still = render_run(folder, tmp_path / "image.png", size="480x320", time=0.0)
    assert colours(still) > 50
    told = []
    animation = render_run(
        folder,
        tmp_path / "animation.gif",
        animation=True,
        size="240x160",
        progress=lambda done, total, text: told.append((done, total)),
    )
    assert told[-1][0] == told[-1][1] == len(told)
    with Image.open(animation) as image:
        assert image.n_frames == 5 and image.size == (240, 160)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"colour": "presure"}, "pressure"),
        ({"size": "big"}, "WIDTHxHEIGHT"),
        ({"animation": True, "out": "a.png"}, "ends in .gif or .mp4"),
        ({"out": "a.gif"}, "ends in .png"),
    ],
)
def test_wrong_wishes_are_one_line(folder, tmp_path, wrong, why):
    out = tmp_path / wrong.pop("out") if "out" in wrong else None
    with pytest.raises(LimpetError, match=why):
        render_run(folder, out, **wrong)


def test_a_folder_without_a_film_is_said(tmp_path):
    with pytest.raises(LimpetError, match=r"has no frames\.npz"):
        render_run(tmp_path)
