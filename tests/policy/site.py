"""Two servers on loopback for page vectors: the site, and a forbidden one that counts connections."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit


class CountingServer(asyncio.DatagramProtocol):
    """Takes every connection and notes its first line, or that there was none; and every datagram to the same port."""

    def __init__(self) -> None:
        self.port = 0
        self.seen: list[str] = []
        self.arrived = asyncio.Event()

    def datagram_received(self, data: bytes, addr: Any) -> None:
        self.seen.append(f"a datagram of {len(data)} bytes")
        self.arrived.set()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        index = len(self.seen)
        self.seen.append("a connection without a request")
        self.arrived.set()
        try:
            line = await reader.readline()
            self.seen[index] = line.decode("latin-1").strip() or self.seen[index]
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\nsecret")
            await writer.drain()
        except (ConnectionError, ValueError):
            pass
        finally:
            writer.close()


class Site:
    """Serves the vectors at `/vector/NAME`, redirects, and notes what is fetched below `/hit/`.

    Attributes:
        aimed_at: The targets of the vectors that were fetched.
    """

    def __init__(self, vectors: list[dict[str, Any]]) -> None:
        self.port = 0
        self.hits: set[str] = set()
        self.aimed_at: set[str] = set()
        self.changed = asyncio.Condition()
        self.hops = 0
        self._vectors = {vector["name"]: vector for vector in vectors}

    def url(self, path: str) -> str:
        return f"http://localhost:{self.port}{path}"

    async def wait_for_hit(self, name: str, *, timeout_s: float) -> bool:
        try:
            async with asyncio.timeout(timeout_s), self.changed:
                await self.changed.wait_for(lambda: name in self.hits)
        except TimeoutError:
            return False
        return True

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            target = head.split(" ", 2)[1]
            status, headers, body = await self._answer(target)
            lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
            writer.write(
                f"HTTP/1.1 {status} X\r\n{lines}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode()
                + body
            )
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError, IndexError):
            pass
        finally:
            writer.close()

    async def _answer(self, target: str) -> tuple[int, Mapping[str, str], bytes]:
        parts = urlsplit(target)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        html = {"Content-Type": "text/html"}
        if parts.path.startswith("/hit/"):
            async with self.changed:
                self.hits.add(parts.path.split("/")[2])
                self.changed.notify_all()
            return 200, {"Access-Control-Allow-Origin": "*", "Content-Type": "text/plain"}, b"hit"
        if parts.path.startswith("/redirect/"):
            return int(parts.path.rpartition("/")[2]), {"Location": query["to"]}, b""
        if parts.path == "/chain":
            left = int(query["left"])
            self.hops += 1
            return (302, {"Location": f"/chain?left={left - 1}"}, b"") if left else (200, html, b"the end")
        if parts.path == "/worker.js":
            return 200, {"Content-Type": "text/javascript"}, query.get("do", "").encode()
        if parts.path.startswith("/vector/"):
            vector = self._vectors[parts.path.rpartition("/")[2]]
            aim = query["target"]
            self.aimed_at.add(aim)
            place = urlsplit(aim)
            values = {
                "{target}": aim,
                "{quoted}": quote(aim, safe=""),
                "{websocket}": aim.replace("http:", "ws:", 1),
                "{host}": place.hostname or "",
                "{port}": str(place.port),
            }
            headers = {name: _filled(value, values) for name, value in vector.get("headers", {}).items()}
            status = int(headers.pop(":status", "200"))
            return status, {**html, **headers}, _filled(vector["body"], values).encode()
        return 200, html, b"<title>blank</title>"


def _filled(text: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        text = text.replace(name, value)
    return text


@asynccontextmanager
async def serving(server: CountingServer | Site) -> AsyncIterator[None]:
    listening = await asyncio.start_server(server._serve, "127.0.0.1", 0)
    server.port = listening.sockets[0].getsockname()[1]
    datagrams: asyncio.DatagramTransport | None = None
    if isinstance(server, CountingServer):
        loop = asyncio.get_running_loop()
        datagrams, _ = await loop.create_datagram_endpoint(lambda: server, local_addr=("127.0.0.1", server.port))
    try:
        yield
    finally:
        listening.close()
        if datagrams is not None:
            datagrams.close()
