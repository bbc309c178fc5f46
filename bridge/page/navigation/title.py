"""The title of a document that a navigation reached."""

from __future__ import annotations

from contextlib import suppress

from bridge.deadline import Deadline
from bridge.errors import BridgeError, DeadlineExceeded, ExecutionContextDestroyed
from bridge.page.navigation.history import current_entry
from bridge.page.target.attachment import Attachment
from bridge.page.target.title_binding import MILESTONES

# The document reports its title together with a milestone, one turn of its event loop later at most.
_REPORT_S = 0.6
_TITLE_S = 1.0


async def document_title(attachment: Attachment, milestone: str, old_document: str) -> str | None:
    """The title as the new document reported it at `milestone`, else as it evaluates now.

    None if the page navigated on, or its script keeps the main thread busy.

    Args:
        milestone: A lifecycle event of Chromium, or "" for a navigation that waited for none.
        old_document: `TitleBinding.document` before the navigation.
    """
    reported = await _reported_title(attachment, milestone, old_document)
    return reported if reported is not None else await _evaluated_title(attachment)


async def _reported_title(attachment: Attachment, milestone: str, old_document: str) -> str | None:
    titles = attachment.titles
    if milestone not in MILESTONES or titles.document in ("", old_document):
        return None
    if not await attachment.condition.wait(lambda: titles.is_reported(milestone), timeout_s=_REPORT_S):
        return None
    main = attachment.state.main
    attachment.check_shown(main.address if main else "")
    return titles.at(milestone)


async def _evaluated_title(attachment: Attachment) -> str | None:
    """`document.title`; from the history, if the page does not answer."""
    main = attachment.state.main
    try:
        async with Deadline.after(_TITLE_S).bound("the title"):
            found = await attachment.evaluate(main.frame_id if main else "", "document.title", timeout_s=_TITLE_S)
    except DeadlineExceeded:
        with suppress(BridgeError):
            url, title = await current_entry(attachment, Deadline.after(_TITLE_S))
            return title if main and url == main.url and title != url else None
        return None
    except ExecutionContextDestroyed:
        return None
    return str(found or "")
