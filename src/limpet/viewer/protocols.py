"""HTTP and WebSocket connections that cannot be held for ever by a client that says nothing."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

REQUEST_TIME = 10.0  # [s] to send a whole request
ANSWER_TIME = 60.0  # [s] to read the answer
CHECK_INTERVAL = 1.0  # [s]


class TimedRequests(H11Protocol):
    """Closes a connection on which no whole request comes in time, or no answer is read."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._waiting, self._since = True, self.loop.time()
        self._check_later()

    def connection_lost(self, exc: Exception | None) -> None:
        self._timer.cancel()
        super().connection_lost(exc)

    def _check_later(self) -> None:
        self._timer = self.loop.call_later(CHECK_INTERVAL, self._check)

    def _check(self) -> None:
        if self.transport.is_closing() or self.transport.get_protocol() is not self:
            return  # closed, or a socket by now
        waiting = self.cycle is None or self.cycle.response_complete
        if waiting != self._waiting:
            self._waiting, self._since = waiting, self.loop.time()
        if self.loop.time() - self._since > (REQUEST_TIME if waiting else ANSWER_TIME) - 0.5:
            self.transport.abort()
        else:
            self._check_later()


class ResponsiveSocket(WebSocketsSansIOProtocol):
    """Ends at once when a ping is not answered: closing waits for a page that reads nothing."""

    def keepalive_timeout(self) -> None:
        super().keepalive_timeout()
        self.transport.abort()
