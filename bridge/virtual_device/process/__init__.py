"""The process that a virtual device runs in, and its client."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bridge.lazy_names import lazy_names

if TYPE_CHECKING:
    from bridge.virtual_device.process.client import (
        VirtualDeviceHandle,
        list_virtual_devices,
        start_detached,
        start_virtual_device,
        stop_virtual_device,
    )
    from bridge.virtual_device.process.main import main

__all__ = [
    "VirtualDeviceHandle",
    "list_virtual_devices",
    "main",
    "start_detached",
    "start_virtual_device",
    "stop_virtual_device",
]

__getattr__ = lazy_names(
    __name__,
    {
        "VirtualDeviceHandle": "bridge.virtual_device.process.client",
        "list_virtual_devices": "bridge.virtual_device.process.client",
        "main": "bridge.virtual_device.process.main",
        "start_detached": "bridge.virtual_device.process.client",
        "start_virtual_device": "bridge.virtual_device.process.client",
        "stop_virtual_device": "bridge.virtual_device.process.client",
    },
)
