"""Recovers a page that does not answer, by the mildest step that works.

    deadline exceeded, page silent
      1  Runtime.terminateExecution     ends the running script; the document stays
      -  nothing, for half a minute     if no script runs: the layout of a large document does end; or if the page sends
                                        so many messages that replies are far behind them
      2  a new connection               if the old socket died without notice
      3  Page.crash                     kills the renderer, and every tab in it; the next operation on each reopens it
                                        at its URL. If its document hung again after step 1, only goto reopens it

Steps 1 and 3 run on the renderer's IO thread (third_party/blink, DevToolsSession::IOSession), so an endless loop in the
page does not delay them. Step 1 is answered once no script runs any more; a thread that is busy with something else
cannot answer. Every step is bounded. Together, with the half second that a reply may come late, they take two seconds
on a link with less than 0.1 s of latency.

A navigation away from a page that hangs is unblocked before the new document arrives (`unblock_navigation`, called by
`navigation/unload.py`): the thread that the old script blocks is the one that commits the new document.
"""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from bridge.cdp import PendingCall
from bridge.deadline import Deadline
from bridge.errors import BridgeError, DeadlineExceeded, ProtocolError, TransportError
from bridge.page.tab_handle import TabHandle
from bridge.page.target.attachment import Attachment

logger = logging.getLogger(__name__)

RecoveryStep = Literal["terminate_script", "left_busy", "left_flooded", "fresh_connection", "kill_renderer", "failed"]

# On a link without latency; slower links get four round trips more.
_PROBE_S = 0.35
_TERMINATE_S = 0.25
_CONNECT_S = 0.3
_ASK_S = 0.15
_KILL_S = 0.4
# Per step, for a document that a navigation leaves: more of them are busy than hung.
_UNLOAD_S = 1.0
# No event for this long after a navigation was sent: the old document hangs in its beforeunload handlers.
_SILENT_S = 2.5
# An adb stream sends the next packet when the one before was acknowledged: a reply may come behind earlier ones.
_NEWS_BEFORE_REPLY = 3
# A caller's function that answers a dialog has two seconds.
_DIALOG_S = 2.5
# How long a document may be busy with something other than a script, from the first operation that it delayed.
BUSY_S = 30.0
# Messages during one probe; a page that is only loading sends fewer.
_FLOOD = 100
_ALIVE: tuple[str, dict[str, object]] = ("Runtime.evaluate", {"expression": "1"})
_TERMINATE: tuple[str, dict[str, object]] = ("Runtime.terminateExecution", {})
# Answered by the browser process, whatever the renderer does.
_CONNECTED: tuple[str, dict[str, object]] = ("Page.getNavigationHistory", {})
# These documents have no script that could hang; nor has the browser's error page.
_WITHOUT_SCRIPT = ("", ":", "about:blank")

SENTENCES: dict[RecoveryStep, str] = {
    "terminate_script": "The page's script did not end and was terminated; the document is still there.",
    "left_busy": "No script is running: the page is busy with something else, such as the layout of a large document. "
    "It was left alone. Try again, with a longer timeout_s.",
    "left_flooded": "The page sends more than the connection can carry, such as thousands of console messages, and "
    "replies are queued behind them; its script was terminated. Try again, or with a longer timeout_s.",
    "fresh_connection": "The connection to the tab had gone silent and was replaced.",
    "kill_renderer": "The page did not respond and its renderer was killed; the next call reopens it.",
    "failed": "The page does not respond, and its renderer could not be killed.",
}
HUNG_AGAIN = "The page hung again, and its renderer was killed: the page is gone. goto opens an address in its tab."
_TERMINATED = "the document that was left did not respond; its script was terminated"


@dataclass(frozen=True, slots=True)
class RecoveryOutcome:
    """The result of `recover`.

    Attributes:
        step: The step that worked.
        page_is_gone: The document hung again, so its renderer was killed and the page is not to be reopened.
    """

    step: RecoveryStep
    page_is_gone: bool = False


class HangHistory:
    """Earlier recoveries of the documents of one tab; they decide how far recovery goes for the next hang.

    Documents are named by their loader ids; "" is an unknown one.
    """

    def __init__(self) -> None:
        self._terminated = ""
        self._busy, self._busy_since_s = "", 0.0

    def was_terminated(self, document: str) -> bool:
        """True if a script of this document has been terminated before."""
        return document != "" and document == self._terminated

    def may_be_busy(self, document: str) -> bool:
        """True while the document may still finish work other than a script. The first call starts its half minute."""
        if document != self._busy or not document:
            self._busy, self._busy_since_s = document, time.monotonic()
        return time.monotonic() - self._busy_since_s < BUSY_S

    def record(self, document: str, step: RecoveryStep) -> None:
        """Remember the step that was taken for this document."""
        self._terminated = document if step in ("terminate_script", "left_flooded") else ""
        if step not in ("left_busy", "left_flooded"):
            self._busy = ""


async def is_responsive(attachment: Attachment, *, slack_s: float = 0.0) -> bool:
    """True if the page's main thread answers a command."""
    return await _replies(attachment, *_ALIVE, _PROBE_S + slack_s)


async def recover(
    attachment: Attachment, tab: TabHandle, history: HangHistory | None = None, *, slack_s: float = 0.0
) -> RecoveryOutcome:
    """Take one step after the other until the page is responsive.

    Args:
        history: Earlier hangs of the tab. A document that hangs again after its script was terminated would do so for
            ever: its renderer is killed at once. Without it every hang counts as the first.
        slack_s: Added to each bound, for slow links.
    """
    document = attachment.state.main.loader_id if attachment.state.main else ""
    hung_again, may_be_busy = False, True
    if history is not None:
        hung_again, may_be_busy = history.was_terminated(document), history.may_be_busy(document)
    step = await _recover(attachment, tab, hung_again=hung_again, may_be_busy=may_be_busy, slack_s=slack_s)
    if history is not None:
        history.record(document, step)
    return RecoveryOutcome(step, page_is_gone=hung_again and step == "kill_renderer")


async def _recover(
    attachment: Attachment, tab: TabHandle, *, hung_again: bool, may_be_busy: bool, slack_s: float
) -> RecoveryStep:
    received = attachment.connection.received
    kills_at_once = hung_again
    if may_be_busy and hung_again:
        await _replies(attachment, *_ALIVE, _TERMINATE_S + slack_s)
        kills_at_once = attachment.connection.received - received < _FLOOD
    if kills_at_once:
        return await _kill(tab, slack_s)
    no_script = not await _replies(attachment, *_TERMINATE, _TERMINATE_S + slack_s)
    if await _replies(attachment, *_ALIVE, _TERMINATE_S + slack_s):
        return "terminate_script"
    if may_be_busy and attachment.connection.received - received >= _FLOOD:
        return "left_flooded"
    if no_script and may_be_busy and await _replies(attachment, *_CONNECTED, _TERMINATE_S + slack_s):
        return "left_busy"
    try:
        fresh = await tab.reattach(timeout_s=_CONNECT_S + slack_s)
        if await _replies(fresh, *_ALIVE, _ASK_S + slack_s):
            return "fresh_connection"
    except BridgeError as error:
        logger.debug("no fresh connection: %s", error)
    return await _kill(tab, slack_s)


async def _kill(tab: TabHandle, slack_s: float) -> RecoveryStep:
    return "kill_renderer" if await tab.kill_renderer(timeout_s=_KILL_S + slack_s) else "failed"


async def can_unload(attachment: Attachment, deadline: Deadline, *, is_leaving: bool = False) -> bool:
    """True if the document that a navigation leaves is responsive.

    Args:
        is_leaving: The navigation is sent right behind the probe. Its first event shows how slow the link is. If it
            makes the document open a dialog (beforeunload), the probe is repeated once that is closed.
    """
    state, dialogs = attachment.state, attachment.dialogs
    main, answered_before = state.main, dialogs.count
    if main is None or main.unreachable_url or main.url.partition("#")[0] in _WITHOUT_SCRIPT:
        return True
    if await (_replies_in_time(attachment, deadline) if is_leaving else _replies_soon(attachment, deadline)):
        return True
    if not is_leaving or (state.dialog is None and dialogs.count == answered_before):
        return False
    with suppress(BridgeError):
        await attachment.condition.wait(lambda: state.dialog is None, timeout_s=min(_DIALOG_S, deadline.remaining_s))
    return await _replies_soon(attachment, deadline)


async def _replies_soon(attachment: Attachment, deadline: Deadline) -> bool:
    return await _replies(attachment, *_ALIVE, min(_UNLOAD_S, deadline.remaining_s))


async def _replies_in_time(attachment: Attachment, deadline: Deadline) -> bool:
    """`_replies_soon` with a bound that follows the link: a multiple of the time to the navigation's first event.

    With a fixed bound every document behind a slow link would count as hung. A document that was replaced by another
    one in that time, perhaps by its own script, did unload.
    """
    began, state = time.monotonic(), attachment.state
    shown = state.navigations
    try:
        question = attachment.connection.send(*_ALIVE)  # before the caller sends the navigation
    except TransportError:
        return False
    reply = asyncio.ensure_future(_is_answered(question, deadline.remaining_s))
    news = asyncio.ensure_future(attachment.condition.wait(lambda: state.navigating_to, timeout_s=_SILENT_S))
    gone = asyncio.ensure_future(
        attachment.condition.wait(lambda: state.navigations > shown, timeout_s=deadline.remaining_s)
    )
    try:
        await asyncio.wait((reply, news), timeout=deadline.remaining_s, return_when=asyncio.FIRST_COMPLETED)
        heard_s = time.monotonic() - began if not reply.done() and news.done() and news.result() else 0.0
        patience_s = max(_UNLOAD_S, _NEWS_BEFORE_REPLY * heard_s) if heard_s else 0.0
        left_s = min(patience_s, deadline.remaining_s)
        await asyncio.wait((reply, gone), timeout=left_s, return_when=asyncio.FIRST_COMPLETED)
        return state.navigations > shown or (reply.done() and reply.result())
    finally:
        for waiting in (reply, news, gone):
            waiting.cancel()
        await asyncio.gather(reply, news, gone, return_exceptions=True)


async def unblock_navigation(attachment: Attachment, deadline: Deadline, *, may_detour: bool) -> str:
    """Before a navigation: end the script of a document that hangs; what was done, or "".

    This must come first: while the browser process waits for the renderer to commit the new document, it holds back
    commands for the renderer, including Runtime.terminateExecution and Page.crash (content,
    DevToolsSession::SuspendSendingMessagesToAgent).

    Args:
        may_detour: Go by about:blank, with scripts disabled until it is there: a terminated script may start again, as
            those of timers do.
    """

    async def replies(method: str, params: dict[str, object]) -> bool:
        return await _replies(attachment, method, params, min(_UNLOAD_S, deadline.remaining_s))

    await replies(*_TERMINATE)
    if not may_detour:
        return _TERMINATED
    try:
        await replies("Emulation.setScriptExecutionDisabled", {"value": True})
        await replies(*_TERMINATE)  # the one that began in between
        if not await replies("Page.getFrameTree", {}):
            return ""
        state, started = attachment.state, attachment.state.navigations
        attachment.connection.send("Page.navigate", {"url": "about:blank"}).abandon()
        left_s = min(_UNLOAD_S, deadline.remaining_s)
        return (
            _TERMINATED
            if await attachment.condition.wait(lambda: state.navigations > started, timeout_s=left_s)
            else ""
        )
    finally:
        await _replies(attachment, "Emulation.setScriptExecutionDisabled", {"value": False}, _UNLOAD_S)


def with_recovery(error: DeadlineExceeded, outcome: RecoveryOutcome) -> DeadlineExceeded:
    """The same error with the recovery step in its hint and details."""
    seen = "; ".join(dict.fromkeys(filter(None, (error.last_seen, "the page did not respond"))))
    hint = HUNG_AGAIN if outcome.page_is_gone else SENTENCES[outcome.step]
    changed = DeadlineExceeded(error.awaited, error.timeout_s, seen, hint=hint)
    changed.details["recovery"] = outcome.step
    return changed


async def _replies(attachment: Attachment, method: str, params: dict[str, object], timeout_s: float) -> bool:
    """Any reply counts, also a refusal. Sent without the policy's check of shown content: the reply goes nowhere."""
    try:
        return await _is_answered(attachment.connection.send(method, params), timeout_s)
    except TransportError as error:
        logger.debug("%s: %s", method, error)
        return False


async def _is_answered(call: PendingCall, timeout_s: float) -> bool:
    try:
        await call.result(timeout_s=timeout_s)
    except ProtocolError:
        return True
    except BridgeError as error:
        logger.debug("%s: %s", call.method, error)
        return False
    return True
