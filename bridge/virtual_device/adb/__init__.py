"""The ADB transport: a device that the adb server connects to."""

from bridge.virtual_device.adb.adbd import Adbd
from bridge.virtual_device.adb.reverse import ReverseTable
from bridge.virtual_device.adb.services import FEATURES, find_service
from bridge.virtual_device.adb.slow_link import LinkShape
from bridge.virtual_device.adb.transport import Handler, Transport

__all__ = [
    "FEATURES",
    "Adbd",
    "Handler",
    "LinkShape",
    "ReverseTable",
    "Transport",
    "find_service",
]
