"""The execution contexts of a page's documents: the page's own (main world) and ours (an isolated world)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bridge.page.target.frames import Frames


@dataclass(frozen=True, slots=True)
class ExecutionContext:
    """A context of one document.

    Attributes:
        context_id: The id in its session.
        key: Unique among all contexts, also those of other sessions and documents.
        is_main: The page's own context, not an isolated world.
    """

    context_id: int
    key: str
    frame_id: str
    name: str
    is_main: bool
    session_id: str | None = None


class ExecutionContexts(Frames):
    """Contexts by session and context id.

    A frame that moves to another renderer leaves contexts behind in the old one. Their end is reported when that
    renderer gets to it, and until then it may even report new ones that were requested before.
    """

    def __init__(self) -> None:
        super().__init__()
        self.contexts: dict[tuple[str | None, int], ExecutionContext] = {}
        self._foreign: set[ExecutionContext] = set()

    def context_of(self, frame_id: str, name: str) -> ExecutionContext | None:
        """The context with this name of the frame's document.

        Up to Chromium 143, a child frame's isolated context that touches `top` or `parent` adds one of the same name to
        the parent's document; so does a parent's in a child. The document's own context is the first one after its main
        one, as ids grow in a renderer, unless a parent touched the frame before it loaded: see `set_aside`.
        """
        found = [context for context in self._contexts_in(frame_id) if context not in self._foreign]
        named = sorted((context for context in found if context.name == name), key=lambda context: context.context_id)
        document_start = max((context.context_id for context in found if context.is_main), default=0)
        own = next((context for context in named if context.context_id > document_start), None)
        return own or (named[-1] if named else None)

    def namesakes(self, context: ExecutionContext) -> list[ExecutionContext]:
        """The other contexts of that name in the frame's document, oldest first."""
        others = (other for other in self._contexts_in(context.frame_id) if other.name == context.name)
        return sorted((other for other in others if other != context), key=lambda other: other.context_id)

    def set_aside(self, context: ExecutionContext) -> None:
        """Ignore a context that belongs to another frame's isolated world: our script has run in its namesake."""
        self._foreign.add(context)

    def main_context(self, frame_id: str) -> ExecutionContext | None:
        """The page's own context in the frame's document."""
        found = [context for context in self._contexts_in(frame_id) if context.is_main]
        return found[-1] if found else None

    def has_main_context(self, frame_id: str) -> bool:
        return self.main_context(frame_id) is not None

    def _contexts_in(self, frame_id: str) -> list[ExecutionContext]:
        session_id = self.session_of(frame_id)
        return [
            context
            for context in self.contexts.values()
            if context.frame_id == frame_id and context.session_id == session_id
        ]

    def _context_created(self, params: Mapping[str, Any], session_id: str | None) -> None:
        created = params["context"]
        aux = created.get("auxData") or {}
        if "frameId" not in aux:
            return
        self.contexts[session_id, created["id"]] = ExecutionContext(
            context_id=created["id"],
            key=str(created.get("uniqueId") or f"{session_id or ''}:{created['id']}"),
            frame_id=aux["frameId"],
            name=created.get("name", ""),
            is_main=bool(aux.get("isDefault")),
            session_id=session_id,
        )

    def _context_destroyed(self, params: Mapping[str, Any], session_id: str | None) -> None:
        destroyed = self.contexts.pop((session_id, params["executionContextId"]), None)
        if destroyed is not None:
            self._foreign.discard(destroyed)

    def _contexts_cleared(self, params: Mapping[str, Any], session_id: str | None) -> None:
        self._forget_contexts(session_id)

    def _forget_contexts(self, session_id: str | None) -> None:
        for key in [key for key in self.contexts if key[0] == session_id]:
            self._foreign.discard(self.contexts.pop(key))
