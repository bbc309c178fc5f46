"""One client connection of the gate: its requests, one after the other, and the gate's own error responses."""

from __future__ import annotations

import asyncio

from bridge.errors import BridgeError, DeadlineExceeded, NameNotResolved, PolicyRefused
from bridge.policy.address import Address
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

_HEAD_S = 30.0  # for the first head of a connection
_KEPT_S = 120.0  # between two requests


class GateClient:
    """Serves one client until either side closes the connection."""

    def __init__(self, egress: PinnedEgress, client: StreamPair, *, has_pages: bool) -> None:
        self._egress = egress
        self._has_pages = has_pages
        self._reader, self._writer = client
        self._forwarder = Forwarder(egress, client)
        self._address: Address | None = None
        self._is_tunnel = False

    async def run(self) -> None:
        """Serve requests until the connection ends."""
        wait_s = _HEAD_S
        try:
            while (head := await read_head(self._reader, wait_s)) is not None and await self._request(head):
                wait_s = _KEPT_S
        except InvalidMessage as error:
            await self._end_with(self._page_about(error))
        finally:
            self._forwarder.drop()

    async def _request(self, head: bytes) -> bool:
        """Serve one request; True if another one may follow on this connection."""
        self._address = None
        try:
            request = parse_request(head)
            if request.method == "CONNECT":
                self._address = parse_connect_target(request.target)
                await self._tunnel(self._address)
                return False
            self._address, path = parse_absolute_target(request.target)
            return await self._forwarder.forward(request, self._address, path)
        except (
            InvalidMessage,
            InvalidResponse,
            BridgeError,
            OSError,
            asyncio.IncompleteReadError,
            asyncio.LimitOverrunError,
        ) as error:
            page = self._page_about(error)
            self._record_failure(error)
        await self._end_with(page)
        return False

    async def _end_with(self, page: bytes) -> None:
        """End the connection, with the page if the client gets pages; else only the egress knows the reason."""
        if self._is_tunnel or self._forwarder.is_responding:
            self._writer.transport.abort()  # the client would take a page inside a response for the site's content
        elif self._has_pages and not self._writer.transport.is_closing():
            await send_and_linger(self._reader, self._writer, page)

    def _record_failure(self, error: Exception) -> None:
        """Record the failure in the egress, for the audit and for `recent_failure`."""
        if isinstance(error, InvalidMessage) or self._address is None:
            return
        host, port = self._address.host or "", self._address.port or 0
        self._egress.record_failure(host, port, error)
        if isinstance(error, PolicyRefused):
            self._egress.record_refusal(host, port, str(error.details.get("rule", "policy")))
        elif isinstance(error, InvalidResponse):
            self._forwarder.record_broken()

    def _page_about(self, error: Exception) -> bytes:
        host = f"{self._address.host}:{self._address.port}" if self._address else ""
        match error:
            case InvalidMessage():
                text = f"Not a valid proxy request: {error}."
                return error_page(400, "Bad request", text, code="bad_request")
            case InvalidResponse():
                text = f"{host} sent a response that is not valid HTTP: {error}."
                return error_page(502, "Bad response", text, code="bad_answer")
            case PolicyRefused():
                return error_page(403, "Refused by policy", error.message, error.hint, code=error.code)
            case NameNotResolved():
                return error_page(502, "Host not found", error.message, code=error.code)
            case DeadlineExceeded() | TimeoutError():
                return error_page(504, "Timed out", f"{host} did not respond: {error}", code="timeout")
            case _:
                return error_page(502, "No connection", f"cannot connect to {host}: {error}", code="connection_failed")

    async def _tunnel(self, address: Address) -> None:
        decision = await self._egress.check_tunnel(address)
        ip_address, server = await self._egress.open_permitted(decision, timeout_s=CONNECT_S)
        counts = self._egress.traffic.begin()
        try:
            self._is_tunnel = True
            self._writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            await drain(self._writer)
            await splice((self._reader, self._writer), server, counts)
        finally:
            server[1].close()
            self._egress.record(
                address.host or "",
                address.port or 0,
                ip_address,
                bytes_sent=counts.bytes_sent,
                bytes_received=counts.bytes_received,
            )
