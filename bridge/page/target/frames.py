"""The frames of a page and their documents, in all renderers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bridge.snapshot.address import shown_url


@dataclass(slots=True)
class Frame:
    """One frame and the document that it shows.

    Attributes:
        lifecycle: Names of the lifecycle events of `loader_id`.
        session_id: The session of the renderer that the frame is in now.
        is_crashed: That renderer has crashed, and nothing has been loaded since.
        unreachable_url: The address that could not be loaded, if the browser shows its own error page; else "".
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
        """The address that the frame navigated to, also if it could not be loaded."""
        return self.unreachable_url or self.url


class Frames:
    """The frame tree. `main` is the main frame, None until the tree was read."""

    def __init__(self) -> None:
        self.frames: dict[str, Frame] = {}
        self.main_frame_id: str | None = None

    @property
    def main(self) -> Frame | None:
        return self.frames.get(self.main_frame_id or "")

    def load_tree(self, tree: Mapping[str, Any], session_id: str | None = None) -> None:
        """Take the reply of `Page.getFrameTree`, in its order with events. Known frames keep their lifecycle.

        For a frame that is in another renderer by now, the reply describes its old document and is ignored.
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
            if session_id is not None:  # the root of an out-of-process subtree has a parent in another session
                frame.parent_id = frame.parent_id or described.get("parentId")
            frame.url = shown_url(described.get("url", "") + described.get("urlFragment", ""))
            frame.loader_id = described.get("loaderId", "")
            frame.unreachable_url = described.get("unreachableUrl", "")
            pending.extend((child, frame_id) for child in node.get("childFrames", ()))

    def session_of(self, frame_id: str) -> str | None:
        """The session of the renderer that the frame is in."""
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
        """The frame; None if it has left the session's renderer, whose late events are ignored."""
        frame = self.frames.get(frame_id)
        return frame if frame is not None and frame.session_id == session_id else None

    def _frame_attached(self, params: Mapping[str, Any], session_id: str | None) -> None:
        frame = self.frames.setdefault(params["frameId"], Frame(params["frameId"], params.get("parentFrameId")))
        frame.session_id = session_id

    def _show(self, described: Mapping[str, Any], session_id: str | None) -> Frame:
        """Take a frame's new document. The frames below the old one are gone."""
        frame = self.frames.setdefault(described["id"], Frame(described["id"], described.get("parentId")))
        frame.url = shown_url(described.get("url", "") + described.get("urlFragment", ""))
        frame.loader_id = described.get("loaderId", "")
        frame.unreachable_url = described.get("unreachableUrl", "")
        frame.lifecycle = set()
        frame.session_id, frame.is_crashed = session_id, False
        # The browser does not always report frames of the old document as detached.
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
