"""The script worlds of a page's documents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bridge.page.target.frames import Frames


@dataclass(frozen=True, slots=True)
class ExecutionContext:
    """A script world of one document; `key` is never used again for another one, `context_id` is its session's."""

    context_id: int
    key: str
    frame_id: str
    name: str
    is_main: bool
    session_id: str | None = None


class ExecutionContexts(Frames):
    """By session and context id; a context id means something in its session only.

    A frame that goes into another renderer leaves worlds behind in the one where it was: these are told of as gone
    when that renderer gets to it, and may even be told of as new until then, if they were asked for.
    """

    def __init__(self) -> None:
        super().__init__()
        self.worlds: dict[tuple[str | None, int], ExecutionContext] = {}

    def world_of(self, frame_id: str, name: str) -> ExecutionContext | None:
        """The isolated world called `name` of the frame's present document.

        Up to Chromium 143, a child frame's world that touches `top` or `parent` adds a context of the same name to the
        parent's document. The document's own context is the first one after its main world: ids grow in a renderer.
        """
        found = self._worlds_in(frame_id)
        named = sorted((world for world in found if world.name == name), key=lambda world: world.context_id)
        document_start = max((world.context_id for world in found if world.is_main), default=0)
        own = next((world for world in named if world.context_id > document_start), None)
        return own or (named[-1] if named else None)

    def main_world(self, frame_id: str) -> ExecutionContext | None:
        """The page's own world of the frame's present document."""
        found = [world for world in self._worlds_in(frame_id) if world.is_main]
        return found[-1] if found else None

    def has_main_world(self, frame_id: str) -> bool:
        return self.main_world(frame_id) is not None

    def _worlds_in(self, frame_id: str) -> list[ExecutionContext]:
        session_id = self.session_of(frame_id)
        return [
            world for world in self.worlds.values() if world.frame_id == frame_id and world.session_id == session_id
        ]

    def _world_created(self, params: Mapping[str, Any], session_id: str | None) -> None:
        context = params["context"]
        aux = context.get("auxData") or {}
        if "frameId" not in aux:
            return
        self.worlds[session_id, context["id"]] = ExecutionContext(
            context_id=context["id"],
            key=str(context.get("uniqueId") or f"{session_id or ''}:{context['id']}"),
            frame_id=aux["frameId"],
            name=context.get("name", ""),
            is_main=bool(aux.get("isDefault")),
            session_id=session_id,
        )

    def _world_destroyed(self, params: Mapping[str, Any], session_id: str | None) -> None:
        self.worlds.pop((session_id, params["executionContextId"]), None)

    def _worlds_cleared(self, params: Mapping[str, Any], session_id: str | None) -> None:
        self._forget_worlds(session_id)

    def _forget_worlds(self, session_id: str | None) -> None:
        for key in [key for key in self.worlds if key[0] == session_id]:
            del self.worlds[key]
