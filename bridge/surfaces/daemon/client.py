"""A command's side: find the session's process, start it where that makes sense, ask, and show its notices."""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import bridge
from bridge.deadline import Deadline
from bridge.errors import BridgeError, DeadlineExceeded, TransportError, UsageError
from bridge.host.filelock import try_lock, unlock
from bridge.host.protocol import FrameReader
from bridge.surfaces.daemon.places import Places, places_of, read_record
from bridge.surfaces.daemon.wire import LIMITS, RemoteError, message, read_message

_START_S = 20.0
_END_S = 30.0
# A process that is alive takes a command at once, whatever it is doing.
_ACCEPT_S = 10.0
_POLL_S = 0.02


@dataclass(frozen=True, slots=True)
class Asked:
    """What a session's process answered: JSON and, for pictures, bytes."""

    json: Mapping[str, Any]
    blob: bytes = b""


async def ask(
    name: str,
    command: str,
    params: Mapping[str, Any],
    *,
    timeout_s: float | None,
    start: Mapping[str, Any],
    may_start: bool,
    notice: Callable[[str], None],
) -> Asked:
    """Have the session `name` carry out a command.

    Args:
        start: How to open the session, and what one that is open has to cover.
        may_start: Start it when there is none; otherwise there has to be one.

    Raises:
        UsageError: There is no such session and none was to be started.
        BridgeError: What the command raised there, with its code and exit code.
    """
    places = places_of(name)
    request = {
        "version": bridge.__version__,
        "command": command,
        "params": dict(params),
        "timeout_s": timeout_s,
        "start": dict(start),
    }
    for attempt in (1, 2):
        streams = await _connected(places)
        if streams is None:
            if not may_start:
                raise UsageError(
                    f"no session {name!r} is open.", hint="'webview-bridge open URL' opens one; --url does without."
                )
            streams = await _started(places)
        try:
            return await _asked(*streams, request, notice)
        except _NotAccepted:
            if attempt == 2:
                raise TransportError(f"session {name} ended before it took the command.") from None
            await end(name)
        except _OtherVersion as other:
            if attempt == 2:
                raise TransportError(f"session {name} is run by version {other.version}.") from None
            notice(f"session {name} was run by version {other.version} and is started again; its tabs are gone")
            await end(name)
            if not may_start:
                raise UsageError(
                    f"session {name!r} ended with its old version.", hint="'webview-bridge open URL' opens a new one."
                ) from None
    raise AssertionError("unreachable")


async def end(name: str, *, timeout_s: float = _END_S) -> bool:
    """End the session `name` and wait until its process is gone; False when there was none.

    It is asked first. One that is not gone soon gets SIGTERM, and SIGKILL where that does not help either, as with a
    process that is stopped; its virtual device and the host app find out by themselves.

    Raises:
        DeadlineExceeded: It is still there.
    """
    places = places_of(name)
    deadline = Deadline.after(timeout_s)
    record = read_record(places.record)
    streams = await _connected(places)
    if streams is None and not _is_held(places):
        return False
    with contextlib.suppress(BridgeError, OSError, _NotAccepted, _OtherVersion):
        if streams is not None:
            request = {"version": bridge.__version__, "command": "close", "params": {}}
            async with Deadline.after(min(_ACCEPT_S, deadline.remaining_s)).bound("closing it"):
                await _asked(*streams, request, lambda _: None)
    signals = [(2 / 3, signal.SIGTERM), (1 / 3, signal.SIGKILL)]
    while _is_held(places):
        if signals and record is not None and deadline.remaining_s < signals[0][0] * timeout_s:
            with contextlib.suppress(ProcessLookupError):
                os.kill(record.pid, signals.pop(0)[1])
        if deadline.passed:
            raise DeadlineExceeded(f"the end of session {name}", timeout_s, f"process {record and record.pid}")
        await asyncio.sleep(_POLL_S)
    return True


class _NotAccepted(Exception):
    """The process was on its way out and has not looked at the command."""


class _OtherVersion(Exception):
    def __init__(self, version: str) -> None:
        self.version = version


async def _connected(places: Places) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
    try:
        return await asyncio.open_unix_connection(places.socket)
    except (FileNotFoundError, ConnectionRefusedError):
        return None


async def _asked(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    request: Mapping[str, Any],
    notice: Callable[[str], None],
) -> Asked:
    frames = FrameReader(LIMITS)
    accepted = False
    try:
        writer.write(message(request))
        while True:
            patience = Deadline.after(math.inf if accepted else _ACCEPT_S)
            try:
                async with patience.bound("the session's process taking the command"):
                    frame = await read_message(reader, frames)
            except TransportError:
                if not accepted:
                    raise _NotAccepted from None
                raise
            if "accepted" in frame.header:
                accepted = True
            elif "notice" in frame.header:
                notice(str(frame.header["notice"]))
            elif isinstance(error := frame.header.get("error"), Mapping):
                if error.get("code") == "version_mismatch":
                    raise _OtherVersion(str(error.get("message")))
                raise RemoteError(error)
            else:
                answer = frame.header.get("answer")
                return Asked(answer if isinstance(answer, Mapping) else {}, frame.body)
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


async def _started(places: Places) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection to a fresh process; one that is leaving, or that another command starts, is waited for."""
    deadline = Deadline.after(_START_S)
    while not deadline.passed:
        await _spawn(places)
        streams = await _connected(places)
        if streams is not None:
            return streams
        await asyncio.sleep(_POLL_S)
    raise TransportError("the session's process does not answer.", hint=f"See {places.log}.")


async def _spawn(places: Places) -> None:
    """Start the session's process and wait for its first line; several commands may do so at once."""
    process = _process(places)
    reader = asyncio.StreamReader()
    pipe, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), process.stdout
    )
    try:
        async with Deadline.after(_START_S).bound("the start of the session's process"):
            line = (await reader.readline()).decode(errors="replace").strip()
    except BaseException:
        process.kill()
        raise
    finally:
        pipe.close()
    if line != "ready":
        process.wait()  # it has said its last word
    if line not in ("ready", "taken"):
        raise TransportError(f"the session's process did not start: {line or 'no word'}.", hint=f"See {places.log}.")


def _process(places: Places) -> subprocess.Popen[bytes]:
    # Not truncated here: a process that lives may be writing into it. The one that gets the lock begins it anew.
    descriptor = os.open(places.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0), 0o600)
    with os.fdopen(descriptor, "wb") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "bridge.surfaces.daemon", places.name],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            start_new_session=True,
        )


def _is_held(places: Places) -> bool:
    """Whether the session's process lives: it keeps its lock to its last moment."""
    with places.lock.open("a") as lock:
        if not try_lock(lock):
            return True
        unlock(lock)
        return False
