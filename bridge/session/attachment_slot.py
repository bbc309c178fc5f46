"""The one attachment of a tab: replaced by one over a new connection, and detached."""

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

_DETACH_S = 2.0


class AttachmentSlot:
    """
    Attributes:
        present: The last attachment, also if its connection is closed; None before the first.
        on_attach: Awaited with every new attachment after the session's own hooks and before it loads any address, so
            that what they install (a page's routes) also holds in a reopened tab.
    """

    def __init__(self, tab_id: str, logs: SessionLogs, session_hooks: Sequence[OnAttach]) -> None:
        self.present: Attachment | None = None
        self.on_attach: list[OnAttach] = []
        self._tab_id = tab_id
        self._logs = logs
        logs.add_tab(tab_id)
        self._session_hooks = session_hooks
        self._stack = AsyncExitStack()
        self._is_closed = False

    async def make(self, connecting: AbstractAsyncContextManager[CdpConnection], deadline: Deadline) -> Attachment:
        """Attach over the connection, which the slot owns from here on, then detach the old attachment.

        If that fails, the new connection is closed and the old attachment kept.

        Raises:
            TabLost: The tab was closed while attaching.
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
            for prepare in (*self._session_hooks, *self.on_attach):
                await prepare(attachment)
            if self._is_closed:
                raise TabLost(f"{self._tab_id} has been closed")
            old, self._stack = self._stack, stack.pop_all()
        self.present = attachment
        await self._end(old)
        return attachment

    async def detach(self) -> None:
        """Detach until another attachment is made; safe to repeat."""
        stack, self._stack = self._stack, AsyncExitStack()
        await self._end(stack)

    async def close(self) -> None:
        """Detach for good; an attachment that is being made fails. Safe to repeat."""
        self._is_closed = True
        await self.detach()

    async def _end(self, stack: AsyncExitStack) -> None:
        await finish(stack.aclose(), at_most_s=_DETACH_S, what=f"detaching from {self._tab_id}")
