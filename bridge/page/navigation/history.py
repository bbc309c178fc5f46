"""The history of a tab, as the browser process keeps it."""

from __future__ import annotations

from bridge.deadline import Deadline
from bridge.errors import UsageError
from bridge.page.target.attachment import Attachment
from bridge.snapshot.address import shown_url


async def current_entry(attachment: Attachment, deadline: Deadline) -> tuple[str, str]:
    """Address and title of the current entry."""
    history = await attachment.call("Page.getNavigationHistory", timeout_s=deadline.remaining_s)
    entry = history["entries"][int(history["currentIndex"])]
    # A page without a title has its address as title.
    return shown_url(str(entry.get("url", ""))), shown_url(str(entry.get("title", "")))


async def entry_at(attachment: Attachment, steps: int, deadline: Deadline) -> tuple[int, str]:
    """Id and address of the entry `steps` away from the current one; negative steps go back.

    Raises:
        UsageError: There is no such entry. The blank page that a tab starts with does not count.
    """
    history = await attachment.call("Page.getNavigationHistory", timeout_s=deadline.remaining_s)
    entries, current = history["entries"], int(history["currentIndex"])
    wanted = current + steps
    first = 1 if entries and str(entries[0].get("url", "")).startswith("about:blank") else 0
    if not first <= wanted < len(entries):
        way, count = "back" if steps < 0 else "forward", len(entries) - first
        raise UsageError(f"cannot go {way}: this is page {current - first + 1} of {count} in the history")
    return int(entries[wanted]["id"]), str(entries[wanted].get("url", ""))
