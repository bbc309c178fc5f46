"""Going somewhere and knowing when one is there.

What `goto` waits for, on a link on which everything else takes no time:

    we send                              the tab sends                                    waits
    Runtime.evaluate "1", Page.navigate  what was evaluated, Fetch.requestPaused              1
    Fetch.continueRequest                Page.frameNavigated, webviewBridgeTitle, load        1, and the server's

The evaluation says whether the old document lets go (`departure.py`); without interception it is waited for before
anything else, one more. A title that was not told (`titles.py`) is asked for at the end, one more. `cost.round_trips`
counts what an operation's own commands wait for: the decision about the request is not among them.

On adb a stream's next packet waits until the one before has been taken, and what gathers meanwhile goes as one: the
first of several messages leaves alone, and those behind it a round trip of the cable later. That happens twice here, so
a load whose server is behind `adb reverse` takes five: the command goes there (0.5), Page.frameStartedNavigating ahead
of what was evaluated and Fetch.requestPaused (1.5), the decision goes there (0.5), the device asks the server (1), and
the document's first event goes ahead of the others (1.5). The title, told before the load (`titles.py`), adds nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Literal, get_args
from urllib.parse import urlsplit

from bridge.deadline import Deadline, finish
from bridge.errors import BridgeError, DeadlineExceeded, NavigationFailed, TransportError, UsageError
from bridge.page.target.attachment import Attachment
from bridge.page.target.frames import Frame
from bridge.page.target.title_binding import MILESTONES
from bridge.snapshot.address import shown_url

# What the renderer has been given to show is a document at once, unless the script of the one before keeps the thread.
_COMMIT_S = 5.0

WaitUntil = Literal["commit", "domcontentloaded", "load", "networkidle"]
# Chromium's lifecycle names; "commit" is the moment the frame has the new loader.
_LIFECYCLE = {"domcontentloaded": "DOMContentLoaded", "load": "load", "networkidle": "networkIdle"}
# What begins with a scheme (URL §4.1); without "//" it may also be a host with a port, but for those that have no host.
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://|(about|data|javascript|blob|view-source):", re.IGNORECASE)
# For the command to be taken; with the ladder's two seconds a deadline is over in time (bridge/page/ladder.py).
_STOP_S = 0.4
# What comes along with a milestone, a turn of the page's event loop later.
_TOLD_S = 0.6
_HINTS = {
    "net::ERR_NAME_NOT_RESOLVED": "Check the host name; the device itself resolves it.",
    "net::ERR_CONNECTION_REFUSED": "Nothing listens there on the device; a server on this machine needs --local PORT.",
    "net::ERR_INTERNET_DISCONNECTED": "The device has no network.",
    "net::ERR_CLEARTEXT_NOT_PERMITTED": "The installed host app does not allow plain http: reinstall it.",
    "net::ERR_INVALID_AUTH_CREDENTIALS": "The server asks who you are: set_http_credentials answers it.",
    "net::ERR_ABORTED": "The address may start a download, lead to another app, or answer with nothing to show.",
}


class NotLetGo(BridgeError):
    """The document that is being left keeps the thread which is to put the new one, `loader_id`, in place."""

    code = "not_let_go"

    def __init__(self, url: str, loader_id: str) -> None:
        super().__init__(f"the document before {url} does not let go of its thread")
        self.url = url
        self.loader_id = loader_id


def checked_url(url: str) -> str:
    """`url` with https:// before a bare host name.

    Raises:
        UsageError: It is empty or has no host.
    """
    if not isinstance(url, str):
        raise UsageError(f"the address is {url!r}; it must be a string.")
    text = url.strip()
    if not text or any(ord(character) < 0x20 for character in text):
        raise UsageError(f"{url[:200]!r} is no URL", hint="Write it as https://example.com/.")
    if not _SCHEME.match(text):
        text = f"https://{text}"
    try:
        host = urlsplit(text).netloc
    except ValueError as error:
        raise UsageError(f"{url[:200]!r} is no URL: {error}") from error
    if text.startswith(("http://", "https://")) and not host:
        raise UsageError(f"{url[:200]!r} has no host", hint="Write it as https://example.com/.")
    return text


def navigation_failed(url: str, net_error: str) -> NavigationFailed:
    """The error with the hint that belongs to Chromium's net error."""
    return NavigationFailed(url, net_error, hint=_HINTS.get(net_error, ""))


def checked_wait(wait_until: WaitUntil) -> None:
    if wait_until not in get_args(WaitUntil):
        raise UsageError(f"wait_until={wait_until!r}", hint=f"One of {', '.join(get_args(WaitUntil))}.")


async def go(attachment: Attachment, url: str, wait_until: WaitUntil, deadline: Deadline) -> None:
    """Navigate the top frame.

    Raises:
        NavigationFailed: With Chromium's net error.
        NotLetGo: The response is there and the old document hangs; no command reaches it any more.
        DeadlineExceeded: What `wait_until` names did not happen in time; says how far the page came.
    """
    checked_wait(wait_until)
    state = attachment.state
    state.certificate_errors.clear()
    before = state.navigations
    try:
        reply = await attachment.call("Page.navigate", {"url": url}, timeout_s=deadline.remaining_s)
    except DeadlineExceeded as error:
        # The server has not answered: leave the page as it is instead of letting the answer arrive later.
        await give_up(attachment)
        raise deadline.exceeded(f"opening {url}", "no answer from the server yet") from error
    net_error = reply.get("errorText")
    if net_error:
        if net_error == "net::ERR_ABORTED" and state.certificate_errors:
            net_error = state.certificate_errors[-1]  # we were asked about it, and cancelled
        await _failure_shown(attachment, net_error, before, deadline)
        raise NavigationFailed(url, net_error, hint=_HINTS.get(net_error, ""))
    loader_id = reply.get("loaderId")
    if not loader_id:
        return
    if deadline.remaining_s > _COMMIT_S:
        shown = state.navigations
        if not await attachment.watch.wait(
            lambda: (
                state.navigations > shown
                or loader_id in state.failures
                or (state.main is not None and state.main.loader_id == loader_id)
            ),
            timeout_s=_COMMIT_S,
        ):
            raise NotLetGo(url, loader_id)
    await wait_loaded(attachment, loader_id, wait_until, deadline, url)


async def wait_loaded(
    attachment: Attachment, loader_id: str, wait_until: WaitUntil, deadline: Deadline, url: str
) -> None:
    """Wait until the top frame shows `loader_id`, or a document that replaced it, as far as `wait_until` says."""
    state = attachment.state
    started = state.navigations

    def there() -> bool:
        main = state.main
        if main is None or loader_id in state.failures:
            return loader_id in state.failures
        replaced = main.loader_id != loader_id and state.navigations > started
        return (main.loader_id == loader_id or replaced) and _has_reached(main, wait_until)

    if not await attachment.watch.wait(there, timeout_s=deadline.remaining_s):
        raise DeadlineExceeded(f"{wait_until} of {url}", deadline.timeout_s, _progress(attachment, loader_id))
    failure = state.failures.get(loader_id)
    if failure and not (state.main and state.main.loader_id == loader_id):
        await _failure_shown(attachment, failure, started, deadline)
        raise NavigationFailed(url, failure, hint=_HINTS.get(failure, ""))


async def _failure_shown(attachment: Attachment, net_error: str, before: int, deadline: Deadline) -> None:
    """Wait for the page that the browser shows in the place of one that failed; `before`: the documents until then.

    What failed is told of while that page is on its way, in a renderer of its own: whoever spoke to the tab now would
    speak to the document before it, which does not answer any more and does not hang.
    """
    if net_error == "net::ERR_ABORTED":  # what was shown stays
        return
    state = attachment.state
    with suppress(BridgeError):
        await attachment.watch.wait(lambda: state.navigations > before, timeout_s=min(_COMMIT_S, deadline.remaining_s))


def _has_reached(frame: Frame, wait_until: WaitUntil) -> bool:
    return wait_until == "commit" or _LIFECYCLE[wait_until] in frame.lifecycle


def check_arrived(attachment: Attachment) -> None:
    """Raise when the browser shows a page of its own instead: the document that was opened has gone on from there.

    Raises:
        PolicyRefused: It went where it may not.
        NavigationFailed: What it went to cannot be loaded.
    """
    state = attachment.state
    if state.main is None or not state.main.unreachable_url:
        return
    attachment.check_shown(state.main.address)
    raise navigation_failed(state.main.unreachable_url, state.failures.get(state.main.loader_id, "net::ERR_FAILED"))


async def told_title(attachment: Attachment, wait_until: WaitUntil, left: str) -> str | None:
    """The title as a document other than `left` (`Titles.document`) tells it; None where it has to be asked for."""
    titles, milestone = attachment.titles, _LIFECYCLE.get(wait_until, "")
    if milestone not in MILESTONES or titles.document in ("", left):
        return None
    if not await attachment.watch.wait(lambda: titles.is_told(milestone), timeout_s=_TOLD_S):
        return None
    main = attachment.state.main
    attachment.check_shown(main.address if main else "")
    return titles.at(milestone)


def _progress(attachment: Attachment, loader_id: str) -> str:
    state = attachment.state
    main = state.main
    if main is None or main.loader_id != loader_id:
        return "the server has not sent the document yet"
    waiting = [request.url for request in state.requests.values()]
    seen = ", ".join(sorted(main.lifecycle & set(_LIFECYCLE.values()))) or "document committed"
    return f"{seen}; {len(waiting)} requests pending" + (f", such as {waiting[0][:120]}" if waiting else "")


async def reload(attachment: Attachment, wait_until: WaitUntil, deadline: Deadline, *, ignore_cache: bool) -> None:
    """Load the document again. Raises as `go`."""
    url = attachment.state.main.url if attachment.state.main else ""
    await _move(attachment, "Page.reload", {"ignoreCache": ignore_cache}, wait_until, url, deadline)


async def history_entry(attachment: Attachment, steps: int, *, timeout_s: float) -> tuple[int, str]:
    """Number and address of the entry that many steps from the present one.

    Raises:
        UsageError: There is none. The blank page that a tab starts with does not count.
    """
    history = await attachment.call("Page.getNavigationHistory", timeout_s=timeout_s)
    entries, current = history["entries"], int(history["currentIndex"])
    wanted = current + steps
    first = 1 if entries and str(entries[0].get("url", "")).startswith("about:blank") else 0
    if not first <= wanted < len(entries):
        way, count = "back" if steps < 0 else "forward", len(entries) - first
        raise UsageError(
            f"there is nothing to go {way} to: this is page {current - first + 1} of {count} in the history"
        )
    return int(entries[wanted]["id"]), str(entries[wanted].get("url", ""))


async def present_entry(attachment: Attachment, *, timeout_s: float) -> tuple[str, str]:
    """Address and title of the page that is shown, by the browser's history."""
    history = await attachment.call("Page.getNavigationHistory", timeout_s=timeout_s)
    entry = history["entries"][int(history["currentIndex"])]
    return shown_url(str(entry.get("url", ""))), shown_url(str(entry.get("title", "")))  # its title may be its address


async def go_to_entry(
    attachment: Attachment, entry_id: int, url: str, wait_until: WaitUntil, deadline: Deadline
) -> None:
    """Show an entry of the history. Raises as `go`."""
    params = {"entryId": entry_id}
    await _move(attachment, "Page.navigateToHistoryEntry", params, wait_until, url, deadline)


async def stop(attachment: Attachment, *, timeout_s: float) -> None:
    """Stop loading; what has arrived stays."""
    await attachment.call("Page.stopLoading", timeout_s=timeout_s)


async def _move(
    attachment: Attachment,
    method: str,
    params: Mapping[str, object],
    wait_until: WaitUntil,
    url: str,
    deadline: Deadline,
) -> None:
    """Send a command whose reply does not tell where it led, and wait for the commit that follows."""
    checked_wait(wait_until)
    state = attachment.state
    navigations, moves, failed = state.navigations, state.moves_within, state.main_failure_count
    await attachment.call(method, params, timeout_s=deadline.remaining_s)

    def there() -> bool:
        if state.moves_within > moves or state.main_failure_count > failed:
            return True
        main = state.main
        return state.navigations > navigations and main is not None and _has_reached(main, wait_until)

    try:
        arrived = await attachment.watch.wait(there, timeout_s=deadline.remaining_s)
    finally:
        if state.navigations == navigations and state.main_failure_count == failed and state.navigating_to:
            await give_up(attachment)
    if not arrived:
        main = state.main
        seen = _progress(attachment, main.loader_id) if main and state.navigations > navigations else ""
        raise DeadlineExceeded(f"{wait_until} of {url}", deadline.timeout_s, seen or "no answer from the server yet")
    if state.navigations == navigations and state.main_failure_count > failed:
        failure = next(reversed(state.failures.values()), "net::ERR_FAILED")
        await _failure_shown(attachment, failure, navigations, deadline)
        raise NavigationFailed(url, failure, hint=_HINTS.get(failure, ""))


async def give_up(attachment: Attachment) -> None:
    """Cancel a navigation that is under way, if there is one; what is shown stays."""
    with suppress(DeadlineExceeded, TransportError):
        await finish(attachment.call("Page.stopLoading", timeout_s=_STOP_S), at_most_s=_STOP_S, what="stopping")
