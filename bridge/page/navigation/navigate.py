"""Navigation: send the command, wait for the document, report where it ended.

What `goto` waits for, on a link where nothing else takes time:

    sent                                 received                                         round trips
    Runtime.evaluate "1", Page.navigate  the evaluation's result, Fetch.requestPaused     1
    Fetch.continueRequest                Page.frameNavigated, webviewBridgeTitle, load    1, and the server's

The evaluation shows whether the old document responds (`unload.py`). Without interception, its result is awaited before
anything else is sent, which adds a round trip. So does a title that the document did not report (`title.py`).
`cost.round_trips` counts the operation's own commands; the decision about the request is not one of them.

Over adb, a stream's next packet waits until the one before has been taken, and what gathers in between travels as one:
the first of several messages travels alone, and those behind it one round trip of the cable later. Here that happens
twice, so a load from a server behind `adb reverse` takes five: the command goes to the device (0.5),
Page.frameStartedNavigating comes ahead of the evaluation's result and Fetch.requestPaused (1.5), the decision goes back
(0.5), the device asks the server (1), and the document's first event comes ahead of the others (1.5). The title is
reported before the load event and adds nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from bridge.deadline import Deadline
from bridge.errors import BridgeError, DeadlineExceeded, NavigationFailed, TransportError, UsageError
from bridge.page.navigation.errors import (
    CommitTimedOut,
    EndlessDialogs,
    check_arrived,
    navigation_failed,
    refused_navigation,
)
from bridge.page.navigation.history import entry_at
from bridge.page.navigation.title import document_title
from bridge.page.navigation.unload import (
    can_probe_during_fetch,
    old_document_responds,
    probe_old_document,
    recover_document,
    stop_loading,
)
from bridge.page.navigation.url import is_fetched
from bridge.page.recovery.hang_recovery import can_unload
from bridge.page.results import NavigationResult
from bridge.page.target.attachment import Attachment
from bridge.page.target.frames import Frame

if TYPE_CHECKING:
    from bridge.page.operation import Operation
    from bridge.page.tab_handle import TabHandle

WaitUntil = Literal["commit", "domcontentloaded", "load", "networkidle"]
Send: TypeAlias = Callable[[Attachment, Deadline], Coroutine[Any, Any, None]]

# Chromium's names of lifecycle events. "commit" is the moment when the frame has the new loader.
_LIFECYCLE = {"domcontentloaded": "DOMContentLoaded", "load": "load", "networkidle": "networkIdle"}
# The renderer commits a response at once, unless a script of the old document keeps the main thread.
_COMMIT_S = 5.0
_KILL_S = 1.0
_NEW_HISTORY = "the old document kept opening dialogs; its tab was reopened and has a new history"


@dataclass(frozen=True, slots=True)
class Move:
    """One way to another document.

    Attributes:
        send: Sends the command and waits for the document.
        address: Where it leads, for a tab that has to be reopened and so has no history.
        is_fetched: The document is requested from a server.
        revisit: The tab must be at its address first: the move starts from there.
    """

    send: Send
    address: Callable[[Attachment, Deadline], Awaitable[str]]
    wait_until: WaitUntil
    is_fetched: bool
    revisit: bool = True


async def goto(op: Operation, tab: TabHandle, address: str, wait_until: WaitUntil) -> NavigationResult:
    """Open an address that the policy has allowed."""

    async def there(_attachment: Attachment, _deadline: Deadline) -> str:
        return address

    move = Move(
        lambda attachment, deadline: go(attachment, address, wait_until, deadline),
        there,
        wait_until,
        is_fetched(address),
        revisit=False,
    )
    return await _navigate(op, tab, move)


async def reload(op: Operation, tab: TabHandle, wait_until: WaitUntil, *, ignore_cache: bool) -> NavigationResult:
    """Load the document again."""
    main = op.attachment.state.main
    url = main.url if main else ""

    async def here(_attachment: Attachment, _deadline: Deadline) -> str:
        return await tab.check_url(url)

    async def send(attachment: Attachment, deadline: Deadline) -> None:
        await _send_and_wait(attachment, "Page.reload", {"ignoreCache": ignore_cache}, wait_until, url, deadline)

    return await _navigate(op, tab, Move(send, here, wait_until, is_fetched(url)))


async def travel(op: Operation, tab: TabHandle, steps: int, wait_until: WaitUntil) -> NavigationResult:
    """Go through the tab's history; negative steps go back."""

    async def entry(attachment: Attachment, deadline: Deadline) -> tuple[int, str]:
        entry_id, url = await entry_at(attachment, steps, deadline)
        return entry_id, await tab.check_url(url)

    async def there(attachment: Attachment, deadline: Deadline) -> str:
        return (await entry(attachment, deadline))[1]

    async def send(attachment: Attachment, deadline: Deadline) -> None:
        entry_id, url = await entry(attachment, deadline)
        params = {"entryId": entry_id}
        await _send_and_wait(attachment, "Page.navigateToHistoryEntry", params, wait_until, url, deadline)

    # The history is read first, so a document that hangs is known before the navigation begins.
    return await _navigate(op, tab, Move(send, there, wait_until, is_fetched=True))


async def _navigate(op: Operation, tab: TabHandle, move: Move) -> NavigationResult:
    old_document = op.attachment.titles.document
    notices: list[str] = []
    try:
        await _leave_and_move(op, tab, move, notices)
        check_arrived(op.attachment)
    except asyncio.CancelledError:
        # Until the server answers, the old document takes no commands, and the answer must not replace it later.
        await stop_loading(op.attachment)
        raise
    except NavigationFailed as error:
        op.attachment.take_refused_navigations()
        if (cause := tab.explain(error)) is error:
            raise
        raise cause from error
    title = await document_title(op.attachment, _LIFECYCLE.get(move.wait_until, ""), old_document)
    if title is None:
        notices.append("the title is unknown: the page navigated again, or a script keeps it busy")
    state, main = op.attachment.state, op.attachment.state.main
    if broken := state.failures.get(main.loader_id if main else ""):
        notices.append(f"the document ended before it was complete: {broken}")
    notices += [refused_navigation(error) for error in op.attachment.take_refused_navigations()]
    return NavigationResult(
        url=main.url if main else "about:blank",
        title=title or "",
        status=state.statuses.get(main.loader_id) if main else None,
        waited_for=move.wait_until,
        cost=op.cost(),
        notices=(*op.take_notices(), *notices, *op.attachment.dialogs.take_unreported(), *op.take_side_effects()),
    )


async def _leave_and_move(op: Operation, tab: TabHandle, move: Move, notices: list[str]) -> None:
    """Leave the document and make the move. If the old document cannot be recovered, kill its renderer and move in the
    reopened tab, if the tab is ours."""
    attachment, deadline = op.attachment, op.deadline
    state, navigations = attachment.state, attachment.state.navigations
    try:
        if can_probe_during_fetch(attachment, is_fetched=move.is_fetched):
            answering = probe_old_document(attachment, deadline)
            moving = asyncio.ensure_future(move.send(attachment, deadline))
            try:
                if await old_document_responds(attachment, answering, moving):
                    return await moving
            finally:
                moving.cancel()
                await asyncio.gather(moving, return_exceptions=True)
            may_leave = False
        else:
            may_leave = await can_unload(attachment, deadline)
        if not may_leave and (notice := await recover_document(attachment, deadline, may_detour=not move.revisit)):
            notices.append(notice)
        return await move.send(attachment, deadline)
    except TransportError:
        # Lost before any news of the navigation: it may be sent again.
        if not attachment.connection.closed.is_set() or state.navigating_to or state.navigations > navigations:
            raise
    except EndlessDialogs:
        address = await move.address(attachment, deadline)
        if not await tab.kill_renderer(timeout_s=_KILL_S):
            return await move.send(attachment, deadline)
        await op.reattach(revisit=False)
        if move.revisit:
            notices.append(_NEW_HISTORY)
        return await go(op.attachment, address, move.wait_until, deadline)
    except CommitTimedOut as timed_out:
        if not await tab.kill_renderer(timeout_s=_KILL_S):
            return await wait_loaded(attachment, timed_out.loader_id, move.wait_until, deadline, timed_out.url)
    await op.reattach(revisit=move.revisit)
    return await move.send(op.attachment, deadline)


async def go(attachment: Attachment, url: str, wait_until: WaitUntil, deadline: Deadline) -> None:
    """Navigate the main frame.

    Raises:
        NavigationFailed: With Chromium's net error.
        CommitTimedOut: The response is there and the old document hangs; no command reaches it any more.
        DeadlineExceeded: `wait_until` was not reached in time; says how far the page came.
    """
    checked_wait(wait_until)
    state = attachment.state
    state.certificate_errors.clear()
    before = state.navigations
    try:
        reply = await attachment.call("Page.navigate", {"url": url}, timeout_s=deadline.remaining_s)
    except DeadlineExceeded as error:
        # The server has not answered. Its answer must not replace the page later.
        await stop_loading(attachment)
        raise deadline.exceeded(f"opening {url}", "no response from the server yet") from error
    net_error = reply.get("errorText")
    if net_error:
        if net_error == "net::ERR_ABORTED" and state.certificate_errors:
            net_error = state.certificate_errors[-1]  # the browser asked about it, and CertificateExceptions cancelled
        await _failure_shown(attachment, net_error, before, deadline)
        raise navigation_failed(url, net_error)
    loader_id = reply.get("loaderId")
    if not loader_id:
        return
    if deadline.remaining_s > _COMMIT_S:
        shown = state.navigations
        if not await attachment.condition.wait(
            lambda: (
                state.navigations > shown
                or loader_id in state.failures
                or (state.main is not None and state.main.loader_id == loader_id)
            ),
            timeout_s=_COMMIT_S,
        ):
            raise CommitTimedOut(url, loader_id)
    await wait_loaded(attachment, loader_id, wait_until, deadline, url)


async def wait_loaded(
    attachment: Attachment, loader_id: str, wait_until: WaitUntil, deadline: Deadline, url: str
) -> None:
    """Wait until the main frame shows `loader_id`, or a document that replaced it, and has reached `wait_until`."""
    state = attachment.state
    started = state.navigations

    def there() -> bool:
        main = state.main
        if main is None or loader_id in state.failures:
            return loader_id in state.failures
        replaced = main.loader_id != loader_id and state.navigations > started
        # A document that navigates while it loads gets no load event if that navigation is refused.
        if attachment.refused_navigations and main.loader_id == loader_id and "networkIdle" in main.lifecycle:
            return True
        return (main.loader_id == loader_id or replaced) and has_reached(main, wait_until)

    if not await attachment.condition.wait(there, timeout_s=deadline.remaining_s):
        raise DeadlineExceeded(f"{wait_until} of {url}", deadline.timeout_s, _progress(attachment, loader_id))
    failure = state.failures.get(loader_id)
    if failure and not (state.main and state.main.loader_id == loader_id):
        await _failure_shown(attachment, failure, started, deadline)
        raise navigation_failed(url, failure)


async def _failure_shown(attachment: Attachment, net_error: str, before: int, deadline: Deadline) -> None:
    """Wait for the browser's error page; `before` counts the documents until then.

    The failure is reported while the error page is still on its way, in another renderer. A command sent now would
    reach the old document, which no longer answers although it does not hang.
    """
    if net_error == "net::ERR_ABORTED":  # the old document stays
        return
    state = attachment.state
    with suppress(BridgeError):
        await attachment.condition.wait(
            lambda: state.navigations > before, timeout_s=min(_COMMIT_S, deadline.remaining_s)
        )


def has_reached(frame: Frame, wait_until: WaitUntil) -> bool:
    return wait_until == "commit" or _LIFECYCLE[wait_until] in frame.lifecycle


def _progress(attachment: Attachment, loader_id: str) -> str:
    state = attachment.state
    main = state.main
    if main is None or main.loader_id != loader_id:
        return "the server has not sent the document yet"
    waiting = [request.url for request in state.requests.values()]
    seen = ", ".join(sorted(main.lifecycle & set(_LIFECYCLE.values()))) or "document committed"
    return f"{seen}; {len(waiting)} requests pending" + (f", such as {waiting[0][:120]}" if waiting else "")


async def _send_and_wait(
    attachment: Attachment,
    method: str,
    params: Mapping[str, object],
    wait_until: WaitUntil,
    url: str,
    deadline: Deadline,
) -> None:
    """Send a command whose reply does not name the new document, and wait for the commit that follows."""
    checked_wait(wait_until)
    state = attachment.state
    navigations, moves, failed = state.navigations, state.moves_within, state.main_failure_count
    await attachment.call(method, params, timeout_s=deadline.remaining_s)

    def there() -> bool:
        if state.moves_within > moves or state.main_failure_count > failed:
            return True
        main = state.main
        return state.navigations > navigations and main is not None and has_reached(main, wait_until)

    try:
        arrived = await attachment.condition.wait(there, timeout_s=deadline.remaining_s)
    finally:
        if state.navigations == navigations and state.main_failure_count == failed and state.navigating_to:
            await stop_loading(attachment)
    if not arrived:
        main = state.main
        seen = _progress(attachment, main.loader_id) if main and state.navigations > navigations else ""
        raise DeadlineExceeded(f"{wait_until} of {url}", deadline.timeout_s, seen or "no response from the server yet")
    if state.navigations == navigations and state.main_failure_count > failed:
        failure = next(reversed(state.failures.values()), "net::ERR_FAILED")
        await _failure_shown(attachment, failure, navigations, deadline)
        raise navigation_failed(url, failure)


def checked_wait(wait_until: WaitUntil) -> None:
    if wait_until not in get_args(WaitUntil):
        raise UsageError(f"wait_until={wait_until!r}", hint=f"Use one of {', '.join(get_args(WaitUntil))}.")
