"""The one attachment that a tab holds: made over a connection of its own, made anew over another, let go of."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import TypeAlias

from bridge.cdp import CdpConnection
from bridge.deadline import Deadline, finish
from bridge.errors import TabLost
from bridge.page.logs.session_logs import SessionLogs
from bridge.page.target.attachment import Attachment, attach

OnAttach: TypeAlias = Callable[[Attachment], Awaitable[None]]

_LET_GO_S = 2.0


class AttachmentSlot:
    """
    Attributes:
        present: The attachment as it is, also when its connection is closed; None before the first.
        on_attach: Awaited with every fresh attachment after the session's own, before any address is loaded in it, so
            what they install (a page's routes) also holds after the tab was opened again.
    """

    def __init__(self, tab_id: str, logs: SessionLogs, of_the_session: Sequence[OnAttach]) -> None:
        self.present: Attachment | None = None
        self.on_attach: list[OnAttach] = []
        self._tab_id = tab_id
        self._logs = logs
        self._of_the_session = of_the_session
        self._stack = AsyncExitStack()
        self._is_over = False

    async def make(self, connecting: AbstractAsyncContextManager[CdpConnection], deadline: Deadline) -> Attachment:
        """Attach over the connection, which is held from here on; the attachment that is there is given up then.

        When that fails nothing is held of the new one, and the old one is kept.

        Raises:
            TabLost: It was closed meanwhile.
        """
        async with AsyncExitStack() as stack:
            connection = await stack.enter_async_context(connecting)
            connection.on_event(self._logs.reader(self._tab_id))
            requests = self._logs.request_reducer(self._tab_id)
            attachment = await stack.enter_async_context(
                attach(connection, timeout_s=deadline.remaining_s, requests=requests)
            )
            for frame in attachment.state.frames.values():
                self._logs.note_origin(self._tab_id, frame.url)
            for prepare in (*self._of_the_session, *self.on_attach):
                await prepare(attachment)
            if self._is_over:
                raise TabLost(f"{self._tab_id} has been closed")
            old, self._stack = self._stack, stack.pop_all()
        self.present = attachment
        await self._end(old)
        return attachment

    async def let_go(self) -> None:
        """Detach, until another attachment is made; safe to repeat."""
        stack, self._stack = self._stack, AsyncExitStack()
        await self._end(stack)

    async def close(self) -> None:
        """Detach for good: an attachment that is being made now is not held either. Safe to repeat."""
        self._is_over = True
        await self.let_go()

    async def _end(self, stack: AsyncExitStack) -> None:
        await finish(stack.aclose(), at_most_s=_LET_GO_S, what=f"detaching from {self._tab_id}")
