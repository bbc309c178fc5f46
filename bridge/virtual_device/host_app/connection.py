"""The host's end of a control connection: handshake, then requests (PROTOCOL.md §3, §4)."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bridge.host.protocol import (
    HELLO_LIMITS,
    ControlRequest,
    FrameError,
    FrameReader,
    Limits,
    WireFrame,
    client_proof,
    encode_frame,
    host_proof,
    is_hex,
    parse_request,
    proofs_equal,
)
from bridge.virtual_device.android import StreamPair
from bridge.virtual_device.host_app.fields import Fields, RequestRefused
from bridge.virtual_device.host_app.requests import serve

if TYPE_CHECKING:
    from bridge.virtual_device.host_app.process import HostProcess
    from bridge.virtual_device.host_app.service import Endpoint, HostApp

_log = logging.getLogger(__name__)

_HELLO_TIMEOUT_S = 10.0
_WRITE_TIMEOUT_S = 30.0
_MAX_IN_FLIGHT = 64
_MAX_UNREAD_BYTES = 16 * 1024 * 1024
_PIECE_BYTES = 256 * 1024


class ControlConnection:
    """Reads frames in order; a task of its own serves each request."""

    def __init__(self, app: HostApp, process: HostProcess, endpoint: Endpoint, pair: StreamPair) -> None:
        self.endpoint = endpoint
        self._app = app
        self._process = process
        self._reader, self._writer = pair
        self._frames = FrameReader(HELLO_LIMITS)
        self._serving: dict[int, asyncio.Task[None]] = {}
        self._protocol: int | None = None

    async def run(self) -> None:
        """Serves the connection until either end closes it."""
        try:
            async with asyncio.timeout(_HELLO_TIMEOUT_S):
                frame = await self._next_frame()
                if frame is None:
                    return
                await self._hello(frame)
            self._frames.limits = Limits()
            while (frame := await self._next_frame()) is not None:
                self._take(frame)
        except FrameError as error:
            self._refuse(None, RequestRefused("bad_frame", error.message))
        except RequestRefused:
            pass  # the error reply was sent; the connection ends
        except (ConnectionError, TimeoutError):
            pass
        finally:
            await self._end()

    def send(self, header: Mapping[str, Any], body: bytes = b"") -> None:
        """Queues a frame. Disconnects a client that does not read and has too many bytes queued."""
        if "event" in header and self._writer.transport.get_write_buffer_size() > _MAX_UNREAD_BYTES:
            self.abort()
            return
        with contextlib.suppress(ConnectionError):
            self._writer.write(encode_frame(header, body))

    def abort(self) -> None:
        """Closes the connection abruptly, as the death of the process does."""
        self._writer.transport.abort()

    async def _end(self) -> None:
        self._process.clients.discard(self)
        for task in self._serving.values():
            task.cancel()
        await asyncio.gather(*self._serving.values(), return_exceptions=True)
        self._process.note_change()
        self._writer.close()

    async def _next_frame(self) -> WireFrame | None:
        while (frame := self._frames.next_frame()) is None:
            await self._app.serving.wait()
            piece = await self._reader.read(_PIECE_BYTES)
            await self._app.serving.wait()
            if not piece:
                return None
            self._frames.feed(piece)
        return frame

    async def _hello(self, frame: WireFrame) -> None:
        request = parse_request(frame)
        try:
            if request.type != "hello":
                raise RequestRefused("hello_required", f"the first request must be hello, not {request.type[:60]!r}.")
            reply = await self._shake_hands(Fields(request.fields))
        except RequestRefused as refusal:
            self._refuse(request.id, refusal)
            raise
        self.send({"id": request.id, "ok": True, **reply})

    async def _shake_hands(self, fields: Fields) -> dict[str, Any]:
        nonce, shown = fields.raw("nonce"), fields.raw("proof")
        if not is_hex(nonce, 32):
            raise RequestRefused("bad_request", "nonce must have 32 hex digits.", field="nonce")
        if not proofs_equal(client_proof(self.endpoint.token, nonce, self.endpoint.name), shown):
            raise RequestRefused("unproven", "the client did not prove that it knows the token.")
        own_nonce = secrets.token_hex(16)
        proofs = {
            "protocol": self._app.protocol,
            "app_version": self._app.device.app_version,
            "nonce": own_nonce,
            "proof": host_proof(self.endpoint.token, nonce, own_nonce, self.endpoint.name),
        }
        self._protocol = fields.integer("protocol", 1, 2**31 - 1)
        if self._protocol != self._app.protocol:
            return proofs
        fields.text("client", 1, 100)
        await self._become_client((fields.text("owner", 1, 200), fields.text("policy", 0, 128)))
        return {**self._app.describe(), **proofs}

    async def _become_client(self, pair: tuple[str, str]) -> None:
        process = self._process
        async with self._app.hello_lock:
            may_share = "any_owner" in process.engine.defects
            if process.clients and process.owner not in (None, pair) and not may_share:
                assert process.owner is not None
                owner, policy = process.owner
                since_s = round(self._app.clock() - process.owner_since, 3)
                raise RequestRefused("device_busy", f"in use by {owner}.", owner=owner, policy=policy, since_s=since_s)
            await process.new_owner(pair)
            process.clients.add(self)
        process.note_change()

    def _take(self, frame: WireFrame) -> None:
        request = parse_request(frame)
        if self._protocol != self._app.protocol:
            refusal = RequestRefused(
                "version_mismatch", f"the host speaks protocol {self._app.protocol}, the client {self._protocol}."
            )
            self._refuse(request.id, refusal)
            raise refusal
        if request.id in self._serving:
            raise FrameError(f"the id {request.id} is already in use by a pending request.")
        if len(self._serving) >= _MAX_IN_FLIGHT:
            self._refuse(request.id, RequestRefused("too_many_requests", f"{_MAX_IN_FLIGHT} requests are pending."))
            return
        task = asyncio.create_task(self._serve(request), name=f"host request {request.type[:40]}")
        self._serving[request.id] = task
        task.add_done_callback(lambda _task: self._serving.pop(request.id, None))

    async def _serve(self, request: ControlRequest) -> None:
        try:
            fields, body = await serve(self._process, request)
        except RequestRefused as refusal:
            self._refuse(request.id, refusal)
        except Exception as error:
            _log.exception("%s failed", request.type)
            self._refuse(request.id, RequestRefused("internal", f"{type(error).__name__}: {error}"))
        else:
            self.send({"id": request.id, "ok": True, **fields}, body)
        await self._flush()
        if self._process.ending:
            self._app.end_soon(self._process)

    async def _flush(self) -> None:
        try:
            async with asyncio.timeout(_WRITE_TIMEOUT_S):
                await self._writer.drain()
        except (ConnectionError, TimeoutError):
            self._writer.transport.abort()

    def _refuse(self, identity: int | None, refusal: RequestRefused) -> None:
        error = {**refusal.facts, "code": refusal.code, "message": refusal.message}
        self.send({"id": identity, "error": error})
