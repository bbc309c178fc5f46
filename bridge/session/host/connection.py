"""The way from here to the host app, which can be lost and made anew: adb server, device, reversed ports, host."""

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

# A diagnosis asks all at once, and keeps within the two seconds that an operation may outlive its deadline.
_ASK_S = 1.4
_CLOSE_S = 1.0
_POLL_S = 0.2
_CONNECT_S = 3.0
_RECONNECT_HINT = "session.reconnect() restores host app and tabs; with Session.open(reconnect=True) it is automatic."
_TCP_SERIAL = re.compile(r".+:\d{1,5}")


@dataclass(frozen=True, slots=True)
class _Found:
    """What is lost, and whether all that tells of it is that nobody answered in time."""

    lost: BridgeError
    is_silence: bool = False


class HostConnection:
    """One device's host app, connected.

    Attributes:
        device: The device.
        host: The present connection; another one after `renew`.
        on_connected: Awaited with every new connection before any tab is opened over it, in this order.
        generation: How often the connection was made.
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
        """`has_ended` tells of a device that will not come back, so that nobody waits for it."""
        self.device: AdbDevice = server.device(serial)
        self.on_connected: list[Connected] = []
        self.generation = 0
        self._server = server
        self._serial = serial
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
        """Let go of everything; what is already gone is no trouble."""
        stack, self._stack = self._stack, AsyncExitStack()
        await finish(stack.aclose(), at_most_s=timeout_s, what=f"letting go of {self._serial}")

    async def renew(self, *, timeout_s: float) -> None:
        """Let go of the lost connection, wait for server and device to be there, and connect again.

        Raises:
            DeadlineExceeded: The device did not come back; says what it was last seen as.
            DeviceLost: It has ended and will not.
            DeviceError, HostError: It came back, and the host app cannot be started.
        """
        deadline = Deadline.after(timeout_s)
        was_frozen = not self.host.closed.is_set()
        await self.close(timeout_s=min(_CLOSE_S, deadline.remaining_s))
        await self._wait_for_device(deadline)
        if was_frozen:
            # A process that does not answer would not take the intent either; its tabs are lost one way or the other.
            await stop_host(self.device, timeout_s=deadline.remaining_s)
        # What adbd can do may have changed with it.
        self.device = self._server.device(self._serial)
        await self._connect(deadline)

    async def diagnose(self, is_heard: Callable[[], bool] = lambda: False) -> BridgeError | None:
        """What is lost, device or host app, and why; None when the host app answers.

        Args:
            is_heard: Whether something came from the host app lately, by any way. What does not answer in time is slow
                then, as on a busy machine or behind a flood, and not lost.
        """
        answering = asyncio.ensure_future(self._ask_host())
        listing = asyncio.ensure_future(self._device_state())
        telling = asyncio.ensure_future(self._booted_at())
        try:
            found = await self._found(answering, listing, telling)
        finally:
            for question in (answering, listing, telling):
                question.cancel()
            await asyncio.gather(answering, listing, telling, return_exceptions=True)
        return None if found is None or (found.is_silence and is_heard()) else found.lost

    async def _found(
        self, answering: Awaitable[_Found | None], listing: Awaitable[str], telling: Awaitable[float]
    ) -> _Found | None:
        host = await answering
        if host is None:  # over the connection that there is, so nothing has ended or was restarted
            return None
        try:
            state = await listing
        except DeadlineExceeded:
            words = f"{self._serial} cannot be reached: the adb server at {self._server.address} does not answer."
            return _Found(DeviceLost(words, hint=_RECONNECT_HINT, serial=self._serial), is_silence=True)
        if state != "device" and self._has_ended():
            return _Found(self._end())
        if state != "device":
            return _Found(DeviceLost(f"{self._serial} {state}.", hint=_RECONNECT_HINT, serial=self._serial))
        try:
            booted_at = await telling
        except DeadlineExceeded:
            words = f"adb lists {self._serial}, but it does not answer."
            return _Found(DeviceLost(words, hint=_RECONNECT_HINT), is_silence=True)
        except BridgeError as error:
            return _Found(DeviceLost(f"{self._serial} is gone: {error.message}", hint=_RECONNECT_HINT))
        if booted_at > self._connected_at:
            words = f"{self._serial} was restarted {time.monotonic() - booted_at:.0f} s ago."
            return _Found(DeviceLost(words, hint=_RECONNECT_HINT))
        return host

    def _end(self) -> DeviceLost:
        return DeviceLost(
            f"the virtual device {self._serial} has ended and will not come back.", serial=self._serial, has_ended=True
        )

    async def _ask_host(self) -> _Found | None:
        if (reason := self.host.closed_reason) is None:
            try:
                await self.host.touch(timeout_s=_ASK_S)
            except DeadlineExceeded:
                words = f"the host app on {self._serial} does not answer: its process is frozen."
                return _Found(HostLost(words, hint=_RECONNECT_HINT), is_silence=True)
            except HostLost as error:
                reason = error
            except BridgeError as error:
                logger.debug("the host app answered: %s", error)
        if reason is None:
            return None
        why = await self._why_it_died() or reason.message
        return _Found(HostLost(f"the host app on {self._serial} is gone: {why}", hint=_RECONNECT_HINT))

    async def _booted_at(self) -> float:
        """When the device was started, on our clock, or somewhat earlier; `-math.inf` where it does not say."""
        asked_at = time.monotonic()
        answer = await self.device.shell("cat /proc/uptime", timeout_s=_ASK_S)
        words = answer.stdout.split()
        return asked_at - float(words[0]) if words and _is_number(words[0]) else -math.inf

    async def _why_it_died(self) -> str:
        """An update of WebView ends every process that has it loaded."""
        before = self.host.hello.webview_version
        package = self.host.hello.webview_package
        if not package or re.search(r"[^\w.]", package):
            return ""
        try:
            shown = await self.device.shell(f"dumpsys package {package} | grep -m 1 versionName", timeout_s=_ASK_S)
        except BridgeError:
            return ""
        now = shown.stdout.strip().removeprefix("versionName=").strip()
        return f"{package} was updated from {before} to {now}." if now and before and now != before else ""

    async def _device_state(self) -> str:
        """ "device", or what is the matter, to follow the serial in a sentence.

        Raises:
            DeadlineExceeded: The adb server does not answer.
        """
        try:
            entries = await self._server.devices(timeout_s=_ASK_S)
        except AdbUnavailable:
            return f"cannot be reached: the adb server at {self._server.address} is gone"
        except DeviceError as error:
            return f"cannot be reached: {error.message}"
        found = next((entry.state for entry in entries if entry.serial == self._serial), None)
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
        """There is no event for a device that another server will list, so the lists are asked for now and then."""
        seen = "nothing"
        while True:
            try:
                await self._server.ensure_running(timeout_s=deadline.remaining_s)
                seen = await self._device_state()
                if seen == "device":
                    if await self._has_booted(deadline):
                        return
                    seen = "is starting"
                elif _TCP_SERIAL.fullmatch(self._serial):
                    # A server that was started anew, or a cable that was pulled: nobody else dials a network device.
                    await self._server.connect(self._serial, timeout_s=min(_CONNECT_S, deadline.remaining_s))
            except (DeviceError, DeadlineExceeded) as error:
                seen = error.message
            if seen != "is starting" and self._has_ended():
                raise self._end()
            if deadline.remaining_s <= _POLL_S:
                raise DeadlineExceeded(f"{self._serial} coming back", deadline.timeout_s, seen)
            await asyncio.sleep(_POLL_S)

    async def _has_booted(self, deadline: Deadline) -> bool:
        answer = await self.device.shell("getprop sys.boot_completed", timeout_s=min(_CONNECT_S, deadline.remaining_s))
        return answer.stdout.strip() == "1"


def _is_number(text: str) -> bool:
    return re.fullmatch(r"\d+(\.\d+)?", text) is not None
