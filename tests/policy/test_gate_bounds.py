"""The gate's memory and time are bounded: a peer that sends without end is slowed down or disconnected."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import socket
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager

import pytest

from bridge.policy import BrowserPolicy
from bridge.policy.dialling import StreamPair
from bridge.policy.gate import run_gate
from bridge.policy.pinning import PinnedEgress

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
# What the kernel's buffers on loopback may hold on the way, and a margin.
IN_TRANSIT_BYTES = 32 * 1024 * 1024
# What the gate reads and discards of a client after its last response, within two seconds.
LINGER_BYTES = 64 * 1024 * 1024

ENDLESS: dict[str, tuple[bytes, bytes]] = {
    "trailers": (CHUNKED + b"5\r\nhello\r\n0\r\n", b"X-Trailer: %s\r\n" % (b"x" * 2000)),
    "chunk extensions": (CHUNKED, b"1;x=%s\r\na\r\n" % (b"x" * 2000)),
    "interim responses": (b"", b"HTTP/1.1 103 Early Hints\r\nLink: %s\r\n\r\n" % (b"x" * 2000)),
    "header lines": (OK, b"X-Header: %s\r\n" % (b"x" * 2000)),
    "short header lines": (OK, b"a:\r\n"),
    "a chunk's size line": (CHUNKED, b"0" * 2000),
    "empty lines": (b"", b"\r\n" * 1000),
}


class EndlessServer:
    """Sends `beginning`, then `piece` until the connection ends or does not take more."""

    def __init__(self, beginning: bytes, piece: bytes) -> None:
        self.sent_bytes = 0
        self.ended = asyncio.Event()
        self._pieces = itertools.chain((beginning,), itertools.repeat(piece * (1 + 20_000 // len(piece))))

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            for piece in self._pieces:
                writer.write(piece)
                await writer.drain()
                self.sent_bytes += len(piece)
        except ConnectionError:
            self.ended.set()
        finally:
            writer.close()


class DeafServer:
    """Reads the head of a request and nothing else."""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            await writer.wait_closed()
        except ConnectionError:
            pass
        finally:
            writer.close()


@asynccontextmanager
async def gate_to(server: EndlessServer | DeafServer) -> AsyncIterator[int]:
    """The port of a gate through which every host is that server."""
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]

    async def resolve(_host: str) -> tuple[str, ...]:
        return ("93.184.216.34",)

    async def connect(_address: str, _port: int) -> StreamPair:
        return await asyncio.open_connection("127.0.0.1", port)

    egress = PinnedEgress(BrowserPolicy(default_action="allow"), resolve=resolve, connect=connect)
    async with listening, run_gate(egress) as gate:
        yield gate.port


@contextlib.contextmanager
def client_of(port: int) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", port), timeout=20) as client:
        yield client


@pytest.mark.parametrize("kind", ENDLESS)
async def test_a_response_of_endless_framing_ends_the_connection(kind: str) -> None:
    server = EndlessServer(*ENDLESS[kind])
    async with gate_to(server) as port:
        with client_of(port) as client:  # which reads nothing
            client.sendall(b"GET http://site.example/ HTTP/1.1\r\nHost: site.example\r\n\r\n")
            async with asyncio.timeout(30):
                await server.ended.wait()
            assert server.sent_bytes < IN_TRANSIT_BYTES


async def test_a_client_that_does_not_read_slows_the_server_down() -> None:
    server = EndlessServer(CHUNKED, b"4000\r\n%s\r\n" % (b"x" * 0x4000))
    async with gate_to(server) as port:
        with client_of(port) as client:
            client.sendall(b"GET http://site.example/ HTTP/1.1\r\nHost: site.example\r\n\r\n")
            async with asyncio.timeout(30):
                before = -1
                while server.sent_bytes != before:
                    before = server.sent_bytes
                    await asyncio.sleep(0.5)  # the server has stalled if it sends nothing in this time
            assert 0 < server.sent_bytes < IN_TRANSIT_BYTES


@pytest.mark.parametrize(
    "pieces",
    [
        itertools.chain((b"0\r\n",), itertools.repeat(b"X-Trailer: %s\r\n" % (b"x" * 2000))),
        itertools.repeat(b"1;x=%s\r\na\r\n" % (b"x" * 2000)),
    ],
    ids=["trailers", "chunk extensions"],
)
async def test_a_request_of_endless_framing_ends_the_connection(pieces: Iterable[bytes]) -> None:
    async with gate_to(DeafServer()) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        sent_bytes = 0
        try:
            writer.write(b"POST http://site.example/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n")
            with contextlib.suppress(ConnectionError):
                async with asyncio.timeout(30):
                    for piece in pieces:
                        writer.write(piece * 20)
                        await writer.drain()
                        sent_bytes += len(piece) * 20
        finally:
            writer.close()
            del reader
        assert sent_bytes < IN_TRANSIT_BYTES + LINGER_BYTES
