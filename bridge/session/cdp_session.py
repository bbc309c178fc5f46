"""A raw DevTools connection to a page, for the operator's own code."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from typing import Any

from bridge.cdp import CdpConnection
from bridge.deadline import finish
from bridge.page.page import Page

logger = logging.getLogger(__name__)

_SEND_S = 30.0
_DETACH_S = 2.0


class CdpSession:
    """Commands and events of the Chrome DevTools Protocol. Made by `session.new_cdp_session(page)`."""

    def __init__(self, connection: CdpConnection, stack: AsyncExitStack) -> None:
        self._connection = connection
        self._stack = stack
        self._listeners: dict[tuple[str, Callable[[Any], Any]], Callable[[], None]] = {}

    async def send(
        self, method: str, params: Mapping[str, Any] | None = None, *, timeout_s: float = _SEND_S
    ) -> dict[str, Any]:
        """Send a command and wait for its result.

        Raises:
            ProtocolError: The browser refused the command.
            TransportError: The connection has ended.
            DeadlineExceeded: No reply came in time.
        """
        return await self._connection.call(method, params, timeout_s=timeout_s)

    def on(self, event: str, listener: Callable[[dict[str, Any]], Any]) -> None:
        """Call `listener` with the parameters of each event of this method, in the reader task: it must be quick."""

        def take(method: str, params: dict[str, Any], session_id: str | None) -> None:
            if method == event and session_id is None:
                try:
                    listener(params)
                except Exception:
                    logger.exception("a listener of %s failed", event)

        self._listeners[event, listener] = self._connection.on_event(take)

    def remove_listener(self, event: str, listener: Callable[[dict[str, Any]], Any]) -> None:
        """Remove a listener; does nothing if there is none."""
        if (remove := self._listeners.pop((event, listener), None)) is not None:
            remove()

    async def detach(self) -> None:
        """End the connection; safe to repeat."""
        stack, self._stack = self._stack, AsyncExitStack()
        await finish(stack.aclose(), at_most_s=_DETACH_S, what="ending a CDP session")


async def open_cdp_session(page: Page, *, timeout_s: float) -> CdpSession:
    """Connect to a page."""
    await page.attached()
    async with AsyncExitStack() as stack:
        connection = await stack.enter_async_context(page.connect(timeout_s))
        return CdpSession(connection, stack.pop_all())
