"""Runs a model's call: checks arguments and effect, runs the tool, renders its result. Failures are results too."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from bridge.deadline import Deadline
from bridge.errors import BridgeError, PolicyRefused, RefNotFound, StaleRef, followed_by
from bridge.model_tools.client_context import ClientContext, ReportProgress
from bridge.model_tools.declaration import InvalidArguments, Tool, ToolSet
from bridge.model_tools.elicitation import Elicitation, Unanswered
from bridge.model_tools.tool_result import Image, ToolResult, json_object
from bridge.ops.effects import describe_target, refused_by_effect
from bridge.ops.quoting import hint_quotes_a_page, quotes_a_page
from bridge.snapshot.escape import cut

logger = logging.getLogger(__name__)

CALL_TIMEOUT_S = 180.0
#: Effects that may happen twice without harm. The tools in _ONCE go one step further each time.
RERUNNABLE = frozenset({"observe", "navigate"})
_ONCE = frozenset({"web_back", "web_forward"})
#: A person may have to find a password, or wait for a message.
_TIMEOUTS_S = {"web_ask_person": 1_800.0}
_ARGUMENTS_CHARS = 300
_NOTE_CHARS = 500


def _ignore_progress(step: str) -> None:
    pass


class UnknownTool(LookupError):
    """The tool does not exist."""


@dataclass(frozen=True, slots=True)
class RenderedResult:
    """The result that is returned to the model."""

    text: str
    image: Image | None
    is_error: bool


class Toolbox:
    """The tools of one set."""

    def __init__(self, tools: ToolSet) -> None:
        self.tools = tools

    async def call(
        self,
        name: str,
        given: Mapping[str, Any] | None,
        client: ClientContext,
        elicitation: Elicitation,
        report_progress: ReportProgress = _ignore_progress,
    ) -> RenderedResult:
        """Call a tool for a model. Secrets are redacted from the whole result.

        Raises:
            UnknownTool: Nothing was done.
            Unanswered: A person has to be asked between two calls; repeating this one does nothing twice.
        """
        tool = self.tools.get(name)
        if tool is None:
            known = ", ".join(each.name for each in self.tools)
            raise UnknownTool(f"unknown tool {name[:80]!r}; the tools are {known}")
        async with client.lock:
            client.notes.clear()
            client.page_notes.clear()
            client.report_progress = report_progress
            client.elicitation = elicitation
            if problem := client.server.reload_policy():
                client.notes.append(problem)
            with client.server.elicitation.during_call(elicitation):
                result = await self._run(tool, given, client, elicitation)
            return self._rendered(result, client)

    async def _run(
        self, tool: Tool, given: Mapping[str, Any] | None, client: ClientContext, elicitation: Elicitation
    ) -> ToolResult:
        try:
            arguments = tool.arguments(given)
            await _check_effect(tool, arguments, client, elicitation)
            async with Deadline.after(_TIMEOUTS_S.get(tool.name, CALL_TIMEOUT_S)).bound(tool.name):
                return await tool.run(client, **arguments)
        except BridgeError as error:
            if isinstance(error, PolicyRefused):
                error.hint = client.server.allowing_hint(error)
            is_rerunnable = tool.effect_of(given or {}) in RERUNNABLE and tool.name not in _ONCE
            if is_rerunnable and (unanswered := _unanswered_behind(error)) is not None:
                raise unanswered from error
            return await self._failed(tool, error, client, (given or {}).get("url"))
        except Unanswered:
            raise
        except Exception as error:  # nothing that a page or a model sends may end the server
            logger.exception("%s failed", tool.name)
            return ToolResult(
                f"{tool.name}: unexpected {type(error).__name__}. This is a bug in webview-bridge.", is_error=True
            )

    async def _failed(self, tool: Tool, error: BridgeError, client: ClientContext, requested_url: object) -> ToolResult:
        head, redact_line = f"{tool.name} failed: {error.code}", client.server.secrets.redact_line
        if isinstance(error, RefNotFound | StaleRef):
            snapshot, url = await client.fresh_snapshot()
            if snapshot:
                text = f"{head}. Continue with the refs of this new snapshot."
                return ToolResult(text, f"{redact_line(error.message)}\n{snapshot}", url, is_error=True)
        if hint_quotes_a_page(error, requested_url):
            page_text = f"{redact_line(error.message)}\n{redact_line(error.hint)}"
            return ToolResult(f"{head}.", page_text, client.last_url, is_error=True)
        if quotes_a_page(error) and not isinstance(error, InvalidArguments):
            text = followed_by(f"{head}.", error.hint)
            return ToolResult(text, redact_line(error.message), client.last_url, is_error=True)
        return ToolResult(followed_by(f"{head}: {error.message}", error.hint), is_error=True)

    def _rendered(self, result: ToolResult, client: ClientContext) -> RenderedResult:
        redact, redact_line = client.server.secrets.redact, client.server.secrets.redact_line
        own_notes = _distinct(client.notes, redact_line)
        quoting_notes = _distinct(client.page_notes, redact_line)
        if result.fields is not None:
            url = redact(result.page_url)
            text = json_object(
                client.server.secrets.redact_values(result.fields), own_notes, quoting_notes, client.markers, url
            )
            return RenderedResult(text, result.image, result.is_error)
        notes = "".join(f"\nnote: {note}" for note in own_notes)
        page_notes = [f"note: {note}" for note in quoting_notes]
        # Page content is redacted before it is wrapped: a secret that looks like a part of the markers must not
        # change them.
        whole = ToolResult(
            redact(result.text) + notes,
            "\n".join([*page_notes, redact(result.page_text)] if result.page_text else page_notes),
            redact(result.page_url),
            max_chars=result.max_chars,
        )
        return RenderedResult(whole.render(client.markers), result.image, result.is_error)


def _distinct(notes: Iterable[str], redact: Callable[[str], str]) -> Iterable[str]:
    return dict.fromkeys(cut(redact(note), _NOTE_CHARS) for note in notes)


async def _check_effect(
    tool: Tool, arguments: Mapping[str, Any], client: ClientContext, elicitation: Elicitation
) -> None:
    """Apply the action policy.

    Raises:
        PolicyRefused: The operator denies the effect, or it was not confirmed.
    """
    effect = tool.effect_of(arguments)
    verdict = client.server.action_policy.verdict(effect)
    if verdict == "confirm":
        given = ", ".join(f"{name}={value!r}" for name, value in arguments.items() if value is not None)
        redact = client.server.secrets.redact
        target = redact(describe_target(client.affected_page, arguments.get("ref")))
        call = f"{tool.name}({cut(redact(given), _ARGUMENTS_CHARS)})"
        if await elicitation.confirm(f"Allow the model to {effect} with {call}{target}?"):
            return
    if verdict != "allow":
        refused = refused_by_effect(tool.name, effect, needs_confirmation=verdict == "confirm")
        raise PolicyRefused(
            refused.message,
            hint=f'The operator can allow it: remove "{effect}" from {verdict} in [browser.actions].',
            **refused.details,
        )


def _unanswered_behind(error: BaseException) -> Unanswered | None:
    """The question that could not be asked during the call, if that is why the call failed."""
    seen: set[int] = set()  # an error may be its own cause, which Python does not mind
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        if isinstance(cause, Unanswered):
            return cause
        seen.add(id(cause))
        cause = cause.__cause__
    return None
