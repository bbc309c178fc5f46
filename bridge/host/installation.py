"""Whether the host app is on the device."""

from __future__ import annotations

from bridge.adb import AdbDevice
from bridge.errors import HostMissing, ShellFailed
from bridge.host.client import INSTALL_HINT

HOST_PACKAGE = "dev.webviewbridge.host"


async def installed_apk(device: AdbDevice, *, timeout_s: float) -> str | None:
    """Where the host app's APK lies on the device, None when it is not installed.

    Raises:
        ShellFailed: The package manager does not answer, as it does while a device boots.
    """
    command = ["pm", "path", "--user", "0", HOST_PACKAGE]
    result = await device.shell(command, timeout_s=timeout_s)
    for line in result.stdout.splitlines():
        if line.startswith("package:"):
            return line.removeprefix("package:").strip()
    complaint = (result.stdout + result.stderr).strip()
    if complaint:
        raise ShellFailed(" ".join(command), result.exit_code, complaint)
    return None


def host_missing(serial: str) -> HostMissing:
    """The error for a device without the host app."""
    return HostMissing(f"{HOST_PACKAGE} is not installed on {serial}.", hint=INSTALL_HINT, serial=serial)
