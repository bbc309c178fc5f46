"""The egress gate: an HTTP proxy on this machine's loopback that connects only where the policy lets it.

It takes CONNECT (https, WebSocket) and plain requests in absolute form, resolves the name itself, judges every address
and connects to a pinned one, so it does not matter what a page, a worker or the phone's name server say. Whoever talks
to it, and every server, may be hostile: heads are bounded, bodies are streamed, every wait ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any

from bridge.deadline import Deadline
from bridge.errors import BridgeError, DeadlineExceeded, NameNotResolved, PolicyRefused
from bridge.policy.address import parse_address
from bridge.policy.dialling import STREAM_LIMIT_BYTES, StreamPair
from bridge.policy.pinning import PinnedEgress
from bridge.policy.proxy_messages import (
    CHUNKED,
    UNTIL_CLOSE,
    BadAnswer,
    BadMessage,
    RequestHead,
    ResponseHead,
    forwarded_request,
    forwarded_response,
    own_page,
    parse_request,
    parse_response,
)

_log = logging.getLogger(__name__)

MAX_CLIENTS = 1024
_PIECE_BYTES = 64 * 1024
_MAX_HEAD_BYTES = 64 * 1024
_MAX_CHUNK_LINE_BYTES = 4096
_HEAD_S = 30.0  # a client that connects and says nothing
_KEPT_S = 120.0  # between two requests
_CONNECT_S = 20.0
_MAX_INTERIM = 8  # answers before the final one: 100 Continue, 103 Early Hints
_ANSWER_S = 300.0  # a server that thinks, a body that pauses
_TUNNEL_SILENCE_S = 3600.0
_HALF_CLOSED_S = 60.0
_NO_RETRY = frozenset({"POST", "PUT", "PATCH", "DELETE", "CONNECT"})


@dataclass
class _Server:
    """A connection to a server, kept for the client's next request to the same host and port."""

    host: str
    port: int
    address: str
    streams: StreamPair
    bytes_sent: int = 0
    bytes_received: int = 0
    is_used: bool = False


class Gate:
    """A running gate; made by `run_gate`.

    Attributes:
        port: Where it listens on 127.0.0.1.
        has_pages: Whether a request that cannot be served is answered with a page that says why. A browser would show
            it as if it were the site's, so for one the connection is closed instead, and the egress knows the reason.
    """

    def __init__(self, egress: PinnedEgress, *, has_pages: bool) -> None:
        self.port = 0
        self.egress = egress
        self.has_pages = has_pages
        self._server: asyncio.Server | None = None
        self._clients: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        """For `--proxy`, HTTP_PROXY and the like."""
        return f"http://127.0.0.1:{self.port}"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._clients.add(task)
        try:
            if len(self._clients) > MAX_CLIENTS:
                writer.write(own_page(503, "Busy", f"{MAX_CLIENTS} connections are open.", code="busy"))
            else:
                await _Client(self.egress, reader, writer, has_pages=self.has_pages).run()
        except (ConnectionError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
            _log.debug("a client of the gate is done: %s", error)
        except asyncio.CancelledError:
            writer.transport.abort()  # the block has ended; asyncio logs a cancelled handler as an error
        except Exception:
            _log.exception("the gate failed on a connection, which is closed")
        finally:
            self._clients.discard(task)
            writer.close()

    async def stop(self) -> None:
        """Listen no more and end every connection; whoever is pointed at it reaches nothing from then on."""
        if self._server is not None:
            self._server.close()
        for task in self._clients:
            task.cancel()
        await asyncio.gather(*self._clients, return_exceptions=True)


@asynccontextmanager
async def run_gate(egress: PinnedEgress, *, port: int = 0, has_pages: bool = True) -> AsyncIterator[Gate]:
    """A gate on 127.0.0.1 and `port` (0: any free one) until the block ends; every connection through it ends too.

    Raises:
        OSError: The port is taken.
    """
    gate = Gate(egress, has_pages=has_pages)
    gate._server = server = await asyncio.start_server(gate._serve, "127.0.0.1", port, limit=STREAM_LIMIT_BYTES)
    gate.port = server.sockets[0].getsockname()[1]
    try:
        yield gate
    finally:
        await gate.stop()


class _Client:
    """One connection to the gate."""

    def __init__(
        self, egress: PinnedEgress, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, has_pages: bool
    ) -> None:
        self._egress = egress
        self._has_pages = has_pages
        self._reader = reader
        self._writer = writer
        self._server: _Server | None = None
        self._is_answering = False
        self._has_unread_body = False

    async def run(self) -> None:
        wait_s = _HEAD_S
        try:
            while True:
                head = await _read_head(self._reader, wait_s)
                if head is None or not await self._request(head):
                    return
                wait_s = _KEPT_S
        except BadMessage as error:
            self._writer.write(self._not_understood(error))
            await _drain(self._writer)
        finally:
            self._drop_server()

    async def _request(self, head: bytes) -> bool:
        """Whether another request may follow on this connection."""
        place = ("", 0)
        try:
            request = parse_request(head)
            if request.method == "CONNECT":
                place = _authority(request.target)
                await self._tunnel(*place)
                return False
            host, port, path = _absolute(request.target)
            place = (host, port)
            return await self._forward(request, host, port, path)
        except BadMessage as error:
            answer = self._not_understood(error)
        except BadAnswer as error:
            text = f"{place[0]}:{place[1]} does not answer in HTTP that can be passed on: {error}."
            answer = self._failure(place, error, own_page(502, "Not understood", text, code="bad_answer"))
            if self._server is not None and not self._is_answering:
                self._record(self._server)
        except PolicyRefused as error:
            self._egress.record_refusal(*place, str(error.details.get("rule", "policy")))
            answer = self._failure(
                place, error, own_page(403, "Refused by policy", error.message, error.hint, code=error.code)
            )
        except NameNotResolved as error:
            answer = self._failure(place, error, own_page(502, "No such host", error.message, code=error.code))
        except (DeadlineExceeded, TimeoutError) as error:
            text = f"{place[0]}:{place[1]} did not answer: {error}"
            answer = self._failure(place, error, own_page(504, "No answer", text, code="timeout"))
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, BridgeError) as error:
            text = f"{place[0]}:{place[1]} cannot be reached: {error}"
            answer = self._failure(place, error, own_page(502, "No connection", text, code="connection_failed"))
        if self._is_answering:  # a page of ours in the middle of an answer would be taken for the site's
            self._writer.transport.abort()
            return False
        if self._writer.transport.is_closing() or not answer:
            return False
        self._writer.write(answer)
        await _drain(self._writer)
        return False

    def _not_understood(self, error: BadMessage) -> bytes:
        page = own_page(400, "Not understood", f"The request is no proxy request: {error}.", code="bad_request")
        return page if self._has_pages else b""

    def _failure(self, place: tuple[str, int], error: Exception, page: bytes) -> bytes:
        """What the client is told: the page, or nothing where only the egress is to know."""
        self._egress.note_failure(*place, error)
        return page if self._has_pages else b""

    async def _tunnel(self, host: str, port: int) -> None:
        await self._egress.check_tunnel(host, port)
        address, far = await self._egress.open(host, port, timeout_s=_CONNECT_S)
        counts = [0, 0]
        try:
            self._is_answering = True
            self._writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            await _drain(self._writer)
            await _splice((self._reader, self._writer), far, counts)
        finally:
            far[1].close()
            self._egress.record(host, port, address, bytes_sent=counts[0], bytes_received=counts[1])

    async def _forward(self, request: RequestHead, host: str, port: int, path: str) -> bool:
        await self._egress.check_destination("http", host, port)
        authority = f"[{host}]" if ":" in host else host
        head = forwarded_request(request, authority if port == 80 else f"{authority}:{port}", path)
        server = await self._server_for(host, port)
        try:
            answer = await self._exchange(server, request, head)
        except (ConnectionError, asyncio.IncompleteReadError):
            # A kept connection may have been closed by the server at any time (RFC 9112 §9.3.1).
            if not server.is_used or request.method in _NO_RETRY or request.body or server.bytes_received:
                raise
            self._drop_server()
            server = await self._server_for(host, port)
            answer = await self._exchange(server, request, head)
        return await self._answer(server, request, answer)

    async def _server_for(self, host: str, port: int) -> _Server:
        kept = self._server
        if kept is not None and (kept.host, kept.port) == (host, port) and not kept.streams[0].at_eof():
            kept.is_used = True
            kept.bytes_sent = kept.bytes_received = 0
            return kept
        self._drop_server()
        address, streams = await self._egress.open(host, port, timeout_s=_CONNECT_S)
        self._server = _Server(host, port, address, streams)
        return self._server

    async def _exchange(self, server: _Server, request: RequestHead, head: bytes) -> ResponseHead:
        """Send the request and return the head of the final answer."""
        server.streams[1].write(head)
        server.bytes_sent += len(head)
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
            server.bytes_sent += await _copy_body(self._reader, server.streams[1], body)
        else:
            await _drain(server.streams[1])

    async def _final_answer(self, server: _Server, method: str) -> ResponseHead:
        deadline = Deadline.after(_ANSWER_S)
        for _ in range(_MAX_INTERIM + 1):
            with _from_server():
                head = await _read_head(server.streams[0], deadline.remaining_s)
                if head is None:
                    raise ConnectionResetError("the server closed the connection without an answer")
                server.bytes_received += len(head)
                response = parse_response(head, method)
            if response.status == 101:
                raise BadAnswer("it switched protocols, which was not asked for")
            if response.status >= 200:
                return response
            self._writer.write(forwarded_response(response, keeps_alive=True))
            await _drain(self._writer)
        raise BadAnswer(f"more than {_MAX_INTERIM} interim answers")

    async def _answer(self, server: _Server, request: RequestHead, response: ResponseHead) -> bool:
        keeps_client = request.keeps_alive and response.body != UNTIL_CLOSE and not self._has_unread_body
        out = forwarded_response(response, keeps_alive=keeps_client)
        self._is_answering = True
        self._writer.write(out)
        try:
            with _from_server():
                server.bytes_received += await _copy_body(server.streams[0], self._writer, response.body)
            await _drain(self._writer)
        finally:
            self._record(server)
        self._is_answering = False
        if not response.keeps_alive or self._has_unread_body:
            self._drop_server()
        return keeps_client

    def _record(self, server: _Server) -> None:
        self._egress.record(
            server.host,
            server.port,
            server.address,
            bytes_sent=server.bytes_sent,
            bytes_received=server.bytes_received,
        )

    def _drop_server(self) -> None:
        if self._server is not None:
            self._server.streams[1].close()
            self._server = None


@contextmanager
def _from_server() -> Iterator[None]:
    try:
        yield
    except BadMessage as error:
        raise BadAnswer(str(error)) from error


def _authority(target: str) -> tuple[str, int]:
    """Host and port of CONNECT's target, which has to name both (RFC 9110 §9.3.6)."""
    if target.count(":") < 1 or any(character in target for character in "/\\?#@") or not target[-1:].isdigit():
        raise BadMessage("CONNECT names a host and a port")
    address = parse_address(f"http://{target}/")
    if address.host is None or address.port is None:
        raise BadMessage("CONNECT names no host and port that can be read")
    return address.host, address.port


def _absolute(target: str) -> tuple[str, int, str]:
    """Host, port and path of a target in absolute form; a request for the gate itself is none."""
    address = parse_address(target)
    if address.scheme != "http" or address.host is None or address.port is None:
        raise BadMessage("its target is no absolute http: URL")
    authority_end = address.url.index("/", len("http://"))
    return address.host, address.port, address.url[authority_end:].partition("#")[0]


async def _read_head(reader: asyncio.StreamReader, wait_s: float) -> bytes | None:
    """A head with its empty line; None where the peer closed before its first byte, or was silent for too long."""
    try:
        async with asyncio.timeout(wait_s):
            head = await reader.readuntil(b"\r\n\r\n")
    except TimeoutError:
        return None
    except asyncio.IncompleteReadError as error:
        if error.partial.strip():
            raise BadMessage("the head breaks off") from error
        return None
    except asyncio.LimitOverrunError as error:
        raise BadMessage("the head is too long") from error
    if len(head) > _MAX_HEAD_BYTES:
        raise BadMessage("the head is too long")
    return head.lstrip(b"\r\n")


async def _copy_body(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, body: int) -> int:
    """Copy a body as its framing says; the number of bytes."""
    if body == UNTIL_CLOSE:
        return await _copy_until_close(reader, writer)
    if body != CHUNKED:
        await _copy_exactly(reader, writer, body)
        return body
    copied = 0
    while True:
        line = await _chunk_line(reader)
        size_text = line.split(b";")[0].strip()
        if not size_text or len(size_text) > 15 or not set(size_text) <= set(b"0123456789abcdefABCDEF"):
            raise BadMessage("a chunk has no size")
        size = int(size_text, 16)
        line = b"%x\r\n" % size  # without extensions, in which two readers may see different ends of the line
        writer.write(line)
        copied += len(line)
        if size == 0:
            break
        await _copy_exactly(reader, writer, size)
        end = await _timely(reader.readexactly(2))
        if end != b"\r\n":
            raise BadMessage("a chunk is longer than its size")
        writer.write(end)
        copied += size + 2
    while (line := await _chunk_line(reader)) != b"\r\n":  # trailers
        writer.write(line)
        copied += len(line)
    writer.write(line)
    await _drain(writer)
    return copied + 2


async def _chunk_line(reader: asyncio.StreamReader) -> bytes:
    line = await _timely(reader.readuntil(b"\r\n"))
    if len(line) > _MAX_CHUNK_LINE_BYTES:
        raise BadMessage("a chunk's line is too long")
    return line


async def _copy_exactly(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, size: int) -> None:
    while size:
        piece = await _timely(reader.read(min(size, _PIECE_BYTES)))
        if not piece:
            raise BadMessage("the body breaks off")
        size -= len(piece)
        writer.write(piece)
        await _drain(writer)


async def _copy_until_close(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> int:
    copied = 0
    while piece := await _timely(reader.read(_PIECE_BYTES)):
        copied += len(piece)
        writer.write(piece)
        await _drain(writer)
    return copied


async def _timely(reading: Coroutine[Any, Any, bytes]) -> bytes:
    async with asyncio.timeout(_ANSWER_S):
        return await reading


async def _drain(writer: asyncio.StreamWriter) -> None:
    async with asyncio.timeout(_ANSWER_S):
        await writer.drain()


async def _splice(near: StreamPair, far: StreamPair, counts: list[int]) -> None:
    """Copy both ways until both have ended, or the second stays silent after the first has ended."""
    ways = {
        asyncio.ensure_future(_pump(near[0], far[1], counts, 0)),
        asyncio.ensure_future(_pump(far[0], near[1], counts, 1)),
    }
    try:
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        before = -1
        while any(not way.done() for way in ways) and sum(counts) != before:
            before = sum(counts)
            await asyncio.wait(ways, timeout=_HALF_CLOSED_S)
    finally:
        for way in ways:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, counts: list[int], which: int) -> None:
    with contextlib.suppress(ConnectionError, TimeoutError):
        while True:
            async with asyncio.timeout(_TUNNEL_SILENCE_S):
                piece = await reader.read(_PIECE_BYTES)
            if not piece:
                break
            counts[which] += len(piece)
            writer.write(piece)
            await _drain(writer)
        if writer.can_write_eof():
            writer.write_eof()
        return
    writer.close()
