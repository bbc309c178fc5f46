"""Connections of webfetch: only to addresses that the policy's egress has judged, and every byte of them counted."""

from __future__ import annotations

import functools
import ssl
from collections.abc import Callable, Iterable
from typing import Any

import httpcore

from bridge.deadline import Deadline
from bridge.policy.egress import Egress

#: An address that does not answer must leave time for the next one.
_ATTEMPT_S = 6.0


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
        failures: list[str] = []
        last_error: Exception | None = None
        for index, address in enumerate(addresses):
            self.last_seen = f"connecting to {host} at {address}, port {port}"
            is_last = index == len(addresses) - 1
            limit_s = self._deadline.remaining_s if is_last else min(_ATTEMPT_S, self._deadline.remaining_s)
            try:
                stream = await self._dialler.connect_tcp(address, port, limit_s, socket_options=socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                last_error = error
                failures.append(f"{address}: {_reason(error)}")
                self._egress.record(host, port, address, bytes_sent=0, bytes_received=0)
                continue
            self.last_seen = f"waiting for {host}"
            note = functools.partial(self._egress.record, host, port, address)
            return _CountedStream(stream, self, note)
        raise httpcore.ConnectError("; ".join(failures) or f"{host} has no address") from last_error


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
