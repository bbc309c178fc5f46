"""A device without adb for tests of the engine and the host app: sockets, a folder, and a loopback of its own."""

from __future__ import annotations

import asyncio
import json
import secrets
import socket
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from bridge.cdp import CdpConnection, open_cdp
from bridge.errors import ProtocolError
from bridge.host import HostClient, HostTab, connect_host
from bridge.surfaces.local_server import QuietHandler, listening
from bridge.virtual_device.android.sockets import AbstractSockets, StreamPair
from bridge.virtual_device.engine.engine import Engine, EngineOptions, start_engine
from bridge.virtual_device.engine.network import splice
from bridge.virtual_device.host_app.service import HostApp
from bridge.virtual_device.process.private_folder import make_private_folder, remove_folder

TIMEOUT_S = 20.0
VIEWPORT = "<meta name=viewport content='width=device-width'>"


class BareDevice:
    """`reverse` maps ports of the device's loopback to ports of this machine."""

    api_level = 34
    app_version = "0.1.0"

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.sockets = AbstractSockets()
        self.reverse: dict[int, int] = {}
        self.cleartext_permitted = True
        self.lines: list[str] = []
        self.living: list[int] = []
        self.all_ended = asyncio.Event()
        self._pid = 4241

    async def dial(self, port: int) -> StreamPair:
        if port not in self.reverse:
            raise ConnectionRefusedError(port)
        return await asyncio.open_connection("127.0.0.1", self.reverse[port])

    def process_started(self) -> int:
        self._pid += 1
        self.living.append(self._pid)
        self.all_ended.clear()
        return self._pid

    def process_ended(self, pid: int) -> None:
        self.living.remove(pid)
        self.all_ended.set()

    def provide_webview(self, version_name: str) -> None:
        self.webview = version_name

    def log(self, tag: str, text: str, *, priority: str = "I", pid: int = 612) -> None:
        self.lines.append(f"{priority} {tag}: {text}")


class Rig:
    """One engine with the host app's twin on it."""

    def __init__(self, device: BareDevice, engine: Engine, app: HostApp) -> None:
        self.device = device
        self.engine = engine
        self.app = app
        self.token = b""
        self.socket_name = ""
        self.splices: set[asyncio.Task[None]] = set()

    async def start(self, **extras: str) -> None:
        self.token, self.socket_name = secrets.token_bytes(32), f"webview_bridge_{secrets.token_hex(16)}"
        await self.app.start({"socket": self.socket_name, "token": self.token.hex(), **extras})

    async def connect(self, name: str) -> socket.socket:
        near, far = socket.socketpair()
        for end in (near, far):
            end.setblocking(False)
        pair = await self.device.sockets.connect(name)
        task = asyncio.create_task(_join(pair, far), name="test splice")
        self.splices.add(task)
        task.add_done_callback(self.splices.discard)
        return near

    @asynccontextmanager
    async def client(self, owner: str = "a test", policy: str = "") -> AsyncIterator[HostClient]:
        sock = await self.connect(self.socket_name)
        async with connect_host(
            sock,
            token=self.token,
            socket_name=self.socket_name,
            owner=owner,
            policy_digest=policy,
            timeout_s=TIMEOUT_S,
        ) as client:
            yield client

    @asynccontextmanager
    async def cdp(self, path: str) -> AsyncIterator[CdpConnection]:
        assert self.app.process is not None
        sock = await self.connect(f"webview_devtools_remote_{self.app.process.pid}")
        async with open_cdp(sock, path, timeout_s=TIMEOUT_S) as cdp:
            yield cdp

    @asynccontextmanager
    async def page(self, tab: HostTab) -> AsyncIterator[Page]:
        async with self.cdp(f"/devtools/page/{await self.target_id(tab.url)}") as cdp:
            yield Page(cdp)

    async def target_id(self, url: str) -> str:
        return str(next(entry["id"] for entry in await self.json("/json/list") if entry["url"] == url))

    async def foreign_target(self) -> str:
        """The id of a target that Chromium has and no WebView would."""
        made = await self.engine.browser.cdp.call(
            "Target.createTarget", {"url": "chrome://version/"}, timeout_s=TIMEOUT_S
        )
        return str(made["targetId"])

    async def json(self, path: str) -> Any:
        status, body = await self.http(path)
        assert status == 200, body
        return json.loads(body)

    async def http(self, path: str, **headers: str) -> tuple[int, bytes]:
        assert self.app.process is not None
        reader, writer = await self.device.sockets.connect(f"webview_devtools_remote_{self.app.process.pid}")
        lines = [
            f"GET {path} HTTP/1.1",
            *(f"{name}: {value}" for name, value in ({"Host": "localhost"} | headers).items()),
        ]
        try:
            writer.write("\r\n".join([*lines, "", ""]).encode())
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            length = next(int(line[15:]) for line in head.split("\r\n") if line.lower().startswith("content-length:"))
            return int(head.split()[1]), await reader.readexactly(length)
        finally:
            writer.close()


class Page:
    """A page's own CDP connection with the few commands that tests repeat."""

    def __init__(self, cdp: CdpConnection) -> None:
        self.cdp = cdp

    async def call(self, method: str, **params: Any) -> dict[str, Any]:
        return await self.cdp.call(method, params, timeout_s=TIMEOUT_S)

    async def js(self, expression: str) -> Any:
        reply = await self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True, userGesture=True
        )
        assert "exceptionDetails" not in reply, reply
        return reply["result"].get("value")

    async def until(self, expression: str) -> Any:
        """The expression's value in the page when it has become true, also when the page is replaced meanwhile."""
        look = f"const value = {expression}; value ? done(value) : setTimeout(look, 5)"
        waiting = f"new Promise(done => (function look() {{ {look} }})())"
        while True:
            try:
                return await self.js(waiting)
            except ProtocolError as error:
                if "navigated" not in error.reason and "destroyed" not in error.reason:
                    raise

    async def goto(self, url: str) -> None:
        await self.call("Page.enable")
        with self.cdp.events("Page.loadEventFired") as loaded:
            reply = await self.call("Page.navigate", url=url)
            assert "errorText" not in reply, reply
            await loaded.next(timeout_s=TIMEOUT_S)

    async def tap(self, x: float, y: float) -> None:
        start = self.cdp.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
        await self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
        await start.result(timeout_s=TIMEOUT_S)


async def _join(pair: StreamPair, sock: socket.socket) -> None:
    near = await asyncio.open_connection(sock=sock)
    try:
        await splice(near, pair)
    finally:
        near[1].close()


@asynccontextmanager
async def running_rig(
    *, quirks: bool = True, lost_runtime_enables: tuple[int, ...] = (0,), **app_options: Any
) -> AsyncIterator[Rig]:
    folder = make_private_folder()
    device = BareDevice(folder)
    try:
        options = EngineOptions(folder, quirks=quirks, lost_runtime_enables=lost_runtime_enables)
        async with start_engine(options, device.dial) as engine:
            app = HostApp(engine, device, **app_options)
            rig = Rig(device, engine, app)
            try:
                yield rig
            finally:
                await app.aclose()
                for task in rig.splices:
                    task.cancel()
                await asyncio.gather(*rig.splices, return_exceptions=True)
    finally:
        remove_folder(folder)


@contextmanager
def web_server(pages: Mapping[str, str]) -> Iterator[int]:
    """The port of a real HTTP server that serves `pages` by path; PDF files are to be downloaded."""

    class Handler(QuietHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            found = pages.get(self.path.partition("?")[0])
            if found is None:
                self.respond(b"", status=404)
            elif found.startswith("%PDF"):
                self.respond(found.encode(), "application/pdf", Content_Disposition="attachment; filename=r.pdf")
            else:
                self.respond(found.encode())

    with listening(Handler) as server:
        yield server.port
