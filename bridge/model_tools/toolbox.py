"""Runs a model's call: arguments, effect, the tool, its answer. Whatever goes wrong is an answer too."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from bridge.deadline import Deadline
from bridge.errors import BridgeError, PolicyRefused, RefNotFound, StaleRef, followed_by
from bridge.model_tools.client_context import ClientContext, Say
from bridge.model_tools.declaration import InvalidArguments, Tool, ToolSet
from bridge.model_tools.elicitation import Elicitation, Unanswered
from bridge.model_tools.tool_result import Image, ToolResult
from bridge.ops.effects import refused_by_effect, told_of
from bridge.ops.quoting import hint_quotes_a_page, quotes_a_page
from bridge.snapshot.escape import cut

logger = logging.getLogger(__name__)

CALL_TIMEOUT_S = 180.0
#: Effects of what may be done twice without harm, and the tool that goes another step all the same.
RERUNNABLE = frozenset({"observe", "navigate"})
_ONCE = frozenset({"web_back"})
_SHOWN_ARGUMENTS_CHARS = 300


def _say_nothing(step: str) -> None:
    pass


class UnknownTool(LookupError):
    """There is no tool of that name."""


class Shown:
    """What goes back to the model."""

    def __init__(self, text: str, image: Image | None, is_error: bool) -> None:
        self.text = text
        self.image = image
        self.is_error = is_error


class Toolbox:
    """The tools of one set."""

    def __init__(self, tools: ToolSet) -> None:
        self.tools = tools

    async def call(
        self,
        name: str,
        given: Mapping[str, Any] | None,
        desk: ClientContext,
        person: Elicitation,
        say: Say = _say_nothing,
    ) -> Shown:
        """Call a tool for a model. Every word of the answer has its secrets taken out, and it has the tool's bound.

        Raises:
            UnknownTool: Nothing was done.
            Unanswered: A person has to be asked between two calls; doing this one again does nothing twice.
        """
        tool = self.tools.get(name)
        if tool is None:
            known = ", ".join(each.name for each in self.tools)
            raise UnknownTool(f"there is no tool {name[:80]!r}; there are {known}")
        async with desk.turn:
            desk.notes.clear()
            desk.told.clear()
            desk.say = say
            with desk.house.asking.call_of(person):
                answer = await self._answer(tool, given, desk, person)
            return self._shown(answer, desk)

    async def _answer(
        self, tool: Tool, given: Mapping[str, Any] | None, desk: ClientContext, person: Elicitation
    ) -> ToolResult:
        try:
            arguments = tool.arguments(given)
            await _let_through(tool, arguments, desk, person)
            async with Deadline.after(CALL_TIMEOUT_S).bound(tool.name):
                return await tool.run(desk, **arguments)
        except BridgeError as error:
            again = tool.effect_of(given or {}) in RERUNNABLE and tool.name not in _ONCE
            if again and (unanswered := _question_behind(error)) is not None:
                raise unanswered from error
            return await self._failed(tool, error, desk, (given or {}).get("url"))
        except Unanswered:
            raise
        except Exception as error:  # nothing that a page or a model sends may end the server
            logger.exception("%s failed", tool.name)
            return ToolResult(
                f"{tool.name}: unexpected {type(error).__name__}. This is a mistake of ours.", is_error=True
            )

    async def _failed(self, tool: Tool, error: BridgeError, desk: ClientContext, asked_url: object) -> ToolResult:
        head, line = f"{tool.name} failed: {error.code}", desk.house.secrets.redact_line
        if isinstance(error, RefNotFound | StaleRef):
            snapshot, url = await desk.seen_now()
            if snapshot:
                said = f"{head}. Go on with the refs of this fresh snapshot."
                return ToolResult(said, f"{line(error.message)}\n{snapshot}", url, is_error=True)
        if hint_quotes_a_page(error, asked_url):
            return ToolResult(f"{head}.", f"{line(error.message)}\n{line(error.hint)}", desk.last_url, is_error=True)
        if quotes_a_page(error) and not isinstance(error, InvalidArguments):
            return ToolResult(followed_by(f"{head}.", error.hint), line(error.message), desk.last_url, is_error=True)
        return ToolResult(followed_by(f"{head}: {error.message}", error.hint), is_error=True)

    def _shown(self, answer: ToolResult, desk: ClientContext) -> Shown:
        redact, line = desk.house.secrets.redact, desk.house.secrets.redact_line
        notes = "".join(f"\nnote: {note}" for note in _once(desk.notes, line))
        told = [f"note: {note}" for note in _once(desk.told, line)]
        whole = ToolResult(
            redact(answer.text) + notes,
            "\n".join([*told, redact(answer.page_text)] if answer.page_text else told),
            redact(answer.page_url),
            max_chars=answer.max_chars,
        )
        # What is in the fence is redacted before: a secret that looks like a part of the marks must not change them.
        return Shown(whole.shown(desk.fence), answer.image, answer.is_error)


def _once(notes: Iterable[str], redact: Callable[[str], str]) -> Iterable[str]:
    return dict.fromkeys(cut(redact(note), 500) for note in notes)


async def _let_through(tool: Tool, arguments: Mapping[str, Any], desk: ClientContext, person: Elicitation) -> None:
    effect = tool.effect_of(arguments)
    policy = desk.house.action_policy
    verdict = policy.verdict(effect)
    if verdict == "confirm":
        shown = ", ".join(f"{name}={value!r}" for name, value in arguments.items() if value is not None)
        redact = desk.house.secrets.redact
        words = cut(redact(shown), _SHOWN_ARGUMENTS_CHARS)
        where = redact(told_of(desk.acting_on, arguments.get("ref")))
        if await person.agrees(f"May the model {effect} with {tool.name}({words}){where}?"):
            return
    if verdict != "allow":
        refused = refused_by_effect(tool.name, effect, asked=verdict == "confirm")
        raise PolicyRefused(
            refused.message,
            hint=f'The operator can allow it: take "{effect}" out of {verdict} in [browser.actions].',
        )


def _question_behind(error: BaseException) -> Unanswered | None:
    """The question that nobody could be asked in the middle of the call, where that is why it failed."""
    seen: set[int] = set()  # an error may be its own cause, which Python does not mind
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        if isinstance(cause, Unanswered):
            return cause
        seen.add(id(cause))
        cause = cause.__cause__
    return None
