"""The host app's APK: package data of the wheel; a source checkout builds it on demand."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from bridge.deadline import Deadline
from bridge.errors import InstallFailed

APK = Path(__file__).with_name("host_app.apk")
_CHECKOUT = Path(__file__).resolve().parents[2]
_TOOL = _CHECKOUT / "tools" / "build-host-app"
_SOURCES = _CHECKOUT / "android_host_app" / "app" / "src" / "main"
BUILD_HINT = "Build it: tools/build-host-app (needs a JDK 17, Maven, zipalign and apksigner)."

Report = Callable[[str], None]


def is_checkout() -> bool:
    """True if this package lies in a source checkout, which can build the APK."""
    return _TOOL.is_file() and _SOURCES.is_dir()


def is_current(apk: Path = APK, sources: Path = _SOURCES) -> bool:
    """True if the APK exists and is not older than its sources, if there are any."""
    if not apk.is_file():
        return False
    built_at = apk.stat().st_mtime
    return not any(path.is_file() and path.stat().st_mtime > built_at for path in sources.rglob("*"))


async def ready_apk(report: Report, *, timeout_s: float, build: bool | None = None) -> Path:
    """The APK to install. In a checkout it is built first if it is missing or older than its sources.

    `report` gets the lines of the build.

    Args:
        build: False never builds; True always runs the build tool, which does nothing if nothing has changed.

    Raises:
        InstallFailed: There is no APK and it cannot be built here; the hint says how to get one.
    """
    if build is None:
        build = is_checkout() and not await asyncio.to_thread(is_current)
    if build:
        await _run_tool(_TOOL, report, Deadline.after(timeout_s))
    if not APK.is_file():
        hint = (
            BUILD_HINT
            if is_checkout()
            else "Install webview-bridge from a wheel that tools/build-wheel built in a clone: it contains the APK."
        )
        raise InstallFailed(f"the host app's APK does not exist: {APK}.", hint=hint, apk=str(APK))
    return APK


async def _run_tool(tool: Path, report: Report, deadline: Deadline) -> None:
    last = "nothing"
    async with deadline.bound(f"{tool.name}", lambda: last):
        try:
            process = await asyncio.create_subprocess_exec(
                tool,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.PIPE,
            )
        except OSError as error:
            raise InstallFailed(f"{tool} cannot be run: {error.strerror or error}.", hint=BUILD_HINT) from error
        assert process.stderr is not None
        try:
            async for line in process.stderr:
                last = line.decode("utf-8", "replace").strip() or last
                report(last)
            code = await process.wait()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
    if code != 0:
        raise InstallFailed(f"{tool.name} ended with {code}: {last[:500]}", hint=BUILD_HINT, apk=str(APK))
