"""The server of the live view: a page and a WebSocket on loopback, protected by a one-time token.

The page contains no secret; the WebSocket requires the token in its first message. The token is in the fragment of the
address, which browsers never send. The key that replaces it is kept in `sessionStorage`, which belongs to this port
alone; a cookie would be sent to every port of this machine (RFC 6265 §8.5).
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import http
import json
import logging
import secrets
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from importlib import resources
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from websockets.asyncio.server import ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from bridge.deadline import finish
from bridge.errors import BridgeError, TransportError, UsageError
from bridge.page.target.attachment import Attachment
from bridge.surfaces.live_view.messages import Control, parse_hello, parse_message
from bridge.surfaces.live_view.touch_input import TouchInput

if TYPE_CHECKING:
    from bridge.page.page import Page

logger = logging.getLogger(__name__)

#: After this time without input, control is handed back.
IDLE_HAND_BACK_S = 300.0
_START_S = 10.0
_HELLO_S = 10.0
_REFUSED, _TAKEN = 4003, 4000
_STATE_EVERY_S = 0.5
_HELD_BY = "a person who has taken over in the live view"


class LiveView:
    """A view of one page; made by `live_view`.

    Attributes:
        url: Contains the token and works once, in one browser. Reloading works; sharing the address does not.
        handed_back: How often control was taken over and handed back.
        seen: Set when a browser has opened the view; `left` when it has closed it.
    """

    def __init__(self, page: Page, *, idle_hand_back_s: float = IDLE_HAND_BACK_S) -> None:
        self._page = page
        self._idle_hand_back_s = idle_hand_back_s
        self._token: str | None = secrets.token_urlsafe(24)
        self._key = secrets.token_urlsafe(24)
        self._port = 0
        self._viewer: ServerConnection | None = None
        self.handed_back = 0
        self.seen = asyncio.Event()
        self.left = asyncio.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}/#{self._token or 'used'}"

    def listen_on(self, port: int) -> None:
        self._port = port

    def answer(self, connection: ServerConnection, request: Request) -> Response | None:
        """The response to an HTTP request: the page, or None to accept its WebSocket."""
        if request.headers.get("Host") not in (f"127.0.0.1:{self._port}", f"localhost:{self._port}"):
            return _plain(http.HTTPStatus.FORBIDDEN, "This is not the address of the live view.")
        path = urlsplit(request.path).path
        if path == "/live":
            if request.headers.get("Origin") in (f"http://127.0.0.1:{self._port}", f"http://localhost:{self._port}"):
                return None
            return _plain(http.HTTPStatus.FORBIDDEN, "Open the page of the live view first.")
        if path != "/":
            return _plain(http.HTTPStatus.NOT_FOUND, "Not found.")
        return self._document()

    async def serve_viewer(self, viewer: ServerConnection) -> None:
        """Send frames and receive input until the viewer disconnects. A second viewer is refused."""
        try:
            if not await self._is_authorised(viewer):
                await viewer.close(_REFUSED, "the address was already used, or belongs to another view")
                return
            if self._viewer is not None:
                await viewer.close(_TAKEN, "someone else is viewing this tab")
                return
        except ConnectionClosed:
            return
        self._viewer = viewer
        self.seen.set()
        self.left.clear()
        try:
            await _Viewing(self._page, viewer, self).run(self._idle_hand_back_s)
        except ConnectionClosed:
            pass
        except BridgeError as error:
            logger.info("the live view ended: %s", error)
            with suppress(ConnectionClosed):
                await viewer.close(1011, error.code)
        finally:
            self._viewer = None
            self.left.set()

    async def _is_authorised(self, viewer: ServerConnection) -> bool:
        """True if the first message has the one-time token, or the key that was sent in exchange for it."""
        try:
            async with asyncio.timeout(_HELLO_S):
                given = parse_hello(await viewer.recv())
        except (TimeoutError, UsageError):
            return False
        if self._token is not None and secrets.compare_digest(given, self._token.encode()):
            self._token = None
            await viewer.send(json.dumps({"kind": "welcome", "key": self._key}))
            return True
        return secrets.compare_digest(given, self._key.encode())

    def _document(self) -> Response:
        nonce = secrets.token_urlsafe(16)
        text = resources.files(__package__).joinpath("viewer.html").read_text(encoding="utf-8")
        body = text.replace("{{nonce}}", nonce).encode()
        policy = (
            f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; img-src blob:; "
            "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )
        headers = Headers(
            {
                "Content-Type": "text/html; charset=utf-8",
                "Content-Length": str(len(body)),
                "Content-Security-Policy": policy,
                "Cache-Control": "no-store",
                "Referrer-Policy": "no-referrer",
                "X-Content-Type-Options": "nosniff",
                "Connection": "close",
            }
        )
        return Response(200, "OK", headers, body)


class _Viewing:
    """One viewer of a page."""

    def __init__(self, page: Page, viewer: ServerConnection, view: LiveView) -> None:
        self._page = page
        self._viewer = viewer
        self._view = view
        self._frame: bytes | None = None
        self._drawn = asyncio.Event()
        self._hold: AsyncExitStack | None = None
        self._taking: asyncio.Task[None] | None = None
        self._last_input = time.monotonic()

    async def run(self, idle_hand_back_s: float) -> None:
        attachment = await self._page.attached()
        touch_input = TouchInput(attachment)
        try:
            async with self._screencast(attachment, touch_input), asyncio.TaskGroup() as tasks:
                tasks.create_task(self._send_frames())
                tasks.create_task(self._send_state(idle_hand_back_s))
                tasks.create_task(self._take_messages(touch_input))
        except BaseExceptionGroup as group:
            raise group.exceptions[0] from None
        finally:
            await self._hand_back()

    @asynccontextmanager
    async def _screencast(self, attachment: Attachment, touch_input: TouchInput) -> AsyncIterator[None]:
        def take(method: str, params: Mapping[str, Any], _session_id: str | None) -> None:
            if method != "Page.screencastFrame":
                return
            with suppress(TransportError):
                attachment.connection.send(
                    "Page.screencastFrameAck", {"sessionId": params.get("sessionId", 0)}
                ).abandon()
            with suppress(KeyError, TypeError, ValueError, binascii.Error):
                metadata = params["metadata"]
                touch_input.width, touch_input.height = float(metadata["deviceWidth"]), float(metadata["deviceHeight"])
                self._frame = base64.b64decode(params["data"], validate=True)
                self._drawn.set()

        remove = attachment.connection.on_event(take)
        try:
            start = {"format": "jpeg", "quality": 75, "everyNthFrame": 1}
            await attachment.call("Page.startScreencast", start, timeout_s=_START_S)
            yield
        finally:
            remove()
            await finish(_stop(attachment), at_most_s=2.0, what="ending the screencast")

    async def _send_frames(self) -> None:
        """Send the newest frame: a slow viewer skips frames and never slows the page."""
        while True:
            await self._drawn.wait()
            self._drawn.clear()
            if self._frame is not None:
                await self._viewer.send(self._frame)

    async def _send_state(self, idle_hand_back_s: float) -> None:
        shown = ""
        while True:
            if self._hold is not None and time.monotonic() - self._last_input > idle_hand_back_s:
                await self._hand_back()
            state = {
                "kind": "state",
                "url": self._page.url[:2000],
                "tab": self._page.tab_id,
                "in_control": self._hold is not None,
            }
            text = json.dumps(state)
            if text != shown:
                shown = text
                await self._viewer.send(text)
            await asyncio.sleep(_STATE_EVERY_S)

    async def _take_messages(self, touch_input: TouchInput) -> None:
        async for received in self._viewer:
            if not isinstance(received, str):
                continue
            try:
                message = parse_message(received)
            except UsageError as error:
                logger.info("%s", error)
                continue
            self._last_input = time.monotonic()
            if isinstance(message, Control):
                if not message.take:
                    await self._hand_back()
                elif self._taking is None:  # in the background, so that the person can cancel while an operation runs
                    self._taking = asyncio.create_task(self._take_over(), name="taking over")
            elif self._hold is not None and touch_input.width:
                with suppress(BridgeError):
                    reply = await touch_input.act(message)
                    if reply is not None:
                        await self._viewer.send(json.dumps(reply))
        raise ConnectionClosed(None, None)

    async def _take_over(self) -> None:
        """Wait for the running operation, then hold back the next ones."""
        hold = AsyncExitStack()
        await hold.enter_async_context(self._page.held(_HELD_BY))
        self._hold = hold
        await self._viewer.send(json.dumps({"kind": "control", "in_control": True}))

    async def _hand_back(self) -> None:
        taking, self._taking = self._taking, None
        if taking is not None:
            taking.cancel()
            await asyncio.gather(taking, return_exceptions=True)
        hold, self._hold = self._hold, None
        if hold is not None:
            await hold.aclose()
            self._view.handed_back += 1
            with suppress(ConnectionClosed):
                await self._viewer.send(json.dumps({"kind": "control", "in_control": False}))


@asynccontextmanager
async def live_view(page: Page, *, idle_hand_back_s: float = IDLE_HAND_BACK_S) -> AsyncIterator[LiveView]:
    """Serve the view while the block runs. Open `view.url` in a browser of this machine."""
    view = LiveView(page, idle_hand_back_s=idle_hand_back_s)
    async with serve(
        view.serve_viewer,
        "127.0.0.1",
        0,
        process_request=view.answer,
        compression=None,
        max_size=64 * 1024,
        close_timeout=2,
        server_header=None,
    ) as server:
        view.listen_on(next(iter(server.sockets)).getsockname()[1])
        yield view


async def _stop(attachment: Attachment) -> None:
    with suppress(BridgeError):
        await attachment.call("Page.stopScreencast", timeout_s=2.0)


def _plain(status: http.HTTPStatus, text: str) -> Response:
    body = f"{text}\n".encode()
    headers = Headers(
        {"Content-Type": "text/plain; charset=utf-8", "Content-Length": str(len(body)), "Connection": "close"}
    )
    return Response(status.value, status.phrase, headers, body)
