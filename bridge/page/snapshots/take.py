"""Takes snapshots: one call per frame, all sent at once, stitched into one tree and rendered."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bridge.deadline import Deadline
from bridge.errors import DeadlineExceeded, ExecutionContextDestroyed, ScriptFailed, UsageError
from bridge.page.snapshots.boxes import place_boxes
from bridge.page.snapshots.click_handlers import mark_click_handlers
from bridge.page.snapshots.frame_stitching import FrameTree, stitch
from bridge.page.snapshots.refs import RefTable, is_ref
from bridge.page.target.attachment import CONTEXT_NAME, Attachment
from bridge.page.target.frame_geometry import frames_shown
from bridge.page.target.frames import Frame
from bridge.snapshot import RenderOptions, SnapshotResult, render_snapshot, snapshot_delta
from bridge.snapshot.injected import script_call
from bridge.snapshot.lines.delta import missing_refs
from bridge.snapshot.lines.forms import NO_ELEMENT

_NOT_AN_OBJECT = "the snapshot script returned no object"
# Pages with more frames than this show advertising. The snapshot says that frames were left out.
_MAX_FRAMES = 40
_RETRY_PAUSE_S = 0.05
# A loaded document without an element has this long, or half of the timeout, to get one.
_FIRST_ELEMENT_S = 1.0
# A frame whose place is unknown by then is assumed to start at the corner of its iframe.
_PLACING_S = 2.0
# Measured on large saved pages: characters of raw JSON per character of text, and nodes sent per line with a ref. They
# limit what the page sends to about what will be shown.
_RAW_PER_TEXT = 2.2
_SENT_PER_SHOWN = 2.5
# The same ratio where only controls are shown, and texts and structure are sent for nothing.
_SENT_PER_CONTROL = 2.5
# Budgets count characters, nodes and elements. Time is only a fuse for pages that answer each question slowly.
_SCRIPT_FUSE_MS = 2_000


@dataclass(frozen=True, slots=True)
class SnapshotRequest:
    """The contents of a snapshot; the fields are the options of the script and the renderer.

    Attributes:
        scope: A CSS selector or a ref; only its subtree.
        more: The ref of a cut; what the script left out there.
        start: The first ref that the renderer's budget left out; the snapshot continues there.
        find: Only the lines with this text, and their ancestors.
        controls_only: Only elements that can be acted on.
        click_handlers: Ask the engine for elements whose click handlers a script has set.
        aria_hidden: Also what `aria-hidden` hides from assistive technology.
        text: False shows controls and what places them; the snapshot that changes are computed against has all.
        redact: Applied to the text that `find` searches.
    """

    interactive_only: bool = True
    cursor_interactive: bool = True
    max_chars: int = 12_000
    max_nodes: int = 200
    max_depth: int = 12
    max_text_per_node: int = 200
    scope: str | None = None
    more: str | None = None
    start: str | None = None
    find: str | None = None
    boxes: bool = False
    controls_only: bool = False
    click_handlers: bool = False
    aria_hidden: bool = False
    text: bool = True
    redact: Callable[[str], str] | None = None

    def check(self, *, is_delta: bool) -> None:
        """
        Raises:
            UsageError: Options that exclude each other.
        """
        if self.scope and self.more:
            raise UsageError("scope and more exclude each other")
        if is_delta and not self.text:
            raise UsageError("delta covers all text of the page")
        if is_delta and (self.scope or self.more or self.find or self.controls_only):
            raise UsageError("delta covers the whole page; scope, more, find and controls_only show a part of it")

    def script_options(self, scope: str | None) -> dict[str, Any]:
        return {
            "interactiveOnly": self.interactive_only,
            "cursorInteractive": self.cursor_interactive,
            "maxNodes": max(500, round(self.max_nodes * _SENT_PER_SHOWN)),
            "maxTextPerNode": self.max_text_per_node,
            "budgetChars": round(self.max_chars * _RAW_PER_TEXT * (_SENT_PER_CONTROL if self.controls_only else 1)),
            "timeBudgetMs": _SCRIPT_FUSE_MS,
            "boxes": self.boxes,
            "clickHandlers": self.click_handlers,
            "ariaHidden": self.aria_hidden,
            "scope": scope,
        }

    def render_options(self) -> RenderOptions:
        return RenderOptions(
            max_chars_total=self.max_chars,
            max_nodes=self.max_nodes,
            max_depth=self.max_depth,
            start=self.start or "",
            find=self.find or "",
            boxes=self.boxes,
            controls_only=self.controls_only,
            text=self.text,
            redact=self.redact,
        )

    @property
    def is_whole(self) -> bool:
        """True if the snapshot shows the whole page."""
        parts = (self.scope, self.more, self.start, self.find)
        return not self.controls_only and all(part is None for part in parts)


# Errors of a frame that leave it out of the snapshot.
_LEAVES_FRAME_OUT = ExecutionContextDestroyed | ScriptFailed | DeadlineExceeded


class _NoRoot(ExecutionContextDestroyed):
    """The document has no element, not even a root: it is new, or its script removed everything."""


class _EmptyDocument:
    """Times how long the top frame's document has had no element."""

    def __init__(self, patience_s: float) -> None:
        self._patience_s = patience_s
        self._document = 0
        self._patience: Deadline | None = None

    def seen(self, document: int) -> None:
        """The document, a number that differs from those of other documents, has no element now."""
        if self._patience is None or document != self._document:
            self._document, self._patience = document, Deadline.after(self._patience_s)

    def is_final(self, document: int) -> bool:
        """True if the document has been empty for so long that no element is expected."""
        return self._patience is not None and document == self._document and self._patience.passed


class Snapshots:
    """Takes the snapshots of one attachment, and keeps the last one to compute changes against."""

    def __init__(self, attachment: Attachment, refs: RefTable) -> None:
        self._attachment = attachment
        self._refs = refs
        self.frame_indexes: dict[str, int] = {}
        self.last: SnapshotResult | None = None
        self.last_request = SnapshotRequest()
        self._is_cut_by_page = False

    async def take(
        self, request: SnapshotRequest, deadline: Deadline, *, remember_request: bool = True
    ) -> SnapshotResult:
        """Take a snapshot: one round trip per frame. Frames whose renderer does not respond are left out.

        A document that stays without an element after it was loaded is shown as empty.

        Raises:
            RefNotFound: `scope` or `more` is a ref that is gone.
            UsageError: `more` is a ref where nothing was left out.
            DeadlineExceeded: The page kept navigating, its renderer is busy, or the first element of the document has
                not been loaded yet.
        """
        empty = _EmptyDocument(min(_FIRST_ELEMENT_S, deadline.remaining_s / 2))
        if request.more is not None:
            entry = self._refs.look_up(request.more, self.is_live)
            if not entry.is_cut:
                if not entry.is_continuation:
                    raise UsageError(
                        f"more={entry.ref}: no snapshot was cut at {entry.label}.",
                        hint=f"more takes a ref that a cut snapshot names; scope={entry.ref} shows its subtree.",
                    )
                # The renderer left this out, not the script; the script's whole tree has it.
                request = replace(request, more=None, start=entry.ref)
        last_request = self.last_request
        while True:
            stays_empty = empty.is_final(self._attachment.state.navigations)
            try:
                stitched = await self._collect(request, deadline)
                tree = stitched()
                if self._has_boxes_of_frames(request):
                    tree = await self._with_placed_boxes(tree, request, deadline)
                result = self.render(tree, request)
                break
            except ExecutionContextDestroyed as error:
                if isinstance(error, _NoRoot):
                    empty.seen(self._attachment.state.navigations)
                    if stays_empty and not self._is_loading:
                        result = self.render(self._without_root(), request)
                        break
                if deadline.remaining_s <= _RETRY_PAUSE_S:
                    raise deadline.exceeded("a snapshot", error.message) from error
                # No event reports the first element.
                is_ready = self._main_is_ready if not isinstance(error, _NoRoot) else lambda: False
                await self._attachment.condition.wait(is_ready, timeout_s=min(_RETRY_PAUSE_S, deadline.remaining_s))
        if not remember_request:
            self.last_request = last_request
        return result

    async def raw(self, request: SnapshotRequest, deadline: Deadline) -> dict[str, Any]:
        """The stitched raw snapshot, with refs."""
        try:
            whole = (await self._collect(request, deadline))()
        except _NoRoot:
            return self._without_root()
        if self._has_boxes_of_frames(request):
            await self._with_placed_boxes(whole, request, deadline)
        return whole

    def _has_boxes_of_frames(self, request: SnapshotRequest) -> bool:
        return request.boxes and len(self._attachment.state.frames) > 1

    async def _with_placed_boxes(
        self, whole: dict[str, Any], request: SnapshotRequest, deadline: Deadline
    ) -> dict[str, Any]:
        """Convert all boxes to the top frame's viewport; asks all parents at once where their frames are."""
        timeout_s = min(deadline.remaining_s, _PLACING_S)
        shown = await frames_shown(self._attachment, self.frame_indexes, timeout_s=timeout_s)
        scope_ref = request.more or (request.scope if is_ref(request.scope) else None)
        path: list[int] = []
        if scope_ref is not None:
            frames = self._attachment.state.frames
            frame = frames.get(self._refs.look_up(scope_ref, self.is_live).frame_id)
            while frame is not None and frame.parent_id is not None:
                path.insert(0, self.frame_indexes.get(frame.frame_id, -1))
                frame = frames.get(frame.parent_id)
        place_boxes(whole, shown, tuple(path))
        return whole

    async def _collect(self, request: SnapshotRequest, deadline: Deadline) -> Callable[[], dict[str, Any]]:
        """Ask every frame for its snapshot; the function that is returned stitches the replies."""
        scope_ref = request.more or (request.scope if is_ref(request.scope) else None)
        if scope_ref is not None:
            entry = self._refs.look_up(scope_ref, self.is_live)
            if request.click_handlers:
                await mark_click_handlers(self._attachment, [entry.frame_id], deadline)
            call = self.expression(request, entry.local)
            reply = await self._attachment.evaluate(entry.frame_id, call, timeout_s=deadline.remaining_s)
            if not isinstance(reply, dict):
                raise ScriptFailed(_NOT_AN_OBJECT)
            if "error" in reply:
                raise self._refs.failure(entry, reply["error"], self.is_live)
            context = self._attachment.state.context_of(entry.frame_id, CONTEXT_NAME)
            tree = FrameTree(entry.frame_id, None, context.key if context else entry.context_key, reply)
            return lambda: self.stitch([tree])
        frames = self._attachment.state.ordered_frames()
        if not frames:
            raise ExecutionContextDestroyed("the page has no frame")
        only_top = request.scope is not None
        asked = frames[:1] if only_top else frames[:_MAX_FRAMES]
        if request.click_handlers:
            await mark_click_handlers(self._attachment, [frame.frame_id for frame in asked], deadline)
        call = self.expression(request, request.scope)
        replies = await self._attachment.evaluate_in_frames(
            asked, lambda _: call, main_frame_id=asked[0].frame_id, timeout_s=deadline.remaining_s
        )
        replies = [_checked_reply(reply) for reply in replies]
        if only_top and isinstance(replies[0], Mapping) and "error" in replies[0]:
            raise UsageError(str(replies[0]["error"].get("message", "the scope matches nothing")))
        return lambda: self.assemble(asked, replies, cut_frames=not only_top and len(frames) > len(asked))

    def assemble(self, frames: Sequence[Frame], replies: Sequence[Any], *, cut_frames: bool = False) -> dict[str, Any]:
        """Stitch the replies of all frames. Child frames without a reply are left out, and the snapshot says so."""
        top = replies[0]
        if isinstance(top, BaseException):
            raise top
        if not isinstance(top, Mapping):
            raise ScriptFailed(_NOT_AN_OBJECT)
        if "error" in top:
            if top["error"].get("code") == "ref_not_found":
                raise _NoRoot(f"{NO_ELEMENT}, and is still loading" if self._is_loading else NO_ELEMENT)
            raise ScriptFailed(f"the snapshot script failed: {str(top['error'].get('message'))[:500]}")
        position: dict[str, int] = {}
        trees: list[FrameTree] = []
        for frame, reply in zip(frames, replies, strict=True):
            if isinstance(reply, BaseException) and not isinstance(
                reply, ExecutionContextDestroyed | ScriptFailed | DeadlineExceeded
            ):
                raise reply
            context = self._attachment.state.context_of(frame.frame_id, CONTEXT_NAME)
            parent = position.get(frame.parent_id or "")
            if not isinstance(reply, Mapping) or context is None or (trees and parent is None) or "error" in reply:
                # For example a frame in a renderer of its own, where the browser isolates sites.
                cut_frames |= frame.frame_id in self._attachment.state.frames
                continue
            position[frame.frame_id] = len(trees)
            index = reply.get("frameIndex")
            self.frame_indexes[frame.frame_id] = index if isinstance(index, int) else -1
            trees.append(FrameTree(frame.frame_id, parent, context.key, reply))
        if not trees:
            raise ExecutionContextDestroyed("the page navigated during the snapshot")
        for frame_id in self.frame_indexes.keys() - self._attachment.state.frames.keys():
            del self.frame_indexes[frame_id]
        whole = self.stitch(trees)
        if cut_frames:
            whole["truncated"] = True
            whole["reasons"] = [*whole["reasons"], "frames"]
        return whole

    def stitch(self, trees: list[FrameTree]) -> dict[str, Any]:
        self._refs.forget_unloaded(self.is_live)
        return stitch(
            trees,
            lambda frame, local, role, name, is_cut: self._refs.assign(
                frame.context_key, frame.frame_id, local, role, name, self.page_url, is_cut=is_cut
            ),
        )

    def render(self, raw: Mapping[str, Any], request: SnapshotRequest) -> SnapshotResult:
        result = render_snapshot(raw, request.render_options())
        self._refs.mark_continuations(result.more)
        if request.is_whole and not request.text:
            self.render(raw, replace(request, text=True))
        elif request.is_whole:
            self.last, self.last_request = result, request
            # If only long texts were cut, every element was sent.
            self._is_cut_by_page = any(reason != "maxTextPerNode" for reason in raw["reasons"])
        return result

    def renumber(self) -> None:
        """Start again at e1: earlier refs are refused from now on."""
        self._refs.renumber()
        self.last = None

    async def as_delta(
        self, before: SnapshotResult, result: SnapshotResult, max_chars: int, deadline: Deadline
    ) -> SnapshotResult:
        """`result` with the changes since `before` as its text."""
        alive = await self.alive(before, deadline)
        return replace(result, text=snapshot_delta(before, result, max_chars=max_chars, alive=alive).text)

    async def alive(self, before: SnapshotResult, deadline: Deadline) -> frozenset[str] | None:
        """The refs of `before` that are still on the page although the last snapshot left them out.

        None if the page sent everything. At most one round trip. In a frame that does not respond, all of them count as
        still there.
        """
        if self.last is None or not self._is_cut_by_page:
            return None
        by_frame: dict[str, dict[str, str]] = {}
        for ref in missing_refs(before, self.last):
            entry = self._refs.get(ref)
            if entry is not None and self.is_live(entry.context_key):
                by_frame.setdefault(entry.frame_id, {})[entry.local] = ref
        replies = await asyncio.gather(
            *(
                self._attachment.evaluate(frame_id, script_call("stillShown", [*refs]), timeout_s=deadline.remaining_s)
                for frame_id, refs in by_frame.items()
            ),
            return_exceptions=True,
        )
        found: set[str] = set()
        for refs, reply in zip(by_frame.values(), replies, strict=True):
            if isinstance(reply, BaseException) and not isinstance(
                reply, ExecutionContextDestroyed | ScriptFailed | DeadlineExceeded
            ):
                raise reply
            found |= {refs[local] for local in reply if local in refs} if isinstance(reply, list) else {*refs.values()}
        return frozenset(found)

    def expression(self, request: SnapshotRequest, scope: str | None) -> str:
        return script_call("snapshot", request.script_options(scope))

    def is_live(self, context_key: str) -> bool:
        return any(context.key == context_key for context in self._attachment.state.contexts.values())

    def _without_root(self) -> dict[str, Any]:
        return {"url": self.page_url, "title": "", "tree": {}, "isBare": True, "truncated": False, "reasons": []}

    @property
    def _is_loading(self) -> bool:
        """True if the document is still loading, or a navigation has started."""
        state = self._attachment.state
        return state.navigating_to is not None or (state.main is not None and state.main.loader_id in state.requests)

    @property
    def page_url(self) -> str:
        main = self._attachment.state.main
        return main.url if main else ""

    def _main_is_ready(self) -> bool:
        main = self._attachment.state.main
        return main is not None and self._attachment.state.context_of(main.frame_id, CONTEXT_NAME) is not None


def _checked_reply(reply: Any) -> Any:
    """A frame's reply or exception; ScriptFailed in place of a reply that is not an object."""
    if isinstance(reply, dict | BaseException):
        return reply
    return ScriptFailed("the snapshot script returned no object")
