"""Waits for the address and the load state of the main frame, from events alone."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from bridge.deadline import Deadline
from bridge.errors import DeadlineExceeded, ExecutionContextDestroyed, ScriptFailed
from bridge.page.navigation.errors import check_arrived
from bridge.page.navigation.navigate import WaitUntil, checked_wait, has_reached
from bridge.page.target.attachment import Attachment
from bridge.page.url_pattern import url_pattern

_READY_STATE_S = 1.0
_REACHED = {
    "interactive": frozenset({"DOMContentLoaded"}),
    "complete": frozenset({"DOMContentLoaded", "load"}),
}
UrlMatch: TypeAlias = str | re.Pattern[str] | Callable[[str], bool]


def url_matcher(wanted: UrlMatch) -> Callable[[str], bool]:
    """A test of addresses; raises UsageError for a pattern that is not valid."""
    return wanted if callable(wanted) else url_pattern(wanted).matches


async def wait_for_url(attachment: Attachment, wanted: UrlMatch, wait_until: WaitUntil, deadline: Deadline) -> None:
    """Wait until the main frame is at an address and has reached `wait_until`.

    Raises:
        DeadlineExceeded: Reports where the main frame is.
        PolicyRefused, NavigationFailed: It navigated there, and the page does not load.
    """
    checked_wait(wait_until)
    matches, state = url_matcher(wanted), attachment.state

    def is_there() -> bool:
        main = state.main
        return main is not None and matches(main.address) and has_reached(main, wait_until)

    await _note_ready_state(attachment, deadline)
    if not await attachment.condition.wait(is_there, timeout_s=deadline.remaining_s):
        main = state.main
        shown = wanted if isinstance(wanted, str) else getattr(wanted, "pattern", "the function")
        where = f"at {main.address}" if main else "no page"
        late = f"; the page has not reached {wait_until}" if main and matches(main.address) else ""
        raise deadline.exceeded(f"waiting for url {shown!r}", where + late)
    check_arrived(attachment)


async def wait_for_load_state(attachment: Attachment, wanted: WaitUntil, deadline: Deadline) -> None:
    """Wait until the document of the main frame has reached a state.

    Raises:
        DeadlineExceeded: Names the address.
    """
    checked_wait(wanted)
    state = attachment.state
    await _note_ready_state(attachment, deadline)
    if not await attachment.condition.wait(
        lambda: state.main is not None and not state.navigating_to and has_reached(state.main, wanted),
        timeout_s=deadline.remaining_s,
    ):
        raise deadline.exceeded(f"waiting for {wanted}", f"at {state.main.address if state.main else 'no page'}")


async def _note_ready_state(attachment: Attachment, deadline: Deadline) -> None:
    """Note the lifecycle events of a document that had them before we attached to it: the browser repeats only some."""
    main = attachment.state.main
    if main is None or "load" in main.lifecycle:
        return
    try:
        found = await attachment.evaluate(
            main.frame_id, "document.readyState", timeout_s=min(_READY_STATE_S, deadline.remaining_s)
        )
    except (DeadlineExceeded, ExecutionContextDestroyed, ScriptFailed):
        return
    if attachment.state.main is main and attachment.state.navigating_to is None:
        main.lifecycle |= _REACHED.get(str(found), frozenset())
