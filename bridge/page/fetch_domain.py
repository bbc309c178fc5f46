"""Owns CDP's `Fetch` domain: shows every request of the page to handlers, in order, the policy's first.

`Fetch.enable` replaces the patterns that were set before, so two modules that both send it would undo each other. Here
handlers come and go, and the patterns are always the union of theirs. Each request is decided in a task of its own, so
a slow handler delays neither the reader task nor other requests. Responses are paused only while a filter is there
(`intercept_responses`), before the browser makes a document or a download of them.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any, TypeAlias

from bridge.cdp import CdpConnection
from bridge.errors import BridgeError, ProtocolError, TransportError, Unsupported
from bridge.page.fetch_messages import (
    Abort,
    AuthChallenge,
    Credentials,
    PausedRequest,
    PausedResponse,
    Proceed,
    RouteAction,
    paused_request,
    paused_response,
    route_command,
)

logger = logging.getLogger(__name__)

DECISION_TIMEOUT_S = 30.0
_REPLY_S = 5.0
_FAILURES_KEPT = 20
_CHALLENGES_KEPT = 1_000


class Rank(IntEnum):
    """The order of handlers."""

    POLICY = 0
    ROUTE = 1


FetchHandler: TypeAlias = Callable[[PausedRequest], Awaitable[RouteAction | None]]
ResponseFilter: TypeAlias = Callable[[PausedResponse], bool]
Authenticate: TypeAlias = Callable[[AuthChallenge], Credentials | None]


@dataclass(frozen=True, slots=True, eq=False)
class _RegisteredHandler:
    handler: FetchHandler
    rank: Rank
    patterns: tuple[str, ...]
    timeout_s: float


@dataclass(slots=True, eq=False)
class HeldDecision:
    """A decision about the next document of a frame that waits until `ended`; if `is_given_up`, the request fails."""

    frame_id: str
    is_given_up: bool = False
    ended: asyncio.Event = field(default_factory=asyncio.Event)


class FetchDomain:
    """Interception for one attachment.

    Attributes:
        failures: Descriptions of failed handlers, newest last. The requests in question were refused.
    """

    def __init__(self, connection: CdpConnection, child_sessions: Collection[str] = ()) -> None:
        """`child_sessions` are the sessions besides the page's own; the collection changes over time."""
        self.failures: list[str] = []
        self._connection = connection
        self._child_sessions = child_sessions
        self._handlers: list[_RegisteredHandler] = []
        self._filters: list[ResponseFilter] = []
        self._authenticate: Authenticate | None = None
        self._challenged: deque[str] = deque(maxlen=_CHALLENGES_KEPT)
        self._tasks: set[asyncio.Task[None]] = set()
        self._switching = asyncio.Lock()
        self._held: HeldDecision | None = None

    @property
    def is_on(self) -> bool:
        return bool(self._handlers or self._filters) or self._authenticate is not None

    @property
    def sees_all(self) -> bool:
        """True if a handler sees every request before it is sent."""
        return any("*" in entry.patterns for entry in self._handlers)

    @contextmanager
    def holding_document(self, frame_id: str) -> Iterator[HeldDecision]:
        """Carry out a decision about the frame's own document only after the block has ended."""
        held = self._held = HeldDecision(frame_id)
        try:
            yield held
        finally:
            self._held = None
            held.ended.set()

    async def add(
        self,
        handler: FetchHandler,
        *,
        rank: Rank,
        timeout_s: float,
        patterns: Sequence[str] = ("*",),
        decision_timeout_s: float = DECISION_TIMEOUT_S,
    ) -> Callable[[], Awaitable[None]]:
        """Call `handler` for every request that matches one of the CDP patterns (`*`, `?`). Returns what removes it.

        Policy handlers come before routes; within a rank the newest comes first. A handler that returns None leaves
        the decision to the next one. If a handler raises, or takes longer than `decision_timeout_s`, the request is
        refused.

        Raises:
            Unsupported: The engine cannot intercept requests.
        """
        entry = _RegisteredHandler(handler, rank, tuple(patterns), decision_timeout_s)
        self._handlers.append(entry)
        try:
            await self._switch(timeout_s)
        except BaseException:
            self._handlers.remove(entry)
            raise

        async def remove() -> None:
            if entry in self._handlers:
                self._handlers.remove(entry)
                await self._switch(timeout_s)

        return remove

    async def intercept_responses(self, claims: ResponseFilter, *, timeout_s: float) -> Callable[[], Awaitable[None]]:
        """Call `claims` with the head of each response to a document request. Returns what ends that.

        The reader task calls `claims`, which must not wait. The caller owns a response that it claims (True), and has
        to read it (Fetch.takeResponseBodyAsStream) and end it (Fetch.failRequest). Others continue to the page.

        Raises:
            Unsupported: The engine cannot intercept requests.
        """
        self._filters.append(claims)
        try:
            await self._switch(timeout_s)
        except BaseException:
            self._filters.remove(claims)
            raise

        async def remove() -> None:
            if claims in self._filters:
                self._filters.remove(claims)
                await self._switch(timeout_s)

        return remove

    async def authenticate(self, credentials: Authenticate | None, *, timeout_s: float) -> None:
        """Answer authentication challenges with `credentials`; None leaves them to the engine, which cancels.

        Raises:
            Unsupported: The engine cannot intercept requests.
        """
        self._authenticate = credentials
        await self._switch(timeout_s)

    def take_event(self, method: str, params: Mapping[str, Any], session_id: str | None) -> None:
        """Take an event, in the reader task; requests are decided in tasks of their own."""
        if method == "Fetch.requestPaused" and ("responseStatusCode" in params or "responseErrorReason" in params):
            response = paused_response(params, session_id)
            if not any(claims(response) for claims in self._filters):
                self._start(self._continue(response))
        elif method == "Fetch.requestPaused":
            self._start(self._decide(paused_request(params, session_id)))
        elif method == "Fetch.authRequired":
            self._start(self._answer_challenge(params, session_id))

    async def close(self) -> None:
        """Cancel pending decisions. The connection is about to close, and the engine drops the requests."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _start(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _switch(self, timeout_s: float) -> None:
        async with self._switching:
            await self._send_state(timeout_s)

    def command(self) -> tuple[str, dict[str, Any]] | None:
        """The command for a session that has just begun; None if nothing is intercepted."""
        if not self.is_on:
            return None
        wanted = {pattern for entry in self._handlers for pattern in entry.patterns}
        if self._authenticate is not None:
            wanted.add("*")  # Chromium reports challenges only for intercepted requests
        patterns: list[dict[str, Any]] = [{"urlPattern": pattern} for pattern in sorted(wanted)]
        if self._filters:
            patterns.append({"urlPattern": "*", "resourceType": "Document", "requestStage": "Response"})
        return "Fetch.enable", {
            "patterns": patterns,
            "handleAuthRequests": self._authenticate is not None,
        }

    async def _send_state(self, timeout_s: float) -> None:
        method, params = self.command() or ("Fetch.disable", {})
        children = [self._connection.send(method, params, session_id=child) for child in tuple(self._child_sessions)]
        try:
            await self._connection.call(method, params, timeout_s=timeout_s)
            for call in children:
                with suppress(TransportError):  # the frame is gone
                    await call.result(timeout_s=timeout_s)
        except ProtocolError as error:
            raise Unsupported(
                f"this WebView cannot intercept requests: {error.reason}", hint="Update Android System WebView."
            ) from error

    async def _decide(self, request: PausedRequest) -> None:
        method = ""
        try:
            action = await self._action(request)
            if (held := self._held) is not None and (request.kind, request.frame_id) == ("Document", held.frame_id):
                await held.ended.wait()
                action = Abort("Aborted") if held.is_given_up else action
            method, params = route_command(request.request_id, action)
            await self._connection.call(method, params, timeout_s=_REPLY_S, session_id=request.session_id)
        except ProtocolError as error:
            if "Invalid InterceptionId" in error.reason:  # the page has cancelled the request
                return
            self._note(f"{request.url[:200]}: {error.reason}")
            if method != "Fetch.failRequest":
                await self._fail(request)
        except BridgeError as error:
            logger.debug("the decision about %s came too late: %s", request.url[:200], error)
        except Exception as error:  # an action that cannot be encoded
            self._note(f"{request.url[:200]}: {error!r}")
            await self._fail(request)

    async def _fail(self, request: PausedRequest) -> None:
        """Fail a request whose action the engine refused: it must neither hang nor pass."""
        method, params = route_command(request.request_id, Abort())
        try:
            await self._connection.call(method, params, timeout_s=_REPLY_S, session_id=request.session_id)
        except BridgeError as error:
            logger.debug("could not fail %s: %s", request.url[:200], error)

    async def _continue(self, response: PausedResponse) -> None:
        try:
            params = {"requestId": response.request_id}
            await self._connection.call(
                "Fetch.continueRequest", params, timeout_s=_REPLY_S, session_id=response.session_id
            )
        except BridgeError as error:
            logger.debug("could not continue the response of %s: %s", response.url[:200], error)

    async def _action(self, request: PausedRequest) -> RouteAction:
        for entry in self._in_order(Rank.POLICY):
            action = await self._ask(entry, request)
            if action is not None:
                return action
        for entry in self._in_order(Rank.ROUTE):
            action = await self._ask(entry, request)
            if action is None:
                continue
            if isinstance(action, Proceed) and action.url not in (None, request.url):
                changed = replace(request, url=str(action.url))
                for policy in self._in_order(Rank.POLICY):
                    refusal = await self._ask(policy, changed)
                    if refusal is not None:
                        return refusal
            return action
        return Proceed()

    async def _ask(self, entry: _RegisteredHandler, request: PausedRequest) -> RouteAction | None:
        try:
            async with asyncio.timeout(entry.timeout_s):
                return await entry.handler(request)
        except TimeoutError:
            self._note(f"{request.url[:200]}: no decision within {entry.timeout_s:g} s")
        except Exception as error:  # of any kind: only the request in question is refused
            self._note(f"{request.url[:200]}: {error!r}")
        return Abort("BlockedByClient" if entry.rank is Rank.POLICY else "Failed")

    def _in_order(self, rank: Rank) -> list[_RegisteredHandler]:
        return [entry for entry in reversed(self._handlers) if entry.rank is rank]

    def _note(self, text: str) -> None:
        logger.warning("refused a request because its handler failed: %s", text)
        self.failures.append(text)
        del self.failures[:-_FAILURES_KEPT]

    async def _answer_challenge(self, params: Mapping[str, Any], session_id: str | None) -> None:
        request_id, fields = params["requestId"], params.get("authChallenge", {})
        challenge = AuthChallenge(
            url=str(params.get("request", {}).get("url", "")),
            origin=str(fields.get("origin", "")),
            scheme=str(fields.get("scheme", "")),
            is_proxy=fields.get("source") == "Proxy",
            tried_before=request_id in self._challenged,
        )
        self._challenged.append(request_id)
        known = None
        try:
            known = self._authenticate(challenge) if self._authenticate else None
        except Exception as error:  # the request must not hang
            self._note(f"{challenge.url[:200]}: {error!r}")
        # After wrong credentials the server asks again, without end: the second time the page gets the 401 response.
        response: dict[str, Any] = {"response": "CancelAuth"}
        if known is not None and not challenge.tried_before:
            response = {"response": "ProvideCredentials", "username": known.username, "password": known.password}
        try:
            await self._connection.call(
                "Fetch.continueWithAuth",
                {"requestId": request_id, "authChallengeResponse": response},
                timeout_s=_REPLY_S,
                session_id=session_id,
            )
        except BridgeError as error:
            logger.debug("could not answer the challenge of %s: %s", challenge.origin, error)
