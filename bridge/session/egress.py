"""Routes a session's traffic through the egress gate on this machine, over a reversed port of the device."""

from __future__ import annotations

import hashlib
import json
import logging
import secrets
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from typing import ClassVar, Literal
from weakref import WeakSet

from bridge.adb import AdbDevice
from bridge.deadline import Deadline
from bridge.errors import BridgeError, HostFailed, NavigationFailed, PolicyRefused, ServiceRefused
from bridge.host.client import HostClient
from bridge.page.interception.url_policy import UrlPolicy
from bridge.page.target.attachment import Attachment
from bridge.peer_user import own_user
from bridge.policy.browser_policy import BrowserPolicy
from bridge.policy.gate import Gate, run_gate
from bridge.policy.grant import Grant
from bridge.policy.pinning import PinnedEgress

logger = logging.getLogger(__name__)

_SET_UP_S = 15.0
_GATE_HOST = "127.0.0.1"
# Linux's ephemeral ports, of which any may be taken on the device.
_FIRST_PORT, _PORTS, _PORT_TRIES = 32_768, 28_232, 5


class Containment:
    """Enforces the policy on the traffic of one session.

    Attributes:
        egress: Resolves, pins and connects; its audit is the session's.
        gate: The proxy of the device's WebView; None before `route`.
        mode: `pinned` if all of the WebView's traffic goes through the gate.
        webrtc: See `Capabilities.webrtc`, also for what it does not cover.
        intercepts: Whether requests are also judged in the page.
    """

    # A proxy holds for the whole host process: one session of this program sets it, others leave it alone.
    _pointed: ClassVar[WeakSet[Containment]] = WeakSet()

    def __init__(self, egress: PinnedEgress, device: Callable[[], AdbDevice], notice: Callable[[str], None]) -> None:
        self.egress = egress
        self.gate: Gate | None = None
        self.mode: Literal["pinned", "unpinned"] = "unpinned"
        self.webrtc: Literal["blocked", "open"] = "open"
        self.intercepts = False
        self._device = device
        self._notice = notice
        self._interception = UrlPolicy(egress, blocks_proxy_bypass=egress.policy.blocks_webrtc)
        self._gate_stack = AsyncExitStack()
        self._route_stack = AsyncExitStack()
        self._device_port: int | None = None

    @property
    def serial(self) -> str:
        return self._device().serial

    async def route(self, host: HostClient) -> None:
        """Set the gate as the host app's proxy; awaited with every connection, before any tab is opened over it.

        Raises:
            PolicyRefused: The device does not take the proxy, and the policy is strict.
        """
        deadline = Deadline.after(_SET_UP_S)
        if self.gate is None:
            # The device reaches the gate through the adb server, which another user may have started.
            server_user = await self._device().server.user(timeout_s=deadline.remaining_s)
            users = {own_user()} if server_user is None else {own_user(), server_user}
            running = run_gate(self.egress, has_pages=False, users=users)
            self.gate = await self._gate_stack.enter_async_context(running)
        await self._route_stack.aclose()
        reason = await self._point_at_gate(host, self.gate, deadline)
        self.mode = "unpinned" if reason else "pinned"
        if not reason:
            return
        if self.egress.policy.strict:
            raise PolicyRefused(
                f"the policy is strict, and cannot be enforced on this device: {reason}",
                hint="Use a device whose WebView supports a proxy, or set strict = false in [browser.policy].",
                rule="strict",
            )
        self._notice(f"the device connects directly, not through the egress gate (egress=unpinned): {reason}")

    async def install(self, attachment: Attachment) -> None:
        """Intercept the requests of a new attachment; awaited before it loads anything.

        Raises:
            PolicyRefused: They cannot be intercepted, and the policy is strict.
        """
        self._interception.checks_addresses = self.mode == "unpinned"
        self.intercepts, closed = await self._interception.install(attachment, timeout_s=_SET_UP_S)
        self.webrtc = "blocked" if closed else "open"
        missing = "" if self.intercepts else "requests cannot be intercepted"
        if not closed:
            missing = missing or "WebRTC and WebTransport cannot be removed"
        if missing and self.egress.policy.strict:
            raise PolicyRefused(
                f"the policy is strict, and cannot be enforced on this WebView: {missing}",
                hint="Update Android System WebView, or set strict = false in [browser.policy].",
                rule="strict",
            )

    def explain(self, error: NavigationFailed) -> BridgeError:
        """See UrlPolicy.explain."""
        return self._interception.explain(error)

    async def close(self) -> None:
        """Release the device's port, then stop the gate."""
        self._pointed.discard(self)
        await self._route_stack.aclose()
        await self._gate_stack.aclose()

    async def _point_at_gate(self, host: HostClient, gate: Gate, deadline: Deadline) -> str:
        """Set the proxy; returns the reason if that failed, else ""."""
        if any(other is not self and other.serial == self.serial for other in self._pointed):
            return "another session of this program has set its proxy, and a device's WebView has only one"
        try:
            port = await self._reverse_gate(gate, deadline)
            if self._device_port is None:
                await _close_leftovers(host, deadline)
            reply = await host.set_proxy(_GATE_HOST, port, timeout_s=deadline.remaining_s)
        except HostFailed as error:
            if error.host_code == "tabs_open" and port == self._device_port:
                return ""  # this session's own tabs outlived a lost connection, and use this port
            return error.message
        except ServiceRefused as error:
            return error.message
        self._device_port = port
        if reply.fields.get("mechanism") not in ("controller", "properties"):
            return "the host app found no way to set a proxy"
        self._pointed.add(self)
        if reply.fields.get("loopback") is not True:
            return "its WebView does not send requests for the device's loopback through a proxy"
        return ""

    async def _reverse_gate(self, gate: Gate, deadline: Deadline) -> int:
        """Reverse a port of the device to the gate; the port.

        Not `tcp:0`: the adb server keeps the first reversed port under that name, and aborts when the device uses the
        next one ("disallowed connect", AOSP packages/modules/adb/adb.cpp).
        """
        # Tabs that outlived a lost connection still use the port from before.
        tries = [self._device_port] if self._device_port is not None else []
        tries += [_FIRST_PORT + secrets.randbelow(_PORTS) for _ in range(_PORT_TRIES)]
        refused: ServiceRefused | None = None
        for port in tries:
            reverse = self._device().reverse(f"tcp:{port}", f"tcp:{gate.port}", timeout_s=deadline.remaining_s)
            try:
                await self._route_stack.enter_async_context(reverse)
            except ServiceRefused as error:  # taken
                refused = error
                continue
            return port
        assert refused is not None
        raise refused


async def _close_leftovers(host: HostClient, deadline: Deadline) -> None:
    """Close tabs that an earlier session of this program left: the host app takes no proxy while tabs are open.

    The host app lists only tabs of the client's own owner and policy (PROTOCOL.md §4); the owner is this process.
    """
    for tab in await host.list_tabs(timeout_s=deadline.remaining_s):
        try:
            await host.close_tab(str(tab.get("tab")), timeout_s=deadline.remaining_s)
        except HostFailed as error:
            if error.host_code != "no_such_tab":
                raise


def policy_digest(policy: BrowserPolicy, grants: Sequence[Grant]) -> str:
    """Identifies the rules: only sessions with equal ones may share a host process."""
    rules = json.dumps(policy.to_json(), sort_keys=True)
    listed = "\n".join(sorted(str(grant) for grant in grants))
    return hashlib.sha256(f"{rules}\n{listed}".encode()).hexdigest()
