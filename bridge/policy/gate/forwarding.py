"""Plain HTTP requests that the gate forwards, and their responses (RFC 9112). One server connection is kept."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from bridge.deadline import Deadline
from bridge.policy.address import Address
from bridge.policy.decision import Decision
from bridge.policy.dialling import StreamPair
from bridge.policy.gate.http_messages import (
    UNTIL_CLOSE,
    InvalidMessage,
    InvalidResponse,
    RequestHead,
    ResponseHead,
    forwarded_request,
    forwarded_response,
    parse_response,
)
from bridge.policy.gate.streaming import RESPONSE_TIMEOUT_S, copy_body, corked, drain, read_head
from bridge.policy.pinning import PinnedEgress
from bridge.policy.traffic import TransferCounts

CONNECT_S = 20.0
_MAX_INTERIM = 8  # responses before the final one: 100 Continue, 103 Early Hints
_NO_RETRY = frozenset({"POST", "PUT", "PATCH", "DELETE", "CONNECT"})


@dataclass
class _ServerConnection:
    """A connection to a server, kept for the client's next request to the same host and port."""

    host: str
    port: int
    ip_address: str
    streams: StreamPair
    counts: TransferCounts
    is_used: bool = False


class Forwarder:
    """Forwards the requests of one client.

    Attributes:
        is_responding: Whether part of a response has gone to the client, so that the gate must not add its own.
    """

    def __init__(self, egress: PinnedEgress, client: StreamPair) -> None:
        self.is_responding = False
        self._egress = egress
        self._reader, self._writer = client
        self._server: _ServerConnection | None = None
        self._has_unread_body = False

    async def forward(self, request: RequestHead, address: Address, path: str) -> bool:
        """Carry out one request; True if the client's connection may stay open.

        Raises:
            PolicyRefused, NameNotResolved, InvalidResponse, OSError, DeadlineExceeded: There is no response, or it
                broke off.
        """
        decision = await self._egress.check_destination(address)
        assert address.host is not None
        authority = f"[{address.host}]" if ":" in address.host else address.host
        head = forwarded_request(request, authority if address.port == 80 else f"{authority}:{address.port}", path)
        server = await self._server_for(decision)
        try:
            response = await self._exchange(server, request, head)
        except (ConnectionError, asyncio.IncompleteReadError):
            # The server may have closed a kept connection at any time (RFC 9112 §9.3.1).
            if not server.is_used or request.method in _NO_RETRY or request.body or server.counts.bytes_received:
                raise
            self.drop()
            server = await self._server_for(decision)
            response = await self._exchange(server, request, head)
        return await self._respond(server, request, response)

    async def _server_for(self, decision: Decision) -> _ServerConnection:
        host, port = decision.host or "", decision.port or 0
        kept = self._server
        if kept is not None and (kept.host, kept.port) == (host, port) and not kept.streams[0].at_eof():
            kept.is_used = True
            kept.counts = self._egress.traffic.begin()
            return kept
        self.drop()
        ip_address, streams = await self._egress.open_permitted(decision, timeout_s=CONNECT_S)
        self._server = _ServerConnection(host, port, ip_address, streams, self._egress.traffic.begin())
        return self._server

    async def _exchange(self, server: _ServerConnection, request: RequestHead, head: bytes) -> ResponseHead:
        """Send the request and return the head of the final response."""
        server.streams[1].write(head)
        server.counts.sent(len(head))
        # A server may respond before it has the whole body, so both directions run at once.
        sending = asyncio.ensure_future(self._send_body(server, request.body))
        receiving = asyncio.ensure_future(self._final_response(server, request.method))
        try:
            await asyncio.wait({sending, receiving}, return_when=asyncio.FIRST_COMPLETED)
            if not receiving.done():
                await sending
            return await receiving
        finally:
            receiving.cancel()
            self._has_unread_body = not sending.done()
            sending.cancel()
            await asyncio.gather(sending, receiving, return_exceptions=True)

    async def _send_body(self, server: _ServerConnection, body: int) -> None:
        if body:
            await copy_body(self._reader, server.streams[1], body, server.counts.sent)
        else:
            await drain(server.streams[1])

    async def _final_response(self, server: _ServerConnection, method: str) -> ResponseHead:
        deadline = Deadline.after(RESPONSE_TIMEOUT_S)
        for _ in range(_MAX_INTERIM + 1):
            with _from_server():
                head = await read_head(server.streams[0], deadline.remaining_s)
                if head is None:
                    raise ConnectionResetError("the server closed the connection without a response")
                server.counts.received(len(head))
                response = parse_response(head, method)
            if response.status == 101:
                raise InvalidResponse("it switched protocols without a request to do so")
            if response.status >= 200:
                return response
            self._writer.write(forwarded_response(response, keeps_alive=True))
            await drain(self._writer)
        raise InvalidResponse(f"more than {_MAX_INTERIM} interim responses")

    async def _respond(self, server: _ServerConnection, request: RequestHead, response: ResponseHead) -> bool:
        keeps_client = request.keeps_alive and response.body != UNTIL_CLOSE and not self._has_unread_body
        head = forwarded_response(response, keeps_alive=keeps_client)
        self.is_responding = True
        try:
            with corked(self._writer), _from_server():
                self._writer.write(head)
                await copy_body(server.streams[0], self._writer, response.body, server.counts.received)
            await drain(self._writer)
        finally:
            self._record(server)
        self.is_responding = False
        if not response.keeps_alive or self._has_unread_body:
            self.drop()
        return keeps_client

    def record_broken(self) -> None:
        """Record the exchange with a server whose response was invalid."""
        if self._server is not None and not self.is_responding:
            self._record(self._server)

    def drop(self) -> None:
        """Close the connection to the server."""
        if self._server is not None:
            self._server.streams[1].close()
            self._server = None

    def _record(self, server: _ServerConnection) -> None:
        self._egress.record(
            server.host,
            server.port,
            server.ip_address,
            bytes_sent=server.counts.bytes_sent,
            bytes_received=server.counts.bytes_received,
        )


@contextmanager
def _from_server() -> Iterator[None]:
    """A message that is invalid in the block is the server's."""
    try:
        yield
    except InvalidMessage as error:
        raise InvalidResponse(str(error)) from error
