"""A tab's WebView in the host app: asked for, found by its nonce, connected to, crashed, given back."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from bridge.cdp import CdpConnection, open_cdp
from bridge.deadline import Deadline, finish
from bridge.errors import BridgeError, DeadlineExceeded, HostFailed, TabLost, TransportError
from bridge.page.target.attachment import Attachment
from bridge.session.attachment_slot import AttachmentSlot
from bridge.session.host.find_target import find_new_tab, host_service
from bridge.session.host.tab_losses import losses_of
from bridge.session.tab_host import Home

logger = logging.getLogger(__name__)

_DISCARD_S = 5.0
# What a tab takes that is opened in a renderer which answers.
_ANSWERS_S = 4.0
_BLOW_S = 1.0


class HostedWebView:
    """
    Attributes:
        host_tab: The host app's name for it; None while there is none.
        target_id: Its CDP target, also of one that is gone.
        link_s: How long the newest connection to it took to be there.
    """

    def __init__(self, tab_id: str, home: Home, profile: str | None) -> None:
        self.host_tab: str | None = None
        self.target_id = ""
        self.link_s = 0.0
        self._tab_id = tab_id
        self._home = home
        self._profile = profile

    async def open(self, held: AttachmentSlot, deadline: Deadline, *, is_after_kill: bool = False) -> Attachment:
        """Have the host app make one, and hold an attachment to it.

        Args:
            is_after_kill: The renderer that it would share was told to end: one that lives on is told again, and the
                WebView asked for again, with more patience each time.

        Raises:
            TabLost: It was lost meanwhile, such as with a renderer that it shares.
            HostFailed, TransportError: The same, as whoever was asked last saw it.
            DeadlineExceeded
        """
        answers_s = _ANSWERS_S
        while is_after_kill and answers_s < deadline.remaining_s:
            try:
                return await self._open(held, Deadline.after(answers_s), is_after_kill=True)
            except (DeadlineExceeded, HostFailed, TabLost, TransportError) as error:
                logger.debug("%s: %s", self._tab_id, error)
            answers_s *= 2
        return await self._open(held, deadline, is_after_kill=is_after_kill)

    async def _open(self, held: AttachmentSlot, deadline: Deadline, *, is_after_kill: bool) -> Attachment:
        view, host = self._home.view, self._home.host_client
        with losses_of(host) as losses:
            made = await host.open_tab(
                width_px=view.width_px,
                height_px=view.height_px,
                density_dpi=view.density_dpi,
                profile=self._profile,
                timeout_s=deadline.remaining_s,
            )
            self.host_tab = made.tab
            try:
                return await losses.unless_lost(made.tab, self._attach(held, made.nonce, deadline), deadline)
            except BaseException as error:
                if is_after_kill and isinstance(error, DeadlineExceeded):
                    # The blow does not reach a renderer that is to show a new document (ladder.climb_out), and it lives
                    # on where other WebViews are in it, this one too; by this one's page the blow comes home.
                    await self.crash(timeout_s=_BLOW_S)
                what = f"closing the WebView that was to be {self._tab_id}"
                await finish(self.discard(timeout_s=_DISCARD_S), at_most_s=_DISCARD_S, what=what)
                raise

    async def _attach(self, held: AttachmentSlot, nonce: str, deadline: Deadline) -> Attachment:
        self.target_id = await find_new_tab(self._home.device, self._service(), nonce, deadline)
        return await held.make(self.connection(deadline), deadline)

    @asynccontextmanager
    async def connection(self, deadline: Deadline) -> AsyncIterator[CdpConnection]:
        """A connection of its own while the block lasts."""
        began = time.monotonic()
        sock = await self._home.device.open_stream(self._service(), timeout_s=deadline.remaining_s)
        self.link_s = time.monotonic() - began
        async with open_cdp(sock, f"/devtools/page/{self.target_id}", timeout_s=deadline.remaining_s) as connection:
            yield connection

    async def crash(self, *, timeout_s: float) -> bool:
        """Tell its renderer to end, and every WebView in it; whether it was told, or has ended already."""
        deadline = Deadline.after(timeout_s)
        try:
            async with self.connection(deadline) as connection:
                # A renderer that dies writes its dump first, which takes longer than anybody should wait here.
                call = connection.send("Page.crash")
                with suppress(DeadlineExceeded):
                    await call.result(timeout_s=deadline.remaining_s)
        except BridgeError as error:
            logger.debug("%s: %s", self._tab_id, error)
            if not isinstance(error, TransportError):
                return False
        self._home.renderer_killed()
        return True

    async def discard(self, *, timeout_s: float) -> None:
        """Give it back, where it may be gone with its renderer."""
        host_tab, self.host_tab = self.host_tab, None
        if host_tab is None:
            return
        try:
            await self._home.host_client.close_tab(host_tab, timeout_s=timeout_s)
        except BridgeError as error:
            logger.debug("%s: %s", self._tab_id, error)

    def _service(self) -> str:
        return host_service(self._home.host_client.hello.pid)
