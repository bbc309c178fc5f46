"""Passes a person's touches and keys to the page."""

from __future__ import annotations

import asyncio
from typing import Any

from bridge.errors import BridgeError
from bridge.page.input.keys import opens_popup
from bridge.page.input.touch import touch
from bridge.page.target.attachment import Attachment
from bridge.snapshot.injected import script_call
from bridge.surfaces.live_view.messages import Choice, KeyPress, Text, Touch

_INPUT_S = 5.0
# A tap or key that opens a select or a date input makes WebView show a system dialog, which crashes a process without
# an Activity (BadTokenException; see injected_js/src/checks/pickers.js). The person gets the options of a select
# instead, and a notice for other inputs. Frames are queried one by one, whatever their origin.
_PLACE = "[].indexOf.call(parent,window)"


class TouchInput:
    """Acts on one attachment; `width` and `height` are the viewport's, in CSS pixels."""

    def __init__(self, attachment: Attachment) -> None:
        self._attachment = attachment
        self.width = self.height = 0.0
        self._swallows = False
        self._select_frame_id = ""

    async def act(self, message: Touch | Text | KeyPress | Choice) -> dict[str, Any] | None:
        """Perform the input; returns a message for the viewer, such as the options of a select element."""
        if isinstance(message, Touch):
            return await self._touch(message)
        if isinstance(message, Text):
            await self._attachment.call("Input.insertText", {"text": message.text}, timeout_s=_INPUT_S)
        elif isinstance(message, KeyPress):
            if any(map(opens_popup, message.events)) and (found := await self._focused_picker()) is not None:
                return found
            for event in message.events:
                await self._attachment.call("Input.dispatchKeyEvent", event, timeout_s=_INPUT_S)
        else:
            await self._in_frame(self._select_frame_id, script_call("chooseOffered", message.index))
        return None

    async def _touch(self, message: Touch) -> dict[str, Any] | None:
        x, y = message.x * self.width, message.y * self.height
        if message.phase == "touchStart":
            found = await self._picker_at(x, y)
            self._swallows = found is not None
            if found is not None:
                return found
        if self._swallows:
            return None
        points = [] if message.phase == "touchEnd" else [(x, y)]
        method, params = touch(message.phase, *points)
        await self._attachment.call(method, params, timeout_s=_INPUT_S)
        return None

    async def _focused_picker(self) -> dict[str, Any] | None:
        frame_ids = [frame.frame_id for frame in self._attachment.state.ordered_frames()]
        offers = await asyncio.gather(*(self._in_frame(each, script_call("offerAtFocus")) for each in frame_ids))
        for frame_id, found in zip(frame_ids, offers, strict=True):
            if isinstance(found, dict):
                self._select_frame_id = frame_id
                return found
        return None

    async def _picker_at(self, x: float, y: float) -> dict[str, Any] | None:
        """The control, in any frame, that would open a dialog at a point of the main frame; with its options."""
        state = self._attachment.state
        frame_id = state.main.frame_id if state.main else ""
        while True:
            found = await self._in_frame(frame_id, script_call("offerAt", x, y))
            if not isinstance(found, dict) or "frame" not in found:
                self._select_frame_id = frame_id
                return found if isinstance(found, dict) else None
            children = [frame.frame_id for frame in state.ordered_frames() if frame.parent_id == frame_id]
            places = await asyncio.gather(*(self._in_frame(child, _PLACE) for child in children))
            if found["frame"] not in places:
                return None
            frame_id, x, y = children[places.index(found["frame"])], found["x"], found["y"]

    async def _in_frame(self, frame_id: str, expression: str) -> Any:
        try:
            return await self._attachment.evaluate(frame_id, expression, timeout_s=_INPUT_S)
        except BridgeError:
            return None
