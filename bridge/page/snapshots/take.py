"""Snapshots of a tab: one call per frame, all sent at once, stitched into one tree and rendered."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from bridge.deadline import Deadline
from bridge.errors import DeadlineExceeded, ScriptFailed, UsageError
from bridge.page.snapshots.boxes import place_boxes
from bridge.page.snapshots.frame_stitching import FrameTree, stitch
from bridge.page.snapshots.refs import RefTable, is_ref
from bridge.page.target.attachment import CONTEXT_NAME, Attachment
from bridge.page.target.execution_contexts import ExecutionContextDestroyed
from bridge.page.target.frame_geometry import frames_shown
from bridge.page.target.frames import Frame
from bridge.snapshot import RenderOptions, SnapshotResult, render_snapshot, snapshot_delta
from bridge.snapshot.delta import missing_refs
from bridge.snapshot.forms import NO_ELEMENT

# More frames than this is advertising; what is left out is said.
_MAX_FRAMES = 40
_RETRY_PAUSE_S = 0.05
# A document that nothing more is loaded into has this long, or half of what there is, to be given its first element.
_FIRST_ELEMENT_S = 1.0
# A frame that is not told of by then is taken to begin where its iframe does.
_PLACING_S = 2.0
# So much longer is the raw JSON than the text that is made of it, on large saved pages, and so many nodes may be sent
# per line with a ref: the wire carries what will be shown.
_RAW_PER_TEXT = 2.2
_SENT_PER_SHOWN = 2.5
# Of what the page sends, so much is texts and structure on large saved pages where only controls are shown.
_SENT_PER_CONTROL = 2.5
# Budgets are of characters, nodes and elements; time is a fuse for pages that take long to answer each question.
_SCRIPT_FUSE_MS = 2_000


@dataclass(frozen=True, slots=True)
class SnapshotRequest:
    """What a snapshot is asked to hold; the fields are those of the script's and the renderer's options.

    Attributes:
        scope: A CSS selector or a ref: only what is below it.
        more: The ref of a cut: what the script left out there.
        start: The first ref that the renderer's budget left out: go on from there.
        find: Only the lines with these words, and what they stand in.
        controls_only: Only what can be acted on.
        redact: Applied to the words in which `find` looks.
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
    redact: Callable[[str], str] | None = None

    def check(self, *, is_delta: bool) -> None:
        """
        Raises:
            UsageError: Options that exclude each other.
        """
        if self.scope and self.more:
            raise UsageError("scope and more exclude each other")
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
            redact=self.redact,
        )

    @property
    def is_whole(self) -> bool:
        """Whether it shows the page and not a part of it."""
        parts = (self.scope, self.more, self.start, self.find)
        return not self.controls_only and all(part is None for part in parts)


# Errors of a frame that leave it out of the snapshot.
_LEAVES_FRAME_OUT = ExecutionContextDestroyed | ScriptFailed | DeadlineExceeded


def _never() -> bool:
    """Nothing tells of it."""
    return False


class _NoRoot(ExecutionContextDestroyed):
    """There is no element in the document, not even its root: it is new, or its script has emptied it."""


class _Bare:
    """For how long the top frame's document is known to have no element."""

    def __init__(self, patience_s: float) -> None:
        self._patience_s = patience_s
        self._document = 0
        self._over: Deadline | None = None

    def found(self, document: int) -> None:
        """It has none; `document` tells one from its successors."""
        if self._over is None or document != self._document:
            self._document, self._over = document, Deadline.after(self._patience_s)

    def is_for_long(self, document: int) -> bool:
        """Whether it has had its time: what is asked of it from now on is what it stays with."""
        return self._over is not None and document == self._document and self._over.passed


class Snapshots:
    """Takes snapshots of one attachment and remembers the last one, against which changes are told."""

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
        """The page as `request` wants it: one round trip per frame, without frames whose renderer does not answer.

        Raises:
            RefNotFound: `scope` or `more` is a ref that is gone.
            UsageError: `more` is a ref where nothing was left out.
            DeadlineExceeded: The page kept navigating, its renderer is busy, or the document's first element has not
                been loaded yet. One that nothing is loaded into is shown as it is: without any.
        """
        bare = _Bare(min(_FIRST_ELEMENT_S, deadline.remaining_s / 2))
        if request.more is not None:
            entry = self._refs.look_up(request.more, self.is_live)
            if not entry.is_cut:
                if not entry.goes_on:
                    raise UsageError(
                        f"more={entry.ref}: {entry.ref} is {entry.described()}, and no snapshot was cut there.",
                        hint=f"more takes a ref that a cut snapshot names; scope={entry.ref} shows what it holds.",
                    )
                # Not the script but the renderer left this out: the script's whole tree has it.
                request = replace(request, more=None, start=entry.ref)
        wanted = self.last_request
        while True:
            stays_bare = bare.is_for_long(self._attachment.state.navigations)
            try:
                stitched = await self._asked(request, deadline)
                tree = stitched()
                if self._has_boxes_of_frames(request):
                    tree = await self._placed(tree, request, deadline)
                result = self.render(tree, request)
                break
            except ExecutionContextDestroyed as error:
                if isinstance(error, _NoRoot):
                    bare.found(self._attachment.state.navigations)
                    if stays_bare and not self._is_loading:
                        result = self.render(self._without_root(), request)
                        break
                if deadline.remaining_s <= _RETRY_PAUSE_S:
                    raise deadline.exceeded("a snapshot", error.message) from error
                is_ready = _never if isinstance(error, _NoRoot) else self._main_is_ready
                await self._attachment.condition.wait(is_ready, timeout_s=min(_RETRY_PAUSE_S, deadline.remaining_s))
        if not remember_request:
            self.last_request = wanted
        return result

    async def raw(self, request: SnapshotRequest, deadline: Deadline) -> dict[str, Any]:
        """The stitched raw snapshot with the session's refs in it."""
        try:
            whole = (await self._asked(request, deadline))()
        except _NoRoot:
            return self._without_root()
        if self._has_boxes_of_frames(request):
            await self._placed(whole, request, deadline)
        return whole

    def _has_boxes_of_frames(self, request: SnapshotRequest) -> bool:
        return request.boxes and len(self._attachment.state.frames) > 1

    async def _placed(self, whole: dict[str, Any], request: SnapshotRequest, deadline: Deadline) -> dict[str, Any]:
        """With all boxes in the top frame's viewport: parents are asked where they show their frames, all at once."""
        asked_s = min(deadline.remaining_s, _PLACING_S)
        shown = await frames_shown(self._attachment, self.frame_indexes, timeout_s=asked_s)
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

    async def _asked(self, request: SnapshotRequest, deadline: Deadline) -> Callable[[], dict[str, Any]]:
        """Asks every frame; what it gives stitches their replies, and waits for nobody."""
        scope_ref = request.more or (request.scope if is_ref(request.scope) else None)
        if scope_ref is not None:
            entry = self._refs.look_up(scope_ref, self.is_live)
            expression = self.expression(request, entry.local)
            reply = await self._attachment.evaluate(entry.frame_id, expression, timeout_s=deadline.remaining_s)
            if isinstance(reply := _checked_reply(reply), ScriptFailed):
                raise reply
            if "error" in reply:
                raise self._refs.failure(entry, reply["error"], self.is_live)
            context = self._attachment.state.context_of(entry.frame_id, CONTEXT_NAME)
            tree = FrameTree(entry.frame_id, None, context.key if context else entry.context_key, reply)
            return lambda: self.stitch([tree])
        frames = self._attachment.state.ordered_frames()
        if not frames:
            raise ExecutionContextDestroyed("the page has no frame")
        only_top = request.scope is not None
        wanted = frames[:1] if only_top else frames[:_MAX_FRAMES]
        expression = self.expression(request, request.scope)
        replies = await self._attachment.evaluate_in_frames(
            wanted, lambda _: expression, main_frame_id=wanted[0].frame_id, timeout_s=deadline.remaining_s
        )
        replies = [_checked_reply(reply) for reply in replies]
        if only_top and isinstance(replies[0], Mapping) and "error" in replies[0]:
            raise UsageError(str(replies[0]["error"].get("message", "the scope matches nothing")))
        return lambda: self.assemble(wanted, replies, cut_frames=not only_top and len(frames) > len(wanted))

    def assemble(self, frames: list[Frame], replies: list[Any], *, cut_frames: bool = False) -> dict[str, Any]:
        """Stitch the frames' replies; child frames without one are left out, and that is said of those still there."""
        top = replies[0]
        if isinstance(top, BaseException):
            raise top
        if "error" in top:
            if top["error"].get("code") == "ref_not_found":
                raise _NoRoot(f"{NO_ELEMENT}, and is still being loaded" if self._is_loading else NO_ELEMENT)
            raise ScriptFailed(f"the page could not be read: {str(top['error'].get('message'))[:500]}")
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
                # Such as a frame in a renderer of its own, where a browser isolates sites.
                cut_frames |= frame.frame_id in self._attachment.state.frames
                continue
            position[frame.frame_id] = len(trees)
            index = reply.get("frameIndex")
            self.frame_indexes[frame.frame_id] = index if isinstance(index, int) else -1
            trees.append(FrameTree(frame.frame_id, parent, context.key, reply))
        if not trees:
            raise ExecutionContextDestroyed("the document was left while it was read")
        for frame_id in self.frame_indexes.keys() - self._attachment.state.frames.keys():
            del self.frame_indexes[frame_id]
        whole = self.stitch(trees)
        if cut_frames:
            whole["truncated"] = True
            whole["reasons"] = [*whole["reasons"], "frames"]
        return whole

    def stitch(self, trees: list[FrameTree]) -> dict[str, Any]:
        self._refs.forget_left(self.is_live)
        return stitch(
            trees,
            lambda frame, local, role, name, is_cut: self._refs.assign(
                frame.context_key, frame.frame_id, local, role, name, self.page_url, is_cut=is_cut
            ),
        )

    def render(self, raw: Mapping[str, Any], request: SnapshotRequest) -> SnapshotResult:
        result = render_snapshot(raw, request.render_options())
        self._refs.cut_before(result.more)
        if request.is_whole:
            self.last, self.last_request = result, request
            # Where only long words are shortened, every element was sent.
            self._is_cut_by_page = any(reason != "maxTextPerNode" for reason in raw["reasons"])
        return result

    def renumber(self) -> None:
        """Start again at e1: earlier refs are refused from now on."""
        self._refs.number_anew()
        self.last = None

    async def as_delta(
        self, before: SnapshotResult, result: SnapshotResult, max_chars: int, deadline: Deadline
    ) -> SnapshotResult:
        """`result` with the changes since `before` as its text."""
        alive = await self.alive(before, deadline)
        return replace(result, text=snapshot_delta(before, result, max_chars=max_chars, alive=alive).text)

    async def alive(self, before: SnapshotResult, deadline: Deadline) -> frozenset[str] | None:
        """What of `before` is still on the page although the page has not sent it for the last snapshot.

        None where the page sent everything. One round trip, and only where it did not and something is missing; where
        nobody answers, all of it counts as still there.
        """
        if self.last is None or not self._is_cut_by_page:
            return None
        by_frame: dict[str, dict[str, str]] = {}
        for ref in missing_refs(before, self.last):
            entry = self._refs.shown_as(ref)
            if entry is not None and self.is_live(entry.context_key):
                by_frame.setdefault(entry.frame_id, {})[entry.local] = ref
        replies = await asyncio.gather(
            *(
                self._attachment.evaluate(
                    frame_id, f"__agentBrowser.stillShown({json.dumps([*refs])})", timeout_s=deadline.remaining_s
                )
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
        return f"__agentBrowser.snapshot({json.dumps(request.script_options(scope))})"

    def is_live(self, context_key: str) -> bool:
        return any(context.key == context_key for context in self._attachment.state.contexts.values())

    def _without_root(self) -> dict[str, Any]:
        return {"url": self.page_url, "title": "", "tree": {}, "isBare": True, "truncated": False, "reasons": []}

    @property
    def _is_loading(self) -> bool:
        """Whether the document has not come to its end, or another one is on its way."""
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
