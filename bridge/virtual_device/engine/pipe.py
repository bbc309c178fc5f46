"""Chromium's devtools pipe, one connection that the sessions of many clients share.

A devtools port on loopback would be open to every user of the machine; only we have the pipe. Each message ends with a
zero byte (Chromium, content/browser/devtools/devtools_pipe_handler.cc). Where a phone gives a client a WebSocket of its
own, a client has a flattened session here: its id is added to the client's messages and removed from what it receives.
"""

from __future__ import annotations

import asyncio
import json
import re
import socket
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Literal, Protocol

from bridge.cdp import CdpConnection, ChannelClosed, run_cdp
from bridge.virtual_device.engine.responses import error_response

_CALL_TIMEOUT_S = 10.0
# Chromium adds the session id last (third_party/inspector_protocol/crdtp, AppendString8EntryToCBORMap). Quotation marks
# inside a string are escaped, so no page can write this end of a message.
_SESSION_TAIL = re.compile(rb',"sessionId":"([0-9A-Za-z]+)"\}$')
_TAIL_BYTES = 128
_DIALOG_OPENING, _DIALOG_CLOSED = (
    b'{"method":"Page.javascriptDialogOpening"',
    b'{"method":"Page.javascriptDialogClosed"',
)
# What would go on without its client in a session that has to stay: requests and workers that wait for it.
_LETTING_GO: tuple[tuple[str, dict[str, Any]], ...] = (
    ("Fetch.disable", {}),
    ("Target.setAutoAttach", {"autoAttach": False, "waitForDebuggerOnStart": False, "flatten": True}),
    ("Runtime.disable", {}),
    ("Network.disable", {}),
)
_ATTACHED, _DETACHED = b'{"method":"Target.attachedToTarget"', b'{"method":"Target.detachedFromTarget"'
# Chromium answers a message for a session that has just ended without the session's id. Ids of our own commands are
# elsewhere, so that the answer to a client is not taken for one to us.
_FIRST_OWN_ID = 2**30
_KEYS = frozenset({"id", "method", "params", "sessionId"})
_PARSE_ERROR, _INVALID_REQUEST, _NO_SESSION, _SERVER_ERROR = -32700, -32600, -32001, -32000


class SessionClient(Protocol):
    """Receives what Chromium sends to a session."""

    def take(self, message: bytes) -> None: ...

    def detached(self) -> None:
        """The target is gone."""
        ...


class PipeSession:
    """A client's session with a target, and the sessions that were attached through it."""

    def __init__(self, pipe: DevtoolsPipe, session_id: str, client: SessionClient) -> None:
        self.session_id = session_id
        self.client = client
        self._pipe = pipe
        self._prefix = b'{"sessionId":' + json.dumps(session_id).encode() + b","

    def send(self, message: bytes) -> bytes | None:
        """Sends a client's message; the error response if it is one that Chromium would not answer to this session."""
        try:
            parsed = json.loads(message) if b"\0" not in message else None
        except (ValueError, RecursionError):
            parsed = None
        if not isinstance(parsed, dict):
            return error_response({}, _PARSE_ERROR, "JSON: the message is not a JSON object")
        if reason := _malformed(parsed):
            return error_response({"id": parsed["id"]} if _is_id(parsed.get("id")) else {}, _INVALID_REQUEST, reason)
        session_id = parsed.get("sessionId")
        if self._pipe.is_fatal(self, parsed):
            return error_response(parsed, _SERVER_ERROR, "Not attached to an active page")
        if session_id is None:
            self._pipe.write(self._prefix + message[message.index(b"{") + 1 :])
        elif self._pipe.owns(self, session_id):
            self._pipe.write(message)
        else:
            return error_response(parsed, _NO_SESSION, "Session with given id not found.")
        return None

    def detach(self) -> None:
        self._pipe.detach(self)


class DevtoolsPipe(asyncio.Protocol):
    """The connection; made by `open_pipe`.

    Attributes:
        cdp: The browser-level connection of the engine itself.
        on_flow: Called when the pipe takes no more, and when it does again.
    """

    cdp: CdpConnection

    def __init__(self) -> None:
        self.is_choked = False
        self.on_flow: Callable[[], None] = lambda: None
        self._transport: asyncio.Transport | None = None
        self._own = _OwnChannel(self)
        self._attaching = ""
        self._held = bytearray()
        self._routes: dict[str, PipeSession] = {}
        self._with_dialog: set[str] = set()
        self._leaving: dict[str, str] = {}  # session id -> the client's session that detaches with it

    async def attach(self, target_id: str | None, client: SessionClient) -> PipeSession:
        """A session of the client with a target, or with the browser (None).

        Raises:
            ProtocolError: There is no such target.
            TransportError, DeadlineExceeded: Chromium ended or does not respond.
        """
        made: list[PipeSession] = []

        def add_route(reply: dict[str, Any]) -> None:
            session = PipeSession(self, str(reply["sessionId"]), client)
            self._routes[session.session_id] = session
            made.append(session)

        # Over a session of its own, so that the engine's listeners hear nothing of the clients' sessions.
        if target_id is None:
            call = self.cdp.send("Target.attachToBrowserTarget", session_id=self._attaching)
        else:
            params = {"targetId": target_id, "flatten": True}
            call = self.cdp.send("Target.attachToTarget", params, session_id=self._attaching)
        await call.reduce(add_route).result(timeout_s=_CALL_TIMEOUT_S)
        return made[0]

    def detach(self, session: PipeSession) -> None:
        """Ends a client's session, and those attached through it.

        Chromium aborts when a session goes whose dialog belongs to a document that has been left (bad_variant_access in
        the browser process, seen in 156). Such a session stays until its dialog is closed, or its target.
        """
        if self._routes.get(session.session_id) is not session:
            return
        mine = [known for known, owner in self._routes.items() if owner is session]
        for session_id in mine:
            del self._routes[session_id]
        if self.cdp.closed.is_set():
            return
        for session_id in self._with_dialog.intersection(mine):
            self._leaving[session_id] = session.session_id
            for method, params in _LETTING_GO:
                self.cdp.send(method, params, session_id=session_id).abandon()
            self.cdp.send("Page.handleJavaScriptDialog", {"accept": False}, session_id=session_id).abandon()
        if session.session_id not in self._leaving.values():
            self._end(session.session_id)

    def is_fatal(self, session: PipeSession, command: Mapping[str, Any]) -> bool:
        """True if the command would end the Page domain of a session with a dialog, as `detach` says."""
        if command["method"] == "Page.disable":
            return command.get("sessionId", session.session_id) in self._with_dialog
        params = command.get("params") or {}
        return command["method"] == "Target.detachFromTarget" and params.get("sessionId") in self._with_dialog

    def has_dialog(self, session_id: str) -> bool:
        """True if a dialog of the session's page is open."""
        return session_id in self._with_dialog

    def _end(self, session_id: str) -> None:
        self.cdp.send("Target.detachFromTarget", {"sessionId": session_id}, session_id=self._attaching).abandon()

    def _track_dialog(self, message: bytes, session_id: str) -> None:
        if message.startswith(_DIALOG_OPENING):
            self._with_dialog.add(session_id)
        elif message.startswith(_DIALOG_CLOSED):
            self._with_dialog.discard(session_id)
            root = self._leaving.pop(session_id, None)
            if root is not None and root not in self._leaving.values():
                self._end(root)

    def owns(self, session: PipeSession, session_id: object) -> bool:
        """True if it is the id of a session that was attached through this one."""
        return session_id != session.session_id and self._routes.get(str(session_id)) is session

    def write(self, message: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.writelines((message, b"\0"))

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def pause_writing(self) -> None:
        self.is_choked = True
        self.on_flow()

    def resume_writing(self) -> None:
        self.is_choked = False
        self.on_flow()

    def data_received(self, data: bytes) -> None:
        searched, start = len(self._held), 0
        self._held += data
        while (end := self._held.find(0, max(start, searched))) >= 0:
            message = bytes(memoryview(self._held)[start:end])
            start = end + 1
            self._deliver(message)
        if start:
            del self._held[:start]

    def connection_lost(self, _error: Exception | None) -> None:
        self._own.end()
        clients = {id(session.client): session.client for session in self._routes.values()}
        self._routes.clear()
        for client in clients.values():
            client.detached()

    def _deliver(self, message: bytes) -> None:
        tail = _SESSION_TAIL.search(message, max(0, len(message) - _TAIL_BYTES))
        session_id = tail[1].decode() if tail is not None else ""
        session = self._routes.get(session_id)
        self._track_dialog(message, session_id)
        if session is None or tail is None:
            self._own.put(message)
            return
        if message.startswith(_ATTACHED):
            self._routes[json.loads(message)["params"]["sessionId"]] = session
        elif message.startswith(_DETACHED):
            ended = json.loads(message)["params"]["sessionId"]
            self._routes.pop(ended, None)
            self._with_dialog.discard(ended)
        session.client.take(message[: tail.start()] + b"}" if session_id == session.session_id else message)

    def _on_event(self, method: str, params: dict[str, Any], session_id: str | None) -> None:
        if method == "Target.detachedFromTarget":
            self._with_dialog.discard(str(params["sessionId"]))
            self._leaving.pop(str(params["sessionId"]), None)
        if method == "Target.detachedFromTarget" and session_id == self._attaching:
            ended = self._routes.get(str(params["sessionId"]))
            if ended is not None:
                self._routes = {known: owner for known, owner in self._routes.items() if owner is not ended}
                ended.client.detached()


class _OwnChannel:
    """The messages that belong to no client, for a CdpConnection."""

    def __init__(self, pipe: DevtoolsPipe) -> None:
        self._pipe = pipe
        self._received: deque[bytes] = deque()
        self._filled = asyncio.Event()
        self._has_ended = False

    def put(self, message: bytes) -> None:
        self._received.append(message)
        self._filled.set()

    def end(self) -> None:
        self._has_ended = True
        self._filled.set()

    def hold(self, held: bool) -> None:
        """Nothing to collect: a pipe has no packets."""

    async def send(self, message: bytes, *, text: Literal[True]) -> None:
        self._pipe.write(message)

    async def recv(self, decode: Literal[False]) -> bytes:
        while not self._received:
            if self._has_ended:
                raise ChannelClosed("Chromium ended")
            self._filled.clear()
            await self._filled.wait()
        return self._received.popleft()

    async def close(self) -> None:
        self.abort()

    def abort(self) -> None:
        if self._pipe._transport is not None:
            self._pipe._transport.abort()


@asynccontextmanager
async def open_pipe(sock: socket.socket) -> AsyncIterator[DevtoolsPipe]:
    """The pipe of a running Chromium on `sock`, which is closed at the end."""
    pipe = DevtoolsPipe()
    async with AsyncExitStack() as stack:
        await asyncio.get_running_loop().create_connection(lambda: pipe, sock=sock)
        pipe.cdp = await stack.enter_async_context(run_cdp(pipe._own, "the devtools pipe", first_id=_FIRST_OWN_ID))
        pipe.cdp.on_event(pipe._on_event)
        reply = await pipe.cdp.call("Target.attachToBrowserTarget", timeout_s=_CALL_TIMEOUT_S)
        pipe._attaching = str(reply["sessionId"])
        yield pipe


def _malformed(message: dict[str, Any]) -> str:
    """Chromium's reason for not dispatching a message (crdtp, dispatch.cc); "" if it does."""
    if not _is_id(message.get("id")):
        return "Message must have integer 'id' property"
    if not isinstance(message.get("method"), str):
        return "Message must have string 'method' property"
    if "sessionId" in message and not isinstance(message["sessionId"], str):
        return "Message may have string 'sessionId' property"
    if not isinstance(message.get("params"), dict | None):
        return "Message may have object 'params' property"
    if message.keys() - _KEYS:
        return "Message has property other than 'id', 'method', 'sessionId', 'params'"
    return ""


def _is_id(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and -(2**31) <= value < 2**31
