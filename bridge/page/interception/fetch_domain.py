"""The one owner of `Fetch`: every request of the page, asked of handlers in order, policy before anybody else.

`Fetch.enable` replaces the patterns that were set before it, so two modules that both send it undo each other; here
handlers come and go and the patterns are always the union of theirs. A request is decided in a task of its own: the
reader never waits for a handler, and a slow handler holds up no other request. Answers are looked at only while
somebody takes them (`intercept_responses`), before the browser has made a document or a download of them.
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
from bridge.page.interception.fetch_messages import (
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
    """Who is asked first."""

    POLICY = 0
    ROUTE = 1


FetchHandler: TypeAlias = Callable[[PausedRequest], Awaitable[RouteAction | None]]
ResponseFilter: TypeAlias = Callable[[PausedResponse], bool]
Authenticate: TypeAlias = Callable[[AuthChallenge], Credentials | None]


@dataclass(frozen=True, slots=True, eq=False)
class _Registered:
    handler: FetchHandler
    rank: Rank
    patterns: tuple[str, ...]
    timeout_s: float


@dataclass(slots=True, eq=False)
class HeldDecision:
    """The next document of a frame; one that `is_given_up` is refused instead of being asked for."""

    frame_id: str
    is_given_up: bool = False
    ended: asyncio.Event = field(default_factory=asyncio.Event)


class FetchDomain:
    """Interception for one attachment.

    Attributes:
        failures: What handlers raised, newest last; each of those requests was refused.
    """

    def __init__(self, connection: CdpConnection, others: Collection[str] = ()) -> None:
        """`others` are the sessions besides the page's own, as they come and go."""
        self.failures: list[str] = []
        self._connection = connection
        self._others = others
        self._handlers: list[_Registered] = []
        self._takers: list[ResponseFilter] = []
        self._authenticate: Authenticate | None = None
        self._challenged: deque[str] = deque(maxlen=_CHALLENGES_KEPT)
        self._tasks: set[asyncio.Task[None]] = set()
        self._switching = asyncio.Lock()
        self._held: HeldDecision | None = None

    @property
    def is_on(self) -> bool:
        return bool(self._handlers or self._takers) or self._authenticate is not None

    @property
    def sees_all(self) -> bool:
        """Every request that the page sends to a server is asked about before it is sent."""
        return any("*" in entry.patterns for entry in self._handlers)

    @contextmanager
    def holding_document(self, frame_id: str) -> Iterator[HeldDecision]:
        """What was decided about the frame's own document is carried out when the block has ended, not before."""
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
        """Ask `handler` about every request that matches a pattern of CDP's (`*`, `?`); awaiting the result removes it.

        Policy comes before routes; within a rank the newest is asked first. A handler that gives None has no opinion.
        A handler that raises, or does not decide within `decision_timeout_s`, refuses the request.

        Raises:
            Unsupported: The engine cannot intercept requests.
        """
        entry = _Registered(handler, rank, tuple(patterns), decision_timeout_s)
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

    async def intercept_responses(self, wants: ResponseFilter, *, timeout_s: float) -> Callable[[], Awaitable[None]]:
        """Show `wants` the head of each answer to a document's request; awaiting the result ends that.

        `wants` is called by the reader and must not wait. What it says True to is its own from then on, to be read
        (Fetch.takeResponseBodyAsStream) and ended (Fetch.failRequest); the rest goes on to the page.

        Raises:
            Unsupported: The engine cannot intercept requests.
        """
        self._takers.append(wants)
        try:
            await self._switch(timeout_s)
        except BaseException:
            self._takers.remove(wants)
            raise

        async def remove() -> None:
            if wants in self._takers:
                self._takers.remove(wants)
                await self._switch(timeout_s)

        return remove

    async def authenticate(self, answer: Authenticate | None, *, timeout_s: float) -> None:
        """Let `answer` say who we are when a server asks; None leaves it to the engine, which cancels.

        Raises:
            Unsupported: The engine cannot intercept requests.
        """
        self._authenticate = answer
        await self._switch(timeout_s)

    def take_event(self, method: str, params: Mapping[str, Any], session_id: str | None) -> None:
        """Called by the reader for every event; decides elsewhere."""
        if method == "Fetch.requestPaused" and ("responseStatusCode" in params or "responseErrorReason" in params):
            answer = paused_response(params, session_id)
            if not any(wants(answer) for wants in self._takers):
                self._start(self._let_pass(answer))
        elif method == "Fetch.requestPaused":
            self._start(self._decide(paused_request(params, session_id)))
        elif method == "Fetch.authRequired":
            self._start(self._answer_challenge(params, session_id))

    async def close(self) -> None:
        """End the decisions that are under way; the connection is going away and the engine drops the requests."""
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
        """What a session that has only just begun has to be told; None where nothing is intercepted."""
        if not self.is_on:
            return None
        wanted = {pattern for entry in self._handlers for pattern in entry.patterns}
        if self._authenticate is not None:
            wanted.add("*")  # a challenge is told only of requests that are intercepted
        patterns: list[dict[str, Any]] = [{"urlPattern": pattern} for pattern in sorted(wanted)]
        if self._takers:
            patterns.append({"urlPattern": "*", "resourceType": "Document", "requestStage": "Response"})
        return "Fetch.enable", {
            "patterns": patterns,
            "handleAuthRequests": self._authenticate is not None,
        }

    async def _send_state(self, timeout_s: float) -> None:
        method, params = self.command() or ("Fetch.disable", {})
        others = [self._connection.send(method, params, session_id=other) for other in tuple(self._others)]
        try:
            await self._connection.call(method, params, timeout_s=timeout_s)
            for call in others:
                with suppress(TransportError):  # its frame is gone
                    await call.result(timeout_s=timeout_s)
        except ProtocolError as error:
            raise Unsupported(
                f"this WebView cannot intercept requests: {error.reason}", hint="Update Android System WebView."
            ) from error

    async def _decide(self, request: PausedRequest) -> None:
        method = ""
        try:
            verdict = await self._verdict(request)
            if (held := self._held) is not None and (request.kind, request.frame_id) == ("Document", held.frame_id):
                await held.ended.wait()
                verdict = Abort("Aborted") if held.is_given_up else verdict
            method, params = route_command(request.request_id, verdict)
            await self._connection.call(method, params, timeout_s=_REPLY_S, session_id=request.session_id)
        except ProtocolError as error:
            if "Invalid InterceptionId" in error.reason:  # the page has given the request up meanwhile
                return
            self._note(f"{request.url[:200]}: {error.reason}")
            if method != "Fetch.failRequest":
                await self._fail(request)
        except BridgeError as error:
            logger.debug("%s was decided too late: %s", request.url[:200], error)
        except Exception as error:  # a verdict that cannot be put into a message
            self._note(f"{request.url[:200]}: {error!r}")
            await self._fail(request)

    async def _fail(self, request: PausedRequest) -> None:
        """Our answer is nonsense: the request must not hang, and must not pass either."""
        method, params = route_command(request.request_id, Abort())
        try:
            await self._connection.call(method, params, timeout_s=_REPLY_S, session_id=request.session_id)
        except BridgeError as error:
            logger.debug("%s could not be failed: %s", request.url[:200], error)

    async def _let_pass(self, answer: PausedResponse) -> None:
        try:
            params = {"requestId": answer.request_id}
            await self._connection.call(
                "Fetch.continueRequest", params, timeout_s=_REPLY_S, session_id=answer.session_id
            )
        except BridgeError as error:
            logger.debug("the answer of %s did not go on: %s", answer.url[:200], error)

    async def _verdict(self, request: PausedRequest) -> RouteAction:
        for entry in self._in_order(Rank.POLICY):
            verdict = await self._ask(entry, request)
            if verdict is not None:
                return verdict
        for entry in self._in_order(Rank.ROUTE):
            verdict = await self._ask(entry, request)
            if verdict is None:
                continue
            if isinstance(verdict, Proceed) and verdict.url not in (None, request.url):
                changed = replace(request, url=str(verdict.url))
                for judge in self._in_order(Rank.POLICY):
                    refusal = await self._ask(judge, changed)
                    if refusal is not None:
                        return refusal
            return verdict
        return Proceed()

    async def _ask(self, entry: _Registered, request: PausedRequest) -> RouteAction | None:
        try:
            async with asyncio.timeout(entry.timeout_s):
                return await entry.handler(request)
        except TimeoutError:
            self._note(f"{request.url[:200]}: no decision within {entry.timeout_s:g} s")
        except Exception as error:  # whatever a handler raises, its request is refused and nothing else is harmed
            self._note(f"{request.url[:200]}: {error!r}")
        return Abort("BlockedByClient" if entry.rank is Rank.POLICY else "Failed")

    def _in_order(self, rank: Rank) -> list[_Registered]:
        return [entry for entry in reversed(self._handlers) if entry.rank is rank]

    def _note(self, text: str) -> None:
        logger.warning("a request was refused because its handler failed: %s", text)
        self.failures.append(text)
        del self.failures[:-_FAILURES_KEPT]

    async def _answer_challenge(self, params: Mapping[str, Any], session_id: str | None) -> None:
        request_id, asked = params["requestId"], params.get("authChallenge", {})
        challenge = AuthChallenge(
            url=str(params.get("request", {}).get("url", "")),
            origin=str(asked.get("origin", "")),
            scheme=str(asked.get("scheme", "")),
            is_proxy=asked.get("source") == "Proxy",
            tried_before=request_id in self._challenged,
        )
        self._challenged.append(request_id)
        known = None
        try:
            known = self._authenticate(challenge) if self._authenticate else None
        except Exception as error:  # nobody is there to say who we are; the request must not hang
            self._note(f"{challenge.url[:200]}: {error!r}")
        # Wrong credentials are asked for again, for ever: the second time the 401 page is what there is.
        answer: dict[str, Any] = {"response": "CancelAuth"}
        if known is not None and not challenge.tried_before:
            answer = {"response": "ProvideCredentials", "username": known.username, "password": known.password}
        try:
            await self._connection.call(
                "Fetch.continueWithAuth",
                {"requestId": request_id, "authChallengeResponse": answer},
                timeout_s=_REPLY_S,
                session_id=session_id,
            )
        except BridgeError as error:
            logger.debug("the challenge of %s was not answered: %s", challenge.origin, error)
