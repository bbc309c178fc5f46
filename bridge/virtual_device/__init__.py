"""An Android device on this machine: start, find and stop one, and the Chromium that it runs on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bridge.lazy_names import lazy_names

if TYPE_CHECKING:
    from bridge.virtual_device.device_options import DeviceOptions
    from bridge.virtual_device.engine import find_chromium, program_version
    from bridge.virtual_device.process.client import (
        VirtualDeviceHandle,
        list_virtual_devices,
        start_detached,
        start_virtual_device,
        stop_virtual_device,
    )

__all__ = [
    "DeviceOptions",
    "VirtualDeviceHandle",
    "find_chromium",
    "list_virtual_devices",
    "program_version",
    "start_detached",
    "start_virtual_device",
    "stop_virtual_device",
]

__getattr__ = lazy_names(
    __name__,
    {
        "DeviceOptions": "bridge.virtual_device.device_options",
        "VirtualDeviceHandle": "bridge.virtual_device.process.client",
        "find_chromium": "bridge.virtual_device.engine.chromium",
        "list_virtual_devices": "bridge.virtual_device.process.client",
        "program_version": "bridge.virtual_device.engine.chromium",
        "start_detached": "bridge.virtual_device.process.client",
        "start_virtual_device": "bridge.virtual_device.process.client",
        "stop_virtual_device": "bridge.virtual_device.process.client",
    },
)
