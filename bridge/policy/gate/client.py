"""One connection to the gate: its requests, one after the other, and what is said of those that are not served."""

from __future__ import annotations

import asyncio

from bridge.errors import BridgeError, DeadlineExceeded, NameNotResolved, PolicyRefused
from bridge.policy.dialling import StreamPair
from bridge.policy.gate.forwarding import CONNECT_S, Forwarder
from bridge.policy.gate.http_messages import (
    InvalidMessage,
    InvalidResponse,
    error_page,
    parse_absolute_target,
    parse_connect_target,
    parse_request,
)
from bridge.policy.gate.streaming import drain, read_head, send_and_linger, splice
from bridge.policy.pinning import PinnedEgress

_HEAD_S = 30.0  # a client that connects and says nothing
_KEPT_S = 120.0  # between two requests


class GateClient:
    """Serves one client of the gate until either side has had enough."""

    def __init__(self, egress: PinnedEgress, client: StreamPair, *, has_pages: bool) -> None:
        self._egress = egress
        self._has_pages = has_pages
        self._reader, self._writer = client
        self._forwarder = Forwarder(egress, client)
        self._place = ("", 0)
        self._is_tunnel = False

    async def run(self) -> None:
        wait_s = _HEAD_S
        try:
            while (head := await read_head(self._reader, wait_s)) is not None and await self._request(head):
                wait_s = _KEPT_S
        except InvalidMessage as error:
            await self._end_with(self._page_about(error))
        finally:
            self._forwarder.drop()

    async def _request(self, head: bytes) -> bool:
        """Whether another request may follow on this connection."""
        self._place = ("", 0)
        try:
            request = parse_request(head)
            if request.method == "CONNECT":
                self._place = parse_connect_target(request.target)
                await self._tunnel(*self._place)
                return False
            host, port, path = parse_absolute_target(request.target)
            self._place = (host, port)
            return await self._forwarder.forward(request, host, port, path)
        except (
            InvalidMessage,
            InvalidResponse,
            BridgeError,
            OSError,
            asyncio.IncompleteReadError,
            asyncio.LimitOverrunError,
        ) as why:
            page = self._page_about(why)
            self._note(why)
        await self._end_with(page)
        return False

    async def _end_with(self, page: bytes) -> None:
        """The last thing that the client is told: the page, or nothing where only the egress is to know."""
        if self._is_tunnel or self._forwarder.is_answering:
            self._writer.transport.abort()  # a page of ours in the middle of an answer would be taken for the site's
        elif self._has_pages and not self._writer.transport.is_closing():
            await send_and_linger(self._reader, self._writer, page)

    def _note(self, error: Exception) -> None:
        """For the audit, and for whoever asks the egress why it failed; a request that is none is about no host."""
        if isinstance(error, InvalidMessage):
            return
        self._egress.record_failure(*self._place, error)
        if isinstance(error, PolicyRefused):
            self._egress.record_refusal(*self._place, str(error.details.get("rule", "policy")))
        elif isinstance(error, InvalidResponse):
            self._forwarder.record_broken()

    def _page_about(self, error: Exception) -> bytes:
        host = f"{self._place[0]}:{self._place[1]}"
        match error:
            case InvalidMessage():
                text = f"The request is no proxy request: {error}."
                return error_page(400, "Not understood", text, code="bad_request")
            case InvalidResponse():
                text = f"{host} does not answer in HTTP that can be passed on: {error}."
                return error_page(502, "Not understood", text, code="bad_answer")
            case PolicyRefused():
                return error_page(403, "Refused by policy", error.message, error.hint, code=error.code)
            case NameNotResolved():
                return error_page(502, "No such host", error.message, code=error.code)
            case DeadlineExceeded() | TimeoutError():
                return error_page(504, "No answer", f"{host} did not answer: {error}", code="timeout")
            case _:
                return error_page(502, "No connection", f"{host} cannot be reached: {error}", code="connection_failed")

    async def _tunnel(self, host: str, port: int) -> None:
        await self._egress.check_tunnel(host, port)
        address, far = await self._egress.open(host, port, timeout_s=CONNECT_S)
        carried = self._egress.traffic.begin()
        try:
            self._is_tunnel = True
            self._writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            await drain(self._writer)
            await splice((self._reader, self._writer), far, carried)
        finally:
            far[1].close()
            self._egress.record(
                host, port, address, bytes_sent=carried.bytes_sent, bytes_received=carried.bytes_received
            )
