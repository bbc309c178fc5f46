"""Connections of webfetch: only to addresses that the policy's egress has judged, and every byte of them counted."""

from __future__ import annotations

import asyncio
import functools
import ssl
from collections.abc import Callable, Iterable
from typing import Any

import httpcore

from bridge.deadline import Deadline
from bridge.policy.egress import Egress

_STAGGER_S = 0.25


@functools.cache
def default_tls() -> ssl.SSLContext:
    """The public certificate authorities; loading them takes longer than many a fetch, so it is done once."""
    import httpx

    return httpx.create_ssl_context(trust_env=False)


class EgressBackend(httpcore.AsyncNetworkBackend):
    """Dials what `egress` answers for a name, and nothing else. TLS above it still verifies the name.

    Attributes:
        bytes_sent: On all connections so far, without TLS around them.
        bytes_received: Likewise.
        last_seen: What was tried last, for the words of a time-out.
    """

    def __init__(self, egress: Egress, deadline: Deadline) -> None:
        self._egress = egress
        self._deadline = deadline
        self._dialler = httpcore.AnyIOBackend()
        self.bytes_sent = 0
        self.bytes_received = 0
        self.last_seen = ""

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        self.last_seen = f"resolving {host}"
        addresses = await self._egress.addresses(host, port, timeout_s=self._deadline.remaining_s)
        self.last_seen = f"connecting to {host} at {', '.join(addresses)}, port {port}"
        address, stream = await self._first_connection(host, port, addresses, socket_options)
        self.last_seen = f"waiting for {host}"
        return _CountedStream(stream, self, functools.partial(self._egress.record, host, port, address))

    async def _first_connection(
        self, host: str, port: int, addresses: tuple[str, ...], socket_options: Iterable[Any] | None
    ) -> tuple[str, httpcore.AsyncNetworkStream]:
        """The first of the addresses that answers; each next one joins the race after a moment (RFC 8305 §5)."""
        waiting = list(addresses)
        racing: dict[asyncio.Task[httpcore.AsyncNetworkStream], str] = {}
        failures: list[str] = []
        failure: BaseException | None = None
        try:
            while waiting or racing:
                if waiting:
                    address = waiting.pop(0)
                    dialling = self._dialler.connect_tcp(address, port, socket_options=socket_options)
                    racing[asyncio.create_task(dialling)] = address
                pause_s = _STAGGER_S if waiting else None
                done, _ = await asyncio.wait(racing, timeout=pause_s, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    error = task.exception()
                    address = racing.pop(task)
                    if error is None:
                        return address, task.result()
                    if not isinstance(error, httpcore.ConnectError | httpcore.ConnectTimeout):
                        raise error
                    failure = error
                    failures.append(f"{address}: {_reason(error)}")
                    self._egress.record(host, port, address, bytes_sent=0, bytes_received=0)
            raise httpcore.ConnectError("; ".join(failures) or f"{host} has no address") from failure
        finally:
            for task in racing:
                task.cancel()
            for late in await asyncio.gather(*racing, return_exceptions=True):
                if isinstance(late, httpcore.AsyncNetworkStream):
                    await late.aclose()


class _CountedStream(httpcore.AsyncNetworkStream):
    """Counts the bytes that are read and written, and tells the audit once, when it is closed."""

    def __init__(
        self, stream: httpcore.AsyncNetworkStream, backend: EgressBackend, record: Callable[..., None] | None
    ) -> None:
        self._stream = stream
        self._backend = backend
        self._record = record
        self._sent = 0
        self._received = 0

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        block = await self._stream.read(max_bytes, timeout)
        self._received += len(block)
        self._backend.bytes_received += len(block)
        return block

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        await self._stream.write(buffer, timeout)
        self._sent += len(buffer)
        self._backend.bytes_sent += len(buffer)

    async def aclose(self) -> None:
        record, self._record = self._record, None
        if record is not None:
            record(bytes_sent=self._sent, bytes_received=self._received)
        await self._stream.aclose()

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.AsyncNetworkStream:
        # From here on the plain text is what is counted: the handshake's few kilobytes are not.
        try:
            self._stream = await self._stream.start_tls(ssl_context, server_hostname, timeout)
        except BaseException:
            await self.aclose()
            raise
        return self

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def _reason(error: Exception) -> str:
    if isinstance(error, httpcore.ConnectTimeout):
        return "no answer"
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.strerror:
            return cause.strerror
        cause = cause.__cause__ or cause.__context__
    return str(error) or type(error).__name__
