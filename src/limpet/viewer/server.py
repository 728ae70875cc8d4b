"""Server of the live page: local connections only, one user, access by token."""

from __future__ import annotations

import asyncio
import contextlib
import json
import multiprocessing
import queue
import secrets
import socket
import threading
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from limpet.errors import LimpetError
from limpet.scenes.registry import Scene
from limpet.viewer.commands import MalformedError, read_command
from limpet.viewer.page_files import PAGE, live_html, three_path
from limpet.viewer.protocols import ResponsiveSocket, TimedRequests
from limpet.viewer.worker import main as work

HOST = "127.0.0.1"
MAX_MESSAGE = 64 * 1024  # [byte] from the page
BUSY = "this simulation is already open in another page; close that page first"
REFUSED, MALFORMED = 4001, 4002  # close codes of the socket
TYPES = {".js": "text/javascript", ".css": "text/css"}
PING_INTERVAL, PING_TIME = 1.0, 2.0  # [s] a page that does not answer a ping in time is gone
HANDOVER_TIME = 4.0  # [s] for which a new page waits for the old one to close, or to be gone
MAX_PENDING = 1000  # messages to the page, or commands to the simulation


class WorkerThread(threading.Thread):
    """A worker in this process, for a world that no other process can build.

    It ends with its pipe, and tells the page of what went wrong itself.
    """

    exitcode = 0

    def terminate(self) -> None:
        """It ends at the next step."""


class Engine:
    """The worker process, and the queue that gets its messages."""

    def __init__(self, scene: str | Scene, overrides: Mapping[str, object]) -> None:
        self._scene, self._overrides = scene, dict(overrides)
        self._listener: asyncio.Queue[bytes] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ready = threading.Event()
        self._closing = threading.Lock()
        self._problem: str | None = None
        self._commands: queue.Queue[dict[str, Any] | None] = queue.Queue(MAX_PENDING)
        self.start()

    def start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, other = context.Pipe()
        arguments = (other, self._scene, self._overrides)
        self.process: Any
        if isinstance(self._scene, Scene):
            self.process = WorkerThread(target=work, args=arguments, daemon=True)
            self.process.start()
        else:
            self.process = context.Process(target=work, args=arguments, daemon=True)
            self.process.start()
            other.close()
        threading.Thread(target=self._read, args=(self._pipe, self.process), daemon=True).start()
        self._end_writing()
        self._commands = queue.Queue(MAX_PENDING)
        threading.Thread(target=_write, args=(self._pipe, self._commands), daemon=True).start()

    def _end_writing(self) -> None:
        with contextlib.suppress(queue.Full):
            self._commands.put_nowait(None)

    def _read(self, pipe: Any, process: Any) -> None:
        """Forward the messages of the worker until it ends; runs in a thread."""
        try:
            while True:
                self._forward(pipe.recv_bytes())
        except (EOFError, OSError, TypeError):  # TypeError: the pipe was closed while reading
            process.join(2.0)
            if process is self.process and process.exitcode != 0:  # otherwise it sent the reason
                text = f"the simulation ended (exit code {process.exitcode}); Reset restarts it"
                self._forward(json.dumps({"type": "crash", "text": text}).encode())

    def wait(self) -> None:
        """Wait until the scene is built; raises LimpetError if that fails."""
        self._ready.wait()
        if self._problem is not None:
            raise LimpetError(self._problem)

    def _forward(self, message: bytes) -> None:
        if not self._ready.is_set():
            content = json.loads(message) if message[:1] == b"{" else {"type": "frame"}
            if content["type"] != "status":
                self._problem = content.get("text")
                self._ready.set()
        loop, listener = self._loop, self._listener
        if loop is not None and listener is not None and not loop.is_closed():
            loop.call_soon_threadsafe(_offer, listener, message)

    def listen(self, queue: asyncio.Queue[bytes] | None) -> None:
        self._loop = asyncio.get_running_loop()
        self._listener = queue

    def command(self, command: dict[str, Any]) -> None:
        """Send a command; raises MalformedError where the page sends more than can be done."""
        if not self.process.is_alive():
            if command["do"] not in ("reset", "hello", "parameters"):
                return
            self.start()
            if command["do"] != "parameters":
                return
        try:
            self._commands.put_nowait(command)
        except queue.Full:
            raise MalformedError("too many commands at once") from None

    def stop(self) -> None:
        # a thread that reads the pipe would keep it open: closing it ends no worker
        with contextlib.suppress(queue.Full):
            self._commands.put_nowait({"do": "close"})
        self._end_writing()
        self.process.join(2.0)
        with self._closing:  # the server's thread may stop it, too
            self._pipe.close()
        if self.process.is_alive():
            self.process.terminate()


class Guard:
    """Refuses requests with another Host or Origin, against DNS rebinding and other pages."""

    def __init__(self, app: ASGIApp, port: int) -> None:
        self._app = app
        self._hosts = {f"{HOST}:{port}", f"localhost:{port}"}
        self._origins = {f"http://{host}" for host in self._hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = scope["headers"]
        hosts = [v.decode("latin-1") for k, v in headers if k == b"host"]
        origins = [v.decode("latin-1") for k, v in headers if k == b"origin"]
        socket_ = scope["type"] == "websocket"
        valid = len(hosts) == 1 and hosts[0] in self._hosts
        valid &= all(o in self._origins for o in origins) and (len(origins) == 1 or not socket_)
        if valid:
            await self._app(scope, receive, send)
        elif socket_:
            await send({"type": "websocket.close", "code": 1008, "reason": "other Host or Origin"})
        else:
            refusal = PlainTextResponse("refused: other Host or Origin\n", status_code=403)
            await refusal(scope, receive, send)


class Site:
    """The routes of one engine with one user."""

    def __init__(self, engine: Engine | None, token: str, replay: Path | None = None) -> None:
        self._engine, self._token, self._replay = engine, token, replay
        self._user: WebSocket | None = None

    def app(self, port: int) -> ASGIApp:
        routes = [
            Route("/", self._index),
            Route("/three.js", self._three),
            Route("/page/{name}", self._file),
            WebSocketRoute("/socket", self._socket),
        ]
        return Guard(Starlette(routes=routes), port)

    def _known(self, token: str | None) -> bool:
        return secrets.compare_digest((token or "").encode(), self._token.encode())

    async def _index(self, request: Request) -> Response:
        if not self._known(request.query_params.get("token")):
            return PlainTextResponse(
                "refused: use the address with the token that limpet view printed\n", 403
            )
        if self._replay is not None:
            return HTMLResponse(self._replay.read_text(encoding="utf-8"), headers=_headers())
        nonce = secrets.token_urlsafe(16)
        return HTMLResponse(live_html(nonce), headers=_headers(nonce))

    async def _three(self, request: Request) -> Response:
        return Response(three_path().read_bytes(), media_type=TYPES[".js"], headers=_headers())

    async def _file(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in PAGE:
            return PlainTextResponse("file not found\n", 404)
        content = (resources.files("limpet.viewer") / "page" / name).read_bytes()
        return Response(content, media_type=TYPES[Path(name).suffix], headers=_headers())

    async def _socket(self, user: WebSocket) -> None:
        engine = self._engine
        if engine is None or not self._known(user.query_params.get("token")):
            await user.close(1008, "wrong token")
            return
        await user.accept()
        for _ in range(round(HANDOVER_TIME / 0.05)):
            if self._user is None:
                break
            await asyncio.sleep(0.05)
        else:
            await user.send_text(json.dumps({"type": "refused", "text": BUSY}))
            await user.close(REFUSED, "one user at a time")
            return
        self._user = user
        messages: asyncio.Queue[bytes] = asyncio.Queue()
        engine.listen(messages)
        sender = asyncio.create_task(_send_all(messages, user))
        try:
            with contextlib.suppress(MalformedError):
                engine.command({"do": "hello"})
            await self._receive(user, engine)
        finally:
            sender.cancel()
            self._user = None
            engine.listen(None)
            with contextlib.suppress(MalformedError):
                engine.command({"do": "pause"})

    async def _receive(self, user: WebSocket, engine: Engine) -> None:
        try:
            while True:
                message = await user.receive()
                if message["type"] == "websocket.disconnect":
                    return
                text = message.get("text")
                try:
                    if text is None or len(text) > MAX_MESSAGE:
                        raise MalformedError("expected a short text message")
                    engine.command(read_command(text))
                except MalformedError as problem:
                    await user.close(MALFORMED, str(problem)[:120])
                    return
        except (WebSocketDisconnect, RuntimeError):
            return


def _write(pipe: Any, commands: queue.Queue[dict[str, Any] | None]) -> None:
    """Send commands to a worker until None; runs in a thread, as a busy worker lets it wait."""
    with contextlib.suppress(OSError, ValueError):  # it has ended; the reader thread reports it
        while (command := commands.get()) is not None:
            pipe.send(command)


def _offer(listener: asyncio.Queue[bytes], message: bytes) -> None:
    """A page that does not read loses what is too much; it will be gone soon."""
    if listener.qsize() < MAX_PENDING:
        listener.put_nowait(message)


async def _send_all(messages: asyncio.Queue[bytes], user: WebSocket) -> None:
    while True:
        message = await messages.get()
        if message[:1] == b"{":
            await user.send_text(message.decode())
        else:
            await user.send_bytes(message)


def _headers(nonce: str | None = None) -> dict[str, str]:
    headers = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
    if nonce is not None:
        headers["Content-Security-Policy"] = (
            f"default-src 'none'; script-src 'self' 'nonce-{nonce}'; style-src 'self'; "
            "connect-src 'self'; img-src 'self' data: blob:; frame-ancestors 'none'"
        )
    return headers


class Server:
    """A site on a port of 127.0.0.1; port 0 selects a free one."""

    def __init__(
        self, scene: str | Scene | None, overrides: Mapping[str, object] | None = None, *,
        port: int = 0, replay: Path | None = None,
    ) -> None:  # fmt: skip
        self._listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._listening.bind((HOST, port))
        except (OSError, OverflowError):
            raise LimpetError(f"port = {port}: cannot be used; omit it or choose another") from None
        self._listening.listen()
        self.port = int(self._listening.getsockname()[1])
        self.token = secrets.token_urlsafe(18)
        self.engine = Engine(scene, overrides or {}) if scene is not None else None
        if self.engine is not None:
            self.engine.wait()
        site = Site(self.engine, self.token, replay)
        config = uvicorn.Config(
            site.app(self.port), log_level="error", http=TimedRequests, ws=ResponsiveSocket,
            ws_max_size=MAX_MESSAGE, ws_ping_interval=PING_INTERVAL, ws_ping_timeout=PING_TIME,
            lifespan="off", server_header=False, timeout_graceful_shutdown=1,
        )  # fmt: skip
        self._uvicorn = uvicorn.Server(config)

    @property
    def address(self) -> str:
        return f"http://{HOST}:{self.port}/?token={self.token}"

    def run(self) -> None:
        """Serve until Ctrl-C."""
        try:
            self._uvicorn.run(sockets=[self._listening])
        finally:
            self.stop()

    def stop(self) -> None:
        self._uvicorn.should_exit = True
        if self.engine is not None:
            self.engine.stop()
