"""Leaves a document that may hang: probes it while the next document is being fetched.

Interception holds back the request for the next document until the old one has responded, so the probe costs no extra
round trip. A document that does not respond is recovered before the next one replaces it.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from bridge.deadline import Deadline, finish
from bridge.errors import DeadlineExceeded, TransportError
from bridge.page.navigation.errors import EndlessDialogs
from bridge.page.recovery.hang_recovery import can_unload, unblock_navigation
from bridge.page.target.attachment import Attachment

# More dialogs than this during recovery: the script opens them without end.
_ENDLESS_DIALOGS = 20
# With the time that hang recovery takes, an operation is over soon after its deadline.
_STOP_S = 0.4


def can_probe_during_fetch(attachment: Attachment, *, is_fetched: bool) -> bool:
    """True if the request for the next document can be held back until the old document has responded.

    Args:
        is_fetched: The next document is requested from a server.
    """
    # A page that opens dialogs may do so without end, and a navigation would wait behind them.
    has_dialogs = attachment.state.dialog is not None or attachment.dialogs.has_unreported
    return attachment.state.main is not None and is_fetched and attachment.fetching.sees_all and not has_dialogs


def probe_old_document(attachment: Attachment, deadline: Deadline) -> asyncio.Future[bool]:
    """Probe the old document. Send this before the navigation: during one, the browser process holds back messages to
    the renderer."""
    return asyncio.ensure_future(can_unload(attachment, deadline, is_leaving=True))


async def old_document_responds(
    attachment: Attachment, answering: asyncio.Future[bool], moving: asyncio.Future[Any]
) -> bool:
    """Wait until the old document has responded or the navigation is over. If the document hangs, cancel the navigation
    and return False."""
    main = attachment.state.main
    assert main is not None
    try:
        with attachment.fetching.holding_document(main.frame_id) as held:
            await asyncio.wait((moving, answering), return_when=asyncio.FIRST_COMPLETED)
            if moving.done() or answering.result():
                return True
            held.is_given_up = True
            moving.cancel()
            await asyncio.wait((moving,))
            await stop_loading(attachment)
            return False
    finally:
        answering.cancel()
        await asyncio.gather(answering, return_exceptions=True)


async def recover_document(attachment: Attachment, deadline: Deadline, *, may_detour: bool) -> str:
    """Unblock the navigation away from a hung document; returns a notice of what was done, or "".

    Args:
        may_detour: See `hang_recovery.unblock_navigation`.

    Raises:
        EndlessDialogs: Only killing its renderer stops it.
    """
    dialogs_before = attachment.dialogs.count
    notice = await unblock_navigation(attachment, deadline, may_detour=may_detour)
    if (
        notice
        and not may_detour
        and attachment.dialogs.count > dialogs_before
        and not await can_unload(attachment, deadline)
    ):
        notice = ""
    if not notice and attachment.dialogs.count - dialogs_before > _ENDLESS_DIALOGS:
        raise EndlessDialogs
    return notice


async def stop_loading(attachment: Attachment) -> None:
    """Cancel the navigation in progress, if any. The current document stays."""
    with suppress(DeadlineExceeded, TransportError):
        await finish(attachment.call("Page.stopLoading", timeout_s=_STOP_S), at_most_s=_STOP_S, what="stopping")
