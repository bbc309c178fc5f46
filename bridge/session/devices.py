"""Selects the device of a session."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

from bridge.adb import AdbServer, DeviceEntry
from bridge.errors import (
    DeviceAmbiguous,
    DeviceError,
    DeviceNotFound,
    DeviceOffline,
    DeviceUnauthorized,
    NoDevice,
    UsageError,
)
from bridge.host.lease import held_by, lease_key

Notice = Callable[[str], None]


class VirtualDevices(Protocol):
    """The interface to virtual devices; the composition root implements it."""

    def running(self) -> tuple[str, ...]:
        """Serials of the virtual devices that this user has started and that still run."""
        ...

    def owned(self) -> tuple[str, ...]:
        """Serials of virtual devices that belong to one session; other sessions do not take them."""
        ...

    def start(self, server: AdbServer, *, timeout_s: float) -> AbstractAsyncContextManager[str]:
        """A new virtual device for the length of the block; yields its serial."""
        ...


@dataclass(frozen=True, slots=True)
class SelectedDevice:
    serial: str
    is_virtual: bool


@asynccontextmanager
async def select_device(
    server: AdbServer, wanted: str, virtual: VirtualDevices | None, on_notice: Notice, *, timeout_s: float
) -> AsyncIterator[SelectedDevice]:
    """The device named by `wanted`: a serial, "virtual", or "auto".

    "auto" takes ANDROID_SERIAL if it is set, else the one attached device, else a virtual device, with a notice. A
    serial never falls back to another device, nor does an attached device that is not ready. "virtual" takes a running
    one that no other session uses, else a new one.

    Raises:
        DeviceNotFound, DeviceUnauthorized, DeviceOffline, DeviceAmbiguous, NoDevice
    """
    if not wanted:
        raise UsageError("device is empty", hint='Give a serial, "auto" or "virtual".')
    if wanted == "auto":
        wanted = os.environ.get("ANDROID_SERIAL") or wanted
    running = virtual.running() if virtual else ()
    entries = await server.devices(timeout_s=timeout_s)
    if wanted == "auto":
        owned = virtual.owned() if virtual else ()
        serial = _only_device(tuple(entry for entry in entries if entry.serial not in owned))
    elif wanted == "virtual":
        attached = {entry.serial for entry in entries if entry.state == "device"}
        free = (found for found in running if found in attached and held_by(lease_key(server.device(found))) is None)
        serial = next(free, None)
    else:
        serial = _named(entries, wanted)
    if serial is not None:
        yield SelectedDevice(serial, virtual is not None and serial in (*running, *virtual.owned()))
        return
    if virtual is None and wanted == "virtual":
        raise NoDevice("no virtual device is running", hint="'webview-bridge virtual start' starts one.")
    if virtual is None:
        raise NoDevice("no device is attached", hint="Attach one, or use device='virtual'.")
    starting = virtual.start(server, timeout_s=timeout_s)  # raises if none can be started
    if wanted == "auto":
        on_notice("no Android device is attached: using a virtual device (Chromium on this machine, not a phone)")
    async with starting as started:
        yield SelectedDevice(started, True)


def has_ended(selected: SelectedDevice, virtual: VirtualDevices | None) -> bool:
    """True for a virtual device whose process has ended: it will not come back under this serial."""
    return selected.is_virtual and virtual is not None and selected.serial not in (*virtual.running(), *virtual.owned())


def _only_device(entries: tuple[DeviceEntry, ...]) -> str | None:
    ready = [entry.serial for entry in entries if entry.state == "device"]
    if len(ready) > 1:
        raise DeviceAmbiguous(
            f"{len(ready)} devices are attached: {', '.join(ready)}", hint="Name one with --device SERIAL."
        )
    if ready:
        return ready[0]
    if entries:
        raise _not_ready(entries[0], " To use another device, name it with --device: a serial, or virtual.")
    return None


def _named(entries: tuple[DeviceEntry, ...], serial: str) -> str:
    entry = next((entry for entry in entries if entry.serial == serial), None)
    if entry is None:
        attached = ", ".join(entry.serial for entry in entries) or "none"
        raise DeviceNotFound(f"no device with serial {serial!r} is attached (attached: {attached})")
    if entry.state != "device":
        raise _not_ready(entry)
    return serial


def _not_ready(entry: DeviceEntry, otherwise: str = "") -> DeviceError:
    if entry.state in ("unauthorized", "authorizing"):
        hint = "Unlock the phone and accept the USB debugging prompt."
        return DeviceUnauthorized(f"{entry.serial} has not authorised this computer", hint=hint + otherwise)
    if entry.state == "no permissions":
        hint = "This user may not use the USB device: install Android's udev rules and plug it in again."
    else:
        hint = "Reconnect it, or wait until it has booted."
    return DeviceOffline(f"{entry.serial} is {entry.state}", hint=hint + otherwise)
