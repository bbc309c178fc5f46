"""A client of the control protocol (android_host_app/PROTOCOL.md) on a socket."""

from __future__ import annotations

import asyncio
import itertools
import logging
import secrets
import socket
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any

import bridge
from bridge.deadline import Deadline
from bridge.errors import BridgeError, HostLost, HostProtocolError, HostUnproven, HostVersionMismatch
from bridge.host.event_queue import HostEventQueue
from bridge.host.forks import close_in_children
from bridge.host.protocol import (
    PROTOCOL_VERSION,
    ControlError,
    ControlReply,
    FrameReader,
    HostEvent,
    client_proof,
    encode_frame,
    host_proof,
    parse_from_host,
    proofs_equal,
)
from bridge.host.replies import INSTALL_HINT, HostHello, HostReply, HostTab, failure, hello_of

_log = logging.getLogger(__name__)

_PIECE_BYTES = 256 * 1024

Reducer = Callable[[str, Mapping[str, Any]], None]


@asynccontextmanager
async def connect_host(
    sock: socket.socket, *, token: bytes, socket_name: str, owner: str, policy_digest: str, timeout_s: float
) -> AsyncIterator[HostClient]:
    """A client on `sock` after the handshake; the socket is closed at the end of the block.

    Raises:
        HostUnproven: One end did not prove that it knows the token.
        HostVersionMismatch: The host speaks another protocol number; the hint says what to install.
        DeviceBusy: Another owner or policy is active.
        HostLost: The peer closed the connection.
    """
    deadline = Deadline.after(timeout_s)
    close_in_children(sock)
    reader, writer = await asyncio.open_connection(sock=sock, limit=_PIECE_BYTES)
    client = HostClient(reader, writer, socket_name)
    reading = asyncio.create_task(client._read(), name=f"host client {socket_name}")
    try:
        await client._shake_hands(token, owner, policy_digest, deadline)
        yield client
    finally:
        client._end(HostLost("the client was closed."))
        reading.cancel()
        writer.transport.abort()
        await asyncio.gather(reading, return_exceptions=True)


class HostClient:
    """Requests, replies and events on one control connection; requests may run concurrently.

    It has every request of the protocol, including those that only the conformance suite uses.

    Attributes:
        hello: The host's facts from the handshake.
        closed: Set when the connection has ended; `closed_reason` says why. Every request then raises HostLost.
        heard_at: The time of the last message from the host, on the monotonic clock.
    """

    hello: HostHello

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, socket_name: str) -> None:
        self.closed = asyncio.Event()
        self.closed_reason: BridgeError | None = None
        self.heard_at = time.monotonic()
        self._reader = reader
        self._writer = writer
        self._socket_name = socket_name
        self._ids = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[ControlReply | ControlError]] = {}
        self._unwanted: dict[int, Callable[[ControlReply], None]] = {}
        self._reducers: list[Reducer] = []
        self._queues: list[HostEventQueue] = []

    async def request(
        self,
        type: str,
        *,
        timeout_s: float,
        body: bytes = b"",
        **fields: Any,
    ) -> HostReply:
        """The reply to a request. Raises the error of an error reply, or DeadlineExceeded without a reply."""
        return await self._request(type, fields, body, Deadline.after(timeout_s))

    async def open_tab(
        self, *, width_px: int, height_px: int, density_dpi: int, timeout_s: float, profile: str | None = None
    ) -> HostTab:
        fields: dict[str, Any] = {"width_px": width_px, "height_px": height_px, "density_dpi": density_dpi}
        if profile is not None:
            fields["profile"] = profile
        reply = await self._request("tab.open", fields, b"", Deadline.after(timeout_s), unwanted=self._close_unwanted)
        return HostTab(*(reply.text("tab.open", name) for name in ("tab", "nonce", "url")))

    async def close_tab(self, tab: str, *, timeout_s: float) -> None:
        await self.request("tab.close", tab=tab, timeout_s=timeout_s)

    async def list_tabs(self, *, timeout_s: float) -> tuple[Mapping[str, Any], ...]:
        """The fields of `tab.list` for each tab, in the order of opening."""
        tabs = (await self.request("tab.list", timeout_s=timeout_s)).fields.get("tabs")
        if not isinstance(tabs, list) or not all(isinstance(tab, dict) for tab in tabs):
            raise HostProtocolError("the host's reply to tab.list has no list of tabs.")
        return tuple(tabs)

    async def resize_tab(self, tab: str, *, width_px: int, height_px: int, density_dpi: int, timeout_s: float) -> None:
        await self.request(
            "tab.resize", tab=tab, width_px=width_px, height_px=height_px, density_dpi=density_dpi, timeout_s=timeout_s
        )

    async def reset_tab(self, tab: str, *, timeout_s: float) -> HostTab:
        reply = await self.request("tab.reset", tab=tab, timeout_s=timeout_s)
        return HostTab(tab, *(reply.text("tab.reset", name) for name in ("nonce", "url")))

    async def put_file(
        self, name: str, content: bytes, *, timeout_s: float, tab: str | None = None, chooser: bool = False
    ) -> str:
        """Stages a file with that content and returns its path on the device."""
        fields: dict[str, Any] = {"name": name}
        if tab is not None:
            fields["tab"] = tab
        if chooser:
            fields["chooser"] = True
        reply = await self.request("file.put", body=content, timeout_s=timeout_s, **fields)
        return reply.text("file.put", "path")

    async def delete_file(self, path: str, *, timeout_s: float) -> None:
        await self.request("file.delete", path=path, timeout_s=timeout_s)

    async def capture(
        self,
        tab: str,
        *,
        timeout_s: float,
        full_page: bool = False,
        max_height_px: int | None = None,
        source: str = "canvas",
    ) -> HostReply:
        """The host's capture: a PNG in the body; width_px, height_px, page_height_px and truncated in the fields."""
        fields: dict[str, Any] = {"tab": tab, "full_page": full_page, "source": source}
        if max_height_px is not None:
            fields["max_height_px"] = max_height_px
        return await self.request("capture", timeout_s=timeout_s, **fields)

    async def set_proxy(self, host: str | None, port: int | None = None, *, timeout_s: float) -> HostReply:
        """Routes all traffic through an HTTP proxy, or None: directly. The fields have `mechanism` and `loopback`."""
        fields: dict[str, Any] = {"host": host}
        if port is not None:
            fields["port"] = port
        return await self.request("proxy.set", timeout_s=timeout_s, **fields)

    async def touch(self, tab: str | None = None, *, timeout_s: float) -> None:
        """Resets the idle timer of a tab, or of all tabs."""
        fields: dict[str, Any] = {} if tab is None else {"tab": tab}
        await self.request("touch", timeout_s=timeout_s, **fields)

    async def stats(self, *, timeout_s: float) -> Mapping[str, Any]:
        return (await self.request("stats", timeout_s=timeout_s)).fields

    async def shutdown(self, *, timeout_s: float) -> None:
        await self.request("shutdown", timeout_s=timeout_s)

    def on_event(self, reducer: Reducer) -> Callable[[], None]:
        """Calls `reducer(name, fields)` for every event before it is queued. The result removes it."""
        self._reducers.append(reducer)

        def remove() -> None:
            if reducer in self._reducers:
                self._reducers.remove(reducer)

        return remove

    @contextmanager
    def events(self, *names: str, maxlen: int = 1000) -> Iterator[HostEventQueue]:
        """The future events of these names (default: all), an async iterator that ends with the connection."""
        queue = HostEventQueue(frozenset(names), maxlen)
        if self.closed.is_set():
            queue.end()
        self._queues.append(queue)
        try:
            yield queue
        finally:
            self._queues.remove(queue)

    async def _request(
        self,
        kind: str,
        fields: Mapping[str, Any],
        body: bytes,
        deadline: Deadline,
        *,
        unwanted: Callable[[ControlReply], None] | None = None,
    ) -> HostReply:
        """`unwanted` handles a reply that arrives after the caller gave up."""
        if self.closed_reason is not None:
            raise HostLost(f"{kind} was not sent: {self.closed_reason.message}") from self.closed_reason
        identity = next(self._ids)
        frame = encode_frame({"id": identity, "type": kind, **fields}, body)
        answer: asyncio.Future[ControlReply | ControlError] = asyncio.get_running_loop().create_future()
        self._waiting[identity] = answer
        try:
            async with deadline.bound(f"host {kind}"):
                self._writer.write(frame)
                # The reader task also notices the break and knows more: an error frame may have come before it.
                with suppress(OSError):
                    await self._writer.drain()
                reply = await answer
        except BaseException:
            if unwanted is not None:
                self._unwanted[identity] = unwanted
                if answer.done() and not answer.cancelled() and answer.exception() is None:
                    self._take(answer.result())
            raise
        finally:
            self._waiting.pop(identity, None)
        if isinstance(reply, ControlError):
            raise failure(kind, reply)
        return HostReply(reply.fields, reply.body)

    async def _shake_hands(self, token: bytes, owner: str, policy_digest: str, deadline: Deadline) -> None:
        nonce = secrets.token_hex(16)
        fields = {
            "protocol": PROTOCOL_VERSION,
            "client": f"webview-bridge/{bridge.__version__}",
            "owner": owner,
            "policy": policy_digest,
            "nonce": nonce,
            "proof": client_proof(token, nonce, self._socket_name),
        }
        reply = (await self._request("hello", fields, b"", deadline)).fields
        expected = host_proof(token, nonce, str(reply.get("nonce")), self._socket_name)
        if not proofs_equal(expected, reply.get("proof")):
            raise HostUnproven(
                f"the listener on {self._socket_name} does not know the token: it is not the host app that was started."
            )
        if reply.get("protocol") != PROTOCOL_VERSION:
            raise HostVersionMismatch(
                f"the host app {reply.get('app_version')} speaks protocol {reply.get('protocol')}, "
                f"webview-bridge {bridge.__version__} speaks {PROTOCOL_VERSION}.",
                hint=INSTALL_HINT,
                host_protocol=reply.get("protocol"),
                app_version=reply.get("app_version"),
            )
        self.hello = hello_of(reply)

    async def _read(self) -> None:
        frames = FrameReader()
        try:
            while True:
                piece = await self._reader.read(_PIECE_BYTES)
                if not piece:
                    where = " inside a frame" if frames.in_frame else ""
                    self._end(HostLost(f"the host app closed the connection{where}."))
                    return
                self.heard_at = time.monotonic()
                frames.feed(piece)
                while (frame := frames.next_frame()) is not None:
                    self._take(parse_from_host(frame))
        except OSError as error:  # a lost route and an unresponsive peer are not ConnectionErrors
            self._end(HostLost(f"the connection to the host app broke: {error.strerror or error}."))
        except HostProtocolError as error:
            self._end(error)
            self._writer.transport.abort()

    def _take(self, message: ControlReply | ControlError | HostEvent) -> None:
        if isinstance(message, HostEvent):
            for reducer in tuple(self._reducers):
                try:
                    reducer(message.name, message.fields)
                except Exception:
                    _log.exception("a reducer of host events failed for %s", message.name)
            for queue in self._queues:
                queue.add(message)
        elif message.id is None:
            assert isinstance(message, ControlError)
            raise HostProtocolError(f"the host app refused a frame: {message.code}: {message.message}")
        elif (answer := self._waiting.get(message.id)) is not None and not answer.done():
            answer.set_result(message)
        elif (unwanted := self._unwanted.pop(message.id, None)) is not None and isinstance(message, ControlReply):
            unwanted(message)
        # else: the reply to a request whose deadline has passed

    def _close_unwanted(self, opened: ControlReply) -> None:
        """Closes a tab whose caller gave up before its name arrived."""
        self._writer.write(
            encode_frame({"id": next(self._ids), "type": "tab.close", "tab": opened.fields.get("tab")}, b"")
        )

    def _end(self, reason: BridgeError) -> None:
        if self.closed_reason is not None:
            return
        self.closed_reason = reason
        self.closed.set()
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(type(reason)(reason.message))
        for queue in self._queues:
            queue.end()
