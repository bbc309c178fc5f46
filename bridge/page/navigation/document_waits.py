"""One wait in every document that the page shows, also in documents that come during the wait.

A wait ends with its document (ExecutionContextDestroyed), except where the window is reused: a window that navigates
from its initial empty document to another of the same origin keeps its execution contexts, and a promise in them stays
pending (Blink, LocalDOMWindow::ClearForReuse). So the wait in a document that is not shown any more is cancelled.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeAlias

from bridge.deadline import Deadline
from bridge.errors import ExecutionContextDestroyed
from bridge.page.target.attachment import CONTEXT_NAME, Attachment

# The id of a frame, and of the loader of the document that it shows.
Document: TypeAlias = tuple[str, str]
Wait: TypeAlias = Callable[[str, bool], Coroutine[Any, Any, float | None]]

_RETRY_PAUSE_S = 0.1
# The wait in the page ends at the deadline, and its reply travels a little longer.
_REPLY_S = 1.0


class DocumentWaits:
    """Runs a wait in each document; the first one whose condition is met decides.

    Args:
        wait: Waits in the document of a frame, `is_main` or not; returns milliseconds, or None if the condition was not
            met in a child frame. For the main frame it raises instead.
        awaited: What the error of a wait without any document names.
        main_frame_only: Do not wait in child frames.
        in_main_world: The wait runs in the page's own execution context, not in ours.
    """

    def __init__(
        self,
        attachment: Attachment,
        deadline: Deadline,
        wait: Wait,
        *,
        awaited: str,
        main_frame_only: bool,
        in_main_world: bool = False,
    ) -> None:
        self._attachment = attachment
        self._deadline = deadline
        self._wait = wait
        self._awaited = awaited
        self._main_frame_only = main_frame_only
        self._in_main_world = in_main_world
        self._running: dict[Document, asyncio.Future[float | None]] = {}

    async def first(self) -> float:
        """The result of the first wait whose condition was met."""
        try:
            while True:
                shown = self._shown()
                await self._cancel_all_but(shown)
                for document in shown:
                    if document not in self._running:
                        wait = self._wait_in(document, is_main=document == shown[0])
                        self._running[document] = asyncio.ensure_future(wait)
                await self._wait_for_change(shown)
                for document in shown:
                    running = self._running[document]
                    if not running.done() or (running.exception() and document != shown[0]):
                        continue
                    if (waited_ms := running.result()) is not None:
                        return waited_ms
        finally:
            await self._cancel_all_but(())

    async def _cancel_all_but(self, shown: Sequence[Document]) -> None:
        gone = [self._running.pop(document) for document in list(self._running) if document not in shown]
        for running in gone:
            running.cancel()
        await asyncio.gather(*gone, return_exceptions=True)

    def _shown(self) -> list[Document]:
        frames = self._attachment.state.ordered_frames()
        if self._main_frame_only:
            del frames[1:]
        return [(frame.frame_id, frame.loader_id) for frame in frames]

    async def _wait_for_change(self, shown: Sequence[Document]) -> None:
        """Return when a wait is over, or when the page shows other documents."""
        condition = self._attachment.condition
        running: list[asyncio.Future[Any]] = [task for task in self._running.values() if not task.done()]
        left_s = self._deadline.remaining_s + (_REPLY_S if running else 0.0)
        other = asyncio.ensure_future(condition.wait(lambda: self._shown() != shown, timeout_s=left_s))
        try:
            done, _ = await asyncio.wait([*running, other], return_when=asyncio.FIRST_COMPLETED)
            if done == {other} and not other.result():
                raise self._deadline.exceeded(self._awaited, "no document")
        finally:
            other.cancel()
            await asyncio.gather(other, return_exceptions=True)

    async def _wait_in(self, document: Document, *, is_main: bool) -> float | None:
        """Wait in a document; again in a new execution context, if the document gets one."""
        while True:
            try:
                return await self._wait(document[0], is_main)
            except ExecutionContextDestroyed:
                if self._deadline.passed:
                    raise self._deadline.exceeded(self._awaited, "the page kept navigating") from None
                # The event that ends the context may not have been read yet.
                await asyncio.sleep(0)
                left_s = self._deadline.remaining_s
                await self._attachment.condition.wait(
                    lambda: document not in self._shown() or self._has_context(document[0]),
                    timeout_s=min(_RETRY_PAUSE_S, left_s) if is_main else left_s,
                )

    def _has_context(self, frame_id: str) -> bool:
        state = self._attachment.state
        if self._in_main_world:
            return state.has_main_context(frame_id)
        return state.context_of(frame_id, CONTEXT_NAME) is not None
