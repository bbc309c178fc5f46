"""Finds the adb program and starts an adb server with it."""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path

from bridge.deadline import Deadline
from bridge.errors import AdbUnavailable

# `start-server` fails if these variables name a host, even the local one.
_FOREIGN = ("ADB_SERVER_SOCKET", "ANDROID_ADB_SERVER_ADDRESS")


async def find_adb_program() -> Path:
    """The adb program on PATH, else the one in adbutils.

    Raises:
        AdbUnavailable: Neither exists.
    """
    if found := shutil.which("adb"):
        return Path(found)
    return await asyncio.to_thread(_bundled_adb)


def _bundled_adb() -> Path:
    import adbutils  # slow to import and rarely needed

    try:
        return Path(adbutils.adb_path())
    except adbutils.AdbError as error:
        raise AdbUnavailable(
            "adb is not on PATH, and adbutils has none for this platform.",
            hint="Install the Android platform tools.",
        ) from error


async def run_start_server(program: Path, port: int, deadline: Deadline) -> str:
    """Runs `adb start-server` for a local port and returns its output.

    Ignores the exit code: of two concurrent calls one fails although the server runs.

    Raises:
        AdbUnavailable: The program cannot be run.
    """
    environment = {name: value for name, value in os.environ.items() if name not in _FOREIGN}
    async with deadline.bound(f"{program} start-server"):
        try:
            process = await asyncio.create_subprocess_exec(
                program,
                "-P",
                str(port),
                "start-server",
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                env=environment,
            )
        except OSError as error:
            raise AdbUnavailable(
                f"{program} cannot be run: {error.strerror or error}.", program=str(program)
            ) from error
        try:
            output, _ = await process.communicate()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
    return output.decode("utf-8", "replace").strip()
