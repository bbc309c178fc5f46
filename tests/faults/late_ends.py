"""An adb server behind a relay that delays the ends of some streams, so that simultaneous ends arrive one by one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress


class _Stream:
    """One connection through the relay."""

    def __init__(self, service: bytes, late_s: float) -> None:
        self._service = service
        self._late_s = late_s
        self._asked = b""

    async def ask(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(65536):
                self._asked = (self._asked + data)[:1000]
                writer.write(data)
                await writer.drain()
        writer.close()

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        if self._service in self._asked:
            await asyncio.sleep(self._late_s)
        writer.close()


@asynccontextmanager
async def ends_late(server_port: int, service: bytes, *, late_s: float) -> AsyncIterator[str]:
    """The `host:port` of an adb server whose streams to `service…` end so much later than they do."""

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", server_port)
        stream = _Stream(service, late_s)
        await asyncio.gather(stream.ask(reader, far_writer), stream.answer(far_reader, writer))

    async with await asyncio.start_server(relay, "127.0.0.1", 0) as listener:
        host, port = listener.sockets[0].getsockname()
        yield f"{host}:{port}"
