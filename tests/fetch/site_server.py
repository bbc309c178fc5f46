"""A server that answers with exactly the bytes a test wants, as slowly and as wrongly as it wants, and a way to it."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bridge.deadline import Deadline
from bridge.errors import BridgeError, NameNotResolved, PolicyRefused
from bridge.policy import TestServerGrant, decide, policy_for
from bridge.policy.dialling import StreamPair, first_connection, system_connect
from bridge.reading.fetch import webfetch

Handler = Callable[[asyncio.StreamWriter], Awaitable[None]]

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"


@dataclass
class Site:
    """Paths and what they answer; `requests` are the heads of all requests, as they came."""

    port: int = 0
    scheme: str = "http"
    name: str = "site.test"
    answers: dict[str, bytes | Handler] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    connections: int = 0
    gone: asyncio.Event = field(default_factory=asyncio.Event)

    def url(self, path: str = "/") -> str:
        return f"{self.scheme}://{self.name}:{self.port}{path}"

    def add(
        self,
        path: str,
        body: bytes | str = b"",
        content_type: str = "text/html; charset=utf-8",
        *,
        status: str = "200 OK",
        **headers: str,
    ) -> str:
        """An ordinary answer; its URL."""
        body = body.encode() if isinstance(body, str) else body
        fields = {"Content-Type": content_type, "Content-Length": str(len(body))}
        fields |= {name.replace("_", "-"): value for name, value in headers.items()}
        head = "".join(f"{name}: {value}\r\n" for name, value in fields.items() if value)
        self.answers[path] = f"HTTP/1.1 {status}\r\n{head}\r\n".encode("latin-1") + body
        return self.url(path)

    def does(self, path: str, answer: bytes | Handler) -> str:
        """Bytes to send before the connection is closed, or what to do with it; its URL."""
        self.answers[path] = answer
        return self.url(path)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            self.requests.append(head)
            answer = self.answers.get(head.split(" ")[1].split("?")[0], b"HTTP/1.1 404 Not Found\r\n\r\nnothing here")
            if isinstance(answer, bytes):
                writer.write(answer)
                await writer.drain()
            else:
                await answer(writer)
        with contextlib.suppress(OSError):
            writer.close()
            await writer.wait_closed()
        self.gone.set()


@asynccontextmanager
async def serve(tls: ssl.SSLContext | None = None) -> AsyncIterator[Site]:
    site = Site(scheme="https" if tls else "http")
    tasks: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            await site._serve(reader, writer)
        finally:
            tasks.discard(task)

    server = await asyncio.start_server(connected, "127.0.0.1", 0, ssl=tls)
    site.port = server.sockets[0].getsockname()[1]
    try:
        yield site
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await server.wait_closed()


@dataclass
class MappedEgress:
    """The operator's rules with names of the public web mapped to where the test has its servers."""

    names: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: {"site.test": ("127.0.0.1",)})
    grants: tuple[TestServerGrant, ...] = ()
    dialled: list[str] = field(default_factory=list)
    records: list[tuple[str, int, str, int, int]] = field(default_factory=list)

    async def check_url(self, url: str) -> str:
        decision = decide(policy_for("operator"), url, self.grants)
        if not decision.allowed:
            raise PolicyRefused(f"{url} is refused: {decision.reason}.", hint=decision.hint)
        return decision.url

    async def addresses(self, host: str, port: int, *, timeout_s: float) -> tuple[str, ...]:
        self.dialled.append(f"{host}:{port}")
        if host not in self.names:
            raise NameNotResolved(f"{host} has no address.")
        return self.names[host]

    async def open(self, host: str, port: int, *, timeout_s: float) -> tuple[str, StreamPair]:
        return await first_connection(system_connect, self.names[host], port, Deadline.after(timeout_s))

    def record(self, host: str, port: int, address: str, *, bytes_sent: int, bytes_received: int) -> None:
        self.records.append((host, port, address, bytes_sent, bytes_received))


@dataclass(frozen=True)
class Authority:
    """A certificate authority of our own, and what it has signed."""

    folder: Path

    def trust(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=str(self.folder / "ca.pem"))

    def server(self, name: str, *, days: int = 2, self_signed: bool = False) -> ssl.SSLContext:
        """A server's context with a certificate for that name."""
        key, request, certificate = (self.folder / f"{name}.{end}" for end in ("key", "csr", "pem"))
        openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", request, "-subj", f"/CN={name}")
        (self.folder / "names.cnf").write_text(f"subjectAltName=DNS:{name}\n")
        signed_by = (
            ("-signkey", key)
            if self_signed
            else ("-CA", self.folder / "ca.pem", "-CAkey", self.folder / "ca.key", "-CAcreateserial")
        )
        lifetime = (
            ("-days", str(days)) if days > 0 else ("-not_before", "20200101000000Z", "-not_after", "20200102000000Z")
        )
        openssl(
            "x509",
            "-req",
            "-in",
            request,
            "-out",
            certificate,
            "-extfile",
            self.folder / "names.cnf",
            *signed_by,
            *lifetime,
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        return context


def openssl(*arguments: str | Path) -> None:
    done = subprocess.run(["openssl", *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


async def failure(url: str, egress: MappedEgress, **options: object) -> BridgeError:
    with pytest.raises(BridgeError) as caught:
        await webfetch(url, egress=egress, **options)  # type: ignore[arg-type]
    return caught.value
