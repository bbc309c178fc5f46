"""Devices, streams, shell, install and port mappings, over a real adb server."""

from bridge.adb.device import AdbDevice
from bridge.adb.server import AdbServer
from bridge.adb.shell_protocol import ShellResult
from bridge.adb.smart_socket import DeviceEntry
from bridge.adb.tracking import DeviceTracker

__all__ = ["AdbDevice", "AdbServer", "DeviceEntry", "DeviceTracker", "ShellResult"]
