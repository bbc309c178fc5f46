"""Installs, finds, stops and removes the host app on a device."""

from __future__ import annotations

import asyncio
import re
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bridge.adb import AdbDevice
from bridge.deadline import Deadline
from bridge.errors import HostMissing, InstallFailed, ShellFailed
from bridge.host.replies import INSTALL_HINT

HOST_PACKAGE = "dev.webviewbridge.host"
_MANIFEST_BYTES = 1 << 20

Progress = Callable[[int, int], None]
Report = Callable[[str], None]

# Android updates an app only with the same signer and not to an older version. Removing it first solves both.
_REPLACED_AFTER = {
    "INSTALL_FAILED_UPDATE_INCOMPATIBLE": "it was signed with another key",
    "INSTALL_FAILED_SHARED_USER_INCOMPATIBLE": "it was signed with another key",
    "INSTALL_FAILED_VERSION_DOWNGRADE": "it was a newer version",
}
# Other refusals of the package manager that a user can resolve.
_HINTS = {
    "INSTALL_FAILED_USER_RESTRICTED": "Allow 'Install via USB' in the developer options; accept the phone's prompt.",
    "INSTALL_FAILED_VERIFICATION_FAILURE": (
        "Play Protect refused it: accept its prompt, or turn off 'Verify apps over USB' in the developer options."
    ),
    "INSTALL_FAILED_INSUFFICIENT_STORAGE": "Free some space on the device.",
    "INSTALL_FAILED_OLDER_SDK": "The host app needs Android 8 (API 26) or newer.",
}


@dataclass(frozen=True, slots=True)
class InstalledHost:
    """The installed host app; `version_name` is "" if the package manager does not report it."""

    apk_path: str
    version_name: str
    version_code: int | None


@dataclass(frozen=True, slots=True)
class HostInstall:
    """The result of `install_host`.

    Attributes:
        action: `reinstalled` if the previous one had to be removed; `why` has the reason.
        version_name: The version that is installed now.
        before: The previous version, "" for none.
    """

    action: Literal["installed", "updated", "reinstalled"]
    version_name: str
    before: str = ""
    why: str = ""


async def installed_apk(device: AdbDevice, *, timeout_s: float) -> str | None:
    """The path of the host app's APK on the device, None if it is not installed.

    Raises:
        ShellFailed: The package manager does not respond, for example while the device boots.
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


async def installed_host(device: AdbDevice, *, timeout_s: float) -> InstalledHost | None:
    """The installed host app, None if there is none.

    Raises:
        ShellFailed: See installed_apk.
    """
    deadline = Deadline.after(timeout_s)
    path = await installed_apk(device, timeout_s=deadline.remaining_s)
    if path is None:
        return None
    shown = await device.shell(f"dumpsys package {HOST_PACKAGE}", timeout_s=deadline.remaining_s)
    name = re.search(r"^\s*versionName=(\S+)", shown.stdout, re.MULTILINE)
    code = re.search(r"^\s*versionCode=(\d+)", shown.stdout, re.MULTILINE)
    return InstalledHost(path, name[1] if name else "", int(code[1]) if code else None)


async def install_host(
    device: AdbDevice, apk: Path, *, timeout_s: float, on_progress: Progress | None = None, report: Report | None = None
) -> HostInstall:
    """Installs or updates the host app. If its signature or a downgrade prevents an update, it is removed first,
    together with the cookies and storage of its pages, and `report` gets a notice.

    Raises:
        InstallFailed: The file is not the host app, or the package manager refused; the hint says what a user can
            do, if anything.
    """
    deadline = Deadline.after(timeout_s)
    await asyncio.to_thread(_require_host_app, apk)
    before = await installed_host(device, timeout_s=deadline.remaining_s)
    action: Literal["installed", "updated", "reinstalled"] = "installed" if before is None else "updated"
    why = ""
    try:
        await device.install(apk, timeout_s=deadline.remaining_s, on_progress=on_progress)
    except InstallFailed as error:
        why = _REPLACED_AFTER.get(str(error.details.get("pm_code")), "")
        if not why:
            raise _with_hint(error) from error
        if report is not None:
            report(f"the host app on {device.serial} cannot be updated, {why}: removing it first, with its pages' data")
        action = "reinstalled"
        await device.uninstall(HOST_PACKAGE, timeout_s=deadline.remaining_s)
        try:
            await device.install(apk, timeout_s=deadline.remaining_s, on_progress=on_progress)
        except InstallFailed as second:
            raise _with_hint(second) from second
    now = await installed_host(device, timeout_s=deadline.remaining_s)
    if now is None:
        raise InstallFailed(
            f"{device.serial} reported success for {apk.name}, but {HOST_PACKAGE} is not installed for user 0.",
            apk=str(apk),
            serial=device.serial,
        )
    return HostInstall(action, now.version_name, before.version_name if before else "", why)


async def uninstall_host(device: AdbDevice, *, timeout_s: float) -> bool:
    """Removes the host app and its pages' data; False if it is not installed.

    Raises:
        ShellFailed: The package manager refused.
    """
    deadline = Deadline.after(timeout_s)
    if await installed_apk(device, timeout_s=deadline.remaining_s) is None:
        return False
    await device.uninstall(HOST_PACKAGE, timeout_s=deadline.remaining_s)
    return True


async def host_pids(device: AdbDevice, *, timeout_s: float) -> tuple[int, ...]:
    """The pids of the host app."""
    shown = await device.shell(["pidof", HOST_PACKAGE], timeout_s=timeout_s)
    return tuple(int(word) for word in re.findall(r"\b[0-9]{1,9}\b", shown.stdout))


async def stop_host(device: AdbDevice, *, timeout_s: float) -> bool:
    """Ends the host app's process with its tabs; False if it was not running.

    Raises:
        ShellFailed: Android refused the command.
        DeadlineExceeded: The process is still running.
    """
    deadline = Deadline.after(timeout_s)
    ran = await host_pids(device, timeout_s=deadline.remaining_s)
    await device.shell(["am", "force-stop", "--user", "0", HOST_PACKAGE], timeout_s=deadline.remaining_s, check=True)
    left = ran
    async with deadline.bound(f"the end of {HOST_PACKAGE}", lambda: f"process {left} is still running"):
        while left := await host_pids(device, timeout_s=deadline.remaining_s):  # noqa: ASYNC110 - Android sends no event
            await asyncio.sleep(0.1)
    return bool(ran)


def _require_host_app(apk: Path) -> None:
    """Checks the manifest's strings, so that no other app gets installed by mistake. Android validates the APK."""
    try:
        with zipfile.ZipFile(apk) as archive, archive.open("AndroidManifest.xml") as entry:
            manifest = entry.read(_MANIFEST_BYTES)
    except (OSError, KeyError, ValueError, RuntimeError, NotImplementedError, zipfile.BadZipFile, zlib.error) as error:
        raise InstallFailed(f"{apk} is not an APK: {error}", apk=str(apk)) from error
    if not any(HOST_PACKAGE.encode(encoding) in manifest for encoding in ("utf-8", "utf-16-le")):
        raise InstallFailed(f"{apk} is not {HOST_PACKAGE}.", hint="Use adb install for other apps.", apk=str(apk))


def host_missing(serial: str) -> HostMissing:
    """The error for a device without the host app."""
    return HostMissing(f"{HOST_PACKAGE} is not installed on {serial}.", hint=INSTALL_HINT, serial=serial)


def _with_hint(error: InstallFailed) -> InstallFailed:
    code = str(error.details.get("pm_code"))
    return InstallFailed(error.message, hint=_HINTS.get(code, ""), **error.details)
