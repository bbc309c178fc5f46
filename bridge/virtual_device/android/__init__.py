"""The Android system of a virtual device: properties, files, sockets, packages, processes and log."""

from bridge.virtual_device.android.apk import MAX_APK_BYTES, Component, InstallError, read_apk
from bridge.virtual_device.android.files import DeviceFiles, FileStat, WriteHandle, fail
from bridge.virtual_device.android.logcat import LogFilter
from bridge.virtual_device.android.packages import Package, PackageTable, stub_facts, webview_version_code
from bridge.virtual_device.android.properties import DEVICE, MODEL, PRODUCT
from bridge.virtual_device.android.sockets import AbstractSockets, AddressInUse, StreamPair, open_streams, stream_pair
from bridge.virtual_device.android.system import (
    HOST_PACKAGE,
    HOST_SERVICE,
    WEBVIEW_PACKAGE,
    AndroidSystem,
    Process,
    StartService,
    StopService,
    normalize_component,
)

__all__ = [
    "DEVICE",
    "HOST_PACKAGE",
    "HOST_SERVICE",
    "MAX_APK_BYTES",
    "MODEL",
    "PRODUCT",
    "WEBVIEW_PACKAGE",
    "AbstractSockets",
    "AddressInUse",
    "AndroidSystem",
    "Component",
    "DeviceFiles",
    "FileStat",
    "InstallError",
    "LogFilter",
    "Package",
    "PackageTable",
    "Process",
    "StartService",
    "StopService",
    "StreamPair",
    "WriteHandle",
    "fail",
    "normalize_component",
    "open_streams",
    "read_apk",
    "stream_pair",
    "stub_facts",
    "webview_version_code",
]
