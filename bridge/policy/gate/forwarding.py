"""Plain requests that the gate passes on to servers, and their answers (RFC 9112); one server at a time is kept."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from bridge.deadline import Deadline
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
_MAX_INTERIM = 8  # answers before the final one: 100 Continue, 103 Early Hints
_NO_RETRY = frozenset({"POST", "PUT", "PATCH", "DELETE", "CONNECT"})


@dataclass
class _Server:
    """A connection to a server, kept for the client's next request to the same host and port."""

    host: str
    port: int
    address: str
    streams: StreamPair
    carried: TransferCounts
    is_used: bool = False


class Forwarder:
    """Passes on the requests of one client.

    Attributes:
        is_answering: Whether a part of an answer has gone to the client, after which nothing of ours may.
    """

    def __init__(self, egress: PinnedEgress, client: StreamPair) -> None:
        self.is_answering = False
        self._egress = egress
        self._reader, self._writer = client
        self._server: _Server | None = None
        self._has_unread_body = False

    async def forward(self, request: RequestHead, host: str, port: int, path: str) -> bool:
        """Carry out one request; whether the client's connection may stay.

        Raises:
            PolicyRefused, NameNotResolved, InvalidResponse, OSError, DeadlineExceeded: The server sent no response, or
                not all of it.
        """
        await self._egress.check_destination("http", host, port)
        authority = f"[{host}]" if ":" in host else host
        head = forwarded_request(request, authority if port == 80 else f"{authority}:{port}", path)
        server = await self._server_for(host, port)
        try:
            answer = await self._exchange(server, request, head)
        except (ConnectionError, asyncio.IncompleteReadError):
            # A kept connection may have been closed by the server at any time (RFC 9112 §9.3.1).
            if not server.is_used or request.method in _NO_RETRY or request.body or server.carried.bytes_received:
                raise
            self.drop()
            server = await self._server_for(host, port)
            answer = await self._exchange(server, request, head)
        return await self._answer(server, request, answer)

    async def _server_for(self, host: str, port: int) -> _Server:
        kept = self._server
        if kept is not None and (kept.host, kept.port) == (host, port) and not kept.streams[0].at_eof():
            kept.is_used = True
            kept.carried = self._egress.traffic.begin()
            return kept
        self.drop()
        address, streams = await self._egress.open(host, port, timeout_s=CONNECT_S)
        self._server = _Server(host, port, address, streams, self._egress.traffic.begin())
        return self._server

    async def _exchange(self, server: _Server, request: RequestHead, head: bytes) -> ResponseHead:
        """Send the request and return the head of the final answer."""
        server.streams[1].write(head)
        server.carried.sent(len(head))
        # The body is sent while the server may already answer: one that refuses early must not be waited for.
        sending = asyncio.ensure_future(self._send_body(server, request.body))
        receiving = asyncio.ensure_future(self._final_answer(server, request.method))
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

    async def _send_body(self, server: _Server, body: int) -> None:
        if body:
            await copy_body(self._reader, server.streams[1], body, server.carried.sent)
        else:
            await drain(server.streams[1])

    async def _final_answer(self, server: _Server, method: str) -> ResponseHead:
        deadline = Deadline.after(RESPONSE_TIMEOUT_S)
        for _ in range(_MAX_INTERIM + 1):
            with _from_server():
                head = await read_head(server.streams[0], deadline.remaining_s)
                if head is None:
                    raise ConnectionResetError("the server closed the connection without an answer")
                server.carried.received(len(head))
                response = parse_response(head, method)
            if response.status == 101:
                raise InvalidResponse("it switched protocols, which was not asked for")
            if response.status >= 200:
                return response
            self._writer.write(forwarded_response(response, keeps_alive=True))
            await drain(self._writer)
        raise InvalidResponse(f"more than {_MAX_INTERIM} interim answers")

    async def _answer(self, server: _Server, request: RequestHead, response: ResponseHead) -> bool:
        keeps_client = request.keeps_alive and response.body != UNTIL_CLOSE and not self._has_unread_body
        out = forwarded_response(response, keeps_alive=keeps_client)
        self.is_answering = True
        try:
            with corked(self._writer), _from_server():
                self._writer.write(out)
                await copy_body(server.streams[0], self._writer, response.body, server.carried.received)
            await drain(self._writer)
        finally:
            self._record(server)
        self.is_answering = False
        if not response.keeps_alive or self._has_unread_body:
            self.drop()
        return keeps_client

    def record_broken(self) -> None:
        """Note the server that has not answered in HTTP."""
        if self._server is not None and not self.is_answering:
            self._record(self._server)

    def drop(self) -> None:
        """Let go of the server."""
        if self._server is not None:
            self._server.streams[1].close()
            self._server = None

    def _record(self, server: _Server) -> None:
        self._egress.record(
            server.host,
            server.port,
            server.address,
            bytes_sent=server.carried.bytes_sent,
            bytes_received=server.carried.bytes_received,
        )


@contextmanager
def _from_server() -> Iterator[None]:
    try:
        yield
    except InvalidMessage as error:
        raise InvalidResponse(str(error)) from error
