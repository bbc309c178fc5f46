"""A CDP connection over a socket that is connected to a devtools server."""

from __future__ import annotations

import asyncio
import logging
import socket
import sys
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, suppress
from itertools import count
from typing import Any, Literal, Protocol

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


class MessageChannel(Protocol):
    """The carrier of a connection's messages: a WebSocket, or the pipe of a Chromium."""

    def hold(self, held: bool) -> None:
        """Collect what is sent into as few packets as possible (True), or send it (False)."""
        ...

    async def send(self, message: bytes, *, text: Literal[True]) -> None: ...

    async def recv(self, decode: Literal[False]) -> bytes:
        """The next message. Raises ChannelClosed, or what a WebSocket raises, after the last one."""
        ...

    async def close(self) -> None: ...

    def abort(self) -> None:
        """Close at once, without a handshake."""
        ...


class ChannelClosed(Exception):
    """The channel has ended; the text says why."""


class PendingCall:
    """A command that was sent. Its reply can be awaited later, or not at all."""

    def __init__(self, connection: CdpConnection, command: CdpCommand, meter: CommandMeter) -> None:
        self.method = command.method
        self._connection = connection
        self._command = command
        self._meter = meter
        self._reducer: ReplyReducer | None = None
        self._settled: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()

    def reduce(self, reducer: ReplyReducer) -> PendingCall:
        """Call `reducer(result)` in the reader task, before it takes any later event. It is not called for an error.

        A task that awaits the result may run only after the reader has taken later events.
        """
        self._reducer = reducer
        return self

    async def result(self, *, timeout_s: float) -> dict[str, Any]:
        """The command's result. If the wait ends without it, the command is abandoned.

        Raises:
            ProtocolError: The browser refused the command.
            TransportError: The connection was closed, or the command's session was detached.
            DeadlineExceeded: No reply arrived in time.
        """
        if self._settled.cancelled():
            raise TransportError(f"{self.method} was abandoned, so its result is unknown")
        try:
            async with Deadline.after(timeout_s).bound(self.method, self._connection.describe):
                return await self._settled
        finally:
            self._connection._forget(self._command)

    def abandon(self) -> None:
        """Drop the command: its result will not be awaited. The browser still carries it out."""
        self._connection._forget(self._command)
        self._settled.cancel()

    def _settle(self, outcome: dict[str, Any] | Exception) -> None:
        if self._settled.done():
            return
        if isinstance(outcome, Exception):
            self._settled.set_exception(outcome)
            self._settled.exception()  # marks it as retrieved: asyncio logs exceptions that are not
            return
        if self._reducer is not None:
            try:
                self._reducer(outcome)
            except Exception:
                _log.exception("the reducer of %s failed", self.method)
        self._settled.set_result(outcome)


class _PromptConnection(ClientConnection):
    """A WebSocket with socket options that suit adb.

    The adb server leaves Nagle's algorithm on: the second of several replies waits until the first is acknowledged,
    which Linux may delay by 40 ms (tcp(7): TCP_QUICKACK, which has to be set again each time). And the next packet of
    an adb stream waits until the device has acknowledged the one before (AOSP, adb/protocol.txt), a round trip over
    the cable. Commands that are sent together therefore go in one packet (TCP_CORK).
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
        if self._socket is not None:
            with suppress(OSError):
                self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, int(held))

    def abort(self) -> None:
        self.transport.abort()


class CdpConnection:
    """Commands and events of one devtools connection; made by open_cdp, or by run_cdp on another channel.

    One task reads. It settles replies, runs the reducers and fills the event queues, and never awaits a listener's
    code: a listener may send commands, and a slow one delays nothing.

    Attributes:
        closed: Set when the connection is closed.
        close_reason: Why it was closed; "" while it is open.
        received: How many messages were received.
        heard_at: When the last one was received, on the monotonic clock.
    """

    def __init__(self, channel: MessageChannel, path: str, *, first_id: int = 1) -> None:
        self.closed = asyncio.Event()
        self.close_reason = ""
        self.received = 0
        self._channel = channel
        self._path = path
        self._protocol = CdpProtocol(ids=count(first_id))
        self._pending: dict[int, PendingCall] = {}
        self._reducers: list[Reducer] = []
        self._streams: list[EventStream] = []
        self._outbox: deque[bytes] = deque()
        self._outbox_filled = asyncio.Event()
        self.heard_at = time.monotonic()

    @property
    def sessions(self) -> Mapping[str, str]:
        """Target ids of the flattened sessions that are attached, by session id."""
        return self._protocol.sessions

    @property
    def in_flight(self) -> int:
        """The number of commands that wait for a reply."""
        return len(self._pending)

    async def call(
        self, method: str, params: Mapping[str, Any] | None = None, *, timeout_s: float, session_id: str | None = None
    ) -> dict[str, Any]:
        """Send a command and wait for its result; see PendingCall.result for what is raised."""
        return await self.send(method, params, session_id=session_id).result(timeout_s=timeout_s)

    def send(
        self, method: str, params: Mapping[str, Any] | None = None, *, session_id: str | None = None
    ) -> PendingCall:
        """Send a command without waiting for its reply. Commands are sent in the order of these calls.

        Raises:
            TransportError: The connection is closed.
        """
        if self.closed.is_set():
            raise TransportError(f"{method} was not sent: {self.close_reason}")
        command, message = self._protocol.command(method, params, session_id)
        call = PendingCall(self, command, CommandMeter(len(message)))
        self._pending[command.id] = call
        self._outbox.append(message)
        self._outbox_filled.set()
        return call

    def on_event(self, reducer: Reducer) -> Callable[[], None]:
        """Call `reducer(method, params, session_id)` in the reader task for each event, before any queue gets it.

        It must be quick and may `send`. Returns a function that removes it.
        """
        self._reducers.append(reducer)

        def remove() -> None:
            if reducer in self._reducers:
                self._reducers.remove(reducer)

        return remove

    @contextmanager
    def events(self, *methods: str, session_id: str | None = None, maxlen: int = 1000) -> Iterator[EventStream]:
        """Events from now on: of these methods, or all if none is named; of one session, or of all."""
        stream = EventStream(frozenset(methods), session_id, maxlen)
        if self.closed.is_set():
            stream.close(self.close_reason)
        self._streams.append(stream)
        try:
            yield stream
        finally:
            self._streams.remove(stream)

    def measure(self) -> AbstractContextManager[Meter]:
        """Measure what this task and its children send inside the block: round trips, bytes, time."""
        return measure()

    def describe(self) -> str:
        """The state of the connection, for the error message of a failed wait."""
        if self.closed.is_set():
            return self.close_reason
        silence_s = time.monotonic() - self.heard_at
        return f"the connection is open; its last message was received {silence_s:.1f} s ago"

    def close(self, reason: str) -> None:
        """Close the connection: pending and later calls raise TransportError with the reason."""
        if self.closed.is_set():
            return
        self.close_reason = reason
        self.closed.set()
        self._outbox.clear()
        pending, self._pending = list(self._pending.values()), {}
        self._protocol.in_flight.clear()
        for call in pending:
            call._settle(TransportError(f"{call.method} got no reply: {reason}"))
        for stream in self._streams:
            stream.close(reason)

    async def _write(self) -> None:
        """Write messages in the order of `send`, under the socket's flow control. The only task that writes."""
        while True:
            try:
                await self._empty_outbox()
            except (ConnectionClosed, ChannelClosed):  # the reader task reports the reason
                return
            except Exception as error:
                _log.exception("writing to %s failed", self._path)
                self.close(f"writing failed: {error!r}")
                return
            self._outbox_filled.clear()
            await self._outbox_filled.wait()

    async def _empty_outbox(self) -> None:
        if is_batch := len(self._outbox) > 1:
            self._channel.hold(True)
        try:
            while self._outbox:
                await self._channel.send(self._outbox.popleft(), text=True)
        finally:
            if is_batch:
                self._channel.hold(False)

    async def _read(self) -> None:
        try:
            while True:
                message = await self._channel.recv(decode=False)
                self.heard_at = time.monotonic()
                self.received += 1
                for outcome in self._protocol.receive(message):
                    self._take(outcome, len(message))
        except ConnectionClosed as error:
            self.close(_reason_of(error))
        except ChannelClosed as error:
            self.close(str(error))
        except InvalidCdpMessage as error:
            self.close(f"the devtools server at {self._path} sent an invalid CDP message: {error}")
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
            call._meter.reply(size_bytes)
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
        self._protocol.forget(command)


@asynccontextmanager
async def open_cdp(sock: socket.socket, path: str, *, timeout_s: float) -> AsyncIterator[CdpConnection]:
    """A CDP connection to `path` (`/devtools/page/ID`) over `sock`, which is closed in any case.

    WebView's devtools server responds 500 to a Host that is neither an IP address nor localhost, and 403 to any Origin
    (Chromium, content/browser/devtools/devtools_http_handler.cc). No pings are sent: every call has its own deadline.

    Raises:
        TransportError: The handshake was refused, or the connection closed during it.
        DeadlineExceeded: There was no response; a frozen app accepts connections and sends nothing.
    """
    try:
        websocket = await _handshake(sock, path, Deadline.after(timeout_s))
    except BaseException:
        sock.close()
        raise
    async with run_cdp(websocket, path) as connection:
        yield connection


@asynccontextmanager
async def run_cdp(channel: MessageChannel, path: str, *, first_id: int = 1) -> AsyncIterator[CdpConnection]:
    """A CDP connection over a channel, which is closed at the end; `path` names it in messages."""
    connection = CdpConnection(channel, path, first_id=first_id)
    tasks = [
        asyncio.create_task(connection._read(), name=f"cdp read {path}"),
        asyncio.create_task(connection._write(), name=f"cdp write {path}"),
    ]
    try:
        yield connection
    finally:
        connection.close("the connection was closed on this side")
        await finish(_shut(channel, tasks), at_most_s=2 * _CLOSE_S, what=f"closing {path}")


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
        text = (error.response.body or b"").decode("utf-8", "replace").strip()[:200]
        raise TransportError(
            f"The devtools server refused {path}: {error.response.status_code} {text}".rstrip() + ".",
            status=error.response.status_code,
        ) from error
    except (WebSocketException, OSError, EOFError, ValueError) as error:  # ValueError: a redirect
        raise TransportError(f"The WebSocket handshake with {path} failed: {error}.") from error


async def _shut(channel: MessageChannel, tasks: list[asyncio.Task[None]]) -> None:
    """Close the channel, a WebSocket with a closing handshake if the peer responds, and end the tasks."""
    try:
        async with asyncio.timeout(_CLOSE_S):
            await channel.close()
    except TimeoutError:
        channel.abort()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _reason_of(error: ConnectionClosed) -> str:
    if isinstance(error.__cause__, Exception) and not isinstance(error.__cause__, EOFError):
        return f"the connection broke: {error.__cause__}"
    if error.rcvd is not None:
        reason = f" ({error.rcvd.reason})" if error.rcvd.reason else ""
        return f"the devtools server closed the connection with code {error.rcvd.code}{reason}"
    return "the devtools server closed the connection without a closing handshake"
