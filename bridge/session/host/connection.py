"""The connection to the host app, which can be lost and renewed: adb server, device, reversed ports, host app."""

from __future__ import annotations

import asyncio
import logging
import math
import os
import re
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass

from bridge.adb import AdbDevice, AdbServer
from bridge.deadline import Deadline, finish
from bridge.errors import AdbUnavailable, BridgeError, DeadlineExceeded, DeviceError, DeviceLost, HostLost
from bridge.host.client import HostClient
from bridge.host.installation import stop_host
from bridge.host.launch import start_host

logger = logging.getLogger(__name__)

Connected = Callable[[HostClient], Awaitable[None]]

# A diagnosis sends all probes at once, and stays within the two seconds that an operation may outlive its deadline.
_PROBE_S = 1.4
_CLOSE_S = 1.0
_POLL_S = 0.2
_CONNECT_S = 3.0
_RECONNECT_HINT = (
    "session.reconnect() restores the host app and the tabs; Session.open(reconnect=True) does so automatically."
)
_TCP_SERIAL = re.compile(r".+:\d{1,5}")


@dataclass(frozen=True, slots=True)
class _Loss:
    """A lost device or host app; `is_silence` if the only evidence is a probe without a reply."""

    error: BridgeError
    is_silence: bool = False


class HostConnection:
    """
    Attributes:
        host: The present client; another one after `renew`.
        on_connected: Awaited with every new client before any tab is opened over it, in this order.
        generation: How many clients there have been.
    """

    host: HostClient

    def __init__(
        self,
        server: AdbServer,
        serial: str,
        *,
        reversed_ports: Sequence[int],
        policy_digest: str,
        has_ended: Callable[[], bool] = lambda: False,
    ) -> None:
        """
        Args:
            has_ended: Whether the device has ended for good, so that waiting for it is pointless.
        """
        self.serial = serial
        self.device: AdbDevice = server.device(serial)
        self.on_connected: list[Connected] = []
        self.generation = 0
        self._server = server
        self._ports = tuple(reversed_ports)
        self._policy_digest = policy_digest
        self._has_ended = has_ended
        self._stack = AsyncExitStack()
        self._connected_at = time.monotonic()

    async def open(self, *, timeout_s: float) -> None:
        """Connect for the first time.

        Raises:
            DeviceError, HostError: See start_host.
        """
        await self._connect(Deadline.after(timeout_s))

    async def close(self, *, timeout_s: float) -> None:
        """Release everything, also what is already gone."""
        stack, self._stack = self._stack, AsyncExitStack()
        await finish(stack.aclose(), at_most_s=timeout_s, what=f"disconnecting from {self.serial}")

    async def renew(self, *, timeout_s: float) -> None:
        """Release the lost connection, wait for adb server and device, and connect again.

        Raises:
            DeadlineExceeded: The device did not come back; says in which state it was last seen.
            DeviceLost: It has ended for good.
            DeviceError, HostError: It came back, and the host app cannot be started.
        """
        deadline = Deadline.after(timeout_s)
        was_frozen = not self.host.closed.is_set()
        await self.close(timeout_s=min(_CLOSE_S, deadline.remaining_s))
        await self._wait_for_device(deadline)
        if was_frozen:
            # A process that does not answer would not take the start intent either; its tabs are lost in any case.
            await stop_host(self.device, timeout_s=deadline.remaining_s)
        # A rebooted device may have another adbd with other features.
        self.device = self._server.device(self.serial)
        await self._connect(deadline)

    async def diagnose(self, is_heard: Callable[[], bool] = lambda: False) -> BridgeError | None:
        """Find out whether device or host app are lost, and why; None if the host app answers.

        Args:
            is_heard: Whether anything was received from the device recently (`bridge/page/recovery/liveness.py`). If
                so, an unanswered probe means slow, not lost.
        """
        host = asyncio.ensure_future(self._probe_host())
        state = asyncio.ensure_future(self._device_state())
        booted_at = asyncio.ensure_future(self._booted_at())
        try:
            found = await self._find_loss(host, state, booted_at)
        finally:
            for probe in (host, state, booted_at):
                probe.cancel()
            await asyncio.gather(host, state, booted_at, return_exceptions=True)
        return None if found is None or (found.is_silence and is_heard()) else found.error

    async def _find_loss(
        self, host_probe: Awaitable[_Loss | None], state_probe: Awaitable[str], boot_probe: Awaitable[float]
    ) -> _Loss | None:
        host_loss = await host_probe
        if host_loss is None:  # it answered over the present connection, so nothing below has ended or restarted
            return None
        try:
            state = await state_probe
        except DeadlineExceeded:
            message = f"{self.serial} cannot be reached: the adb server at {self._server.address} does not respond."
            return _Loss(DeviceLost(message, hint=_RECONNECT_HINT, serial=self.serial), is_silence=True)
        if state != "device" and self._has_ended():
            return _Loss(self._end())
        if state != "device":
            return _Loss(DeviceLost(f"{self.serial} {state}.", hint=_RECONNECT_HINT, serial=self.serial))
        try:
            booted_at = await boot_probe
        except DeadlineExceeded:
            message = f"adb lists {self.serial}, but it does not respond."
            return _Loss(DeviceLost(message, hint=_RECONNECT_HINT), is_silence=True)
        except BridgeError as error:
            return _Loss(DeviceLost(f"{self.serial} is gone: {error.message}", hint=_RECONNECT_HINT))
        if booted_at > self._connected_at:
            message = f"{self.serial} was restarted {time.monotonic() - booted_at:.0f} s ago."
            return _Loss(DeviceLost(message, hint=_RECONNECT_HINT))
        return host_loss

    def _end(self) -> DeviceLost:
        return DeviceLost(
            f"the virtual device {self.serial} has ended and will not come back.", serial=self.serial, has_ended=True
        )

    async def _probe_host(self) -> _Loss | None:
        if (reason := self.host.closed_reason) is None:
            try:
                await self.host.touch(timeout_s=_PROBE_S)
            except DeadlineExceeded:
                message = f"the host app on {self.serial} does not respond: its process is frozen."
                return _Loss(HostLost(message, hint=_RECONNECT_HINT), is_silence=True)
            except HostLost as error:
                reason = error
            except BridgeError as error:
                logger.debug("the host app replied with an error: %s", error)
        if reason is None:
            return None
        why = await self._why_it_died() or reason.message
        return _Loss(HostLost(f"the host app on {self.serial} is gone: {why}", hint=_RECONNECT_HINT))

    async def _booted_at(self) -> float:
        """The boot time on our clock, or somewhat earlier; `-math.inf` if the device does not report it."""
        sent_at = time.monotonic()
        uptime = await self.device.shell("cat /proc/uptime", timeout_s=_PROBE_S)
        fields = uptime.stdout.split()
        return sent_at - float(fields[0]) if fields and _is_number(fields[0]) else -math.inf

    async def _why_it_died(self) -> str:
        """An update of WebView ends every process that has it loaded; "" if that was not the cause."""
        before = self.host.hello.webview_version
        package = self.host.hello.webview_package
        if not package or re.search(r"[^\w.]", package):
            return ""
        try:
            shown = await self.device.shell(f"dumpsys package {package} | grep -m 1 versionName", timeout_s=_PROBE_S)
        except BridgeError:
            return ""
        now = shown.stdout.strip().removeprefix("versionName=").strip()
        return f"{package} was updated from {before} to {now}." if now and before and now != before else ""

    async def _device_state(self) -> str:
        """ "device", or the problem, to follow the serial in a sentence.

        Raises:
            DeadlineExceeded: The adb server does not answer.
        """
        try:
            entries = await self._server.devices(timeout_s=_PROBE_S)
        except AdbUnavailable:
            return f"cannot be reached: the adb server at {self._server.address} is gone"
        except DeviceError as error:
            return f"cannot be reached: {error.message}"
        found = next((entry.state for entry in entries if entry.serial == self.serial), None)
        if found is None:
            return "is not attached any more"
        return found if found == "device" else f"is {found}"

    async def _connect(self, deadline: Deadline) -> None:
        async with AsyncExitStack() as stack:
            for number in self._ports:
                port = f"tcp:{number}"
                await stack.enter_async_context(self.device.reverse(port, port, timeout_s=deadline.remaining_s))
            host = await stack.enter_async_context(
                start_host(
                    self.device,
                    owner=f"pid {os.getpid()}",
                    policy_digest=self._policy_digest,
                    timeout_s=deadline.remaining_s,
                )
            )
            for prepare in self.on_connected:
                await prepare(host)
            self.host = host
            self.generation += 1
            self._connected_at = time.monotonic()
            self._stack = stack.pop_all()

    async def _wait_for_device(self, deadline: Deadline) -> None:
        """Polls: there is no event for a device that another adb server will list."""
        seen = "nothing"
        while True:
            try:
                await self._server.ensure_running(timeout_s=deadline.remaining_s)
                seen = await self._device_state()
                if seen == "device":
                    if await self._has_booted(deadline):
                        return
                    seen = "is starting"
                elif _TCP_SERIAL.fullmatch(self.serial):
                    # After a restart of the server, or a lost network, nothing else connects a network device again.
                    await self._server.connect(self.serial, timeout_s=min(_CONNECT_S, deadline.remaining_s))
            except (DeviceError, DeadlineExceeded) as error:
                seen = error.message
            if seen != "is starting" and self._has_ended():
                raise self._end()
            if deadline.remaining_s <= _POLL_S:
                raise DeadlineExceeded(f"{self.serial} coming back", deadline.timeout_s, seen)
            await asyncio.sleep(_POLL_S)

    async def _has_booted(self, deadline: Deadline) -> bool:
        prop = await self.device.shell("getprop sys.boot_completed", timeout_s=min(_CONNECT_S, deadline.remaining_s))
        return prop.stdout.strip() == "1"


def _is_number(text: str) -> bool:
    return re.fullmatch(r"\d+(\.\d+)?", text) is not None
