"""Whether the host app is on the device, and whether it is the one that we speak with."""

from __future__ import annotations

from bridge.adb import AdbDevice
from bridge.errors import HostMissing, HostVersionMismatch, ShellFailed

HOST_PACKAGE = "dev.webviewbridge.host"
_INSTALL_HINT = "Install it with `webview-bridge host install`."


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
    return HostMissing(f"{HOST_PACKAGE} is not installed on {serial}.", hint=_INSTALL_HINT, serial=serial)


def version_mismatch(app_version: str, host_protocol: int, our_protocol: int) -> HostVersionMismatch:
    """The error for a host app whose control protocol has another number, with the side that is behind."""
    if host_protocol < our_protocol:
        hint = _INSTALL_HINT.replace("Install it", "Install the one that fits")
    else:
        hint = "It is newer than this webview-bridge: upgrade the Python package, or install the host app that fits."
    return HostVersionMismatch(
        f"The host app {app_version} speaks control protocol {host_protocol}, "
        f"this webview-bridge speaks {our_protocol}.",
        hint=hint,
        app_version=app_version,
        host_protocol=host_protocol,
        protocol=our_protocol,
    )
