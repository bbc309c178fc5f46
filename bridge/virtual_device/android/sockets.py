"""The device's abstract unix socket namespace."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

StreamPair = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Opener = Callable[[], Awaitable[StreamPair]]

STREAM_LIMIT_BYTES = 1024 * 1024
# Connections that wait for a listener that does not accept: a WebView before Chromium 144 listens with this backlog.
BACKLOG = 10
MAX_NAME_BYTES = 107  # sun_path is 108 bytes and an abstract name starts with NUL: unix(7)


class AddressInUse(ValueError):
    """Another listener has that name already."""


@dataclass(slots=True)
class _Listener:
    opener: Opener
    pid: int
    accepts: asyncio.Event = field(default_factory=asyncio.Event)
    waiting: list[StreamPair] = field(default_factory=list)
    blocked: int = 0

    def __post_init__(self) -> None:
        self.accepts.set()

    def resume(self) -> None:
        """Accepts again. The connections that waited are closed: their clients have given up."""
        self.accepts.set()
        self.blocked = 0
        for _, writer in self.waiting:
            writer.close()
        self.waiting.clear()


class AbstractSockets:
    """The listeners by name. `connect` returns one end of a new connection.

    Attributes:
        on_blocked: Called with True when a connect blocks, because the listener does not accept and its backlog is
            full; with False when none blocks any more.
    """

    def __init__(self) -> None:
        self.on_blocked: Callable[[bool], None] = lambda blocked: None
        self._listeners: dict[str, _Listener] = {}

    def listen(self, name: str, opener: Opener, *, pid: int) -> None:
        """Listens under `name`; `opener` is called once per connection.

        Raises:
            AddressInUse: The name is taken.
            ValueError: The name is empty or too long for a socket address.
        """
        if not name or len(name.encode()) > MAX_NAME_BYTES:
            raise ValueError(f"an abstract name has 1 to {MAX_NAME_BYTES} bytes: {name[:40]!r}")
        if name in self._listeners:
            raise AddressInUse(f"@{name} is already listened on by pid {self._listeners[name].pid}")
        self._listeners[name] = _Listener(opener, pid)

    def close(self, name: str) -> None:
        """Stops listening; existing connections stay. Does nothing without a listener."""
        found = self._listeners.pop(name, None)
        if found is not None:
            found.resume()
            self._report_blocked()

    def set_accepting(self, pid: int, accepts: bool) -> None:
        """Makes the listeners of a process accept, or leave new connections in their backlog."""
        for listener in self._listeners.values():
            if listener.pid != pid:
                continue
            if accepts:
                listener.resume()
            else:
                listener.accepts.clear()
        self._report_blocked()

    async def connect(self, name: str) -> StreamPair:
        """The client's end of a new connection.

        Raises:
            ConnectionRefusedError: Nothing listens under that name.
        """
        found = self._listeners.get(name)
        if found is None:
            raise ConnectionRefusedError(f"nothing listens on @{name}")
        if not found.accepts.is_set():
            if len(found.waiting) <= BACKLOG:  # the kernel queues one more than the backlog (unix_recvq_full)
                near, far = await stream_pair()
                found.waiting.append(far)
                return near
            found.blocked += 1
            self._report_blocked()
            await found.accepts.wait()
            if self._listeners.get(name) is not found:
                raise ConnectionRefusedError(f"nothing listens on @{name}")
        return await found.opener()

    def _report_blocked(self) -> None:
        self.on_blocked(any(listener.blocked for listener in self._listeners.values()))

    def names(self) -> Mapping[str, int]:
        """Every listening name with its owner's pid."""
        return {name: listener.pid for name, listener in self._listeners.items()}


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
