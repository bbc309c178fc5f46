"""The frames of a page and the documents in them, in whatever renderers they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bridge.snapshot.address import shown_url


@dataclass(slots=True)
class Frame:
    """One frame and the document it shows; `lifecycle` holds the names seen for `loader_id`.

    Attributes:
        session_id: The session of the renderer that it is in now.
        is_crashed: That renderer has died, and nothing has been loaded since.
        unreachable_url: What could not be loaded, where the browser shows a page of its own that says so; else "".
    """

    frame_id: str
    parent_id: str | None
    url: str = ""
    loader_id: str = ""
    lifecycle: set[str] = field(default_factory=set)
    session_id: str | None = None
    is_crashed: bool = False
    unreachable_url: str = ""

    @property
    def address(self) -> str:
        """Where the frame has gone, also when nothing could be loaded from there."""
        return self.unreachable_url or self.url


class Frames:
    """The tree of frames, by what the browser tells of it. `main` is the top frame, None until the tree was read."""

    def __init__(self) -> None:
        self.frames: dict[str, Frame] = {}
        self.main_frame_id: str | None = None

    @property
    def main(self) -> Frame | None:
        return self.frames.get(self.main_frame_id or "")

    def load_tree(self, tree: Mapping[str, Any], session_id: str | None = None) -> None:
        """Take the reply of `Page.getFrameTree`, in its order with events; known frames keep their lifecycle.

        Of a frame that is in another renderer by now it tells the document that was left.
        """
        pending: list[tuple[Mapping[str, Any], str | None]] = [(tree, None)]
        while pending:
            node, parent_id = pending.pop()
            described = node["frame"]
            frame_id = described["id"]
            if parent_id is None and session_id is None:
                self.main_frame_id = frame_id
            frame = self.frames.setdefault(frame_id, Frame(frame_id, parent_id, session_id=session_id))
            if frame.session_id != session_id:
                continue
            if session_id is not None:  # the root of another renderer's part of the tree hangs under a frame of ours
                frame.parent_id = frame.parent_id or described.get("parentId")
            frame.url = shown_url(described.get("url", "") + described.get("urlFragment", ""))
            frame.loader_id = described.get("loaderId", "")
            frame.unreachable_url = described.get("unreachableUrl", "")
            pending.extend((child, frame_id) for child in node.get("childFrames", ()))

    def session_of(self, frame_id: str) -> str | None:
        """Whom to ask about the frame's objects: the session of the renderer that it is in."""
        frame = self.frames.get(frame_id)
        return frame.session_id if frame is not None else None

    def ordered_frames(self) -> list[Frame]:
        """All frames, parents before their children, siblings in the order in which they appeared."""
        by_parent: dict[str | None, list[Frame]] = {}
        for frame in self.frames.values():
            by_parent.setdefault(frame.parent_id, []).append(frame)
        ordered: list[Frame] = []
        main = self.main
        pending = [main] if main else []
        while pending:
            frame = pending.pop(0)
            ordered.append(frame)
            pending.extend(by_parent.get(frame.frame_id, ()))
        return ordered

    def _still_in(self, session_id: str | None, frame_id: str) -> Frame | None:
        """The frame; None where it has gone out of the session's renderer, which may tell late of what was there."""
        frame = self.frames.get(frame_id)
        return frame if frame is not None and frame.session_id == session_id else None

    def _frame_attached(self, params: Mapping[str, Any], session_id: str | None) -> None:
        frame = self.frames.setdefault(params["frameId"], Frame(params["frameId"], params.get("parentFrameId")))
        frame.session_id = session_id

    def _show(self, described: Mapping[str, Any], session_id: str | None) -> Frame:
        """A frame has a new document; what was below the old one is gone."""
        frame = self.frames.setdefault(described["id"], Frame(described["id"], described.get("parentId")))
        frame.url = shown_url(described.get("url", "") + described.get("urlFragment", ""))
        frame.loader_id = described.get("loaderId", "")
        frame.unreachable_url = described.get("unreachableUrl", "")
        frame.lifecycle = set()
        frame.session_id, frame.is_crashed = session_id, False
        # The frames of the document that was left are not always told of as detached.
        self._forget_below({frame.frame_id})
        return frame

    def _frame_detached(self, params: Mapping[str, Any], session_id: str | None) -> None:
        if params.get("reason") == "swap":
            return
        self._forget_below({params["frameId"]})
        self.frames.pop(params["frameId"], None)

    def _forget_below(self, above: set[str]) -> None:
        while above:
            above = {frame.frame_id for frame in self.frames.values() if frame.parent_id in above}
            for frame_id in above:
                del self.frames[frame_id]

    def _lifecycle(self, params: Mapping[str, Any], session_id: str | None) -> None:
        frame = self._still_in(session_id, params["frameId"])
        if frame is None:
            return
        if params["name"] == "init":
            frame.lifecycle = set()
        elif not frame.loader_id or params.get("loaderId") == frame.loader_id:
            frame.lifecycle.add(params["name"])
