"""The host app on a device: what is installed, installing it, removing it."""

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
Tell = Callable[[str], None]

# Android updates an app only from the same signer, and not to an older version; removing it first helps with both.
_REPLACED_AFTER = {
    "INSTALL_FAILED_UPDATE_INCOMPATIBLE": "it was signed with another key",
    "INSTALL_FAILED_SHARED_USER_INCOMPATIBLE": "it was signed with another key",
    "INSTALL_FAILED_VERSION_DOWNGRADE": "it was a newer version",
}
# The package manager's other refusals that a person can do something about.
_HINTS = {
    "INSTALL_FAILED_USER_RESTRICTED": "Allow 'Install via USB' in the developer options; accept the phone's prompt.",
    "INSTALL_FAILED_VERIFICATION_FAILURE": (
        "Play Protect refused it: accept its prompt, or switch off 'Verify apps over USB' in the developer options."
    ),
    "INSTALL_FAILED_INSUFFICIENT_STORAGE": "Free some space on the device.",
    "INSTALL_FAILED_OLDER_SDK": "The host app needs Android 8 (API 26) or newer.",
}


@dataclass(frozen=True, slots=True)
class InstalledHost:
    """The host app as the package manager has it; `version_name` is "" where it does not tell."""

    apk_path: str
    version_name: str
    version_code: int | None


@dataclass(frozen=True, slots=True)
class HostInstall:
    """What `install_host` did.

    Attributes:
        action: `reinstalled` where the one before had to be removed; `why` says why.
        version_name: What is installed now.
        before: The version that was there, "" for none.
    """

    action: Literal["installed", "updated", "reinstalled"]
    version_name: str
    before: str = ""
    why: str = ""


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


async def installed_host(device: AdbDevice, *, timeout_s: float) -> InstalledHost | None:
    """The installed host app with its version, None when there is none.

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
    device: AdbDevice, apk: Path, *, timeout_s: float, on_progress: Progress | None = None, tell: Tell | None = None
) -> HostInstall:
    """Install or update the host app. One that Android will not update, by its signature or as a downgrade, is removed
    first, which also removes the cookies and storage of its pages; `tell` is told so.

    Raises:
        InstallFailed: The file is not the host app, or the package manager said no; the hint says what a person can
            do, where something can be done.
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
        if tell is not None:
            tell(f"the host app on {device.serial} cannot be updated, {why}: it is removed first, with its pages' data")
        action = "reinstalled"
        await device.uninstall(HOST_PACKAGE, timeout_s=deadline.remaining_s)
        try:
            await device.install(apk, timeout_s=deadline.remaining_s, on_progress=on_progress)
        except InstallFailed as second:
            raise _with_hint(second) from second
    now = await installed_host(device, timeout_s=deadline.remaining_s)
    if now is None:
        raise InstallFailed(
            f"{device.serial} said it installed {apk.name}, and {HOST_PACKAGE} is not there for user 0.",
            apk=str(apk),
            serial=device.serial,
        )
    return HostInstall(action, now.version_name, before.version_name if before else "", why)


async def uninstall_host(device: AdbDevice, *, timeout_s: float) -> bool:
    """Remove the host app and all that its pages have stored; False when there is none.

    Raises:
        ShellFailed: The package manager's words.
    """
    deadline = Deadline.after(timeout_s)
    if await installed_apk(device, timeout_s=deadline.remaining_s) is None:
        return False
    await device.uninstall(HOST_PACKAGE, timeout_s=deadline.remaining_s)
    return True


async def host_pids(device: AdbDevice, *, timeout_s: float) -> tuple[int, ...]:
    """The processes of the host app; none when it does not run."""
    shown = await device.shell(["pidof", HOST_PACKAGE], timeout_s=timeout_s)
    return tuple(int(word) for word in re.findall(r"\b[0-9]{1,9}\b", shown.stdout))


async def stop_host(device: AdbDevice, *, timeout_s: float) -> bool:
    """End the host app's process with its tabs; False when it did not run.

    Raises:
        ShellFailed: Android did not take the command.
        DeadlineExceeded: It is still there.
    """
    deadline = Deadline.after(timeout_s)
    ran = await host_pids(device, timeout_s=deadline.remaining_s)
    await device.shell(["am", "force-stop", "--user", "0", HOST_PACKAGE], timeout_s=deadline.remaining_s, check=True)
    left = ran
    async with deadline.bound(f"the end of {HOST_PACKAGE}", lambda: f"process {left} is still there"):
        while left := await host_pids(device, timeout_s=deadline.remaining_s):  # noqa: ASYNC110 - Android tells nobody
            await asyncio.sleep(0.1)
    return bool(ran)


def _require_host_app(apk: Path) -> None:
    """A glance at the manifest's strings before another app is put on a device; what it is really, Android judges."""
    try:
        with zipfile.ZipFile(apk) as archive, archive.open("AndroidManifest.xml") as entry:
            manifest = entry.read(_MANIFEST_BYTES)
    except (OSError, KeyError, ValueError, RuntimeError, NotImplementedError, zipfile.BadZipFile, zlib.error) as error:
        raise InstallFailed(f"{apk} is no APK: {error}", apk=str(apk)) from error
    if not any(HOST_PACKAGE.encode(encoding) in manifest for encoding in ("utf-8", "utf-16-le")):
        raise InstallFailed(f"{apk} is not {HOST_PACKAGE}.", hint="adb install puts other apps there.", apk=str(apk))


def host_missing(serial: str) -> HostMissing:
    """The error for a device without the host app."""
    return HostMissing(f"{HOST_PACKAGE} is not installed on {serial}.", hint=INSTALL_HINT, serial=serial)


def _with_hint(error: InstallFailed) -> InstallFailed:
    code = str(error.details.get("pm_code"))
    return InstallFailed(error.message, hint=_HINTS.get(code, ""), **error.details)
