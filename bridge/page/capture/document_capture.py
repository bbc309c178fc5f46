"""The document during a capture: measures it, zooms out, loads lazy content, scrolls, and restores it afterwards.

A script does what can be done in the page (injected_js/src/capture). Only the engine can zoom and move the visual
viewport within the layout viewport, over CDP.
"""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from typing import Any

from bridge.deadline import Deadline, finish
from bridge.errors import CaptureFailed, ExecutionContextDestroyed, ProtocolError
from bridge.page.capture.plan import Layout
from bridge.page.capture.viewport import override_view
from bridge.page.snapshots.element_handles import evaluate_handle, release
from bridge.page.target.attachment import CONTEXT_NAME, Attachment
from bridge.snapshot.injected import packaged_script, script_call

_log = logging.getLogger(__name__)

_LAZY_S = 4.0
_RESTORE_S = 3.0


class Document:
    """The document of the top frame during a capture; `capturing` makes it."""

    def __init__(self, attachment: Attachment) -> None:
        self._attachment = attachment
        main = attachment.state.main
        self._frame_id = main.frame_id if main else ""
        self._pinched: Layout | None = None
        self._is_zoomed_out = False

    async def measure(self, deadline: Deadline) -> Layout:
        layout = Layout.of(await self._run("measure()", deadline))
        if self._pinched is None and layout.is_pinched:
            self._pinched = layout
        return layout

    async def zoomed_out(self, layout: Layout, deadline: Deadline) -> Layout:
        """Zoom out until the view shows the whole layout viewport, so that scrolling by script moves it.

        Raises:
            CaptureFailed: The engine does not zoom out.
        """
        if not layout.is_pinched:
            return layout
        self._is_zoomed_out = True
        try:
            await self._zoom(layout.whole_zoom, deadline)
        except ProtocolError as error:
            raise CaptureFailed(f"the page is zoomed in, and the engine does not zoom out: {error.reason}") from error
        layout = await self.measure(deadline)
        if layout.is_pinched:
            raise CaptureFailed(
                f"the page is zoomed in, and could not be zoomed out from {layout.zoom:.2f}", hint="Pinch it smaller."
            )
        return layout

    async def restore_pixel_ratio(self, layout: Layout, deadline: Deadline) -> bool:
        """Restore the pixel ratio if a capture beyond the view reset it; whether that was so."""
        if (await self.measure(deadline)).dpr == layout.dpr:
            return False
        size = layout.width * layout.zoom, layout.height * layout.zoom
        await override_view(self._attachment, *size, layout.dpr, timeout_s=deadline.remaining_s)
        return True

    async def arrived(self, deadline: Deadline) -> Layout:
        """Calls `measure` after the images in view have loaded and been painted."""
        return Layout.of(await self._run("arrived()", deadline))

    async def prepare(self, left: float, top: float, limit: float, stitching: bool, deadline: Deadline) -> Layout:
        """Load lazy content, find fixed and sticky elements, and scroll to (left, top)."""
        options = {
            "left": left,
            "top": top,
            "limit": limit,
            "stitching": stitching,
            "timeoutMs": round(min(_LAZY_S, deadline.remaining_s / 2) * 1000),
        }
        return Layout.of(await self._run(f"prepare({json.dumps(options)})", deadline))

    async def tile(self, left: float, top: float, *, first: bool, last: bool, deadline: Deadline) -> Layout:
        options = {"left": left, "top": top, "first": first, "last": last}
        return Layout.of(await self._run(f"tile({json.dumps(options)})", deadline))

    async def restore(self) -> None:
        deadline = Deadline.after(_RESTORE_S)
        try:
            await self._run("restore()", deadline)
            if self._pinched is not None:
                await self._pinch_again(self._pinched, deadline)
        except ExecutionContextDestroyed:
            return  # the captured document is gone

    async def _pinch_again(self, before: Layout, deadline: Deadline) -> None:
        try:
            if self._is_zoomed_out:
                await self._zoom(before.zoom, deadline)
                self._is_zoomed_out = False
            await self._pan(before, deadline)
        except ProtocolError as error:
            _log.debug("the view was not restored: %s", error)

    async def _zoom(self, zoom: float, deadline: Deadline) -> None:
        params = {"pageScaleFactor": zoom}
        await self._attachment.call("Emulation.setPageScaleFactor", params, timeout_s=deadline.remaining_s)

    async def _pan(self, to: Layout, deadline: Deadline) -> None:
        """Move the visual viewport to where it was in `to`; only the engine can."""
        context = self._attachment.state.context_of(self._frame_id, CONTEXT_NAME)
        if context is None:
            return
        root = await evaluate_handle(self._attachment, context, "document.documentElement", deadline)
        if (object_id := root.get("objectId")) is None:
            return
        # The rectangle is relative to the corner of the root element, which differs from the document's by its margins.
        at = await self._attachment.evaluate(
            self._frame_id,
            script_call("rootCorner"),
            timeout_s=deadline.remaining_s,
        )
        rect = {"x": to.left - at[0], "y": to.top - at[1], "width": to.width, "height": to.height}
        params = {"objectId": object_id, "rect": rect}
        try:
            await self._attachment.call("DOM.scrollIntoViewIfNeeded", params, timeout_s=deadline.remaining_s)
        finally:
            release(self._attachment, str(object_id))

    async def _run(self, call: str, deadline: Deadline) -> Any:
        expression = f"(globalThis.__agentCapture||{_script()},globalThis.__agentCapture.{call})"
        async with deadline.bound("a screenshot", lambda: f"the page did not respond to {call.partition('(')[0]}"):
            return await self._attachment.evaluate(self._frame_id, expression, timeout_s=deadline.remaining_s)


@cache
def _script() -> str:
    return packaged_script("bridge.page.capture", "document_capture.min.js").strip().rstrip(";")


@asynccontextmanager
async def capturing(attachment: Attachment) -> AsyncIterator[Document]:
    """The document for the length of a capture. Its scroll position and styles are always restored."""
    document = Document(attachment)
    try:
        yield document
    except ExecutionContextDestroyed as error:
        raise CaptureFailed("the page navigated during the capture", hint="Wait until it has loaded.") from error
    finally:
        await finish(document.restore(), at_most_s=_RESTORE_S, what="restoring the page after a capture")
