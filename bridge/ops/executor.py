"""Runs operations on a session: policy, effect, the operation, its events; answers in closed models."""

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
from bridge.ops.effects import EFFECT_OF, ActionPolicy, refused_by_effect, told_of
from bridge.ops.events import BrowserEvent, BrowserPolicyDenied, Event, EventListener
from bridge.ops.handlers import HandlerResult, Handlers
from bridge.ops.models import InvalidOperation, Operation, parse_operation
from bridge.ops.quoting import hint_quotes_a_page, quotes_a_page
from bridge.ops.results import PAGE_FIELDS, CostModel, Failure, OperationResult, Result
from bridge.ops.secrets import Secrets

if TYPE_CHECKING:
    from bridge.page.page import Page
    from bridge.session.session import Session

logger = logging.getLogger(__name__)

#: Asked before an operation whose effect is to be confirmed: True lets it through.
Confirm = Callable[[Operation], Awaitable[bool]]


@dataclass(slots=True)
class Executor:
    """Carries out operations, one at a time, on the current one of the tabs that operations have opened in a session.

    Attributes:
        confirm: Asks a person about operations whose effect the action policy wants confirmed; None refuses them.
        on_event: Told about every finished operation and every refusal, in order.
    """

    session: Session
    action_policy: ActionPolicy = field(default_factory=ActionPolicy)
    secrets: Secrets = field(default_factory=Secrets)
    confirm: Confirm | None = None
    on_event: EventListener | None = None
    fence: ContentMarkers = field(default_factory=ContentMarkers)
    _steps: Handlers = field(init=False, repr=False)
    _sequence: int = 0
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    def __post_init__(self) -> None:
        if self.session.observer is not None and self.secrets.names:
            self.session.observer.hide(self.secrets.redact_values)
        self._steps = Handlers(self.session, self.secrets)

    async def run(self, operation: Operation) -> OperationResult:
        """Carry out one operation. Whatever goes wrong is an answer, not an exception; only cancellation passes."""
        async with self._turn:
            with measure() as meter:
                try:
                    await self._let_through(operation)
                    done = await self._steps.run(operation)
                except BridgeError as error:
                    answer = await self._failed(operation, error, meter)
                except Exception as error:  # a mistake of ours ends this operation and not the batch
                    logger.exception("%s failed", operation.kind)
                    answer = await self._failed(operation, _unexpected(error), meter)
                else:
                    answer = self._answer(operation.kind, done, meter)
            self._tell(operation, answer)
            return answer

    @property
    def page(self) -> Page | None:
        """The current tab."""
        return self._steps.current

    def question(self, operation: Operation) -> str:
        """What `confirm` may ask a person: what would be done, on which element, where."""
        where = told_of(self.page, getattr(operation, "ref", None))
        return f"{EFFECT_OF[operation.kind]}: {summary_of(operation, self.secrets)}{self.secrets.redact(where)}"

    async def close(self) -> None:
        """Close the tabs that operations have opened, and those that their pages have."""
        async with self._turn:
            await self._steps.close()

    async def run_batch(
        self, sources: Iterable[Any] | AsyncIterable[Any], *, bail: bool = False
    ) -> AsyncIterator[OperationResult]:
        """Answers to operations given as JSON text, objects or models, in their order.

        One that is no operation is answered with `invalid_operation`; with `bail` the first failure is the last answer.
        """
        async for source in _each(sources):
            answer = await self.run_source(source)
            yield answer
            if bail and not answer.ok:
                return

    async def run_source(self, source: Operation | InvalidOperation | str | bytes | dict[str, Any]) -> OperationResult:
        """`run`, for an operation that is still to be checked, or that could not even be read."""
        if isinstance(source, InvalidOperation):
            return self._refused("", source)
        if not isinstance(source, str | bytes | dict):
            return await self.run(source)
        try:
            return await self.run(parse_operation(source))
        except InvalidOperation as error:
            kind = source.get("kind") if isinstance(source, dict) else None
            return self._refused(kind if isinstance(kind, str) else "", error)

    async def _let_through(self, operation: Operation) -> None:
        effect = EFFECT_OF[operation.kind]
        verdict = self.action_policy.verdict(effect)
        if verdict == "allow":
            return
        if verdict == "confirm" and self.confirm is not None and await self.confirm(operation):
            return
        raise refused_by_effect(operation.kind, effect, asked=verdict == "confirm")

    def _answer(self, kind: str, done: HandlerResult, meter: Meter) -> OperationResult:
        return OperationResult(
            kind=kind,
            ok=True,
            result=self._shown(done.result),
            notices=[*(self._fenced_line(notice) for notice in done.notices), *done.own_notices],
            cost=_cost(done.cost or meter.cost()),
            image_bytes=done.image_bytes,
        )

    async def _failed(self, operation: Operation, error: BridgeError, meter: Meter) -> OperationResult:
        answer = self._refused(operation.kind, error, getattr(operation, "url", None))
        assert answer.error is not None
        failure = answer.error
        if isinstance(error, RefNotFound | StaleRef):
            text, url = await self._steps.fresh_snapshot()
            failure = failure.model_copy(update={"snapshot": self._fenced(text, url) if text else None})
        return answer.model_copy(update={"error": failure, "cost": _cost(meter.cost())})

    def _refused(self, kind: str, error: BridgeError, asked_url: str | None = None) -> OperationResult:
        redact = self.secrets.redact
        return OperationResult(
            kind=kind[:40],
            ok=False,
            error=Failure(
                code=error.code,
                message=self._fenced_line(error.message) if quotes_a_page(error) else redact(error.message),
                hint=self._fenced_line(error.hint) if hint_quotes_a_page(error, asked_url) else redact(error.hint),
            ),
            cost=_cost(Cost(0.0, 0, 0, 0)),
        )

    def _shown(self, result: Result) -> Result:
        """Everything redacted, and a page's words between the marks: here, and nowhere else."""
        url = getattr(result, "url", None) or self._steps.url
        shown: dict[str, Any] = {}
        for name, value in result:
            if name == "shape" or not value or not isinstance(value, str | list):
                continue
            if name not in PAGE_FIELDS:
                shown[name] = self.secrets.redact_values(value)
            elif isinstance(value, str):
                shown[name] = self._fenced(value, url)
            else:
                shown[name] = [self._fenced(item, url) for item in value]
        return result.model_copy(update=shown)

    def _fenced(self, words: str, url: str | None = None) -> str:
        # Redacted before: a secret that looks like a part of the marks must not change them.
        redact = self.secrets.redact
        return self.fence.around(redact(words), redact(self._steps.url if url is None else url))

    def _fenced_line(self, words: str) -> str:
        return self._fenced(self.secrets.redact_line(words))

    def _tell(self, operation: Operation, answer: OperationResult) -> None:
        if self.on_event is None:
            return
        url = self.secrets.redact(getattr(operation, "url", None) or self._steps.url)
        error = answer.error
        reason = self.fence.inside(error.message)[0] if error is not None else ""
        self._sequence += 1
        if error is not None and error.code == PolicyRefused.code:
            self._emit(BrowserPolicyDenied(self._sequence, operation.kind, url, reason))
        summary = f"{operation.kind}: {error.code}: {reason}" if error else summary_of(operation, self.secrets)
        self._emit(
            BrowserEvent(
                sequence=self._sequence,
                kind=operation.kind,
                ok=answer.ok,
                url=url,
                summary=summary[:500],
                error_code=error.code if error else None,
                cost=answer.cost.model_dump(),
            )
        )

    def _emit(self, event: Event) -> None:
        assert self.on_event is not None
        try:
            self.on_event(event)
        except Exception:  # a listener's mistake must not undo an operation that has happened
            logger.exception("a listener of events failed")


def summary_of(operation: Operation, secrets: Secrets) -> str:
    """`click e5`, `fill e4 (7 characters)`: one line that shows what was asked for and no secret."""
    words: list[str] = [operation.kind]
    for name, value in operation:
        if name == "kind" or value is None or value is False:
            continue
        if name == "value":
            words.append(f"({len(str(value))} characters)")
        elif name in ("ref", "url", "key", "selector", "role", "dest_path", "mode", "scope"):
            words.append(str(value))
    return secrets.redact(" ".join(words))


def _unexpected(error: Exception) -> BridgeError:
    return BridgeError(f"unexpected {type(error).__name__}: {error}", hint="This is a mistake of ours.")


def _cost(cost: Cost) -> CostModel:
    return CostModel(**cost.to_json())


async def _each(sources: Iterable[Any] | AsyncIterable[Any]) -> AsyncIterator[Any]:
    if isinstance(sources, AsyncIterable):
        async for source in sources:
            yield source
    else:
        for source in sources:
            yield source
