"""Installs a package without a copy on the device."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from bridge.adb.stream import AdbStream, StreamClosed
from bridge.deadline import Deadline
from bridge.errors import InstallFailed

if TYPE_CHECKING:
    from bridge.adb.device import AdbDevice

_PIECE_BYTES = 64 * 1024
# "Failure [INSTALL_FAILED_UPDATE_INCOMPATIBLE: Package … signatures do not match]" (AOSP PackageManagerShellCommand)
_FAILURE = re.compile(r"Failure \[(?P<code>[A-Z0-9_]+)(?::\s*(?P<reason>.*?))?\]", re.DOTALL)
# Replace an installed package (-r); accept testOnly packages, as built by Android Studio (-t).
_OPTIONS = ("-r", "-t")


async def stream_install(
    device: AdbDevice, apk: Path, deadline: Deadline, on_progress: Callable[[int, int], None] | None
) -> None:
    """See AdbDevice.install."""
    try:
        source = await asyncio.to_thread(apk.open, "rb")
    except OSError as error:
        raise InstallFailed(f"{apk} cannot be read: {error.strerror or error}.", apk=str(apk)) from error
    with source:
        size_bytes = os.fstat(source.fileno()).st_size
        words = ("package", "install", *_OPTIONS, "-S", str(size_bytes))
        # abb connects to system_server without starting `cmd` on the device (AOSP adb/client/adb_install.cpp).
        abb = "abb_exec" in await device.features(deadline)
        service = "abb_exec:" + "\0".join(words) if abb else "exec:cmd " + " ".join(words)
        async with device.service(service, deadline) as stream:
            stream.waiting_for = f"the package manager's result for {apk.name}"
            said = await _send_while_listening(stream, source, size_bytes, on_progress)
    if "Success" in said:
        return
    failure = _FAILURE.search(said)
    code = failure["code"] if failure else ""
    reason = (failure["reason"] or "" if failure else said).strip()[:500]
    raise InstallFailed(
        f"{device.serial} did not install {apk.name}: {': '.join(filter(None, (code, reason))) or 'no output'}",
        pm_code=code,
        apk=str(apk),
        serial=device.serial,
    )


async def _send_while_listening(
    stream: AdbStream, source: BinaryIO, size_bytes: int, on_progress: Callable[[int, int], None] | None
) -> str:
    """Sends the APK and returns the package manager's output. It may refuse and close before it has read everything."""

    async def send() -> None:
        sent = 0
        while piece := await asyncio.to_thread(source.read, _PIECE_BYTES):
            try:
                await stream.write(piece)
            except StreamClosed:
                return
            sent += len(piece)
            if on_progress:
                on_progress(sent, size_bytes)

    sending = asyncio.create_task(send(), name="install: send")
    listening = asyncio.create_task(stream.read_to_end(), name="install: read")
    try:
        await asyncio.wait({sending, listening}, return_when=asyncio.FIRST_EXCEPTION)
        if sending.done():
            sending.result()
        return (await listening).decode("utf-8", "replace")
    finally:
        sending.cancel()
        listening.cancel()
        await asyncio.gather(sending, listening, return_exceptions=True)
