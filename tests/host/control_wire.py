"""The host under test as the conformance suite sees it, and a control connection at the level of frames."""

from __future__ import annotations

import asyncio
import secrets
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from bridge.host.protocol import FrameReader, WireFrame, encode_frame


class Host(Protocol):
    """A host that was started with a token and a socket name, as the suite sees it."""

    @property
    def token(self) -> bytes: ...

    @property
    def socket_name(self) -> str: ...

    async def connect(self, name: str) -> socket.socket: ...
    async def start(self, **extras: str) -> None: ...
    async def happen(self, url: str, what: str) -> None:
        """In the tab at that URL: crash, close, download, popup or choose (a file)."""
        ...


@asynccontextmanager
async def virtual_device_host(**options: Any) -> AsyncIterator[Host]:
    from tests.virtual_device.engine_rig import Rig, running_rig

    class VirtualHost:
        """The twin: what happens is done by real pages in Chromium."""

        def __init__(self, rig: Rig) -> None:
            self._rig = rig
            self.start = rig.start
            self.connect = rig.connect

        @property
        def token(self) -> bytes:
            return self._rig.token

        @property
        def socket_name(self) -> str:
            return self._rig.socket_name

        async def happen(self, url: str, what: str) -> None:
            if what == "crash":
                self._rig.app.kill_renderer()
                return
            async with self._rig.cdp(f"/devtools/page/{await self._rig.target_id(url)}") as cdp:
                script, is_gesture = _SCRIPTS[what]
                params = {"expression": script, "userGesture": is_gesture}
                if what == "close":
                    cdp.send("Runtime.evaluate", params)  # its reply may go down with the page
                    await self._rig.engine.browser.cdp.call("Browser.getVersion", timeout_s=10)  # it has been sent
                else:
                    await cdp.call("Runtime.evaluate", params, timeout_s=10)

    async with running_rig(**options) as rig:
        await rig.start()
        yield VirtualHost(rig)


_SCRIPTS = {
    "close": ("window.close()", True),
    "download": (
        "(a => { a.href = URL.createObjectURL(new Blob(['x'])); a.download = 'a.bin'; a.click() })"
        "(document.createElement('a'))",
        True,
    ),
    "popup": ("void window.open('about:blank')", True),
    "choose": (
        "(i => { i.type = 'file'; i.multiple = true; i.accept = 'text/plain';"
        " document.documentElement.append(i); i.click() })"
        "(document.createElement('input'))",
        True,
    ),
}


@dataclass
class Wire:
    """A control connection at the level of frames."""

    sock: socket.socket
    reader: FrameReader

    async def send(self, header: dict[str, object], body: bytes = b"") -> None:
        await self.send_bytes(encode_frame(header, body))

    async def send_bytes(self, piece: bytes) -> None:
        async with asyncio.timeout(30):
            await asyncio.get_running_loop().sock_sendall(self.sock, piece)

    async def receive(self) -> WireFrame | None:
        """The next frame, None at the end of the connection."""
        while (frame := self.reader.next_frame()) is None:
            async with asyncio.timeout(30):
                try:
                    piece = await asyncio.get_running_loop().sock_recv(self.sock, 65536)
                except ConnectionError:
                    return None
            if not piece:
                return None
            self.reader.feed(piece)
        return frame

    async def error_code(self) -> str:
        frame = await self.receive()
        assert frame is not None, "the connection ended without an error frame"
        return str(frame.header["error"]["code"])

    def close(self) -> None:
        self.sock.close()


def fresh_nonce() -> str:
    return secrets.token_hex(16)
