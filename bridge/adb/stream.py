"""One TCP connection to the adb server.

The socket stays a bare non-blocking one, without a transport: what is read is counted to the byte, so that after the
OKAY of a device service it can be handed to whoever speaks the service's own protocol.
"""

from __future__ import annotations

import asyncio
import ipaddress
import os
import socket
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial

from bridge.adb.smart_socket import Cutter, Parser, T, encode_request, status
from bridge.deadline import Deadline

_PIECE_BYTES = 256 * 1024
# Not the loop's own threads: those are everybody's, and pictures and files that are slow would keep the device away.
_RESOLVERS = ThreadPoolExecutor(4, "webview-bridge-adb-names")


class StreamClosed(Exception):
    """The peer closed the connection where an answer was due; `seen` is the part of it that came."""

    def __init__(self, seen: str) -> None:
        super().__init__(seen)
        self.seen = seen


class Unreachable(Exception):
    """No connection to the server; the text is the operating system's reason."""


class AdbStream:
    """Requests and answers on one connection; every wait is bounded by the block it stands in."""

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock
        self._loop = asyncio.get_running_loop()
        self.waiting_for = "the connection"

    async def request(self, service: str) -> None:
        """Ask for `service` and read its OKAY; Refused, NotAdb or StreamClosed instead."""
        await self.write(encode_request(service))
        self.waiting_for = f"the answer to {service.partition(chr(0))[0]!r}"
        await self.read(status())

    async def read(self, parser: Parser[T]) -> T:
        """The parser's value, reading not one byte more than it takes."""
        cutter = Cutter(parser)
        got = 0
        while cutter.missing_bytes:
            piece = await self._receive(min(cutter.missing_bytes, _PIECE_BYTES))
            if not piece:
                raise StreamClosed(f"{got} bytes of {self.waiting_for}")
            got += len(piece)
            cutter.feed(piece)
        return cutter.value

    async def read_piece(self) -> bytes:
        """What has arrived, b"" at the end."""
        return await self._receive(_PIECE_BYTES)

    async def read_to_end(self) -> bytes:
        pieces = []
        while piece := await self.read_piece():
            pieces.append(piece)
        return b"".join(pieces)

    async def write(self, payload: bytes) -> None:
        try:
            await self._loop.sock_sendall(self._socket, payload)
        except OSError as error:
            raise StreamClosed(f"{error.strerror or error} while writing") from error

    def detach(self) -> socket.socket:
        """The socket, which is the caller's to close from now on."""
        sock, self._socket = self._socket, socket.socket()
        self._socket.close()
        return sock

    def close(self) -> None:
        self._socket.close()

    async def _receive(self, limit: int) -> bytes:
        try:
            return await self._loop.sock_recv(self._socket, limit)
        except OSError as error:  # a route that ends, or a peer that stops answering, is no ConnectionError
            raise StreamClosed(f"{error.strerror or error} instead of {self.waiting_for}") from error


@asynccontextmanager
async def open_adb_stream(host: str, port: int, deadline: Deadline, awaited: str) -> AsyncIterator[AdbStream]:
    """A connection that lives as long as the block; the block is cancelled at the deadline.

    Raises:
        Unreachable: Nobody listens there.
        DeadlineExceeded: Says what the server had not answered.
    """
    stream: AdbStream | None = None

    def last_seen() -> str:
        return f"waiting for {stream.waiting_for}" if stream else f"connecting to {host}:{port}"

    async with deadline.bound(awaited, last_seen):
        stream = await connect_adb_stream(host, port)
        try:
            yield stream
        finally:
            stream.close()


async def connect_adb_stream(host: str, port: int) -> AdbStream:
    """A connection that is the caller's to close; raises Unreachable."""
    try:
        return AdbStream(await _connect(host, port))
    except OSError as error:
        # asyncio replaces the system's words by "Connect call failed"
        raise Unreachable(os.strerror(error.errno) if error.errno and error.errno > 0 else str(error)) from error


async def _connect(host: str, port: int) -> socket.socket:
    loop = asyncio.get_running_loop()
    failure: OSError | None = None
    for family, address in await _addresses(host, port):
        sock = socket.socket(family, socket.SOCK_STREAM)
        try:
            sock.setblocking(False)
            await loop.sock_connect(sock, address)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return sock
        except OSError as error:
            sock.close()
            failure = failure or error
        except BaseException:
            sock.close()
            raise
    raise failure or OSError(f"{host} has no address")


async def _addresses(host: str, port: int) -> list[tuple[socket.AddressFamily, tuple[str, int]]]:
    """What to try, in order. A numeric host needs no resolver thread, which could not be cancelled; a name's answer is
    waited for as long as the caller's deadline lasts."""
    try:
        literal = ipaddress.ip_address(host)
    except ValueError:
        asked = partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
        found = await asyncio.get_running_loop().run_in_executor(_RESOLVERS, asked)
        return [(family, (str(address[0]), int(address[1]))) for family, _, _, _, address in found]
    family = socket.AF_INET if literal.version == 4 else socket.AF_INET6
    return [(family, (host, port))]
