"""Going somewhere and knowing when one is there."""

from __future__ import annotations

import asyncio
from typing import Literal, get_args
from urllib.parse import urlsplit

from bridge.deadline import Deadline
from bridge.errors import DeadlineExceeded, NavigationFailed, UsageError
from bridge.page.attachment import Attachment
from bridge.page.state import Frame

WaitUntil = Literal["commit", "domcontentloaded", "load", "networkidle"]
# Chromium's lifecycle names; "commit" is the moment the frame has the new loader.
_LIFECYCLE = {"domcontentloaded": "DOMContentLoaded", "load": "load", "networkidle": "networkIdle"}
_HINTS = {
    "net::ERR_NAME_NOT_RESOLVED": "Check the host name; the device itself resolves it.",
    "net::ERR_CONNECTION_REFUSED": "Nothing listens there on the device; a server on this machine needs --local PORT.",
    "net::ERR_INTERNET_DISCONNECTED": "The device has no network.",
    "net::ERR_CLEARTEXT_NOT_PERMITTED": "The installed host app does not allow plain http: reinstall it.",
    "net::ERR_ABORTED": "The address may start a download, or answer with nothing to show.",
}


def checked_url(url: str) -> str:
    """`url` with https:// before a bare host name.

    Raises:
        UsageError: It is empty or has no host.
    """
    text = url.strip()
    if not text or any(ord(character) < 0x20 for character in text):
        raise UsageError(f"{url[:200]!r} is no URL", hint="Write it as https://example.com/.")
    if "://" not in text and not text.startswith(("about:", "data:", "javascript:", "blob:", "view-source:")):
        text = f"https://{text}"
    try:
        host = urlsplit(text).netloc
    except ValueError as error:
        raise UsageError(f"{url[:200]!r} is no URL: {error}") from error
    if text.startswith(("http://", "https://")) and not host:
        raise UsageError(f"{url[:200]!r} has no host", hint="Write it as https://example.com/.")
    return text


async def go(attachment: Attachment, url: str, wait_until: WaitUntil, *, timeout_s: float) -> str:
    """Navigate the top frame; the loader id of the new document.

    Raises:
        NavigationFailed: With Chromium's net error.
        DeadlineExceeded: What `wait_until` names did not happen in time; says how far the page came.
    """
    if wait_until not in get_args(WaitUntil):
        raise UsageError(f"wait_until={wait_until!r}", hint=f"One of {', '.join(get_args(WaitUntil))}.")
    deadline = Deadline.after(timeout_s)
    state = attachment.state
    try:
        reply = await attachment.call("Page.navigate", {"url": url}, timeout_s=deadline.remaining_s)
    except DeadlineExceeded as error:
        # The server has not answered: leave the page as it is instead of letting the answer arrive later.
        await _stop(attachment)
        raise DeadlineExceeded(f"opening {url}", timeout_s, "no answer from the server yet") from error
    net_error = reply.get("errorText")
    if net_error:
        raise NavigationFailed(url, net_error, hint=_HINTS.get(net_error, ""))
    loader_id = reply.get("loaderId")
    if not loader_id:
        return state.main.loader_id if state.main else ""
    await wait_loaded(attachment, loader_id, wait_until, deadline, url)
    return str(loader_id)


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
        raise NavigationFailed(url, failure, hint=_HINTS.get(failure, ""))


def _has_reached(frame: Frame, wait_until: WaitUntil) -> bool:
    return wait_until == "commit" or _LIFECYCLE[wait_until] in frame.lifecycle


def _progress(attachment: Attachment, loader_id: str) -> str:
    state = attachment.state
    main = state.main
    if main is None or main.loader_id != loader_id:
        return "the server has not sent the document yet"
    waiting = [request.url for request in state.requests.values()]
    seen = ", ".join(sorted(main.lifecycle & set(_LIFECYCLE.values()))) or "document committed"
    return f"{seen}; {len(waiting)} requests pending" + (f", such as {waiting[0][:120]}" if waiting else "")


async def _stop(attachment: Attachment) -> None:
    try:
        await asyncio.shield(attachment.call("Page.stopLoading", timeout_s=1.0))
    except DeadlineExceeded:
        return
