"""The title of the main document, reported by the document itself at a milestone. Evaluating it costs a round trip.

Our execution context reports it through a binding that no other context has (`Runtime.addBinding`,
`executionContextName`). The report comes from the last of the event's listeners, after the page's own may have changed
the title, and before the browser reports the milestone, so both travel in the same packet.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from bridge.page.target.page_state import PageState
from bridge.snapshot.injected import script_call

MILESTONES = ("DOMContentLoaded", "load")
_BINDING = "webviewBridgeTitle"
# A longer title is evaluated instead; so is one that is not text because an element of the page has that name.
_MAX_CHARS = 2_000
#: Runs in every document after the injected script.
REPORT_TITLE = script_call("reportTitles", _BINDING, _MAX_CHARS)
#: Has a document report its title that was there before the binding.
REPORT_NOW = script_call("reportTitle")


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
        self._latest: str | None = None

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
            self._key, self._reported, self._latest = context.key, {}, None
        self._latest = title if title is not None else self._latest
        self._reported[milestone] = title
        return True

    def is_reported(self, milestone: str) -> bool:
        """True if the document has reported this milestone."""
        return milestone in self._reported and self.document == self._key

    @property
    def latest(self) -> str:
        """The title that the document reported last; "" if it has reported none."""
        return (self._latest or "") if self.document == self._key else ""

    def at(self, milestone: str) -> str | None:
        """The title; None if it was not reported."""
        return self._reported[milestone] if self.is_reported(milestone) else None
