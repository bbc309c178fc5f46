"""The WebView's devtools server: serves HTTP itself and relays WebSockets to Chromium through the quirks."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import socket
from collections.abc import Mapping
from typing import Any, Protocol

from bridge.virtual_device.android import StreamPair, open_streams
from bridge.virtual_device.engine import http
from bridge.virtual_device.engine.emulation import Identity
from bridge.virtual_device.engine.frames import text_frame
from bridge.virtual_device.engine.pump import FromBrowser, FromClient
from bridge.virtual_device.engine.quirks import ConnectionQuirks, QuirkContext
from bridge.virtual_device.engine.tabs import EngineTab

_log = logging.getLogger(__name__)

BROWSER_PATH = "/devtools/browser"
_PAGE_PATH = re.compile(r"/devtools/page/([A-Za-z0-9-]+)")
_BUFFER_BYTES = 1024 * 1024
_CHROMIUM_TIMEOUT_S = 10.0


class Device(QuirkContext, Protocol):
    """The part of the engine that the relay uses."""

    identity: Identity

    def tabs(self) -> Mapping[str, EngineTab]: ...
    def restore(self, tab: EngineTab) -> None: ...


class Relay:
    """Serves the connections to one devtools socket.

    Attributes:
        package: The app whose process owns the socket, reported by /json/version.
        serving: Cleared while the process is frozen: connections are accepted but not served.
    """

    def __init__(self, device: Device, *, port: int, browser_path: str, package: str) -> None:
        self.device = device
        self.port = port
        self.browser_path = browser_path
        self.package = package
        self.serving = asyncio.Event()
        self.serving.set()
        self._connections: set[_ClientSide] = set()

    async def open(self) -> StreamPair:
        """The client's end of a new connection, a kernel socket pair."""
        near, far = socket.socketpair()
        loop = asyncio.get_running_loop()
        try:
            for end in (near, far):
                end.setblocking(False)
                end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _BUFFER_BYTES)
            await loop.create_connection(lambda: _ClientSide(self), sock=far)
            return await open_streams(near)
        except BaseException:
            near.close()
            far.close()
            raise

    def freeze(self) -> None:
        """Stops reading from all connections, as a frozen process does."""
        self.serving.clear()
        for connection in self._connections:
            connection.flow()

    def thaw(self) -> None:
        self.serving.set()
        for connection in self._connections:
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
            self.device.host_dies("/json/protocol was requested")
            return b""
        verb, _, target_id = path.removeprefix("/json/").partition("/")
        if verb in ("activate", "close") and path.startswith("/json/"):
            if self.device.tab(target_id) is None:
                return http.response(404, f"No such target id: {target_id}")
            await self._ask_chromium(f"/json/{verb}/{target_id}")
            return http.response(200, "Target activated" if verb == "activate" else "Target is closing")
        return http.response(404, f"Unknown command: {path}")

    def websocket_path(self, path: str) -> tuple[str, str | None] | None:
        """Chromium's path for a client's path, and the tab's target id (None: browser level); None if unknown."""
        if path == BROWSER_PATH:
            return self.browser_path, None
        found = _PAGE_PATH.fullmatch(path)
        if found is None or self.device.tab(found[1]) is None:
            return None
        return path, found[1]

    def _version(self, request: http.HttpRequest) -> dict[str, str]:
        version = self.device.identity.chromium_version
        return {
            "Android-Package": self.package,
            "Browser": f"Chrome/{version}",
            "Protocol-Version": "1.3",
            "User-Agent": self.device.identity.user_agent,
            "V8-Version": version,
            "WebKit-Version": f"537.36 (@{version})",
            "webSocketDebuggerUrl": f"ws://{request.headers.get('host', '')}{BROWSER_PATH}",
        }

    async def _list(self, request: http.HttpRequest) -> list[dict[str, Any]]:
        host = request.headers.get("host", "")
        listed = []
        for entry in json.loads(await self._ask_chromium("/json/list")):
            tab = self.device.tab(entry.get("id", ""))
            is_worker = entry.get("type") in ("worker", "shared_worker", "service_worker")
            if tab is None and (not is_worker or self.device.is_foreign(entry)):
                continue
            path = f"{host}/devtools/page/{entry['id']}"
            frontend = f"https://chrome-devtools-frontend.appspot.com/serve_rev/inspector.html?ws={path}"
            own = {
                "description": "" if tab is None else describe(tab),
                "devtoolsFrontendUrl": frontend,
                "webSocketDebuggerUrl": f"ws://{path}",
            }
            listed.append({**entry, **own})
        return listed

    async def _ask_chromium(self, path: str) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            async with asyncio.timeout(_CHROMIUM_TIMEOUT_S):
                writer.write(http.get_request(path, self.port))
                head = await reader.readuntil(b"\r\n\r\n")
                length = re.search(rb"(?i)\r\ncontent-length:\s*(\d+)", head)
                return await reader.readexactly(int(length[1]) if length else 0)
        finally:
            writer.close()


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


class _Side(asyncio.Protocol):
    """One socket of a connection. While its buffer is full, the other one is not read."""

    transport: asyncio.Transport | None = None
    other: _Side | None = None
    choked = False

    def __init__(self, relay: Relay) -> None:
        self.relay = relay

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        transport.set_write_buffer_limits(high=_BUFFER_BYTES)

    def pause_writing(self) -> None:
        self.choked = True
        if self.other is not None:
            self.other.flow()

    def resume_writing(self) -> None:
        self.choked = False
        if self.other is not None:
            self.other.flow()

    def may_read(self) -> bool:
        return self.relay.serving.is_set() and not (self.other is not None and self.other.choked)

    def flow(self) -> None:
        """Resumes or pauses reading according to the state of both sockets."""
        if self.transport is None or self.transport.is_closing():
            return
        if self.may_read():
            self.transport.resume_reading()
        else:
            self.transport.pause_reading()

    def write(self, pieces: list[bytes]) -> None:
        if pieces and self.transport is not None and not self.transport.is_closing():
            self.transport.write(pieces[0] if len(pieces) == 1 else b"".join(pieces))


class _BrowserSide(_Side):
    """The socket to Chromium: the handshake's response, then frames."""

    def __init__(self, client: _ClientSide, quirks: ConnectionQuirks) -> None:
        super().__init__(client.relay)
        self.other: _ClientSide = client
        self._quirks = quirks
        self._frames = FromBrowser(quirks)
        self._head: bytearray | None = bytearray()

    def data_received(self, data: bytes) -> None:
        if self._head is not None:
            self._head += data
            head, end, rest = bytes(self._head).partition(b"\r\n\r\n")
            if not end:
                return
            self._head = None
            self.other.write([head + end])
            self.other.upgraded(self)
            data = rest
        if data:
            self.other.write(self._frames.feed(data))
            for command in self._quirks.own_commands():
                self.other.send_own(command)

    def connection_lost(self, _error: Exception | None) -> None:
        if self.other.transport is not None:
            self.other.transport.close()


class _ClientSide(_Side):
    """A client's socket: HTTP requests in sequence, until one becomes a WebSocket."""

    def __init__(self, relay: Relay) -> None:
        super().__init__(relay)
        self.task: asyncio.Task[None] | None = None
        self._held = bytearray()
        self._quirks: ConnectionQuirks | None = None
        self._frames: FromClient | None = None
        self._busy = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self.relay._connections.add(self)
        self.flow()

    def may_read(self) -> bool:
        return super().may_read() and not self._busy

    def data_received(self, data: bytes) -> None:
        if self._frames is not None:
            self._forward(data)
            return
        self._held += data
        self._next_request()

    def connection_lost(self, _error: Exception | None) -> None:
        self.relay._connections.discard(self)
        if self.other is not None and self.other.transport is not None:
            self.other.transport.close()
        if self.task is not None:
            self.task.cancel()
        if self._quirks is not None:
            for tab in self._quirks.closed():
                self.relay.device.restore(tab)

    def abort(self) -> None:
        if self.transport is not None:
            self.transport.abort()

    def upgraded(self, browser: _BrowserSide) -> None:
        """Chromium accepted the handshake: frames follow, and some may have arrived already."""
        assert self._quirks is not None
        self.other = browser
        self._frames = FromClient(self._quirks)
        self._busy = False
        early, self._held = bytes(self._held), bytearray()
        if early:
            self._forward(early)
        self.flow()

    def send_own(self, command: bytes) -> None:
        if self.other is not None:
            self.other.write([text_frame(command, masked=True)])

    def _forward(self, data: bytes) -> None:
        assert self._frames is not None
        assert self.other is not None
        onward, back = self._frames.feed(data)
        self.other.write(onward)
        self.write(back)

    def _next_request(self) -> None:
        if self._busy:
            return
        end = self._held.find(b"\r\n\r\n")
        if end < 0:
            if len(self._held) > http.MAX_HEAD_BYTES:
                self.abort()
            return
        head = bytes(self._held[: end + 4])
        del self._held[: end + 4]
        self._busy = True
        self.flow()
        self.task = asyncio.create_task(self._serve(head), name="devtools request")

    async def _serve(self, head: bytes) -> None:
        try:
            await self.relay.serving.wait()
            request = http.parse_request(head)
            refused = http.refusal(request)
            if refused is None and request.is_websocket:
                await self._upgrade(request)
                return
            self.write([refused if refused is not None else await self.relay.answer(request)])
        except http.BadRequest:
            self.write([http.response(400, "")])
        except (OSError, TimeoutError, asyncio.IncompleteReadError, ValueError) as error:
            _log.debug("Chromium did not respond to a devtools request: %s", error)
            self.abort()
            return
        self._busy = False
        self.flow()
        self._next_request()

    async def _upgrade(self, request: http.HttpRequest) -> None:
        path = self.relay.websocket_path(request.path)
        if path is None:
            self.write([http.response(404, f"No such target id: {request.path.rpartition('/')[2]}")])
            self._busy = False
            self.flow()
            return
        self._quirks = ConnectionQuirks(self.relay.device, path[1])
        browser = _BrowserSide(self, self._quirks)
        await asyncio.get_running_loop().create_connection(lambda: browser, "127.0.0.1", self.relay.port)
        self.other = browser
        browser.write([http.upgrade_request(path[0], self.relay.port, request)])
