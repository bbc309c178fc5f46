"""Accepts invalid certificates of hosts that the caller names one by one."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from bridge.deadline import Deadline
from bridge.errors import BridgeError, ProtocolError, Unsupported, UsageError
from bridge.page.target.attachment import Attachment

logger = logging.getLogger(__name__)

_REPLY_S = 5.0
_RETRY_S = 0.05


@dataclass(slots=True)
class CertificateExceptions:
    """Hosts whose certificate errors are ignored. Other hosts' errors still fail their requests.

    `Security.setIgnoreCertificateErrors` would ignore all errors, so each error is decided by its URL instead.
    """

    hosts: set[str] = field(default_factory=set)
    _handling: set[asyncio.Task[None]] = field(default_factory=set)

    async def accept(self, attachment: Attachment, host: str, deadline: Deadline) -> None:
        """Ignore certificate errors of this host from now on.

        Raises:
            UsageError: Not a valid host name.
            Unsupported: The engine does not report certificate errors for a decision.
        """
        name = host.strip().lower().strip("[]").rstrip(".")
        if not name or any(character in name for character in "/*@ "):
            raise UsageError(f"{host!r} is not a valid host name")
        first = not self.hosts
        self.hosts.add(name)
        if first:
            try:
                await self.apply(attachment, deadline)
            except BaseException:
                self.hosts.discard(name)
                raise

    async def apply(self, attachment: Attachment, deadline: Deadline) -> None:
        """Install the exceptions in an attachment, if there are any."""
        if not self.hosts:
            return
        remove = attachment.connection.on_event(lambda method, params, _: self._take(attachment, method, params))
        try:
            await self._override(attachment, deadline)
        except BaseException:
            remove()  # another attempt adds it again
            raise

    @staticmethod
    async def _override(attachment: Attachment, deadline: Deadline) -> None:
        while True:
            try:
                await attachment.call("Security.enable", timeout_s=deadline.remaining_s)
                params = {"override": True}
                await attachment.call("Security.setOverrideCertificateErrors", params, timeout_s=deadline.remaining_s)
                return
            except ProtocolError as error:
                # While a navigation is committing, the domain has no page to attach to.
                if "active page" not in error.reason or deadline.remaining_s <= _RETRY_S:
                    raise Unsupported(
                        f"this WebView does not report certificate errors for a decision: {error.reason}"
                    ) from error
            await asyncio.sleep(_RETRY_S)

    def _take(self, attachment: Attachment, method: str, params: Mapping[str, Any]) -> None:
        if method != "Security.certificateError":
            return
        task = asyncio.ensure_future(self._handle(attachment, params))
        self._handling.add(task)
        task.add_done_callback(self._handling.discard)

    async def _handle(self, attachment: Attachment, params: Mapping[str, Any]) -> None:
        url = str(params.get("requestURL", ""))
        host = (urlsplit(url).hostname or "").rstrip(".")
        action = "continue" if host in self.hosts else "cancel"
        try:
            await attachment.call(
                "Security.handleCertificateError", {"eventId": params["eventId"], "action": action}, timeout_s=_REPLY_S
            )
        except BridgeError as error:
            logger.debug("could not decide the certificate error of %s: %s", url[:200], error)
