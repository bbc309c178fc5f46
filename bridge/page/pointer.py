"""Touch input through CDP, and where a point of a child frame lies in the top frame's viewport."""

from __future__ import annotations

import json
from typing import Any

from bridge.errors import ActionFailed, Covered
from bridge.page.attachment import Attachment
from bridge.page.refs import RefEntry

# Finds the iframe that shows window[i], adds its content box to the point, and says what lies there.
_INTO_PARENT = """((i,x,y)=>{
  const child=window[i],roots=[document];
  for(let r;r=roots.pop();)for(const e of r.querySelectorAll('*')){
    if(e.shadowRoot)roots.push(e.shadowRoot);
    if(e.contentWindow===undefined||e.contentWindow!==child)continue;
    const b=e.getBoundingClientRect(),s=getComputedStyle(e),
      X=b.left+e.clientLeft+parseFloat(s.paddingLeft)+x,Y=b.top+e.clientTop+parseFloat(s.paddingTop)+y;
    let h=document.elementFromPoint(X,Y);
    while(h&&h!==e&&h.shadowRoot){const d=h.shadowRoot.elementFromPoint(X,Y);if(!d||d===h)break;h=d}
    return{x:X,y:Y,hit:h===e,over:h?h.localName+(h.id?'#'+h.id:''):'nothing'}
  }
  return null})"""


# By this a document knows a tap that was prepared elsewhere (injected_js/src/checks/settle.js); no screen measures it.
_TAP_FORCE = 0.6180419921875


def touch(kind: str, *points: tuple[float, float], force: float = 1) -> tuple[str, dict[str, Any]]:
    """One touch event: the fingers that are down at these points, CSS pixels of the top frame's viewport."""
    fingers = [
        {"x": round(x, 2), "y": round(y, 2), "radiusX": 1, "radiusY": 1, "force": force, "id": number}
        for number, (x, y) in enumerate(points, 1)
    ]
    return "Input.dispatchTouchEvent", {"type": kind, "touchPoints": fingers}


def tap_commands(x: float, y: float) -> list[tuple[str, dict[str, Any]]]:
    """One finger down and up at (x, y); only a document in which an action was prepared takes it."""
    return [touch("touchStart", (x, y), force=_TAP_FORCE), touch("touchEnd")]


async def to_top_viewport(
    attachment: Attachment,
    frame_indexes: dict[str, int],
    entry: RefEntry,
    x: float,
    y: float,
    *,
    timeout_s: float,
    of_frame: str | None = None,
    covered_too: bool = False,
) -> tuple[float, float]:
    """A point of `entry`'s frame in the top frame's viewport; one round trip per ancestor frame.

    Args:
        of_frame: The point is of this frame's viewport, an ancestor of the entry's.
        covered_too: Nothing is going to be touched there.

    Raises:
        Covered: Something of an ancestor lies over the frame there.
        ActionFailed: The frame cannot be found in its parent.
    """
    frame = attachment.state.frames.get(of_frame or entry.frame_id)
    while frame is not None and frame.parent_id is not None:
        index = frame_indexes.get(frame.frame_id, -1)
        place = None
        if index >= 0:
            call = f"{_INTO_PARENT}({json.dumps(index)},{json.dumps(x)},{json.dumps(y)})"
            place = await attachment.evaluate(frame.parent_id, call, timeout_s=timeout_s)
        if not isinstance(place, dict):
            raise ActionFailed(f"{entry.ref} ({entry.described()}): its frame cannot be found in the page.")
        if not place.get("hit") and not covered_too:
            raise Covered(f"{entry.ref} ({entry.described()}): its frame is covered by {place.get('over')}.")
        x, y = float(place["x"]), float(place["y"])
        frame = attachment.state.frames.get(frame.parent_id)
    return x, y
