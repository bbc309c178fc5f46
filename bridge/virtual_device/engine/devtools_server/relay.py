"""The WebView's devtools server: serves HTTP and WebSockets, and passes messages to Chromium through the quirks."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import socket
from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bridge.errors import BridgeError, ProtocolError
from bridge.virtual_device.android import StreamPair, open_streams
from bridge.virtual_device.engine.devtools_server import http
from bridge.virtual_device.engine.devtools_server.frames import text_frame
from bridge.virtual_device.engine.devtools_server.pump import FromBrowser, FromClient, MessageTooLong
from bridge.virtual_device.engine.devtools_server.quirks import ConnectionQuirks, NoQuirks, Quirks
from bridge.virtual_device.engine.pipe import DevtoolsPipe, PipeSession
from bridge.virtual_device.engine.tabs import EngineTab

if TYPE_CHECKING:
    from bridge.virtual_device.engine.engine import Engine

_log = logging.getLogger(__name__)

BROWSER_PATH = "/devtools/browser"
_PAGE_PATH = re.compile(r"/devtools/page/([A-Za-z0-9-]+)")
_BUFFER_BYTES = 1024 * 1024
# Chromium drops messages when as many bytes wait for a client (kSendBufferSizeForDevTools, devtools_http_handler.cc).
_MAX_UNSENT_BYTES = 256 * 1024 * 1024
_CHROMIUM_TIMEOUT_S = 10.0
_TARGET_CLOSED = b'{"method":"Inspector.detached","params":{"reason":"target_closed"}}'


class Relay:
    """Serves the connections to one devtools socket.

    Attributes:
        package: The app whose process owns the socket, reported by /json/version.
        has_quirks: Whether it behaves as WebView's server. Without, it shows all of Chromium's own targets.
        serving: Cleared while the process is frozen: connections are accepted but not served.
    """

    def __init__(self, engine: Engine, pipe: DevtoolsPipe, *, package: str, has_quirks: bool) -> None:
        self.engine = engine
        self.pipe = pipe
        self.package = package
        self.has_quirks = has_quirks
        self.serving = asyncio.Event()
        self.serving.set()
        self._connections: set[_Connection] = set()
        pipe.on_flow = self._flow

    async def open(self) -> StreamPair:
        """The client's end of a new connection, a kernel socket pair."""
        near, far = socket.socketpair()
        loop = asyncio.get_running_loop()
        try:
            for end in (near, far):
                end.setblocking(False)
                end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _BUFFER_BYTES)
            await loop.create_connection(lambda: _Connection(self), sock=far)
            return await open_streams(near)
        except BaseException:
            near.close()
            far.close()
            raise

    def freeze(self) -> None:
        """Stops reading from all connections, as a frozen process does."""
        self.serving.clear()
        self._flow()

    def thaw(self) -> None:
        self.serving.set()
        self._flow()

    def _flow(self) -> None:
        for connection in tuple(self._connections):
            connection.flow()

    def cut(self) -> None:
        """Aborts all connections, as the death of the process does."""
        for connection in tuple(self._connections):
            connection.abort()

    async def answer(self, request: http.HttpRequest) -> bytes:
        """The response to a plain HTTP request."""
        path = request.path.partition("?")[0].rstrip("/")
        if path in ("/json", "/json/list"):
            return http.json_response(await self._list(request))
        if path == "/json/version":
            return http.json_response(self._version(request))
        if path == "/json/new":
            return http.response(500, "Could not create new page")
        if path == "/json/protocol":
            # NOTREACHED() in devtools_http_handler.cc on Android
            self.engine.host_dies("/json/protocol was requested")
            return b""
        verb, _, target_id = path.removeprefix("/json/").partition("/")
        if verb in ("activate", "close") and path.startswith("/json/"):
            if self.has_quirks and self.engine.tab(target_id) is None:
                return http.response(404, f"No such target id: {target_id}")
            await self._call(f"Target.{verb}Target", {"targetId": target_id})
            return http.response(200, "Target activated" if verb == "activate" else "Target is closing")
        return http.response(404, f"Unknown command: {path}")

    def target_of(self, path: str) -> str | None:
        """The target id of a WebSocket's path, "" for the browser; None if there is none."""
        if path == BROWSER_PATH:
            return ""
        found = _PAGE_PATH.fullmatch(path)
        if found is None or (self.has_quirks and self.engine.tab(found[1]) is None):
            return None
        return found[1]

    def _version(self, request: http.HttpRequest) -> dict[str, str]:
        version = self.engine.identity.chromium_version
        return {
            "Android-Package": self.package,
            "Browser": f"Chrome/{version}",
            "Protocol-Version": "1.3",
            "User-Agent": self.engine.identity.user_agent,
            "V8-Version": version,
            "WebKit-Version": f"537.36 (@{version})",
            "webSocketDebuggerUrl": f"ws://{request.headers.get('host', '')}{BROWSER_PATH}",
        }

    async def _list(self, request: http.HttpRequest) -> list[dict[str, Any]]:
        host = request.headers.get("host", "")
        found = (await self._call("Target.getTargets"))["targetInfos"]
        return [self._entry(target, host) for target in found if self._is_listed(target)]

    def _is_listed(self, target: Mapping[str, Any]) -> bool:
        is_worker = target["type"] in ("worker", "shared_worker", "service_worker")
        is_shown = is_worker or not self.has_quirks or self.engine.tab(target["targetId"]) is not None
        return is_shown and not self.engine.is_foreign(target)

    def _entry(self, target: Mapping[str, Any], host: str) -> dict[str, Any]:
        tab = self.engine.tab(target["targetId"])
        path = f"{host}/devtools/page/{target['targetId']}"
        return {
            "description": "" if tab is None else describe(tab),
            "devtoolsFrontendUrl": f"https://chrome-devtools-frontend.appspot.com/serve_rev/inspector.html?ws={path}",
            "id": target["targetId"],
            "title": target["title"],
            "type": target["type"],
            "url": target["url"],
            "webSocketDebuggerUrl": f"ws://{path}",
        }

    async def _call(self, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        return await self.pipe.cdp.call(method, params, timeout_s=_CHROMIUM_TIMEOUT_S)


def describe(tab: EngineTab) -> str:
    """The `description` in /json/list (Chromium, aw_devtools_manager_delegate.cc)."""
    return json.dumps(
        {
            "attached": True,
            "empty": False,
            "height": tab.view.height_px,
            "never_attached": False,
            "screenX": 0,
            "screenY": 0,
            "visible": True,
            "width": tab.view.width_px,
        },
        separators=(",", ":"),
    )


class _Connection(asyncio.Protocol):
    """A client's socket: HTTP requests in sequence, until one becomes a WebSocket."""

    def __init__(self, relay: Relay) -> None:
        self.relay = relay
        self._transport: asyncio.Transport | None = None
        self._task: asyncio.Task[None] | None = None
        self._held = bytearray()
        self._waiting: deque[bytes] = deque()
        self._waiting_bytes = 0
        self._quirks: Quirks | None = None
        self._session: PipeSession | None = None
        self._frames: tuple[FromClient, FromBrowser] | None = None
        self._is_busy = False
        self._is_choked = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.set_write_buffer_limits(high=_BUFFER_BYTES)
        self.relay._connections.add(self)
        self.flow()

    def pause_writing(self) -> None:
        """A client that does not read gets no more responses to what it sends."""
        self._is_choked = True
        self.flow()

    def resume_writing(self) -> None:
        self._is_choked = False
        self.flow()

    def flow(self) -> None:
        """Resumes or pauses reading, and delivers what came for a frozen process."""
        if self._transport is None or self._transport.is_closing():
            return
        if self.relay.serving.is_set():
            self._deliver_waiting()
        may_read = self.relay.serving.is_set() and not (self._is_busy or self._is_choked or self.relay.pipe.is_choked)
        if may_read:
            self._transport.resume_reading()
        else:
            self._transport.pause_reading()

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        if self._frames is not None:
            self._forward(data)
            return
        self._held += data
        self._next_request()

    def connection_lost(self, _error: Exception | None) -> None:
        self.relay._connections.discard(self)
        if self._task is not None and self._quirks is None:
            self._task.cancel()
        if self._session is not None:
            self._end_session(self._session)

    def take(self, message: bytes) -> None:
        """See SessionClient."""
        self._waiting.append(message)
        self._waiting_bytes += len(message)
        if self._waiting_bytes + self._unsent_bytes() > _MAX_UNSENT_BYTES:
            _log.warning("a devtools client does not read, so its connection is closed")
            self._waiting.clear()
            self.abort()
        elif self.relay.serving.is_set():
            self._deliver_waiting()

    def detached(self) -> None:
        """See SessionClient: Chromium says goodbye and closes (devtools_http_handler.cc, AgentHostClosed)."""
        self.take(_TARGET_CLOSED)
        self._deliver_waiting()
        if self._transport is not None:
            self._transport.close()

    def _unsent_bytes(self) -> int:
        return 0 if self._transport is None else self._transport.get_write_buffer_size()

    def _deliver_waiting(self) -> None:
        if self._frames is None or self._quirks is None:
            return
        while self._waiting:
            message = self._waiting.popleft()
            self._waiting_bytes -= len(message)
            self._write(self._frames[1].feed(message))
            for command in self._quirks.own_commands():
                self._send(command)

    def _write(self, frame: bytes) -> None:
        if frame and self._transport is not None and not self._transport.is_closing():
            self._transport.write(frame)

    def _send(self, message: bytes) -> None:
        if self._session is not None and (refused := self._session.send(message)) is not None:
            self._write(text_frame(refused, masked=False))

    def _forward(self, data: bytes) -> None:
        assert self._frames is not None
        try:
            onward, back = self._frames[0].feed(data)
        except MessageTooLong:
            self.abort()
            return
        for message in onward:
            self._send(message)
        for frame in back:
            self._write(frame)
        if self._frames[0].is_closed and self._transport is not None:
            self._transport.close()

    def _next_request(self) -> None:
        if self._is_busy:
            return
        end = self._held.find(b"\r\n\r\n")
        if end < 0:
            if len(self._held) > http.MAX_HEAD_BYTES:
                self.abort()
            return
        head = bytes(self._held[: end + 4])
        del self._held[: end + 4]
        self._is_busy = True
        self.flow()
        self._task = asyncio.create_task(self._serve(head), name="devtools request")

    async def _serve(self, head: bytes) -> None:
        try:
            await self.relay.serving.wait()
            request = http.parse_request(head)
            refused = http.refusal(request)
            if refused is None and request.is_websocket:
                refused = await self._upgrade(request)
            self._write(refused if refused is not None else await self.relay.answer(request))
        except http.BadRequest:
            self._write(http.response(400, ""))
        except (BridgeError, ValueError) as error:
            _log.debug("Chromium did not respond to a devtools request: %s", error)
            self.abort()
            return
        self._is_busy = False
        self.flow()
        if self._frames is None:
            self._next_request()

    async def _upgrade(self, request: http.HttpRequest) -> bytes:
        """Makes the connection a WebSocket, also if the client leaves meanwhile; the response if it cannot."""
        target_id = self.relay.target_of(request.path)
        gone = http.response(404, f"No such target id: {request.path.rpartition('/')[2]}")
        if target_id is None:
            return gone
        accepted = http.upgrade_response(request)
        quirks = ConnectionQuirks(self.relay.engine, target_id or None) if self.relay.has_quirks else NoQuirks()
        self._quirks = quirks
        try:
            session = await self.relay.pipe.attach(target_id or None, self)
        except BaseException as error:
            self._quirks = None
            quirks.closed()
            if isinstance(error, ProtocolError):
                return gone
            raise
        if self._transport is None or self._transport.is_closing():
            self._end_session(session)
            return b""
        self._session = session
        self._write(accepted)
        self._frames = FromClient(quirks), FromBrowser(quirks)
        self._deliver_waiting()
        early, self._held = bytes(self._held), bytearray()
        if early:
            self._forward(early)
        return b""

    def _end_session(self, session: PipeSession) -> None:
        session.detach()
        assert self._quirks is not None
        for tab in self._quirks.closed():
            self.relay.engine.restore(tab)
