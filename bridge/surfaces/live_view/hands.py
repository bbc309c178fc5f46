"""A person's touches and keys, as they reach the page."""

from __future__ import annotations

import json
from typing import Any

from bridge.errors import BridgeError
from bridge.page.attachment import Attachment
from bridge.page.pointer import touch
from bridge.surfaces.live_view.messages import Choice, Key, Text, Touch

_INPUT_S = 5.0
# A tap on a select element asks WebView for a dialog, which needs an Activity and ends the process
# (BadTokenException); the person gets the options instead. What is in a frame of another origin cannot be asked.
_SELECT_AT = """((x,y)=>{let d=document,e;
  for(;;){e=d.elementFromPoint(x,y);
    while(e&&e.shadowRoot){const i=e.shadowRoot.elementFromPoint(x,y);if(!i||i===e)break;e=i}
    let inner=null;try{inner=e&&e.contentDocument}catch(_){}
    if(!inner)break;const b=e.getBoundingClientRect();x-=b.left+e.clientLeft;y-=b.top+e.clientTop;d=inner}
  const s=e&&e.closest&&e.closest('select');if(!s||s.disabled)return null;
  globalThis.__liveViewSelect=s;
  return{index:s.selectedIndex,options:[...s.options].slice(0,500).map(o=>[o.label.slice(0,200),o.disabled])}})"""
_CHOOSE = """(i=>{const s=globalThis.__liveViewSelect,o=s&&s.options[i];if(!o||o.disabled||!s.isConnected)return false;
  s.selectedIndex=i;for(const t of['input','change'])s.dispatchEvent(new Event(t,{bubbles:true}));return true})"""


class Hands:
    """Acts on one attachment; `width` and `height` are the viewport's, in CSS pixels."""

    def __init__(self, attachment: Attachment) -> None:
        self._attachment = attachment
        self.width = self.height = 0.0
        self._swallows = False

    async def act(self, message: Touch | Text | Key | Choice) -> dict[str, Any] | None:
        """Do it; what the viewer is to show, such as the options of a select element."""
        if isinstance(message, Touch):
            return await self._touch(message)
        if isinstance(message, Text):
            await self._attachment.call("Input.insertText", {"text": message.text}, timeout_s=_INPUT_S)
        elif isinstance(message, Key):
            for event in message.events:
                await self._attachment.call("Input.dispatchKeyEvent", event, timeout_s=_INPUT_S)
        else:
            await self._in_page(f"{_CHOOSE}({message.index})")
        return None

    async def _touch(self, message: Touch) -> dict[str, Any] | None:
        x, y = message.x * self.width, message.y * self.height
        if message.phase == "touchStart":
            found = await self._in_page(f"{_SELECT_AT}({json.dumps(x)},{json.dumps(y)})")
            self._swallows = isinstance(found, dict)
            if self._swallows:
                return {"kind": "select", **found}
        if self._swallows:
            return None
        points = [] if message.phase == "touchEnd" else [(x, y)]
        method, params = touch(message.phase, *points)
        await self._attachment.call(method, params, timeout_s=_INPUT_S)
        return None

    async def _in_page(self, expression: str) -> Any:
        main = self._attachment.state.main
        try:
            return await self._attachment.evaluate(main.frame_id if main else "", expression, timeout_s=_INPUT_S)
        except BridgeError:
            return None
