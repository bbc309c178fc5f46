"""The title of the top document, told by the document as it comes to a milestone: asking then would be one more wait.

Told from our own world through a binding that exists in no other (`Runtime.addBinding`, `executionContextName`), by the
last of the event's listeners, so that what the page's own have made of the title is in it: said before the browser says
that the milestone is reached, it travels in the same packet. A page that stops the event is heard a turn later.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from bridge.page.target.page_state import PageState

MILESTONES = ("DOMContentLoaded", "load")
_BINDING = "webviewBridgeTitle"
# What is longer, or no text because an element of the page goes by that name, is asked for.
_MAX_CHARS = 2_000
# Whoever is added just before an event stands behind all that the page has added: DOMContentLoaded passes the window on
# its way down to the document, and the document is "complete" right before the window's own `load` (HTML §13.2.7).
SOURCE = (
    "if(self===top)for(const[milestone,before]of[['DOMContentLoaded','DOMContentLoaded'],['load','readystatechange']]){"
    "let told=false;"
    "const tell=event=>{if(told||event&&!event.isTrusted)return;told=true;const title=document.title;"
    f"{_BINDING}(JSON.stringify([milestone,typeof title==='string'&&title.length<={_MAX_CHARS}?title:null]))}};"
    "addEventListener(milestone,event=>{if(event.isTrusted){told=false;setTimeout(tell)}},true);"
    "addEventListener(before,event=>{if(event.isTrusted&&(before===milestone||document.readyState==='complete'))"
    "addEventListener(milestone,tell)},true)}"
)


def binding_command(world_name: str) -> tuple[str, dict[str, Any]]:
    """What lets documents tell; `Runtime.disable` undoes it."""
    return "Runtime.addBinding", {"name": _BINDING, "executionContextName": world_name}


class TitleBinding:
    """What the top frame's present document has told of its title, by milestone."""

    def __init__(self, state: PageState, world_name: str) -> None:
        self._state = state
        self._world_name = world_name
        self._key = ""
        self._told: dict[str, str | None] = {}

    @property
    def document(self) -> str:
        """A key of the document that is shown, "" where our script is not in it."""
        world = self._state.world_of(self._state.main_frame_id or "", self._world_name)
        return world.key if world is not None else ""

    def take_event(self, method: str, params: Mapping[str, Any], session_id: str | None) -> bool:
        """Called by the reader for the events that the state is not made of; whether this told a title."""
        if method != "Runtime.bindingCalled" or params.get("name") != _BINDING or session_id is not None:
            return False
        world = self._state.worlds.get((None, params.get("executionContextId", 0)))
        # An engine that does not know `executionContextName` gives the binding to the page as well.
        if world is None or world.name != self._world_name or world.frame_id != self._state.main_frame_id:
            return False
        milestone, title = json.loads(params["payload"])
        if world.key != self._key:
            self._key, self._told = world.key, {}
        self._told[milestone] = title
        return True

    def is_told(self, milestone: str) -> bool:
        """The document that is shown has come to the milestone, and said so."""
        return milestone in self._told and self.document == self._key

    def at(self, milestone: str) -> str | None:
        """None where it was not told, or cannot be: whoever needs it asks."""
        return self._told[milestone] if self.is_told(milestone) else None
