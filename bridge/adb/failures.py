"""Translates failures of the adb server and of devices into errors of this package."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from bridge.adb.smart_socket import NotAdb, Refused
from bridge.adb.stream import StreamClosed, Unreachable
from bridge.errors import (
    AdbUnavailable,
    DeviceError,
    DeviceLost,
    DeviceNotFound,
    DeviceOffline,
    DeviceUnauthorized,
    ServiceRefused,
)

# The texts are AOSP adb/transport.cpp acquire_one_transport() and atransport::connection_state_name().
_NOT_FOUND = re.compile(r"device '.*' not found|device not found|no devices?/emulators? found|no devices found")
_UNAUTHORIZED = re.compile(r"device (?:still )?(?:unauthorized|authorizing)")
_OFFLINE = re.compile(r"device (?:offline|still connecting)|insufficient permissions|no permissions")


def device_refusal(serial: str, service: str, reason: str) -> DeviceError:
    """The error for a FAIL from, or about, a device."""
    reason = " ".join(reason.split())
    if _NOT_FOUND.search(reason):
        return DeviceNotFound(f"device {serial} is not attached.", serial=serial)
    if _UNAUTHORIZED.match(reason):
        return DeviceUnauthorized(
            f"{serial} has not authorised this computer: {reason}",
            hint="Unlock the device and accept the USB debugging prompt.",
            serial=serial,
        )
    if _OFFLINE.match(reason):
        return DeviceOffline(f"{serial} does not respond: {reason}", serial=serial)
    return ServiceRefused(service, reason)


@contextmanager
def server_failures(address: str) -> Iterator[None]:
    """Translates failures of a connection to the server."""
    try:
        yield
    except Unreachable as error:
        raise AdbUnavailable(f"No adb server at {address}: {error}.", address=address) from error
    except NotAdb as error:
        raise AdbUnavailable(
            f"the listener at {address} is not an adb server; it replied {error.seen[:40]!r}.", address=address
        ) from error
    except StreamClosed as error:
        raise AdbUnavailable(
            f"The adb server at {address} closed the connection: {error.seen}.", address=address
        ) from error


@contextmanager
def device_failures(serial: str, service: str) -> Iterator[None]:
    """Translates failures of a connection to a device; use it inside `server_failures`."""
    try:
        yield
    except Refused as error:
        raise device_refusal(serial, service, error.reason) from error
    except StreamClosed as error:
        raise DeviceLost(f"{serial} was lost during {service}: {error.seen}.", serial=serial) from error
