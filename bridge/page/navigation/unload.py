"""Leaving a document: one that hangs is unblocked before its successor waits for it (`unblock_navigation`).

Whether it hangs is asked while the successor is being fetched already, where interception can hold that back: the
question then costs no round trip of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from bridge.deadline import Deadline
from bridge.page.navigation.navigate import give_up
from bridge.page.recovery.hang_recovery import can_unload, unblock_navigation
from bridge.page.target.attachment import Attachment

Move = Callable[[Attachment, Deadline], Awaitable[None]]

# Dialogs that a script goes on opening while it is told to end: not the last ones before it does.
_STORM = 20


class AsksForEver(Exception):
    """Dialog after dialog, and nothing ends the script: the document is not to be left with one of them open.

    Chromium 156 then aborts altogether (`bad_variant_access`) when the dialog's tab is closed or let go of.
    """


async def depart(
    attachment: Attachment,
    move: Move,
    deadline: Deadline,
    *,
    is_fetched: bool,
    may_detour: bool,
    tell: Callable[[str], None],
) -> None:
    """Leave the document and make the move.

    Raises:
        AsksForEver: Its renderer has to be killed first; no move was made.

    Args:
        move: Given up and begun anew where the old document turns out to hang.
        is_fetched: It leads to a document that is asked of a server, so that interception sees it.
        may_detour: As of `hang_recovery.unblock_navigation`.
        tell: Takes what was done to the document that was left.
    """
    main = attachment.state.main
    # A page that opens dialogs may do so without end, and a navigation would wait behind them.
    has_dialogs = attachment.state.dialog is not None or attachment.dialogs.has_untold
    if main is None or not is_fetched or has_dialogs or not attachment.fetching.sees_all:
        if not await can_unload(attachment, deadline):
            await _climb_out(attachment, deadline, may_detour=may_detour, tell=tell)
        await move(attachment, deadline)
        return
    # In this order on the wire: with a navigation under way the browser keeps back what is meant for the renderer.
    asking = asyncio.ensure_future(can_unload(attachment, deadline, is_leaving=True))
    moving = asyncio.ensure_future(move(attachment, deadline))
    try:
        with attachment.fetching.holding_document(main.frame_id) as held:
            await asyncio.wait((moving, asking), return_when=asyncio.FIRST_COMPLETED)
            if moving.done() or asking.result():
                hangs = False
            else:
                hangs = held.is_given_up = True
                moving.cancel()
                await asyncio.wait((moving,))
                await give_up(attachment)
        if not hangs:
            await moving
            return
    finally:
        moving.cancel()
        asking.cancel()
        await asyncio.gather(moving, asking, return_exceptions=True)
    await _climb_out(attachment, deadline, may_detour=may_detour, tell=tell)
    await move(attachment, deadline)


async def _climb_out(
    attachment: Attachment, deadline: Deadline, *, may_detour: bool, tell: Callable[[str], None]
) -> None:
    asked_before = attachment.dialogs.count
    freed = await unblock_navigation(attachment, deadline, may_detour=may_detour)
    if (
        freed
        and not may_detour
        and attachment.dialogs.count > asked_before
        and not await can_unload(attachment, deadline)
    ):
        freed = ""
    if not freed and attachment.dialogs.count - asked_before > _STORM:
        raise AsksForEver
    if freed:
        tell(freed)
