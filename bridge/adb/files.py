"""Copies files to and from a device."""

from __future__ import annotations

import asyncio
import io
import os
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from bridge.adb.smart_socket import Refused
from bridge.adb.stream import AdbStream, StreamClosed
from bridge.adb.sync_protocol import (
    MAX_DATA_BYTES,
    QUIT,
    encode_data,
    encode_done,
    encode_path_request,
    encode_send,
    recv_piece,
    send_reply,
)
from bridge.deadline import Deadline
from bridge.errors import ServiceRefused, UsageError

if TYPE_CHECKING:
    from bridge.adb.device import AdbDevice

Progress = Callable[[int, int], None]


async def push_file(
    device: AdbDevice,
    content: Path | bytes,
    remote_path: str,
    mode: int,
    deadline: Deadline,
    on_progress: Progress | None,
) -> None:
    """See AdbDevice.push."""
    with _open(content) as source:
        size_bytes = _size_of(source)
        async with _sync(device, f"push of {remote_path}", deadline) as stream:
            try:
                await stream.write(encode_send(remote_path, mode))
                sent = 0
                while piece := await asyncio.to_thread(source.read, MAX_DATA_BYTES):
                    await stream.write(encode_data(piece))
                    sent += len(piece)
                    if on_progress:
                        on_progress(sent, size_bytes)
                await stream.write(encode_done(int(time.time())))
            except StreamClosed:
                # adbd may report an error and close while we still write (AOSP file_sync_service.cpp, send_impl).
                await stream.read(send_reply())
                raise
            await stream.read(send_reply())


async def pull_file(device: AdbDevice, remote_path: str, local_path: Path, deadline: Deadline) -> int:
    """See AdbDevice.pull."""
    name = ""
    try:
        handle, name = tempfile.mkstemp(prefix=f".{local_path.name}.", dir=local_path.parent)
        with os.fdopen(handle, "wb") as target:
            size_bytes = 0
            async with _sync(device, f"pull of {remote_path}", deadline) as stream:
                await stream.write(encode_path_request(b"RECV", remote_path))
                while (piece := await stream.read(recv_piece())) is not None:
                    await asyncio.to_thread(target.write, piece)
                    size_bytes += len(piece)
        Path(name).replace(local_path)  # noqa: ASYNC240 - a rename is fast
        name = ""
    except OSError as error:
        raise UsageError(f"{local_path} cannot be written: {error.strerror or error}.") from error
    finally:
        if name:
            Path(name).unlink()  # noqa: ASYNC240
    return size_bytes


@asynccontextmanager
async def _sync(device: AdbDevice, doing: str, deadline: Deadline) -> AsyncIterator[AdbStream]:
    async with device.service("sync:", deadline) as stream:
        stream.waiting_for = f"the {doing}"
        try:
            yield stream
        except Refused as error:
            raise ServiceRefused(doing, error.reason) from error
        await stream.write(QUIT)


def _open(content: Path | bytes) -> BinaryIO:
    if isinstance(content, bytes):
        return io.BytesIO(content)
    try:
        return content.open("rb")
    except OSError as error:
        raise UsageError(f"{content} cannot be read: {error.strerror or error}.") from error


def _size_of(source: BinaryIO) -> int:
    size_bytes = source.seek(0, os.SEEK_END)
    source.seek(0)
    return size_bytes
