"""Who is refused, and what a bad message, a hung page or a crash does."""

import contextlib
import json
import os
import queue
import signal
import socket
import time
from types import SimpleNamespace

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

import limpet as lp
from limpet.errors import LimpetError
from limpet.viewer.commands import MalformedError, read_command
from limpet.viewer.server import (
    BUSY,
    MALFORMED,
    MAX_MESSAGE,
    MAX_PENDING,
    REFUSED,
    Engine,
    Server,
)


def http(server, path, **headers):
    """The status of a request with exactly these headers, and the answer."""
    lines = [
        f"GET {path} HTTP/1.1",
        *(f"{k}: {v}" for k, v in headers.items()),
        "Connection: close",
    ]
    with socket.create_connection(("127.0.0.1", server.port), timeout=5) as line:
        line.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        answer = b""
        while part := line.recv(65536):
            answer += part
    return int(answer.split()[1]), answer.decode(errors="replace")


def page_socket(server, *, token=None, origin=None, **options):
    address = f"ws://127.0.0.1:{server.port}/socket?token={token or server.token}"
    origin = origin or f"http://127.0.0.1:{server.port}"
    return connect(address, origin=origin, max_size=None, **options)


def hear(page, kind, seconds=20.0):
    """The next message of a kind: "frame" or a JSON message's type."""
    end = time.monotonic() + seconds
    while True:
        message = page.recv(timeout=max(0.0, end - time.monotonic()))
        if isinstance(message, bytes):
            if kind == "frame":
                return message
            continue
        content = json.loads(message)
        if content["type"] == kind:
            return content


def closing(page):
    with pytest.raises(ConnectionClosed) as end:
        for _ in range(100):
            page.recv(timeout=5)
    return end.value.rcvd.code


def test_only_this_host_and_this_origin_are_answered(server):
    host = f"127.0.0.1:{server.port}"
    path = f"/?token={server.token}"
    status, answer = http(server, path, Host=host)
    assert status == 200 and "Content-Security-Policy".lower() in answer.lower()
    assert http(server, path, Host=host, Origin=f"http://{host}")[0] == 200
    assert http(server, path, Host="evil.example")[0] == 403
    assert http(server, path, Host=f"evil.example:{server.port}")[0] == 403
    assert http(server, path, Host=host, Origin="http://evil.example")[0] == 403
    assert http(server, path, Host=host, Origin="null")[0] == 403
    assert http(server, "/", Host=host)[0] == 403
    assert http(server, "/?token=guess", Host=host)[0] == 403
    assert http(server, "/three.js", Host=host)[0] == 200
    assert http(server, "/page/page.js", Host=host)[0] == 200
    assert http(server, "/page/..%2Fserver.py", Host=host)[0] == 404
    assert http(server, "/page/index.html", Host=host)[0] == 404


def test_it_listens_on_this_machine_only(server):
    assert server._listening.getsockname()[0] == "127.0.0.1"


@pytest.mark.parametrize(
    "wrong",
    [
        {"origin": "http://evil.example"},
        {"origin": "http://127.0.0.1:1"},
        {"token": "guess"},
        {"additional_headers": {"Host": "evil.example"}},
    ],
)
def test_a_strangers_socket_is_refused(server, wrong):
    with pytest.raises((InvalidStatus, ConnectionClosed)), page_socket(server, **wrong) as page:
        page.recv(timeout=5)


def test_a_second_user_is_told_and_the_first_goes_on(server):
    with page_socket(server) as first:
        hear(first, "frame")
        with page_socket(server) as second:
            assert hear(second, "refused")["text"] == BUSY
            assert closing(second) == REFUSED
        first.send('{"do": "ack"}')
        first.send('{"do": "step"}')
        hear(first, "frame")


BAD = [
    "no json",
    "[1]",
    '{"do": "rm"}',
    '{"do": "speed", "value": NaN}',
    '{"do": "speed", "value": "fast"}',
    '{"do": "step", "count": -1}',
    '{"do": "pull", "body": "cup", "vertex": 0, "force": [1, 2]}',
    '{"do": "parameters", "values": {"young": [1]}}',
    '{"do": "live", "name": "leak", "value": true}',
    "[" * 5000,
    '{"do": "speed", "value": ' + "1" * 400 + "}",
    '{"do": "speed", "value": ' + "1" * 5000 + "}",
    '{"do": "pull", "body": "cup", "vertex": 0, "force": [0, 0, -1' + "0" * 400 + "]}",
    '{"do": "step", "count": ' + "9" * 400 + "}",
    '{"do": "parameters", "values": {"young": 1e999}}',
    '{"do": "parameters", "values": {"sectors": ' + "1" * 400 + "}}",
]


@pytest.mark.parametrize("text", BAD)
def test_a_malformed_command_is_none(text):
    with pytest.raises(MalformedError):
        read_command(text)


@pytest.mark.parametrize("message", ["no json", b"\0\1\2", "x" * (2 * MAX_MESSAGE)])
def test_a_bad_message_closes_its_socket_and_nothing_else(server, message):
    with page_socket(server) as page:
        hear(page, "frame")
        page.send(message)
        assert closing(page) in (MALFORMED, 1009)
    with page_socket(server) as again:
        hear(again, "frame")


def test_no_frame_follows_one_that_was_not_acknowledged(server):
    with page_socket(server) as page:
        hear(page, "frame")
        page.send('{"do": "play"}')
        with pytest.raises(TimeoutError):
            hear(page, "frame", 0.5)
        page.send('{"do": "ack"}')
        hear(page, "frame")
        page.send('{"do": "pause"}')
        with pytest.raises(TimeoutError):
            hear(page, "frame", 0.5)
        page.send('{"do": "ack"}')
        hear(page, "frame")  # where it stands
        page.send('{"do": "ack"}')
        with pytest.raises(TimeoutError):
            hear(page, "frame", 0.5)


def test_a_wrong_wish_is_answered_with_a_line(server):
    with page_socket(server) as page:
        hear(page, "frame")
        page.send('{"do": "pull", "body": "block", "vertex": 0, "force": [1, 0, 0]}')
        assert "fixed" in hear(page, "problem")["text"]
        page.send('{"do": "live", "name": "leak", "value": -1}')
        assert "expected 0 or more" in hear(page, "problem")["text"]


def test_a_crash_is_a_line_and_reset_starts_again(server):
    with page_socket(server) as page:
        hear(page, "frame")
        os.kill(server.engine.process.pid, signal.SIGKILL)
        assert "simulation ended" in hear(page, "crash")["text"]
        page.send('{"do": "reset"}')
        hear(page, "header")
        hear(page, "frame")


def test_a_wrong_scene_is_one_line():
    with pytest.raises(LimpetError, match="unknown scene"):
        Server("grond")


def half_open(server, count):
    """Connections that send the beginning of a request and no more."""
    lines = [socket.create_connection(("127.0.0.1", server.port), timeout=5) for _ in range(count)]
    for k, line in enumerate(lines):
        line.sendall((b"", b"GET / HTTP/1.1\r\n", b"GET / HTTP/1.1\r\nHost: 127")[k % 3])
    return lines


def test_half_open_requests_are_closed(server, monkeypatch):
    monkeypatch.setattr("limpet.viewer.protocols.REQUEST_TIME", 1.5)
    lines = half_open(server, 60)
    begin = time.monotonic()
    for line in lines:
        with contextlib.suppress(ConnectionResetError):
            assert line.recv(1) == b""  # closed
        line.close()
    assert time.monotonic() - begin < 4.0
    host = f"127.0.0.1:{server.port}"
    assert http(server, f"/?token={server.token}", Host=host)[0] == 200


def test_a_request_in_time_and_an_open_socket_are_not_closed(server, monkeypatch):
    monkeypatch.setattr("limpet.viewer.protocols.REQUEST_TIME", 1.0)
    with page_socket(server) as page:
        hear(page, "frame")
        time.sleep(2.5)
        page.send('{"do": "ack"}')
        page.send('{"do": "step"}')
        hear(page, "frame")


def hung_page(server):
    """A page that has opened its socket and then neither reads nor answers."""
    line = socket.create_connection(("127.0.0.1", server.port), timeout=5)
    host = f"127.0.0.1:{server.port}"
    line.sendall(
        f"GET /socket?token={server.token} HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\n"
        "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode()
    )
    assert line.recv(12) == b"HTTP/1.1 101"
    return line


def test_a_hung_page_is_replaced_within_five_seconds(server):
    line = hung_page(server)
    begin = time.monotonic()
    with page_socket(server) as page:
        hear(page, "frame")
        assert time.monotonic() - begin < 5.0
    line.close()


def memory():
    """[byte] of this process, which has the server."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="there is no /proc")
def test_bad_messages_take_no_memory(server):
    def refuse(count):
        for k in range(count):
            with pytest.raises(MalformedError):
                read_command(BAD[k % len(BAD)])

    def wrong_wishes(page, count):
        for _ in range(count):
            page.send('{"do": "pull", "body": "block", "vertex": 0, "force": [1, 0, 0]}')
            hear(page, "problem")

    with page_socket(server) as page:
        hear(page, "frame")
        refuse(2000)
        wrong_wishes(page, 200)
        before = memory()
        refuse(20_000)
        wrong_wishes(page, 2000)
        assert memory() - before < 4e6


def test_a_page_that_sends_more_than_can_be_done_is_closed():
    engine = Engine.__new__(Engine)  # without a worker: nothing takes the commands
    engine.process = SimpleNamespace(is_alive=lambda: True)
    engine._commands = queue.Queue(MAX_PENDING)
    for _ in range(MAX_PENDING):
        engine.command({"do": "ack"})
    with pytest.raises(MalformedError, match="too many"):
        engine.command({"do": "ack"})


def test_a_world_is_served_from_this_process():
    world = lp.World()
    world.add_rigid(lp.shapes.box(0.02, 0.02, 0.02), 0.1, name="box")
    server = lp.view(world, "0.3 s", browser=False, block=False)
    try:
        with page_socket(server) as line:
            header = hear(line, "header")
            assert (header["scene"], header["duration"]) == ("world", 0.3)
            assert {p["name"] for p in header["parameters"]} == {"h", "duration"}
            line.send(json.dumps({"do": "step", "count": 3}))
            assert hear(line, "frame")
            line.send(json.dumps({"do": "parameters", "values": {"h": "20 ms"}}))
            assert hear(line, "header")["h"] == 0.02
            line.send(json.dumps({"do": "parameters", "values": {"h": "-20 ms"}}))
            assert "expected a time above 0" in hear(line, "problem")["text"]
    finally:
        server.stop()
    worker = server.engine.process
    worker.join(5.0)
    assert not worker.is_alive()
