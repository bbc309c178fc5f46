"""The device of a test run: attached devices are leased, a virtual one belongs to the run."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from bridge.adb import AdbServer
from bridge.deadline import Deadline
from bridge.host.lease import lease_key
from bridge.session import select_device
from bridge.surfaces.composition import Session
from bridge.surfaces.device_pool.lease import leased
from bridge.surfaces.device_pool.pool import attached_serials

_LIST_S = 20.0


@dataclass(frozen=True, slots=True)
class DeviceUnderTest:
    serial: str
    is_virtual: bool

    def __str__(self) -> str:
        return f"{self.serial} (virtual: Chromium on this machine, not a phone)" if self.is_virtual else self.serial


@asynccontextmanager
async def device_for_tests(wanted: str, *, is_worker: bool, timeout_s: float) -> AsyncIterator[DeviceUnderTest]:
    """The device for `wanted` (auto, virtual or a serial), exclusive to this process.

    Args:
        is_worker: One of several workers: "auto" then takes any attached device, and waits until one is free.

    Raises:
        DeviceError: As `Session.open`.
        DeadlineExceeded: No device became free.
    """
    deadline = Deadline.after(timeout_s)
    server = AdbServer.from_environment()
    await server.ensure_running(timeout_s=_LIST_S)
    virtual = Session.virtual_devices
    assert virtual is not None
    if wanted == "virtual":
        # Not a running one, which may be in any state.
        async with virtual.start(server, timeout_s=deadline.remaining_s) as serial:
            yield DeviceUnderTest(serial, True)
        return
    there = await attached_serials() if wanted == "auto" and is_worker else ()
    if len(there) > 1:
        async with leased([_key(server, serial) for serial in there], timeout_s=deadline.remaining_s) as key:
            serial = next(serial for serial in there if _key(server, serial) == key)
            yield DeviceUnderTest(serial, serial in virtual.running())
        return
    async with (
        select_device(server, wanted, virtual, lambda _: None, timeout_s=deadline.remaining_s) as chosen,
        leased([_key(server, chosen.serial)], timeout_s=deadline.remaining_s),
    ):
        yield DeviceUnderTest(chosen.serial, chosen.is_virtual)


def _key(server: AdbServer, serial: str) -> str:
    return lease_key(server.device(serial))
