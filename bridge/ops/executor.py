"""Runs operations on a session under an action policy, emits events and returns closed results."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bridge.cdp.meter import Meter, measure
from bridge.cost import Cost
from bridge.errors import BridgeError, PolicyRefused, RefNotFound, StaleRef
from bridge.ops.content_markers import ContentMarkers
from bridge.ops.effects import ActionPolicy, describe_target, refused_by_effect
from bridge.ops.events import BrowserEvent, BrowserPolicyDenied, Event, EventListener
from bridge.ops.handlers import HandlerResult, Handlers
from bridge.ops.models import InvalidOperation, Operation, parse_operation
from bridge.ops.quoting import hint_quotes_a_page, quotes_a_page
from bridge.ops.results import PAGE_FIELDS, CostModel, Failure, OperationResult, Result
from bridge.ops.secrets import Secrets
from bridge.policy.denials import Denial

if TYPE_CHECKING:
    from bridge.page.page import Page
    from bridge.session import Session

logger = logging.getLogger(__name__)

#: Confirms an operation; True allows it.
Confirm = Callable[[Operation], Awaitable[bool]]


@dataclass(slots=True)
class Executor:
    """Runs operations one at a time, on the current tab of those that operations have opened in the session.

    Attributes:
        confirm: Asks a person to confirm an operation if the action policy requires it; None refuses.
        on_event: Called in order with each finished operation and each refusal.
    """

    session: Session
    action_policy: ActionPolicy = field(default_factory=ActionPolicy)
    secrets: Secrets = field(default_factory=Secrets)
    confirm: Confirm | None = None
    on_event: EventListener | None = None
    markers: ContentMarkers = field(default_factory=ContentMarkers)
    _handlers: Handlers = field(init=False, repr=False)
    _sequence: int = 0
    _denials_seen: int = 0
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    def __post_init__(self) -> None:
        if self.session.observer is not None and self.secrets.names:
            self.session.observer.hide(self.secrets.redact_values)
        self._handlers = Handlers(self.session, self.secrets)
        self._denials_seen = self.session.egress.denials.last

    async def run(self, operation: Operation) -> OperationResult:
        """Run one operation. A failure is a result; only cancellation is raised."""
        async with self._lock:
            with measure() as meter:
                refused: PolicyRefused | None = None
                try:
                    await self._check_effect(operation)
                    done = await self._handlers.run(operation)
                except BridgeError as error:
                    refused = error if isinstance(error, PolicyRefused) else None
                    result = await self._failed(operation, error, meter)
                except Exception as error:  # a bug ends this operation, not the batch
                    logger.exception("%s failed", operation.kind)
                    result = await self._failed(operation, _unexpected(error), meter)
                else:
                    result = self._succeeded(operation.kind, done, meter)
            self._emit_events(operation, result, refused)
            return result

    @property
    def page(self) -> Page | None:
        """The current tab."""
        return self._handlers.current

    def question(self, operation: Operation) -> str:
        """The question that `confirm` may show a person: effect, operation, element and origin."""
        target = describe_target(self.page, getattr(operation, "ref", None))
        return f"{operation.effect}: {summary_of(operation, self.secrets)}{self.secrets.redact(target)}"

    async def close(self) -> None:
        """Close the tabs that operations have opened, and their popups."""
        async with self._lock:
            await self._handlers.close()

    async def run_batch(
        self, sources: Iterable[Any] | AsyncIterable[Any], *, bail: bool = False
    ) -> AsyncIterator[OperationResult]:
        """Run operations given as JSON text, objects or models; yields the results in order.

        The result of an invalid one has the code `invalid_operation`. `bail` ends the batch after the first failure.
        """
        async for source in _each(sources):
            result = await self.run_source(source)
            yield result
            if bail and not result.ok:
                return

    async def run_source(self, source: Operation | InvalidOperation | str | bytes | dict[str, Any]) -> OperationResult:
        """Parse and run an operation; an InvalidOperation becomes its result."""
        if isinstance(source, InvalidOperation):
            return self._error_result("", source)
        if not isinstance(source, str | bytes | dict):
            return await self.run(source)
        try:
            return await self.run(parse_operation(source))
        except InvalidOperation as error:
            kind = source.get("kind") if isinstance(source, dict) else None
            return self._error_result(kind if isinstance(kind, str) else "", error)

    async def _check_effect(self, operation: Operation) -> None:
        effect = operation.effect
        verdict = self.action_policy.verdict(effect)
        if verdict == "allow":
            return
        if verdict == "confirm" and self.confirm is not None and await self.confirm(operation):
            return
        raise refused_by_effect(operation.kind, effect, needs_confirmation=verdict == "confirm")

    def _succeeded(self, kind: str, done: HandlerResult, meter: Meter) -> OperationResult:
        return OperationResult(
            kind=kind,
            ok=True,
            result=self._marked_result(done.result),
            notices=[*(self._marked_line(notice) for notice in done.notices), *done.own_notices],
            cost=_cost(done.cost or meter.cost()),
            image_bytes=done.image_bytes,
        )

    async def _failed(self, operation: Operation, error: BridgeError, meter: Meter) -> OperationResult:
        result = self._error_result(operation.kind, error, getattr(operation, "url", None))
        assert result.error is not None
        failure = result.error
        if isinstance(error, RefNotFound | StaleRef):
            text, url = await self._handlers.fresh_snapshot()
            failure = failure.model_copy(update={"snapshot": self._marked(text, url) if text else None})
        return result.model_copy(update={"error": failure, "cost": _cost(meter.cost())})

    def _error_result(self, kind: str, error: BridgeError, requested_url: str | None = None) -> OperationResult:
        redact = self.secrets.redact
        return OperationResult(
            kind=kind[:40],
            ok=False,
            error=Failure(
                code=error.code,
                message=self._marked_line(error.message) if quotes_a_page(error) else redact(error.message),
                hint=self._marked_line(error.hint) if hint_quotes_a_page(error, requested_url) else redact(error.hint),
            ),
            cost=_cost(Cost(0.0, 0, 0, 0)),
        )

    def _marked_result(self, result: Result) -> Result:
        """Redact every field and wrap those that a page may have written. The only place that does so."""
        url = getattr(result, "url", None) or self._handlers.url
        changed: dict[str, Any] = {}
        for name, value in result:
            if name == "shape" or not value or not isinstance(value, str | list):
                continue
            if name not in PAGE_FIELDS:
                changed[name] = self.secrets.redact_values(value)
            elif isinstance(value, str):
                changed[name] = self._marked(value, url)
            else:
                changed[name] = [self._marked(item, url) for item in value]
        return result.model_copy(update=changed)

    def _marked(self, text: str, url: str | None = None) -> str:
        # Redacted before: a secret that looks like a part of the markers must not change them.
        redact = self.secrets.redact
        return self.markers.wrap(redact(text), redact(self._handlers.url if url is None else url))

    def _marked_line(self, text: str) -> str:
        return self._marked(self.secrets.redact_line(text))

    def _emit_events(self, operation: Operation, result: OperationResult, refused: PolicyRefused | None) -> None:
        denials = self._new_denials()
        if self.on_event is None:
            return
        url = self.secrets.redact(getattr(operation, "url", None) or self._handlers.url)
        error = result.error
        reason = self.markers.unwrap(error.message)[0] if error is not None else ""
        self._sequence += 1
        if refused is not None and not any(denial.reason == refused.message for denial in denials):
            found = {name: self.secrets.redact(str(refused.details.get(name, ""))) for name in ("rule", "page", "path")}
            blocked = self.secrets.redact(str(refused.details.get("url") or url))
            self._emit(BrowserPolicyDenied(self._sequence, operation.kind, blocked, reason, **found))
        for denial in denials:
            blocked, reason_of, page = map(self.secrets.redact, (denial.url, denial.reason, denial.page))
            self._emit(BrowserPolicyDenied(self._sequence, denial.kind, blocked, reason_of, denial.rule, page))
        summary = f"{operation.kind}: {error.code}: {reason}" if error else summary_of(operation, self.secrets)
        self._emit(
            BrowserEvent(
                sequence=self._sequence,
                kind=operation.kind,
                ok=result.ok,
                url=url,
                summary=summary[:500],
                error_code=error.code if error else None,
                cost=result.cost.model_dump(),
            )
        )

    def _new_denials(self) -> tuple[Denial, ...]:
        """The denials since the last operation."""
        found = self.session.egress.denials.after(self._denials_seen)
        self._denials_seen = found[-1].number if found else self._denials_seen
        return found

    def _emit(self, event: Event) -> None:
        assert self.on_event is not None
        try:
            self.on_event(event)
        except Exception:  # a bug in a listener must not fail an operation that has run
            logger.exception("an event listener failed")


def summary_of(operation: Operation, secrets: Secrets) -> str:
    """One line without secrets, such as `click e5` or `fill e4 (7 characters)`."""
    parts: list[str] = [operation.kind]
    for name, value in operation:
        if name == "kind" or value is None or value is False:
            continue
        if name == "value":
            parts.append(f"({len(str(value))} characters)")
        elif name in ("ref", "url", "key", "selector", "role", "dest_path", "mode", "scope"):
            parts.append(str(value))
    return secrets.redact(" ".join(parts))


def _unexpected(error: Exception) -> BridgeError:
    return BridgeError(f"unexpected {type(error).__name__}: {error}", hint="This is a bug in webview-bridge.")


def _cost(cost: Cost) -> CostModel:
    return CostModel(**cost.to_json())


async def _each(sources: Iterable[Any] | AsyncIterable[Any]) -> AsyncIterator[Any]:
    if isinstance(sources, AsyncIterable):
        async for source in sources:
            yield source
    else:
        for source in sources:
            yield source
