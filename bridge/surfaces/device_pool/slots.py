"""The slots of a pool: one device each, with its state and back-off."""

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
from bridge.surfaces.device_pool.lease import try_lease

if TYPE_CHECKING:
    from bridge.adb import AdbServer
    from bridge.session import VirtualDevices

# Errors that a person has to resolve; retrying is pointless.
_FINAL = (DeviceUnauthorized, ChromiumMissing, HostMissing, HostVersionMismatch, WebViewTooOld)
_BUSY_S = 0.1
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.5, 20.0
_STARTS_IN_A_ROW = 3
_STOP_S = 25.0


class Slot:
    """A device that runs one job at a time.

    Attributes:
        name: For messages.
        is_taken: A job is using it.
        is_out: Unusable for the rest of the pool's life.
        not_before: When to retry, on the monotonic clock.
        trouble: The error of the last attempt, or None.
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
        """True if the device is already running."""
        return True

    async def acquire(self, stack: AsyncExitStack, deadline: Deadline) -> str | None:
        """Lease the device until the stack ends; returns its serial, or None while another process has it.

        Raises:
            BridgeError: The device is not available.
        """
        raise NotImplementedError

    async def discard(self) -> None:
        """Drop a lost device."""

    def busy(self) -> None:
        """Retry soon: another process has the device."""
        self.not_before = time.monotonic() + _BUSY_S

    def succeeded(self) -> None:
        self._failures, self.trouble = 0, None

    def failed(self, error: BridgeError) -> None:
        """Back off, longer each time; for good if retrying is pointless."""
        self._failures += 1
        self.trouble = error
        self.not_before = time.monotonic() + min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2 ** (self._failures - 1))
        self.is_out = isinstance(error, _FINAL) or (
            isinstance(error, VirtualDeviceFailed) and self._failures >= _STARTS_IN_A_ROW
        )


class AttachedSlot(Slot):
    """A phone or an emulator, leased among this user's processes. It may return after a loss."""

    def __init__(self, serial: str, lease_name: str) -> None:
        super().__init__(serial)
        self._lease_name = lease_name

    async def acquire(self, stack: AsyncExitStack, deadline: Deadline) -> str | None:
        return self.name if try_lease(self._lease_name, stack) else None


class VirtualSlot(Slot):
    """A virtual device of the pool, started on first use and after a loss."""

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
            async with self._starting:  # a starting browser needs a core of its own
                device = self._virtual.start(self._server, timeout_s=deadline.remaining_s)
                self._serial = await self._device.enter_async_context(device)
        return self._serial

    async def discard(self) -> None:
        device, self._device, self._serial = self._device, AsyncExitStack(), None
        await finish(device.aclose(), at_most_s=_STOP_S, what=f"stopping {self.name}")
