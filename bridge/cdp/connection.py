"""A CDP connection over a socket that is already connected to a devtools server."""

from __future__ import annotations

import asyncio
import logging
import socket
import sys
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, suppress
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException

from bridge.cdp.events import EventStream
from bridge.cdp.meter import CommandMeter, Meter, measure
from bridge.cdp.protocol import (
    CdpCommand,
    CdpError,
    CdpEvent,
    CdpOutcome,
    CdpProtocol,
    CdpReply,
    InvalidCdpMessage,
    LostCommand,
)
from bridge.deadline import Deadline, finish
from bridge.errors import ProtocolError, TransportError

_log = logging.getLogger(__name__)

Reducer = Callable[[str, dict[str, Any], str | None], None]
ReplyReducer = Callable[[dict[str, Any]], None]

_MAX_MESSAGE_BYTES = 256 * 1024 * 1024
_CLOSE_S = 1.0


class PendingCall:
    """A command that was sent; its reply is waited for whenever it suits, or not at all."""

    def __init__(self, connection: CdpConnection, command: CdpCommand, toll: CommandMeter) -> None:
        self.method = command.method
        self._connection = connection
        self._command = command
        self._toll = toll
        self._reducer: ReplyReducer | None = None
        self._settled: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()

    def reduce(self, reducer: ReplyReducer) -> PendingCall:
        """Call `reducer(result)` in the reader, before any later event is taken; a refusal is not shown to it.

        Whoever waits for the result wakes up after the reader may have gone on.
        """
        self._reducer = reducer
        return self

    async def result(self, *, timeout_s: float) -> dict[str, Any]:
        """The command's result. When the wait ends without it, the command is abandoned.

        Raises:
            ProtocolError: The browser refused the command.
            TransportError: The connection was closed, or the command's session detached.
            DeadlineExceeded: No reply came.
        """
        if self._settled.cancelled():
            raise TransportError(f"{self.method} was abandoned, so its result is not known")
        try:
            async with Deadline.after(timeout_s).bound(self.method, self._connection.describe):
                return await self._settled
        finally:
            self._connection._forget(self._command)

    def abandon(self) -> None:
        """Nobody will ask for the result: leave nothing in the table. The browser still carries the command out."""
        self._connection._forget(self._command)
        self._settled.cancel()

    def _settle(self, outcome: dict[str, Any] | Exception) -> None:
        if self._settled.done():
            return
        if isinstance(outcome, Exception):
            self._settled.set_exception(outcome)
            self._settled.exception()  # asyncio must not complain about a result that nobody asked for
            return
        if self._reducer is not None:
            try:
                self._reducer(outcome)
            except Exception:
                _log.exception("the reducer of %s failed", self.method)
        self._settled.set_result(outcome)


class _PromptConnection(ClientConnection):
    """A WebSocket whose socket fits how adb carries bytes.

    The adb server leaves Nagle's algorithm on towards its clients: of several replies in a row, the second waits until
    the first has been acknowledged, which Linux may put off for 40 ms (tcp(7): TCP_QUICKACK, which does not last). And
    a stream's next packet waits until the device has taken the one before (AOSP, adb/protocol.txt), a round trip of
    the cable: commands that are sent together travel in one (TCP_CORK).
    """

    _socket: Any = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        sock = transport.get_extra_info("socket")
        if sys.platform == "linux" and sock.family in (socket.AF_INET, socket.AF_INET6):
            self._socket = sock

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._socket is not None:
            with suppress(OSError):
                self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)

    def hold(self, held: bool) -> None:
        """Gather what is sent into as few packets as it takes, until it is let go."""
        if self._socket is not None:
            with suppress(OSError):
                self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, int(held))


class CdpConnection:
    """Commands and events of one devtools WebSocket; made by open_cdp.

    One task reads. It settles replies, runs the reducers and fills the event queues, and never awaits anybody's code,
    so a listener may send commands and a slow one holds nobody up.

    Attributes:
        closed: Set when the connection is over.
        close_reason: Why, "" while it is open.
        received: How many messages have come.
        heard_at: When the last one did, on the monotonic clock.
    """

    def __init__(self, websocket: _PromptConnection, path: str) -> None:
        self.closed = asyncio.Event()
        self.close_reason = ""
        self.received = 0
        self._websocket = websocket
        self._path = path
        self._session = CdpProtocol()
        self._pending: dict[int, PendingCall] = {}
        self._reducers: list[Reducer] = []
        self._streams: list[EventStream] = []
        self._outbox: deque[bytes] = deque()
        self._outbox_filled = asyncio.Event()
        self.heard_at = time.monotonic()

    @property
    def sessions(self) -> Mapping[str, str]:
        """Target ids of the flattened sessions that are attached, by session id."""
        return self._session.sessions

    @property
    def in_flight(self) -> int:
        """How many commands have neither a reply nor been given up."""
        return len(self._pending)

    async def call(
        self, method: str, params: Mapping[str, Any] | None = None, *, timeout_s: float, session_id: str | None = None
    ) -> dict[str, Any]:
        """Send a command and wait for its result; see PendingCall.result for what is raised."""
        return await self.send(method, params, session_id=session_id).result(timeout_s=timeout_s)

    def send(
        self, method: str, params: Mapping[str, Any] | None = None, *, session_id: str | None = None
    ) -> PendingCall:
        """Send a command now, after those that were sent before, and wait for its reply later.

        Raises:
            TransportError: The connection is closed.
        """
        if self.closed.is_set():
            raise TransportError(f"{method} was not sent: {self.close_reason}")
        command, message = self._session.command(method, params, session_id)
        call = PendingCall(self, command, CommandMeter(len(message)))
        self._pending[command.id] = call
        self._outbox.append(message)
        self._outbox_filled.set()
        return call

    def on_event(self, reducer: Reducer) -> Callable[[], None]:
        """Call `reducer(method, params, session_id)` in the reader for each event, before it is queued for anybody.

        It must be quick and may `send`. Returns what removes it again.
        """
        self._reducers.append(reducer)

        def remove() -> None:
            if reducer in self._reducers:
                self._reducers.remove(reducer)

        return remove

    @contextmanager
    def events(self, *methods: str, session_id: str | None = None, maxlen: int = 1000) -> Iterator[EventStream]:
        """Events of these methods (all, when none is named) from now on, of one session or of any."""
        stream = EventStream(frozenset(methods), session_id, maxlen)
        if self.closed.is_set():
            stream.close(self.close_reason)
        self._streams.append(stream)
        try:
            yield stream
        finally:
            self._streams.remove(stream)

    def measure(self) -> AbstractContextManager[Meter]:
        """Count what is sent inside the block by this task and its children: round trips, bytes, time."""
        return measure()

    def describe(self) -> str:
        """The state of the connection, for the error of a wait that failed."""
        if self.closed.is_set():
            return self.close_reason
        silence_s = time.monotonic() - self.heard_at
        return f"the connection is open, its last message came {silence_s:.1f} s ago"

    def close(self, reason: str) -> None:
        """End the connection: calls that wait, and all later ones, get TransportError with the reason."""
        if self.closed.is_set():
            return
        self.close_reason = reason
        self.closed.set()
        self._outbox.clear()
        pending, self._pending = list(self._pending.values()), {}
        self._session.in_flight.clear()
        for call in pending:
            call._settle(TransportError(f"{call.method} got no reply: {reason}"))
        for stream in self._streams:
            stream.close(reason)

    async def _write(self) -> None:
        """The one task that writes, in the order of `send` and under the socket's flow control."""
        while True:
            try:
                await self._empty_outbox()
            except ConnectionClosed:  # the reader knows, and says why
                return
            except Exception as error:
                _log.exception("writing to %s failed", self._path)
                self.close(f"writing failed: {error!r}")
                return
            self._outbox_filled.clear()
            await self._outbox_filled.wait()

    async def _empty_outbox(self) -> None:
        if together := len(self._outbox) > 1:
            self._websocket.hold(True)
        try:
            while self._outbox:
                await self._websocket.send(self._outbox.popleft(), text=True)
        finally:
            if together:
                self._websocket.hold(False)

    async def _read(self) -> None:
        try:
            while True:
                message = await self._websocket.recv(decode=False)
                self.heard_at = time.monotonic()
                self.received += 1
                for outcome in self._session.receive(message):
                    self._take(outcome, len(message))
        except ConnectionClosed as error:
            self.close(_reason_of(error))
        except InvalidCdpMessage as error:
            self.close(f"the devtools server at {self._path} does not speak CDP: {error}")
        except Exception as error:
            _log.exception("reading from %s failed", self._path)
            self.close(f"reading failed: {error!r}")

    def _take(self, outcome: CdpOutcome, size_bytes: int) -> None:
        match outcome:
            case CdpEvent():
                self._publish(outcome)
            case CdpReply(command, result):
                self._settle(command, result, size_bytes)
            case CdpError(command, cdp_code, reason):
                self._settle(command, ProtocolError(command.method, cdp_code, reason), size_bytes)
            case LostCommand(command, reason):
                self._settle(command, TransportError(f"{command.method} got no reply: {reason}"), 0)

    def _settle(self, command: CdpCommand, outcome: dict[str, Any] | Exception, size_bytes: int) -> None:
        call = self._pending.pop(command.id, None)
        if call is not None:
            call._toll.reply(size_bytes)
            call._settle(outcome)

    def _publish(self, event: CdpEvent) -> None:
        for reducer in tuple(self._reducers):
            try:
                reducer(event.method, event.params, event.session_id)
            except Exception:
                _log.exception("a reducer failed on %s", event.method)
        for stream in self._streams:
            stream.offer(event)

    def _forget(self, command: CdpCommand) -> None:
        self._pending.pop(command.id, None)
        self._session.forget(command)


@asynccontextmanager
async def open_cdp(sock: socket.socket, path: str, *, timeout_s: float) -> AsyncIterator[CdpConnection]:
    """A CDP connection to `path` (`/devtools/page/ID`) over `sock`, which it takes over and closes in any case.

    WebView's devtools server answers 500 to a Host that is neither an address nor localhost, and 403 to any Origin
    (Chromium, content/browser/devtools/devtools_http_handler.cc); it closes on neither pings nor their absence, so none
    are sent: every call has its own deadline.

    Raises:
        TransportError: The handshake was refused, or the socket closed during it.
        DeadlineExceeded: The handshake was not answered; a frozen app accepts and says nothing.
    """
    try:
        websocket = await _handshake(sock, path, Deadline.after(timeout_s))
    except BaseException:
        sock.close()
        raise
    connection = CdpConnection(websocket, path)
    tasks = [
        asyncio.create_task(connection._read(), name=f"cdp read {path}"),
        asyncio.create_task(connection._write(), name=f"cdp write {path}"),
    ]
    try:
        yield connection
    finally:
        connection.close("the connection was closed on this side")
        await finish(_shut(websocket, tasks), at_most_s=2 * _CLOSE_S, what=f"closing {path}")


async def _handshake(sock: socket.socket, path: str, deadline: Deadline) -> _PromptConnection:
    opening = connect(
        f"ws://localhost{path}",
        sock=sock,
        compression=None,
        proxy=None,
        open_timeout=None,
        ping_interval=None,
        close_timeout=_CLOSE_S,
        max_size=_MAX_MESSAGE_BYTES,
        user_agent_header=None,
        create_connection=_PromptConnection,
    )
    try:
        async with deadline.bound(f"the WebSocket handshake with {path}"):
            websocket = await opening.__aenter__()
            assert isinstance(websocket, _PromptConnection)
            return websocket
    except InvalidStatus as error:
        said = (error.response.body or b"").decode("utf-8", "replace").strip()[:200]
        raise TransportError(
            f"The devtools server refused {path}: {error.response.status_code} {said}".rstrip() + ".",
            status=error.response.status_code,
        ) from error
    except (WebSocketException, OSError, EOFError, ValueError) as error:  # ValueError: a redirect
        raise TransportError(f"The WebSocket handshake with {path} failed: {error}.") from error


async def _shut(websocket: _PromptConnection, tasks: list[asyncio.Task[None]]) -> None:
    """Close the socket, politely if the peer takes part, and end the tasks."""
    try:
        async with asyncio.timeout(_CLOSE_S):
            await websocket.close()
    except TimeoutError:
        websocket.transport.abort()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _reason_of(error: ConnectionClosed) -> str:
    if isinstance(error.__cause__, Exception) and not isinstance(error.__cause__, EOFError):
        return f"the connection broke: {error.__cause__}"
    if error.rcvd is not None:
        words = f" ({error.rcvd.reason})" if error.rcvd.reason else ""
        return f"the devtools server closed the connection with code {error.rcvd.code}{words}"
    return "the devtools server closed the connection without a goodbye"
