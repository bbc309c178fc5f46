"""Which device a session runs on."""

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
    """Virtual devices as the composition root hands them in; this layer does not know how they are made."""

    def running(self) -> tuple[str, ...]:
        """Serials of virtual devices that this user has started and that are still there."""
        ...

    def owned(self) -> tuple[str, ...]:
        """Serials of virtual devices that live inside somebody's session: they are not for others to take."""
        ...

    def start(self, server: AdbServer, *, timeout_s: float) -> AbstractAsyncContextManager[str]:
        """A new virtual device for as long as the block lasts; yields its serial."""
        ...


@dataclass(frozen=True, slots=True)
class Chosen:
    serial: str
    is_virtual: bool


@asynccontextmanager
async def chosen_device(
    server: AdbServer, wanted: str, virtual: VirtualDevices | None, on_notice: Notice, *, timeout_s: float
) -> AsyncIterator[Chosen]:
    """The device named by `wanted`: a serial, "virtual", or "auto".

    "auto" takes ANDROID_SERIAL where it is set, else the one device that is attached, else a virtual device, and says
    so. A serial never falls back to another device, nor does a device that is attached and not ready. "virtual" takes
    one that runs and is nobody's, else a new one.

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
        yield Chosen(serial, virtual is not None and serial in (*running, *virtual.owned()))
        return
    if virtual is None and wanted == "virtual":
        raise NoDevice("no virtual device is running", hint="'webview-bridge virtual start' starts one.")
    if virtual is None:
        raise NoDevice("no device is attached", hint="Attach one, or use device='virtual'.")
    starting = virtual.start(server, timeout_s=timeout_s)  # who does not start any says so here
    if wanted == "auto":
        on_notice("no Android device is attached: using a virtual device (Chromium on this machine, not a phone)")
    async with starting as started:
        yield Chosen(started, True)


def has_ended(chosen: Chosen, virtual: VirtualDevices | None) -> bool:
    """Whether it was a virtual device whose process is over: no other will have its serial."""
    return chosen.is_virtual and virtual is not None and chosen.serial not in (*virtual.running(), *virtual.owned())


def _only_device(entries: tuple[DeviceEntry, ...]) -> str | None:
    ready = [entry.serial for entry in entries if entry.state == "device"]
    if len(ready) > 1:
        raise DeviceAmbiguous(
            f"{len(ready)} devices are attached: {', '.join(ready)}", hint="Name one with --device SERIAL."
        )
    if ready:
        return ready[0]
    if entries:
        raise _not_ready(entries[0], " To go without it, name another with --device: a serial, or virtual.")
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
