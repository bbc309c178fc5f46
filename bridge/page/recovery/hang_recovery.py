"""A page that does not answer, freed by the mildest means that works.

    deadline passed, page silent
      1  Runtime.terminateExecution     the script that runs ends; the document stays
      -  nothing, for half a minute     where no script runs: the layout of a large document does come to its end; and
                                        where so much is told that is_responsive are far behind in it
      2  a fresh connection             for a socket that died without a word
      3  Page.crash                     the renderer is killed, and every tab in it; the tabs are opened again with
                                        their URLs by the next operation on them, but one whose document hung again
                                        after step 1 only by a goto, elsewhere

Commands 1 and 3 are carried out on the renderer's IO thread (third_party/blink, DevToolsSession::IOSession), so a
page's endless loop does not hold them up. Command 1 is answered when no script runs any more, which a thread that is
busy with something else cannot say. Every step is bounded; together, and with the half second that a reply may come
late, they take two seconds where the link is_responsive in less than a tenth of one.

A navigation climbs before the new document is there (`recover`, `departure.py`): the thread that the old one's script
may keep is the one that puts the new document in place.
"""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import suppress
from typing import Literal

from bridge.cdp import PendingCall
from bridge.deadline import Deadline
from bridge.errors import BridgeError, DeadlineExceeded, ProtocolError, TransportError
from bridge.page.tab_handle import TabHandle
from bridge.page.target.attachment import Attachment

logger = logging.getLogger(__name__)

RecoveryStep = Literal[
    "none", "terminate_script", "left_busy", "left_flooded", "fresh_connection", "kill_renderer", "failed"
]

# Of a link whose replies take no time; slower ones get four of their round trips more.
_PROBE_S = 0.35
_TERMINATE_S = 0.25
_FRESH_S = 0.3
_ASK_S = 0.15
_KILL_S = 0.4
# How long a document that is to be left may take for each step: a busy one is more frequent than one that hangs.
_LEAVE_S = 1.0
# So long without any news of a navigation that was sent: the document is asked whether it may be left, and hangs.
_SILENT_S = 2.5
# An adb stream's next packet waits until the one before has been taken: a reply may come behind some that were earlier.
_NEWS_BEFORE_REPLY = 3
# A function of the user's that decides about a dialog has two seconds.
_DIALOG_S = 2.5
# So long a document may be busy with something that is no script, from the first operation on that it kept waiting.
BUSY_S = 30.0
# Messages within the time of a probe that no page sends which is only loading.
_FLOOD = 100
_ALIVE: tuple[str, dict[str, object]] = ("Runtime.evaluate", {"expression": "1"})
_TERMINATE: tuple[str, dict[str, object]] = ("Runtime.terminateExecution", {})
# Answered by the browser process, whatever the renderer does.
_CONNECTED: tuple[str, dict[str, object]] = ("Page.getNavigationHistory", {})
# Nor does the browser's own page, in the place of one that failed, have a script that could hang.
_WITHOUT_SCRIPT = ("", ":", "about:blank")

SENTENCES: dict[RecoveryStep, str] = {
    "terminate_script": "The page's script did not come to an end and was terminated; the document is still there.",
    "left_busy": "No script runs: the page is busy with something else, such as the layout of a large document, and "
    "was left to it. Try again, with a longer timeout_s.",
    "left_flooded": "The page tells more than can be carried at once, such as thousands of console messages, and an "
    "answer comes behind them; its script was terminated. Try again, or with a longer timeout_s.",
    "fresh_connection": "The connection to the tab had gone silent and was made anew.",
    "kill_renderer": "The page did not answer and its renderer was told to end; the next call opens it again.",
    "failed": "The page does not answer, and its renderer could not be killed.",
}
HUNG_AGAIN = (
    "The page hung again, and its renderer was told to end: the page is gone. goto opens an address in its tab."
)
_LEFT = "the document that was left did not answer; its script was terminated"


async def is_responsive(attachment: Attachment, *, slack_s: float = 0.0) -> bool:
    """Whether the page's main thread carries out a command."""
    return await _replies(attachment, *_ALIVE, _PROBE_S + slack_s)


async def recover(
    attachment: Attachment, tab: TabHandle, *, again: bool = False, may_be_busy: bool = True, slack_s: float = 0.0
) -> RecoveryStep:
    """Climb until the page is_responsive; the step that did it. `slack_s` is added to each bound, for slow links.

    A document that hangs `again` after its script was terminated would do so for ever: its renderer is killed at once.
    One that `may_be_busy` with something that is no script is left alone, and so is one that has just been heard.
    """
    heard = attachment.connection.received
    if may_be_busy and again:
        await _replies(attachment, *_ALIVE, _TERMINATE_S + slack_s)
        again = attachment.connection.received - heard < _FLOOD
    if again:
        return "kill_renderer" if await tab.kill_renderer(timeout_s=_KILL_S + slack_s) else "failed"
    no_script = not await _replies(attachment, *_TERMINATE, _TERMINATE_S + slack_s)
    is_free = await _replies(attachment, *_ALIVE, _TERMINATE_S + slack_s)
    if is_free:
        return "terminate_script"
    if may_be_busy and attachment.connection.received - heard >= _FLOOD:
        return "left_flooded"
    if no_script and may_be_busy and await _replies(attachment, *_CONNECTED, _TERMINATE_S + slack_s):
        return "left_busy"
    try:
        fresh = await tab.reattach(timeout_s=_FRESH_S + slack_s)
        if await _replies(fresh, *_ALIVE, _ASK_S + slack_s):
            return "fresh_connection"
    except BridgeError as error:
        logger.debug("no fresh connection: %s", error)
    return "kill_renderer" if await tab.kill_renderer(timeout_s=_KILL_S + slack_s) else "failed"


async def can_unload(attachment: Attachment, deadline: Deadline, *, is_leaving: bool = False) -> bool:
    """Whether the document that is to be left is_responsive.

    Args:
        is_leaving: A navigation is sent right behind the question. What is heard of that says how slow the link is;
            where it makes the document open a dialog (beforeunload), the question is put again when that is closed.
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
        await attachment.watch.wait(lambda: state.dialog is None, timeout_s=min(_DIALOG_S, deadline.remaining_s))
    return await _replies_soon(attachment, deadline)


async def _replies_soon(attachment: Attachment, deadline: Deadline) -> bool:
    return await _replies(attachment, *_ALIVE, min(_LEAVE_S, deadline.remaining_s))


async def _replies_in_time(attachment: Attachment, deadline: Deadline) -> bool:
    """As `_replies_soon`, from the first news of the navigation on, and some times as long as that took. A document
    that another has replaced meanwhile, as its own script may have begun to, has let go."""
    began, state = time.monotonic(), attachment.state
    shown = state.navigations
    try:
        question = attachment.connection.send(*_ALIVE)  # now: the navigation is sent next
    except TransportError:
        return False
    reply = asyncio.ensure_future(_is_answered(question, deadline.remaining_s))
    news = asyncio.ensure_future(attachment.watch.wait(lambda: state.navigating_to, timeout_s=_SILENT_S))
    gone = asyncio.ensure_future(
        attachment.watch.wait(lambda: state.navigations > shown, timeout_s=deadline.remaining_s)
    )
    try:
        await asyncio.wait((reply, news), timeout=deadline.remaining_s, return_when=asyncio.FIRST_COMPLETED)
        heard_s = time.monotonic() - began if not reply.done() and news.done() and news.result() else 0.0
        patience_s = max(_LEAVE_S, _NEWS_BEFORE_REPLY * heard_s) if heard_s else 0.0
        left_s = min(patience_s, deadline.remaining_s)
        await asyncio.wait((reply, gone), timeout=left_s, return_when=asyncio.FIRST_COMPLETED)
        return state.navigations > shown or (reply.done() and reply.result())
    finally:
        for waiting in (reply, news, gone):
            waiting.cancel()
        await asyncio.gather(reply, news, gone, return_exceptions=True)


async def unblock_navigation(attachment: Attachment, deadline: Deadline, *, may_detour: bool) -> str:
    """Before a navigation: free a document that hangs, or its successor waits for it; what was done, or "".

    It must be before: while the browser process waits for the renderer to put the new document in place, it keeps back
    what is meant for the renderer, Runtime.terminateExecution and Page.crash too (content,
    DevToolsSession::SuspendSendingMessagesToAgent).

    Args:
        may_detour: By about:blank, with scripts switched off until it is there: a script that was terminated may begin
            again, as those of timers do.
    """

    async def replies(method: str, params: dict[str, object]) -> bool:
        return await _replies(attachment, method, params, min(_LEAVE_S, deadline.remaining_s))

    await replies(*_TERMINATE)
    if not may_detour:
        return _LEFT
    try:
        await replies("Emulation.setScriptExecutionDisabled", {"value": True})
        await replies(*_TERMINATE)  # the one that began in between
        if not await replies("Page.getFrameTree", {}):
            return ""
        state, started = attachment.state, attachment.state.navigations
        attachment.connection.send("Page.navigate", {"url": "about:blank"}).abandon()
        left_s = min(_LEAVE_S, deadline.remaining_s)
        return _LEFT if await attachment.watch.wait(lambda: state.navigations > started, timeout_s=left_s) else ""
    finally:
        await _replies(attachment, "Emulation.setScriptExecutionDisabled", {"value": False}, _LEAVE_S)


def with_recovery(error: BridgeError, step: RecoveryStep, *, is_gone: bool = False) -> BridgeError:
    """`error` with what was done about it: the same kind, its message and details naming the step.

    Args:
        is_gone: The page will not be opened again.
    """
    if step == "none":
        return error
    if isinstance(error, DeadlineExceeded):
        seen = "; ".join(dict.fromkeys(filter(None, (error.last_seen, "the page did not answer"))))
        sentence = HUNG_AGAIN if is_gone else SENTENCES[step]
        changed = DeadlineExceeded(error.awaited, error.timeout_s, seen, hint=sentence)
        changed.details["recovery"] = step
        return changed
    error.details["recovery"] = step
    return error


async def _replies(attachment: Attachment, method: str, params: dict[str, object], timeout_s: float) -> bool:
    """Any reply is an answer, a refusal of the command too. Past the policy, which judges what is handed out: the
    answer is not."""
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
