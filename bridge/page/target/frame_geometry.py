"""Where a point of a child frame lies in the top frame's viewport, and where each parent shows its frames."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Mapping
from typing import Any, TypeAlias

from bridge.errors import ActionFailed, Covered, DeadlineExceeded
from bridge.page.target.attachment import Attachment
from bridge.page.target.execution_contexts import ExecutionContextDestroyed

# As of a DOMMatrix: x' = a·x + c·y + e, y' = b·x + d·y + f.
Matrix: TypeAlias = tuple[float, float, float, float, float, float]
# Which frame: the places in `window.frames`, from the top document on.
FramePath: TypeAlias = tuple[int, ...]

# The iframe that shows window[i], and its matrix [a,b,c,d,e,f] as of a DOMMatrix: from points of its document to points
# here. Everything but translation is the product of the matrices of the iframe and its ancestors; transforms and `zoom`
# keep the center of the iframe in the center of its box. Perspective is not computed: nothing behind it can be touched.
_SHOWN = """(i=>{
  const child=window[i],roots=[document];
  for(let r;r=roots.pop();)for(const e of r.querySelectorAll('*')){
    if(e.shadowRoot)roots.push(e.shadowRoot);
    if(e.contentWindow===undefined||e.contentWindow!==child)continue;
    let m=new DOMMatrix();
    for(let at=e;at;at=at.assignedSlot||at.parentElement||at.getRootNode().host){
      const {rotate,scale,transform}=getComputedStyle(at),own=new DOMMatrix();
      if(/^[-.\\d]+deg$/.test(rotate))own.rotateSelf(parseFloat(rotate));
      if(/^[-.\\d ]+$/.test(scale)){const[x,y=x]=scale.split(' ').map(Number);own.scaleSelf(x,y)}
      m=own.multiply(new DOMMatrix(transform)).multiply(m);
    }
    const{left,top,width,height}=e.getBoundingClientRect(),s=getComputedStyle(e),w=e.offsetWidth/2,h=e.offsetHeight/2,
      wide=2*(Math.abs(m.a)*w+Math.abs(m.c)*h),z=Math.abs(width-wide)<1?1:width/wide,
      [a,b,c,d]=[m.a,m.b,m.c,m.d].map(n=>n*z),
      x=e.clientLeft+parseFloat(s.paddingLeft)-w,y=e.clientTop+parseFloat(s.paddingTop)-h;
    return{e,matrix:[a,b,c,d,left+width/2+a*x+c*y,top+height/2+b*x+d*y]}
  }
})"""
# The same for a point, with what lies there. In the top frame the result is in its visual viewport, as for touches,
# which is smaller than the layout viewport of a pinched page.
_INTO_PARENT = f"""((i,x,y)=>{{
  const shown={_SHOWN}(i);
  if(!shown)return null;
  const{{e,matrix:[a,b,c,d,left,top]}}=shown,X=left+a*x+c*y,Y=top+b*x+d*y;
  const v=visualViewport,x1=X-v.offsetLeft,y1=Y-v.offsetTop;
  let h=x1<0||y1<0||x1>v.width||y1>v.height?null:document.elementFromPoint(X,Y);
  while(h&&h!==e&&h.shadowRoot){{const d=h.shadowRoot.elementFromPoint(X,Y);if(!d||d===h)break;h=d}}
  return{{x:x1,y:y1,hit:h===e,over:h?h.localName+(h.id?'#'+h.id:''):'nothing'}}
}})"""


async def to_top_viewport(
    attachment: Attachment,
    frame_indexes: Mapping[str, int],
    frame_id: str,
    x: float,
    y: float,
    *,
    of: str,
    timeout_s: float,
    allow_covered: bool = False,
) -> tuple[float, float]:
    """A point of a frame's viewport in the top frame's viewport: one round trip per ancestor frame.

    Args:
        frame_indexes: The position of each frame in its parent's `window.frames`.
        of: What is at the point, for errors: `e5 (button "Pay")`.
        allow_covered: Accept a point that an ancestor's content covers, because nothing is going to touch it.

    Raises:
        Covered: Content of an ancestor lies over the frame at that point.
        ActionFailed: The frame is not in its parent.
    """
    frame = attachment.state.frames.get(frame_id)
    while frame is not None and frame.parent_id is not None:
        index = frame_indexes.get(frame.frame_id, -1)
        place = None
        if index >= 0:
            call = f"{_INTO_PARENT}({json.dumps(index)},{json.dumps(x)},{json.dumps(y)})"
            place = await attachment.evaluate(frame.parent_id, call, timeout_s=timeout_s)
        if not isinstance(place, dict):
            raise ActionFailed(f"{of}: its frame was not found in the page.")
        if not place.get("hit") and not allow_covered:
            raise Covered(f"{of}: its frame is covered by {place.get('over')}.")
        x, y = float(place["x"]), float(place["y"])
        frame = attachment.state.frames.get(frame.parent_id)
    return x, y


async def frames_shown(
    attachment: Attachment, frame_indexes: Mapping[str, int], *, timeout_s: float
) -> dict[FramePath, Matrix]:
    """Where the document of each child frame lies in its parent's viewport; all parents are asked at once."""
    frames = attachment.state.ordered_frames()
    paths: dict[str, FramePath] = {frame.frame_id: () for frame in frames[:1]}
    asked: dict[FramePath, Awaitable[Any]] = {}
    for frame in frames[1:]:
        index, parent_id = frame_indexes.get(frame.frame_id, -1), frame.parent_id
        if index >= 0 and parent_id in paths:
            path = paths[frame.frame_id] = (*paths[parent_id], index)
            asked[path] = attachment.evaluate(parent_id, f"({_SHOWN}({index})||{{}}).matrix", timeout_s=timeout_s)
    answers = await asyncio.gather(*asked.values(), return_exceptions=True)
    found: dict[FramePath, Matrix] = {}
    for path, answer in zip(asked, answers, strict=True):
        if isinstance(answer, list) and len(answer) == 6 and all(isinstance(number, int | float) for number in answer):
            a, b, c, d, e, f = map(float, answer)
            found[path] = a, b, c, d, e, f
        elif isinstance(answer, BaseException) and not isinstance(answer, ExecutionContextDestroyed | DeadlineExceeded):
            raise answer
    return found
