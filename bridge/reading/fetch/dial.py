"""Connections of webfetch: only to addresses that the policy's egress has judged, and every byte of them counted."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import ssl
from collections.abc import Callable, Iterable
from typing import Any

import httpcore

from bridge.deadline import Deadline
from bridge.policy.dialling import StreamPair
from bridge.policy.pinning import PinnedEgress

_CLOSE_S = 0.5


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
        last_seen: What was tried last, for the words of a time-out; it names hosts.
        phase: The same as one of a few fixed phrases.
    """

    def __init__(self, egress: PinnedEgress, deadline: Deadline) -> None:
        self._egress = egress
        self._deadline = deadline
        self.bytes_sent = 0
        self.bytes_received = 0
        self.last_seen = ""
        self.phase = ""

    def saw(self, last_seen: str, phase: str) -> None:
        self.last_seen, self.phase = last_seen, phase

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        self.saw(f"resolving {host}", "resolving the host")
        addresses = await self._egress.addresses(host, port, timeout_s=self._deadline.remaining_s)
        self.saw(f"connecting to {host} at {', '.join(addresses)}, port {port}", "connecting")
        try:
            address, pair = await self._egress.open(host, port, timeout_s=self._deadline.remaining_s)
        except OSError as error:
            self._egress.record(host, port, addresses[0], bytes_sent=0, bytes_received=0)
            raise httpcore.ConnectError(f"{', '.join(addresses)}: {_reason(error)}") from error
        self.saw(f"waiting for {host}", "waiting for the response")
        return _CountedStream(_PairStream(pair), self, functools.partial(self._egress.record, host, port, address))


class _PairStream(httpcore.AsyncNetworkStream):
    """The egress's connection as httpcore wants it; its errors are httpcore's."""

    def __init__(self, pair: StreamPair) -> None:
        self._reader, self._writer = pair

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        try:
            async with asyncio.timeout(timeout):
                return await self._reader.read(max_bytes)
        except TimeoutError as error:
            raise httpcore.ReadTimeout("no response") from error
        except OSError as error:
            raise httpcore.ReadError(str(error)) from error

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        try:
            async with asyncio.timeout(timeout):
                self._writer.write(buffer)
                await self._writer.drain()
        except TimeoutError as error:
            raise httpcore.WriteTimeout("nothing is taken") from error
        except OSError as error:
            raise httpcore.WriteError(str(error)) from error

    async def aclose(self) -> None:
        self._writer.close()
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(_CLOSE_S):
                await self._writer.wait_closed()
        self._writer.transport.abort()

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.AsyncNetworkStream:
        try:
            async with asyncio.timeout(timeout):
                await self._writer.start_tls(ssl_context, server_hostname=server_hostname)
        except TimeoutError as error:
            raise httpcore.ConnectTimeout("no TLS handshake") from error
        except OSError as error:  # ssl.SSLError is one
            raise httpcore.ConnectError(str(error)) from error
        return self

    def get_extra_info(self, info: str) -> Any:
        transport = self._writer.transport
        match info:
            case "ssl_object" | "socket":
                return transport.get_extra_info(info)
            case "is_readable":
                return self._reader.at_eof()
            case "client_addr":
                return transport.get_extra_info("sockname")
            case "server_addr":
                return transport.get_extra_info("peername")
        return None


class _CountedStream(httpcore.AsyncNetworkStream):
    """Counts the bytes read and written, and reports them to the audit once, when closed."""

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


def _reason(error: OSError) -> str:
    return "no response" if isinstance(error, TimeoutError) else error.strerror or str(error) or type(error).__name__
