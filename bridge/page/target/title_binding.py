"""The title of the main document, reported by the document itself at a milestone. Evaluating it costs a round trip.

Our execution context reports it through a binding that no other context has (`Runtime.addBinding`,
`executionContextName`). The report comes from the last of the event's listeners, after the page's own may have changed
the title, and before the browser reports the milestone, so both travel in the same packet. If the page stops the event,
the report follows one turn later.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from bridge.page.target.page_state import PageState

MILESTONES = ("DOMContentLoaded", "load")
_BINDING = "webviewBridgeTitle"
# A longer title is evaluated instead; so is one that is not text because an element of the page has that name.
_MAX_CHARS = 2_000
# A listener added just before an event comes after all listeners of the page: DOMContentLoaded passes the window on its
# way down to the document, and the document is "complete" right before the window's `load` (HTML §13.2.7).
SOURCE = (
    "if(self===top)for(const[milestone,before]of[['DOMContentLoaded','DOMContentLoaded'],['load','readystatechange']]){"
    "let reported=false;"
    "const report=event=>{if(reported||event&&!event.isTrusted)return;reported=true;const title=document.title;"
    f"{_BINDING}(JSON.stringify([milestone,typeof title==='string'&&title.length<={_MAX_CHARS}?title:null]))}};"
    "addEventListener(milestone,event=>{if(event.isTrusted){reported=false;setTimeout(report)}},true);"
    "addEventListener(before,event=>{if(event.isTrusted&&(before===milestone||document.readyState==='complete'))"
    "addEventListener(milestone,report)},true)}"
)


def binding_command(world_name: str) -> tuple[str, dict[str, Any]]:
    """The command that adds the binding; `Runtime.disable` removes it."""
    return "Runtime.addBinding", {"name": _BINDING, "executionContextName": world_name}


class TitleBinding:
    """The titles that the main document has reported, by milestone."""

    def __init__(self, state: PageState, world_name: str) -> None:
        self._state = state
        self._context_name = world_name
        self._key = ""
        self._reported: dict[str, str | None] = {}

    @property
    def document(self) -> str:
        """A key of the document; "" if our script is not in it."""
        context = self._state.context_of(self._state.main_frame_id or "", self._context_name)
        return context.key if context is not None else ""

    def take_event(self, method: str, params: Mapping[str, Any], session_id: str | None) -> bool:
        """Called by the reader task for events that the state does not depend on; True if it reported a title."""
        if method != "Runtime.bindingCalled" or params.get("name") != _BINDING or session_id is not None:
            return False
        context = self._state.contexts.get((None, params.get("executionContextId", 0)))
        # An engine that does not know `executionContextName` gives the binding to the page as well.
        if context is None or context.name != self._context_name or context.frame_id != self._state.main_frame_id:
            return False
        milestone, title = json.loads(params["payload"])
        if context.key != self._key:
            self._key, self._reported = context.key, {}
        self._reported[milestone] = title
        return True

    def is_reported(self, milestone: str) -> bool:
        """True if the document has reported this milestone."""
        return milestone in self._reported and self.document == self._key

    def at(self, milestone: str) -> str | None:
        """The title; None if it was not reported."""
        return self._reported[milestone] if self.is_reported(milestone) else None
