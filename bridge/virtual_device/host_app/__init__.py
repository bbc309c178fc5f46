"""The host app of a virtual device, on Chromium."""

from bridge.virtual_device.host_app.service import HostApp

__all__ = [
    "HostApp",
]
