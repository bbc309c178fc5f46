"""The device's abstract unix socket namespace."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Mapping

StreamPair = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Opener = Callable[[], Awaitable[StreamPair]]

STREAM_LIMIT_BYTES = 1024 * 1024
MAX_NAME_BYTES = 107  # sun_path is 108 bytes and an abstract name starts with NUL: unix(7)


class AddressInUse(ValueError):
    """Another listener has that name already."""


class AbstractSockets:
    """The listeners by name. `connect` returns one end of a new connection."""

    def __init__(self) -> None:
        self._listeners: dict[str, tuple[Opener, int]] = {}

    def listen(self, name: str, opener: Opener, *, pid: int) -> None:
        """Listens under `name`; `opener` is called once per connection.

        Raises:
            AddressInUse: The name is taken.
            ValueError: The name is empty or too long for a socket address.
        """
        if not name or len(name.encode()) > MAX_NAME_BYTES:
            raise ValueError(f"an abstract name has 1 to {MAX_NAME_BYTES} bytes: {name[:40]!r}")
        if name in self._listeners:
            raise AddressInUse(f"@{name} is already listened on by pid {self._listeners[name][1]}")
        self._listeners[name] = (opener, pid)

    def close(self, name: str) -> None:
        """Stops listening; existing connections stay. Does nothing without a listener."""
        self._listeners.pop(name, None)

    async def connect(self, name: str) -> StreamPair:
        """The client's end of a new connection.

        Raises:
            ConnectionRefusedError: Nothing listens under that name.
        """
        found = self._listeners.get(name)
        if found is None:
            raise ConnectionRefusedError(f"nothing listens on @{name}")
        return await found[0]()

    def names(self) -> Mapping[str, int]:
        """Every listening name with its owner's pid."""
        return {name: pid for name, (_, pid) in self._listeners.items()}


async def stream_pair() -> tuple[StreamPair, StreamPair]:
    """Both ends of a kernel socket pair as asyncio streams.

    Kernel buffers give real back-pressure and real closing. They are large because screenshots have megabytes.
    """
    near, far = socket.socketpair()
    try:
        for end in (near, far):
            end.setblocking(False)
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, STREAM_LIMIT_BYTES)
        return await open_streams(near), await open_streams(far)
    except BaseException:
        near.close()
        far.close()
        raise


async def open_streams(sock: socket.socket) -> StreamPair:
    """asyncio streams over a connected socket, with a large read limit."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=STREAM_LIMIT_BYTES, loop=loop)
    protocol = asyncio.StreamReaderProtocol(reader, loop=loop)
    transport, _ = await loop.create_connection(lambda: protocol, sock=sock)
    if hasattr(transport, "max_size"):  # asyncio reads 256 KiB at once; an ADB packet holds 1 MiB
        transport.max_size = STREAM_LIMIT_BYTES
    return reader, asyncio.StreamWriter(transport, protocol, reader, loop)
