"""view, replay and render as a user types them; and every command's help."""

import os
import re
import signal
import subprocess
import sys
import urllib.request

import pytest

import limpet.cli.commands

COMMANDS = [c.name or c.callback.__name__ for c in limpet.cli.commands.app.registered_commands]
PROGRAM = [sys.executable, "-m", "limpet"]


def limpet_(*words, code=None):
    program = [sys.executable, "-c", code] if code else PROGRAM
    return subprocess.run([*program, *words], capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["view", "grond"], "unknown scene"),
        (["replay", "nowhere"], "has no frames.npz"),
        (["render", "nowhere"], "has no frames.npz"),
        (["view", "ground", "--port", "99999"], "port = 99999"),
    ],
)
def test_wrong_words_are_one_line_and_status_2(words, why):
    done = limpet_(*words)
    assert done.returncode == 2 and why in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_without_the_extra_view_says_what_to_install():
    code = (
        "import sys; sys.modules['starlette'] = sys.modules['uvicorn'] = None;"
        "sys.argv = ['limpet', 'view', 'ground']; from limpet.cli.commands import main; main()"
    )
    done = limpet_(code=code)
    assert done.returncode == 2 and "pip install 'limpet[view]'" in done.stderr


def served(words):
    """Start `limpet view`, and return the process and the address that it prints."""
    process = subprocess.Popen(
        [*PROGRAM, "view", *words, "--no-browser"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    line = process.stdout.readline()
    return process, re.search(r"http://127\.0\.0\.1:\d+/\?token=\S+", line)[0]


def fetched(address):
    with urllib.request.urlopen(address, timeout=10) as answer:
        return answer.read().decode()


def test_view_serves_a_scene_and_ends_with_ctrl_c(small):
    process, address = served(["ground", *(f"--set={k}={v}" for k, v in small.items())])
    try:
        assert 'src="/page/live.js"' in fetched(address)
    finally:
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=15)
    assert "Traceback" not in said


def test_a_run_is_replayed_and_viewed(tmp_path, filmed):
    filmed(tmp_path, "0.2 s", 10)
    done = limpet_("replay", str(tmp_path), "--out", str(tmp_path / "a" / "b.html"))
    assert done.returncode == 0, done.stderr
    assert "Three.js Authors" in (tmp_path / "a" / "b.html").read_text(encoding="utf-8")
    process, address = served([str(tmp_path)])
    try:
        assert 'id="recording"' in fetched(address)
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=15)
