"""One TCP connection to the adb server.

It uses a bare non-blocking socket instead of an asyncio transport, because it must not read past the OKAY of a device
service: the socket is then handed to the service's own protocol.
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
from bridge.peer_user import peer_user

_PIECE_BYTES = 256 * 1024
# Not the loop's shared threads: slow work there would delay connections to the device.
_RESOLVERS = ThreadPoolExecutor(4, "webview-bridge-adb-names")


class StreamClosed(Exception):
    """The peer closed the connection before its reply was complete; `seen` is the part that arrived."""

    def __init__(self, seen: str) -> None:
        super().__init__(seen)
        self.seen = seen


class Unreachable(Exception):
    """The connection failed; the message is the operating system's reason."""


class AdbStream:
    """Requests and replies on one connection; the surrounding block bounds every wait."""

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock
        self._loop = asyncio.get_running_loop()
        self.waiting_for = "the connection"

    async def request(self, service: str) -> None:
        """Requests `service` and reads its OKAY; raises Refused, NotAdb or StreamClosed otherwise."""
        await self.write(encode_request(service))
        self.waiting_for = f"the reply to {service.partition(chr(0))[0]!r}"
        await self.read(status())

    async def read(self, parser: Parser[T]) -> T:
        """Runs the parser without reading past its end, and returns its value."""
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
        """The bytes that have arrived, b"" at the end."""
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

    def peer_user(self) -> int | None:
        """The user id of the process at the other end; None if it is not on this machine or unknown."""
        return peer_user(self._socket)

    def detach(self) -> socket.socket:
        """Returns the socket; the caller closes it."""
        sock, self._socket = self._socket, socket.socket()
        self._socket.close()
        return sock

    def close(self) -> None:
        self._socket.close()

    async def _receive(self, limit: int) -> bytes:
        try:
            return await self._loop.sock_recv(self._socket, limit)
        except OSError as error:  # a lost route and an unresponsive peer are not ConnectionErrors
            raise StreamClosed(f"{error.strerror or error} instead of {self.waiting_for}") from error


@asynccontextmanager
async def open_adb_stream(host: str, port: int, deadline: Deadline, awaited: str) -> AsyncIterator[AdbStream]:
    """A connection for the block, which is cancelled at the deadline.

    Raises:
        Unreachable: Nothing listens there.
        DeadlineExceeded: The message has the pending request.
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
    """Opens a connection that the caller closes; raises Unreachable."""
    try:
        return AdbStream(await _connect(host, port))
    except OSError as error:
        # asyncio replaces the system's message by "Connect call failed"
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
    """The addresses to try, in order. A numeric host avoids the resolver thread, which cannot be cancelled."""
    try:
        literal = ipaddress.ip_address(host)
    except ValueError:
        asked = partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
        found = await asyncio.get_running_loop().run_in_executor(_RESOLVERS, asked)
        return [(family, (str(address[0]), int(address[1]))) for family, _, _, _, address in found]
    family = socket.AF_INET if literal.version == 4 else socket.AF_INET6
    return [(family, (host, port))]
