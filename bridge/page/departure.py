"""Leaving a document: the one that hangs is freed before its successor waits for it (see `ladder.let_go`).

Whether it hangs is asked while the successor is being fetched already, where interception can hold that back: the
question then costs no round trip of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from bridge.deadline import Deadline
from bridge.page.attachment import Attachment
from bridge.page.ladder import climb_out, let_go, lets_go
from bridge.page.navigation import give_up

Move = Callable[[Attachment, Deadline], Awaitable[None]]


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

    Args:
        move: Given up and begun anew where the old document turns out to hang.
        is_fetched: It leads to a document that is asked of a server, so that interception sees it.
        may_detour: As of `ladder.let_go`.
        tell: Takes what was done to the document that was left.
    """
    main = attachment.state.main
    # A page that opens dialogs may do so without end, and a navigation would wait behind them.
    has_dialogs = attachment.state.dialog is not None or attachment.dialogs.has_untold
    if main is None or not is_fetched or has_dialogs or not attachment.fetching.sees_all:
        if freed := await let_go(attachment, deadline, may_detour=may_detour):
            tell(freed)
        await move(attachment, deadline)
        return
    # In this order on the wire: with a navigation under way the browser keeps back what is meant for the renderer.
    asking = asyncio.ensure_future(lets_go(attachment, deadline, is_leaving=True))
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
    if freed := await climb_out(attachment, deadline, may_detour=may_detour):
        tell(freed)
    await move(attachment, deadline)
