"""The places of a pool: each stands for one device, whether it is well at the moment or not."""

from __future__ import annotations

import asyncio
import math
import time
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from bridge.deadline import Deadline, finish
from bridge.errors import (
    BridgeError,
    ChromiumMissing,
    DeviceUnauthorized,
    HostMissing,
    HostVersionMismatch,
    VirtualDeviceFailed,
    WebViewTooOld,
)
from bridge.surfaces.device_pool.lease import take_turn

if TYPE_CHECKING:
    from bridge.adb import AdbServer
    from bridge.session.devices import VirtualDevices

# Waiting changes nothing about these: somebody has to do something first.
_FINAL = (DeviceUnauthorized, ChromiumMissing, HostMissing, HostVersionMismatch, WebViewTooOld)
_BUSY_S = 0.1
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.5, 20.0
_STARTS_IN_A_ROW = 3
_STOP_S = 25.0


class Slot:
    """A device that work can be given, one piece at a time.

    Attributes:
        name: For messages.
        is_taken: Work has it.
        is_out: It will not be well again while the pool lasts.
        not_before: When to try it next, on the monotonic clock.
        trouble: Why the last try failed, None after one that did not.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_taken = False
        self.is_out = False
        self.not_before = -math.inf
        self.trouble: BridgeError | None = None
        self._failures = 0

    @property
    def is_warm(self) -> bool:
        """Whether a device is there already."""
        return True

    async def acquire(self, stack: AsyncExitStack, deadline: Deadline) -> str | None:
        """The device's serial, held until the stack ends; None while another process has it.

        Raises:
            BridgeError: There is no device.
        """
        raise NotImplementedError

    async def discard(self) -> None:
        """Let go of a device that is lost."""

    def busy(self) -> None:
        """Somebody else has it: look again soon."""
        self.not_before = time.monotonic() + _BUSY_S

    def went_well(self) -> None:
        self._failures, self.trouble = 0, None

    def went_wrong(self, error: BridgeError) -> None:
        """Pause, longer each time; for ever where trying again is of no use."""
        self._failures += 1
        self.trouble = error
        self.not_before = time.monotonic() + min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2 ** (self._failures - 1))
        self.is_out = isinstance(error, _FINAL) or (
            isinstance(error, VirtualDeviceFailed) and self._failures >= _STARTS_IN_A_ROW
        )


class AttachedSlot(Slot):
    """A phone or an emulator. It is taken in turn with other processes of this user, and may come back after a loss."""

    def __init__(self, serial: str, turn: str) -> None:
        super().__init__(serial)
        self._turn = turn

    async def acquire(self, stack: AsyncExitStack, deadline: Deadline) -> str | None:
        return self.name if take_turn(self._turn, stack) else None


class VirtualSlot(Slot):
    """A virtual device of the pool's own, started when it is first needed and again when it was lost."""

    def __init__(self, name: str, server: AdbServer, virtual: VirtualDevices, starting: asyncio.Semaphore) -> None:
        super().__init__(name)
        self._server = server
        self._virtual = virtual
        self._starting = starting
        self._device = AsyncExitStack()
        self._serial: str | None = None

    @property
    def is_warm(self) -> bool:
        return self._serial is not None

    async def acquire(self, stack: AsyncExitStack, deadline: Deadline) -> str | None:
        if self._serial is None:
            async with self._starting:  # a browser that starts wants a core to itself
                device = self._virtual.start(self._server, timeout_s=deadline.remaining_s)
                self._serial = await self._device.enter_async_context(device)
        return self._serial

    async def discard(self) -> None:
        device, self._device, self._serial = self._device, AsyncExitStack(), None
        await finish(device.aclose(), at_most_s=_STOP_S, what=f"stopping {self.name}")
