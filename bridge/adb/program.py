"""The adb program: where it is, and how it starts a server."""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path

from bridge.deadline import Deadline
from bridge.errors import AdbUnavailable

# `start-server` refuses to start one where these name a host, even this one.
_FOREIGN = ("ADB_SERVER_SOCKET", "ANDROID_ADB_SERVER_ADDRESS")


async def find_adb_program() -> Path:
    """The adb program: the one on PATH, else the one that adbutils brings.

    Raises:
        AdbUnavailable: There is neither.
    """
    if found := shutil.which("adb"):
        return Path(found)
    return await asyncio.to_thread(_bundled_adb)


def _bundled_adb() -> Path:
    import adbutils  # only here: it is slow to import and rarely needed

    try:
        return Path(adbutils.adb_path())
    except adbutils.AdbError as error:
        raise AdbUnavailable(
            "There is no adb program on PATH, and adbutils brings none for this platform.",
            hint="Install the Android platform tools.",
        ) from error


async def run_start_server(program: Path, port: int, deadline: Deadline) -> str:
    """Run `adb start-server` for a port of this machine and return what it said.

    Its exit code is left out: of two programs that start one at the same time, the loser complains and the server runs.

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
