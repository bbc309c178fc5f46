"""The device's network for Chromium: the device's loopback and the host app's proxy.

Chromium runs on the desktop, so its 127.0.0.1 would be the desktop's. It gets a SOCKS proxy for loopback addresses,
which connects to the device's loopback, where only `adb reverse` opens ports.
SOCKS 5 is RFC 1928. Chromium connects to proxies over TCP alone and sends SOCKS proxies no password, so these listen on
loopback and serve only connections of this user's own processes.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import logging
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from bridge.peer_user import is_peer_of, own_user

_log = logging.getLogger(__name__)

StreamPair = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Dial = Callable[[int], Awaitable[StreamPair]]

_HANDSHAKE_TIMEOUT_S = 10.0
_PIECE_BYTES = 256 * 1024
_SUCCEEDED, _NOT_ALLOWED, _REFUSED, _UNSUPPORTED_COMMAND, _UNSUPPORTED_ADDRESS = 0, 2, 5, 7, 8


class SocksError(ValueError):
    """Not a supported SOCKS 5 request; `code` goes into the reply, None if no reply is possible."""

    def __init__(self, message: str, code: int | None = None) -> None:
        super().__init__(message)
        self.code = code


def is_loopback(host: str) -> bool:
    """True if the host is loopback by Chromium's rule (net::IsLocalhost): localhost, its subdomains, 127/8 and ::1."""
    name = host.lower().removesuffix(".")
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return bool((mapped or address).is_loopback)


@asynccontextmanager
async def loopback_proxy(dial: Dial) -> AsyncIterator[int]:
    """Runs a SOCKS 5 server and yields its port.

    It connects to loopback destinations with `dial`, and directly to others, which arrive where a proxy rule cannot
    exclude them.
    """

    async def connect(host: str, port: int) -> StreamPair | int:
        try:
            if is_loopback(host):
                return await dial(port)
            if host in ("0.0.0.0", "::"):  # noqa: S104 - this machine by another name
                return _NOT_ALLOWED
            return await asyncio.open_connection(host, port, limit=_PIECE_BYTES)
        except OSError:
            return _REFUSED

    async with _serve(lambda reader, writer: _socks(reader, writer, connect), "loopback proxy") as port:
        yield port


@asynccontextmanager
async def refusing_proxy() -> AsyncIterator[int]:
    """Runs a SOCKS 5 server that refuses every destination: the proxy for plain http if the manifest forbids it."""

    async def connect(_host: str, _port: int) -> StreamPair | int:
        return _NOT_ALLOWED

    async with _serve(lambda reader, writer: _socks(reader, writer, connect), "refusing proxy") as port:
        yield port


@asynccontextmanager
async def way_into_device(dial: Dial, device_port: Callable[[], int | None]) -> AsyncIterator[int]:
    """Yields a local port whose connections lead to the loopback port of the device that is named at that moment."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if (port := device_port()) is None:
            return
        try:
            far = await dial(port)
        except OSError:
            return
        await splice((reader, writer), far)

    async with _serve(handle, "way into the device") as port:
        yield port


async def splice(near: StreamPair, far: StreamPair) -> None:
    """Copies both ways until both directions end. Closes `far`; the caller closes `near`."""
    try:
        await asyncio.gather(_copy(near[0], far[1]), _copy(far[0], near[1]))
    finally:
        far[1].close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while piece := await reader.read(_PIECE_BYTES):
            writer.write(piece)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()
        return
    writer.close()


async def _socks(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    connect: Callable[[str, int], Awaitable[StreamPair | int]],
) -> None:
    try:
        async with asyncio.timeout(_HANDSHAKE_TIMEOUT_S):
            host, port = await _socks_request(reader, writer)
            far = await connect(host, port)
    except SocksError as error:
        _log.debug("a SOCKS client was refused: %s", error)
        if error.code is not None:
            writer.write(_socks_reply(error.code))
        return
    except (asyncio.IncompleteReadError, TimeoutError):
        return
    if isinstance(far, int):
        writer.write(_socks_reply(far))
        return
    writer.write(_socks_reply(_SUCCEEDED))
    await splice((reader, writer), far)


async def _socks_request(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> tuple[str, int]:
    version, methods = await reader.readexactly(2)
    offered = await reader.readexactly(methods)
    if version != 5 or 0 not in offered:
        raise SocksError(f"version {version}, methods {offered.hex()}")
    writer.write(b"\x05\x00")
    version, command, _, kind = await reader.readexactly(4)
    if kind == 1:
        host = str(ipaddress.IPv4Address(await reader.readexactly(4)))
    elif kind == 3:
        host = (await reader.readexactly((await reader.readexactly(1))[0])).decode("ascii", "replace")
    elif kind == 4:
        host = str(ipaddress.IPv6Address(await reader.readexactly(16)))
    else:
        raise SocksError(f"address type {kind}", _UNSUPPORTED_ADDRESS)
    (port,) = struct.unpack(">H", await reader.readexactly(2))
    if version != 5 or command != 1:
        raise SocksError(f"version {version}, command {command}", _UNSUPPORTED_COMMAND)
    return host, port


def _socks_reply(code: int) -> bytes:
    return bytes([5, code, 0, 1, 0, 0, 0, 0, 0, 0])


@asynccontextmanager
async def _serve(
    handle: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]], what: str
) -> AsyncIterator[int]:
    open_now: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        open_now.add(task)
        try:
            if is_peer_of(writer.get_extra_info("socket"), {own_user()}):
                await handle(reader, writer)
            else:
                _log.debug("another user of this machine connected to the %s and was refused", what)
        except asyncio.CancelledError:
            writer.transport.abort()  # the block ended; asyncio would log a cancelled handler as an error
        except Exception:
            _log.exception("%s failed", what)
        finally:
            open_now.discard(task)
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, limit=_PIECE_BYTES)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in open_now:
            task.cancel()
        await asyncio.gather(*open_now, return_exceptions=True)
